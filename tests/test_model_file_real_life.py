"""Model files with panels, precedence, rules and stored rows: what they keep, and what is refused."""

import json

import numpy as np
import pytest

from askless import DynamicClassifier, load
from askless.acquisition.costs import Panels, PerFeature
from askless.acquisition.stopping import Confidence, MaxCost, MaxFeatures
from askless.checks import example_table
from askless.exceptions import ModelFileError
from askless.methods import FixedOrder
from askless.model_file import read_model
from tests.coded import raises
from tests.model_files import forged, opened
from tests.test_model_file_damage import with_tensors

X, Y = example_table("classification")
NAMES = [str(name) for name in X.columns]
COSTS = Panels({NAMES[0]: 3.0, NAMES[1]: 4.0}, {"together": {NAMES[0]: 1.0, NAMES[1]: 0.5}})
RULES = (Confidence(0.9) & MaxFeatures(2)) | MaxCost(9)


def test_prices_in_the_order_of_the_features(tmp_path):
    prices = np.arange(1.0, 1.0 + len(NAMES))
    model = DynamicClassifier(3, method=FixedOrder(epochs=2, hidden=(8,)), costs=PerFeature(prices)).fit(X, Y)
    model.save(tmp_path / "m.askless")
    np.testing.assert_array_equal(load(tmp_path / "m.askless").rollout(X).cost, model.rollout(X).cost)
    assert model.rollout(X).cost.max() > 3


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "m.askless"
    how = {"costs": COSTS, "stopping": RULES, "precedence": {NAMES[2]: [NAMES[1]]}, "reference_rows": 256}
    DynamicClassifier(3, method=FixedOrder(epochs=2, hidden=(8,)), **how).fit(X, Y).save(path)
    return path


@pytest.fixture
def refused(tmp_path):
    def assert_refused(content):
        file = tmp_path / "m.askless"
        file.write_bytes(content)
        with raises(ModelFileError, "unreadable_file", path=str(file)):
            read_model(file)

    return assert_refused


def test_what_is_kept(path):
    model = load(path)
    assert model.costs.config() == COSTS.config()
    assert model.model_.stopping == (Confidence(0.9) & MaxFeatures(2), MaxCost(9))
    assert model.precedence == {NAMES[2]: [NAMES[1]]}
    assert len(model.model_.reference.y) == min(256, len(model.model_.reference.y)) > 0
    manifest = opened(path.read_bytes())[1]
    assert manifest["costs"] == {"name": "Panels", "config": COSTS.config()}


def test_stored_rows_are_training_rows_in_equal_shares(path):
    model = load(path).model_
    rows = model.encoder.transform(X).x
    assert all((rows == each).all(axis=1).any() for each in model.reference.x)
    counts = np.bincount(model.reference.y, minlength=len(model.classes))
    assert counts.min() > 0


def test_what_most_models_do_not_have_is_left_out(tmp_path):
    plain = tmp_path / "plain.askless"
    model = DynamicClassifier(3, method=FixedOrder(epochs=2, hidden=(8,))).fit(X, Y)
    model.save(plain)
    header, manifest, _ = opened(plain.read_bytes())
    assert not {"costs", "precedence"} & set(manifest)
    assert not any(name.startswith("reference.") for name in header)


WRONG = [None, True, -1, "x", [], [[]], {"name": "x"}, float("nan")]


@pytest.mark.parametrize("value", [*WRONG, {"name": "Depends", "config": {"function": "print"}}, {}])
def test_other_costs(path, refused, value):
    refused(forged(path.read_bytes(), lambda manifest: manifest.update(costs=value)))


@pytest.mark.parametrize("name", ["Mapping", "cost_model", "CostModel", "Costs", "Depends", "np", None])
def test_another_cost_model(path, refused, name):
    refused(forged(path.read_bytes(), lambda manifest: manifest["costs"].update(name=name)))


@pytest.mark.parametrize("change", [{"prices": {"a": -1}}, {"panels": {"p": 3}}, {"panels": {"p": {"nobody": 1}}}])
def test_prices_that_are_none(path, refused, change):
    refused(forged(path.read_bytes(), lambda manifest: manifest["costs"]["config"].update(change)))


@pytest.mark.parametrize("value", [*WRONG, {}, {NAMES[0]: ["nobody"]}, {NAMES[0]: [NAMES[0]]}, {NAMES[0]: NAMES[1]}])
def test_another_precedence(path, refused, value):
    refused(forged(path.read_bytes(), lambda manifest: manifest.update(precedence=value)))


def test_rules_within_rules(path, refused):
    def another(manifest):
        manifest["stopping"][0]["config"]["rules"][0]["name"] = "Rule"

    refused(forged(path.read_bytes(), another))
    refused(forged(path.read_bytes(), lambda manifest: manifest["stopping"][0]["config"].update(rules=[])))
    refused(forged(path.read_bytes(), lambda manifest: manifest["stopping"][0]["config"].update(rules=3)))


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t.pop("reference.y"),
        lambda t: t.update({"reference.more": np.zeros(2)}),
        lambda t: t.update({"reference.y": t["reference.y"] + 100}),
        lambda t: t.update({"reference.y": t["reference.y"][:-1]}),
        lambda t: t.update({"reference.x": t["reference.x"][:, :-1].copy()}),
        lambda t: t.update({"reference.x": t["reference.x"] * np.float32(np.nan)}),
        lambda t: t.update({"reference.present": t["reference.present"].astype(np.uint8)}),
    ],
)
def test_stored_rows_that_do_not_fit(path, refused, change):
    refused(with_tensors(path.read_bytes(), lambda tensors: (change(tensors), tensors)[1]))


def test_the_manifest_is_json(path):
    assert json.loads(json.dumps(opened(path.read_bytes())[1]))["stopping"][1] == {
        "name": "MaxCost",
        "config": {"money": 9.0},
    }
