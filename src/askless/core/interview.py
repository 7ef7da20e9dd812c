"""The roll-out of one live case, where a person or a program answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import inf
from typing import Any

import numpy as np

from askless.core.batches import choose_batch
from askless.core.candidates import Candidate, Ranking, ranking_of
from askless.core.choice import ceiling_of, choose, narrowed, pick_best
from askless.core.events import AnswerCodec, Event, Moment, Question
from askless.core.numbers import is_whole
from askless.core.progress import Asker, Progress
from askless.core.protocols import refuse_truth
from askless.core.rollout import Missing
from askless.core.state import State
from askless.core.stopping import MaxFeatures, StoppingRule, as_rules, stop_reason
from askless.core.stopping.base import makes_promise
from askless.core.stopping.certified import not_used
from askless.exceptions import InterviewError

__all__ = ["Interview"]

NO_OUTPUT = np.empty((1, 0))  # until somebody predicts


class Interview:
    """Asks one case, question by question.

    Made by an estimator's `interview` method. Nothing is ever changed in place: each event leads to a new moment,
    so that `undo` can return to the one before.
    """

    def __init__(
        self,
        asker: Asker,
        codec: AnswerCodec,
        *,
        stopping: StoppingRule | Sequence[StoppingRule] | None,
        describe: Callable[[np.ndarray, State], dict[Any, float]],
        known: Mapping[str, Any] | None = None,
        unavailable: Iterable[str] = (),
        missing: Missing = "skip",
    ) -> None:
        refuse_truth(asker.policy)
        known = checked_known(known)
        check_unavailable(unavailable)
        self._asker, self._codec, self._missing = asker, codec, missing
        self._policy, self._predictor, self._schema = asker.policy, asker.predictor, asker.schema
        self._rules, self._describe = as_rules(stopping), describe
        self._promises = any(map(makes_promise, self._rules))
        # With limits on the number only, and prices that change nothing, there is a much faster way to decide.
        plain = all(type(rule) is MaxFeatures for rule in self._rules)
        self._limits = (
            [rule.limit for rule in self._rules if type(rule) is MaxFeatures]
            if plain and asker.precedence is None and not asker.weighs
            else None
        )
        self._most = min(self._limits or (), default=inf)
        self._both = None if self._limits is None else asker.both
        allowed = np.ones(len(asker.schema), dtype=bool)
        for name in unavailable:
            allowed[asker.schema.index(name)] = False
        nothing = np.zeros((1, len(asker.schema)), dtype=bool)
        empty = State(np.zeros((1, asker.schema.n_columns), dtype=np.float32), nothing, nothing)
        fixed = getattr(asker.costs, "fixed", False)
        self._fixed = asker.costs.prices(empty)[0].tolist() if fixed else None
        ceiling, left, happened = ceiling_of(allowed, empty.x), int(allowed.sum()), ("", -1, None, 0.0)
        self._past: list[Moment] = []
        self._now = Moment(empty, NO_OUTPUT, 0, 0.0, ceiling, left, (), (), happened)
        self._predict(self._now)
        self._decide(self._now)
        for name, value in known.items():
            index = asker.schema.index(name)
            self._advance("tell", index, codec.encode_answer(index, value), value, None)
        self._given = len(self._past)  # moments that cannot be undone

    # What a caller reads

    @property
    def question(self) -> Question | None:
        """The next question; None when the interview is done."""
        pick = self._now.pick
        return None if pick < 0 else self._schema.question(pick, self._prices(self._now)[pick])

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        """What could be asked now, the chosen one first, with scores, information and prices; empty when done.

        What was postponed is left out until nothing else is left.
        """
        return self.leading(None)

    @property
    def fixed_order(self) -> bool:
        """Whether the answers do not change the order of the questions: scores then mean nothing but that order."""
        return bool(getattr(self._policy, "fixed_order", False))

    @property
    def postponed(self) -> tuple[str, ...]:
        """What was postponed and has not been asked since, the longest postponed first."""
        return tuple(self._schema.names[i] for i in self._now.postponed)

    def leading(self, most: int | None) -> tuple[Candidate, ...]:
        """The first so many of the `candidates`."""
        now = self._now
        if now.pick < 0:
            return ()
        ranking = now.ranking = now.ranking or self._ranking(now)
        order = ranking.order()
        if order[0] != now.pick:  # what was postponed comes back in its own order
            order.remove(now.pick)
            order.insert(0, now.pick)
        return ranking.candidates(order[:most], self._schema, self._prices(now))

    def batch(self, size: int) -> tuple[Question, ...]:
        """The best features to ask at once, chosen together; `answers` takes the answers. Empty when done."""
        if not is_whole(size) or size < 1:
            raise InterviewError(
                "out_of_range", f"size must be an integer of at least 1, not {size!r}", name="size", value=size, low=1
            )
        question = self.question
        if question is None or size == 1:
            return () if question is None else (question,)
        progress = self._progress(self._now, self._without_postponed(self._now))
        members, _ = choose_batch(progress, not_used(self.rules, "features were asked in batches"), int(size))
        questions = tuple(self._schema.question(int(pick[0]), float(price[0])) for pick, price in members)
        return questions or (question,)  # where all that is left was postponed, or repeats what is known

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
        return stop_reason(self.rules, self._now.fired) if self.done else None

    @property
    def history(self) -> tuple[Event, ...]:
        """What has happened so far, oldest first."""
        return tuple(map(self._event, self._moments()))

    @property
    def count(self) -> int:
        """How many questions were asked so far."""
        return self._now.count

    @property
    def rules(self) -> tuple[StoppingRule, ...]:
        """What stops the interview; the first rule to fire gives the reason."""
        return self._rules_of(self._now)

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
        self._advance(action, index, columns, value, self._prices(self._now)[index])

    def answers(self, values: Mapping[str, Any]) -> None:
        """Answer several features by name, such as those of a `batch`; None is unknown. Each is asked and paid.

        Each costs what it did before the answers to the others were there. Nothing is recorded where one of them
        cannot be asked, or its value is not one.
        """
        if not isinstance(values, Mapping):
            raise InterviewError(
                "wrong_type",
                f"answers must be a mapping from features to values, not {values!r}",
                name="values",
                value=values,
            )
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
        self._advance("unknown", index, None, None, self._prices(self._now)[index])

    def later(self, name: str | None = None) -> None:
        """Postpone the question, or the feature of that name, until nothing else is left to ask."""
        index, now = self._asked() if name is None else self._open(name), self._now
        postponed = (*(i for i in now.postponed if i != index), index)
        happened = ("later", index, None, 0.0)
        same = now.state, now.output, now.count, now.spent, now.ceiling, now.left
        void = now.void or f"{self._schema.names[index]!r} was postponed"
        self._enter(Moment(*same, postponed, now.given, happened, scores=now.scores, void=void))

    def tell(self, name: str, value: Any) -> None:
        """Record a value that was not asked for, or correct an earlier answer; it costs nothing."""
        index = self._schema.index(name)
        void = f"{name!r} was {'corrected' if self._now.state.asked[0, index] else 'told without being asked'}"
        self._advance("tell", index, self._codec.encode_answer(index, value), value, None, void)

    def record(self, answers: Mapping[str, Any]) -> None:
        """Take over answers to questions that were put elsewhere, in the order given: they count and they cost.

        None stands for "unknown". What to ask next is decided once, in the end, and `undo` takes all of them back.
        What was asked before is refused.
        """
        events = [(self._schema.index(name), value) for name, value in answers.items()]
        asked = {
            index
            for action, index, *_ in (moment.happened for moment in self._moments())
            if action in ("answer", "unknown")
        }
        for index, _ in events:
            if index in asked:
                name = self._schema.names[index]
                raise InterviewError(
                    "cannot_ask", f"{name!r} was asked before; correct its answer with `tell`", feature=name
                )
        told = [None if value is None else self._codec.encode_answer(index, value) for index, value in events]
        if not events:
            return
        moments = [self._now]
        for (index, value), columns in zip(events, told, strict=True):
            before = moments[-1]
            if self._promises and not before.void and before is not self._now:  # what would have been asked next?
                self._predict(before)
                self._decide(before)
            action, price = "unknown" if columns is None else "answer", self._prices(before)[index]
            void = self._out_of_turn(before, index)
            moments.append(self._after(before, action, index, columns, value, price, void))
        _, *between, last = moments
        last.between = tuple(between)
        self._predict(last)
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
        twin = object.__new__(Interview)
        twin.__dict__.update(self.__dict__, _past=list(self._past))
        return twin

    # How it works

    def _asked(self) -> int:
        pick = self._now.pick
        if pick < 0:
            raise InterviewError(
                "interview_done",
                f"the interview is done ({self.stop_reason}); there is no question to answer",
                reason=self.stop_reason,
            )
        return pick

    def _rules_of(self, moment: Moment) -> tuple[StoppingRule, ...]:
        return not_used(self._rules, moment.void) if moment.void else self._rules

    def _out_of_turn(self, now: Moment, index: int) -> str:
        """Why a certified rule is not used once this feature is asked; empty where it is the next question."""
        if index == now.pick:
            return ""
        name = self._schema.names[index]
        return f"{name!r} was asked " + (
            "after the end" if now.pick < 0 else f"instead of {self._schema.names[now.pick]!r}"
        )

    def _open(self, name: str) -> int:
        """The position of a feature that may still be asked."""
        index = self._schema.index(name)
        if not self._now.ceiling[index] > 0.0:
            raise InterviewError(
                "cannot_ask",
                f"{name!r} cannot be asked: it was asked before or is unavailable; use `tell`",
                feature=name,
            )
        return index

    def _prices(self, now: Moment) -> list[float]:
        """(features,) the price of each feature, if it came next."""
        prices: list[float] | None = self._fixed
        return np.asarray(self._progress(now, now.ceiling).prices)[0].tolist() if prices is None else prices

    def _progress(self, now: Moment, ceiling: np.ndarray) -> Progress:
        """Where the interview stands, as rules and cost models see it."""
        given = None
        if now.given:
            given = np.zeros((1, len(self._schema)), dtype=bool)
            given[0, list(now.given)] = True
        count, spent = np.array([now.count]), np.array([now.spent])
        return Progress(now.state, count, spent, now.output, self._asker, ceiling[None], given)

    def _moments(self) -> Iterator[Moment]:
        """After each event so far, the oldest first."""
        for moment in (*self._past, self._now)[1:]:
            yield from (*moment.between, moment)

    def _prices_together(self, indices: Sequence[int]) -> list[float]:
        """What each feature costs after those before it are ordered, and not answered yet."""
        progress, prices = self._progress(self._now, self._now.ceiling), []
        for index in indices:
            prices.append(float(progress.prices[0, index]))
            asked = progress.state.asked.copy()
            asked[0, index] = True
            progress = replace(progress, state=State(progress.state.x, asked, progress.state.known))
        return prices

    def _event(self, moment: Moment) -> Event:
        if not moment.output.size:  # one of several that were recorded together
            self._predict(moment)
        action, index, value, price = moment.happened
        return Event(
            action, self._schema.features[index].name, value, price, self._describe(moment.output, moment.state)
        )

    def _advance(
        self, action: str, index: int, columns: np.ndarray | None, value: Any, price: float | None, void: str = ""
    ) -> None:
        moment = self._after(self._now, action, index, columns, value, price, void)
        self._predict(moment)
        self._enter(moment)

    def _predict(self, moment: Moment) -> None:
        """Fill in the prediction, and the scores where they come along with it."""
        if self._both is None:
            moment.output = self._predictor.predict(moment.state)
        else:
            moment.output, moment.scores = self._both(moment.state)

    def _after(
        self,
        now: Moment,
        action: str,
        index: int,
        columns: np.ndarray | None,
        value: Any,
        price: float | None,
        void: str = "",
    ) -> Moment:
        """The moment after an event, without a prediction; a price of None is for what was not asked.

        `void` says why a certified rule does not hold after this event, if it does not.
        """
        feature, paid = self._schema.features[index], price is not None
        ceiling, left = now.ceiling, now.left
        if ceiling[index] > 0.0:
            ceiling, left = ceiling.copy(), left - 1
            ceiling[index] = -inf
            state = now.state.answered(index, feature.start, feature.stop, columns)
        else:  # told before, or unavailable
            state = now.state.corrected(index, feature.start, feature.stop, columns)
        postponed = now.postponed
        if postponed:
            postponed = tuple(i for i in postponed if i != index)
        given = now.given
        if paid and given:  # what was told is paid for once it is asked after all
            given = tuple(i for i in given if i != index)
        elif not paid and not now.state.asked[0, index]:
            given = (*given, index)
        if type(value) is dict:
            value = value.copy()  # the caller's own may change
        happened = (action, index, value, price or 0.0)
        count, spent = now.count + paid, now.spent + (price or 0.0)
        if action == "unknown" and self._missing == "skip":  # of the cases of a certification, nothing was unknown
            void = void or f"the answer to {feature.name!r} was unknown"
        void = now.void or void
        return Moment(state, NO_OUTPUT, count, spent, ceiling, left, postponed, given, happened, void=void)

    def _enter(self, moment: Moment) -> None:
        """Decide what to ask, and make `moment` the present one."""
        self._decide(moment)
        self._past.append(self._now)
        self._now = moment

    def _decide(self, now: Moment) -> None:
        if self._limits is None:
            self._decide_fully(now)
        elif now.count >= self._most:
            now.fired = next(i for i, limit in enumerate(self._limits) if now.count >= limit)
        elif now.left == len(now.postponed):  # what was postponed comes back, the longest postponed first
            now.pick = now.postponed[0] if now.left else -1
        else:  # neither prices nor rules have a say
            if now.scores is None:
                now.scores = self._policy.score(now.state)[0]
            now.pick = choose(now.scores, self._without_postponed(now))

    def _ranking(self, now: Moment) -> Ranking:
        """What could be asked, where the decision did not need to know."""
        scores = now.scores
        if scores is not None:
            return Ranking(self._without_postponed(now), scores, scores if self._asker.informative else None)
        progress = self._progress(now, now.ceiling)  # only what was postponed is left
        return ranking_of(progress, narrowed(progress, self._rules_of(now))[0])

    def _decide_fully(self, now: Moment) -> None:
        """With prices, precedence and rules of any kind."""
        progress = self._progress(now, now.ceiling)
        ceiling, fired = narrowed(progress, self._rules_of(now))
        now.fired = int(fired[0])
        open_ = ceiling[0] > 0
        if now.fired >= 0 or not open_.any():
            return
        others = open_.copy()
        others[list(now.postponed)] = False
        if not others.any():
            now.pick = next(i for i in now.postponed if open_[i])
            return
        ranking = now.ranking = ranking_of(progress, np.where(others[None], ceiling, -np.inf))
        now.pick = int(pick_best(ranking.scores[None], ranking.ceiling[None])[0])

    def _without_postponed(self, now: Moment) -> np.ndarray:
        """(features,) the ceiling without what was postponed, unless nothing else is left."""
        if not now.postponed or now.left == len(now.postponed):
            return now.ceiling
        ceiling = now.ceiling.copy()
        ceiling[list(now.postponed)] = -inf
        return ceiling


def checked_known(known: Any) -> Mapping[str, Any]:
    """A roll-out's `known` is a list of names, as the table has the values; an interview needs the values."""
    if hasattr(known, "to_dict") and not isinstance(known, Mapping):  # a pandas Series
        known = known.to_dict()
    if known is not None and not isinstance(known, Mapping):
        raise InterviewError(
            "wrong_type",
            f"known must be a mapping from features to values, such as {{'age': 71}}, not {known!r}",
            name="known",
            value=known,
        )
    return known or {}


def check_unavailable(unavailable: Any) -> None:
    """Refuse a single name, whose letters would be taken for names."""
    if isinstance(unavailable, str):
        raise InterviewError(
            "wrong_type",
            f"unavailable must be a list of feature names, such as [{unavailable!r}], not the text {unavailable!r}",
            name="unavailable",
            value=unavailable,
        )
