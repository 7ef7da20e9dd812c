"""A copy of results that is small enough to be kept beside a paper or in a repository."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from askless.experiments.folder import EXPERIMENT
from askless.experiments.results import read_results, without_losses, write_result
from askless.experiments.task import ExperimentError
from askless.files import write_atomic

__all__ = ["Kept", "keep"]


@dataclass(frozen=True)
class Kept:
    """What a copy holds."""

    results: int
    megabytes: float


def keep(folder: Path, copy: Path) -> Kept:
    """Copy the results of a folder without the loss of each test case; a whole file is written at a time."""
    if _same(folder / "results", copy / "results"):
        raise ExperimentError(f"{copy} holds the results that are to be copied; name another folder for the copy")
    written = [write_result(copy, without_losses(result)) for result in read_results(folder)]
    with suppress(FileNotFoundError):
        write_atomic(copy / EXPERIMENT, (folder / EXPERIMENT).read_bytes())
    return Kept(len(written), sum(path.stat().st_size for path in written) / 1e6)


def _same(one: Path, other: Path) -> bool:
    """Whether two paths lead to the same folder, be it by a link."""
    return one.exists() and other.exists() and one.samefile(other)
