"""The report as one HTML page without other files."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

from askless.experiments.report.grids import Cell, Grid
from askless.report.figures import svg_uri
from askless.report.html import listing, paragraph, picture, section, table, text
from askless.report.page import PAGE

if TYPE_CHECKING:
    from askless.experiments.report.content import Chapter, Content, Picture

__all__ = ["as_page"]


def as_page(content: Content) -> str:
    """The page as text."""
    from askless import __version__

    parts = [_head(content), _tiles(content)]
    for title, words, grid, notes in content.tables:
        below = [paragraph(note, "quiet note") for note in notes]
        parts.append(section(title, paragraph(words), _table(grid), *below, kind="grid"))
    parts[3:3] = [_chapter(chapter) for chapter in content.chapters]  # figures after the scores
    links = ", ".join(f'<a href="{text(name)}">{text(name)}</a>' for name in content.files)
    beside = f'<p class="quiet note">The same numbers in files beside this page: {links}.</p>' if links else ""
    parts.append(section("How it was measured", listing(content.facts), beside))
    styles = [_style("askless.report"), _style("askless.experiments.report")]
    title = f"{content.headline}: askless experiments"
    return PAGE.format(title=text(title), style="\n".join(styles), body="\n".join(parts), version=text(__version__))


def _style(package: str) -> str:
    return files(package).joinpath("style.css").read_text(encoding="utf-8").strip()


def _head(content: Content) -> str:
    places = "".join(f'<a href="#{text(c.anchor)}">{text(c.title)}</a>' for c in content.chapters)
    return (
        '<header>\n<p class="mark">askless <span>· experiments</span></p>\n'
        f"<h1>{text(content.headline)}.</h1>\n"
        f'<p class="lead">{text(content.lead)}</p>\n'
        f'<nav class="chips">{places}</nav>\n</header>'
    )


def _tiles(content: Content) -> str:
    tiles = (
        f'<div class="tile{" first" if tile.first else ""}"><i>{text(tile.title)}</i>'
        f"<b>{text(tile.number)} <small>{text(tile.after)}</small></b><span>{text(tile.words)}</span></div>"
        for tile in content.tiles
    )
    return '<div class="tiles">\n' + "\n".join(tiles) + "\n</div>"


def _chapter(chapter: Chapter) -> str:
    figures = "\n".join(map(_figure, chapter.figures))
    body = section(chapter.title, paragraph(chapter.words), f'<div class="figures">{figures}</div>', kind="chapter")
    return f'<div id="{text(chapter.anchor)}">\n{body}\n</div>'


def _figure(shown: Picture) -> str:
    parts = "\n".join(picture(svg_uri(part), shown.alt) for part in shown.parts)
    wide = " wide" if len(shown.parts) > 1 else ""
    return f'<div class="shown{wide}">{paragraph(shown.words, "quiet note")}<div class="parts">{parts}</div></div>'


def _table(grid: Grid) -> str:
    """A table; the first row of a group is its title."""
    rows = []
    for title, lines in grid.groups:
        rows.append([f'<span class="group">{text(title)}</span>', *[""] * len(grid.columns)])
        rows += [[text(label).replace("_", "_<wbr>"), *map(_cell, cells)] for label, cells in lines]
    heads = ["method", *(f"{name}\n{unit}" for name, unit in grid.columns)]
    return table(heads, rows, numbers=range(1, len(heads)))


def _cell(cell: Cell) -> str:
    main = f'<b class="best">{text(cell.main)}</b>' if cell.bold else text(cell.main)
    after = f' <span class="after">{text(cell.after)}</span>' if cell.after else ""
    small = f"<small>{text(cell.small)}</small>" if cell.small else ""
    return main + after + small
