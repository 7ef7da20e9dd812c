"""Saving and loading: exact, repeatable, and never half done."""

import os
import pickle
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone

from askless import DynamicClassifier, DynamicRegressor, load
from askless.acquisition import MaxFeatures
from askless.checks import example_table
from askless.exceptions import AsklessError, ModelFileError, ParameterError
from askless.methods import FixedOrder, Greedy, Random
from askless.model_file import FORMAT_VERSION, read_model, write_model
from askless.models import NetPolicy, NetPredictor, Network, Ranking
from tests.coded import raises
from tests.model_files import forged, opened

ROOT = Path(__file__).parents[1]
QUICK = {"epochs": 2, "hidden": (8,)}
GREEDY = Greedy(pretrain_epochs=2, **QUICK)
GROUPS = {"pressure": ["upper", "lower"]}


def numbers(n=80):
    X = np.random.default_rng(0).normal(size=(n, 4))
    X[::7, 1] = np.nan
    return X, X[:, 0] + X[:, 2] > 0


def assert_same(a, b, X):
    """Two estimators give the same numbers, bit for bit."""
    s, t = a.rollout(X), b.rollout(X)
    np.testing.assert_array_equal(s.order, t.order)
    np.testing.assert_array_equal(s.cost, t.cost)
    np.testing.assert_array_equal(s.stop_reason, t.stop_reason)
    assert s.predictions.tobytes() == t.predictions.tobytes()
    assert (s.feature_names, s.outputs) == (t.feature_names, t.outputs)
    np.testing.assert_array_equal(a.predict(X), b.predict(X))
    assert a.interview().prediction == b.interview().prediction


@pytest.fixture(scope="module")
def classifier():
    model = DynamicClassifier(
        3, method=GREEDY, groups=GROUPS, costs={"age": 2, "pressure": 0.1}, stopping=MaxFeatures(2), missing="answer"
    )
    return model.fit(*example_table("classification"))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "m.askless"


# Exactly the same


@pytest.mark.parametrize("method", [GREEDY, FixedOrder(order=["age"], **QUICK), Random(**QUICK)])
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_a_loaded_model_is_the_same(task, method, path):
    X, y = example_table(task)
    kind = DynamicClassifier if task == "classification" else DynamicRegressor
    model = kind(3, method=method, groups=GROUPS, costs={"age": 2}).fit(X, y)
    model.save(path)
    loaded = load(path)
    assert type(loaded) is kind
    assert_same(model, loaded, X)
    assert loaded.score(X, y) == model.score(X, y)
    if task == "regression":
        row = X.dropna().iloc[0]
        talks = [m.interview(known={"age": row["age"]}) for m in (model, loaded)]
        assert talks[0].prediction["sd"] == talks[1].prediction["sd"] > 0


def test_all_of_the_estimator_comes_back(classifier, path):
    classifier.save(path)
    loaded = load(path)
    params = loaded.get_params(deep=False)
    assert params.pop("method").get_params() == classifier.method.get_params()
    rule = params.pop("stopping")
    assert [r.limit for r in rule] == [2]
    expected = classifier.get_params(deep=False)
    assert {key: expected[key] for key in params} == params
    assert loaded.schema_ == classifier.schema_
    assert loaded.model_.missing == "answer"
    fitted = classifier.model_.summary
    assert loaded.model_.summary == {key: fitted[key] for key in fitted if key != "seconds"}
    assert loaded.feature_names_in_.tolist() == classifier.feature_names_in_.tolist()
    assert loaded.classes_.tolist() == classifier.classes_.tolist()
    X, y = example_table("classification")
    assert_same(clone(loaded).fit(X, y), classifier, X)  # and can be fitted again


@pytest.mark.parametrize("labels", [["no", "yes"], [0, 1], [-3, 10**12], [False, True], [1.0, 2.0], ["a", "ü€"]])
def test_labels_of_every_type(labels, path):
    X, y = numbers()
    model = DynamicClassifier(2, method=GREEDY).fit(X, np.array(labels)[y.astype(int)])
    model.save(path)
    loaded = load(path)
    assert_same(model, loaded, X)
    assert loaded.classes_.tolist() == labels
    assert loaded.predict(X).dtype.kind == model.predict(X).dtype.kind
    keys = list(loaded.interview().prediction)
    assert keys == labels
    assert [type(key) for key in keys] == [type(label) for label in labels]


@pytest.mark.parametrize(
    "make", [np.asarray, lambda X: pd.DataFrame(X, columns=[*"abcd"]), lambda X: pl.DataFrame(X, orient="row")]
)
def test_frames_and_arrays(make, path):
    X, y = numbers()
    X = make(X)
    model = DynamicClassifier(2, method=GREEDY).fit(X, y)
    model.save(path)
    loaded = load(path)
    assert_same(model, loaded, X)
    assert loaded.n_features_in_ == 4
    assert hasattr(loaded, "feature_names_in_") == hasattr(model, "feature_names_in_")


def test_saving_again_gives_the_same_file(classifier, path, tmp_path):
    classifier.save(path)
    load(path).save(tmp_path / "again.askless")
    assert path.read_bytes() == (tmp_path / "again.askless").read_bytes()
    classifier.save(str(path))  # over itself, by a path as text
    assert path.read_bytes() == (tmp_path / "again.askless").read_bytes()


def test_pickles_agree(classifier):
    X, _ = example_table("classification")
    assert_same(classifier, pickle.loads(pickle.dumps(classifier)), X)


def test_a_file_is_open_to_other_tools(classifier, path):
    from safetensors.numpy import load_file

    classifier.save(path)
    assert "policy.value_weight" in load_file(path)
    manifest = opened(path.read_bytes())[1]
    assert manifest["format"] == FORMAT_VERSION
    assert manifest["settings"]["method"]["name"] == "greedy"


# The same seed


def test_the_same_seed_gives_the_same_file_and_another_does_not(tmp_path):
    X, y = numbers()
    for name, seed in (("a", 3), ("b", 3), ("c", 4)):
        DynamicClassifier(2, method=GREEDY, random_state=seed).fit(X, y).save(tmp_path / name)
    first, second, other = ((tmp_path / name).read_bytes() for name in "abc")
    assert first == second
    assert first != other


SCRIPT = """
import sys
from askless import DynamicClassifier, DynamicRegressor
from askless.checks import example_table
from askless.methods import Greedy
quick = Greedy(epochs=2, pretrain_epochs=2, hidden=(8,))
groups = {"pressure": ["upper", "lower"], "habits": ["smoker", "dose"]}
for kind, task in ((DynamicClassifier, "classification"), (DynamicRegressor, "regression")):
    model = kind(3, method=quick, groups=groups, costs={"age": 2, "habits": 3})
    model.fit(*example_table(task)).save(sys.argv[1] + task)
"""


def test_another_process_writes_the_same_file(tmp_path):
    running = []
    for seed in ("1", "2"):
        (tmp_path / seed).mkdir()
        command = [sys.executable, "-c", SCRIPT, str(tmp_path / seed) + os.sep]
        running.append(subprocess.Popen(command, env={**os.environ, "PYTHONHASHSEED": seed}))
    assert [process.wait(timeout=120) for process in running] == [0, 0]
    for task in ("classification", "regression"):
        first, second = ((tmp_path / seed / task).read_bytes() for seed in ("1", "2"))
        assert first == second


# What cannot be saved or read


def test_a_newer_format_asks_for_an_update(classifier, path):
    classifier.save(path)
    newer = FORMAT_VERSION + 1
    path.write_bytes(forged(path.read_bytes(), lambda manifest: manifest.update(format=newer)))
    with raises(ModelFileError, "newer_format", version=newer, supported=FORMAT_VERSION, path=str(path)) as caught:
        read_model(path)
    assert "update askless" in str(caught.value)


class Mine(Ranking):
    """A policy that askless does not have."""


class MyRule(MaxFeatures):
    """A rule that askless does not have."""


class MyNetwork(Network):
    """A network that askless does not have, though it has all that a file needs."""


class MyPredictor(NetPredictor):
    """A predictor that askless does not have."""


def with_network(policy):
    """The policy with a foreign network."""
    network = policy.network
    mine = MyNetwork(network.value_weight, network.mask_weight, network.biases, network.weights)
    return NetPolicy(mine, policy.first)


def with_function(policy):
    """The policy with a network that is none of a file's business: it has no arrays."""
    outputs = policy.network.outputs
    return NetPolicy(SimpleNamespace(outputs=outputs, n_outputs=policy.network.n_outputs), policy.first)


def as_mine(predictor):
    """The predictor as one of a foreign class."""
    other = MyPredictor.__new__(MyPredictor)
    vars(other).update(vars(predictor))
    return other


@pytest.mark.parametrize(
    ("change", "code", "name"),
    [
        ({"policy": lambda model: Mine([1.0] * 5)}, "cannot_save", "Mine"),
        ({"policy": lambda model: with_network(model.policy)}, "cannot_save", "policy"),
        ({"policy": lambda model: with_function(model.policy)}, "cannot_save", None),
        ({"predictor": lambda model: as_mine(model.predictor)}, "cannot_save", "MyPredictor"),
        ({"policy": lambda model: Ranking([1.0] * 3)}, "cannot_save", None),
        ({"classes": lambda model: (("a",), "b", "c")}, "cannot_save", "classes"),
        ({"settings": lambda model: {"costs": float("nan")}}, "cannot_save", "settings"),
        ({"summary": lambda model: {"when": object()}}, "cannot_save", "summary"),
    ],
)
def test_what_could_not_be_loaded_is_not_saved(classifier, path, change, code, name):
    path.write_bytes(b"an older file")
    model = classifier.model_
    changed = replace(model, **{part: make(model) for part, make in change.items()})
    with raises(ParameterError, code, name=name):
        write_model(changed, path)
    assert path.read_bytes() == b"an older file"


@pytest.mark.parametrize("change", [{"stopping": (MyRule(2),)}, {"classes": ("a", "b")}, {"max_features": 0}])
def test_what_the_model_itself_refuses_is_not_saved(classifier, path, change):
    with pytest.raises(ParameterError):
        write_model(replace(classifier.model_, **change), path)
    assert not path.exists()


def test_a_network_that_cannot_be_saved_is_named(classifier, path):
    with pytest.raises(ParameterError, match=r"policy\.network is a MyNetwork, which would be loaded as a Network"):
        write_model(replace(classifier.model_, policy=with_network(classifier.model_.policy)), path)


def test_errors_are_value_errors_of_askless(path):
    with pytest.raises(AsklessError):
        load(path)
    with raises(ModelFileError, "file_not_found", path=str(path)):
        load(path)


# Never half done


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_failed_save_leaves_the_old_file(classifier, path, monkeypatch, step):
    classifier.save(path)
    before = path.read_bytes()

    def fail(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(OSError, match="No space left"):
        write_model(replace(classifier.model_, summary={"other": 1}), path)
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]


SAVING = """
import sys
from dataclasses import replace
from askless.model_file import read_model, write_model
model = read_model(sys.argv[1])
for i in range(10**9):
    write_model(replace(model, summary={"round": i}), sys.argv[1])
    print(i, flush=True)
"""


def test_a_killed_save_leaves_a_whole_file(classifier, path):
    rng = np.random.default_rng(0)
    classifier.save(path)
    for _ in range(8):
        command = [sys.executable, "-c", SAVING, str(path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            saved = [int(process.stdout.readline()) for _ in range(rng.integers(1, 6))]
            time.sleep(0.01 * rng.random())  # somewhere within the saves that follow
            process.send_signal(signal.SIGKILL)
        assert read_model(path).summary["round"] >= saved[-1]
