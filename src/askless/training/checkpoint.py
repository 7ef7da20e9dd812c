"""Where a fit stands, in a file: enough to go on after `kill -9` and end with the same weights, bit for bit."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from askless.exceptions import CheckpointError
from askless.files import write_atomic

__all__ = ["Checkpoint", "Snapshot"]


@dataclass
class Snapshot:
    """Tensors by name, and everything else as JSON."""

    tensors: dict[str, Tensor]
    notes: dict[str, Any]


class Checkpoint:
    """A file that is replaced after every epoch.

    `fingerprint` stands for the data and the settings; a checkpoint of another fit is refused, not continued.
    """

    def __init__(self, path: str | os.PathLike[str], fingerprint: str) -> None:
        self.path = Path(path)
        self.fingerprint = fingerprint

    def save(self, snapshot: Snapshot) -> None:
        """Write the snapshot in one step."""
        metadata = {"fingerprint": self.fingerprint, "notes": json.dumps(snapshot.notes)}
        tensors = {name: tensor.detach().clone().contiguous() for name, tensor in snapshot.tensors.items()}
        write_atomic(self.path, save(tensors, metadata))

    def load(self) -> Snapshot | None:
        """The last snapshot, or None where there is no file yet."""
        if not self.path.exists():
            return None
        try:
            with safe_open(self.path, framework="pt") as file:
                metadata = file.metadata() or {}
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            fingerprint, notes = metadata["fingerprint"], json.loads(metadata["notes"])
        except (SafetensorError, KeyError, ValueError, OSError) as error:
            raise CheckpointError(f"{self.path} is not a readable checkpoint ({error}); delete it") from error
        if fingerprint != self.fingerprint:
            raise CheckpointError(
                f"{self.path} belongs to a fit with other data or settings; delete it or name another file"
            )
        return Snapshot(tensors, notes)
