"""Conditional mutual information, estimated with answers from a generative model."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from askless.acquisition import Policy, State
from askless.models.imagined import AnswerBook, Imagination, added_by
from askless.models.network import Network
from askless.models.partial_vae import Heads, PartialVae

DECODED_AT_ONCE = 1024  # samples: the decoder's layers should fit the processor's cache
CASES_AT_ONCE = 1024  # bounds the memory of what is imagined


class GenerativePolicy(Policy):
    """Scores a feature by how much predictions differ over answers that the known ones make likely.

    Each feature has a few possible answers. Those to a number are as likely as decoded draws are near them; of all
    other features the decoder gives the probabilities. What answers add to the predictor's first layer is known.
    """

    informative = True  # scores are information, which can be weighed against prices
    noise = 0.02  # of the best candidate's information: less is not told apart from nothing

    def __init__(
        self,
        network: Network,
        vae: PartialVae,
        book: AnswerBook,
        numeric: np.ndarray,
        answered: np.ndarray,
        first: np.ndarray,
        scale: float | None,
    ) -> None:
        self.network = network  # of the predictor
        self.vae = vae
        self.book = book  # possible answers; those to a number in the order of its first column
        self.numeric = numeric  # (features,) bool
        self.answered = answered  # (features,) the chance that asking gives an answer
        self.first = first  # (features,) scores where nothing is known, and the table says how likely each answer is
        self.scale = scale  # of a regression's target; None for classes

    def score(self, state: State) -> np.ndarray:
        """(n, features) estimated information in nats, or reduction of variance; 0 for what was asked."""
        if not state.known.any():
            return np.where(state.asked, 0.0, self.first)
        starts = range(0, len(state), CASES_AT_ONCE)
        runs = [slice(start, start + CASES_AT_ONCE) for start in starts]
        parts = [self._score(state[run]) for run in runs]
        scores = parts[0] if len(parts) == 1 else np.concatenate(parts)
        blank = np.flatnonzero(~state.known.any(axis=1))
        scores[blank] = np.where(state.asked[blank], 0.0, self.first)
        return scores

    def _score(self, state: State) -> np.ndarray:
        scores = np.zeros(state.asked.shape)
        chances = self.imagined(state)
        imagination = Imagination(self.network, self.scale, state, int(self.book.counts.max()))
        stops = np.cumsum(self.book.counts).tolist()
        for feature, (added, stop) in enumerate(zip(self._added, stops, strict=True)):
            for rows in imagination.open_rows(feature, len(added)):
                told = imagination.memory(len(added), len(rows))
                np.add(added[:, None], imagination.sums[rows], out=told)
                scores[rows, feature] = imagination.worth(told, chances[stop - len(added) : stop, rows])
        scores *= self.answered
        return scores

    def imagined(self, state: State) -> np.ndarray:
        """(answers in all, n): how likely each answer to each feature is, feature after feature."""
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
        shares: np.ndarray = counts.transpose(0, 2, 1)[real] / samples
        return shares

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

    @cached_property
    def _added(self) -> list[np.ndarray]:
        return added_by(self.book, self.network)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if not name.startswith("_")}

    # Files

    def config(self) -> dict[str, Any]:
        """The scale of a regression's target."""
        return {"scale": self.scale}

    def arrays(self) -> dict[str, np.ndarray]:
        """The weights of the predictor and of the autoencoder, and the answers."""
        predictor = {f"predictor.{name}": array for name, array in self.network.arrays().items()}
        own = {"numeric": self.numeric, "answered": self.answered, "first": self.first}
        return predictor | self.vae.arrays() | self.book.arrays() | own

    @classmethod
    def build(cls, config: dict[str, Any], arrays: dict[str, np.ndarray]) -> GenerativePolicy:
        """The policy that `config` and `arrays` came from."""
        prefix = "predictor."
        predictor = {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
        policy = cls(
            Network.build(predictor),
            PartialVae.build(arrays),
            AnswerBook.build(arrays),
            arrays["numeric"],
            arrays["answered"],
            arrays["first"],
            None if config["scale"] is None else float(config["scale"]),
        )
        return policy.checked()

    def checked(self) -> GenerativePolicy:
        """Itself, if the shapes fit one another."""
        features = self.book.counts.shape
        fits = (
            self.numeric.shape == self.answered.shape == self.first.shape == features
            and self.numeric.dtype == bool
            and bool(self.book.counts.all())
            and self.book.fits(self.network)
            and self.book.fits(self.vae.encoder)
            and self._heads.width == self.vae.outputs
            and int(self.numeric.sum()) == len(self.vae.jitter)
        )
        if not fits:
            raise ValueError("the answers do not fit the networks' features")
        return self
