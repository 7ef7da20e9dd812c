"""What a roll-out returns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from askless.exceptions import ParameterError

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Trajectory:
    """The questions asked of n cases, and what was predicted on the way; k is the longest path."""

    order: np.ndarray  # (n, k) feature indices in the order asked, -1 where stopped
    predictions: np.ndarray  # (n, k + 1, outputs): before the first question, and after each answer
    cost: np.ndarray  # (n, k + 1) spent so far
    stop_reason: np.ndarray  # (n,) of str
    feature_names: tuple[str, ...]  # of all features, asked or not
    outputs: tuple[Any, ...] = ()  # class labels, or ("mean",)
    sd: np.ndarray | None = None  # (n,) the standard deviation of the last prediction, of regressions that tell it

    def __len__(self) -> int:
        return len(self.order)

    @property
    def n_asked(self) -> np.ndarray:
        """(n,) how many questions each case was asked."""
        return np.sum(self.order >= 0, axis=1)

    def at(self, k: int) -> np.ndarray:
        """(n, outputs), the predictions after at most k answers: a case that stopped earlier keeps its last."""
        if k < 0:
            raise ParameterError(
                "out_of_range", f"the number of answers must be at least 0, not {k}", name="k", value=k, low=0
            )
        return self.predictions[:, min(k, self.order.shape[1])]

    def selected(self, k: int) -> np.ndarray:
        """(n, features) bool: what was asked within the first k questions."""
        asked = np.zeros((len(self), len(self.feature_names)), dtype=bool)
        rows, steps = np.nonzero(self.order[:, :k] >= 0)
        asked[rows, self.order[rows, steps]] = True
        return asked

    def names(self, row: int) -> list[str]:
        """The names of the features asked of one case, in order."""
        return [self.feature_names[i] for i in self.order[row] if i >= 0]

    @classmethod
    def join(cls, parts: Sequence[Trajectory]) -> Trajectory:
        """The trajectories of several batches as one; a shorter path keeps its last prediction and cost."""
        longest = max(part.order.shape[1] for part in parts)
        missing = [longest - part.order.shape[1] for part in parts]
        steps = [np.arange(longest + 1).clip(max=part.order.shape[1]) for part in parts]
        return replace(
            parts[0],
            order=np.concatenate(
                [np.pad(p.order, ((0, 0), (0, m)), constant_values=-1) for p, m in zip(parts, missing, strict=True)]
            ),
            predictions=np.concatenate([p.predictions[:, s] for p, s in zip(parts, steps, strict=True)]),
            cost=np.concatenate([p.cost[:, s] for p, s in zip(parts, steps, strict=True)]),
            stop_reason=np.concatenate([p.stop_reason for p in parts]),
            sd=None if any(p.sd is None for p in parts) else np.concatenate([p.sd for p in parts]),
        )

    def frame(self) -> pd.DataFrame:
        """One row for each case and answer: case, step, feature, cost so far, and the prediction's outputs.

        The column `sd` of a regression is filled in each case's last row: it is known of the last prediction only.
        """
        import pandas as pd

        rows, steps = np.nonzero(np.column_stack([np.ones(len(self), dtype=bool), self.order >= 0]))
        names = np.array([*self.feature_names, None], dtype=object)  # index -1: nothing asked yet
        before = np.column_stack([np.full(len(self), -1), self.order])
        frame = pd.DataFrame(
            {
                "case": rows,
                "step": steps,
                "feature": names[before[rows, steps]],
                "cost": self.cost[rows, steps],
            }
        )
        labels = self.outputs or tuple(range(self.predictions.shape[2]))
        for j, label in enumerate(labels):
            name = "mean" if self.outputs == ("mean",) else f"p({label})"  # a class may be called "cost"
            frame[name] = self.predictions[rows, steps, j]
        if self.sd is not None:
            frame["sd"] = np.where(steps == self.n_asked[rows], self.sd[rows], np.nan)
        return frame
