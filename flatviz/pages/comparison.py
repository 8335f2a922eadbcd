"""A comparison as one HTML file: a figure with menus, and the table."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from flatviz.pages.document import Script, document
from flatviz.pages.page import plotlyjs
from flatviz.plots.theme import CONFIG, Figure

BOOTSTRAP = """
const { data, layout, config } = JSON.parse(document.getElementById("flatviz-figure").textContent);
Plotly.newPlot("comparison", data, layout, config);
"""


def comparison_page(fig: Figure, *, title: str, lead: str, rows: Sequence[Mapping[str, str]], facts: Mapping[str, str]) -> str:
    """The HTML text, plotly.js inside, no network: the figure, `rows` as a table, `facts` on how it was made.

    lead: plain text in which **words** are bold.
    """
    drawn = Script.data("flatviz-figure", json.loads(fig.to_json()) | {"config": CONFIG})
    scripts = [plotlyjs(), drawn, Script(BOOTSTRAP)]
    return document(title, lead, '<div id="comparison"></div>', heading="All methods", rows=rows, facts=facts, scripts=scripts)
