"""A policy whose scores are what each question is worth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from askless.acquisition import Policy, State
from askless.models.network import NetworkFactory, NetworkLike
from askless.models.networked import Networked, build_network, softmax, with_blank

PREDICTOR = "predictor_"  # in front of the names of its arrays


class NetValue(Networked, Policy):
    """Values from a network: the expected drop of the loss if a feature were known as well.

    With classes that is the conditional mutual information in nats. It cannot exceed the entropy of the present
    prediction, so the network says which share of that it is; the entropy needs the predictor's network too. For a
    regression it is a drop of the squared error, in the target's units squared.
    """

    informative = True  # scores are information, which can be weighed against prices
    noise = 0.2  # share of the best candidate's value: no low price makes up for a smaller one, which is mostly noise

    def __init__(
        self,
        network: NetworkLike,
        *,
        predictor: NetworkLike | None = None,
        scale: float = 1.0,
        first: np.ndarray | None = None,
    ) -> None:
        self.network = network
        self.predictor = predictor  # of the classes; None for a regression
        self.scale = scale  # of a regression's target
        self.first = first  # (features,) values where nothing is known

    def score(self, state: State) -> np.ndarray:
        """(n, features) the value of each question."""
        return with_blank(self._values(self.network.outputs(state), state), self.first, state)

    def _values(self, outputs: np.ndarray, state: State) -> np.ndarray:
        above = np.maximum(outputs, 0.0)
        if self.predictor is None:
            return above.astype(np.float64) * self.scale**2  # which single precision may not hold
        share = np.minimum(above, 1.0)
        return share * _entropy(softmax(self.predictor.outputs(state)))

    @property
    def networks(self) -> Sequence[NetworkLike]:
        """The value network, and the predictor's for classes."""
        return (self.network,) if self.predictor is None else (self.network, self.predictor)

    def config(self) -> dict[str, Any]:
        """The target's scale, and the networks' own."""
        told = {} if self.predictor is None else self.predictor.config()
        others = {PREDICTOR + name: part for name, part in told.items()}
        return {"scale": self.scale} | self.network.config() | others

    def arrays(self) -> dict[str, np.ndarray]:
        """The weights of both networks, and the first values."""
        arrays = self.network.arrays() | ({} if self.first is None else {"first": self.first})
        if self.predictor is None:
            return arrays
        return arrays | {PREDICTOR + name: array for name, array in self.predictor.arrays().items()}

    @classmethod
    def build(
        cls, config: dict[str, Any], arrays: dict[str, np.ndarray], factory: NetworkFactory | None = None
    ) -> Self:
        """The policy that `config` and `arrays` came from."""
        own = {name: array for name, array in arrays.items() if not name.startswith(PREDICTOR)}
        other = {name.removeprefix(PREDICTOR): array for name, array in arrays.items() if name not in own}
        first = own.pop("first", None)
        network = build_network(config, own, factory)
        described = {
            name.removeprefix(PREDICTOR): part for name, part in config.items() if name.startswith(PREDICTOR)
        }
        predictor = build_network(described, other, factory) if other else None
        if first is not None and first.shape != (network.n_outputs,):
            raise ValueError(f"there are first values of shape {first.shape} for {network.n_outputs} features")
        if predictor is not None and predictor.n_features != network.n_features:
            raise ValueError("the value network and the predictor have different features")
        return cls(network, predictor=predictor, scale=float(config["scale"]), first=first)


def _entropy(chances: np.ndarray) -> np.ndarray:
    """(..., 1) of probabilities (..., classes), in nats."""
    terms = chances * np.log(np.maximum(chances, np.finfo(chances.dtype).tiny))
    entropy: np.ndarray = -terms.sum(axis=-1, keepdims=True)
    return entropy
