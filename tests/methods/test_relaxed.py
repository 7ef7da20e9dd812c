"""The fast training against a literal Algorithm 1."""

import pytest
import torch

from askless.methods.greedy import RelaxedLearner
from askless.networks import GumbelBank
from askless.training import Chains, States, seeded
from tests.methods.algorithm_1 import algorithm_1, forward, loss_of


def noise(seed, *shape):
    """Standard Gumbel noise."""
    source = torch.Generator().manual_seed(seed)
    return -torch.empty(*shape, dtype=torch.float64).exponential_(generator=source).log_()


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
@pytest.mark.parametrize("repeats", [False, True])
def test_one_batch_of_states_has_the_gradient_of_algorithm_1(
    widths, task, shared, temperature, repeats, make_problem, make_module
):
    problem = make_problem(widths, task)
    module, rows = make_module(problem, shared), problem.rows("train")
    y = doubles(rows)
    gumbels = noise(2, 3, len(rows), len(widths))
    group = group_matrix(problem)
    total, masks = algorithm_1(
        module.policy, module.predictor, rows.x, y, group, gumbels, temperature, repeats=repeats
    )
    literal = torch.autograd.grad(total, list(module.parameters()))

    visited = torch.cat(masks[:-1]) > 0  # all states of all depths in one batch
    states = States(rows.x.repeat(3, 1), y.repeat(3), visited.to(torch.uint8))
    learner = learner_with(problem, module, [gumbels.flatten(0, 1)], repeats=repeats)
    loss, pick = learner.states_loss(states, states[:0], temperature)
    loss = loss * len(states.x)
    fast = torch.autograd.grad(loss, list(module.parameters()))

    assert abs(float(loss.detach()) - float(total.detach())) < 1e-9
    for mine, theirs in zip(fast, literal, strict=True):
        torch.testing.assert_close(mine, theirs, rtol=0, atol=1e-9)
    heads = [id(p) for p in module.policy.head.parameters()]
    slopes = [g for p, g in zip(module.parameters(), fast, strict=True) if id(p) in heads]
    assert float(slopes[0].abs().max()) > 1e-5  # the policy's gradients are not just zeros
    expected = torch.cat(masks[1:]).bool()
    assert torch.equal(visited.scatter(1, pick[:, None], True), expected)
    assert bool((visited == expected).all(dim=1).any()) == repeats  # some select what they had selected


def test_random_sets_teach_the_predictor_too(make_problem, make_module):
    problem = make_problem((1, 2, 1), gaps=True)
    module, rows = make_module(problem), problem.rows("train")
    parts = [part.double() for part in (rows.present, rows.askable)]
    states = States(rows.x, rows.y, torch.zeros_like(rows.present, dtype=torch.uint8), *parts)
    asked = rows.askable & (torch.rand(rows.askable.shape, generator=torch.Generator().manual_seed(0)) < 0.5)
    extra = States(rows.x, rows.y, asked.to(torch.uint8), *parts)[:5]
    gumbel = noise(1, len(rows), 3)
    learner = learner_with(problem, module, [gumbel, gumbel])
    alone, _ = learner.states_loss(states, states[:0], 0.5)
    both, _ = learner.states_loss(states, extra, 0.5)
    inputs = torch.cat([rows.x[:5] * asked[:5][:, [0, 1, 1, 2]], asked[:5].double()], dim=1)
    literal = loss_of(forward(module.predictor, inputs), rows.y[:5]).sum() / len(rows)
    assert abs(float((both - alone - literal).detach())) < 1e-12
    parameters = list(module.predictor.parameters())
    fast, added = (torch.autograd.grad(loss, parameters) for loss in (both - alone, literal))
    for mine, theirs in zip(fast, added, strict=True):
        torch.testing.assert_close(mine, theirs, rtol=0, atol=1e-12)


class GivenNoise(GumbelBank):
    """A bank that hands out what it was given."""

    def __init__(self, gumbels):
        self.given = list(gumbels)

    def draw(self, rows, columns):
        return self.given.pop(0)


def learner_with(problem, module, gumbels, **options):
    with seeded(0):
        chains = Chains(
            problem,
            batch_size=len(problem.y_train),
            states_per_row=1,
            epochs=1000,
            random_subsets=options.pop("random_subsets", False),
            random_starts=options.pop("random_starts", 0.0),
        )
    chains.asked.zero_()
    chains.tensors()["count"].zero_()
    chains._draw_ends = lambda states: chains._end.index_copy_(0, states, chains._last[chains.row[states]])
    chains._draw_ends(torch.arange(len(chains.row)))  # every chain goes to its end, as in Algorithm 1
    options = {"exact_first": False, "repeats": False} | options
    learner = RelaxedLearner(module, problem, chains, GivenNoise(gumbels), **options)
    object.__setattr__(chains.rows, "y", doubles(chains.rows))
    return learner


@pytest.mark.parametrize("repeats", [False, True])
def test_chains_walk_as_algorithm_1_does_and_start_again(repeats, make_problem, make_module):
    problem = make_problem((1, 2, 1, 1))
    module, rows = make_module(problem), problem.rows("train")
    gumbels = noise(3, 6, len(rows), 4)
    learner = learner_with(problem, module, gumbels, repeats=repeats)
    everyone = torch.arange(len(rows))
    losses, walked = [], []
    with torch.no_grad():
        for _ in range(6):
            walked.append(learner.chains.asked.clone())
            losses.append(float(learner.loss(everyone, 0.5)) * len(rows))
        for start in (0, 3):  # three selections are the budget, then every state is empty again
            some, group = gumbels[start:][:3], group_matrix(problem)
            total, masks = algorithm_1(
                module.policy, module.predictor, rows.x, rows.y, group, some, 0.5, repeats=repeats
            )
            assert abs(sum(losses[start : start + 3]) - float(total)) < 1e-9
            for mine, theirs in zip(walked[start : start + 3], masks[:3], strict=True):
                assert torch.equal(mine.bool(), theirs.bool())


@pytest.mark.parametrize("missing", ["skip", "answer"])
def test_states_ask_only_what_can_be_asked(missing, make_problem, make_module):
    problem = make_problem((1, 2, 1, 1, 1), gaps=True, missing=missing, n=40)
    module = make_module(problem)
    gumbels = noise(3, 30, 40, 5)
    learner = learner_with(problem, module, gumbels)
    rows = learner.rows
    for _ in range(30):
        asked = learner.chains.asked.bool()
        assert torch.equal(asked.sum(dim=1), learner.chains.tensors()["count"])
        assert not (asked & ~rows.askable).any()
        assert (asked.sum(dim=1) < problem.max_features).all()
        assert (rows.askable & ~asked).any(dim=1).all()
        assert torch.isfinite(learner.loss(torch.arange(40), 0.3).detach())
    if missing == "skip":
        assert not (learner.chains.asked.bool() & ~rows.present).any()
    else:
        assert rows.askable.all()


def test_missing_answers_tell_nothing(make_problem, make_module):
    """Under missing="answer" a selected feature without a value leaves what is known as it was."""
    problem = make_problem((1, 1, 1), missing="answer", gaps=True, n=30)
    module, rows = make_module(problem), problem.rows("train")
    gumbel = noise(0, 30, 3)
    states = States.start(rows)
    scores = module.policy.evaluate(states.x, states.known)
    _, mask, pick = learner_with(problem, module, []).select(scores, states, gumbel, 1e-4)
    answered = rows.present.gather(1, pick[:, None])[:, 0]
    assert 0 < int(answered.sum()) < 30
    torch.testing.assert_close(mask.sum(dim=1), answered.double(), rtol=0, atol=1e-6)


def test_the_first_question_is_asked_of_all(make_problem, make_module):
    problem = make_problem((1, 1, 1, 1))
    module, rows = make_module(problem), problem.rows("train")
    first = torch.tensor([0.1, 0.4, 0.3, 0.2], dtype=torch.float64)
    gumbel = noise(0, len(rows), 4)
    states = States.start(rows)
    scores = module.policy.evaluate(states.x, states.known).requires_grad_()
    learner = learner_with(problem, module, [])
    learner.first = first
    soft, revealed, pick = learner.select(scores, states, gumbel, 0.5)
    assert pick.tolist() == [1] * len(rows)
    mask = torch.zeros(len(rows), 4, dtype=torch.float64)
    mask[:, 1] = 1.0  # all of it, not a mixture
    assert torch.equal(revealed.detach(), mask)
    (slope,) = torch.autograd.grad((soft * torch.rand(mask.shape, dtype=mask.dtype)).sum(), scores)
    assert not slope.any()  # and nothing to learn


def test_random_subsets_replace_the_walk(make_problem, make_module):
    problem = make_problem((1, 1, 1, 1, 1), n=200, max_features=4)
    module = make_module(problem)
    gumbels = noise(3, 50, 200, 5)
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
    gumbels = noise(3, 60, 500, 5)
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


def make_chains(problem, **options):
    settings = {
        "batch_size": 64,
        "states_per_row": 1,
        "epochs": 1000,
        "random_subsets": False,
        "random_starts": 0.0,
    }
    with seeded(0):
        return Chains(problem, **(settings | options))


def walk(chains, steps):
    """Ask every state for its first feature that is left, again and again; yields what was asked before."""
    everyone = torch.arange(len(chains.row))
    for _ in range(steps):
        yield chains.asked.clone()
        chains.move(everyone, chains.asked.argmin(dim=1))


def test_chains_end_after_any_number_of_questions(make_problem):
    chains = make_chains(make_problem((1,) * 6, n=3000, max_features=5))
    depth = torch.cat([asked.sum(dim=1) for asked in walk(chains, 60)][30:])
    # A chain ends after 1 to 5 questions, equally likely: depths 0 to 4 occur as 5, 4, 3, 2, 1 do in 15.
    share = depth.bincount(minlength=5) / len(depth)
    torch.testing.assert_close(share, torch.tensor([5.0, 4, 3, 2, 1]) / 15, rtol=0, atol=0.01)


def test_chains_can_go_to_the_last_question(make_problem):
    chains = make_chains(make_problem((1,) * 6, n=3000, max_features=5), depths="even")
    depth = torch.cat([asked.sum(dim=1) for asked in walk(chains, 60)][30:])
    torch.testing.assert_close(depth.bincount(minlength=5) / len(depth), torch.full((5,), 0.2), rtol=0, atol=0.01)
    mixed = make_chains(make_problem((1,) * 6, n=3000, max_features=5), depths="mixed")
    depth = torch.cat([asked.sum(dim=1) for asked in walk(mixed, 80)][40:])
    # Of every two chains one is asked all 5 questions, one 1 to 5 of them, 3 in the mean: 5 + 5, 5 + 4, ... in 40.
    share = depth.bincount(minlength=5) / len(depth)
    torch.testing.assert_close(share, torch.tensor([10.0, 9, 8, 7, 6]) / 40, rtol=0, atol=0.01)
    gaps = make_chains(make_problem((1,) * 6, n=300, max_features=5, gaps=True), depths="even")
    able = gaps.rows.askable.sum(dim=1).clamp(max=5)
    for asked in walk(gaps, 20):
        assert (asked.sum(dim=1) < able[gaps.row]).all()


def test_short_trainings_have_fewer_states_than_rows(make_problem):
    problem = make_problem((1,) * 4, n=400, gaps=True)
    chains = make_chains(problem, batch_size=10, epochs=2)  # 800 visits in all: chains of 3, walked 4 times, are 66
    assert len(chains.row) == 66
    assert len(make_chains(problem, batch_size=10, epochs=2, walks=2).row) == 133
    batches = chains.batches()
    assert len(batches) == 40
    assert torch.cat(batches[:7]).sort().values.tolist() == list(range(66))  # all of them, then all of them again
    assert visited_rows(chains) == 400


def visited_rows(chains):
    seen = set()
    for _ in walk(chains, 200):
        seen |= set(chains.row.tolist())
    return len(seen)


def test_random_subsets_come_to_all_rows_too(make_problem):
    chains = make_chains(make_problem((1,) * 4, n=400), batch_size=10, epochs=2, random_subsets=True)
    assert len(chains.row) == 66
    assert visited_rows(chains) == 400


def test_layers_are_shared_or_not(make_problem, make_module):
    def count(module):
        return sum(p.numel() for p in module.parameters())

    problem = make_problem((1, 3, 1, 2))
    together, apart = (make_module(problem, shared=shared) for shared in (True, False))
    assert together.policy.hidden is together.predictor.hidden
    assert apart.policy.hidden is not apart.predictor.hidden
    assert count(apart) - count(together) == count(together.predictor.hidden)
    assert together.both(*(torch.ones(2, n).double() for n in (7, 4)))[1] is None
