"""What an interview is made of: questions, events, and the moments between them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from askless.core.progress import Progress
from askless.core.schema import Question

__all__ = ["AnswerCodec", "Event", "Moment", "Question", "last_said"]


class AnswerCodec(Protocol):
    """Turns one answer into encoded columns."""

    def encode_answer(self, feature: int, answer: Any) -> np.ndarray | None:
        """The encoded columns of the feature; None where the answer says nothing (missing, an unseen category)."""
        ...


@dataclass(frozen=True)
class Event:
    """One line of an interview's history."""

    action: str  # "answer", "unknown", "later" or "tell"
    feature: str
    value: Any
    cost: float
    prediction: dict[Any, float] = field(default_factory=dict)  # after the event


def last_said(history: Iterable[Event], feature: str) -> Any:
    """What was said last of a feature; None where nothing was, or that it is not known. A delay says nothing."""
    values = [event.value for event in history if event.feature == feature and event.action != "later"]
    return values[-1] if values else None


@dataclass
class Moment:
    """The interview between two events; `undo` goes back to the moment before."""

    progress: Progress  # of a batch of one case
    postponed: tuple[int, ...]
    happened: tuple[str, int, Any, float]  # action, feature, value and cost of the event that led here
    void: str = ""  # why a certified rule is not used any more
    between: tuple[Moment, ...] = ()  # of events that were recorded together with the last, the oldest first
    decision: tuple[int, int] | None = None  # what to ask and which rule stopped, -1 for none; computed once
