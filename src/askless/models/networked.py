"""A policy and a predictor, each a masked network."""

from __future__ import annotations

from typing import Any

import numpy as np

from askless.core.arrays import Array, array_namespace, constant_like
from askless.core.state import State
from askless.models.network import Network

__all__ = ["NetPolicy", "NetPredictor"]


class NetPolicy:
    """Scores from a network; where nothing is known yet, fixed scores if there are any.

    Before the first answer every case looks the same, so the best first question can be found once, exactly,
    and need not be learned.
    """

    def __init__(self, network: Network, first: np.ndarray | None = None) -> None:
        self.network = network
        self.first = first  # (features,) scores where nothing is known

    def score(self, state: State) -> Array:
        """(n, features), higher is asked sooner."""
        scores = self.network(state.x, state.known)
        if self.first is None:
            return scores
        xp = array_namespace(scores)
        empty = ~xp.any(state.known, axis=1)
        return xp.where(empty[:, None], constant_like(self.first, scores, dtype=scores.dtype)[None, :], scores)

    def config(self) -> dict[str, Any]:
        """Nothing but the arrays matters."""
        return {}

    def arrays(self) -> dict[str, np.ndarray]:
        """The network's weights, and the first scores."""
        return self.network.arrays() | ({} if self.first is None else {"first": self.first})

    @classmethod
    def build(cls, config: dict[str, Any], arrays: dict[str, np.ndarray]) -> NetPolicy:
        """The policy that `arrays` came from."""
        rest = dict(arrays)
        first = rest.pop("first", None)
        network = Network.build(rest)
        if first is not None and first.shape != network.biases[-1].shape:
            raise ValueError(f"there are first scores of shape {first.shape} for {network.biases[-1].shape} features")
        return cls(network, first)


class NetPredictor:
    """Class probabilities, or a mean with a standard deviation, from a network; where nothing is known, a prior."""

    def __init__(
        self,
        network: Network,
        *,
        classes: bool,
        prior: np.ndarray,
        offset: float = 0.0,
        scale: float = 1.0,
        spread_weight: np.ndarray | None = None,
    ) -> None:
        self.network = network
        self.classes = classes
        self.prior = prior  # (outputs,) frequencies of the classes, or the mean, in the training rows
        self.offset, self.scale = offset, scale  # of the regression target
        self.spread_weight = spread_weight  # (hidden + 1,): log variance of the residual, the bias last

    def predict(self, state: State) -> Array:
        """(n, classes) probabilities, or (n, 1) means."""
        outputs = self.network(state.x, state.known)
        xp = array_namespace(outputs)
        told = _softmax(outputs) if self.classes else xp.astype(outputs, xp.float64) * self.scale + self.offset
        empty = ~xp.any(state.known, axis=1)
        return xp.where(empty[:, None], constant_like(self.prior, told, dtype=told.dtype)[None, :], told)

    def spread(self, state: State) -> Array | None:
        """(n,) the standard deviation of a regression's prediction, where it was learned."""
        if self.spread_weight is None:
            return None
        xp = array_namespace(state.x)
        hidden = self.network.features(state.x, state.known)
        weight = constant_like(self.spread_weight, hidden, dtype=hidden.dtype)
        return xp.exp(0.5 * (hidden @ weight[:-1] + weight[-1])) * self.scale

    def config(self) -> dict[str, Any]:
        """The task and the target's scale."""
        return {"classes": self.classes, "offset": self.offset, "scale": self.scale}

    def arrays(self) -> dict[str, np.ndarray]:
        """The network's weights, the prior, and the spread's weights."""
        extra = {} if self.spread_weight is None else {"spread_weight": self.spread_weight}
        return self.network.arrays() | {"prior": self.prior} | extra

    @classmethod
    def build(cls, config: dict[str, Any], arrays: dict[str, np.ndarray]) -> NetPredictor:
        """The predictor that `config` and `arrays` came from."""
        rest = dict(arrays)
        spread, prior = rest.pop("spread_weight", None), rest.pop("prior")
        network, classes = Network.build(rest), config["classes"]
        if prior.shape != network.biases[-1].shape or classes is not (len(prior) > 1):
            raise ValueError(f"the predictor has {network.biases[-1].shape} outputs and a prior of {prior.shape}")
        if spread is not None and spread.shape != (len(network.weights[-1]) + 1,):
            raise ValueError(f"the weights of the spread have the shape {spread.shape}")
        return cls(
            network,
            classes=classes,
            prior=prior,
            offset=float(config["offset"]),
            scale=float(config["scale"]),
            spread_weight=spread,
        )


def _softmax(logits: Array) -> Array:
    xp = array_namespace(logits)
    raised = xp.exp(logits - xp.max(logits, axis=1, keepdims=True))
    return raised / xp.sum(raised, axis=1, keepdims=True)
