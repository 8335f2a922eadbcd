"""A comparison as one HTML file: a figure with menus, and the table."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence

from flatviz.pages.page import document
from flatviz.plots.theme import Figure


def comparison_page(fig: Figure, *, title: str, lead: str, rows: Sequence[Mapping[str, str]], facts: Mapping[str, str]) -> str:
    """The HTML text, plotly.js inside, no network: the figure, `rows` as a table, `facts` on how it was made."""
    chart = fig.to_html(full_html=False, include_plotlyjs=True, div_id="comparison")
    return document(title, html.escape(lead), chart, heading="All methods", rows=rows, facts=facts)
