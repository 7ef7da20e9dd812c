"""The partial autoencoder's training: its loss and gradients against autograd, its validation against loops."""

import copy

import numpy as np
import pytest
import torch
from torch.nn import functional

from askless.acquisition import Feature, Part
from askless.methods import CmiPvae
from askless.methods.cmi_pvae.learner import BETA, DRAWS, LEAST_SD, VaeLearner, VaeModule
from askless.methods.representatives import representatives
from askless.models import AnswerBook, Heads
from askless.training import Progress

LATENT = 3


@pytest.fixture
def learner(make_problem):
    """Two numbers (of one column and of two) around a feature that has four answers; some values are missing."""
    problem = make_problem((1, 3, 2), n=20, gaps=True)
    rng = np.random.default_rng(0)
    levels = rng.normal(size=(4, 3))
    for cases in (problem.train, problem.valid):
        cases.x[:, 1:4] = levels[rng.integers(4, size=len(cases))]
    line = np.linspace(-2, 2, 5)[:, None]
    quarter, fifth = np.full(4, 0.25), np.full(5, 0.2)
    book = AnswerBook.of([(line, fifth), (levels, quarter), (np.hstack([line, line]), fifth)])
    heads, generator = Heads(np.array([0, 4, 0])), torch.Generator().manual_seed(0)
    module = VaeModule(problem, heads, LATENT, (7, 6), generator).double()
    with torch.no_grad():
        module.log_sd += torch.tensor([-0.4, 0.3])
    every_other = lambda askable, generator: askable & (torch.arange(askable.numel()).view_as(askable) % 2 == 0)  # noqa: E731
    return VaeLearner(module, problem, book, heads, every_other, generator, 20, seed=0)


def dense(inputs, stacks):
    """A forward pass with autograd, through flat parameters."""
    layers = [(flat, shape) for flat, shapes in stacks for flat, shape in _cut(flat, shapes)]
    for i, (piece, (n_in, n_out)) in enumerate(layers):
        inputs = functional.linear(inputs, piece[: n_in * n_out].view(n_out, n_in), piece[n_in * n_out :])
        inputs = inputs.relu() if i + 1 < len(layers) else inputs
    return inputs


def _cut(flat, shapes):
    return zip(flat.split([(i + 1) * o for i, o in shapes]), shapes, strict=True)


def literal_loss(module, learner, mask, noise):
    """Of all the draws of the latent variables, noise (draws, n, latent)."""
    rows = learner.sets.rows
    encoder, decoder = module.encoder, module.decoder
    stacks = [(part.flat, part.shapes) for part in (encoder.trunk, encoder.head)]
    mean, log_variance = dense(rows.inputs(rows.x, mask), stacks).chunk(2, dim=1)
    z = torch.distributions.Normal(mean, (0.5 * log_variance).exp())
    kl = torch.distributions.kl_divergence(z, torch.distributions.Normal(0.0, 1.0)).sum(dim=1)
    labels = torch.from_numpy(learner.targets.labels[:, 0]).long()
    draws = []
    for each in noise:
        outputs = dense(mean + z.scale * each, [(decoder.flat, decoder.shapes)])
        numbers = torch.distributions.Normal(outputs[:, :2], module.log_sd.exp()).log_prob(rows.x[:, [0, 4]])
        choice = -functional.cross_entropy(outputs[:, 2:], labels, reduction="none")
        draws.append(torch.stack([numbers[:, 0], choice, numbers[:, 1]], dim=1))
    logs = torch.stack(draws)  # (draws, n, features)
    hidden = rows.present.double() - mask
    likely = (mask * logs.mean(dim=0) + hidden * logs.exp().mean(dim=0).log()).sum(dim=1)
    return (BETA * kl - likely).mean()


def test_gradients_are_autograd_s(learner, monkeypatch):
    rows = learner.sets.rows
    noise = torch.randn(DRAWS, 20, LATENT, dtype=torch.float64, generator=torch.Generator().manual_seed(5))
    monkeypatch.setattr(torch, "randn", lambda *shape, **how: noise)
    mask = (learner.sampler(rows.askable, learner.generator) & rows.present).double()
    assert 0 < mask.mean() < rows.present.double().mean()
    literal = copy.deepcopy(learner.module)
    expected = literal_loss(literal, learner, mask, noise)
    expected.backward()
    found = learner.gradients(torch.arange(20), 1.0)
    assert abs(float(found - expected.detach())) < 1e-12
    for (name, mine), theirs in zip(learner.module.named_parameters(), literal.parameters(), strict=True):
        np.testing.assert_allclose(mine.grad.numpy(), theirs.grad.numpy(), atol=1e-12, err_msg=name)


def test_validation_is_the_likelihood_of_what_is_hidden(learner):
    """Of one case after another, and of the samples' mixture."""
    vae = learner.module.exported(learner.valid_noise, np.zeros((2, len(learner.valid_noise))))
    valid, mask = learner.sets.valid, learner.sets.valid_mask.bool()
    sds, logs = np.exp(learner.module.log_sds()), []
    for row in range(len(valid)):
        x = torch.where(mask[row, [0, 1, 1, 1, 2, 2]], valid.x[row], 0.0).numpy()
        mean, sd = vae.latent(x[None], mask[row : row + 1].numpy())
        decoded = vae.decode(mean, sd)[:, 0]  # (outputs, samples)
        for feature, place in ((0, 0), (2, 1)):
            if valid.present[row, feature] and not mask[row, feature]:
                away = (decoded[place] - float(valid.x[row, (0, None, 4)[feature]])) / sds[place]
                density = np.exp(-0.5 * away**2) / (sds[place] * np.sqrt(2 * np.pi))
                logs.append(np.log(density.mean()))
        if valid.present[row, 1] and not mask[row, 1]:
            chances = torch.softmax(torch.from_numpy(decoded[2:]), dim=0).numpy().mean(axis=1)
            logs.append(np.log(chances[learner.valid_targets.labels[row, 0]]))
    assert learner.validate(learner.module, 1.0)["loss"] == pytest.approx(-np.mean(logs), rel=1e-5)


def test_deviations_have_a_least_value(learner):
    with torch.no_grad():
        learner.module.log_sd -= 100.0
    np.testing.assert_allclose(np.exp(learner.module.log_sds()), LEAST_SD)


class Killed(Exception):
    pass


class Kill(Progress):
    """Kills a fit after some epochs of a phase."""

    def __init__(self, phase, epoch):
        self.at = phase, epoch

    def epoch(self, done, phase, row):
        if (phase, row["epoch"]) == self.at:
            raise Killed


@pytest.mark.parametrize("at", [("autoencoder", 2), ("predictor", 3)])
def test_a_fit_that_was_killed_goes_on(make_problem, tmp_path, at):
    problem = make_problem((1, 3, 2), n=60, gaps=True)
    for cases in (problem.train, problem.valid):
        object.__setattr__(cases, "x", cases.x.astype(np.float32))
    method, file = (
        CmiPvae(epochs=4, vae_epochs=4, hidden=(8,), vae_hidden=(8,), batch_size=16),
        tmp_path / "checkpoint",
    )
    undisturbed = method.fit(problem, seed=0, progress=Progress())
    with pytest.raises(Killed):
        method.fit(problem, seed=0, progress=Kill(*at), checkpoint=file)
    resumed = method.fit(problem, seed=0, progress=Progress(), checkpoint=file)
    assert resumed.history == undisturbed.history
    expected = undisturbed.policy.arrays()
    assert all(np.array_equal(array, expected[name]) for name, array in resumed.policy.arrays().items())


# Answers that stand for others


def feature_of(kind, parts=1, width=1):
    return Feature("f", tuple(Part(f"p{i}", kind) for i in range(parts)), 0, width)


def test_few_answers_stand_for_themselves():
    given = np.array([[3.0], [1.0], [3.0], [3.0]])
    values, weights = representatives(given, feature_of("number"), 2)
    assert values.tolist() == [[1.0], [3.0]]
    assert weights.tolist() == [0.25, 0.75]


def test_a_category_keeps_all_its_answers():
    given = np.eye(6)[[0, 1, 2, 3, 4, 5, 5, 5]]
    values, weights = representatives(given, feature_of("category", width=6), 2)
    assert len(values) == 6
    assert weights[values[:, 5] == 1.0].tolist() == [3 / 8]


def test_numbers_are_summed_up_by_their_neighbours():
    """Mostly zeros, and two clouds."""
    rng = np.random.default_rng(0)
    given = np.concatenate([np.zeros(60), 5 + 0.1 * rng.normal(size=30), 9 + 0.1 * rng.normal(size=10)])[:, None]
    values, weights = representatives(given, feature_of("number"), 3)
    np.testing.assert_allclose(values[:, 0], [0, 5, 9], atol=0.1)
    np.testing.assert_allclose(weights, [0.6, 0.3, 0.1])


def test_groups_have_more_answers_which_occur():
    rng = np.random.default_rng(0)
    given = rng.normal(size=(500, 2))
    values, weights = representatives(given, feature_of("number", parts=2, width=2), 8)
    assert len(values) == 16
    assert all((given == value).all(axis=1).any() for value in values)
    assert weights.sum() == pytest.approx(1.0)
    assert (values * weights[:, None]).sum(axis=0) == pytest.approx(given.mean(axis=0), abs=0.1)
