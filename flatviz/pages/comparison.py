"""A comparison as one HTML file: a figure with menus, and the table."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence

from flatviz.pages.page import STYLE
from flatviz.plots._theme import Figure


def comparison_page(fig: Figure, *, title: str, lead: str, rows: Sequence[Mapping[str, str]], facts: Mapping[str, str]) -> str:
    """The HTML text, plotly.js inside, no network: the figure, `rows` as a table, `facts` on how it was made."""
    chart = fig.to_html(full_html=False, include_plotlyjs=True, div_id="comparison")
    heads = "".join(f"<th scope='col'>{html.escape(h)}</th>" for h in rows[0])
    body = "".join("<tr>" + "".join(f"<td>{html.escape(v)}</td>" for v in row.values()) + "</tr>" for row in rows)
    made = "".join(f"<dt>{html.escape(k)}</dt><dd>{html.escape(v)}</dd>" for k, v in facts.items())
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{html.escape(title)}</title><link rel="icon" href="data:,"><style>{STYLE}</style></head>
<body><main>
<h1>{html.escape(title)}</h1>
<p class="lead">{html.escape(lead)}</p>
{chart}
<h2>All methods</h2>
<div class="scroll"><table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>
<details><summary>How this was made</summary><dl>{made}</dl></details>
</main></body></html>
"""
