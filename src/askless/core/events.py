"""What an interview is made of: questions, events, and the moments between them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from askless.core.candidates import Ranking
from askless.core.schema import Question
from askless.core.state import State

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


@dataclass(slots=True)
class Moment:
    """The interview between two events; `undo` goes back to the moment before."""

    state: State  # a batch of one
    output: np.ndarray  # (1, outputs) the prediction
    count: int
    spent: float
    ceiling: np.ndarray  # (features,) infinity where a feature may be asked, else minus infinity
    left: int  # how many may be asked
    postponed: tuple[int, ...]
    given: tuple[int, ...]  # what was told without being asked, and not paid for
    happened: tuple[str, int, Any, float]  # action, feature, value and cost of the event that led here
    pick: int = -1  # what to ask now
    fired: int = -1  # the rule that stopped the interview
    scores: np.ndarray | None = None  # (features,) of the policy, where they were computed alone
    between: tuple[Moment, ...] = ()  # of events that were recorded together with the last, the oldest first
    void: str = ""  # why a certified rule is not used any more
    ranking: Ranking | None = None  # what the pick was chosen by; made when somebody looks, where scores say it all
