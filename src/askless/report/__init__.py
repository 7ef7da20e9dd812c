"""The report of a comparison: one self-contained HTML page without scripts.

`comparison` holds the data and the statistics, `figures` the plots, `sections` and `story` the parts of the page, and
`page` puts them together.
"""

from askless.report.comparison import Case, Comparison, Contender, Headline, headline, lead, needed, ranking
from askless.report.page import render_report

__all__ = ["Case", "Comparison", "Contender", "Headline", "headline", "lead", "needed", "ranking", "render_report"]
