"""Policies with a fixed order, with values in nats, and one that looks at the truth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from operator import index
from typing import Any, Self

import numpy as np

from askless.acquisition import Policy, State, TruthPolicy
from askless.models.network import (
    Network,
    Networked,
    NetworkFactory,
    NetworkLike,
    build_network,
    part,
    softmax,
    with_blank,
)


class Ranking(Policy):
    """The same scores in every state: a static order."""

    fixed_order = True

    def __init__(self, scores: np.ndarray) -> None:
        self.scores = np.asarray(scores, dtype=np.float64)  # (features,)

    def score(self, state: State) -> np.ndarray:
        if self.scores.shape != (state.asked.shape[1],):
            raise ValueError(f"there are scores of shape {self.scores.shape} for {state.asked.shape[1]} features")
        return np.broadcast_to(self.scores, state.asked.shape)

    def config(self) -> dict[str, Any]:
        return {}

    def arrays(self) -> dict[str, np.ndarray]:
        return {"scores": self.scores}

    @classmethod
    def build(cls, config: dict[str, Any], arrays: dict[str, np.ndarray]) -> Ranking:
        return cls(arrays["scores"])


@dataclass(eq=False, repr=False)
class RandomOrder(Policy):
    """The cases of a batch are asked in random orders, each in its own: the weakest control.

    The order follows from the seed and the case's place in the batch, so a single case always gets the same one.
    """

    fixed_order = True
    stochastic = True  # a case's order depends on its place in the batch

    seed: int

    def score(self, state: State) -> np.ndarray:
        return np.random.default_rng(self.seed).random(state.asked.shape)

    def config(self) -> dict[str, Any]:
        return {"seed": self.seed}

    def arrays(self) -> dict[str, np.ndarray]:
        return {}

    @classmethod
    def build(cls, config: dict[str, Any], arrays: dict[str, np.ndarray]) -> RandomOrder:
        return cls(index(config["seed"]))


PREDICTOR = "predictor_"  # in front of the names of its arrays


@dataclass(eq=False, repr=False)
class NetValue(Networked, Policy):
    """Values from a network: the expected drop of the loss if a feature were known as well.

    With classes that is the conditional mutual information in nats. It cannot exceed the entropy of the present
    prediction, so the network says which share of that it is; the entropy needs the predictor's network too. For a
    regression it is a drop of the squared error, in the target's units squared.
    """

    informative = True  # scores are information, which can be weighed against prices
    noise = 0.2  # share of the best candidate's value: no low price makes up for a smaller one, which is mostly noise

    network: NetworkLike
    _: KW_ONLY
    predictor: NetworkLike | None = None  # of the classes; None for a regression
    scale: float = 1.0  # of a regression's target
    first: np.ndarray | None = None  # (features,) values where nothing is known

    def score(self, state: State) -> np.ndarray:
        values = np.maximum(self.network.outputs(state), 0.0)
        if self.predictor is None:
            values = values.astype(np.float64) * self.scale**2  # which single precision may not hold
        else:
            chances = softmax(self.predictor.outputs(state))
            entropy = -(chances * np.log(np.maximum(chances, np.finfo(chances.dtype).tiny))).sum(
                axis=1, keepdims=True
            )
            values = np.minimum(values, 1.0) * entropy
        return with_blank(values, self.first, state)

    @property
    def networks(self) -> Sequence[NetworkLike]:
        return (self.network,) if self.predictor is None else (self.network, self.predictor)

    def config(self) -> dict[str, Any]:
        described = {} if self.predictor is None else self.predictor.config()
        others = {PREDICTOR + name: value for name, value in described.items()}
        return {"scale": self.scale} | self.network.config() | others

    def arrays(self) -> dict[str, np.ndarray]:
        arrays = self.network.arrays() | ({} if self.first is None else {"first": self.first})
        if self.predictor is None:
            return arrays
        return arrays | {PREDICTOR + name: array for name, array in self.predictor.arrays().items()}

    @classmethod
    def build(
        cls, config: dict[str, Any], arrays: dict[str, np.ndarray], factory: NetworkFactory | None = None
    ) -> Self:
        own = {name: array for name, array in arrays.items() if not name.startswith(PREDICTOR)}
        other = part(arrays, PREDICTOR)
        first = own.pop("first", None)
        network = build_network(config, own, factory)
        predictor = build_network(part(config, PREDICTOR), other, factory) if other else None
        if first is not None and first.shape != (network.n_outputs,):
            raise ValueError(f"there are first values of shape {first.shape} for {network.n_outputs} features")
        if predictor is not None and predictor.n_features != network.n_features:
            raise ValueError("the value network and the predictor have different features")
        return cls(network, predictor=predictor, scale=float(config["scale"]), first=first)


@dataclass(eq=False, repr=False)
class OraclePolicy(TruthPolicy):
    """Prefers the feature whose true value brings the prediction nearest to that of the complete case.

    The distance is KL(complete || with the feature) of class probabilities, or the squared difference of means.
    """

    network: Network  # of the predictor
    _: KW_ONLY
    classes: bool
    starts: np.ndarray  # (features,) the first encoded column of each
    zero_is_missing: np.ndarray  # (features,) bool: zeros in all its columns stand for no value

    def score_with_truth(self, state: State, truth: np.ndarray) -> np.ndarray:
        """(n, features) minus the distances that remain, given the complete encoded records (n, columns).

        What is known already, or has no value, leaves the prediction as it is.
        """
        network = self.network
        there = np.logical_or.reduceat(truth != 0, self.starts, axis=1) | ~self.zero_is_missing  # (n, features)
        complete = self._outputs(network.first_sums(truth, there))
        sums = network.first_sums(state.x, state.known)
        news = (there & ~state.known).astype(sums.dtype)
        stops = [*self.starts[1:], truth.shape[1]]
        scores = np.empty(there.shape)
        for i, (start, stop) in enumerate(zip(self.starts, stops, strict=True)):
            added = truth[:, start:stop] @ network.value_weight[start:stop] + network.mask_weight[i]  # (n, hidden)
            scores[:, i] = -self._distance(complete, self._outputs(sums + news[:, i, None] * added))
        return scores

    def _outputs(self, sums: np.ndarray) -> np.ndarray:
        """(n, outputs) log probabilities, or means, from the first layer's sums (n, hidden)."""
        outputs: np.ndarray = self.network.from_sums(sums).astype(np.float64)
        if self.classes:
            outputs -= outputs.max(axis=1, keepdims=True)
            outputs -= np.log(np.exp(outputs).sum(axis=1, keepdims=True))
        return outputs

    def _distance(self, complete: np.ndarray, partial: np.ndarray) -> np.ndarray:
        each = np.exp(complete) * (complete - partial) if self.classes else (complete - partial) ** 2
        return each.sum(axis=1)

    def config(self) -> dict[str, Any]:
        return {"classes": self.classes}

    def arrays(self) -> dict[str, np.ndarray]:
        starts, zeros = self.starts.astype(np.int64), self.zero_is_missing.astype(np.uint8)
        return self.network.arrays() | {"starts": starts, "zero_is_missing": zeros}

    @classmethod
    def build(cls, config: dict[str, Any], arrays: dict[str, np.ndarray]) -> OraclePolicy:
        rest = dict(arrays)
        starts, zero = rest.pop("starts"), rest.pop("zero_is_missing")
        network, classes = Network.build(rest), config["classes"]
        columns, features = len(network.value_weight), len(network.mask_weight)
        inside = starts.shape == (features,) and starts[0] == 0 and starts[-1] < columns
        if not inside or starts.dtype.kind != "i" or not (np.diff(starts) > 0).all() or zero.shape != (features,):
            raise ValueError(f"the columns of {features} features begin at {starts.tolist()}")
        if classes is not (len(network.biases[-1]) > 1):
            raise ValueError(f"the oracle's network has {len(network.biases[-1])} outputs")
        return cls(network, classes=classes, starts=starts, zero_is_missing=zero.astype(bool))
