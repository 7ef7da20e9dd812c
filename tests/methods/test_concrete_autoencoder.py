"""The Concrete autoencoder: its gradients against autograd, its choices against planted signals."""

import numpy as np
import pytest
import torch
from askless.nn import Dropout, gumbel_noise

from askless.methods import ConcreteAutoencoder, FixedOrder
from askless.methods.concrete_autoencoder.fitting import SelectionLearner
from askless.methods.concrete_autoencoder.selection import SPEED, SelectingNetwork, distinct_choices
from askless.training import Checkpoint, SubsetLearner, full_sets, new_predictor
from tests.methods.algorithm_1 import forward, loss_of
from tests.methods.given_rows import copied_rows, first, problem_of, xor_rows
from tests.methods.planted import BEST, SECOND, Silent, planted

QUICK = {"hidden": (32,), "select_epochs": 150, "pretrain_epochs": 40, "batch_size": 128}


def scores_of(method, problem, seed=0):
    return method._scores(problem, seed, Silent(), None)[0]


def learner_of(problem, n_selectors, nested=True):
    """A learner in float64, without dropout."""
    generator = torch.Generator().manual_seed(0)
    predictor = new_predictor(problem, FixedOrder(hidden=(16, 8)).net, generator)
    module = SelectingNetwork(n_selectors, len(problem.schema), predictor, generator)
    module = module.double()
    with torch.no_grad():
        module.selectors.mul_(20.0)  # some selectors want the same feature
    rows = SubsetLearner(module.predictor, problem, Dropout(0.0, generator, 0), full_sets, 12, 0)
    return SelectionLearner(module, rows, nested=nested, seed=0)


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize(("widths", "gaps"), [((1, 1, 1, 1, 1), False), ((1, 3, 2, 1), True)])
@pytest.mark.parametrize(("temperature", "draws"), [(1.0, 12), (0.3, 5)])
def test_the_gradients_are_those_of_autograd(task, widths, gaps, temperature, draws, make_problem):
    problem = make_problem(widths, task, gaps=gaps)
    learner = learner_of(problem, 3)
    module, rows = learner.module, learner.rows
    k, features = module.selectors.shape
    gumbel = gumbel_noise(draws, k, features, generator=torch.Generator().manual_seed(1)).double()
    used = torch.tensor([[1.0] * (1 + i % k) + [0.0] * (k - 1 - i % k) for i in range(draws)]).double()
    learner.draws, learner._used = draws, lambda *_: used
    learner.gumbel.draw = lambda *shape: gumbel.view(shape)
    loss = learner.gradients(torch.arange(len(rows)), temperature)
    mine = [p.grad.clone() for p in module.parameters()]

    soft = torch.softmax((SPEED * module.selectors + gumbel) / temperature, dim=2)
    total = (soft * used[:, :, None]).sum(dim=1)
    mask = torch.minimum(total, torch.ones(()))[torch.arange(len(rows)) % draws] * rows.present
    inputs = torch.cat([rows.x * mask[:, problem.schema.column_feature], mask], dim=1)
    y = rows.y if task == "classification" else rows.y.double()
    literal = loss_of(forward(module.predictor, inputs), y).mean()
    theirs = torch.autograd.grad(literal, list(module.parameters()))

    assert bool((total > 1).any())  # so that what is clipped is compared too
    assert abs(float(loss) - float(literal.detach())) < 1e-9
    for a, b in zip(mine, theirs, strict=True):
        torch.testing.assert_close(a, b, rtol=0, atol=1e-9)
    assert float(module.selectors.grad.abs().max()) > 1e-5


def test_of_two_selectors_with_one_choice_the_later_takes_its_next_best():
    logits = torch.tensor([[0.0, 5.0, 1.0, 2.0], [0.0, 9.0, 1.0, 2.0], [0.0, 3.0, 1.0, 2.0], [9.0, 0.0, 0.0, 0.0]])
    assert distinct_choices(logits).tolist() == [1, 3, 2, 0]
    assert float(logits[1, 1]) == 9.0  # the logits are left alone


def test_nested_selectors_take_part_as_prefixes_of_every_length(make_problem):
    learner = learner_of(make_problem((1, 1, 1, 1)), 3)
    used = learner._used(600, torch.Generator().manual_seed(0))
    assert bool((used.diff(dim=1) <= 0).all())
    counts = np.bincount(used.sum(dim=1).long().numpy(), minlength=4)
    assert counts[0] == 0
    assert (counts[1:] > 150).all()
    assert bool((learner_of(make_problem((1, 1, 1, 1)), 3, nested=False)._used(4, None) == 1).all())


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


def test_as_many_distinct_features_as_questions_stand_above_the_others():
    x = np.random.default_rng(0).normal(size=(60, 7))
    problem = problem_of(x, (x[:, 0] > 0).astype(int), 4)  # four selectors for one feature that matters
    scores = scores_of(ConcreteAutoencoder(hidden=(8,), select_epochs=30, pretrain_epochs=5), problem)
    assert (np.sort(scores)[::-1][:4] == [8, 7, 6, 5]).all()
    assert (np.sort(scores)[:3] < 5).all()
    assert first(scores, 1) == [0]
    assert len(scores_of(ConcreteAutoencoder(**QUICK), problem_of(x[:, :2], (x[:, 0] > 0).astype(int), 4))) == 2


def test_a_training_that_was_interrupted_goes_on_to_the_same_end(tmp_path):
    class Killed(Exception):
        pass

    class Killing(Silent):
        def epoch(self, done, phase, row):
            if done == 12:
                raise Killed

    problem = planted("classification", n=90)
    method = ConcreteAutoencoder(nested=False, hidden=(8,), pretrain_epochs=5, select_epochs=15)
    whole, _ = method._scores(problem, 0, Silent(), None)
    with pytest.raises(Killed):
        method._scores(problem, 0, Killing(), Checkpoint(tmp_path / "fit", "same"))
    again, history = method._scores(problem, 0, Silent(), Checkpoint(tmp_path / "fit", "same"))
    assert again.tolist() == whole.tolist()
    assert len(history) == 20
