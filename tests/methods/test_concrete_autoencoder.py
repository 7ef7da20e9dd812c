"""The Concrete autoencoder: its loss against a literal one, its choices against planted signals."""

import numpy as np
import pytest
import torch

from askless.methods import ConcreteAutoencoder, FixedOrder, concrete_autoencoder
from askless.methods.concrete_autoencoder import SPEED, SelectingNetwork, SelectionLearner, distinct_choices
from askless.networks import gumbel_noise
from askless.training import Checkpoint, Progress, SubsetLearner, full_sets, new_predictor, seeded
from tests.methods.algorithm_1 import forward, loss_of
from tests.methods.given_rows import copied_rows, first, problem_of, xor_rows
from tests.methods.planted import BEST, SECOND, planted

QUICK = {"hidden": (32,), "select_epochs": 150, "pretrain_epochs": 40, "batch_size": 128}


def scores_of(method, problem, seed=0):
    return method._scores(problem, seed, Progress(), None)[0]


def learner_of(problem, n_selectors, nested=True):
    """A learner in float64, without dropout."""
    with seeded(0):
        predictor = new_predictor(problem, FixedOrder(hidden=(16, 8), dropout=0.0).net)
        module = SelectingNetwork(n_selectors, len(problem.schema), predictor).double()
        with torch.no_grad():
            module.selectors.mul_(20.0)  # some selectors want the same feature
        subsets = SubsetLearner(predictor, problem, full_sets, batch_size=12, seed=0)
        return SelectionLearner(module, subsets, nested=nested)


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize(("widths", "gaps"), [((1, 1, 1, 1, 1), False), ((1, 3, 2, 1), True)])
@pytest.mark.parametrize(("temperature", "draws"), [(1.0, 12), (0.3, 5)])
def test_the_loss_is_the_literal_one(task, widths, gaps, temperature, draws, make_problem):
    problem = make_problem(widths, task, gaps=gaps)
    learner = learner_of(problem, 3)
    module, rows = learner.module, learner.subsets.rows
    k, n_features = module.selectors.shape
    with seeded(1):
        gumbel = gumbel_noise(draws, k, n_features).double()
    used = torch.tensor([[1.0] * (1 + i % k) + [0.0] * (k - 1 - i % k) for i in range(draws)]).double()
    learner.draws, learner.used = draws, lambda count: used
    learner.gumbel.draw = lambda *shape: gumbel.view(shape)
    loss = learner.loss(torch.arange(len(rows)), temperature)
    grads = torch.autograd.grad(loss, list(module.parameters()))

    losses, clipped = [], False
    for row in range(len(rows)):
        mask = torch.zeros(n_features).double()
        for selector in range(k):
            logits = SPEED * module.selectors[selector] + gumbel[row % draws, selector]
            mask = mask + used[row % draws, selector] * torch.softmax(logits / temperature, dim=0)
        clipped |= bool((mask > 1).any())
        mask = torch.minimum(mask, torch.ones(())) * rows.present[row]
        spread = torch.cat([mask[i].repeat(width) for i, width in enumerate(widths)])
        outputs = forward(module.predictor, torch.cat([rows.x[row] * spread, mask])[None])
        losses.append(loss_of(outputs, rows.y[row : row + 1].to(torch.int64 if task[0] == "c" else torch.float64)))
    literal = torch.cat(losses).mean()
    expected = torch.autograd.grad(literal, list(module.parameters()))
    assert clipped
    torch.testing.assert_close(loss, literal, rtol=0, atol=1e-9, check_dtype=False)
    for mine, theirs in zip(grads, expected, strict=True):
        torch.testing.assert_close(mine, theirs, rtol=0, atol=1e-7)
    assert float(grads[0].abs().max()) > 1e-5


def test_a_selector_whose_choice_is_taken_takes_its_next_best():
    logits = torch.tensor([[0.0, 5.0, 1.0, 2.0], [0.0, 9.0, 1.0, 2.0], [0.0, 3.0, 1.0, 2.0], [9.0, 0.0, 0.0, 0.0]])
    assert distinct_choices(logits) == [1, 3, 2, 0]
    assert float(logits[1, 1]) == 9.0  # the logits are unchanged


def test_nested_selectors_take_part_as_prefixes_of_every_length(make_problem):
    problem = make_problem((1, 1, 1, 1))
    used = learner_of(problem, 3).used(600)
    assert bool((used.diff(dim=1) <= 0).all())
    counts = np.bincount(used.sum(dim=1).long().numpy(), minlength=4)
    assert counts[0] == 0
    assert (counts[1:] > 150).all()
    assert bool((learner_of(problem, 3, nested=False).used(4) == 1).all())


def test_rows_share_noise_where_it_is_large(make_problem, monkeypatch):
    monkeypatch.setattr(concrete_autoencoder, "NUMBERS_AT_ONCE", 5 * 3 * 4)
    learner = learner_of(make_problem((1, 1, 1, 1)), 3)
    assert learner.draws == 5
    assert np.isfinite(float(learner.loss(torch.arange(12), 1.0).detach()))  # of 12 rows, in turns


def test_the_loss_of_choices_is_that_of_each_prefix(make_problem):
    problem = make_problem((1, 3, 2, 1), gaps=True)
    for nested in (True, False):
        learner = learner_of(problem, 3, nested=nested)
        module, valid = learner.module, learner.subsets.valid
        choices, losses = distinct_choices(module.logits), []
        for count in (1, 2, 3) if nested else (3,):
            mask = torch.zeros(len(valid), 4)
            mask[:, choices[:count]] = 1.0
            outputs = module.predictor.evaluate(valid.x, (mask * valid.present).double())
            losses.append(float(loss_of(outputs, valid.y).mean()))
        assert learner.validate(module, 1.0) == {"loss": pytest.approx(np.mean(losses), abs=1e-9)}


def test_without_nesting_the_pretrained_network_orders_the_choices(make_problem, monkeypatch):
    learner = learner_of(make_problem((1, 1, 1, 1)), 3, nested=False)
    with torch.no_grad():
        learner.module.selectors.copy_(torch.tensor([[0, 9, 0, 0], [0, 0, 9, 0], [9, 0, 0, 0]]))
    learner.begin()
    kept = {name: tensor.clone() for name, tensor in learner.pretrained.state_dict().items()}
    with torch.no_grad():
        learner.module.predictor.head.bias.add_(1.0)
    learner.begin()  # a later stage
    for name, tensor in learner.pretrained.state_dict().items():
        assert torch.equal(tensor, kept[name])

    losses = {(0,): 0.5, (1,): 0.6, (2,): 0.4, (0, 2): 0.3, (1, 2): 0.2}  # 3 is not chosen

    def loss(predictor, mask):
        assert predictor is learner.pretrained
        return losses.get(tuple(mask[0].nonzero().squeeze(1).tolist()), 0.1)

    monkeypatch.setattr(learner, "_loss", loss)
    assert learner.order() == [2, 1, 0]


def test_a_pair_that_matters_only_together_is_found():
    problem = problem_of(*xor_rows(), 2)
    assert set(first(scores_of(ConcreteAutoencoder(**QUICK), problem), 2)) == {2, 4}


def test_of_a_column_and_its_copy_only_one_is_among_the_first():
    chosen = first(scores_of(ConcreteAutoencoder(**QUICK), problem_of(*copied_rows(), 2)), 2)
    assert len({0, 1} & set(chosen)) == 1
    assert chosen[1] == 4


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_the_most_useful_come_first_and_groups_are_whole(task):
    scores = scores_of(ConcreteAutoencoder(**QUICK), planted(task, gaps=0.1))
    assert first(scores, 2) == [BEST, SECOND]


@pytest.mark.parametrize("options", [{"nested": False}, {"schedule": "staged", "stages": 3, "patience": 5}])
def test_variants_find_what_matters(options):
    scores = scores_of(ConcreteAutoencoder(**(QUICK | options)), planted("classification"))
    assert first(scores, 2) == [BEST, SECOND]


def test_a_schedule_is_annealed_or_staged():
    problem = planted("classification", n=90)
    settings = {"hidden": (8,), "pretrain_epochs": 1, "select_epochs": 6, "temperatures": (1.0, 0.25)}
    _, annealed = ConcreteAutoencoder(**settings)._scores(problem, 0, Progress(), None)
    _, staged = ConcreteAutoencoder(**settings, schedule="staged", stages=3)._scores(problem, 0, Progress(), None)
    temperatures = [row["temperature"] for row in annealed[1:]]
    assert temperatures == sorted(temperatures, reverse=True)
    assert temperatures[0] == 1.0
    assert temperatures[-1] == pytest.approx(0.25)
    assert [row["temperature"] for row in staged[1:]] == pytest.approx([1.0] * 6 + [0.5] * 6 + [0.25] * 6)
    assert "valid_relaxed_loss" in staged[-1]
    assert "valid_relaxed_loss" not in annealed[-1]


def test_as_many_distinct_features_as_questions_stand_above_the_others():
    x = np.random.default_rng(0).normal(size=(60, 7))
    problem = problem_of(x, (x[:, 0] > 0).astype(int), 4)  # four selectors for one feature that matters
    scores = scores_of(ConcreteAutoencoder(hidden=(8,), select_epochs=30, pretrain_epochs=5), problem)
    assert (np.sort(scores)[::-1][:4] == [8, 7, 6, 5]).all()
    assert (np.sort(scores)[:3] < 5).all()
    assert first(scores, 1) == [0]
    assert len(scores_of(ConcreteAutoencoder(**QUICK), problem_of(x[:, :2], (x[:, 0] > 0).astype(int), 4))) == 2


@pytest.mark.parametrize(
    ("options", "killed", "rows"),
    [({"nested": False}, 12, 20), ({"nested": False, "schedule": "staged", "stages": 2, "patience": 99}, 27, 35)],
    ids=["annealed", "staged"],
)
def test_an_interrupted_training_continues_to_the_same_end(tmp_path, options, killed, rows):
    class Killed(Exception):
        pass

    class Killing(Progress):
        def epoch(self, done, phase, row):
            if done == killed:
                raise Killed

    problem = planted("classification", n=90)
    method = ConcreteAutoencoder(hidden=(8,), pretrain_epochs=5, select_epochs=15, **options)
    whole, _ = method._scores(problem, 0, Progress(), None)
    with pytest.raises(Killed):
        method._scores(problem, 0, Killing(), Checkpoint(tmp_path / "fit", "same"))
    again, history = method._scores(problem, 0, Progress(), Checkpoint(tmp_path / "fit", "same"))
    assert again.tolist() == whole.tolist()
    assert len(history) == rows


def test_the_global_generator_is_left_as_it_was():
    problem = planted("classification", n=90)
    method = ConcreteAutoencoder(hidden=(8,), pretrain_epochs=1, select_epochs=2)
    torch.manual_seed(1)
    before = torch.get_rng_state()
    one = scores_of(method, problem)
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(2)
    assert scores_of(method, problem).tolist() == one.tolist()
