"""CMI estimation against exact answers: right where its assumption holds, wrong in the known way elsewhere."""

import numpy as np
import pytest

from askless import DynamicClassifier, DynamicRegressor
from askless.acquisition import State
from askless.datasets import load_dataset
from askless.methods import CmiMarginal, CmiPvae
from askless.theory import DiscreteProblem, MarginalSampler, SampledPolicy, problems

ROWS = 4000
SENSOR, TWIN = 0, 1
METHODS = {
    "cmi_marginal": CmiMarginal(epochs=60),
    "cmi_pvae": CmiPvae(epochs=60, vae_epochs=60),
}


def independent():
    """Independent features: a switch says which of two is worth asking, and the last always helps a little."""
    switch, left, right, weak = np.indices((2, 2, 2, 2))
    logit = 4.0 * (np.where(switch == 1, left, right) - 0.5) + 1.2 * (weak - 0.5) + 1.0 * (switch - 0.5)
    p = 1 / (1 + np.exp(-logit))
    chance = np.ones((2, 2, 2, 2))
    for axis, one in enumerate((0.5, 0.4, 0.55, 0.5)):
        chance = chance * np.array([1 - one, one]).reshape([2 if i == axis else 1 for i in range(4)])
    joint = np.stack([(1 - p) * chance, p * chance], axis=-1)
    return DiscreteProblem("independent", dict.fromkeys(["switch", "left", "right", "weak"], 1), joint)


class Truth:
    """A method fitted to an exact problem."""

    def __init__(self, problem, method, frame, target, groups=None, seed=0):
        self.problem = problem
        model = DynamicClassifier(groups=groups, method=METHODS[method], random_state=seed)
        self.model = model.fit(frame, target).model_

    def state(self, partial):
        return State.of(self.model.encoder.transform(partial.values), self.model.schema.column_feature, partial.asked)

    def scores(self, partial):
        return np.where(partial.asked, -np.inf, self.model.policy.score(self.state(partial)))

    def regret(self):
        """The mean loss of information of a choice, over the states that the policy comes to."""
        visits = self.problem.reachable(lambda partial: self.scores(partial).argmax(axis=1), self.model.max_features)
        asking = ~visits.ended
        chance = visits.probability[asking] / visits.probability[asking].sum()
        return chance @ self.problem.regret(visits.partial, visits.pick)[asking]

    def random_regret(self):
        """The same for choices at random, in the same number of questions: what a useless estimate would lose."""
        visits = self.problem.reachable(lambda partial: partial.asked.argmin(axis=1), self.model.max_features)
        asking = ~visits.ended
        partial, chance = visits.partial[asking], visits.probability[asking] / visits.probability[asking].sum()
        cmi = self.problem.cmi(partial)
        mean = cmi.sum(axis=1) / (~partial.asked).sum(axis=1)
        return chance @ (cmi.max(axis=1) - mean)


def of_exact(name, method, seed=0):
    data = load_dataset(f"exact_{name}", n=ROWS, random_state=1)
    return Truth(getattr(problems, name)(), method, data.frame, data.target, data.groups or None, seed)


@pytest.mark.parametrize("method", METHODS)
def test_right_where_features_are_independent(method):
    problem = independent()
    values, y = problem.sample(ROWS, np.random.default_rng(0))
    truth = Truth(problem, method, values, y)
    assert truth.regret() < 0.1 * truth.random_regret()
    first = problem.empty()
    np.testing.assert_allclose(truth.scores(first), problem.cmi(first), atol=0.02)


def test_the_marginal_falls_for_the_twin_and_the_generative_model_does_not():
    """Two sensors nearly always agree, so the second says little; drawn from its marginal it seems to say much."""
    after = {}
    for method in METHODS:
        truth = of_exact("twin_sensors", method)
        sensor = truth.problem.partial([[0, 0, 0, 0]], [[True, False, False, False]])
        exact = truth.problem.cmi(sensor)[0]
        assert exact[TWIN] < 0.5 * exact[2]
        after[method] = truth.scores(sensor)[0]
        assert truth.scores(truth.problem.empty()).argmax() == SENSOR
        if method == "cmi_pvae":
            assert truth.regret() < 0.002
    assert after["cmi_marginal"].argmax() == TWIN
    assert after["cmi_marginal"][TWIN] > 3 * exact[TWIN]
    assert after["cmi_pvae"].argmax() == exact.argmax()
    assert abs(after["cmi_pvae"][TWIN] - exact[TWIN]) < 0.5 * (after["cmi_marginal"][TWIN] - exact[TWIN])


@pytest.mark.parametrize("name", ["noisy_tests", "panels"])
def test_the_generative_model_asks_in_nearly_the_exact_order(name):
    truths = [of_exact(name, "cmi_pvae", seed) for seed in range(3)]
    assert np.mean([truth.regret() for truth in truths]) < 0.15 * truths[0].random_regret()


# Few answers instead of many draws


@pytest.fixture(scope="module")
def skewed():
    """Numbers that depend on one another, some of them mostly zero; three classes."""
    rng = np.random.default_rng(0)
    common = rng.normal(size=(1500, 1))
    x = np.exp(common + rng.normal(size=(1500, 6)))
    x[:, 3:] *= rng.random((1500, 3)) < 0.4
    y = np.digitize(np.log(x[:, 0]) - np.log(x[:, 1]) + x[:, 3] - 0.5 * (x[:, 4] > 0), [-0.5, 1.0])
    return x, y


def states_of(model, x):
    cases = model.encoder.transform(x)
    asked = np.random.default_rng(1).random(cases.present.shape) < 0.4
    asked[:, 5] = False
    return State.of(cases, model.schema.column_feature, asked)


def agreement(scores, literal, asked):
    """The correlation, and the share of the cases in which both ask the same or lose next to nothing."""
    pick = np.where(asked, -np.inf, scores).argmax(axis=1)
    lost = literal.max(axis=1) - literal[np.arange(len(pick)), pick]
    return np.corrcoef(scores[~asked], literal[~asked])[0, 1], np.mean(lost <= 0.01)


def test_atoms_agree_with_all_training_rows(skewed):
    x, y = skewed
    model = DynamicClassifier(method=CmiMarginal(epochs=40)).fit(x, y).model_
    state = states_of(model, x[:80])
    rows = model.encoder.transform(x).x
    model.predictor.temperatures = None  # the policy's own network is not calibrated
    literal = SampledPolicy(model.predictor, MarginalSampler(rows, shared=True), model.schema, n_samples=len(rows))
    scores, expected = model.policy.score(state), literal.score(state)
    correlation, same = agreement(scores, expected, state.asked)
    assert correlation > 0.998
    assert same > 0.98
    assert np.abs(scores - expected).max() < 0.03  # nats


@pytest.mark.parametrize("answers", ["drawn", "mean"])
def test_atoms_agree_with_many_answers(skewed, answers):
    """The same autoencoder, whose draws are told apart much finer."""
    x, y = skewed
    method = CmiPvae(epochs=30, vae_epochs=30, answers=answers)
    few, many = (DynamicClassifier(method=method.set_params(atoms=k)).fit(x, y).model_ for k in (10, 128))
    assert np.array_equal(few.policy.vae.weights[0], many.policy.vae.weights[0])
    state = states_of(few, x[:200])
    correlation, same = agreement(few.policy.score(state), many.policy.score(state), state.asked)
    assert correlation > 0.99
    assert same > 0.97
    assert few.policy.vae.jitter.any() == (answers == "drawn")


def test_a_regression_asks_for_what_moves_the_mean():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(1000, 3))
    y = 100.0 * (3 * x[:, 1] + x[:, 2])
    model = DynamicRegressor(method=CmiMarginal(epochs=60)).fit(x, y).model_
    nothing = State(np.zeros((1, 6), np.float32), np.zeros((1, 3), bool), np.zeros((1, 3), bool))
    worth = model.policy.score(nothing)[0]
    assert worth[0] < 0.02 * worth[1]
    np.testing.assert_allclose(worth[1:], [90_000, 10_000], rtol=0.25)  # how much the target's variance falls
