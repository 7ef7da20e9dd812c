"""The roll-out of one live case, where a person or a program answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from askless.acquisition.batches import choose_batch
from askless.acquisition.choice import Candidate, decide, narrowed, ranked_candidates, without
from askless.acquisition.numbers import is_whole
from askless.acquisition.policy import refuse_truth
from askless.acquisition.progress import Context, Progress
from askless.acquisition.rollout import Missing
from askless.acquisition.schema import Question
from askless.acquisition.state import State
from askless.acquisition.stopping import StoppingRule, as_rules, stop_reason
from askless.acquisition.stopping.certified import not_used
from askless.exceptions import InterviewError


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


class Interview:
    """Asks one case, question by question.

    Made by an estimator's `interview` method. Nothing is ever changed in place: each event leads to a new moment,
    so that `undo` can return to the one before.
    """

    def __init__(
        self,
        context: Context,
        codec: AnswerCodec,
        *,
        stopping: StoppingRule | Sequence[StoppingRule] | None,
        describe: Callable[[np.ndarray, State], dict[Any, float]],
        known: Mapping[str, Any] | None = None,
        unavailable: Iterable[str] = (),
        missing: Missing = "skip",
    ) -> None:
        refuse_truth(context.policy)
        known = checked_known(known)
        check_unavailable(unavailable)
        schema = context.schema
        self._context, self._codec, self._schema, self._missing = context, codec, schema, missing
        self._rules, self._describe = as_rules(stopping), describe
        allowed = np.ones((1, len(schema)), dtype=bool)
        for name in unavailable:
            allowed[0, schema.index(name)] = False
        state = State.empty(1, schema)
        nothing = Progress(
            state=state,
            count=np.zeros(1, dtype=np.int64),
            spent=np.zeros(1),
            prediction=context.predictor.predict(state),
            context=context,
            allowed=allowed,
            given=np.zeros_like(allowed),
        )
        self._past: list[Moment] = []
        self._now = Moment(nothing, (), ("", -1, None, 0.0))
        for name, value in known.items():
            index = schema.index(name)
            self._advance("tell", index, codec.encode_answer(index, value), value, None)
        self._given = len(self._past)  # moments that cannot be undone

    # What a caller reads

    @property
    def question(self) -> Question | None:
        """The next question; None when the interview is done."""
        pick, _ = self._decision(self._now)
        return None if pick < 0 else self._schema.question(pick, self._price(self._now, pick))

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        """What could be asked now, the chosen one first, with scores, information and prices; empty when done.

        What was postponed is left out until nothing else is left.
        """
        return self.leading(None)

    @property
    def fixed_order(self) -> bool:
        """Whether the answers do not change the order of the questions: scores then mean nothing but that order."""
        return self._context.policy.fixed_order

    @property
    def postponed(self) -> tuple[str, ...]:
        """What was postponed and has not been asked since, the longest postponed first."""
        return tuple(self._schema.names[i] for i in self._now.postponed)

    def leading(self, most: int | None) -> tuple[Candidate, ...]:
        """The first so many of the `candidates`."""
        now = self._now
        pick, _ = self._decision(now)
        if pick < 0:
            return ()
        allowed, _ = narrowed(now.progress, self._rules_of(now))
        others = without(allowed, now.postponed)
        return ranked_candidates(now.progress, others if others.any() else allowed, first=pick, most=most)

    def batch(self, size: int) -> tuple[Question, ...]:
        """The best features to ask at once, chosen together; `answers` takes the answers. Empty when done."""
        if not is_whole(size) or size < 1:
            message = f"size must be an integer of at least 1, not {size!r}"
            raise InterviewError("out_of_range", message, name="size", value=size, low=1)
        question = self.question
        if question is None or size == 1:
            return () if question is None else (question,)
        progress = self._now.progress.narrowed(without(self._now.progress.open, self._now.postponed))
        members, _ = choose_batch(progress, not_used(self.rules, "features were asked in batches"), int(size))
        questions = tuple(self._schema.question(int(pick[0]), float(price[0])) for pick, price in members)
        return questions or (question,)  # where all that is left was postponed, or repeats what is known

    @property
    def prediction(self) -> dict[Any, float]:
        """{class: probability}, or {"mean": .., "sd": ..}, from what is known so far."""
        now = self._now.progress
        return self._describe(now.prediction, now.state)

    @property
    def done(self) -> bool:
        """Whether there is no further question."""
        return self._decision(self._now)[0] < 0

    @property
    def stop_reason(self) -> str | None:
        """Why there is no further question; None while there is one."""
        return stop_reason(self.rules, self._decision(self._now)[1]) if self.done else None

    @property
    def history(self) -> tuple[Event, ...]:
        """What has happened so far, oldest first."""
        events = []
        for moment in (each for now in (*self._past, self._now)[1:] for each in (*now.between, now)):
            action, index, value, price = moment.happened
            prediction = self._describe(moment.progress.prediction, moment.progress.state)
            events.append(Event(action, self._schema.names[index], value, price, prediction))
        return tuple(events)

    @property
    def count(self) -> int:
        """How many questions were asked so far."""
        return int(self._now.progress.count[0])

    @property
    def rules(self) -> tuple[StoppingRule, ...]:
        """What stops the interview; the first rule to fire gives the reason."""
        return self._rules_of(self._now)

    @property
    def cost(self) -> float:
        """What the questions asked so far cost."""
        return float(self._now.progress.spent[0])

    # What a caller does

    def answer(self, value: Any) -> None:
        """Answer the question: a value, or for a group a mapping from each column's name to its value."""
        index = self._asked()
        columns = self._codec.encode_answer(index, value)
        action = "unknown" if columns is None else "answer"  # a category that training has not seen tells nothing
        self._advance(action, index, columns, value, self._price(self._now, index))

    def answers(self, values: Mapping[str, Any]) -> None:
        """Answer several features by name, such as those of a `batch`; None is unknown. Each is asked and paid.

        Each costs what it did before the answers to the others were there. Nothing is recorded where one of them
        cannot be asked, or its value is not one.
        """
        if not isinstance(values, Mapping):
            message = f"answers must be a mapping from features to values, not {values!r}"
            raise InterviewError("wrong_type", message, name="values", value=values)
        encoded = []
        for name, value in values.items():
            index = self._open(name)
            encoded.append((index, None if value is None else self._codec.encode_answer(index, value), value))
        prices = self._prices_together([index for index, _, _ in encoded])
        together = f"{len(encoded)} features were answered together" if len(encoded) > 1 else ""
        for (index, columns, value), price in zip(encoded, prices, strict=True):
            void = together or self._out_of_turn(self._now, index)
            self._advance("unknown" if columns is None else "answer", index, columns, value, price, void)

    def unknown(self) -> None:
        """The answer cannot be had: the question counts and is not asked again, and nothing is learned.

        With `missing="skip"`, a certified rule is not used from here on: its cases had an answer to every question.
        """
        index = self._asked()
        self._advance("unknown", index, None, None, self._price(self._now, index))

    def later(self, name: str | None = None) -> None:
        """Postpone the question, or the feature of that name, until nothing else is left to ask."""
        index, now = self._asked() if name is None else self._open(name), self._now
        postponed = (*(i for i in now.postponed if i != index), index)
        happened = ("later", index, None, 0.0)
        void = now.void or f"{self._schema.names[index]!r} was postponed"
        self._enter(Moment(now.progress, postponed, happened, void))

    def tell(self, name: str, value: Any) -> None:
        """Record a value that was not asked for, or correct an earlier answer; it costs nothing."""
        index = self._schema.index(name)
        what = "corrected" if self._now.progress.state.asked[0, index] else "told without being asked"
        self._advance("tell", index, self._codec.encode_answer(index, value), value, None, f"{name!r} was {what}")

    def record(self, answers: Mapping[str, Any]) -> None:
        """Take over answers to questions that were put elsewhere, in the order given: they count and they cost.

        None stands for "unknown". `undo` takes all of them back.
        What was asked before is refused.
        """
        events = [(self._schema.index(name), value) for name, value in answers.items()]
        asked = {event.feature for event in self.history if event.action in ("answer", "unknown")}
        for index, _ in events:
            if (name := self._schema.names[index]) in asked:
                message = f"{name!r} was asked before; correct its answer with `tell`"
                raise InterviewError("cannot_ask", message, feature=name)
        encoded = [None if value is None else self._codec.encode_answer(index, value) for index, value in events]
        if not events:
            return
        moments = [self._now]
        for (index, value), columns in zip(events, encoded, strict=True):
            before = moments[-1]
            action, price = "unknown" if columns is None else "answer", self._price(before, index)
            void = self._out_of_turn(before, index)
            moments.append(self._after(before, action, index, columns, value, price, void))
        _, *between, last = moments
        last.between = tuple(between)
        self._enter(last)

    @property
    def can_undo(self) -> bool:
        """Whether there is something to take back: what was known beforehand is not."""
        return len(self._past) > self._given

    def undo(self) -> None:
        """Take back the last answer, unknown, later or tell."""
        if not self.can_undo:
            raise InterviewError("nothing_to_undo", "there is nothing to undo")
        self._now = self._past.pop()

    def copy(self) -> Interview:
        """An interview that stands where this one does; from here on each goes its own way."""
        copy = object.__new__(Interview)
        copy.__dict__.update(self.__dict__, _past=list(self._past))
        return copy

    # How it works

    def _asked(self) -> int:
        if self.done:
            message = f"the interview is done ({self.stop_reason}); there is no question to answer"
            raise InterviewError("interview_done", message, reason=self.stop_reason)
        return self._decision(self._now)[0]

    def _rules_of(self, moment: Moment) -> tuple[StoppingRule, ...]:
        return not_used(self._rules, moment.void) if moment.void else self._rules

    def _decision(self, moment: Moment) -> tuple[int, int]:
        """What to ask next, and which rule stopped the interview; -1 for none."""
        if moment.decision is None:
            pick, fired = decide(moment.progress, self._rules_of(moment), moment.postponed)
            moment.decision = int(pick[0]), int(fired[0])
        return moment.decision

    def _out_of_turn(self, before: Moment, index: int) -> str:
        """Why a certified rule is not used once this feature is asked; empty where it is the next question."""
        if not any(rule.promises for rule in self._rules):
            return ""
        pick, _ = self._decision(before)
        if index == pick:
            return ""
        names = self._schema.names
        return f"{names[index]!r} was asked " + ("after the end" if pick < 0 else f"instead of {names[pick]!r}")

    def _open(self, name: str) -> int:
        """The position of a feature that may still be asked."""
        index = self._schema.index(name)
        if not self._now.progress.open[0, index]:
            message = f"{name!r} cannot be asked: it was asked before or is unavailable; use `tell`"
            raise InterviewError("cannot_ask", message, feature=name)
        return index

    def _price(self, moment: Moment, index: int) -> float:
        """What the feature costs if it comes next."""
        return float(moment.progress.prices[0, index])

    def _prices_together(self, indices: Sequence[int]) -> list[float]:
        """What each feature costs after those before it are ordered, and not answered yet."""
        progress, prices = self._now.progress, []
        for index in indices:
            prices.append(float(progress.prices[0, index]))
            asked = progress.state.asked.copy()
            asked[0, index] = True
            progress = progress.changed(state=State(progress.state.x, asked, progress.state.known))
        return prices

    def _advance(
        self, action: str, index: int, columns: np.ndarray | None, value: Any, price: float | None, void: str = ""
    ) -> None:
        self._enter(self._after(self._now, action, index, columns, value, price, void))

    def _after(
        self,
        now: Moment,
        action: str,
        index: int,
        columns: np.ndarray | None,
        value: Any,
        price: float | None,
        void: str,
    ) -> Moment:
        """The moment after an event; a price of None is for a value that was not asked for.

        `void` says why a certified rule does not hold after this event, if it does not.
        """
        before, feature, paid = now.progress, self._schema.features[index], price is not None
        state = before.state.with_answer(index, feature.start, feature.stop, columns)
        allowed, given = before.open.copy(), np.array(before.given)
        allowed[0, index] = False
        given[0, index] = not paid and (given[0, index] or not before.state.asked[0, index])
        progress = before.changed(
            state=state,
            count=before.count + paid,
            spent=before.spent + (price or 0.0),
            prediction=self._context.predictor.predict(state),
            allowed=allowed,
            given=given,
        )
        if type(value) is dict:
            value = value.copy()  # the caller's own may change
        if action == "unknown" and self._missing == "skip":  # of the cases of a certification, nothing was unknown
            void = void or f"the answer to {feature.name!r} was unknown"
        postponed = tuple(i for i in now.postponed if i != index)
        return Moment(progress, postponed, (action, index, value, price or 0.0), now.void or void)

    def _enter(self, moment: Moment) -> None:
        """Make `moment` the present one."""
        self._past.append(self._now)
        self._now = moment


def checked_known(known: Any) -> Mapping[str, Any]:
    """A roll-out's `known` is a list of names, as the table has the values; an interview needs the values."""
    if hasattr(known, "to_dict") and not isinstance(known, Mapping):  # a pandas Series
        known = known.to_dict()
    if known is not None and not isinstance(known, Mapping):
        message = f"known must be a mapping from features to values, such as {{'age': 71}}, not {known!r}"
        raise InterviewError("wrong_type", message, name="known", value=known)
    return known or {}


def check_unavailable(unavailable: Any) -> None:
    """Refuse a single name, whose letters would be taken for names."""
    if isinstance(unavailable, str):
        message = (
            f"unavailable must be a list of feature names, such as [{unavailable!r}], not the text {unavailable!r}"
        )
        raise InterviewError("wrong_type", message, name="unavailable", value=unavailable)
