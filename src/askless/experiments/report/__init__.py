"""The report of an experiment: tables with intervals and figures, as Markdown, CSV, PNG and one HTML page.

`study` sorts results, `statistics` has the arithmetic, `leads` compares, `grids` makes tables, `figures` draws,
`words` explains, `content` puts these together, and `markdown`, `page` and `frames` write them.
"""

from askless.experiments.report.writing import write_report

__all__ = ["write_report"]
