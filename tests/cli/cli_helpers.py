"""A small messy table, and a way to run the command line."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass

import numpy as np
import pandas as pd

QUICK = ["--set", "epochs=2", "pretrain_epochs=2", "hidden=[8]"]  # of `askless fit`
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


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str

    @property
    def complaint(self) -> str:
        """The one line of an error of the user's."""
        assert self.code == 2, self.err
        assert self.err.startswith("askless: "), self.err
        assert self.err.count("\n") == 1, self.err
        return self.err.strip()


def spawn(*words: object, given: str | None = None, **options: object) -> subprocess.CompletedProcess[str]:
    """Run a command in a process of its own."""
    command = [sys.executable, "-m", "askless", *map(str, words)]
    return subprocess.run(command, input=given, capture_output=True, text=True, timeout=120, **options)  # type: ignore[call-overload, no-any-return]
