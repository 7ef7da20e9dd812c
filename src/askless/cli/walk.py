"""The interview of one test case, with answers from its row."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from askless.acquisition import Interview, Schema, Trajectory
from askless.acquisition.schema import Feature
from askless.cli.console import say
from askless.cli.views import picture, shown_value, title
from askless.cli.wording import Wording
from askless.report import Case

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["answer_of", "choose_case", "walk"]


def choose_case(trajectory: Trajectory, X: pd.DataFrame, y: pd.Series, schema: Schema, task: str) -> Case:
    """The first test case whose prediction improved a lot; the first test case if there is none."""
    start, end = trajectory.predictions[:, 0], trajectory.predictions[:, -1]  # (n, outputs)
    if task == "classification":
        labels = np.array(trajectory.outputs, dtype=object)
        right = labels[end.argmax(axis=1)] == y.to_numpy(dtype=object)
        better = right & (start.argmax(axis=1) != end.argmax(axis=1))
        words = "The first test case whose most probable class changed to the right one"
    else:
        better = np.abs(end[:, 0] - y) < 0.25 * np.abs(start[:, 0] - y)
        words = "The first test case whose error fell by three quarters"
    rows = np.flatnonzero(better)
    row, choice = (int(rows[0]), words) if len(rows) else (0, "The first test case")
    features = [schema.features[i] for i in trajectory.order[row] if i >= 0]
    answers = tuple(answer_of(feature, X.iloc[row]) for feature in features)
    shown = tuple(shown_value(answer) for answer in answers)
    return Case(row, answers, shown, shown_value(_plain(y.iloc[row])), choice)


def answer_of(feature: Feature, row: pd.Series[Any]) -> Any:
    """The answer of the row to a question: None if unknown, and for a group a mapping of its known parts."""
    if feature.is_group:
        parts = {part.name: _plain(row[part.name]) for part in feature.parts}
        return {name: value for name, value in parts.items() if value is not None} or None
    return _plain(row[feature.parts[0].name])


def _plain(value: Any) -> Any:
    if pd.isna(value):
        return None
    return value.item() if isinstance(value, np.generic) else value


def walk(
    console: Console, interview: Callable[..., Interview], case: Case, row: pd.Series[Any], schema: Schema
) -> None:
    """Show the interview of the case. Features that are missing in its row are not asked."""
    missing = [feature.name for feature in schema.features if answer_of(feature, row) is None]
    session = interview(unavailable=missing)
    ascii_only = not console.encoding.lower().startswith("utf")
    say(console, f"\n{case.choice}, asked by the greedy policy:\n", "bold")
    console.print(picture(session.prediction, ascii_only=ascii_only))
    number = 0
    while (question := session.question) is not None:
        number += 1
        answer = answer_of(schema.features[schema.index(question.name)], row)
        line = title(number, question, Wording({}))
        line.append(f"   {shown_value(answer)}", "cyan")
        session.answer(answer)
        console.print()
        console.print(line)
        console.print(picture(session.prediction, ascii_only=ascii_only))
    say(console, f"\n{session.stop_reason}, cost {session.cost:g}; the truth is {case.truth}.")
