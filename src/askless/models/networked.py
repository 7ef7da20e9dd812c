"""A policy and a predictor, each a masked network."""

from __future__ import annotations

from math import exp
from typing import Any

import numpy as np

from askless.core.arrays import Array, array_namespace, constant_like
from askless.core.state import Answer, State
from askless.models.convolutional import ConvNetwork
from askless.models.network import Network, NetworkLike
from askless.models.single import SingleCase
from askless.models.spread import LogVariance

__all__ = ["NetPolicy", "NetPredictor", "build_network"]


def build_network(config: dict[str, Any], arrays: dict[str, np.ndarray]) -> NetworkLike:
    """The network that `config` and `arrays` came from: of convolutions where they are described, else dense."""
    return ConvNetwork.build(config["network"], arrays) if "network" in config else Network.build(arrays)


KNOWN = "known"  # in a state's memo: how many features are known


class NetPolicy:
    """Scores from a network; where nothing is known yet, fixed scores if there are any.

    Before the first answer every case looks the same, so the best first question can be found once, exactly,
    and need not be learned.
    """

    treats_alike = True

    def __init__(self, network: NetworkLike, first: np.ndarray | None = None) -> None:
        self.network = network
        self.first = first  # (features,) scores where nothing is known

    def score(self, state: State) -> Array:
        """(n, features), higher is asked sooner."""
        scores = self.network.outputs(state)
        return scores[None] if type(state.told) is Answer else or_else(self.first, scores, state)

    def beside(self, predictor: object) -> Pair | None:
        """The policy and a predictor in one go, for a single case; None where they have to go alone."""
        if type(self) is not NetPolicy or type(predictor) is not NetPredictor:
            return None
        mine, other = self.network, predictor.network
        if not isinstance(mine, Network) or not isinstance(other, Network):
            return None
        return Pair(self, predictor, mine.single, other.single)

    def config(self) -> dict[str, Any]:
        """That of the network."""
        return self.network.config()

    def arrays(self) -> dict[str, np.ndarray]:
        """The network's weights, and the first scores."""
        return self.network.arrays() | ({} if self.first is None else {"first": self.first})

    @classmethod
    def build(cls, config: dict[str, Any], arrays: dict[str, np.ndarray]) -> NetPolicy:
        """The policy that `arrays` came from."""
        rest = dict(arrays)
        first = rest.pop("first", None)
        network = build_network(config, rest)
        if first is not None and first.shape != (network.n_outputs,):
            raise ValueError(f"there are first scores of shape {first.shape} for {network.n_outputs} features")
        return cls(network, first)


class NetPredictor:
    """Class probabilities, or a mean with a standard deviation, from a network; where nothing is known, a prior."""

    treats_alike = True

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
    def dense(self) -> Network:
        """The network, for those who take its layers apart."""
        if not isinstance(self.network, Network):
            raise TypeError(f"this needs dense layers; the predictor has a {type(self.network).__name__}")
        return self.network

    def predict(self, state: State) -> Array:
        """(n, classes) probabilities, or (n, 1) means."""
        return self.from_outputs(self._outputs(state), state)

    def from_outputs(self, outputs: Array, state: State) -> Array:
        """What `predict` makes of the network's outputs."""
        temperature = None if self.temperatures is None else self._temperature(state, outputs)
        told = softmax(outputs, temperature) if self.classes else self._mean(outputs)
        return told[None] if type(state.told) is Answer else or_else(self.prior, told, state)

    def _mean(self, outputs: Array) -> Array:
        """In the target's units, in double precision."""
        if isinstance(outputs, np.ndarray):
            return outputs.astype(np.float64) * self.scale + self.offset
        xp = array_namespace(outputs)
        return xp.astype(outputs, xp.float64) * self.scale + self.offset

    def spread(self, state: State) -> Array | None:
        """(n,) the standard deviation of a regression's prediction, where it was learned; at first the target's."""
        if self.log_variance is None:
            return None
        mean = self._outputs(state)  # (n, 1); (1,) of a single case
        temperature = self._temperature(state, mean)
        if type(state.told) is Answer:
            factor = self.scale if temperature is None else self.scale * temperature
            return np.array([exp(0.5 * self.log_variance.of_one(state.known[0], mean.item())) * factor])
        xp = array_namespace(mean)
        log_variance = xp.astype(self.log_variance(state.known, mean[..., 0]), xp.float64)
        spread = xp.reshape(xp.exp(0.5 * log_variance) * self.scale, (-1, 1))
        return or_else(np.asarray([self.scale]), spread if temperature is None else spread * temperature, state)[:, 0]

    def _outputs(self, state: State) -> Array:
        """The network's; where a spread is wanted as well, they are kept."""
        if self.log_variance is None:
            return self.network.outputs(state)
        if self not in state.memo:
            state.memo[self] = self.network.outputs(state)
        return state.memo[self]

    def _temperature(self, state: State, like: Array) -> Array:
        """(n, 1) by how much is known of each case; a number for a single one; None where it is always 1."""
        if self.temperatures is None:
            return None
        if not isinstance(like, np.ndarray):
            xp = array_namespace(like)
            count = xp.sum(xp.astype(state.known, xp.int64), axis=1)
            return constant_like(self.temperatures, like, dtype=like.dtype)[count][:, None]
        known = known_count(state)
        return self.temperatures.item(known) if isinstance(known, int) else self.temperatures[known, None]

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
    def build(cls, config: dict[str, Any], arrays: dict[str, np.ndarray]) -> NetPredictor:
        """The predictor that `config` and `arrays` came from."""
        rest = dict(arrays)
        prior, log_variance = rest.pop("prior"), None
        if "log_variance" in rest:
            log_variance = LogVariance(rest.pop("log_variance"), rest.pop("log_variance_limits"))
        temperatures = rest.pop("temperatures", None)
        network, classes = build_network(config, rest), config["classes"]
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


class Pair:
    """A policy and a predictor of dense networks in one go, for a single case."""

    def __init__(self, policy: NetPolicy, predictor: NetPredictor, mine: SingleCase, other: SingleCase) -> None:
        self._policy, self._predictor, self._mine, self._other = policy, predictor, mine, other
        self._first, self._split = mine.first_beside(other), len(mine.blank)

    def __call__(self, state: State) -> tuple[np.ndarray, np.ndarray]:
        """The prediction (1, outputs) and the scores (features,): what `predict` and `score` give."""
        first, split, predictor = self._first(state), self._split, self._predictor
        if type(state.told) is not Answer:  # perhaps nothing is known
            self._share(state)
            return predictor.predict(state), self._policy.score(state)[0]
        outputs = self._other.from_first(first[split:])
        if predictor.log_variance is not None:  # which asks for the mean again
            state.memo[predictor] = outputs
        return predictor.from_outputs(outputs, state), self._mine.from_first(first[:split])

    def _share(self, state: State) -> None:
        """Let each network find its part of the sums."""
        sums, memo = state.memo[self._first], state.memo
        memo[self._mine.first], memo[self._other.first] = sums[: self._split], sums[self._split :]


def known_count(state: State) -> int | np.ndarray:
    """How many features are known: (n,) of many cases, a number of a single one, counted on from answer to answer."""
    told, since = state.told, 0
    if type(told) is not Answer and len(state) > 1:
        counts: np.ndarray = np.count_nonzero(state.known, axis=1)
        return counts
    count: int | None = state.memo.get(KNOWN)
    while count is None and type(told) is Answer:
        count, told, since = told.before.get(KNOWN), told.earlier, since + 1
    count = state.memo[KNOWN] = int(state.known.sum()) if count is None else count + since
    return count


def _check_temperatures(temperatures: np.ndarray, n_features: int) -> None:
    fits = temperatures.shape == (n_features + 1,) and temperatures.dtype.kind == "f"
    if not fits or not np.all((temperatures > 0) & np.isfinite(temperatures)):
        raise ValueError(f"there are temperatures of shape {temperatures.shape} for {n_features} features")


def or_else(blank: np.ndarray | None, outputs: Array, state: State) -> Array:
    """(n, outputs), with `blank` (outputs,) for the cases of which nothing is known, if there is such a row."""
    if not isinstance(outputs, np.ndarray):
        if blank is None:
            return outputs
        xp = array_namespace(outputs)
        empty = ~xp.any(state.known, axis=1)
        return xp.where(empty[:, None], constant_like(blank, outputs, dtype=outputs.dtype)[None, :], outputs)
    if outputs.ndim == 1:  # a single case
        return (outputs if blank is None or not state.nothing_known else blank.astype(outputs.dtype))[None]
    if blank is None:
        return outputs
    if state.nothing_known:
        return np.broadcast_to(blank.astype(outputs.dtype), outputs.shape)
    outputs[state.unknown_cases] = blank
    return outputs


def softmax(logits: Array, temperature: Array | float | None = None) -> Array:
    """Over the last axis, of the logits divided by the temperature: (n, 1), or a number for a single case."""
    if not isinstance(logits, np.ndarray):
        xp = array_namespace(logits)
        logits = logits if temperature is None else logits / temperature
        raised = xp.exp(logits - xp.max(logits, axis=1, keepdims=True))
        return raised / xp.sum(raised, axis=1, keepdims=True)
    if logits.ndim == 1:  # a single case: Python is faster than five calls of numpy
        return np.array(_softmax(logits.tolist(), 1.0 if temperature is None else temperature), logits.dtype)
    across = np.ascontiguousarray((logits if temperature is None else logits / temperature).T)
    across -= across.max(axis=0)  # (outputs, n): numpy works along long rows
    np.exp(across, out=across)
    across /= across.sum(axis=0)
    return across.T


def _softmax(logits: list[float], temperature: float) -> list[float]:
    if len(logits) == 2:  # the commonest case, with the same arithmetic
        left, right = logits
        power = exp(-abs(left - right) / temperature)  # of the lower one; that of the higher is 1
        low, high = power / (1.0 + power), 1.0 / (1.0 + power)
        return [high, low] if left > right else [low, high]
    most = max(logits)
    powers = [exp((logit - most) / temperature) for logit in logits]
    total = sum(powers)
    return [power / total for power in powers]
