"""The section on one case: its questions, answers and predictions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from askless.report.figures import path_figure, svg_uri
from askless.report.html import paragraph, picture, section, text

if TYPE_CHECKING:
    from askless.report.comparison import Case, Comparison

__all__ = ["story"]

OWN = 5  # classes with a colour of their own; the others share one


def story(comparison: Comparison, case: Case) -> str:
    """The questions, answers and predictions of one case."""
    trajectory = comparison.contenders[0].trajectory
    asked = trajectory.names(case.row)
    path = trajectory.predictions[case.row, : len(asked) + 1]  # (steps, outputs)
    predictions = _Means() if comparison.data.task == "regression" else _Classes(trajectory.outputs, path)
    items = [_step("", "before the first question", "", predictions.show(path[0]))]
    for i, (name, answer) in enumerate(zip(asked, case.shown, strict=True), 1):
        items.append(_step(str(i), name, answer, predictions.show(path[i])))
    return section(
        "One case",
        paragraph(f"{case.choice}. The truth is {case.truth}."),
        predictions.legend,
        f'<ol class="steps">{"".join(items)}</ol>',
        picture(svg_uri(path_figure(comparison, case)), "predictions after each answer"),
    )


def _step(number: str, name: str, answer: str, prediction: str) -> str:
    mark = f'<span class="n">{number}</span>' if number else "<span></span>"
    words = f'<span><span class="q">{text(name)}</span> <span class="a">{text(answer)}</span></span>'
    return f'<li>{mark}{words}<span class="p">{prediction}</span></li>'


class _Means:
    """The predictions of a regression."""

    legend = ""

    def show(self, output: np.ndarray) -> str:
        """The mean."""
        return f"{output[0]:.4g}"


class _Classes:
    """Probabilities as bars, in the colours of the figure."""

    def __init__(self, labels: tuple[Any, ...], path: np.ndarray) -> None:
        self.labels = labels
        ranked = np.lexsort((-path.max(axis=0), np.arange(path.shape[1]) != path[-1].argmax()))
        self.own = ranked if len(ranked) <= OWN + 1 else ranked[:OWN]
        keys = [f'<span><i class="k{i}"></i>{text(labels[c])}</span>' for i, c in enumerate(self.own)]
        keys += ['<span><i class="k6"></i>others</span>'] if len(self.own) < len(labels) else []
        self.legend = f'<p class="legend">{"".join(keys)}</p>'

    def show(self, output: np.ndarray) -> str:
        """A bar of all classes and the most probable class as text."""
        best = int(output.argmax())
        shares = [*enumerate(output[self.own]), (6, max(0.0, 1.0 - output[self.own].sum()))]
        bars = "".join(f'<i class="k{i}" style="width:{100 * share:.2f}%"></i>' for i, share in shares)
        return f'<span class="bar">{bars}</span>{text(self.labels[best])} ({output[best]:.0%})'
