"""Conditional mutual information, estimated with answers from a partial variational autoencoder."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from askless.acquisition import State
from askless.models.imagined import AnswerBook, ImaginingPolicy
from askless.models.network import Network, part

MAX_LOG_VARIANCE = 10.0  # the prior's is 0; for a case that is unlike all others it should at least stay finite


@dataclass(frozen=True, eq=False)
class Heads:
    """What the decoder's outputs are: a mean for each number, then logits for the answers to each other feature."""

    counts: np.ndarray  # (features,) answers of each; 0 for a number

    @property
    def numbers(self) -> np.ndarray:
        return np.flatnonzero(self.counts == 0)

    @property
    def choices(self) -> np.ndarray:
        return np.flatnonzero(self.counts)

    @property
    def width(self) -> int:
        return len(self.numbers) + int(self.counts.sum())

    def probabilities(self, logits: np.ndarray) -> np.ndarray:
        """(answers in all, m): the probabilities of each feature's answers, from the logits (answers in all, m)."""
        counts = self.counts[self.choices]
        starts = np.cumsum(counts) - counts
        powers: np.ndarray = np.exp(logits - np.repeat(np.maximum.reduceat(logits, starts, axis=0), counts, axis=0))
        powers /= np.repeat(np.add.reduceat(powers, starts, axis=0), counts, axis=0)
        return powers


@dataclass(frozen=True, eq=False)
class PartialVae:
    """An encoder over (values, mask), normal latent variables, and a decoder; the latent noise is always the same."""

    encoder: Network  # to the latent variables' means and log variances
    weights: tuple[np.ndarray, ...]  # of the decoder's layers, each (inputs, outputs)
    biases: tuple[np.ndarray, ...]
    noise: np.ndarray  # (samples, latent) of the latent variables, standard normal
    jitter: np.ndarray  # (numbers, samples) of the decoded numbers, around their means

    @property
    def outputs(self) -> int:
        return len(self.biases[-1])

    def latent(self, x: np.ndarray, known: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(n, latent) means and standard deviations, given values (n, columns) and what is known (n, features)."""
        outputs = self.encoder.from_sums(self.encoder.first_sums(x.astype(self.noise.dtype, copy=False), known))
        mean, log_variance = np.split(outputs, 2, axis=1)
        return mean, np.exp(0.5 * np.minimum(log_variance, MAX_LOG_VARIANCE))

    def decode(self, mean: np.ndarray, sd: np.ndarray) -> np.ndarray:
        """(outputs, b, samples): numbers and logits, from what `latent` gave for b cases."""
        samples, latent = self.noise.shape
        h = (mean[:, None] + sd[:, None] * self.noise).reshape(-1, latent)
        for weight, bias in zip(self.weights[:-1], self.biases[:-1], strict=True):
            h = h @ weight
            h += bias
            np.maximum(h, 0, out=h)
        outputs: np.ndarray = self.weights[-1].T @ h.T
        outputs += self.biases[-1][:, None]
        outputs = outputs.reshape(len(outputs), len(mean), samples)
        outputs[: len(self.jitter)] += self.jitter[:, None]
        return outputs

    def arrays(self) -> dict[str, np.ndarray]:
        named = {f"encoder.{name}": array for name, array in self.encoder.arrays().items()}
        named |= {"noise": self.noise, "jitter": self.jitter}
        named |= {f"decoder.bias{i}": bias for i, bias in enumerate(self.biases)}
        return named | {f"decoder.weight{i}": weight for i, weight in enumerate(self.weights)}

    @classmethod
    def build(cls, arrays: dict[str, np.ndarray]) -> PartialVae:
        depth = sum(name.startswith("decoder.bias") for name in arrays)
        return cls(
            Network.build(part(arrays, "encoder.")),
            tuple(arrays[f"decoder.weight{i}"] for i in range(depth)),
            tuple(arrays[f"decoder.bias{i}"] for i in range(depth)),
            arrays["noise"],
            arrays["jitter"],
        ).checked()

    def checked(self) -> PartialVae:
        inputs = [self.noise.shape[-1], *(len(bias) for bias in self.biases)]
        fits = (
            self.noise.ndim == self.jitter.ndim == 2
            and self.noise.shape[0] == self.jitter.shape[1]
            and len(self.jitter) <= self.outputs
            and len(self.encoder.biases[-1]) == 2 * inputs[0]
            and len(self.weights) == len(self.biases) > 0
            and all(w.shape == (i, o) for w, i, o in zip(self.weights, inputs, inputs[1:], strict=False))
            and all(array.dtype.kind == "f" for array in (*self.weights, *self.biases, self.noise, self.jitter))
        )
        if not fits:
            raise ValueError("the layers of the autoencoder do not fit one another")
        return self


DECODED_AT_ONCE = 1024  # samples: the decoder's layers should fit the processor's cache
CASES_AT_ONCE = 1024  # bounds the memory of what is imagined


@dataclass(eq=False, repr=False)
class GenerativePolicy(ImaginingPolicy):
    """Takes the answers that the known ones make likely.

    Those to a number are as likely as decoded draws are near them; of all
    other features the decoder gives the probabilities. What answers add to the predictor's first layer is known.
    """

    vae: PartialVae
    numeric: np.ndarray  # (features,) bool: whose answers in the book are in the order of their first column
    first: np.ndarray  # (features,) scores where nothing is known, and the table says how likely each answer is

    def score(self, state: State) -> np.ndarray:
        if not state.known.any():
            return np.where(state.asked, 0.0, self.first)
        starts = range(0, len(state), CASES_AT_ONCE)
        runs = [slice(start, start + CASES_AT_ONCE) for start in starts]
        parts = [self._score(state[run]) for run in runs]
        scores = parts[0] if len(parts) == 1 else np.concatenate(parts)
        blank = np.flatnonzero(~state.known.any(axis=1))
        scores[blank] = np.where(state.asked[blank], 0.0, self.first)
        return scores

    def _chances(self, state: State) -> np.ndarray:
        mean, sd = self.vae.latent(state.x, state.known)
        chances = np.empty((int(self.book.counts.sum()), len(state)), mean.dtype)
        of_number = np.repeat(self.numeric, self.book.counts)  # (answers in all,)
        numbers, step = len(self.vae.jitter), max(1, DECODED_AT_ONCE // len(self.vae.noise))
        for start in range(0, len(state), step):
            run = slice(start, start + step)
            decoded = self.vae.decode(mean[run], sd[run])  # (outputs, b, samples)
            if numbers:
                chances[of_number, run] = self._shares(decoded[:numbers])
            if numbers < len(decoded):
                logits = decoded[numbers:]
                each = self._heads.probabilities(logits.reshape(len(logits), -1))
                chances[~of_number, run] = each.reshape(logits.shape).mean(axis=2)
        return chances

    def _shares(self, drawn: np.ndarray) -> np.ndarray:
        """(answers to numbers, b) the share of the draws (numbers, b, samples) that are nearest to each answer."""
        middles, real = self._middles
        numbers, b, samples = drawn.shape
        answers = real.shape[1]
        nearest = np.zeros(drawn.shape, np.int16)
        for middle in middles.T:
            nearest += drawn > middle[:, None, None]
        place = nearest + answers * np.arange(numbers * b).reshape(numbers, b, 1)
        counts = np.bincount(place.ravel(), minlength=numbers * b * answers).reshape(numbers, b, answers)
        return counts.transpose(0, 2, 1)[real] / samples

    @cached_property
    def _heads(self) -> Heads:
        return Heads(np.where(self.numeric, 0, self.book.counts))

    @cached_property
    def _middles(self) -> tuple[np.ndarray, np.ndarray]:
        """Of numbers (numbers, most - 1) the middles between answers, and (numbers, most) which answers there are."""
        counts = self.book.counts[self.numeric]
        real = np.arange(counts.max()) < counts[:, None]
        middles = np.full((len(counts), counts.max() - 1), np.inf, self.vae.noise.dtype)
        for row, feature in zip(middles, np.flatnonzero(self.numeric), strict=True):
            first = self.book.answers[feature][0][:, 0]
            row[: len(first) - 1] = 0.5 * (first[1:] + first[:-1])
        return middles, real

    def arrays(self) -> dict[str, np.ndarray]:
        predictor = {f"predictor.{name}": array for name, array in self.network.arrays().items()}
        own = {"numeric": self.numeric, "answered": self.answered, "first": self.first}
        return predictor | self.vae.arrays() | self.book.arrays() | own

    @classmethod
    def build(cls, config: dict[str, Any], arrays: dict[str, np.ndarray]) -> GenerativePolicy:
        policy = cls(
            Network.build(part(arrays, "predictor.")),
            AnswerBook.build(arrays),
            arrays["answered"],
            None if config["scale"] is None else float(config["scale"]),
            PartialVae.build(arrays),
            arrays["numeric"],
            arrays["first"],
        )
        fits = (
            policy.numeric.shape == policy.answered.shape == policy.first.shape == policy.book.counts.shape
            and policy.numeric.dtype == bool
            and bool(policy.book.counts.all())
            and policy.book.fits(policy.network)
            and policy.book.fits(policy.vae.encoder)
            and policy._heads.width == policy.vae.outputs
            and int(policy.numeric.sum()) == len(policy.vae.jitter)
        )
        if not fits:
            raise ValueError("the answers do not fit the networks' features")
        return policy
