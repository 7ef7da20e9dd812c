"""Interviews that are kept: each is its events, replayed; the present moment of the latest ones stays in memory."""

from __future__ import annotations

import asyncio
import secrets
import sqlite3
import time
from collections import OrderedDict
from collections.abc import Awaitable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from askless.core import Interview
from askless.exceptions import InterviewError
from askless.service.answers import checked_answer
from askless.service.asking import Terms, begin, predicted, standing
from askless.service.errors import Problem, conflict, invalid, not_found
from askless.service.metrics import Metrics
from askless.service.models import Models, ServedModel
from askless.service.store import Event, Kept, Store

__all__ = ["Interviews", "Live"]

Result = TypeVar("Result")

IN_MEMORY = 512  # interviews whose present moment is kept at hand
MOST_WITHOUT_FILE = 10_000  # interviews, where they live in memory only
PURGE_EACH = 1000  # interviews that begin in memory
MOST_EVENTS = 10_000  # of one interview
DAY = 86_400.0  # seconds


@dataclass
class Live:
    """An interview at hand."""

    id: str
    model: ServedModel
    talk: (
        Interview  # never changed in place: a change makes a copy, which takes its place when the disk has the event
    )
    events: int
    created: float
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    def to_json(self) -> dict[str, Any]:
        """Where it stands, and how it came there."""
        history = [
            {
                "action": event.action,
                "feature": event.feature,
                "value": event.value,
                "cost": event.cost,
                "prediction": predicted(event.prediction),
            }
            for event in self.talk.history
        ]
        return {"id": self.id, **standing(self.model, self.talk), "history": history, "events": self.events}


class Interviews:
    """Creates, changes, resumes and deletes interviews."""

    def __init__(self, models: Models, store: Store, metrics: Metrics, retention_days: float) -> None:
        self._models, self._store, self._metrics = models, store, metrics
        self._retention = retention_days * DAY
        self._live: OrderedDict[str, Live] = OrderedDict()
        metrics.live.set_function(lambda: len(self._live))
        self._begun = 0

    async def create(self, model: ServedModel, terms: Terms) -> Live:
        """A new interview, under an id that cannot be guessed."""
        talk = begin(model, terms)
        live = Live(secrets.token_urlsafe(24), model, talk, 0, time.time())
        kept = Kept(live.id, model.name, model.fingerprint, terms.to_json(), live.created, ())
        await self._stored(self._store.create(kept))
        self._remember(live)
        self._begun += 1
        if self._store.in_memory and self._begun % PURGE_EACH == 0:  # memory must not grow until the next hour
            await self.purge()
        return live

    async def find(self, interview: str) -> Live:
        """An interview by its id: at hand, or replayed from its events."""
        live = self._live.get(interview)
        if live is not None:
            self._live.move_to_end(interview)
            return live
        kept = await self._stored(self._store.read(interview))
        if kept is None:
            raise not_found("there is no such interview; it may have been deleted")
        again = self._live.get(interview)  # somebody else may have been faster
        if again is not None:
            return again
        live = self._replayed(kept)
        self._remember(live)
        return live

    async def change(self, interview: str, event: Event, after: int | None = None) -> Live:
        """Apply an event; it is acknowledged, by returning, when it is on disk.

        Where it is said `after` how many events it comes, it is refused if there are more by now.
        """
        live = await self.find(interview)
        async with live.lock:
            if after not in (None, live.events):
                raise conflict("the interview has gone on meanwhile")
            if live.events >= MOST_EVENTS:
                raise conflict(f"the interview has {MOST_EVENTS} events; begin another")
            talk = live.talk.copy()
            happened = apply(live.model, talk, event)
            if not await self._stored(self._store.append(live.id, live.events, happened, time.time())):
                self._live.pop(live.id, None)
                raise conflict("the interview was changed or deleted meanwhile")
            live.talk, live.events = talk, live.events + 1
        self._metrics.events.labels(event.action).inc()
        return live

    async def delete(self, interview: str) -> None:
        """Delete an interview for good."""
        deleted = await self._stored(self._store.delete(interview))
        self._live.pop(interview, None)  # not before: somebody may have read it meanwhile
        if not deleted:
            raise not_found("there is no such interview; it may have been deleted")

    async def purge(self) -> int:
        """Delete what is older than the retention allows."""
        most = MOST_WITHOUT_FILE if self._store.in_memory else None
        gone = await self._stored(self._store.purge(time.time() - self._retention, most))
        if gone:
            self._live.clear()
        return gone

    async def works(self) -> bool:
        """Whether interviews can be kept."""
        return await self._stored(self._store.works())

    def _remember(self, live: Live) -> None:
        self._live[live.id] = live
        while len(self._live) > IN_MEMORY:
            self._live.popitem(last=False)

    def _replayed(self, kept: Kept) -> Live:
        model = self._models.find(kept.model)
        if model.fingerprint != kept.fingerprint:
            raise conflict("the interview was led by another version of its model, which is not served any more")
        talk = begin(model, Terms.from_json(kept.terms))
        for event in kept.events:
            apply_again(talk, event)
        return Live(kept.id, model, talk, len(kept.events), kept.created)

    @staticmethod
    async def _stored(work: Awaitable[Result]) -> Result:
        try:
            return await work
        except sqlite3.Error:
            raise Problem(503, "interviews cannot be kept at the moment; try again") from None


def apply(model: ServedModel, talk: Interview, event: Event) -> Event:
    """Change an interview; returns the event with the question that it concerned and the value as it was read."""
    question, value = talk.question, event.value
    if event.action == "tell":
        if event.feature is None:
            raise invalid("the field 'feature' is missing", "feature")
        value = checked_answer(model, model.index(event.feature, "feature"), value, "value")
        talk.tell(event.feature, value)
        return Event(event.action, event.feature, value)
    try:
        if event.action == "undo":
            talk.undo()
            return event
        if question is not None and event.feature is not None and event.feature != question.name:
            raise conflict(f"the question is {question.name!r} now, not the one that was answered")
        if event.action == "answer" and question is not None:
            value = checked_answer(model, model.schema.index(question.name), value, "value")
            talk.answer(value)
        elif event.action == "later":
            talk.later()
        else:
            talk.unknown()  # where there is no question, this says so
    except InterviewError as error:
        raise conflict(str(error)) from None
    return Event(event.action, question.name if question else None, value)


def apply_again(talk: Interview, event: Event) -> None:
    """Apply an event that was accepted once, and is not refused later: to the feature that it names.

    Another machine may choose another of two questions that are worth the same, and another file of descriptions may
    allow for other numbers.
    """
    name = event.feature
    try:
        if event.action == "undo":
            talk.undo()
        elif name is None:
            raise conflict("the interview has an event that names no feature")
        elif event.action == "tell":
            talk.tell(name, event.value)
        elif event.action == "later":
            talk.later(name)
        else:
            talk.answers({name: event.value if event.action == "answer" else None})
    except InterviewError as error:
        raise conflict(str(error)) from None
