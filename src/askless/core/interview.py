"""The roll-out of one live case, where a person or a program answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from askless.core.choice import ceiling_of, choose
from askless.core.costs import CostModel
from askless.core.protocols import Policy, Predictor, refuse_truth
from askless.core.schema import Part, Schema
from askless.core.state import State
from askless.core.stopping import StoppingRule, as_rules, first_stop_of_one, stop_reason
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


@dataclass(slots=True)
class _Moment:
    """The interview between two events; `undo` goes back to the moment before."""

    state: State  # a batch of one
    output: np.ndarray  # (1, outputs) the prediction
    count: int
    spent: float
    ceiling: np.ndarray  # (features,) infinity where a feature may be asked, else minus infinity
    left: int  # how many may be asked
    postponed: tuple[int, ...]
    happened: tuple[str, int, Any, float]  # action, feature, value and cost of the event that led here
    pick: int = -1  # what to ask now
    fired: int = -1  # the rule that stopped the interview


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
        allowed = np.ones(len(schema), dtype=bool)
        for name in unavailable:
            allowed[schema.index(name)] = False
        nothing = np.zeros((1, len(schema)), dtype=bool)
        empty = State(np.zeros((1, schema.n_columns), dtype=np.float32), nothing, nothing)
        self._fixed = costs.prices(empty)[0].tolist() if getattr(costs, "fixed", False) else None
        output = predictor.predict(empty)
        ceiling = ceiling_of(allowed, empty.x)
        self._past: list[_Moment] = []
        self._now = _Moment(empty, output, 0, 0.0, ceiling, int(allowed.sum()), (), ("", -1, None, 0.0))
        self._decide()
        for name, value in (known or {}).items():
            self.tell(name, value)
        self._given = len(self._past)  # moments that cannot be undone

    # What a caller reads

    @property
    def question(self) -> Question | None:
        """The next question; None when the interview is done."""
        pick = self._now.pick
        if pick < 0:
            return None
        feature = self._schema.features[pick]
        return Question(feature.name, feature.kind, feature.choices, self._price(pick), feature.parts)

    @property
    def prediction(self) -> dict[Any, float]:
        """{class: probability}, or {"mean": .., "sd": ..}, from what is known so far."""
        now = self._now
        return self._describe(now.output, now.state)

    @property
    def done(self) -> bool:
        """Whether there is no further question."""
        return self._now.pick < 0

    @property
    def stop_reason(self) -> str | None:
        """Why there is no further question; None while there is one."""
        return stop_reason(self._rules, self._now.fired) if self.done else None

    @property
    def history(self) -> tuple[Event, ...]:
        """What has happened so far, oldest first."""
        return tuple(self._event(moment) for moment in (*self._past, self._now)[1:])

    @property
    def cost(self) -> float:
        """What the questions asked so far cost."""
        return self._now.spent

    # What a caller does

    def answer(self, value: Any) -> None:
        """Answer the question: a value, or for a group a mapping from each column's name to its value."""
        index = self._asked()
        columns = self._codec.encode_answer(index, value)
        action = "unknown" if columns is None else "answer"  # a category that training has not seen tells nothing
        self._advance(action, index, columns, value, paid=True)

    def unknown(self) -> None:
        """The answer cannot be had: the question counts and is not asked again, and nothing is learned."""
        self._advance("unknown", self._asked(), None, None, paid=True)

    def later(self) -> None:
        """Postpone the question until nothing else is left to ask."""
        index, now = self._asked(), self._now
        postponed = (*(i for i in now.postponed if i != index), index)
        happened = ("later", index, None, 0.0)
        self._enter(_Moment(now.state, now.output, now.count, now.spent, now.ceiling, now.left, postponed, happened))

    def tell(self, name: str, value: Any) -> None:
        """Record a value that was not asked for, or correct an earlier answer; it costs nothing."""
        index = self._schema.index(name)
        self._advance("tell", index, self._codec.encode_answer(index, value), value, paid=False)

    def record(self, answers: Mapping[str, Any]) -> None:
        """Take over answers to questions that were put elsewhere, in the order given: they count and they cost.

        None stands for "unknown". What to ask next is decided once, in the end, and `undo` takes all of them back.
        """
        events = [(self._schema.index(name), value) for name, value in answers.items()]
        told = [None if value is None else self._codec.encode_answer(index, value) for index, value in events]
        if not events:
            return
        before = self._now
        try:
            for (index, value), columns in zip(events, told, strict=True):
                action = "unknown" if columns is None else "answer"
                self._now = self._after(action, index, columns, value, paid=True)
            self._now.output = self._predictor.predict(self._now.state)
            self._decide()
        except BaseException:
            self._now = before
            raise
        self._past.append(before)

    def undo(self) -> None:
        """Take back the last answer, unknown, later or tell."""
        if len(self._past) == self._given:
            raise InterviewError("there is nothing to undo")
        self._now = self._past.pop()

    def copy(self) -> Interview:
        """An interview that stands where this one does; from here on each goes its own way."""
        twin = object.__new__(Interview)
        twin.__dict__.update(self.__dict__, _past=list(self._past))
        return twin

    # How it works

    def _asked(self) -> int:
        pick = self._now.pick
        if pick < 0:
            raise InterviewError(f"the interview is done ({self.stop_reason}); there is no question to answer")
        return pick

    def _price(self, index: int) -> float:
        return float(self._costs.prices(self._now.state)[0, index]) if self._fixed is None else self._fixed[index]

    def _event(self, moment: _Moment) -> Event:
        action, index, value, price = moment.happened
        return Event(
            action, self._schema.features[index].name, value, price, self._describe(moment.output, moment.state)
        )

    def _advance(self, action: str, index: int, columns: np.ndarray | None, value: Any, *, paid: bool) -> None:
        moment = self._after(action, index, columns, value, paid=paid)
        moment.output = self._predictor.predict(moment.state)
        self._enter(moment)

    def _after(self, action: str, index: int, columns: np.ndarray | None, value: Any, *, paid: bool) -> _Moment:
        """The moment after an event, with the prediction of the moment before."""
        now, feature = self._now, self._schema.features[index]
        price = self._price(index) if paid else 0.0
        ceiling, left = now.ceiling, now.left
        if ceiling[index] > 0.0:
            ceiling, left = ceiling.copy(), left - 1
            ceiling[index] = -np.inf
            state = now.state.answered(index, feature.start, feature.stop, columns)
        else:  # told before, or unavailable
            state = now.state.corrected(index, feature.start, feature.stop, columns)
        postponed = now.postponed
        if postponed:
            postponed = tuple(i for i in postponed if i != index)
        happened = (action, index, value, price)
        return _Moment(state, now.output, now.count + paid, now.spent + price, ceiling, left, postponed, happened)

    def _enter(self, moment: _Moment) -> None:
        """Make `moment` the present one and decide what to ask."""
        before = self._now
        self._now = moment
        try:
            self._decide()
        except BaseException:
            self._now = before
            raise
        self._past.append(before)

    def _decide(self) -> None:
        now = self._now
        now.fired = first_stop_of_one(self._rules, now.state, now.count, now.spent, now.output)
        if now.fired >= 0 or not now.left:
            return
        if now.left == len(now.postponed):  # what was postponed comes back, the longest postponed first
            now.pick = now.postponed[0]
            return
        ceiling = now.ceiling
        if now.postponed:
            ceiling = ceiling.copy()
            ceiling[list(now.postponed)] = -np.inf
        now.pick = choose(self._policy, now.state, ceiling, self._costs)
