"""Files of every format version load and predict what they did when they were written."""

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from askless import DynamicClassifier, load
from askless.acquisition.stopping.certified import LOST, MIXED
from askless.checks import example_table
from askless.exceptions import CertificationWarning, ModelFileError
from askless.methods import Value
from askless.methods.greedy import GreedyRecipe
from askless.model_file import FORMAT_VERSION, read_model
from askless.models import NetValue
from tests.coded import no_warning, raises, warns
from tests.model_files import forged, opened

FOLDER = Path(__file__).parent / "fixtures" / "models"
FILES = sorted(FOLDER.glob("version_*/*.askless"))
AGAIN = f"to write the newest ones again: python tests/fixtures/models/make.py {FOLDER}/version_{FORMAT_VERSION}"


def test_there_are_files_of_every_version():
    assert {path.parent.name for path in FILES} == {f"version_{i}" for i in range(1, FORMAT_VERSION + 1)}
    for path in FILES:
        assert f"version_{opened(path.read_bytes())[1]['format']}" == path.parent.name
        assert path.stat().st_size < 50_000


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_predictions_and_questions_stay_the_same(path, tmp_path):
    expected = json.loads(path.with_suffix(".json").read_text())
    images = "images" in expected
    X = np.array(expected["images"]) if images else pd.DataFrame(expected["rows"]).astype(object)
    model = load(path)
    model.save(tmp_path / "again.askless")
    assert opened((tmp_path / "again.askless").read_bytes())[1]["format"] == FORMAT_VERSION
    for each in (model, load(tmp_path / "again.askless")):
        trajectory = each.rollout(X)
        assert [list(trajectory.names(i)) for i in range(len(X))] == expected["order"], AGAIN
        np.testing.assert_allclose(
            trajectory.predictions[:, -1], expected["predictions"], rtol=1e-5, atol=1e-5, err_msg=AGAIN
        )


def test_what_files_of_version_1_said_of_the_methods_tried_has_its_new_names():
    summary = load(FOLDER / "version_1" / "static.askless").model_.summary
    assert summary["method"] == "forward_selection"
    assert summary["losses"].keys() == {"forward_selection"}
    assert {"explanation"} <= summary.keys()
    assert not summary.keys() & {"chosen", "validation_losses", "why"}
    assert summary["kind"] == "static"


def test_files_of_version_1_get_the_summary_of_a_single_method():
    newer, older = (load(FOLDER / f"version_{i}" / "classifier.askless").model_.summary for i in (2, 1))
    assert {key: older[key] for key in ("method", "kind", "losses", "explanation")} == {
        key: newer[key] for key in ("method", "kind", "losses", "explanation")
    }


def test_certified_rules_of_version_1_still_stop():
    path = FOLDER / "version_1" / "certified.askless"
    model = load(path)
    assert model.model_.stopping[0].manner == ("rule: Confidence(probability=0.999)", "rule: MaxCost(3)")
    X = pd.DataFrame(json.loads(path.with_suffix(".json").read_text())["rows"]).astype(object)
    with no_warning(CertificationWarning):
        reasons = model.rollout(X).stop_reason
    assert any(reason.startswith("sure enough: certified") for reason in reasons)
    assert not any("was not used" in reason for reason in reasons)


@pytest.mark.parametrize(
    ("old", "new", "options", "why"),
    [
        ("known: colour, age", ["known: colour", "known: age"], {"known": ["age"]}, "'colour' was not known"),
        ("known: colour, age", ["known: colour", "known: age"], {"known": ["age", "colour"]}, None),
        ("unavailable: dose", ["unavailable: dose"], {}, "'dose' was available"),
        ("at other prices", [f"cost: {LOST}"], {}, LOST),
        ("at other prices", [f"cost: {LOST}"], {"costs": {"age": 2}}, LOST),
        ("known: other features of each case", [f"known: {MIXED}"], {}, MIXED),
    ],
)
def test_conditions_of_version_1_in_new_words(tmp_path, old, new, options, why):
    original = FOLDER / "version_1" / "certified.askless"
    path = tmp_path / "m.askless"

    def change(manifest):
        manifest["stopping"] = manifest["stopping"][:1]
        manifest["stopping"][0]["config"]["manner"] = [old]

    path.write_bytes(forged(original.read_bytes(), change))
    model = load(path)
    assert list(model.model_.stopping[0].manner) == new
    X = pd.DataFrame(json.loads(original.with_suffix(".json").read_text())["rows"]).astype(object)
    with no_warning(CertificationWarning) if why is None else warns(CertificationWarning, "conditions_changed"):
        reasons = model.rollout(X, **options).stop_reason
    assert all((f"was not used: {why}" in reason) == (why is not None) for reason in reasons)


@pytest.mark.parametrize("version", [1, 2])
def test_settings_that_moved_into_a_recipe_are_found_there(version):
    method = load(FOLDER / f"version_{version}" / "classifier.askless").method
    assert method.recipe["walks"] == GreedyRecipe().walks
    assert method.check() is method


def test_a_class_can_gain_a_key_with_a_default(tmp_path, monkeypatch):
    """Newer code writes more of a class than the file has: the file stays readable."""
    path = tmp_path / "m.askless"
    X, y = example_table("classification")
    model = DynamicClassifier(2, Value(epochs=1, pretrain_epochs=1, hidden=(8,))).fit(X, y)
    model.save(path)
    config = NetValue.config
    monkeypatch.setattr(NetValue, "config", lambda self: config(self) | {"news": 1})
    np.testing.assert_array_equal(load(path).rollout(X).order, model.rollout(X).order)


def test_a_squashed_policy_of_version_1_is_refused(tmp_path):
    content = (FOLDER / "version_1" / "regressor.askless").read_bytes()
    path = tmp_path / "m.askless"
    path.write_bytes(forged(content, lambda manifest: manifest["policy"]["config"].update(squashed=True)))
    with raises(ModelFileError, "unreadable_file", path=str(path)):
        load(path)


@pytest.mark.parametrize("version", [1, 3])
def test_an_image_network_needs_torch(version, monkeypatch):
    path = FOLDER / f"version_{version}" / "image_greedy.askless"
    for name in [name for name in sys.modules if name.startswith("askless.networks")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "torch", None)
    with raises(ModelFileError, "missing_package", name="torch", path=str(path)):
        read_model(path)
