"""The value method: its gradients against autograd, its values against exact ones."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.stats import spearmanr

from askless import DynamicClassifier, DynamicRegressor
from askless.acquisition import PerFeature, State
from askless.datasets import load_dataset
from askless.methods import Value
from askless.methods.value import ValueLearner
from askless.theory import gaussian_chain, problems
from askless.training import States
from tests.methods.algorithm_1 import believed_gain, forward, loss_of
from tests.methods.given_rows import chains_of

STEP = 0.005  # nats; smaller differences between learned values are not told apart


def learner_of(problem, module, candidates=3):
    learner = ValueLearner(module, problem, chains_of(problem), exact_first=False)
    learner.candidates = min(candidates, len(problem.schema))
    return learner


def states_of(problem):
    rows = problem.rows("train")
    asked = torch.rand(rows.present.shape, generator=torch.Generator().manual_seed(3)) < 0.4
    asked[:, 0] = False  # every row has something to ask
    asked[0] = False  # and of one nothing is known
    return rows, States(rows.x, rows.y, asked.to(torch.uint8), rows.present.double(), rows.askable.double())


def literal_gain(problem, module, rows, row, asked, feature):
    """What is predicted (outputs,), and how much knowing a feature as well gains, one row and feature at a time."""
    column_feature = torch.from_numpy(problem.schema.column_feature)

    def predicted(known):
        if not known.any():
            return problem.prior_outputs.double()[None]
        inputs = torch.cat([rows.x[row] * known[column_feature], known.double()])
        return forward(module.predictor, inputs[None])

    known = asked.bool() & rows.present[row]
    more = known.clone()
    more[feature] = rows.present[row, feature]
    (now,), (then,) = predicted(known).detach(), predicted(more).detach()
    return now, believed_gain(now, then, problem.task)


@pytest.mark.parametrize("missing", ["skip", "answer"])
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_gradients_are_those_of_the_squared_error(make_problem, make_module, task, missing):
    problem = make_problem((1, 2, 1), task=task, gaps=True, missing=missing)
    module = make_module(problem)
    rows, states = states_of(problem)
    learner = learner_of(problem, module)  # as many candidates as features: all are tried
    loss, pick = learner.states_loss(states, states[:0], 0.5)

    column_feature = torch.from_numpy(problem.schema.column_feature)
    errors, lesson = [], 0.0
    for row in range(len(rows)):
        asked = states.asked[row]
        known = asked.bool() & rows.present[row]
        outputs = forward(module.policy, torch.cat([rows.x[row] * known[column_feature], known.double()])[None])[0]
        for feature in range(3):
            if states.blocked[row, feature]:
                continue
            now, gain = literal_gain(problem, module, rows, row, asked, feature)
            p = torch.softmax(now, dim=0)
            entropy = 1.0 if task == "regression" else -(p * p.log()).sum()
            errors.append((entropy * outputs[feature] - gain).square())
        assert not states.blocked[row, pick[row]]
        more = asked.clone()
        more[pick[row]] = 1
        shown = more.bool() & rows.present[row]
        inputs = torch.cat([rows.x[row] * shown[column_feature], shown.double()])
        lesson = lesson + loss_of(forward(module.predictor, inputs[None]), rows.y[row : row + 1])[0]
    total = torch.stack(errors).mean() + lesson / len(rows)
    assert abs(float((loss - total).detach())) < 1e-9
    parameters = list(module.parameters())
    fast, literal = (torch.autograd.grad(each, parameters) for each in (loss, total))
    for mine, theirs in zip(fast, literal, strict=True):
        assert mine.sub(theirs).abs().max() < 1e-9


def test_candidates_are_distinct_open_and_led_by_the_best(make_problem, make_module):
    problem = make_problem((1,) * 9, n=200, gaps=True)
    learner = learner_of(problem, make_module(problem), candidates=4)
    _, states = states_of(problem)
    values = torch.rand(states.asked.shape, generator=torch.Generator().manual_seed(5), dtype=torch.float64)
    candidates, open_ = learner._candidates(states, values)
    allowed = states.blocked == 0
    assert all(len(set(row)) == 4 for row in candidates.tolist())
    assert (open_ == allowed.gather(1, candidates)).all()
    assert (open_.sum(dim=1) == allowed.sum(dim=1).clamp(max=4)).all()  # what is open goes first
    best = torch.where(allowed, values, -torch.inf).argmax(dim=1)
    assert (candidates[:, 0] == best).all()
    tried = torch.zeros(9)
    tried.index_add_(0, candidates[:, 2:][open_[:, 2:]], torch.ones(int(open_[:, 2:].sum())))
    assert (tried > 0).all()  # any feature may be among the others


def test_half_of_the_states_go_for_the_money_and_half_for_information(make_problem, make_module):
    problem = replace(make_problem((1, 1, 1), n=400), costs=PerFeature(np.array([4.0, 1.0, 9.0])))
    learner = learner_of(problem, make_module(problem), candidates=2)
    rows = problem.rows("train")
    states = States(rows.x, rows.y, torch.zeros(len(rows), 3, dtype=torch.uint8))
    # 0.3 for 4 and 0.2 for 1: the latter is more for the money, 0.2 / sqrt(1) against 0.3 / sqrt(4).
    values = torch.tensor([0.3, 0.2, 0.1], dtype=rows.x.dtype).expand(len(rows), -1)
    led = learner._candidates(states, values)[0][:, 0]
    assert set(led.tolist()) == {0, 1}
    assert float((led == 1).double().mean()) == pytest.approx(0.5, abs=0.15)


def values_and_truth(name, **settings):
    """Learned values, exact ones, and chances (pairs,) of what may be asked in the states that the policy visits."""
    problem = getattr(problems, name)()
    data = load_dataset(f"exact_{name}", n=10_000, random_state=1)
    method = Value(**settings)
    model = DynamicClassifier(method=method, groups=data.groups or None).fit(data.frame, data.target).model_

    def score(partial):
        cases = model.encoder.transform(partial.values)
        return model.policy.score(State.of(cases, model.schema.column_feature, partial.asked))

    visits = problem.reachable(lambda p: np.where(p.asked, -np.inf, score(p)).argmax(axis=1), model.max_features)
    asking = ~visits.ended
    regret = problem.regret(visits.partial, visits.pick)[asking]
    chance = visits.probability[asking] / visits.probability[asking].sum()
    open_ = ~visits.partial.asked[asking]
    pairs = np.broadcast_to(chance[:, None], open_.shape)[open_]
    learned, exact = score(visits.partial)[asking][open_], problem.cmi(visits.partial)[asking][open_]
    return learned, exact, pairs / pairs.sum(), float(chance @ (regret <= 0.01))


def test_values_are_the_conditional_mutual_information():
    """In nats, in order, and good enough to choose by, over the states that the policy visits."""
    settings = {"hidden": (64, 64), "epochs": 15, "pretrain_epochs": 10}
    found = [values_and_truth(name, **settings) for name in problems.__all__]
    for learned, exact, chance, good in found:
        assert chance @ np.abs(learned - exact) < 0.01
        assert (learned >= 0).all()
        assert good >= 0.985
    # The order of all problems' candidates together, each as often as it comes up: within one problem most are worth
    # the same, many of them nothing, and the order of their estimates is noise. So it is within a step of 0.005 nats,
    # twice the mean error: there what is learned on one machine and on another differs.
    rng = np.random.default_rng(0)
    drawn = [rng.choice(len(chance), 4000, p=chance) for _, _, chance, _ in found]
    learned, exact = (
        np.concatenate([part[i][rows] for part, rows in zip(found, drawn, strict=True)]) for i in (0, 1)
    )
    assert spearmanr(np.round(learned / STEP), np.round(exact / STEP)).statistic > 0.95
    matters = exact > STEP
    assert spearmanr(learned[matters], exact[matters]).statistic > 0.98


@pytest.mark.parametrize("unit", [1e22, 1e-22])
def test_values_of_a_regression_in_any_unit(unit):
    """Squares of the unit are beyond single precision."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    y = X[:, 2] + 0.3 * X[:, 0]
    method = Value(epochs=3, pretrain_epochs=10, hidden=(8,))
    plain, scaled = (DynamicRegressor(2, method=method).fit(X, y * u) for u in (1.0, unit))
    assert np.isfinite(scaled.model_.policy.first).all()
    np.testing.assert_array_equal(scaled.rollout(X).order, plain.rollout(X).order)
    scores = [model.model_.policy.score(_known_first(model, X)) for model in (plain, scaled)]
    np.testing.assert_allclose(scores[1] / unit**2, scores[0], rtol=1e-3, atol=1e-6)


def _known_first(model, X):
    asked = np.zeros(X.shape, dtype=bool)
    asked[:, 2] = True
    return State.of(model.model_.encoder.transform(X), model.schema_.column_feature, asked)


def test_values_of_a_regression_are_drops_of_the_variance():
    problem = gaussian_chain()
    data = load_dataset("exact_gaussian_chain", n=6000, random_state=1)
    method = Value(hidden=(64, 64), epochs=20, pretrain_epochs=15)
    model = DynamicRegressor(method=method, groups=data.groups or None).fit(data.frame, data.target)
    values, _ = problem.sample(2000, np.random.default_rng(2))
    t = model.rollout(values)
    scale = problem.covariance[-1, -1]
    cases = model.model_.encoder.transform(values)
    for k in range(3):
        asked = t.selected(k)
        state = State.of(cases, model.schema_.column_feature, asked)
        exact = problem.worth(State.of(problem.cases(values), problem.schema.column_feature, asked))
        if k == 0:
            exact = exact + np.var(data.target) - scale  # at first, the rows' own variance is what can fall
        error = np.abs(model.model_.policy.score(state) - exact)[~asked] / scale
        assert error.mean() < 0.03
