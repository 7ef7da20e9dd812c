"""Where a fit stands, in a file: enough to go on after `kill -9` and end with the same weights, bit for bit."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from askless.exceptions import CheckpointError, TrainingError
from askless.files import remove_leftovers, write_atomic

__all__ = ["Checkpoint", "Snapshot", "finished"]

CHECKPOINT_FORMAT = 4  # goes up when what a snapshot holds changes: an older file is then of another fit
LARGE, SELDOM = 1 << 25, 60.0  # bytes of a file that is written at most once in so many seconds

Result = tuple[dict[str, Tensor], list[dict[str, Any]]]
"""What a stage of a fit came to: tensors by name, and the history."""


@dataclass
class Snapshot:
    """Tensors by name, and everything else as JSON."""

    tensors: dict[str, Tensor]
    notes: dict[str, Any]


class Checkpoint:
    """A file that is replaced after every epoch; a large one once a minute, for writing it takes a while.

    It holds what the finished stages of a fit came to, and where the training of the present one stands.
    `fingerprint` stands for the data and the settings; a checkpoint of another fit is refused, not continued.
    """

    def __init__(self, path: str | os.PathLike[str], fingerprint: str) -> None:
        self.path = Path(path)
        self.fingerprint = fingerprint
        self._finished: dict[str, Result] | None = None  # by stage; None until the file was looked at
        self._around = ""  # the names of the stages that are being computed
        self._not_before = 0.0  # when a snapshot is written again, on the monotonic clock

    def save(self, snapshot: Snapshot) -> None:
        """Write the snapshot in one step, unless a large one was written just now."""
        if time.monotonic() >= self._not_before:
            size = self._write(snapshot)
            self._not_before = time.monotonic() + (SELDOM if size >= LARGE else 0.0)

    def begun(self) -> bool:
        """Whether an earlier run has left something to go on from; what another fit has left is refused."""
        snapshot, results = self._read()
        return snapshot is not None or bool(results)

    def load(self) -> Snapshot | None:
        """The last snapshot, or None where there is no file yet, or no training since a stage was finished."""
        snapshot, self._finished = self._read()
        return snapshot

    def stage(self, name: str, compute: Callable[[], Result]) -> Result:
        """What a stage comes to: computed, or as it was when an earlier run had finished it.

        In a stage there is at most one training, whose own snapshots are forgotten when the stage is finished, and
        so are the stages within it, which may be called as those within another are.
        """
        if self._finished is None:
            _, self._finished = self._read()
        around, key = self._around, f"{self._around}{name}"
        if key not in self._finished:
            self._around = f"{key}/"
            try:
                result = compute()
            except TrainingError:  # a method that tries several goes on with the next
                self._end_stage(key)
                raise
            finally:
                self._around = around
            self._end_stage(key, result)
        return self._finished[key]

    def _end_stage(self, key: str, result: Result | None = None) -> None:
        """Forget the snapshot and the stages within, and keep the result if there is one."""
        self._finished = {k: kept for k, kept in (self._finished or {}).items() if not k.startswith(f"{key}/")}
        if result is not None:
            self._finished[key] = result
        self._write(None)

    def _write(self, snapshot: Snapshot | None) -> int:
        """Replace the file; returns its size in bytes."""
        results = self._finished or {}
        tensors = {} if snapshot is None else {f"now.{name}": t for name, t in snapshot.tensors.items()}
        for stage, (kept, _) in results.items():
            tensors |= {f"finished.{stage}.{name}": t for name, t in kept.items()}
        notes = {
            "now": None if snapshot is None else snapshot.notes,
            "finished": {stage: history for stage, (_, history) in results.items()},
        }
        metadata = {"fingerprint": self.fingerprint, "notes": json.dumps(notes)}
        content = save({n: t.detach().clone().contiguous() for n, t in tensors.items()}, metadata)
        write_atomic(self.path, content)
        return len(content)

    def _read(self) -> tuple[Snapshot | None, dict[str, Result]]:
        try:
            if self.path.exists() and not _is_checkpoint(self.path):
                raise CheckpointError(
                    "wrong_file",
                    f"{self.path} is not an askless checkpoint; it was not changed. "
                    "Give the path of a checkpoint, or of a file that does not exist yet",
                    path=str(self.path),
                )
            remove_leftovers(self.path)  # of fits that were killed while they wrote
            if not self.path.exists():
                return None, {}
            with safe_open(self.path, framework="pt") as file:
                metadata = file.metadata() or {}
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            fingerprint, notes = metadata["fingerprint"], json.loads(metadata["notes"])
            now, histories = notes["now"], notes["finished"]
        except CheckpointError:
            raise
        except OSError as error:
            raise CheckpointError(
                "unreadable_file", f"{self.path} cannot be read ({error.strerror})", path=str(self.path)
            ) from error
        except (SafetensorError, KeyError, TypeError, ValueError) as error:
            raise CheckpointError(
                "damaged_file", f"the checkpoint {self.path} is damaged ({error}); delete it", path=str(self.path)
            ) from error
        if fingerprint != self.fingerprint:
            raise CheckpointError(
                "other_fit",
                f"the checkpoint {self.path} belongs to a fit with other data or settings; "
                "give another path, or delete it",
                path=str(self.path),
            )
        results = {stage: (_part(tensors, f"finished.{stage}."), history) for stage, history in histories.items()}
        return None if now is None else Snapshot(_part(tensors, "now."), now), results


def finished(checkpoint: Checkpoint | None, name: str, compute: Callable[[], Result]) -> Result:
    """What a stage of a fit comes to; with a checkpoint, it is computed once whatever happens to the process."""
    return compute() if checkpoint is None else checkpoint.stage(name, compute)


def _is_checkpoint(path: Path) -> bool:
    """Whether the file begins as those that a `Checkpoint` writes, be the rest damaged or not."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        header = file.read(min(length, path.stat().st_size))
    return header.startswith(b'{"__metadata__":{') and b'"fingerprint":"' in header and b'"notes":"' in header


def _part(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): t for name, t in tensors.items() if name.startswith(prefix)}
