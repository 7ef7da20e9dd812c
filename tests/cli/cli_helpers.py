"""A small messy table, and a way to run the command line."""

from __future__ import annotations

import re
import subprocess
import sys
import warnings
from dataclasses import dataclass

import numpy as np
import pandas as pd

from askless.cli import run_command
from askless.exceptions import AsklessError
from tests.coded import raises

QUICK = ["--set", "epochs=2", "pretrain_epochs=2", "hidden=[8]"]  # of `askless fit`
QUICKEST = ["--method", "fixed_order", "--set", "epochs=1", "hidden=[4]"]  # for tests of what is said before a fit
GROUPS = {"pressure": ["high", "low"]}
COSTS = {"age": 2.0, "pressure": 5.0}


def messy_frame(n: int = 160, seed: int = 0) -> pd.DataFrame:
    """Numbers, text, booleans and codes, with holes; `ill` depends on age and colour, `score` on age."""
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 90, n).astype(float)
    colour = rng.choice(["red", "green", "None"], n)
    frame = pd.DataFrame(
        {
            "age": age,
            "colour": colour,
            "smokes": rng.random(n) < 0.4,
            "grade": rng.choice(["01", "2", "3+"], n),
            "high": rng.normal(130, 15, n).round(1),
            "low": rng.normal(80, 9, n).round(1),
            "ill": np.where((age > 55) ^ (colour == "red"), "yes", "no"),
            "score": (age / 7 + rng.normal(0, 0.5, n)).round(3),
        }
    )
    for name in ("age", "colour", "smokes", "high"):
        frame[name] = frame[name].astype(object).mask(rng.random(n) < 0.1)
    return frame


FEATURES = ["age", "colour", "smokes", "grade", "high", "low"]


CODE = re.compile(r" \[(\w+)\]$")


@dataclass(frozen=True)
class Result:
    """What a command has printed; `code` is its exit code."""

    code: int
    out: str
    err: str

    @property
    def complaint(self) -> str:
        """The one line of an error of the user's; notes may come before it."""
        assert self.code == 2, self.err
        lines = [line for line in self.err.splitlines() if not line.startswith("askless: note: ")]
        assert len(lines) == 1, self.err
        assert lines[0].startswith("askless: "), self.err
        return lines[0]

    @property
    def error(self) -> str | None:
        """The code in brackets at the end of that line, if there is one."""
        match = CODE.search(self.complaint)
        return match and match[1]

    @property
    def notes(self) -> dict[str | None, list[str]]:
        """The notes by code."""
        found: dict[str | None, list[str]] = {}
        for line in self.err.splitlines():
            if line.startswith("askless: note: "):
                match = CODE.search(line)
                text = CODE.sub("", line.removeprefix("askless: note: "))
                found.setdefault(match and match[1], []).append(text)
        return found


def refused(code: str, *words: object, **fields: object) -> str:
    """Run a command, which must raise an error of askless with this code and these fields; returns its message."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        with raises(AsklessError, code, **fields) as caught:
            run_command([str(word) for word in words])
    return str(caught.value)


def spawn(*words: object, given: str | None = None, **options: object) -> subprocess.CompletedProcess[str]:
    """Run a command in a process of its own."""
    command = [sys.executable, "-m", "askless", *map(str, words)]
    return subprocess.run(command, input=given, capture_output=True, text=True, timeout=120, **options)  # type: ignore[call-overload, no-any-return]
