"""A report of a comparison as one HTML page without a script, that needs nothing but itself.

`comparison` holds what is compared and what follows from it, `figures` draws, `sections` writes the parts of the page
and `page` puts them together.
"""

from askless.report.comparison import Case, Comparison, Contender, Headline, headline, lead, needed, ranking
from askless.report.page import render_report

__all__ = ["Case", "Comparison", "Contender", "Headline", "headline", "lead", "needed", "ranking", "render_report"]
