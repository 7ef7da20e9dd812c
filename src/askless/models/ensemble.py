"""Ensembles: the mean of several policies, and a predictor that blends networks with boosted trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Self

import numpy as np

from askless.acquisition import Policy, Predictor, State
from askless.models.network import NetPolicy, NetPredictor, Networked, NetworkFactory, NetworkLike, softmax

CASES_AT_ONCE = 1024  # in the trees: bounds the memory


class MeanPolicy(Networked, Policy):
    """Scores by the mean of the members' softmax probabilities; at first by the mean of their fixed scores.

    Each member is trained on other rows, so their mean follows the noise of the training rows less than any of them.
    """

    def __init__(self, members: Sequence[NetPolicy]) -> None:
        self.members = tuple(members)

    def score(self, state: State) -> np.ndarray:
        """(n, features), higher is asked sooner: logarithms of probabilities."""
        scores = np.stack([member.score(state) for member in self.members])
        chances = softmax(np.where(state.asked, np.finfo(scores.dtype).min, scores)).mean(axis=0)
        blank = ~state.known.any(axis=1, keepdims=True)  # these scores are gains, of one unit for all members
        return np.where(blank, scores.mean(axis=0), np.log(np.maximum(chances, np.finfo(chances.dtype).tiny)))

    @property
    def networks(self) -> Sequence[NetworkLike]:
        """Those of all members."""
        return [network for member in self.members for network in member.networks]

    def config(self) -> dict[str, Any]:
        """Those of the members."""
        return {"members": [member.config() for member in self.members]}

    def arrays(self) -> dict[str, np.ndarray]:
        """Those of the members, numbered."""
        return _numbered(self.members)

    @classmethod
    def build(
        cls, config: dict[str, Any], arrays: dict[str, np.ndarray], factory: NetworkFactory | None = None
    ) -> Self:
        """The policy that `config` and `arrays` came from."""
        parts = enumerate(config["members"])
        return cls([NetPolicy.build(part, _of(i, arrays), factory) for i, part in parts])


def _numbered(members: Sequence[NetPolicy | NetPredictor]) -> dict[str, np.ndarray]:
    return {f"{i}.{name}": array for i, member in enumerate(members) for name, array in member.arrays().items()}


def _of(i: int, arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays of member i."""
    prefix = f"{i}."
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def with_gaps(state: State, column_feature: np.ndarray) -> np.ndarray:
    """(n, columns) the values, NaN where they are not known."""
    return np.where(state.known[:, column_feature], state.x, np.float32(np.nan))


@dataclass(frozen=True, eq=False)
class Forests:
    """Boosted trees over partial records: forests for ever more known features, in one table of nodes.

    A tree compares one encoded column with a threshold. A column that is not known takes the branch that training
    found best for missing values.
    """

    column: np.ndarray  # (nodes,) the column that a node compares; -1 in a leaf
    threshold: np.ndarray  # (nodes,) up to which a value goes left
    children: np.ndarray  # (nodes, 2) left and right; a leaf is its own child
    unknown_left: np.ndarray  # (nodes,) bool: where an unknown value goes
    value: np.ndarray  # (nodes,) what a leaf adds to the output
    root: np.ndarray  # (trees,) the first node of each tree
    output: np.ndarray  # (trees,) the output that a tree adds to
    starts: np.ndarray  # (forests + 1,) the first tree of each forest
    known: np.ndarray  # (forests,) from how many known features on it predicts, rising from 1
    baseline: np.ndarray  # (forests, outputs) what the trees are added to

    def __call__(self, state: State, column_feature: np.ndarray) -> np.ndarray:
        """(n, outputs): logits of classes, or standardised means; `column_feature` as in the schema."""
        sums = np.empty((len(state), self.baseline.shape[1]))
        count = np.maximum(np.count_nonzero(state.known, axis=1), 1)
        level = np.searchsorted(self.known, count, side="right") - 1
        for forest in np.unique(level):
            rows = np.flatnonzero(level == forest)
            for start in range(0, len(rows), CASES_AT_ONCE):
                run = rows[start : start + CASES_AT_ONCE]
                sums[run] = self._sums(with_gaps(state[run], column_feature), int(forest))
        return sums

    def _sums(self, x: np.ndarray, forest: int) -> np.ndarray:
        trees = slice(self.starts[forest], self.starts[forest + 1])
        node = np.broadcast_to(self.root[trees], (len(x), len(self.root[trees])))
        rows = np.arange(len(x))[:, None]
        for _ in range(self._depth):
            value = x[rows, self.column[node]]
            left = np.where(np.isnan(value), self.unknown_left[node], value <= self.threshold[node])
            node = self.children[node, np.where(left, 0, 1)]
        one_hot = np.eye(self.baseline.shape[1])[self.output[trees]]  # (trees, outputs)
        sums: np.ndarray = self.baseline[forest] + self.value[node] @ one_hot
        return sums

    @cached_property
    def _depth(self) -> int:
        """How many comparisons lead to the deepest leaf."""
        depth, node = 0, self.root
        while (self.column[node] >= 0).any():
            node, depth = np.unique(self.children[node]), depth + 1
        return depth

    def arrays(self) -> dict[str, np.ndarray]:
        """Everything by a name."""
        return {f"trees.{each.name}": getattr(self, each.name) for each in fields(self)}

    @classmethod
    def build(cls, arrays: dict[str, np.ndarray], n_columns: int) -> Self:
        """The forests that `arrays` came from; refuses nodes that lead nowhere, or in a circle."""
        forests = cls(**{each.name: arrays[f"trees.{each.name}"] for each in fields(cls)})
        nodes, trees = len(forests.column), len(forests.root)
        own = np.arange(nodes)
        leaf = forests.column < 0
        fits = (
            forests.threshold.shape == forests.unknown_left.shape == forests.value.shape == (nodes,)
            and forests.children.shape == (nodes, 2)
            and forests.output.shape == (trees,)
            and forests.starts.shape == (len(forests.baseline) + 1,)
            and forests.known.shape == (len(forests.baseline),)
            and bool(forests.known[0] == 1 and (np.diff(forests.known) > 0).all())
            and bool((np.diff(forests.starts) >= 0).all() and forests.starts[0] == 0 and forests.starts[-1] == trees)
            and bool((forests.column < n_columns).all())
            and bool(((forests.root >= 0) & (forests.root < nodes)).all())
            and bool(((forests.output >= 0) & (forests.output < forests.baseline.shape[1])).all())
            and bool((forests.children[leaf] == own[leaf, None]).all())
            and bool((forests.children[~leaf] > own[~leaf, None]).all() and (forests.children < nodes).all())
        )
        if not fits:
            raise ValueError("the arrays are not those of trees")
        return forests


class BlendedPredictor(Networked, Predictor):
    """The mean of several networks' predictions, blended with those of boosted trees."""

    def __init__(
        self,
        members: Sequence[NetPredictor],
        forests: Forests | None = None,
        *,
        weight: float = 0.0,
        column_feature: np.ndarray | None = None,
    ) -> None:
        self.members = tuple(members)
        self.forests, self.weight = forests, weight  # the trees' share, from 0 to 1
        self.column_feature = column_feature  # (columns,) as in the schema; for the trees

    def predict(self, state: State) -> np.ndarray:
        """(n, classes) probabilities, or (n, 1) means."""
        mean: np.ndarray = np.mean([member.predict(state) for member in self.members], axis=0)
        if self.forests is None or self.column_feature is None:
            return mean
        trees = self.forests(state, self.column_feature)
        if self.members[0].classes:
            trees = softmax(trees)
        known = state.known.any(axis=1, keepdims=True)  # else the members' prior is all there is
        return np.where(known, (1.0 - self.weight) * mean + self.weight * trees, mean)

    def spread(self, state: State) -> np.ndarray | None:
        """(n,) the standard deviation of a regression's prediction: the members' own, and how much they differ."""
        spreads = [member.spread(state) for member in self.members]
        means = np.stack([member.predict(state)[:, 0] for member in self.members])
        variances = [spread**2 for spread in spreads if spread is not None]
        if len(variances) < len(spreads):
            return None
        total: np.ndarray = np.sqrt(np.mean(variances, axis=0) + means.var(axis=0))
        return total

    @property
    def networks(self) -> Sequence[NetworkLike]:
        """Those of all members."""
        return [network for member in self.members for network in member.networks]

    def config(self) -> dict[str, Any]:
        """Those of the members, and the trees' share."""
        return {"members": [member.config() for member in self.members], "weight": float(self.weight)}

    def arrays(self) -> dict[str, np.ndarray]:
        """Those of the members, numbered, and the trees."""
        trees = {} if self.forests is None or self.column_feature is None else self.forests.arrays()
        feature = {} if self.column_feature is None else {"column_feature": self.column_feature}
        return _numbered(self.members) | trees | feature

    @classmethod
    def build(
        cls, config: dict[str, Any], arrays: dict[str, np.ndarray], factory: NetworkFactory | None = None
    ) -> Self:
        """The predictor that `config` and `arrays` came from."""
        parts = enumerate(config["members"])
        members = [NetPredictor.build(part, _of(i, arrays), factory) for i, part in parts]
        column_feature, weight = arrays.get("column_feature"), float(config["weight"])
        if not members or not 0.0 <= weight <= 1.0:
            raise ValueError(f"the blend has {len(members)} members, and trees with a share of {weight}")
        forests = None
        if column_feature is not None:
            forests = Forests.build(arrays, len(column_feature))
            if forests.baseline.shape[1] != len(members[0].prior):
                raise ValueError("the trees and the networks predict different things")
        return cls(members, forests, weight=weight, column_feature=column_feature)
