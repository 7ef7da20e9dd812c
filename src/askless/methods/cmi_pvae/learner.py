"""Training the partial variational autoencoder."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from askless.methods.representatives import nearest
from askless.models import AnswerBook, Heads, PartialVae
from askless.nn import Dropout, Layers, MaskedMLP, Pass
from askless.training import Problem, Sampler, SubsetLearner, Tensors

__all__ = ["VaeLearner", "VaeModule"]

BETA = 0.3  # the price of the divergence from the prior: at 1 weak relations are not worth it
DRAWS = 4  # of the latent variables, for each row of a batch
VALIDATION_SAMPLES = 32
LEAST_SD = 0.05  # of a number, whose standard deviation in the training rows is 1
HALF_LOG_TAU = 0.5 * math.log(2.0 * math.pi)


class VaeModule(nn.Module):
    """An encoder over (values, mask) to normal latent variables, and a decoder to all features."""

    def __init__(
        self, problem: Problem, heads: Heads, latent: int, hidden: Sequence[int], generator: torch.Generator
    ) -> None:
        super().__init__()
        columns, features = problem.schema.n_columns, len(problem.schema)
        trunk = Layers([columns + features, *hidden], generator)
        self.encoder = MaskedMLP(columns, trunk, 2 * latent, generator)
        self.decoder = Layers([latent, *hidden, heads.width], generator)
        self.log_sd = nn.Parameter(torch.zeros(len(heads.numbers)))  # of the numbers, around the decoder's means

    def log_sds(self) -> np.ndarray:
        """(numbers,) the logarithms of their standard deviations."""
        log_sds: np.ndarray = self.log_sd.detach().clamp(min=math.log(LEAST_SD)).numpy()
        return log_sds

    def exported(self, noise: np.ndarray, jitter: np.ndarray) -> PartialVae:
        """The autoencoder for the torch-free runtime, as it is now.

        With standard normal noise (samples, latent) and jitter (numbers, samples); zeros for the numbers' means.
        """
        layers = self.decoder.weights()
        return PartialVae(
            self.encoder.network(),
            tuple(weight.T.copy() for weight, _ in layers),
            tuple(bias.copy() for _, bias in layers),
            noise,
            jitter * np.exp(self.log_sds())[:, None],
        )


class Targets(NamedTuple):
    """What is to be decoded."""

    numbers: np.ndarray  # (n, numbers) the first column of each
    labels: np.ndarray  # (n, choices) the place of each answer among those of all choices

    def of(self, rows: np.ndarray) -> Targets:
        """Those of some rows."""
        return Targets(self.numbers[rows], self.labels[rows])


class Decoded(NamedTuple):
    """How likely the features of m rows are, numbers first."""

    logs: np.ndarray  # (m, features) log-likelihoods
    away: np.ndarray  # (m, numbers) how far the means are from the numbers, in standard deviations
    log_sd: np.ndarray  # (numbers,)
    chances: np.ndarray  # (answers in all, m) of the choices
    labels: np.ndarray  # (m, choices)
    heads: Heads

    def gradients(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The gradients of minus the weighted (m, features) sum of the log-likelihoods.

        For the decoder's outputs (m, outputs), and for the logarithms of the numbers' standard deviations.
        """
        n = len(self.log_sd)
        to_means = weights[:, :n] * self.away * np.exp(-self.log_sd)
        to_log_sd = (weights[:, :n] * (1.0 - self.away * self.away)).sum(axis=0)
        if not len(self.chances):
            return to_means, to_log_sd
        to_logits = self.chances.T.copy()
        to_logits[np.arange(len(to_logits))[:, None], self.labels] -= 1.0
        to_logits *= np.repeat(weights[:, n:], self.heads.counts[self.heads.choices], axis=1)
        return np.hstack([to_means, to_logits]), to_log_sd


class VaeLearner:
    """Encodes random sets of features, and decodes all of them.

    What is kept is decoded as in Ma et al. (2019): a bound of its likelihood, which makes the encoder approach the
    distribution of the latent variables given the set, from the prior where nothing is known to a narrow one where
    much is. What is hidden is to be likely, one feature at a time, in the mixture of several draws: that is what
    answers are imagined from, and with it weak relations between features are not lost to the divergence's price.
    """

    def __init__(
        self,
        module: VaeModule,
        problem: Problem,
        book: AnswerBook,
        heads: Heads,
        sampler: Sampler,
        generator: torch.Generator,
        batch_size: int,
        seed: int,
    ) -> None:
        self.module, self.heads = module, heads
        # Rows, batches and the validation's sets are those of any network that is trained on random sets.
        self.sets = SubsetLearner(module.encoder, problem, Dropout(0.0, generator, seed), sampler, batch_size, seed)
        self.sampler, self.generator = sampler, generator
        self.order = np.concatenate([heads.numbers, heads.choices])  # of the features, as they are decoded
        self.targets, self.valid_targets = (self._targets(part, book) for part in (self.sets.rows, self.sets.valid))
        fixed = torch.Generator().manual_seed(seed)  # drawn once: validation must not chase noise
        self.valid_noise = torch.randn(VALIDATION_SAMPLES, module.decoder.shapes[0][0], generator=fixed).numpy()

    def _targets(self, rows: Tensors, book: AnswerBook) -> Targets:
        features, x = rows.problem.schema.features, rows.x.numpy()
        numbers = x[:, [features[i].start for i in self.heads.numbers]]
        counts = self.heads.counts[self.heads.choices]
        starts = np.cumsum(counts) - counts
        labels = np.empty((len(x), len(counts)), dtype=np.int32)
        for k, i in enumerate(self.heads.choices):
            labels[:, k] = starts[k] + nearest(x[:, features[i].start : features[i].stop], book.answers[i][0])
        return Targets(numbers, labels)

    def begin(self) -> None:
        """Nothing to prepare."""

    def batches(self, generator: torch.Generator) -> Sequence[Tensor]:
        """Random batches of rows; an epoch of a large table takes some of them."""
        return self.sets.batches(generator)

    def gradients(self, batch: Tensor, temperature: float) -> Tensor:
        """The mean loss on random sets of the batch's features."""
        rows, module, b = self.sets.rows, self.module, len(batch)
        present, askable = rows.present.index_select(0, batch), rows.askable.index_select(0, batch)
        mask = (self.sampler(askable, self.generator) & present).to(rows.x.dtype)
        encoder = module.encoder(rows.inputs(rows.x.index_select(0, batch), mask))
        mean, log_variance = encoder.outputs.chunk(2, dim=1)
        sd = (0.5 * log_variance).exp()
        noise = torch.randn((DRAWS, *mean.shape), generator=self.generator, dtype=mean.dtype)
        decoder = Pass([module.decoder], (mean + sd * noise).view(-1, mean.shape[1]))
        decoded = self._decoded(module, decoder.outputs.numpy(), self.targets.of(np.tile(batch.numpy(), DRAWS)))
        losses, weights = self._weighted(decoded, mask.numpy(), present.numpy())
        gradient, to_log_sd = decoded.gradients(weights / b)
        module.log_sd.grad = torch.from_numpy(to_log_sd)
        back = decoder.input_gradient(decoder.backward(torch.from_numpy(gradient))).view_as(noise)
        kl = 0.5 * (mean.square() + sd.square() - 1.0 - log_variance).sum(dim=1)
        to_mean = back.sum(dim=0) + BETA * mean / b
        to_log_variance = 0.5 * ((back * noise).sum(dim=0) * sd + BETA * (sd.square() - 1.0) / b)
        encoder.backward(torch.cat([to_mean, to_log_variance], dim=1))
        loss: Tensor = torch.from_numpy(losses).mean() + BETA * kl.mean()
        return loss

    def _weighted(self, decoded: Decoded, mask: np.ndarray, present: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(b,) losses beside the divergence, and how much each log-likelihood (draws * b, features) matters to them.

        What is kept counts by the mean of its log-likelihoods, what is hidden by the logarithm of their mean.
        """
        kept = mask[:, self.order]
        hidden = present[:, self.order] - kept
        logs = decoded.logs.reshape(-1, *kept.shape)  # (draws, b, features)
        most = logs.max(axis=0)
        shares = np.exp(logs - most)
        total = shares.sum(axis=0)
        losses = kept * logs.mean(axis=0) + hidden * (most + np.log(total / len(logs)))
        weights = kept / len(logs) + hidden * shares / total
        return -losses.sum(axis=1), weights.reshape(decoded.logs.shape)

    def _decoded(self, module: VaeModule, outputs: np.ndarray, targets: Targets) -> Decoded:
        """How likely the targets of m rows are, by the decoder's outputs (m, outputs)."""
        n, log_sd = len(self.heads.numbers), module.log_sds()
        away = (outputs[:, :n] - targets.numbers) * np.exp(-log_sd)
        logs = -0.5 * away * away - log_sd - HALF_LOG_TAU
        chances = np.empty((0, len(outputs)), outputs.dtype)
        if len(self.heads.choices):
            chances = self.heads.probabilities(outputs[:, n:].T)
            right = chances[targets.labels, np.arange(len(outputs))[:, None]]
            logs = np.hstack([logs, np.log(np.maximum(right, np.finfo(right.dtype).tiny))])
        return Decoded(logs, away, log_sd, chances, targets.labels, self.heads)

    def validate(self, module: VaeModule, temperature: float) -> dict[str, float]:
        """The mean negative log-likelihood of what is unknown of the validation rows, in the same random sets."""
        valid, mask = self.sets.valid, self.sets.valid_mask
        columns, n, samples = valid.x.shape[1], len(valid), len(self.valid_noise)
        inputs = valid.inputs(valid.x, mask).numpy()
        vae = module.exported(self.valid_noise, np.zeros((len(self.heads.numbers), samples), self.valid_noise.dtype))
        outputs = vae.decode(*vae.latent(inputs[:, :columns], inputs[:, columns:]))  # (outputs, n, samples)
        targets = self.valid_targets.of(np.repeat(np.arange(n), samples))
        logs = self._decoded(module, outputs.reshape(len(outputs), -1).T, targets).logs.reshape(n, samples, -1)
        most = logs.max(axis=1)
        mixture = most + np.log(np.exp(logs - most[:, None]).mean(axis=1))  # (n, features)
        hidden = (valid.present & (mask == 0.0)).numpy()[:, self.order]
        return {"loss": float(-(mixture * hidden).sum() / max(int(hidden.sum()), 1))}

    def tensors(self) -> dict[str, Tensor]:
        """Nothing beyond the module."""
        return {}
