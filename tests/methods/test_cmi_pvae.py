"""The partial autoencoder's training: its loss against a literal one, its validation against the exported network."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.nn import functional

from askless.acquisition import Feature, Part
from askless.methods import CmiPvae
from askless.methods.cmi_pvae import BETA, DRAWS, LEAST_SD, VaeLearner, VaeModule
from askless.methods.columns import representatives
from askless.models import AnswerBook, Heads
from askless.training import Progress, seeded

LATENT = 3


def every_other(askable):
    return askable & (torch.arange(askable.numel()).view_as(askable) % 2 == 0)


def learner_of(problem, counts):
    """`counts` of the middle feature: 4 for a choice, 0 for a number."""
    rng = np.random.default_rng(0)
    levels = rng.normal(size=(4, 3))
    for cases in (problem.train, problem.valid):
        cases.x[:, 1:4] = levels[rng.integers(4, size=len(cases))]
    line = np.linspace(-2, 2, 5)[:, None]
    quarter, fifth = np.full(4, 0.25), np.full(5, 0.2)
    book = AnswerBook.of([(line, fifth), (levels, quarter), (np.hstack([line, line]), fifth)])
    heads = Heads(np.array(counts))
    with seeded(0):
        module = VaeModule(problem, heads, LATENT, (7, 6)).double()
    with torch.no_grad():
        module.log_sd += torch.linspace(-0.4, 0.3, len(heads.numbers))
    return VaeLearner(module, problem, book, heads, every_other, batch_size=20, seed=0)


@pytest.fixture
def learner(make_problem):
    """Two numbers (of one column and of two) around a feature that has four answers; some values are missing."""
    return learner_of(make_problem((1, 3, 2), n=20, gaps=True), (0, 4, 0))


def perceptron(h, layers):
    """Plain layers, with rectified units between them."""
    for i, layer in enumerate(layers):
        h = h @ layer.weight.T + layer.bias
        h = h.clamp(min=0.0) if i + 1 < len(layers) else h
    return h


def literal_loss(learner, mask, noise):
    """Of all the draws of the latent variables, noise (draws, n, latent)."""
    rows, module = learner.rows, learner.module
    columns = torch.tensor([0, 1, 1, 1, 2, 2])
    encoder = [*module.encoder.hidden.layers, module.encoder.head]
    mean, log_variance = perceptron(torch.cat([rows.x * mask[:, columns], mask], dim=1), encoder).chunk(2, dim=1)
    z = torch.distributions.Normal(mean, (0.5 * log_variance).exp())
    kl = torch.distributions.kl_divergence(z, torch.distributions.Normal(0.0, 1.0)).sum(dim=1)
    draws = []
    for each in noise:
        outputs = perceptron(mean + z.scale * each, module.decoder[::2])
        numbers = torch.distributions.Normal(outputs[:, :2], module.log_sd.exp()).log_prob(rows.x[:, [0, 4]])
        choice = -functional.cross_entropy(outputs[:, 2:], learner.targets.labels[:, 0].long(), reduction="none")
        draws.append(torch.stack([numbers[:, 0], choice, numbers[:, 1]], dim=1))
    logs = torch.stack(draws)  # (draws, n, features)
    hidden = rows.present.double() - mask
    likely = (mask * logs.mean(dim=0) + hidden * logs.exp().mean(dim=0).log()).sum(dim=1)
    return (BETA * kl - likely).mean()


def test_the_loss_is_the_literal_one(learner, monkeypatch):
    rows = learner.rows
    noise = torch.from_numpy(np.random.default_rng(5).normal(size=(DRAWS, 20, LATENT)))
    monkeypatch.setattr(torch, "randn", lambda *shape, dtype: noise)
    mask = (every_other(rows.askable) & rows.present).double()
    assert 0 < mask.mean() < rows.present.double().mean()
    parameters = list(learner.module.parameters())
    expected = literal_loss(learner, mask, noise)
    found = learner.loss(torch.arange(20), 1.0)
    assert float(found.detach()) == pytest.approx(float(expected.detach()), abs=1e-12)
    gradients = (torch.autograd.grad(loss, parameters) for loss in (found, expected))
    for mine, theirs in zip(*gradients, strict=True):
        torch.testing.assert_close(mine, theirs, atol=1e-12, rtol=0)


def test_labels_are_the_answers(learner):
    at = learner.targets.of(torch.arange(20))
    levels = np.unique(learner.rows.x[:, 1:4].numpy(), axis=0)
    assert len(levels) == len(at.labels.unique()) == 4
    assert all(len(np.unique(learner.rows.x[at.labels[:, 0] == k, 1:4].numpy(), axis=0)) == 1 for k in range(4))
    assert torch.equal(at.numbers, learner.rows.x[:, [0, 4]])


@pytest.mark.parametrize("batch_size", [3, 100])
def test_validation_is_the_likelihood_of_what_is_hidden(learner, batch_size):
    """Of one case after another, and of the samples' mixture, by the network that is used in the end."""
    noise = learner.valid_noise[:, 0].numpy()
    vae = learner.module.exported(noise, np.zeros((2, len(noise))))
    valid, mask = learner.valid, learner.valid_mask.bool()
    sds, logs = learner.module.log_sds().detach().exp().numpy(), []
    labels = learner.valid_targets.labels
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
            logs.append(np.log(chances[labels[row, 0]]))
    learner.batch_size = batch_size  # rows are validated so many at a time
    assert learner.validate(learner.module, 1.0)["loss"] == pytest.approx(-np.mean(logs), rel=1e-9)


@pytest.mark.parametrize("counts", [(0, 0, 0), (5, 4, 5)])
def test_tables_of_one_kind_of_feature(make_problem, counts):
    learner = learner_of(make_problem((1, 3, 2), n=20, gaps=True), counts)
    with seeded(0):
        learner.loss(torch.arange(20), 1.0).backward()
    assert all(parameter.grad.isfinite().all() for parameter in learner.module.parameters())
    assert np.isfinite(learner.validate(learner.module, 1.0)["loss"])


def test_deviations_have_a_least_value_and_can_grow_again(learner):
    with torch.no_grad():
        learner.module.log_sd -= 100.0
    log_sds = learner.module.log_sds()
    np.testing.assert_allclose(log_sds.detach().exp(), LEAST_SD)
    log_sds.sum().backward()
    assert learner.module.log_sd.grad.tolist() == [1.0, 1.0]


class Killed(Exception):
    pass


class Kill(Progress):
    """Kills a fit after some epochs of a phase."""

    def __init__(self, phase, epoch):
        self.at = phase, epoch

    def epoch(self, done, phase, row):
        if (phase, row["epoch"]) == self.at:
            raise Killed


@pytest.fixture
def problem(make_problem):
    """In single precision, as in use."""
    problem = make_problem((1, 3, 2), n=60, gaps=True)
    return replace(problem, **{part: _single(getattr(problem, part)) for part in ("train", "valid")})


def _single(cases):
    return replace(cases, x=cases.x.astype(np.float32))


@pytest.mark.parametrize("at", [("autoencoder", 2), ("predictor", 3)])
def test_a_fit_that_was_killed_goes_on(problem, tmp_path, at):
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


def test_settings_reach_the_autoencoder_and_the_predictor(problem):
    method = CmiPvae(latent=5, samples=9, atoms=4, vae_hidden=(8, 6), vae_epochs=3, epochs=2, hidden=(7,))
    fitted = method.fit(problem, seed=0, progress=Progress())
    policy = fitted.policy
    assert policy.vae.noise.shape == (9, 5)
    assert [len(bias) for bias in policy.vae.biases[:-1]] == [8, 6]
    assert [len(bias) for bias in policy.vae.encoder.biases] == [8, 6, 10]
    assert policy.book.counts.tolist() == [4, 4, 4]
    assert len(policy.network.biases[0]) == 7
    assert [row["phase"] for row in fitted.history] == ["autoencoder"] * 3 + ["predictor"] * 2
    assert policy.vae.jitter.all()
    means = method.set_params(answers="mean").fit(problem, seed=0, progress=Progress()).policy
    assert not means.vae.jitter.any()
    assert np.array_equal(means.vae.noise, policy.vae.noise)


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
