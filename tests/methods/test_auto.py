"""The method that tries others: the best on validation rows is kept, whatever happens to the process."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from askless import DynamicClassifier, load
from askless.core import PerFeature
from askless.methods import Auto, find_method
from askless.training import validation_loss
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
    assert fitted.summary["validation_losses"] == alone
    assert fitted.summary["chosen"] == min(alone, key=alone.get)
    assert validation_loss(fitted.policy, fitted.predictor, problem) == min(alone.values())
    assert fitted.summary["why"].startswith(f"{fitted.summary['chosen']} has the lowest validation loss over ")
    assert ("money" in fitted.summary["why"]) == (prices is not None)


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
    assert again.summary == whole.summary
    for name, array in whole.predictor.arrays().items():
        assert_array_equal(again.predictor.arrays()[name], array)


def test_progress_says_what_is_tried():
    progress = Silent()
    Auto(**QUICK, methods=("greedy",)).fit(planted("classification", n=200), seed=0, progress=progress)
    assert "greedy: pretraining" in {told[0] for told in progress.told if isinstance(told, tuple)}


@pytest.mark.parametrize("methods", [(), ("auto",), ("gredy",)])
def test_what_cannot_be_tried(methods):
    with pytest.raises(ValueError, match="method"):
        Auto(methods=methods).check()


def test_files_hold_it(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    y = (X[:, 1] > 0).astype(int)
    model = DynamicClassifier(2, Auto(**QUICK)).fit(X, y)
    model.save(tmp_path / "m.askless")
    again = load(tmp_path / "m.askless")
    assert again.method.get_params() == model.method.get_params()
    assert again.model_.summary["chosen"] in ("greedy", "value", "forward_selection")
    assert_array_equal(again.predict_proba(X), model.predict_proba(X))
