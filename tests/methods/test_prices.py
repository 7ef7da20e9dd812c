"""Training with prices, against autograd and hand arithmetic."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose

from askless.acquisition import MaxFeatures, PerFeature, Uniform, rollout
from askless.acquisition.costs import Panels
from askless.methods import ForwardSelection, Greedy, MutualInformation
from askless.methods.greedy import SHARPNESS, ExpectedLearner
from askless.training import States, gain_per_price, price_rates, seeded, static_rates
from askless.training.chains import with_little_money
from askless.training.problem import FREE, MONEY, row_losses, validation_rollout
from askless.training.subsets import affordable
from tests.methods.algorithm_1 import believed_gain, forward, loss_of
from tests.methods.planted import BEST, SECOND, Silent, planted
from tests.methods.test_expected import literal_gain, some_states
from tests.methods.test_relaxed import learner_with, noise

PRICES = np.array([4.0, 1.0, 9.0])


def priced(problem, prices=PRICES):
    return replace(problem, costs=PerFeature(prices))


def test_rates_are_roots_of_ratios_to_the_mean_price(make_problem):
    problem = priced(make_problem((1, 2, 1)))
    assert_allclose(static_rates(problem, []), np.sqrt((14 / 3) / PRICES))
    free = priced(make_problem((1, 1, 1)), np.array([0.0, 2.0, 4.0]))
    assert_allclose(static_rates(free, []), np.sqrt(2.0 / np.array([FREE * 2.0, 2.0, 4.0])))
    assert_allclose(static_rates(make_problem((1, 1, 1)), []), 1.0)


def test_rates_of_panels_follow_what_was_asked(make_problem):
    problem = make_problem((1, 1, 1))
    costs = Panels({"f0": 4.0, "f1": 4.0}, {"blood": {"f0": 1.0, "f1": 1.0}}).bound(problem.schema)
    problem = replace(problem, costs=costs)
    rows = problem.rows("train")
    asked = torch.zeros(len(rows), 3, dtype=torch.uint8)
    asked[0, 0] = 1
    rates = price_rates(problem, States(rows.x, rows.y, asked))
    assert_allclose(rates[:2].numpy(), np.sqrt(3.0 / np.array([[1.0, 1.0, 1.0], [4.0, 4.0, 1.0]])))
    assert_allclose(static_rates(problem, [0]), rates[0].numpy())


def test_a_checkpoint_of_other_panels_is_of_another_fit(make_problem):
    """Both charge the same for the first question and once everything was asked."""
    problem = make_problem((1, 1, 1, 1))
    prices, names = dict.fromkeys(("f0", "f1", "f2", "f3"), 4.0), ("f0", "f1", "f2", "f3")
    one = Panels(prices, {"all": dict.fromkeys(names, 1.0)})
    two = Panels(prices, {"left": dict.fromkeys(names[:2], 1.0), "right": dict.fromkeys(names[2:], 1.0)})
    fits = [replace(problem, costs=panels.bound(problem.schema)) for panels in (one, two, one)]
    first, second, again = (Greedy()._fingerprint(fit, 0) for fit in fits)
    assert first == again != second


def test_no_price_flatters_a_loss():
    assert gain_per_price(np.array([0.2, -0.2]), np.array([3.0, 3.0])).tolist() == pytest.approx([0.6, -0.2])


@pytest.mark.parametrize("missing", ["skip", "answer"])
def test_relaxed_gradient_of_the_gain_for_the_money(missing, make_problem, make_module):
    problem = priced(make_problem((1, 2, 1), gaps=True, missing=missing))
    module = make_module(problem)
    rows, states = some_states(problem)
    gumbel = noise(1, len(rows), 3)
    learner = learner_with(problem, module, [gumbel])
    loss, _ = learner.states_loss(states, states[:0], 0.5)

    columns = torch.from_numpy(problem.schema.column_feature)
    known = states.known

    def inputs(mask):
        return torch.cat([rows.x * mask[:, columns], mask], dim=1)

    logits = forward(module.policy, inputs(known))
    soft = torch.softmax(torch.where(states.blocked > 0, -torch.inf, logits + gumbel) / 0.5, dim=1)
    then = forward(module.predictor, inputs(known + soft * rows.present))
    prior = problem.prior_outputs.double().expand(len(rows), -1)
    now = torch.where(known.any(dim=1)[:, None], forward(module.predictor, inputs(known)), prior)
    gain = torch.tensor(
        [believed_gain(*pair, problem.task) for pair in zip(now.detach(), then.detach(), strict=True)]
    )
    rate = (soft * torch.from_numpy(np.sqrt(PRICES.mean() / PRICES))).sum(dim=1)
    # Loss and rate change in turn; by how much the loss falls is what the predictor believes.
    objective = (loss_of(then, rows.y) * rate.detach() - gain * rate).mean()
    policy = list(module.policy.parameters())
    for mine, literal in zip(*(torch.autograd.grad(each, policy) for each in (loss, objective)), strict=True):
        torch.testing.assert_close(mine, literal, rtol=0, atol=1e-9)


def test_expected_gradient_of_the_gain_for_the_money(make_problem, make_module):
    problem = priced(make_problem((1, 2, 1), gaps=True))
    module = make_module(problem)
    rows, states = some_states(problem)
    gumbel = noise(1, len(rows), 3)
    chains = learner_with(problem, module, []).chains
    bank = learner_with(problem, module, [gumbel]).gumbel
    learner = ExpectedLearner(module, problem, chains, bank, exact_first=False, repeats=False)
    learner.candidates = 3
    loss, _ = learner.states_loss(states, states[:0], 1.0)

    columns = torch.from_numpy(problem.schema.column_feature)
    objective = 0.0
    for row in range(len(rows)):
        shown = states.asked[row].bool() & rows.present[row]
        inputs = torch.cat([rows.x[row] * shown[columns], shown.double()])
        logits = SHARPNESS * forward(module.policy, inputs[None])[0]
        allowed = [i for i in range(3) if not states.blocked[row, i]]
        for p, feature in zip(torch.softmax(logits[allowed], dim=0), allowed, strict=True):
            gain = literal_gain(module, problem, rows, row, states.asked[row], feature)
            objective = objective - p * gain * np.sqrt(PRICES.mean() / PRICES[feature])
    policy = list(module.policy.parameters())
    parts = (loss, objective / len(rows))
    for mine, literal in zip(*(torch.autograd.grad(each, policy) for each in parts), strict=True):
        torch.testing.assert_close(mine, literal, rtol=0, atol=1e-9)


def test_some_states_cannot_pay_for_everything(make_problem):
    problem = priced(make_problem((1, 1, 1), n=400))
    with seeded(0):
        can = affordable(problem, 4000).numpy()
    short = ~can.all(axis=1)
    assert can[:, 1].all()  # the cheapest is always affordable
    assert short.mean() == pytest.approx(0.3 * 2 / 3, abs=0.03)  # a limit of 9 rules nothing out
    rows = problem.rows("train")
    asked = torch.zeros(len(rows), 3, dtype=torch.uint8)
    asked[:, 1] = 1
    states = with_little_money(States(rows.x, rows.y, asked), problem)
    assert (states.blocked < 1).any(dim=1).all()  # there is always something to ask
    assert (states.blocked[:, 2] > 0).any()


def test_validation_with_prices_is_the_mean_over_budgets_of_money():
    problem = priced(planted("classification", n=300), np.array([4.0, 1.0, 9.0, 2.0, 4.0]))
    method = MutualInformation(epochs=1, hidden=(8,))
    fitted = method.fit(problem, seed=0, progress=Silent())
    losses = []
    for share in MONEY:
        money = share * 4.0 * problem.max_features  # the mean price, for so many questions
        t = validation_rollout(fitted.policy, fitted.predictor, problem)
        order = t.order[0].tolist()  # a static order: the same for all, bought as far as the money goes
        spent, bought = 0.0, []
        for feature in [*order, *(f for f in range(5) if f not in order)]:
            if spent + problem.first_prices[feature] <= money and len(bought) < problem.max_features:
                spent, bought = spent + problem.first_prices[feature], [*bought, feature]
        asked = np.zeros(problem.valid.present.shape, dtype=bool)
        asked[:, bought] = True
        end = rollout(
            fitted.policy, fitted.predictor, problem.valid, problem.schema, known=asked, stopping=MaxFeatures(0)
        )
        chance = end.predictions[np.arange(len(problem.y_valid)), 0, problem.y_valid]
        losses.append(-np.log(chance.astype(np.float64)).mean())
    assert row_losses(fitted.policy, fitted.predictor, problem).mean() == pytest.approx(np.mean(losses), rel=1e-5)


@pytest.mark.parametrize(
    "method", [ForwardSelection(iterations=10, epochs=1, hidden=(8,)), MutualInformation(epochs=1)]
)
def test_static_orders_begin_with_the_most_for_the_money(method):
    cheap = np.ones(5)
    dear = cheap.copy()
    dear[BEST] = 10_000.0
    problem = planted("classification", n=600)
    first = [
        int(method.fit(replace(problem, costs=PerFeature(prices)), seed=0, progress=Silent()).policy.scores.argmax())
        for prices in (cheap, dear)
    ]
    assert first == [BEST, SECOND]


def test_greedy_asks_what_gains_most_for_its_money():
    problem = planted("classification", n=900)
    method = Greedy(epochs=3, pretrain_epochs=60, hidden=(32,))
    dear = np.ones(5)
    dear[BEST] = 10_000.0
    for costs, first in ((Uniform(), BEST), (PerFeature(dear), SECOND)):
        fitted = method.fit(replace(problem, costs=costs), seed=0, progress=Silent())
        assert validation_rollout(fitted.policy, fitted.predictor, problem).order[0, 0] == first
