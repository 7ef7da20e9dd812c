"""The page as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from typing import TYPE_CHECKING

from askless.report.html import text
from askless.report.sections import frequency, head, measured, questions, scores, sentence, tiles
from askless.report.story import story

if TYPE_CHECKING:
    from askless.report.comparison import Case, Comparison

__all__ = ["render_report"]

PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
{style}
</style>
</head>
<body>
<main>
{body}
<footer>Made by askless {version}. Predictions support a decision; they do not make it.</footer>
</main>
</body>
</html>
"""


def render_report(comparison: Comparison, case: Case, facts: Mapping[str, str]) -> str:
    """The page as HTML; `facts` are additional entries of its last section, by name."""
    from askless import __version__

    parts = [
        head(comparison),
        tiles(comparison),
        scores(comparison),
        frequency(comparison),
        story(comparison, case),
        questions(comparison),
        measured(comparison, facts),
    ]
    style = files("askless.report").joinpath("style.css").read_text(encoding="utf-8").strip()
    title = f"{sentence(comparison)}: askless on {comparison.data.name}"
    return PAGE.format(title=text(title), style=style, body="\n".join(parts), version=text(__version__))
