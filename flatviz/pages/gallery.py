"""Several figures with captions and tables as one HTML file, plotly.js inside, no network and no kernel."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from flatviz.pages.document import Script, document, table_html
from flatviz.pages.page import plotlyjs
from flatviz.plots.theme import CONFIG, Figure

LEAST = 700  # px, of a picture's width: a narrower page scrolls it sideways, so that titles of its axes keep apart
BOOTSTRAP = """
for (const { id, data, layout, config } of JSON.parse(document.getElementById("flatviz-figures").textContent))
  Plotly.newPlot(id, data, layout, config);
"""


@dataclass(frozen=True, eq=False)
class Picture:
    """One figure of a page, with the paragraph under it; `table`, rows shown instead of a figure."""

    name: str
    caption: str
    figure: Figure | None = None
    table: Sequence[Mapping[str, str]] = ()


def gallery_page(
    pictures: Sequence[Picture],
    *,
    title: str,
    lead: str,
    heading: str,
    rows: Sequence[Mapping[str, str]],
    facts: Mapping[str, str],
) -> str:
    """The HTML text: pictures one below the other, `rows` as a table under `heading`, `facts` on how it was made.

    lead: plain text in which **words** are bold.
    """
    drawn = [json.loads(p.figure.to_json()) | {"id": p.name, "config": CONFIG} for p in pictures if p.figure is not None]
    body = "\n".join(_picture(p) for p in pictures)
    scripts = [plotlyjs(), Script.data("flatviz-figures", drawn), Script(BOOTSTRAP)]
    return document(title, lead, body, heading=heading, rows=rows, facts=facts, scripts=scripts)


def _picture(p: Picture) -> str:
    caption = f'<p class="lead">{html.escape(p.caption)}</p>'
    if p.figure is not None:
        alt = html.escape(p.figure.layout.meta["alt"])
        drawn = f'<div id="{html.escape(p.name)}" role="img" aria-label="{alt}" style="min-width: {LEAST}px"></div>'
        return f'<div class="scroll" tabindex="0" role="group" aria-label="picture">{drawn}</div>\n{caption}'
    return f"<h2>{html.escape(p.name)}</h2>\n{caption}\n{table_html(p.table)}"
