"""Dense networks in numpy, and policies and predictors of networks: serving a model needs no torch."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Self, TypeVar

import numpy as np

from askless.acquisition import Policy, Predictor, State

NetworkFactory = Callable[[int, int, int], Any]
"""Takes n_columns, n_features and n_outputs; returns an `nn.Module` whose `forward(values, mask)` is (b, outputs)."""


class NetworkLike(ABC):
    """What policies and predictors need of a network."""

    @abstractmethod
    def outputs(self, state: State) -> np.ndarray:
        """(n, outputs)."""

    @property
    @abstractmethod
    def n_features(self) -> int:
        """How many features can be known."""

    @property
    @abstractmethod
    def n_outputs(self) -> int:
        """How many outputs there are."""

    @property
    def factory(self) -> NetworkFactory | None:
        """The function that made a user's own network; None for a network of askless."""
        return None

    @abstractmethod
    def config(self) -> dict[str, Any]:
        """What a file holds beside the arrays: nothing, or a description under "network"."""

    @abstractmethod
    def arrays(self) -> dict[str, np.ndarray]:
        """Every weight by a name."""


@dataclass(eq=False)
class FirstLayer:
    """The first layer's sums, with a cache of the last batch.

    A roll-out passes the same cases again and again, and each answer changes a few inputs. The layer is linear, so it
    is enough to add the weights of the inputs that changed. With MNIST's pixels (784 columns, 512 units) that is 4
    times as fast as the product; layers smaller than `SMALLEST` gain nothing and are multiplied as a whole.
    """

    SMALLEST = 1 << 17  # weights
    FEWEST_CASES = 64
    MOST_CHANGED = 0.05  # share of the inputs

    value_weight: np.ndarray
    mask_weight: np.ndarray
    bias: np.ndarray
    _last: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None  # x, known and sums

    def __call__(self, x: np.ndarray, known: np.ndarray) -> np.ndarray:
        """(n, hidden) from values (n, columns) and the mask (n, features); the caller must not change it."""
        cached = len(x) >= self.FEWEST_CASES and self.value_weight.size >= self.SMALLEST
        last = self._last if cached else None  # read once: another thread may replace it
        sums = None if last is None or last[0].shape != x.shape else self._updated(last, x, known)
        if sums is None:
            sums = x @ self.value_weight
            sums += known.astype(x.dtype) @ self.mask_weight
            sums += self.bias
        if cached:
            self._last = x, known, sums
        return sums

    def _updated(
        self, last: tuple[np.ndarray, np.ndarray, np.ndarray], x: np.ndarray, known: np.ndarray
    ) -> np.ndarray | None:
        """The last sums with what changed; None where too much did."""
        old_x, old_known, old_sums = last
        values, flags = x != old_x, known != old_known
        if np.count_nonzero(values) > self.MOST_CHANGED * values.size:
            return None
        sums: np.ndarray = old_sums + _difference(values, x, old_x) @ self.value_weight
        sums += _difference(flags, known, old_known) @ self.mask_weight
        return sums


def _difference(changed: np.ndarray, new: np.ndarray, old: np.ndarray) -> Any:
    """`new - old` as a sparse matrix, given where they differ (n, m)."""
    from scipy.sparse import csr_array  # a service that asks one case at a time never needs it

    rows, columns = np.nonzero(changed)
    starts = np.concatenate([[0], np.cumsum(np.count_nonzero(changed, axis=1))])
    values = new[rows, columns].astype(np.float32) - old[rows, columns]
    return csr_array((values, columns, starts), shape=changed.shape)


@dataclass(frozen=True, eq=False)
class Network(NetworkLike):
    """A multilayer perceptron over (values, mask): the first layer has one weight block for each of the two."""

    value_weight: np.ndarray  # (columns, hidden)
    mask_weight: np.ndarray  # (features, hidden)
    biases: tuple[np.ndarray, ...]  # one for each layer
    weights: tuple[np.ndarray, ...]  # of the layers after the first, each (inputs, outputs)
    first_sums: FirstLayer = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "first_sums", FirstLayer(self.value_weight, self.mask_weight, self.biases[0]))

    def outputs(self, state: State) -> np.ndarray:
        if len(state) > 1 and not state.known.any():  # all cases look the same
            return np.repeat(self.outputs(state[:1]), len(state), axis=0)
        return self.from_sums(self.first_sums(state.x, state.known))

    # OpenBLAS 0.3.31 with AVX-512 reads beyond short inputs. The sums are right, but the invalid flag may be set.
    @np.errstate(invalid="ignore")
    def from_sums(self, sums: np.ndarray) -> np.ndarray:
        """(n, outputs) from what `first_sums` returned."""
        h = sums
        for weight, bias in zip(self.weights, self.biases[1:], strict=True):
            h = np.maximum(h, 0.0) @ weight
            h += bias
        return h

    @property
    def n_features(self) -> int:
        return len(self.mask_weight)

    @property
    def n_outputs(self) -> int:
        return len(self.biases[-1])

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy begins without the cache."""
        return Network, (self.value_weight, self.mask_weight, self.biases, self.weights)

    def config(self) -> dict[str, Any]:
        return {}

    def arrays(self) -> dict[str, np.ndarray]:
        named = {"value_weight": self.value_weight, "mask_weight": self.mask_weight}
        named |= {f"bias{i}": bias for i, bias in enumerate(self.biases)}
        return named | {f"weight{i}": weight for i, weight in enumerate(self.weights, start=1)}

    @classmethod
    def build(cls, arrays: dict[str, np.ndarray]) -> Network:
        depth = sum(name.startswith("bias") for name in arrays)
        return cls(
            arrays["value_weight"],
            arrays["mask_weight"],
            tuple(arrays[f"bias{i}"] for i in range(depth)),
            tuple(arrays[f"weight{i}"] for i in range(1, depth)),
        ).checked()

    def checked(self) -> Network:
        """Itself, if the shapes fit one another."""
        widths: Sequence[tuple[int, int]] = [weight.shape for weight in self.weights]
        inputs = [self.value_weight.shape[1], *(out for _, out in widths)]
        fits = (
            self.mask_weight.shape[1] == inputs[0]
            and len(self.biases) == len(self.weights) + 1
            and len(self.weights) >= 1
            and all(given == width[0] for given, width in zip(inputs, widths, strict=False))
            and all(bias.shape == (given,) for bias, given in zip(self.biases, inputs, strict=True))
        )
        if not fits:
            raise ValueError("the layers of the network do not fit one another")
        if any(array.dtype.kind != "f" for array in self.arrays().values()):
            raise ValueError("a network's weights are floating-point numbers")
        return self


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

    network: NetworkLike

    @property
    def networks(self) -> Sequence[NetworkLike]:
        """The networks."""
        return (self.network,)

    @classmethod
    @abstractmethod
    def build(
        cls, config: dict[str, Any], arrays: dict[str, np.ndarray], factory: NetworkFactory | None = None
    ) -> Self:
        """What `config` and `arrays` came from; `factory` makes the modules of a user's own networks."""


@dataclass(eq=False, repr=False)
class NetPolicy(Networked, Policy):
    """Scores from a network; where nothing is known yet, fixed scores if there are any.

    Before the first answer every case looks the same, so the best first question can be found once, exactly,
    and need not be learned.
    """

    network: NetworkLike
    first: np.ndarray | None = None  # (features,) scores where nothing is known

    def score(self, state: State) -> np.ndarray:
        return with_blank(self.network.outputs(state), self.first, state)

    def config(self) -> dict[str, Any]:
        return self.network.config()

    def arrays(self) -> dict[str, np.ndarray]:
        return self.network.arrays() | ({} if self.first is None else {"first": self.first})

    @classmethod
    def build(
        cls, config: dict[str, Any], arrays: dict[str, np.ndarray], factory: NetworkFactory | None = None
    ) -> Self:
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


@dataclass(eq=False, repr=False)
class NetPredictor(Networked, Predictor):
    """Class probabilities, or a mean with a standard deviation, from a network; where nothing is known, a prior."""

    network: NetworkLike
    _: KW_ONLY
    classes: bool
    prior: np.ndarray  # (outputs,) frequencies of the classes, or the mean, in the training rows
    offset: float = 0.0  # of the regression target
    scale: float = 1.0
    log_variance: LogVariance | None = None  # of a regression's standardised mean
    temperatures: np.ndarray | None = (
        None  # (features + 1,) by how many are known: divide logits, multiply the spread
    )

    @property
    def dense(self) -> Network:
        """The network, for those who take its layers apart."""
        if not isinstance(self.network, Network):
            raise TypeError(f"this needs dense layers; the predictor has a {type(self.network).__name__}")
        return self.network

    def predict(self, state: State) -> np.ndarray:
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
            fits = temperatures.shape == (network.n_features + 1,) and temperatures.dtype.kind == "f"
            if not fits or not np.all((temperatures > 0) & np.isfinite(temperatures)):
                raise ValueError(f"there are {temperatures.shape} temperatures for {network.n_features} features")
        return cls(
            network,
            classes=classes,
            prior=prior,
            offset=float(config["offset"]),
            scale=float(config["scale"]),
            log_variance=log_variance,
            temperatures=temperatures,
        )


Kept = TypeVar("Kept")


def part(named: Mapping[str, Kept], prefix: str) -> dict[str, Kept]:
    """What has names with this prefix, by the rest of the names."""
    return {name.removeprefix(prefix): value for name, value in named.items() if name.startswith(prefix)}


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
