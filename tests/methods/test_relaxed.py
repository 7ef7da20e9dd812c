"""The fast training against a literal Algorithm 1."""

import pytest
import torch

from askless.methods.greedy.chains import Chains, States
from askless.methods.greedy.relaxed import RelaxedLearner, relaxed_step
from askless.nn import NoiseBank, gumbel_noise
from tests.methods.algorithm_1 import algorithm_1

WIDTHS = [(1, 1, 1, 1, 1), (2, 2, 2, 2), (1, 3, 2, 1)]


def doubles(rows):
    """The rows with a float64 target, as the literal algorithm needs it."""
    return rows.y if rows.y.dtype == torch.int64 else rows.y.double()


def group_matrix(problem):
    group = torch.zeros(problem.schema.n_columns, len(problem.schema), dtype=torch.float64)
    group[torch.arange(problem.schema.n_columns), torch.from_numpy(problem.schema.column_feature)] = 1.0
    return group


@pytest.mark.parametrize("widths", WIDTHS)
@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("temperature", [1.0, 0.1])
def test_one_batch_of_states_has_the_gradient_of_algorithm_1(
    widths, task, shared, temperature, make_problem, make_module
):
    problem = make_problem(widths, task)
    module, rows = make_module(problem, shared), problem.tensors("train")
    y = doubles(rows)
    gumbels = gumbel_noise(3, len(rows), len(widths), generator=torch.Generator().manual_seed(2)).double()
    total, masks = algorithm_1(
        module.policy, module.predictor, rows.x, y, group_matrix(problem), gumbels, temperature
    )
    literal = torch.autograd.grad(total, list(module.parameters()))

    visited = torch.cat(masks[:-1])  # all states of all depths in one batch
    states = States(
        rows.x.repeat(3, 1), y.repeat(3), rows.present.repeat(3, 1), rows.askable.repeat(3, 1), visited > 0
    )
    losses, pick = relaxed_step(module, rows, states, gumbels.flatten(0, 1), temperature)
    fast = torch.autograd.grad(losses.sum(), list(module.parameters()))

    assert abs(float((losses.sum() - total).detach())) < 1e-9
    for mine, theirs in zip(fast, literal, strict=True):
        torch.testing.assert_close(mine, theirs, rtol=0, atol=1e-9)
    assert sum(float(g.abs().max()) for g in fast[-4:]) > 1e-3  # the policy's gradients are not just zeros
    expected = torch.cat(masks[1:]).bool()
    assert torch.equal(visited.bool().scatter(1, pick[:, None], True), expected)


class GivenNoise(NoiseBank):
    """A noise bank that hands out what it was given."""

    def __init__(self, gumbels):
        self.given, self.dropout_rate = list(gumbels), 0.0

    def gumbel(self, rows, columns):
        return self.given.pop(0)


def learner_with(problem, module, gumbels, **options):
    chains = Chains(
        problem,
        batch_size=len(problem.y_train),
        states_per_row=1,
        random_subsets=options.pop("random_subsets", False),
        random_starts=options.pop("random_starts", 0.0),
        generator=torch.Generator().manual_seed(0),
        seed=0,
    )
    chains.asked.zero_()
    noise = GivenNoise(gumbels)
    learner = RelaxedLearner(
        module, problem, chains, noise, exact_first=False, watch_relaxed_loss=False, seed=0, **options
    )
    object.__setattr__(chains.rows, "y", doubles(chains.rows))
    return learner


def test_chains_walk_as_algorithm_1_does_and_start_again(make_problem, make_module):
    problem = make_problem((1, 2, 1, 1))
    module, rows = make_module(problem), problem.tensors("train")
    gumbels = gumbel_noise(6, len(rows), 4, generator=torch.Generator().manual_seed(3)).double()
    learner = learner_with(problem, module, gumbels)
    everyone = torch.arange(len(rows))
    losses, walked = [], []
    with torch.no_grad():
        for _ in range(6):
            walked.append(learner.chains.asked.clone())
            losses.append(float(learner.loss(everyone, 0.5)) * len(rows))
        for start in (0, 3):  # three selections are the budget, then every state is empty again
            total, masks = algorithm_1(
                module.policy, module.predictor, rows.x, rows.y, group_matrix(problem), gumbels[start:][:3], 0.5
            )
            assert abs(sum(losses[start : start + 3]) - float(total)) < 1e-9
            for mine, theirs in zip(walked[start : start + 3], masks[:3], strict=True):
                assert torch.equal(mine, theirs.bool())


@pytest.mark.parametrize("missing", ["skip", "answer"])
def test_states_ask_only_what_can_be_asked(missing, make_problem, make_module):
    problem = make_problem((1, 2, 1, 1, 1), gaps=True, missing=missing, n=40)
    module = make_module(problem)
    gumbels = gumbel_noise(30, 40, 5, generator=torch.Generator().manual_seed(3)).double()
    learner = learner_with(problem, module, gumbels)
    rows = learner.rows
    for _ in range(30):
        asked = learner.chains.asked
        assert not (asked & ~rows.askable).any()
        assert (asked.sum(dim=1) < problem.max_features).all()
        assert (rows.askable & ~asked).any(dim=1).all()
        assert torch.isfinite(learner.loss(torch.arange(40), 0.3))
    if missing == "skip":
        assert not (learner.chains.asked & ~rows.present).any()
    else:
        assert rows.askable.all()


def test_missing_answers_tell_nothing(make_problem, make_module):
    """Under missing="answer" a selected feature without a value leaves the predictor as it was."""
    problem = make_problem((1, 1, 1), missing="answer", gaps=True, n=30)
    module, rows = make_module(problem), problem.tensors("train")
    states = States.start(rows)
    with torch.no_grad():
        gumbel = gumbel_noise(30, 3, generator=torch.Generator().manual_seed(0)).double()
        losses, pick = relaxed_step(module, rows, states, gumbel, 1e-4)
        nothing = rows.loss(module.predictor(torch.zeros_like(rows.x), torch.zeros(30, 3).double()), rows.y)
    unanswered = ~rows.present.gather(1, pick[:, None])[:, 0]
    assert unanswered.any()
    torch.testing.assert_close(losses[unanswered], nothing[unanswered], rtol=0, atol=1e-6)


def test_the_first_question_is_asked_of_all(make_problem, make_module):
    problem = make_problem((1, 1, 1, 1))
    module, rows = make_module(problem), problem.tensors("train")
    first = torch.tensor([0.1, 0.4, 0.3, 0.2], dtype=torch.float64)
    gumbel = gumbel_noise(len(rows), 4, generator=torch.Generator().manual_seed(0)).double()
    losses, pick = relaxed_step(module, rows, States.start(rows), gumbel, 0.5, first)
    assert pick.tolist() == [1] * len(rows)
    mask = torch.zeros(len(rows), 4, dtype=torch.float64)
    mask[:, 1] = 1.0  # all of it, not a mixture
    torch.testing.assert_close(losses, rows.loss(module.predictor(rows.x * mask, mask), rows.y))


def test_random_subsets_replace_the_walk(make_problem, make_module):
    problem = make_problem((1, 1, 1, 1, 1), n=200, max_features=4)
    module = make_module(problem)
    gumbels = gumbel_noise(50, 200, 5, generator=torch.Generator().manual_seed(3)).double()
    learner = learner_with(problem, module, gumbels, random_subsets=True)
    sizes = []
    for _ in range(50):
        learner.loss(torch.arange(200), 0.5)
        sizes.append(learner.chains.asked.sum(dim=1))
    counts = torch.cat(sizes).bincount(minlength=4) / 10_000
    torch.testing.assert_close(counts, torch.full((4,), 0.25), rtol=0, atol=0.02)  # sizes 0 to 3, equally likely


def test_random_starts_are_that_share_of_the_starts(make_problem, make_module):
    problem = make_problem((1, 1, 1, 1, 1), n=500, max_features=2)
    module = make_module(problem)
    gumbels = gumbel_noise(60, 500, 5, generator=torch.Generator().manual_seed(3)).double()
    learner = learner_with(problem, module, gumbels, random_starts=0.4)
    started = known = 0
    for _ in range(60):
        before = learner.chains.asked.sum(dim=1)
        learner.loss(torch.arange(500), 0.5)
        ended = before == 1  # the second of two questions was asked
        started += int(ended.sum())
        known += int(learner.chains.asked[ended].any(dim=1).sum())
    # A random set of 0 or 1 features: half of the random starts know something.
    assert abs(known / started - 0.2) < 0.02
