"""A policy and a predictor, each a masked network."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from askless.acquisition import Policy, Predictor, State
from askless.models.network import Network, NetworkFactory, NetworkLike


def build_network(
    config: dict[str, Any], arrays: dict[str, np.ndarray], factory: NetworkFactory | None
) -> NetworkLike:
    """The network that `config` and `arrays` came from: dense, or one that torch serves where it is described."""
    if "network" not in config:
        return Network.build(arrays)
    from askless.networks.stored import stored_network

    return stored_network(config["network"], arrays, factory)


class Networked(ABC):
    """A policy or a predictor that consists of networks, of whatever kind."""

    @property
    @abstractmethod
    def networks(self) -> Sequence[NetworkLike]:
        """The networks."""

    @classmethod
    @abstractmethod
    def build(
        cls, config: dict[str, Any], arrays: dict[str, np.ndarray], factory: NetworkFactory | None = None
    ) -> Self:
        """What `config` and `arrays` came from; `factory` makes the modules of a user's own networks."""


class NetPolicy(Networked, Policy):
    """Scores from a network; where nothing is known yet, fixed scores if there are any.

    Before the first answer every case looks the same, so the best first question can be found once, exactly,
    and need not be learned.
    """

    def __init__(self, network: NetworkLike, first: np.ndarray | None = None) -> None:
        self.network = network
        self.first = first  # (features,) scores where nothing is known

    def score(self, state: State) -> np.ndarray:
        """(n, features), higher is asked sooner."""
        return with_blank(self.network.outputs(state), self.first, state)

    def config(self) -> dict[str, Any]:
        """That of the network."""
        return self.network.config()

    def arrays(self) -> dict[str, np.ndarray]:
        """The network's weights, and the first scores."""
        return self.network.arrays() | ({} if self.first is None else {"first": self.first})

    @property
    def networks(self) -> Sequence[NetworkLike]:
        """The policy network."""
        return (self.network,)

    @classmethod
    def build(
        cls, config: dict[str, Any], arrays: dict[str, np.ndarray], factory: NetworkFactory | None = None
    ) -> Self:
        """The policy that `arrays` came from."""
        rest = dict(arrays)
        first = rest.pop("first", None)
        network = build_network(config, rest, factory)
        if first is not None and first.shape != (network.n_outputs,):
            raise ValueError(f"there are first scores of shape {first.shape} for {network.n_outputs} features")
        return cls(network, first)


@dataclass(frozen=True, eq=False)
class LogVariance:
    """The logarithm of a standardised mean's variance: linear in what is known, and a parabola in the mean itself.

    Which features are known tells most of it; the mean tells the rest where large numbers vary more, as prices do.
    """

    weights: np.ndarray  # (features + 3,): of each known feature, of the mean and its square, and the constant
    limits: np.ndarray  # (2,) the least and the largest that was seen: beyond them nothing is known of it

    @staticmethod
    def design(known: np.ndarray, mean: np.ndarray) -> np.ndarray:
        """(n, features + 2) what it is linear in, from what is known (n, features) and means (n,)."""
        return np.column_stack([known.astype(np.float64), mean, mean**2])

    def __call__(self, known: np.ndarray, mean: np.ndarray) -> np.ndarray:
        """(n,) from what is known (n, features) and standardised means (n,)."""
        slope, bend, constant = self.weights[-3:]
        log_variance = known @ self.weights[:-3] + mean * (slope + mean * bend) + constant
        return np.clip(log_variance, *self.limits)

    def checked(self, n_features: int) -> LogVariance:
        """Itself, if it fits so many features."""
        shapes = self.weights.shape, self.limits.shape
        if shapes != ((n_features + 3,), (2,)) or not self.limits[0] <= self.limits[1]:
            raise ValueError(f"the log variance has arrays of the shapes {shapes} for {n_features} features")
        return self


class NetPredictor(Networked, Predictor):
    """Class probabilities, or a mean with a standard deviation, from a network; where nothing is known, a prior."""

    def __init__(
        self,
        network: NetworkLike,
        *,
        classes: bool,
        prior: np.ndarray,
        offset: float = 0.0,
        scale: float = 1.0,
        log_variance: LogVariance | None = None,
        temperatures: np.ndarray | None = None,
    ) -> None:
        self.network = network
        self.classes = classes
        self.prior = prior  # (outputs,) frequencies of the classes, or the mean, in the training rows
        self.offset, self.scale = offset, scale  # of the regression target
        self.log_variance = log_variance  # of a regression's standardised mean
        self.temperatures = temperatures  # (features + 1,) by how many are known: divide logits, multiply the spread

    @property
    def networks(self) -> Sequence[NetworkLike]:
        """The network."""
        return (self.network,)

    @property
    def dense(self) -> Network:
        """The network, for those who take its layers apart."""
        if not isinstance(self.network, Network):
            raise TypeError(f"this needs dense layers; the predictor has a {type(self.network).__name__}")
        return self.network

    def predict(self, state: State) -> np.ndarray:
        """(n, classes) probabilities, or (n, 1) means."""
        outputs = self.network.outputs(state)
        if self.classes:
            return with_blank(softmax(outputs / self._temperature(state)), self.prior, state)
        return with_blank(outputs.astype(np.float64) * self.scale + self.offset, self.prior, state)

    def spread(self, state: State) -> np.ndarray | None:
        """(n,) the standard deviation of a regression's prediction, where it was learned; at first the target's."""
        if self.log_variance is None:
            return None
        mean = self.network.outputs(state)[:, 0]
        log_variance = self.log_variance(state.known, mean).astype(np.float64)
        spread = np.exp(0.5 * log_variance)[:, None] * self.scale * self._temperature(state)
        return with_blank(spread, np.array([self.scale]), state)[:, 0]

    def _temperature(self, state: State) -> np.ndarray | float:
        """(n, 1) by how much is known of each case."""
        if self.temperatures is None:
            return 1.0
        return self.temperatures[np.count_nonzero(state.known, axis=1), None]

    def config(self) -> dict[str, Any]:
        """The task, the target's scale, and the network's."""
        return {"classes": self.classes, "offset": self.offset, "scale": self.scale} | self.network.config()

    def arrays(self) -> dict[str, np.ndarray]:
        """The network's weights, the prior, and what makes it honest: the log variance and the temperatures."""
        arrays = self.network.arrays() | {"prior": self.prior}
        if self.log_variance is not None:
            arrays |= {"log_variance": self.log_variance.weights, "log_variance_limits": self.log_variance.limits}
        return arrays if self.temperatures is None else arrays | {"temperatures": self.temperatures}

    @classmethod
    def build(
        cls, config: dict[str, Any], arrays: dict[str, np.ndarray], factory: NetworkFactory | None = None
    ) -> Self:
        """The predictor that `config` and `arrays` came from."""
        rest = dict(arrays)
        prior, log_variance = rest.pop("prior"), None
        if "log_variance" in rest:
            log_variance = LogVariance(rest.pop("log_variance"), rest.pop("log_variance_limits"))
        temperatures = rest.pop("temperatures", None)
        network, classes = build_network(config, rest, factory), config["classes"]
        if prior.shape != (network.n_outputs,) or classes is not (len(prior) > 1):
            raise ValueError(f"the predictor has {network.n_outputs} outputs and a prior of {prior.shape}")
        if log_variance is not None:
            log_variance.checked(network.n_features)
        if temperatures is not None:
            _check_temperatures(temperatures, network.n_features)
        return cls(
            network,
            classes=classes,
            prior=prior,
            offset=float(config["offset"]),
            scale=float(config["scale"]),
            log_variance=log_variance,
            temperatures=temperatures,
        )


def _check_temperatures(temperatures: np.ndarray, n_features: int) -> None:
    fits = temperatures.shape == (n_features + 1,) and temperatures.dtype.kind == "f"
    if not fits or not np.all((temperatures > 0) & np.isfinite(temperatures)):
        raise ValueError(f"there are temperatures of shape {temperatures.shape} for {n_features} features")


def with_blank(outputs: np.ndarray, blank: np.ndarray | None, state: State) -> np.ndarray:
    """(n, outputs), with `blank` (outputs,) for the cases of which nothing is known, if it is given."""
    if blank is None:
        return outputs
    return np.where(state.known.any(axis=1, keepdims=True), outputs, blank.astype(outputs.dtype))


def softmax(logits: np.ndarray) -> np.ndarray:
    """(n, classes) over the last axis."""
    raised = np.exp(logits - logits.max(axis=-1, keepdims=True))
    chances: np.ndarray = raised / raised.sum(axis=-1, keepdims=True)
    return chances
