"""The last line of a fit: score, first question and time."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from askless.acquisition import Trajectory
    from askless.cli.scores import Scores

__all__ = ["Clock", "in_a_few_words"]


class Clock:
    """The seconds that each step of a command took."""

    def __init__(self) -> None:
        self._start = time.perf_counter()
        self._steps: dict[str, float] = {}

    def stop(self, step: str) -> None:
        """End a step, which began when the previous step ended or the clock was made."""
        now = time.perf_counter()
        self._steps[step] = now - self._start
        self._start = now

    def __str__(self) -> str:
        """For example: 12 s (reading 1 s, training 10 s, scoring 1 s)."""
        steps = ", ".join(f"{step} {seconds:.0f} s" for step, seconds in self._steps.items())
        return f"{sum(self._steps.values()):.0f} s ({steps})"


def in_a_few_words(trajectory: Trajectory, scores: Scores | None) -> str:
    """The score at the budget and the first question, with a semicolon at the end."""
    parts = []
    if scores is not None:
        last = scores.frame.iloc[-1]
        parts.append(f"{scores.metric.label} {last.score:.3f} with at most {last.budget:.0f} questions")
    asked = trajectory.order[:, 0] if trajectory.order.shape[1] else trajectory.order[:, :0].ravel()
    if (asked >= 0).any():
        first = trajectory.feature_names[int(np.bincount(asked[asked >= 0]).argmax())]
        parts.append(f"first question: {first}")
    return "".join(f"{part}; " for part in parts)
