"""Stop when no answer is likely to change the decision."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from askless.core.numbers import checked_number
from askless.core.progress import Progress
from askless.core.stopping.base import Rule, called, rule_name
from askless.exceptions import ParameterError

__all__ = ["DecisionStable"]

CASES_AT_ONCE = 512  # so that what is imagined of them stays in memory


@dataclass(frozen=True)
class DecisionStable(Rule):
    """Stop once no open question has an answer that changes the decision with more than this probability.

    The decision is the most probable class; for a regression, it changes where the mean moves by more than
    `tolerance`. Answers are imagined from the model's stored rows (`core/reference.py`), one question at a time. It
    looks at `draws` answers to every question, which makes it much slower than the other rules.
    """

    chance: float = 0.05
    tolerance: float | None = None
    draws: int = 64

    def __post_init__(self) -> None:
        set_ = object.__setattr__
        set_(
            self,
            "chance",
            checked_number(self.chance, "the chance of another decision", low=0, high=1, name="chance"),
        )
        set_(self, "draws", checked_number(self.draws, "the number of draws", low=1, whole=True, name="draws"))
        if self.tolerance is not None:
            set_(self, "tolerance", checked_number(self.tolerance, "the tolerance", low=0, name="tolerance"))

    @property
    def reason(self) -> str:
        """That the decision stands."""
        return f"no answer changes the decision with a probability above {self.chance:g}"

    def check(self, task: str, *, stored: bool, informative: bool) -> None:
        """It needs stored rows, and for a regression a tolerance."""
        if not stored:
            raise ParameterError(
                "not_supported",
                f"{called(self)} draws answers from stored rows, and this model has none; see `reference_rows`",
                name=rule_name(type(self)),
                needed="reference_rows",
            )
        if task == "regression" and self.tolerance is None:
            raise ParameterError(
                "required",
                f"for a regression {called(self)} needs a tolerance: by how much the mean may change",
                name="tolerance",
            )

    def stops(self, progress: Progress) -> np.ndarray:
        """True once the decision stands, whatever of what is left is asked next; numpy only."""
        who, prediction = progress.who, progress.prediction
        task = "regression" if prediction.shape[1] == 1 else "classification"
        self.check(task, stored=who.reference is not None, informative=who.informative)
        assert who.reference is not None
        spread, open_ = progress.spread, progress.open
        stops: np.ndarray = np.any(open_, axis=1)
        for start in range(0, len(stops), CASES_AT_ONCE):
            some = np.arange(start, min(start + CASES_AT_ONCE, len(stops)))
            if not open_[some].any():
                continue
            rows = who.reference.draw(prediction[some], None if spread is None else spread[some], self.draws)
            state = progress.state[some]
            case, _, after = who.reference.outcomes(who.predictor, state, rows, open_[some], who.schema)
            now = prediction[some][case]
            if prediction.shape[1] == 1:
                other = np.abs(after[:, :, 0] - now) > self.tolerance  # (pairs, draws)
            else:
                other = after.argmax(axis=2) != now.argmax(axis=1)[:, None]
            stops[some[case[other.mean(axis=1) > self.chance]]] = False
        return stops
