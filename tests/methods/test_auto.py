"""The method that tries others: the best on validation rows is kept, whatever happens to the process."""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from askless import DynamicClassifier, load
from askless.acquisition import PerFeature
from askless.exceptions import AsklessWarning, ParameterError, TrainingError
from askless.methods import Auto, find_method
from askless.methods.auto import Candidate, _explanation, _halves, _kept
from askless.methods.greedy import GreedyLearner
from askless.models import Ranking
from askless.training import row_losses
from tests.coded import raises, warns
from tests.methods.planted import BEST, SECOND, Silent, planted

QUICK = {"epochs": 2, "pretrain_epochs": 2, "hidden": (16,), "iterations": 5}


def splits_of(problem):
    """The splits of a fit with three folds."""
    return Auto(folds=3)._splits(problem, seed=1)


@pytest.mark.parametrize("prices", [None, [1.0, 5.0, 2.0, 9.0, 3.0]])
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_the_losses_are_those_of_rows_that_a_fit_has_not_seen(task, prices):
    problem = planted(task, n=300)
    if prices is not None:
        problem = replace(problem, costs=PerFeature(np.array(prices)))
    fitted = Auto(**QUICK, folds=3, predictor="network").fit(problem, seed=1, progress=Silent())
    greedy = find_method("greedy").set_params(epochs=2, pretrain_epochs=2, hidden=(16,))
    losses = []
    for i, split in enumerate(splits_of(problem)):
        one = greedy.fit(split, seed=1 + i, progress=Silent())
        losses.append(row_losses(one.policy, one.predictor, split).mean(axis=1))
    summary = fitted.summary
    assert summary["losses"].keys() == {"greedy", "forward_selection"}
    assert summary["losses"]["greedy"] == pytest.approx(np.concatenate(losses).mean())
    assert summary["kind"] == ("dynamic" if summary["method"] == "greedy" else "static")
    assert summary["folds"] == 3
    assert all(seconds > 0 for seconds in summary["seconds"].values())


def test_every_row_is_held_out_once():
    problem = planted("classification", n=300)
    splits = splits_of(problem)
    everything = np.concatenate([problem.train.x, problem.valid.x])
    held = np.concatenate([split.valid.x for split in splits])
    assert_array_equal(np.sort(held, axis=0), np.sort(everything, axis=0))
    for split in splits:
        assert len(split.y_train) + len(split.y_valid) == 300
        assert not {tuple(row) for row in split.train.x} & {tuple(row) for row in split.valid.x}


@pytest.mark.parametrize("n", [2, 3, 4, 7, 12])
def test_a_few_rows_are_enough(n):
    X, y = np.arange(2.0 * n).reshape(n, 2), np.arange(n) % 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AsklessWarning)
        model = DynamicClassifier(method=Auto(**QUICK)).fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()


def test_nothing_learns_from_validation_rows_of_the_user():
    problem = replace(planted("classification", n=300), own_validation=True)
    (split,) = Auto()._splits(problem, seed=0)
    assert split is problem


def test_one_split_chooses_and_compares_on_different_rows():
    problem = replace(planted("classification", n=300), own_validation=True)
    first, second = _halves(problem)
    assert_array_equal(first.y_valid, problem.y_valid[::2])
    assert_array_equal(second.valid.x, problem.valid.x[1::2])
    fitted = Auto(**QUICK).fit(problem, seed=0, progress=Silent())
    greedy = find_method("greedy").set_params(epochs=2, pretrain_epochs=2, hidden=(16,))
    one = greedy.fit(problem, seed=0, progress=Silent())
    assert fitted.summary["losses"]["greedy"] == pytest.approx(row_losses(one.policy, one.predictor, second).mean())


def candidate(kind, rows):
    return Candidate(kind, [], [], None, None, 0.0, [], {}, rows=np.array(rows))


@pytest.mark.parametrize(
    ("dynamic", "fixed", "prefer", "kept"),
    [
        ([0.4, 0.6, 0.5], [0.3, 0.5, 0.4], "dynamic", "forward_selection"),  # better in every row
        ([0.4, 0.6, 0.5], [0.3, 0.8, 0.3], "dynamic", "greedy"),  # within one standard error
        ([0.3, 0.8, 0.3], [0.4, 0.6, 0.5], "fixed", "forward_selection"),
        ([0.3, 0.5, 0.4], [0.4, 0.6, 0.5], "fixed", "greedy"),
    ],
)
def test_the_preference_decides_where_losses_are_alike(dynamic, fixed, prefer, kept):
    candidates = {"greedy": candidate("dynamic", dynamic), "forward_selection": candidate("static", fixed)}
    assert _kept(candidates, prefer) == kept
    assert ("case by case" in _explanation(kept, candidates, 0.3)) == (kept == "greedy")


def test_the_fixed_order_finds_what_matters():
    problem = planted("classification", n=600)
    fitted = Auto(prefer="fixed", folds=2, epochs=20).fit(problem, seed=0, progress=Silent())
    assert fitted.summary["method"] == "forward_selection"
    assert np.argsort(-fitted.policy.scores).tolist()[:2] == [BEST, SECOND]


@pytest.mark.parametrize("predictor", ["network", "trees", "auto"])
def test_the_share_of_trees(predictor):
    fitted = Auto(**QUICK, predictor=predictor).fit(planted("classification", n=300), seed=0, progress=Silent())
    share = fitted.summary["trees_share"]
    assert share == {"network": 0.0, "trees": 1.0}.get(predictor, share)
    assert (fitted.predictor.forests is None) == (share == 0.0)
    if predictor == "auto":  # networks of two epochs know little
        assert share > 0.5


def untimed(summary):
    return {key: value for key, value in summary.items() if key != "seconds"}


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
    for methods in (("permutation", "mutual_information"), ("mutual_information", "permutation")):
        method = Auto(**QUICK, methods=methods)
        part = tmp_path / methods[0]
        with_file = method.fit(problem, seed=0, progress=Silent(), checkpoint=part)
        losses = method.fit(problem, seed=0, progress=Silent()).summary["losses"]
        assert with_file.summary["losses"] == losses
        assert len(set(losses.values())) == 2


def test_what_is_no_number_is_not_the_best(monkeypatch):
    problem = planted("classification", n=200)
    monkeypatch.setattr("askless.methods.auto.row_losses", lambda policy, *_: np.full((3, 1), worth(policy)))

    def worth(policy):
        return 0.7 if isinstance(policy, Ranking) else np.nan

    method = Auto(**QUICK)
    with warns(AsklessWarning, "method_failed", method="greedy"):
        summary = method.fit(problem, seed=0, progress=Silent()).summary
    assert summary["method"] == "forward_selection"
    assert summary["losses"] == {"greedy": None, "forward_selection": pytest.approx(0.7)}
    monkeypatch.setattr("askless.methods.auto.row_losses", lambda *_: np.full((3, 1), np.nan))
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
