"""The figures of the report."""

from __future__ import annotations

import base64
import io
from typing import TYPE_CHECKING

import matplotlib
from matplotlib.figure import Figure

from askless.plotting import plot_curve, plot_path, plot_selection_frequency

if TYPE_CHECKING:
    from askless.report.comparison import Case, Comparison

__all__ = ["curve_figure", "frequency_figure", "path_figure", "png", "svg_uri"]


def curve_figure(comparison: Comparison) -> Figure:
    """Score by budget, with intervals."""
    return _figure(plot_curve(comparison.curves, metric_label=comparison.metric.label, pyplot=False))


def frequency_figure(comparison: Comparison) -> Figure:
    """How often each feature is asked within each budget."""
    return _figure(plot_selection_frequency(comparison.contenders[0].trajectory, pyplot=False))


def path_figure(comparison: Comparison, case: Case) -> Figure:
    """The prediction for the case after each answer."""
    trajectory = comparison.contenders[0].trajectory
    return _figure(plot_path(trajectory, case.row, values=case.values(trajectory), pyplot=False))


def _figure(axes: matplotlib.axes.Axes) -> Figure:
    figure = axes.figure
    assert isinstance(figure, Figure)
    return figure


def png(figure: Figure, dpi: int = 200) -> bytes:
    """The figure as a PNG file."""
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=dpi, metadata={"Software": None})
    return file.getvalue()


def svg_uri(figure: Figure) -> str:
    """The figure as a data URI of an SVG image; equal figures give equal text."""
    file = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "askless"}):
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    return "data:image/svg+xml;base64," + base64.b64encode(file.getvalue()).decode()
