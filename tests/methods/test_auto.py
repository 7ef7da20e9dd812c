"""The method that tries others: the best on validation rows is kept, whatever happens to the process."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from askless import DynamicClassifier, load
from askless.acquisition import PerFeature
from askless.exceptions import AsklessWarning, ParameterError, TrainingError
from askless.methods import Auto, find_method
from askless.methods.greedy import GreedyLearner
from askless.training import validation_loss
from tests.coded import raises, warns
from tests.methods.planted import Silent, planted

QUICK = {"epochs": 2, "pretrain_epochs": 2, "hidden": (16,), "iterations": 5}


@pytest.mark.parametrize("prices", [None, [1.0, 5.0, 2.0, 9.0, 3.0]])
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_never_worse_than_the_best_of_those_tried(task, prices):
    problem = planted(task, n=300)
    if prices is not None:
        problem = replace(problem, costs=PerFeature(np.array(prices)))
    fitted = Auto(**QUICK).fit(problem, seed=1, progress=Silent())
    alone = {}
    for name in ("greedy", "value", "forward_selection"):
        method = find_method(name)
        known = method.get_params(deep=False)
        method.set_params(**{key: value for key, value in QUICK.items() if key in known})
        one = method.fit(problem, seed=1, progress=Silent())
        alone[name] = validation_loss(one.policy, one.predictor, problem)
    best = min(alone, key=alone.get)
    summary = fitted.summary
    assert summary["losses"] == alone
    assert summary["method"] == best
    assert summary["kind"] == find_method(best).kind
    assert summary["seconds"].keys() == alone.keys()
    assert all(seconds > 0 for seconds in summary["seconds"].values())
    assert f"{alone[best]:.4f}" in summary["explanation"]
    assert validation_loss(fitted.policy, fitted.predictor, problem) == alone[best]


def untimed(summary):
    return {key: value for key, value in summary.items() if key != "seconds"}


@pytest.mark.parametrize(
    ("losses", "explanation"),
    [
        (
            {"greedy": 0.4034, "value": 0.41, "forward_selection": 0.4008},
            "kept a fixed order: everyone is asked the same questions, unless values are missing; "
            "choosing case by case was no better (validation loss 0.4034 against 0.4008, lower is better)",
        ),
        (
            {"greedy": 0.4, "value": 0.3, "forward_selection": 0.35},
            "kept value: questions chosen case by case; a fixed order was no better "
            "(validation loss 0.3500 against 0.3000, lower is better)",
        ),
        (
            {"greedy": 0.4, "value": 0.3},
            "kept value: questions chosen case by case; validation loss 0.3000; greedy was no better (0.4000)",
        ),
    ],
)
def test_the_explanation_says_what_was_kept_and_compares_it_with_the_other_kind(losses, explanation, monkeypatch):
    given = iter(losses.values())
    monkeypatch.setattr("askless.methods.auto.validation_loss", lambda *_: next(given))
    method = Auto(**QUICK, methods=tuple(losses))
    summary = method.fit(planted("classification", n=200), seed=0, progress=Silent()).summary
    assert summary["explanation"] == explanation
    assert summary["losses"] == losses


class Stopped(Exception):
    pass


class StopsAfter(Silent):
    def __init__(self, epochs):
        super().__init__()
        self.left = epochs

    def epoch(self, done, phase, row):
        super().epoch(done, phase, row)
        self.left -= 1
        if self.left < 0:
            raise Stopped


def test_a_fit_that_was_killed_goes_on(tmp_path):
    problem = planted("classification", n=300)
    whole = Auto(**QUICK).fit(problem, seed=0, progress=Silent())
    part, killed, again = tmp_path / "part", 0, None
    while again is None:
        try:
            again = Auto(**QUICK).fit(problem, seed=0, progress=StopsAfter(5), checkpoint=part)
        except Stopped:
            killed += 1
            assert killed < 20  # each attempt gets on
    assert killed >= 4
    assert untimed(again.summary) == untimed(whole.summary)
    for name, array in whole.predictor.arrays().items():
        assert_array_equal(again.predictor.arrays()[name], array)


def test_methods_of_the_same_stages_keep_them_apart_in_a_checkpoint(tmp_path):
    problem = planted("classification", n=300)
    for methods in (("forward_selection", "mutual_information"), ("mutual_information", "forward_selection")):
        method = Auto(**QUICK, methods=methods)
        part = tmp_path / methods[0]
        with_file = method.fit(problem, seed=0, progress=Silent(), checkpoint=part)
        losses = method.fit(problem, seed=0, progress=Silent()).summary["losses"]
        assert with_file.summary["losses"] == losses
        assert len(set(losses.values())) == 2


def test_what_is_no_number_is_not_the_best(monkeypatch):
    problem = planted("classification", n=200)
    losses = iter([float("nan"), 0.7])
    monkeypatch.setattr("askless.methods.auto.validation_loss", lambda *_: next(losses))
    method = Auto(**QUICK, methods=("greedy", "forward_selection"))
    with warns(AsklessWarning, "method_failed", method="greedy"):
        summary = method.fit(problem, seed=0, progress=Silent()).summary
    assert summary["method"] == "forward_selection"
    assert summary["losses"] == {"greedy": None, "forward_selection": 0.7}
    losses = iter([float("nan")] * 2)
    with raises(TrainingError, "diverged", method="auto", methods=["greedy", "forward_selection"]):
        method.fit(problem, seed=0, progress=Silent())


def test_a_method_that_diverges_leaves_nothing_to_the_next_one(tmp_path, monkeypatch):
    problem = planted("classification", n=200)
    monkeypatch.setattr(GreedyLearner, "validate", lambda *_: {"loss": float("nan")})
    method = Auto(**QUICK, methods=("greedy", "value"))
    fits = []
    for checkpoint in (None, tmp_path / "part"):
        with warns(AsklessWarning, "method_failed", method="greedy", phase="policy", epoch=2):
            fits.append(method.fit(problem, seed=0, progress=Silent(), checkpoint=checkpoint))
    for fitted in fits:
        assert fitted.summary["method"] == "value"
        for name, array in fits[0].predictor.arrays().items():
            assert_array_equal(fitted.predictor.arrays()[name], array)


def test_a_fit_that_diverges_raises():
    problem = planted("regression", n=200)
    wild = Auto(**QUICK, methods=("greedy", "value"), learning_rate=10.0, weight_decay=1e6)
    with raises(TrainingError, "diverged", method="auto", methods=["greedy", "value"]) as caught:
        wild.fit(problem, seed=0, progress=Silent())
    assert caught.value.fields["epoch"] >= 1
    assert "lower the learning rate" in str(caught.value)
    with raises(TrainingError, "diverged", method="greedy"):
        wild._configured("greedy").fit(problem, seed=0, progress=Silent())


def test_validation_rows_without_values_do_not_spoil_the_file(tmp_path):
    X, y = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0] * 8}), [0, 1] * 16
    nothing = pd.DataFrame({"a": [np.nan, np.nan]})
    model = DynamicClassifier(method=Auto(**QUICK)).fit(X, y, validation=(nothing, [0, 1]))
    model.save(tmp_path / "m.askless")
    assert np.isfinite(load(tmp_path / "m.askless").predict_proba(X)).all()


def test_progress_says_what_is_tried():
    progress = Silent()
    Auto(**QUICK, methods=("greedy",)).fit(planted("classification", n=200), seed=0, progress=progress)
    assert "greedy: pretraining" in progress.phases


@pytest.mark.parametrize("methods", [(), ("auto",), ("gredy",)])
def test_what_cannot_be_tried(methods):
    with pytest.raises(ParameterError) as caught:
        Auto(methods=methods).check()
    error = caught.value
    if methods == ("gredy",):
        assert (error.code, error.fields["name"], error.fields["nearest"]) == ("unknown_name", "gredy", "greedy")
    else:
        assert (error.code, error.fields["name"]) == ("invalid_choice" if methods else "required", "methods")


def test_what_could_not_be_used_or_trained_is_refused_at_once():
    with raises(ParameterError, "invalid_choice", name="methods", value="oracle_order"):
        Auto(methods=("greedy", "oracle_order")).check()
    with raises(ParameterError, "invalid_choice", name="network", value="conv_tiny"):
        Auto(methods=("greedy", "cmi_marginal"), network="conv_tiny").check()
    with raises(ParameterError, "not_supported", name="method"):
        Auto(methods=("greedy", "center_crop")).fit(planted("classification", n=50), seed=0, progress=Silent())


def test_methods_keep_their_own_defaults():
    usual = find_method("opportunistic").get_params(deep=False)
    assert Auto()._configured("opportunistic").get_params(deep=False) == usual
    changed = Auto(batch_size=32, epochs=7)._configured("opportunistic").get_params(deep=False)
    assert changed == usual | {"batch_size": 32, "epochs": 7}


def test_what_may_not_be_asked_yet_is_not_asked_on_validation_rows():
    """The best feature waits for one that tells nothing: the order that asks for that one is the best in use."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(400, 4)), columns=["consent", "biopsy", "b", "c"])
    y = (3 * X["biopsy"] + 0.3 * X["b"] + 0.3 * rng.normal(size=400) > 0).astype(int)
    how = {"precedence": {"biopsy": ["consent"]}, "random_state": 0, "validation_fraction": 0.25}
    method = Auto(methods=("mutual_information", "fixed_order"), epochs=20, hidden=(32,))
    model = DynamicClassifier(2, method, **how).fit(X, y)
    assert model.model_.summary["method"] == "fixed_order"
    assert model.rollout(X[:3]).names(0) == ["consent", "biopsy"]


def test_files_hold_it(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    y = (X[:, 1] > 0).astype(int)
    model = DynamicClassifier(2, Auto(**QUICK)).fit(X, y)
    model.save(tmp_path / "m.askless")
    again = load(tmp_path / "m.askless")
    assert again.method.get_params() == model.method.get_params()
    assert again.model_.summary["method"] in ("greedy", "value", "forward_selection")
    assert_array_equal(again.predict_proba(X), model.predict_proba(X))
