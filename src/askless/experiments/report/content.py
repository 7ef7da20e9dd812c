"""The content of the report, independent of the output format."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from askless.experiments.report import figures, money, stopping, words
from askless.experiments.report.grids import (
    Grid,
    calibration_grid,
    lead_grid,
    relevant_grid,
    resource_grid,
    score_grid,
)
from askless.experiments.report.kinds import CONTROL, HEAT_MAPS
from askless.experiments.report.leads import leads_over

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from askless.experiments.report.leads import Lead
    from askless.experiments.report.study import Study, Subject

__all__ = ["Chapter", "Content", "Picture", "Tile", "content_of"]

Table = tuple[str, str, Grid, list[str]]  # title, explanation, table, notes below it


@dataclass(frozen=True, eq=False)
class Picture:
    """A figure: one file for Markdown, one or more parts for the HTML page."""

    file: str
    alt: str
    words: str
    whole: Figure
    parts: tuple[Figure, ...]


@dataclass(frozen=True, eq=False)
class Chapter:
    """One data set."""

    title: str
    anchor: str
    words: str
    figures: tuple[Picture, ...]


@dataclass(frozen=True)
class Tile:
    """A number at the top of the page."""

    title: str
    number: str
    after: str
    words: str
    first: bool


@dataclass(frozen=True, eq=False)
class Content:
    """The whole report."""

    headline: str
    lead: str  # the paragraph below it
    tiles: tuple[Tile, ...]
    tables: tuple[Table, ...]
    chapters: tuple[Chapter, ...]
    facts: Mapping[str, str]
    files: tuple[str, ...]  # other files of the report


def content_of(study: Study, against: str | None, files: tuple[str, ...] = ()) -> Content:
    """The whole content of the report."""
    leads = {} if against is None else leads_over(study, against)
    taken: set[str] = set()
    chapters = []
    for subject in study.subjects:
        anchor = _slug(subject.name, taken)
        shown = tuple(_figures(study, subject, against, leads, anchor))
        chapters.append(Chapter(subject.name, anchor, words.about_subject(subject), shown))
    return Content(
        headline=words.headline(study, against, leads),
        lead=words.about_study(study, against, leads),
        tiles=tuple(_tile(subject, against, leads) for subject in study.subjects),
        tables=tuple(_tables(study, against, leads)),
        chapters=tuple(chapters),
        facts=words.facts(study),
        files=files,
    )


def _tables(study: Study, against: str | None, leads: dict[tuple[str, str], Lead]) -> Iterator[Table]:
    """The tables that are not empty."""
    yield "Scores", words.about_scores(study), score_grid(study), words.published_notes(study)
    if against is not None and leads:
        yield f"Lead of {against}", words.about_leads(study, against, leads), lead_grid(study, leads), []
    relevant = relevant_grid(study)
    if relevant:
        yield "Steps to all relevant features", words.about_relevant(study), relevant, []
    spending = money.money_grid(study)
    if spending:
        yield "Money", money.about_money(study), spending, []
    stopped = stopping.stopping_grid(study)
    if stopped:
        yield "Stopping", stopping.about_stopping(), stopped, []
    calibration = calibration_grid(study)
    if calibration:
        yield "Calibration", words.about_calibration(), calibration, []
    yield "Time and memory", words.about_resources(), resource_grid(study), []


def _figures(
    study: Study, subject: Subject, against: str | None, leads: dict[tuple[str, str], Lead], anchor: str
) -> Iterator[Picture]:
    """Curves, leads, calibration and selection frequencies."""
    kinds = figures.panels(study, subject)

    def curves(curve: str, label: str) -> tuple[Figure, tuple[Figure, ...]]:
        def draw(shown: list[tuple[str, ...]]) -> Figure:
            return figures.curve_figure(study, subject, curve, label, against, shown)

        return draw(kinds), tuple(draw([shown]) for shown in kinds)

    label = subject.metric_label
    alt = f"{label} against features asked, {subject.name}"
    yield Picture(f"{anchor}-curves.png", alt, words.about_curves(subject), *curves(subject.metric.__name__, label))
    if money.priced(subject):
        alt = f"{label} against money, {subject.name}"
        drawn_money = money.money_figure(study, subject, against)
        yield Picture(f"{anchor}-money.png", alt, f"{alt}.", drawn_money, (drawn_money,))
    if stopping.stops(subject):
        alt = f"{label} against money where rules stop, {subject.name}"
        drawn_stops = stopping.frontier_figure(study, subject, against)
        told = f"{alt}. {stopping.about_frontier()}"
        yield Picture(f"{anchor}-stopping.png", alt, told, drawn_stops, (drawn_stops,))
    if subject.classifies:
        alt = f"calibration error against features asked, {subject.name}"
        drawn = curves("ece", "expected calibration error ×100")
        yield Picture(f"{anchor}-calibration.png", alt, words.about_calibration_curves(subject, against), *drawn)
    forest = None if against is None else figures.lead_figure(study, subject, against, leads)
    if forest is not None:
        alt = f"lead of {against} over each method, {subject.name}"
        yield Picture(f"{anchor}-leads.png", alt, words.about_forest(subject, str(against)), forest, (forest,))
    taken: set[str] = set()
    for row in study.rows:
        entry = subject.entries.get(row.label)
        chosen = row.method in HEAT_MAPS or (row.label == against and row.kind != CONTROL)
        heat = figures.heat_figure(entry) if entry is not None and chosen else None
        if heat is not None:
            told = words.about_heat(subject, row.label)
            yield Picture(f"{anchor}-asked-{_slug(row.label, taken)}.png", told, f"{told}.", heat, (heat,))


def _tile(subject: Subject, against: str | None, leads: dict[tuple[str, str], Lead]) -> Tile:
    """The score of the chosen method on a data set, else that of the best method."""
    label = against if against in subject.entries else min(subject.best, default=min(subject.entries))
    assert label is not None
    estimate = subject.scores[label]
    told = words.place(subject, label, leads) if label == against else f"{label}, the best"
    number, after = subject.scale.number(estimate.mean), subject.scale.plus_minus(estimate)
    return Tile(subject.name, number, after, f"{subject.metric_label}; {told}", label in subject.best)


def _slug(name: str, taken: set[str]) -> str:
    """The name as a unique part of file names and addresses; it is added to `taken`."""
    base = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "x"
    slug, number = base, 2
    while slug in taken:
        slug, number = f"{base}-{number}", number + 1
    taken.add(slug)
    return slug
