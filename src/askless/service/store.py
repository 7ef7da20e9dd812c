"""Interviews on disk. Every change appends an event and is acknowledged once the event is on disk.

One thread owns the SQLite connection. It runs all waiting jobs in one transaction and commits once, so many answers
share one fsync. A failing job is rolled back alone.
"""

from __future__ import annotations

import asyncio
import os
import queue
import sqlite3
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

import orjson

from askless.exceptions import ParameterError

__all__ = ["Event", "Kept", "Store"]

Result = TypeVar("Result")
Job = Callable[[sqlite3.Connection], Any]

AT_ONCE = 512  # jobs in one transaction
VERSION = 1
SCHEMA = """
CREATE TABLE IF NOT EXISTS interviews (
  id TEXT PRIMARY KEY, model TEXT NOT NULL, fingerprint TEXT NOT NULL, terms TEXT NOT NULL,
  created REAL NOT NULL, touched REAL NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS by_age ON interviews (touched);
CREATE TABLE IF NOT EXISTS events (
  interview TEXT NOT NULL REFERENCES interviews (id) ON DELETE CASCADE, number INTEGER NOT NULL,
  at REAL NOT NULL, action TEXT NOT NULL, feature TEXT, value TEXT,
  PRIMARY KEY (interview, number)
) WITHOUT ROWID;
"""


@dataclass(frozen=True)
class Event:
    """One change of an interview."""

    action: str  # answer, unknown, later, tell or undo
    feature: str | None = None
    value: Any = None  # JSON


@dataclass(frozen=True)
class Kept:
    """An interview as it is stored."""

    id: str
    model: str
    fingerprint: str
    terms: dict[str, Any]
    created: float
    events: tuple[Event, ...]


class Store:
    """Stores interviews in an SQLite file, or in memory if `path` is None."""

    def __init__(self, path: str | None) -> None:
        self._jobs: queue.SimpleQueue[tuple[Job, asyncio.Future[Any]] | None] = queue.SimpleQueue()
        self._connection = _open(path)
        self._thread = threading.Thread(target=self._work, name="askless-store", daemon=True)
        self._thread.start()
        self.in_memory = path is None

    async def create(self, kept: Kept) -> None:
        """A new interview."""
        row = (kept.id, kept.model, kept.fingerprint, _text(kept.terms), kept.created, kept.created)
        await self._run(lambda db: db.execute("INSERT INTO interviews VALUES (?, ?, ?, ?, ?, ?)", row))

    async def append(self, interview: str, number: int, event: Event, now: float) -> bool:
        """Append an event. Returns False if the interview is gone or already has an event of that number."""
        row = (interview, number, now, event.action, event.feature, _text(event.value))

        def append(db: sqlite3.Connection) -> bool:
            if not db.execute("UPDATE interviews SET touched = ? WHERE id = ?", (now, interview)).rowcount:
                return False
            return db.execute("INSERT OR IGNORE INTO events VALUES (?, ?, ?, ?, ?, ?)", row).rowcount == 1

        return await self._run(append)

    async def read(self, interview: str) -> Kept | None:
        """An interview with all its events; None if there is none."""

        def read(db: sqlite3.Connection) -> Kept | None:
            found = db.execute(
                "SELECT model, fingerprint, terms, created FROM interviews WHERE id = ?", (interview,)
            ).fetchone()
            if found is None:
                return None
            rows = db.execute(
                "SELECT action, feature, value FROM events WHERE interview = ? ORDER BY number", (interview,)
            )
            events = tuple(Event(action, feature, orjson.loads(value)) for action, feature, value in rows)
            return Kept(interview, found[0], found[1], orjson.loads(found[2]), found[3], events)

        return await self._run(read)

    async def delete(self, interview: str) -> bool:
        """Delete an interview; returns whether there was one."""
        deleted = await self._run(
            lambda db: db.execute("DELETE FROM interviews WHERE id = ?", (interview,)).rowcount > 0
        )
        await self._forget_journal()
        return deleted

    async def purge(self, before: float, most: int | None = None) -> int:
        """Delete interviews unchanged since `before` and the oldest beyond `most`. Returns how many."""

        def purge(db: sqlite3.Connection) -> int:
            gone = db.execute("DELETE FROM interviews WHERE touched < ?", (before,)).rowcount
            if most is not None:
                oldest = "SELECT id FROM interviews ORDER BY touched DESC LIMIT -1 OFFSET ?"
                gone += db.execute(f"DELETE FROM interviews WHERE id IN ({oldest})", (most,)).rowcount
            return gone

        gone = await self._run(purge)
        if gone:
            await self._forget_journal()
        return gone

    async def works(self) -> bool:
        """Whether the database answers."""
        return await self._run(lambda db: db.execute("SELECT count(*) FROM interviews").fetchone() is not None)

    def close(self) -> None:
        """Finish the waiting jobs and close the file."""
        self._jobs.put(None)
        self._thread.join()

    async def _forget_journal(self) -> None:
        """Remove deleted data from the write-ahead log. Has no effect while another process reads."""
        if not self.in_memory:
            await self._run(_Checkpoint())

    async def _run(self, job: Callable[[sqlite3.Connection], Result]) -> Result:
        future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._jobs.put((job, future))
        return await future

    # The thread

    def _work(self) -> None:
        stop = False
        while not stop:
            waiting = [self._jobs.get()]
            while len(waiting) < AT_ONCE and not self._jobs.empty():
                waiting.append(self._jobs.get())
            stop = None in waiting
            self._together([each for each in waiting if each is not None])
        with suppress(sqlite3.Error):  # the next process to open the file does it
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._connection.close()

    def _together(self, jobs: list[tuple[Job, asyncio.Future[Any]]]) -> None:
        """Run the jobs in one transaction. Deliver the results once it is on disk."""
        outside = [job for job in jobs if isinstance(job[0], _Checkpoint)]
        inside = [job for job in jobs if not isinstance(job[0], _Checkpoint)]
        results: list[tuple[asyncio.Future[Any], Any, BaseException | None]] = []
        if inside:
            db = self._connection
            try:
                db.execute("BEGIN IMMEDIATE")
                for job, future in inside:
                    results.append((future, *_attempt(db, job)))
                db.execute("COMMIT")
            except sqlite3.Error as error:
                with suppress(sqlite3.Error):
                    db.rollback()
                results = [(future, None, error) for _, future in inside]
        for job, future in outside:
            with suppress(sqlite3.Error):  # such as on a full disk; committed data is safe
                job(self._connection)
            results.append((future, None, None))
        if results:
            results[0][0].get_loop().call_soon_threadsafe(_deliver, results)


class _Checkpoint:
    """The only job that cannot be part of a transaction."""

    def __call__(self, db: sqlite3.Connection) -> None:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _attempt(db: sqlite3.Connection, job: Job) -> tuple[Any, BaseException | None]:
    """A job's result or error. The changes of a failing job are rolled back."""
    db.execute("SAVEPOINT job")
    try:
        result = job(db)
    except Exception as error:
        db.execute("ROLLBACK TO job")
        db.execute("RELEASE job")
        return None, error
    db.execute("RELEASE job")
    return result, None


def _deliver(results: list[tuple[asyncio.Future[Any], Any, BaseException | None]]) -> None:
    for future, result, error in results:
        if future.done():  # the caller has gone
            continue
        if error is None:
            future.set_result(result)
        else:
            future.set_exception(error)


def _open(path: str | None) -> sqlite3.Connection:
    if path is not None:
        _make_private(path)
    db = sqlite3.connect(path or ":memory:", isolation_level=None, check_same_thread=False, timeout=10)
    try:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = FULL")  # every commit reaches the disk
        db.execute("PRAGMA foreign_keys = ON")
        db.execute("PRAGMA secure_delete = ON")  # deleted data is overwritten
        version = db.execute("PRAGMA user_version").fetchone()[0]
        if version not in (0, VERSION):
            raise ParameterError(
                "newer_format",
                f"{path} has interviews of format {version}; this version of askless reads format {VERSION}",
                path=path,
                value=version,
                expected=VERSION,
            )
        db.executescript(SCHEMA)
        db.execute(f"PRAGMA user_version = {VERSION}")
    except sqlite3.Error as error:
        db.close()
        raise _unusable(path, str(error)) from None
    except ParameterError:
        db.close()
        raise
    return db


def _make_private(path: str) -> None:
    """Create the file so that only its owner can read it: it will contain answers."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        pass
    except OSError as error:
        raise _unusable(path, error.strerror) from None


def _unusable(path: str | None, reason: str | None) -> ParameterError:
    return ParameterError("unreadable_file", f"{path} cannot store interviews ({reason})", name="keep", path=path)


def _text(value: Any) -> str:
    return orjson.dumps(value).decode()
