"""SAGE values against exact enumeration and the authors' library, and on rows of which it is known what matters."""

from itertools import combinations, permutations
from math import factorial

import numpy as np
import pytest

from askless.acquisition import Cases, State
from askless.exceptions import ParameterError
from askless.methods import Sage
from askless.methods import sage as sage_module
from askless.methods.importance import Additive
from askless.methods.sage import Game, shapley_values
from askless.training import exported_predictor
from tests.coded import raises
from tests.methods.planted import BEST, SECOND, Silent, planted

TASKS = ["classification", "regression"]
WIDTHS = (1, 3, 2, 1)


def game_of(problem, module, imputer="marginal"):
    model = Additive(exported_predictor(module, problem), problem.schema)
    hidden = len(model.bias)
    removed = np.zeros((len(problem.schema), 1, hidden)) if imputer == "zero" else model.parts(problem.train)
    return Game(model, problem.valid, problem.y_valid, removed)


def literal_loss(problem, predictor, features, imputer):
    """The mean loss on the validation rows if only these features are known, one row after another."""
    schema, losses = problem.schema, []
    kept = np.isin(np.arange(len(schema)), features)
    columns = kept[schema.column_feature]
    for x, present, y in zip(problem.valid.x, problem.valid.present, problem.y_valid, strict=True):
        others = problem.train
        if imputer == "zero":
            others = Cases(np.zeros_like(others.x[:1]), np.zeros_like(others.present[:1]))
        mixed = Cases(np.where(columns, x, others.x), np.where(kept, present, others.present))
        inputs = mixed.x * mixed.present[:, schema.column_feature]
        outputs = predictor.network.outputs(State(inputs, mixed.present, mixed.present))
        if problem.task == "classification":
            p = np.exp(outputs) / np.exp(outputs).sum(axis=1, keepdims=True)
            losses.append(-np.log(p.mean(axis=0)[y]))
        else:
            losses.append((predictor.offset + predictor.scale * outputs.mean() - y) ** 2)
    return np.mean(losses)


def exact_values(problem, predictor, imputer="marginal"):
    """Shapley's formula over all sets of features."""
    d = len(problem.schema)
    worth = {
        s: -literal_loss(problem, predictor, s, imputer) for k in range(d + 1) for s in combinations(range(d), k)
    }
    values = np.zeros(d)
    for i in range(d):
        for s in worth:
            if i not in s:
                weight = factorial(len(s)) * factorial(d - len(s) - 1) / factorial(d)
                values[i] += weight * (worth[tuple(sorted((*s, i)))] - worth[s])
    return values


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("imputer", ["marginal", "zero"])
def test_all_orders_give_the_exact_values(make_problem, make_module, task, imputer):
    problem = make_problem(WIDTHS, task, gaps=True)
    game = game_of(problem, make_module(problem).predictor, imputer)
    rows, orders = np.arange(7), list(permutations(range(4)))
    mean = np.mean([game.drops(rows, np.tile(order, (7, 1))).mean(axis=0) for order in orders], axis=0)
    exact = exact_values(problem, game.model.predictor, imputer)
    assert np.abs(exact).max() > 1e-3
    np.testing.assert_allclose(mean, exact, atol=1e-9)


@pytest.mark.parametrize("task", TASKS)
def test_random_orders_come_as_close_as_the_threshold_says(make_problem, make_module, task):
    problem = make_problem(WIDTHS, task, gaps=True)
    game = game_of(problem, make_module(problem).predictor)
    exact, threshold = exact_values(problem, game.model.predictor), 0.01
    errors = []
    for seed in range(8):
        progress = Silent()
        values = shapley_values(game, threshold, 100_000, np.random.default_rng(seed), progress)
        errors.append((values - exact) / np.ptp(exact))
        assert 2 < progress.told[-1][1] < 100_000 // 14  # it stopped by itself
    spread = np.sqrt(np.mean(np.square(errors), axis=0))  # of each value
    assert 0.2 * threshold < spread.max() < 2 * threshold


def test_every_pass_keeps_the_sum(make_problem, make_module):
    """All values together are what all features together are worth, without any error."""
    problem = make_problem(WIDTHS, gaps=True)
    game = game_of(problem, make_module(problem).predictor)
    values = shapley_values(game, 1.0, 1, np.random.default_rng(0), Silent())
    nothing, everything = (literal_loss(problem, game.model.predictor, s, "marginal") for s in ((), range(4)))
    assert values.sum() == pytest.approx(nothing - everything, abs=1e-9)


@pytest.mark.parametrize(("name", "value"), [("RUN", 24), ("PARTS", 1)])  # of 12 samples: two rows at once, one row
def test_how_many_rows_are_taken_at_once_does_not_matter(make_problem, make_module, monkeypatch, name, value):
    problem = make_problem(WIDTHS, gaps=True)
    game = game_of(problem, make_module(problem).predictor)
    expected = shapley_values(game, 1.0, 1, np.random.default_rng(0), Silent())
    monkeypatch.setattr(sage_module, name, value)
    values = shapley_values(game, 1.0, 1, np.random.default_rng(0), Silent())
    np.testing.assert_allclose(values, expected, atol=1e-12)


@pytest.mark.parametrize("task", TASKS)
def test_the_library_agrees(make_problem, make_module, task):
    """On columns and presence side by side, in groups, with many random orders."""
    sage = pytest.importorskip("sage")
    problem = make_problem(WIDTHS, task, gaps=True)
    game = game_of(problem, make_module(problem).predictor)
    schema, predictor = problem.schema, game.model.predictor

    def inputs(cases):
        return np.hstack([cases.x * cases.present[:, schema.column_feature], cases.present])

    def model(joined):
        x, known = joined[:, : schema.n_columns], joined[:, schema.n_columns :] > 0
        state = State(x, known, known)
        return predictor.predict(state)

    groups = [[*range(f.start, f.stop), schema.n_columns + i] for i, f in enumerate(schema.features)]
    imputer = sage.GroupedMarginalImputer(model, inputs(problem.train), groups)
    loss = "cross entropy" if task == "classification" else "mse"
    estimator = sage.PermutationEstimator(imputer, loss, random_state=0)
    theirs = estimator(inputs(problem.valid), problem.y_valid, thresh=0.03, batch_size=256, bar=False)
    ours = shapley_values(game, 0.01, 100_000, np.random.default_rng(0), Silent())
    tolerance = 4 * np.hypot(theirs.std, 0.01 * np.ptp(ours))
    assert (np.abs(ours - theirs.values) < tolerance).all()
    assert np.ptp(ours) > 5 * tolerance.max()


def test_it_ends_where_the_errors_stay_large(make_problem, make_module):
    problem = make_problem(WIDTHS)
    game = game_of(problem, make_module(problem).predictor)
    progress = Silent()
    shapley_values(game, 1e-6, 100, np.random.default_rng(0), progress)
    assert progress.told[-1] == ("shapley values", 100 // 14)


@pytest.mark.parametrize("widths", [(2,), (1, 2)])
def test_of_two_features_an_order_and_its_reverse_are_all_there_is(make_problem, make_module, widths):
    problem = make_problem(widths)
    game = game_of(problem, make_module(problem).predictor)
    values = shapley_values(game, 1e-6, 40, np.random.default_rng(0), Silent())
    np.testing.assert_allclose(values, exact_values(problem, game.model.predictor), atol=1e-9)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("options", [{"samples": 16}, {"imputer": "zero"}], ids=str)
def test_it_finds_what_matters(task, options):
    problem = planted(task, gaps=0.1)
    method = Sage(hidden=(32,), epochs=40, orders=1200, **options)
    scores, history = method._scores(problem, 0, Silent(), None)
    assert np.argsort(-scores)[:2].tolist() == [BEST, SECOND]
    assert np.abs(np.delete(scores, [BEST, SECOND])).max() < 0.4 * scores[SECOND]
    assert {row["phase"] for row in history} == {"all features"}


def test_features_that_say_the_same_share_their_worth():
    problem = planted("classification")
    for cases in (problem.train, problem.valid):
        cases.x[:, 3] = cases.x[:, 0]  # the third feature copies the first
    scores, _ = Sage(hidden=(32,), epochs=40, samples=16, orders=1200)._scores(problem, 0, Silent(), None)
    assert np.argsort(-scores)[0] == BEST
    assert set(np.argsort(-scores)[1:3].tolist()) == {SECOND, 2}


def test_settings_have_limits():
    for name, value in {"samples": 0, "threshold": 0, "imputer": "mean", "orders": 0}.items():
        with raises(
            ParameterError, "invalid_choice" if name == "imputer" else "out_of_range", name=name, value=value
        ):
            Sage(**{name: value}).fit(planted("regression", n=60), seed=0, progress=Silent())
