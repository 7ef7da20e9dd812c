"""Conditional mutual information by imagined answers: how much predictions differ over a few answers to a feature."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np

from askless.acquisition import Policy, State
from askless.models.network import Network

ROWS_AT_ONCE = 1024  # imagined records: the layers between should fit the processor's cache


@dataclass(frozen=True, eq=False)
class AnswerBook:
    """A few encoded answers to every feature, with their probabilities; a feature may have none."""

    widths: np.ndarray  # (features,) columns of each
    counts: np.ndarray  # (features,) answers of each
    values: np.ndarray  # the answers (count, width) of one feature after those of another, flat
    weights: np.ndarray  # their probabilities, likewise

    @classmethod
    def of(cls, answers: Sequence[tuple[np.ndarray, np.ndarray]]) -> AnswerBook:
        """From the answers (count, width) to each feature and their probabilities (count,)."""
        return cls(
            np.array([values.shape[1] for values, _ in answers]),
            np.array([len(values) for values, _ in answers]),
            np.concatenate([values.ravel() for values, _ in answers]),
            np.concatenate([weights for _, weights in answers]),
        ).checked()

    @cached_property
    def answers(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """What `of` was given."""
        values = np.split(self.values, np.cumsum(self.counts * self.widths)[:-1])
        weights = np.split(self.weights, np.cumsum(self.counts)[:-1])
        shaped = (flat.reshape(-1, width) for flat, width in zip(values, self.widths.tolist(), strict=True))
        return list(zip(shaped, weights, strict=True))

    def fits(self, network: Network) -> bool:
        return len(self.widths) == len(network.mask_weight) and int(self.widths.sum()) == len(network.value_weight)

    def arrays(self) -> dict[str, np.ndarray]:
        return {f"answers.{each.name}": getattr(self, each.name) for each in fields(self)}

    @classmethod
    def build(cls, arrays: dict[str, np.ndarray]) -> AnswerBook:
        return cls(**{each.name: arrays[f"answers.{each.name}"] for each in fields(cls)}).checked()

    def checked(self) -> AnswerBook:
        fits = (
            self.widths.shape == self.counts.shape == (len(self.widths),)
            and self.widths.dtype.kind == self.counts.dtype.kind == "i"
            and bool((self.widths >= 1).all() and (self.counts >= 0).all())
            and self.weights.shape == (int(self.counts.sum()),)
            and self.values.shape == (int(self.counts @ self.widths),)
        )
        if not fits:
            raise ValueError("the answers do not fit their features")
        return self


class Imagination:
    """A predictor's network that is told answers which nobody has given.

    The first layer is linear in what is known: its sums are computed once for a state, and an imagined answer adds
    the weights of its own columns. Memory is taken once and used for all features.
    """

    def __init__(self, network: Network, scale: float | None, state: State, most_answers: int) -> None:
        dtype = network.value_weight.dtype
        self.network = network
        self.scale = scale  # of a regression's target; None where the outputs are classes
        self.sums = state.x.astype(dtype, copy=False) @ network.value_weight  # (n, hidden) of the first layer
        self.sums += state.known.astype(dtype) @ network.mask_weight
        self.sums += network.biases[0]
        self._open = ~state.asked
        size = max(ROWS_AT_ONCE, most_answers)
        self._layers = [np.empty((size, len(bias)), dtype) for bias in network.biases[:-1]]

    def open_rows(self, feature: int, answers: int) -> Iterator[np.ndarray]:
        """The cases that were not asked for a feature with so many answers, as many at once as memory is for."""
        rows = np.flatnonzero(self._open[:, feature])
        size = len(self._layers[0]) // answers
        return (rows[start : start + size] for start in range(0, len(rows), size))

    def memory(self, answers: int, b: int) -> np.ndarray:
        """(answers, b, hidden) for first-layer sums; the next call gives the same memory."""
        return self._layers[0][: answers * b].reshape(answers, b, -1)

    def worth(self, told: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """(b,) what the question is worth, from first-layer sums (answers, b, hidden) in `memory`.

        `weights` are the answers' probabilities: (answers, 1), or (answers, b). For classes it is the mean KL
        divergence of the predictions from their mean, in nats; for a regression the variance of the predicted means.
        """
        answers, b, _ = told.shape
        network, m = self.network, answers * b
        h = told.reshape(m, -1)
        np.maximum(h, 0, out=h)
        later = zip(network.weights[:-1], network.biases[1:-1], self._layers[1:], strict=True)
        for weight, bias, layer in later:
            h = np.dot(h, weight, out=layer[:m])
            h += bias
            np.maximum(h, 0, out=h)
        outputs = np.ascontiguousarray((h @ network.weights[-1]).T)  # (outputs, answers * b): long rows
        outputs += network.biases[-1][:, None]
        outputs = outputs.reshape(-1, answers, b)
        return _divergence(outputs, weights) if self.scale is None else _variance(outputs[0], weights, self.scale)


def added_by(book: AnswerBook, network: Network) -> list[np.ndarray]:
    """For each feature what its answers add to the first layer: (answers, hidden)."""
    added, stops = [], np.cumsum(book.widths).tolist()
    for feature, ((values, _), stop) in enumerate(zip(book.answers, stops, strict=True)):
        columns = network.value_weight[stop - values.shape[1] : stop]
        added.append(values.astype(columns.dtype, copy=False) @ columns + network.mask_weight[feature])
    return added


def _divergence(logits: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """(b,) the mean over answers of KL(prediction || mean prediction), from logits (classes, answers, b)."""
    logits -= logits.max(axis=0)
    chances = np.exp(logits)
    total = chances.sum(axis=0)
    chances /= total
    # the sum over classes of p log p is that of p times the logits, less the logarithm of their sum
    logits *= chances
    negative_entropy = logits.sum(axis=0) - np.log(total)  # (answers, b)
    mean = (chances * weights).sum(axis=1)  # (classes, b)
    tiny = np.finfo(mean.dtype).tiny  # a class that no answer makes likely adds 0, not 0 times infinity
    of_mean = (mean * np.log(np.maximum(mean, tiny))).sum(axis=0)
    return np.maximum((negative_entropy * weights).sum(axis=0) - of_mean, 0.0)


def _variance(means: np.ndarray, weights: np.ndarray, scale: float) -> np.ndarray:
    """(b,) the variance over answers of predicted means (answers, b), in the target's units."""
    away = means - (means * weights).sum(axis=0)
    return (away * away * weights).sum(axis=0).astype(np.float64) * scale * scale


@dataclass(eq=False, repr=False)
class ImaginingPolicy(Policy):
    """Scores a feature by how much predictions differ over a few possible answers.

    A subclass says how likely each answer is.
    """

    informative = True  # scores are information, which can be weighed against prices
    noise = 0.02  # of the best candidate's information: less is not told apart from nothing

    network: Network  # of the predictor
    book: AnswerBook
    answered: np.ndarray  # (features,) the chance that asking gives an answer
    scale: float | None  # of a regression's target; None for classes

    @abstractmethod
    def _chances(self, state: State) -> np.ndarray:
        """(answers in all, n or 1) the probabilities of the answers to each feature, feature after feature."""

    def _score(self, state: State) -> np.ndarray:
        scores = np.zeros(state.asked.shape)
        chances = np.broadcast_to(self._chances(state), (int(self.book.counts.sum()), len(state)))
        imagination = Imagination(self.network, self.scale, state, int(self.book.counts.max()))
        stops = np.cumsum(self.book.counts).tolist()
        for feature, (added, stop) in enumerate(zip(self._added, stops, strict=True)):
            for rows in imagination.open_rows(feature, len(added)):
                told = imagination.memory(len(added), len(rows))
                np.add(added[:, None], imagination.sums[rows], out=told)
                scores[rows, feature] = imagination.worth(told, chances[stop - len(added) : stop, rows])
        scores *= self.answered
        return scores

    @cached_property
    def _added(self) -> list[np.ndarray]:
        return added_by(self.book, self.network)

    def config(self) -> dict[str, Any]:
        return {"scale": self.scale}


class MarginalPolicy(ImaginingPolicy):
    """Takes the answers that the training rows gave, as often as they gave them, whatever is known."""

    def score(self, state: State) -> np.ndarray:
        if not state.known.any():  # all cases look the same
            one = State(state.x[:1], np.zeros_like(state.asked[:1]), state.known[:1])
            return np.where(state.asked, 0.0, self._score(one))
        return self._score(state)

    def _chances(self, state: State) -> np.ndarray:
        return self.book.weights[:, None]

    def arrays(self) -> dict[str, np.ndarray]:
        return self.network.arrays() | self.book.arrays() | {"answered": self.answered}

    @classmethod
    def build(cls, config: dict[str, Any], arrays: dict[str, np.ndarray]) -> MarginalPolicy:
        rest = {name: array for name, array in arrays.items() if not name.startswith("answer")}
        network, book, answered = Network.build(rest), AnswerBook.build(arrays), arrays["answered"]
        if not bool(book.counts.all()) or not book.fits(network) or answered.shape != book.counts.shape:
            raise ValueError("the answers do not fit the network's features")
        return cls(network, book, answered, None if config["scale"] is None else float(config["scale"]))
