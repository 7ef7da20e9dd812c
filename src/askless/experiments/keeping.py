"""A copy of results that is small enough for a repository."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from askless.exceptions import ExperimentError
from askless.experiments.folder import EXPERIMENT
from askless.experiments.results import read_results, without_losses, write_result
from askless.files import write_atomic

__all__ = ["Kept", "keep"]


@dataclass(frozen=True)
class Kept:
    """The size of a copy."""

    results: int
    megabytes: float


def keep(folder: Path, copy: Path) -> Kept:
    """Copy the results of a folder without the loss of each test case. Every file is written in one step."""
    if _same(folder / "results", copy / "results"):
        raise ExperimentError(
            "file_exists",
            f"{copy} is the folder to copy from; choose another folder for the copy",
            path=str(copy),
        )
    written = [write_result(copy, without_losses(result)) for result in read_results(folder)]
    with suppress(FileNotFoundError):
        write_atomic(copy / EXPERIMENT, (folder / EXPERIMENT).read_bytes())
    return Kept(len(written), sum(path.stat().st_size for path in written) / 1e6)


def _same(one: Path, other: Path) -> bool:
    """Whether two paths are the same folder, links resolved."""
    return one.exists() and other.exists() and one.samefile(other)
