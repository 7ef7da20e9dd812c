"""Every method passes every check, and every check can fail."""

import dataclasses

import numpy as np
import pytest

from askless import DynamicClassifier, checks
from askless.acquisition import Policy, Schema, TruthPolicy
from askless.checks import CheckFailed, Trial, check_method, check_model, check_policy, check_predictor
from askless.methods import FixedOrder, Greedy, Method, list_methods
from askless.models import RandomOrder, Ranking
from askless.theory import gaussian_chain, noisy_tests, panels
from tests.broken_models import METHODS, MODELS
from tests.broken_policies import POLICIES, Peeking
from tests.broken_predictors import PREDICTORS

FAST = {  # quality does not matter here
    "epochs": 2,
    "pretrain_epochs": 2,
    "hidden": (16,),
    "select_epochs": 2,
    "open_epochs": 2,
    "dense_epochs": 2,
    "stage_epochs": 1,
    "vae_epochs": 2,
    "vae_hidden": (16,),
    "stages": 3,
    "path_multiplier": 3.0,
}
SCHEMA = Schema.of_numbers(["a", "b", "c", "d"])


def quick(method: type[Method]) -> Method:
    """The method with settings that make it fast, of those that it has."""
    made = method()
    return made.set_params(**{name: value for name, value in FAST.items() if name in made.get_params()})


@pytest.fixture(scope="module")
def fitted():
    X, y = checks.example_table("classification")
    groups = {"pressure": ["upper", "lower"]}
    return DynamicClassifier(3, method=quick(FixedOrder), groups=groups).fit(X, y)


@pytest.fixture(scope="module")
def trial():
    return Trial.of(quick(FixedOrder), "classification")


# What is there passes


@pytest.mark.parametrize("name", list_methods())
def test_every_method(name):
    results = check_method(quick(list_methods()[name]))
    names = [check.__name__ for kind in KINDS for check in getattr(checks, f"{kind}_checks")()]
    assert set(results) == {"classification", "regression"}
    assert all(sorted(result) == sorted(names) for result in results.values())


@pytest.mark.parametrize("options", [{"shared": True, "first": "learned"}, {"schedule": "staged"}])
def test_variants_of_the_greedy_method(options):
    check_method(quick(Greedy).set_params(**options))


@pytest.mark.parametrize("shared", [True, False])
def test_convolutional_networks(shared):
    check_method(quick(Greedy).set_params(network="conv_tiny", shared=shared, batch_size=64))


@pytest.mark.parametrize("make", [gaussian_chain, noisy_tests, panels])
def test_exact_policies_and_predictors(make):
    problem = make()
    cases = problem.cases(problem.sample(20, np.random.default_rng(0))[0])
    task = "regression" if make is gaussian_chain else "classification"
    for policy in (problem.greedy, problem.optimal_policy(2)):
        check_policy(policy, problem.schema, cases)
    check_predictor(problem, problem.schema, cases, task=task)


def test_a_stochastic_policy_is_exempt_from_one_check_and_says_why():
    results = check_policy(RandomOrder(3), SCHEMA)
    assert results["scores_of_a_row_are_its_own"].startswith("it is stochastic")
    assert results.pop("truth_is_refused") == "it does not look at the truth"
    assert list(results.values()).count("passed") == len(results) - 1


class Oracle(TruthPolicy):
    def score_with_truth(self, state, truth):
        return truth[: len(state)].astype(float)


def test_an_oracle_must_be_refused_and_may_peek():
    results = check_policy(Oracle(), SCHEMA)
    assert results["truth_is_refused"] == "passed"
    assert "refused" in results["hidden_values_do_not_matter"]


def test_a_model_is_checked_on_a_table_of_ones_own(fitted):
    table = checks.example_table("classification", n=10, seed=3)[0]
    assert check_model(fitted, table)["a_file_keeps_the_model"] == "passed"
    assert check_model(fitted.model_)["unasked_cells_do_not_matter"] == "passed"


class Mine(Ranking):
    """A policy that no file can hold."""


def test_a_policy_of_ones_own_is_exempt_from_files(fitted):
    mine = dataclasses.replace(fitted.model_, policy=Mine(fitted.model_.policy.scores))
    assert check_model(mine)["a_file_keeps_the_model"] == "it cannot be saved: Mine is not in askless.models"


# What is broken fails

KINDS = {"policy": POLICIES, "predictor": PREDICTORS, "model": MODELS, "method": METHODS}


@pytest.mark.parametrize("kind", KINDS)
def test_there_is_something_broken_for_every_check(kind):
    listed = [check.__name__ for check in getattr(checks, f"{kind}_checks")()]
    assert sorted(KINDS[kind]) == sorted(listed)
    assert len(set(listed)) == len(listed)


@pytest.mark.parametrize("check", checks.policy_checks(), ids=lambda check: check.__name__)
def test_every_policy_check_can_fail(check):
    for broken, message in POLICIES[check.__name__]:
        with pytest.raises(CheckFailed, match=f"{type(broken).__name__}: .*{message}"):
            check(broken, SCHEMA, checks.example_cases(SCHEMA))


@pytest.mark.parametrize("check", checks.predictor_checks(), ids=lambda check: check.__name__)
def test_every_predictor_check_can_fail(check):
    for task, broken, message in PREDICTORS[check.__name__]:
        with pytest.raises(CheckFailed, match=f"{type(broken).__name__}: .*{message}"):
            check(broken, SCHEMA, checks.example_cases(SCHEMA), task)


@pytest.mark.parametrize("check", checks.model_checks(), ids=lambda check: check.__name__)
def test_every_model_check_can_fail(check, fitted):
    for spoil, message in MODELS[check.__name__]:
        with pytest.raises(CheckFailed, match=message):
            check(spoil(fitted.model_), checks.example_table("classification", n=12, seed=1)[0])


@pytest.mark.parametrize("check", checks.method_checks(), ids=lambda check: check.__name__)
def test_every_method_check_can_fail(check, trial):
    assert check(trial) is None
    for spoil, message in METHODS[check.__name__]:
        with pytest.raises(CheckFailed, match=f"FixedOrder: {message}"):
            check(spoil(trial))


def test_the_message_names_the_check_the_object_and_the_numbers():
    with pytest.raises(CheckFailed, match=r"^hidden_values_do_not_matter failed\. Peeking: it peeks: .* of 20 cases"):
        check_policy(Peeking(), SCHEMA)


def test_an_object_that_raises_fails_with_its_own_error():
    class Lazy(Policy):
        def score(self, state):
            raise NotImplementedError("later")

    with pytest.raises(
        CheckFailed, match=r"scores_fit_the_features failed\. Lazy raised NotImplementedError"
    ) as info:
        check_policy(Lazy(), SCHEMA)
    assert isinstance(info.value.__cause__, NotImplementedError)


def test_every_check_says_what_it_checks():
    for kind in KINDS:
        for check in getattr(checks, f"{kind}_checks")():
            assert check.__doc__, check.__name__
