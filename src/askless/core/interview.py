"""The roll-out of one live case, where a person or a program answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from askless.core.costs import CostModel
from askless.core.protocols import Policy, Predictor, refuse_truth
from askless.core.rollout import decide
from askless.core.schema import Feature, Part, Schema
from askless.core.state import State
from askless.core.stopping import Progress, StoppingRule, as_rules, stop_reason
from askless.exceptions import InterviewError

__all__ = ["AnswerCodec", "Event", "Interview", "Question"]


class AnswerCodec(Protocol):
    """Turns one answer into encoded columns."""

    def encode_answer(self, feature: int, answer: Any) -> np.ndarray | None:
        """The encoded columns of the feature; None where the answer says nothing (missing, an unseen category)."""
        ...


@dataclass(frozen=True)
class Question:
    """What to ask: a feature and its price."""

    name: str
    kind: str  # "number", "category", "boolean" or "group"
    choices: tuple[Any, ...] | None  # of a category
    cost: float
    parts: tuple[Part, ...]  # the columns that make up a group; one otherwise


@dataclass(frozen=True)
class Event:
    """One line of an interview's history."""

    action: str  # "answer", "unknown", "later" or "tell"
    feature: str
    value: Any
    cost: float
    prediction: dict[Any, float] = field(default_factory=dict)  # after the event


@dataclass(frozen=True)
class _Moment:
    """The interview between two events; `undo` goes back to the moment before."""

    state: State  # a batch of one
    count: int = 0
    spent: float = 0.0
    postponed: tuple[int, ...] = ()
    history: tuple[Event, ...] = field(default=())


class Interview:
    """Asks one case, question by question.

    Made by an estimator's `interview` method. Nothing is ever changed in place: each event leads to a new moment,
    so that `undo` can return to the one before.
    """

    def __init__(
        self,
        policy: Policy,
        predictor: Predictor,
        schema: Schema,
        codec: AnswerCodec,
        *,
        costs: CostModel,
        stopping: StoppingRule | Sequence[StoppingRule] | None,
        describe: Callable[[np.ndarray, State], dict[Any, float]],
        known: Mapping[str, Any] | None = None,
        unavailable: Iterable[str] = (),
    ) -> None:
        refuse_truth(policy)
        self._policy, self._predictor = policy, predictor
        self._schema, self._codec = schema, codec
        self._costs, self._rules, self._describe = costs, as_rules(stopping), describe
        blocked = np.zeros((1, len(schema)), dtype=bool)
        for name in unavailable:
            blocked[0, schema.index(name)] = True
        self._available = ~blocked
        empty = State(
            np.zeros((1, schema.n_columns), dtype=np.float32),
            np.zeros((1, len(schema)), dtype=bool),
            np.zeros((1, len(schema)), dtype=bool),
        )
        self._past: list[_Moment] = []
        self._enter(_Moment(empty))
        for name, value in (known or {}).items():
            self.tell(name, value)
        self._past.clear()

    # What a caller reads

    @property
    def question(self) -> Question | None:
        """The next question; None when the interview is done."""
        if self._pick < 0:
            return None
        feature = self._schema.features[self._pick]
        price = float(self._costs.prices(self._now.state)[0, self._pick])
        return Question(feature.name, feature.kind, feature.choices, price, feature.parts)

    @property
    def prediction(self) -> dict[Any, float]:
        """{class: probability}, or {"mean": .., "sd": ..}, from what is known so far."""
        return self._describe(self._output, self._now.state)

    @property
    def done(self) -> bool:
        """Whether there is no further question."""
        return self._pick < 0

    @property
    def stop_reason(self) -> str | None:
        """Why there is no further question; None while there is one."""
        return self._stop_reason if self.done else None

    @property
    def history(self) -> tuple[Event, ...]:
        """What has happened so far, oldest first."""
        return self._now.history

    @property
    def cost(self) -> float:
        """What the questions asked so far cost."""
        return self._now.spent

    # What a caller does

    def answer(self, value: Any) -> None:
        """Answer the question: a value, or for a group a mapping from each column's name to its value."""
        feature = self._asked_feature()
        columns = self._encode(feature, value)
        action = "unknown" if columns is None else "answer"  # a category that training has not seen tells nothing
        self._advance(action, feature, columns, value, paid=True)

    def unknown(self) -> None:
        """The answer cannot be had: the question counts and is not asked again, and nothing is learned."""
        self._advance("unknown", self._asked_feature(), None, None, paid=True)

    def later(self) -> None:
        """Postpone the question until nothing else is left to ask."""
        index = self._schema.index(self._asked_feature().name)
        now = self._now
        others = tuple(i for i in now.postponed if i != index)
        self._past.append(now)
        self._enter(replace(now, postponed=(*others, index)), Event("later", self._schema.names[index], None, 0.0))

    def tell(self, name: str, value: Any) -> None:
        """Record a value that was not asked for, or correct an earlier answer; it costs nothing."""
        feature = self._schema.features[self._schema.index(name)]
        self._advance("tell", feature, self._encode(feature, value), value, paid=False)

    def undo(self) -> None:
        """Take back the last answer, unknown, later or tell."""
        if not self._past:
            raise InterviewError("there is nothing to undo")
        self._enter(self._past.pop())

    # How it works

    def _asked_feature(self) -> Feature:
        if self._pick < 0:
            raise InterviewError(f"the interview is done ({self._stop_reason}); there is no question to answer")
        return self._schema.features[self._pick]

    def _encode(self, feature: Feature, value: Any) -> np.ndarray | None:
        return self._codec.encode_answer(self._schema.index(feature.name), value)

    def _advance(self, action: str, feature: Feature, columns: np.ndarray | None, value: Any, *, paid: bool) -> None:
        now, index = self._now, self._schema.index(feature.name)
        x, asked, known = now.state.x.copy(), now.state.asked.copy(), now.state.known.copy()
        x[0, feature.start : feature.stop] = 0.0 if columns is None else columns
        asked[0, index] = True
        known[0, index] = columns is not None
        price = float(self._costs.prices(now.state)[0, index]) if paid else 0.0
        moment = _Moment(
            State(x, asked, known),
            now.count + paid,
            now.spent + price,
            tuple(i for i in now.postponed if i != index),
            now.history,
        )
        self._past.append(now)
        self._enter(moment, Event(action, feature.name, value, price))

    def _enter(self, moment: _Moment, event: Event | None = None) -> None:
        """Make `moment` the present one, with what led to it, and decide what to ask."""
        self._output = self._predictor.predict(moment.state)
        if event is not None:
            told = replace(event, prediction=self._describe(self._output, moment.state))
            moment = replace(moment, history=(*moment.history, told))
        self._now = moment
        progress = Progress(moment.state, np.array([moment.count]), np.array([moment.spent]), self._output)
        allowed = self._available & ~moment.state.asked
        fresh = allowed.copy()
        fresh[0, list(moment.postponed)] = False
        if fresh.any():
            pick, fired = decide(self._policy, progress, fresh, self._costs, self._rules)
        else:  # what was postponed comes back, the longest postponed first
            pick, fired = decide(self._policy, progress, allowed, self._costs, self._rules)
            if pick[0] >= 0 and moment.postponed:
                pick = np.array([moment.postponed[0]])
        self._pick = int(pick[0])
        self._stop_reason = stop_reason(self._rules, int(fired[0]))
