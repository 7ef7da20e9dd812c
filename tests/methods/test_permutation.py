"""The permutation test against literal code, and on rows of which it is known what matters."""

import numpy as np
import pytest

from askless import metrics
from askless.acquisition import Cases, State
from askless.exceptions import AsklessError, ParameterError, TrainingError
from askless.methods import Permutation, permutation
from askless.methods.importance import Additive
from askless.methods.permutation import metric_drops
from askless.training import exported_predictor
from tests.coded import raises
from tests.methods.planted import BEST, SECOND, Silent, planted

TASKS = ["classification", "regression"]


def literal_drops(predictor, problem, metric, repeats, seed):
    """Whole rows with one feature's columns and presence taken from training rows."""

    def score(x, present):
        asked = np.ones(present.shape, dtype=bool)
        state = State.of(Cases(x, present), problem.schema.column_feature, asked)
        return metric(problem.y_valid, predictor.predict(state))

    rng, train, valid = np.random.default_rng(seed), problem.train, problem.valid
    drops = []
    for i, feature in enumerate(problem.schema.features):
        each = []
        for _ in range(repeats):
            donors = rng.integers(len(train), size=len(valid))
            x, present = valid.x.copy(), valid.present.copy()
            x[:, feature.start : feature.stop] = train.x[donors][:, feature.start : feature.stop]
            present[:, i] = train.present[donors, i]
            each.append(score(x, present))
        drops.append(score(valid.x, valid.present) - np.mean(each))
    return np.array(drops) * (1 if metric.greater_is_better else -1)


@pytest.mark.parametrize(
    ("task", "metric"), [("classification", "auroc"), ("classification", "log_loss"), ("regression", "rmse")]
)
def test_it_is_what_exchanging_the_values_gives(make_problem, make_module, monkeypatch, task, metric):
    monkeypatch.setattr(permutation, "RUN", 3)  # of 7 rows
    problem = make_problem((1, 3, 2), task, gaps=True)
    predictor = exported_predictor(make_module(problem).predictor, problem)
    chosen = metrics.metric(metric)
    drops = metric_drops(Additive(predictor, problem.schema), problem, chosen, 4, 5, Silent())
    assert np.abs(drops).max() > 1e-3
    np.testing.assert_allclose(drops, literal_drops(predictor, problem, chosen, 4, 5), atol=1e-10)


def test_what_the_network_does_not_look_at_is_worth_nothing(make_problem, make_module):
    problem = make_problem((1, 3, 2), gaps=True)
    module = make_module(problem).predictor
    weight = module.hidden.layers[0].weight.data  # (hidden, columns + features)
    weight[:, [1, 2, 3, 7]] = 0.0  # the second feature's columns, and its presence
    model = Additive(exported_predictor(module, problem), problem.schema)
    drops = metric_drops(model, problem, metrics.log_loss, 2, 0, Silent())
    assert drops[1] == pytest.approx(0.0, abs=1e-12)
    assert np.abs(drops[[0, 2]]).min() > 1e-4


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("gaps", [0.0, 0.2])
def test_it_finds_what_matters(task, gaps):
    progress = Silent()
    fitted = Permutation(hidden=(32,), epochs=40, repeats=3).fit(planted(task, gaps=gaps), seed=0, progress=progress)
    assert np.argsort(-fitted.policy.scores)[:2].tolist() == [BEST, SECOND]
    assert progress.phases.count("permutation") == 5  # once for each feature


def test_scores_are_drops_of_the_metric():
    problem = planted("classification")
    scores, _ = Permutation(hidden=(32,), epochs=40, metric="accuracy")._scores(problem, 0, Silent(), None)
    assert 0.2 < scores[BEST] < 0.5  # a guess is right half of the time
    assert np.abs(np.delete(scores, [BEST, SECOND])).max() < 0.03


@pytest.mark.parametrize(
    ("metric", "code"),
    [("rmse", "invalid_choice"), ("auc", None)],  # the latter is refused by askless.metrics
)
def test_a_metric_that_does_not_fit_is_refused_before_anything_is_trained(metric, code):
    progress = Silent()
    with raises(ParameterError, code, name="metric", value=metric) if code else pytest.raises(AsklessError):
        Permutation(metric=metric).fit(planted("classification"), seed=0, progress=progress)
    assert not progress.told


def test_validation_rows_of_one_class_have_a_log_loss():
    problem = planted("classification", n=120)
    problem.y_valid[:] = 1
    assert Permutation()._metric(problem) is metrics.log_loss
    assert Permutation(epochs=1, repeats=1).fit(problem, seed=0, progress=Silent()).policy.scores.shape == (5,)


def test_settings_have_limits():
    with raises(ParameterError, "out_of_range", name="repeats", value=0, low=1):
        Permutation(repeats=0).fit(planted("regression", n=60), seed=0, progress=Silent())


def test_scores_that_are_not_finite_end_the_fit(monkeypatch):
    monkeypatch.setattr(Permutation, "_importance", lambda *_: np.array([0.1, np.nan, 0.0, 0.2, 0.3]))
    with raises(TrainingError, "diverged", method="permutation", phase="ranking", epoch=None):
        Permutation(epochs=1).fit(planted("classification", n=120), seed=0, progress=Silent())
