"""How prices weigh on the choice."""

import numpy as np

from askless.acquisition import Cases, Policy, Predictor, rollout, weigh
from askless.acquisition.costs import PerFeature
from askless.acquisition.stopping import InformationPerCost, MaxCost, MaxFeatures
from askless.exceptions import ParameterError
from tests.acquisition.linear import schema_of
from tests.coded import raises

SCHEMA = schema_of([1, 1, 1, 1])


class Given(Policy, Predictor):
    """Fixed information, whatever is known."""

    informative = True

    def __init__(self, *information, noise=0.0):
        self.information, self.noise = np.array(information), noise

    def score(self, state):
        return np.broadcast_to(self.information, state.asked.shape)

    def predict(self, state):
        return np.zeros((len(state), 1))


def asked(policy, prices, *rules, **how):
    cases = Cases(np.ones((1, 4)), np.ones((1, 4), dtype=bool))
    t = rollout(policy, policy, cases, SCHEMA, costs=PerFeature(np.array(prices)), stopping=rules, **how)
    return [i for i in t.order[0].tolist() if i >= 0], t.cost[0, -1], t.stop_reason[0]


def test_information_for_the_money():
    scores = weigh(np.array([[0.4, 0.3, 0.0]]), np.array([[2.0, 1.0, 0.5]]), np.ones((1, 3), dtype=bool))
    np.testing.assert_allclose(scores, [[0.2, 0.3, -0.5]], rtol=1e-6)


def test_the_best_ratio_first_and_the_worthless_last():
    assert asked(Given(0.4, 0.3, 0.0, 0.2), [4.0, 1.0, 0.01, 1.0])[0] == [1, 3, 0, 2]


def test_a_free_feature_is_asked_first_and_the_best_of_them_before_others():
    assert asked(Given(0.9, 0.01, 0.02, 0.0), [1.0, 0.0, 0.0, 0.0])[0] == [2, 1, 0, 3]


def test_a_worthless_feature_is_not_flattered_by_its_price():
    cheap = [1.0, 1e-6, 2.0, 1.0]
    assert asked(Given(0.5, 0.004, 0.4, 0.3), cheap)[0][0] == 1  # taken at its word
    assert asked(Given(0.5, 0.004, 0.4, 0.3, noise=0.02), cheap)[0] == [0, 3, 2, 1]  # within the noise of the best
    assert asked(Given(0.5, np.nan, 0.4, -1.0), cheap)[0][:2] == [0, 2]  # no number, and less than nothing


def test_what_is_free_has_less_to_prove():
    dear = [1.0, 0.0, 2.0, 0.0]
    assert asked(Given(0.5, 0.02, 0.4, 0.001, noise=0.2), dear)[0] == [1, 0, 2, 3]  # 4 % of the best, and 0.2 %


def test_scores_without_a_unit_stay_as_they_are():
    policy = Given(0.4, 0.3, 0.0, 0.2)
    policy.informative = False
    assert asked(policy, [4.0, 1.0, 0.01, 1.0])[0] == [0, 1, 3, 2]


def test_too_dear_a_best_candidate_does_not_end_the_asking():
    policy = Given(9.0, 0.3, 0.1, 0.2)
    order, cost, reason = asked(policy, [5.0, 1.0, 1.0, 1.0], MaxCost(3))
    assert (order, cost, reason) == ([1, 3, 2], 3.0, "nothing affordable left of 3")
    policy.informative = False
    assert asked(policy, [5.0, 1.0, 1.0, 1.0], MaxCost(2.5))[:2] == ([1, 3], 2.0)


def test_what_is_free_is_asked_even_without_money():
    order, cost, reason = asked(Given(0.1, 0.2, 0.3, 0.4), [0.0, 1.0, 0.0, 2.0], MaxCost(0))
    assert (order, cost, reason) == ([2, 0], 0.0, "nothing affordable left of 0")


def test_sums_of_cents_do_not_cost_a_question():
    assert asked(Given(0.1, 0.2, 0.3, 0.4), [0.1, 0.1, 0.1, 0.1], MaxCost(0.3))[0] == [3, 2, 1]


def test_with_money_for_everything_nothing_is_left():
    assert asked(Given(0.1, 0.2, 0.3, 0.4), [1.0, 2.0, 3.0, 4.0], MaxCost(10))[1:] == (10.0, "nothing left to ask")


def test_no_question_worth_its_price():
    policy = Given(0.4, 0.3, 0.1, 0.2)
    order, _, reason = asked(policy, [4.0, 1.0, 1.0, 1.0], InformationPerCost(0.15))
    assert (order, reason) == ([1, 3], "no question brings 0.15 of information per unit of cost")
    # what is too dear does not keep the asking alive
    order, _, reason = asked(Given(9.0, 0.3, 0.1, 0.2), [50.0, 1.0, 1.0, 1.0], MaxCost(5), InformationPerCost(0.15))
    assert order == [1, 3]
    # where nothing is left, that is the reason
    order, _, reason = asked(policy, [1.0, 1.0, 1.0, 1.0], InformationPerCost(0.01))
    assert (len(order), reason) == (4, "nothing left to ask")
    reason = asked(policy, [1.0, 1.0, 1.0, 1.0], InformationPerCost(0.01), MaxFeatures(4))[2]
    assert reason == "asked 4 features"
    policy.informative = False
    with raises(ParameterError, "not_supported", name="information_per_cost", needed="information"):
        asked(policy, [4.0, 1.0, 1.0, 1.0], InformationPerCost(0.15))


def test_a_number_and_a_sum():
    policy = Given(0.4, 0.3, 0.1, 0.2)
    assert asked(policy, [1.0] * 4, MaxFeatures(2), MaxCost(3))[2] == "asked 2 features"
    assert asked(policy, [2.0] * 4, MaxFeatures(2), MaxCost(3))[2] == "nothing affordable left of 3"
