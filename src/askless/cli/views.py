"""How an interview looks in a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from askless.cli.console import make_table
from askless.cli.session import numbered

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from askless.acquisition import Interview, Question
    from askless.acquisition.schema import Part
    from askless.cli.session import Session
    from askless.cli.wording import Wording

__all__ = ["alternatives", "choices_of", "picture", "prediction_text", "shown_value", "summary", "title"]

BAR, MOST_BARS = 28, 6  # characters; classes with a bar of their own
MOST_CHOICES = 20  # choices without numbers that are shown
LARGE = 1e9  # numbers from here on are shown in powers of ten


def title(number: int, question: Question, wording: Wording, part: Part | None = None) -> Text:
    """The number, wording, name and cost of a question, and of a group its current part."""
    from rich.text import Text

    worded = wording.text(question.name)
    text = Text.assemble((f"{number}. ", "dim"), (worded, "bold"))
    if worded != question.name:
        text.append(f"  {question.name}", "dim")
    if part is not None and len(question.parts) > 1:
        place = question.parts.index(part) + 1
        text.append(f": {wording.text(part.name)}", "bold")
        text.append(f"  part {place} of {len(question.parts)}", "dim")
    return text.append(f"  cost {question.cost:g}", "dim")


def choices_of(part: Part, wording: Wording) -> list[str]:
    """Lines that describe the possible answers."""
    if part.kind == "number":
        unit = wording.unit(part.name)
        return [
            f"a number{unit and f' ({unit})'}"
            + ("" if part.low is None else f"; {part.low:g} to {part.high:g} in training")
        ]
    if part.kind == "boolean":
        return ["yes or no"]
    choices = [str(choice) for choice in part.choices or ()]
    if not numbered(part):
        more = f" and {len(choices) - MOST_CHOICES} more" if len(choices) > MOST_CHOICES else ""
        return [f"one of {', '.join(choices[:MOST_CHOICES])}{more}"]
    return [f"{i}  {choice}" for i, choice in enumerate(choices, 1)]


def alternatives(session: Session) -> str:
    """Other features that could be asked now, with costs."""
    others = [f"{each.name} (cost {each.price:g})" for each in session.interview.candidates[1:4]]
    postponed = session.interview.postponed
    if not others:
        return f"nothing else is left but {', '.join(postponed)}" if postponed else "nothing else is left"
    return f"{'followed by' if session.interview.fixed_order else 'preferred to'} {', '.join(others)}"


def picture(
    prediction: Mapping[Any, float], scale: tuple[float, float] | None = None, ascii_only: bool = False
) -> Text:
    """A small picture of a prediction: a bar for each class, or a mean on a scale."""
    from rich.text import Text

    if _is_mean(prediction):
        return Text(_on_scale(prediction["mean"], prediction.get("sd"), scale, ascii_only))
    shown = sorted(prediction, key=lambda label: -prediction[label])[:MOST_BARS]
    best = shown[0]
    width = max(len(str(label)) for label in shown)
    text = Text()
    for label in (label for label in prediction if label in shown):
        full = round(prediction[label] * BAR)
        text.append(f"  {label!s:<{width}}  ", "bold" if label == best else "")
        text.append(("#" if ascii_only else "█") * full, "cyan" if label == best else "blue")
        text.append(("." if ascii_only else "░") * (BAR - full), "dim")
        text.append(f" {prediction[label]:>6.1%}\n", "bold" if label == best else "")
    if len(prediction) > len(shown):
        rest = sum(p for label, p in prediction.items() if label not in shown)
        text.append(f"  {len(prediction) - len(shown)} others {rest:.1%}\n", "dim")
    text.rstrip()
    return text


def _is_mean(prediction: Mapping[Any, float]) -> bool:
    return "mean" in prediction and set(prediction) <= {"mean", "sd"}


def _on_scale(mean: float, sd: float | None, scale: tuple[float, float] | None, ascii_only: bool) -> str:
    """The mean as a dot and one standard deviation to either side as a bar."""
    text = f"  {_rounded(mean, 4)}" + ("" if sd is None else f" ± {_rounded(sd)}")
    if scale is None or sd is None or not scale[0] < scale[1]:
        return text
    low, high = scale

    def place(value: float) -> int:
        return round(min(max((value - low) / (high - low), 0.0), 1.0) * (BAR - 1))

    dot, bar, rest = ("o", "=", ".") if ascii_only else ("●", "━", "·")
    cells = [bar if place(mean - sd) <= i <= place(mean + sd) else rest for i in range(BAR)]
    cells[place(mean)] = dot
    return f"  {_rounded(low)} {''.join(cells)} {_rounded(high)} {text}"


def _rounded(value: float, digits: int = 3) -> str:
    """A number with this many significant digits. Large numbers keep all digits before the point.

    >>> _rounded(0.12345), _rounded(-446.4), _rounded(3012.3), _rounded(999.7), _rounded(2.5e12)
    ('0.123', '-446', '3012', '1000', '2.5e+12')
    """
    return f"{value:.0f}" if 10**digits - 0.5 <= abs(value) < LARGE else f"{value:.{digits}g}"


def prediction_text(prediction: Mapping[Any, float]) -> str:
    """A prediction as short text."""
    if _is_mean(prediction):
        return _rounded(prediction["mean"], 4) + (f" ± {_rounded(prediction['sd'])}" if "sd" in prediction else "")
    best = max(prediction, key=lambda label: prediction[label])
    return f"{best} ({prediction[best]:.0%})"


def shown_value(value: Any) -> str:
    """An answer as text."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name} = {shown_value(part)}" for name, part in value.items())
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "unknown" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)


def summary(interview: Interview) -> Table:
    """A table of all events: question, answer, prediction and cost."""
    table = make_table("", "question", "answer", "prediction after", "cost", numbers=(4,))
    words = {"later": "postponed", "unknown": "unknown"}
    number = 0
    for event in interview.history:
        asked = event.action in ("answer", "unknown")
        number += asked
        answer = words.get(event.action) or shown_value(event.value)
        if event.action == "tell":
            answer += " (known)"
        mark = str(number) if asked else ""
        table.add_row(mark, event.feature, answer, prediction_text(event.prediction), f"{event.cost:g}")
    return table
