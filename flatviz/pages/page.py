"""One self-contained HTML file: the explorer with its data, plotly.js inside, no kernel and no network."""

from __future__ import annotations

import base64
import html
from collections.abc import Mapping, Sequence
from pathlib import Path

from flatviz.pages.bundle import pack
from flatviz.results import Family

EXPLORER = Path(__file__).with_name("explorer.js")

STYLE = """
body { margin: 0; background: #fff; color: #1f2933;
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; }
main { max-width: 1440px; margin: 0 auto; padding: 26px 22px 60px; }
h1 { margin: 0 0 4px; font-size: 26px; } h2 { font-size: 19px; margin: 34px 0 8px; }
p.lead { max-width: 76ch; margin: 0 0 16px; color: #3e4c59; }
table { border-collapse: collapse; font-size: 14px; font-variant-numeric: tabular-nums; }
th, td { padding: 4px 14px 4px 0; text-align: right; border-bottom: 1px solid #e4e7eb; }
th:first-child, td:first-child { text-align: left; }
.scroll { overflow-x: auto; } details { margin-top: 26px; } summary { cursor: pointer; font-weight: 600; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 2px 16px; font-size: 14px; } dt { color: #52606d; } dd { margin: 0; }
"""

BOOTSTRAP = """
const text = (id) => document.getElementById(id).textContent;
const state = { radius: START.radius, n_draws: START.n_draws, method: START.method };
const model = { get: (k) => state[k], set: (k, v) => { state[k] = v; }, save_changes() {}, on() {}, off() {} };
const bundle = { index: JSON.parse(text("flatviz-index")),
  buffer: Uint8Array.from(atob(text("flatviz-records")), (c) => c.charCodeAt(0)) };
show({ Plotly: globalThis.Plotly, model, el: document.getElementById("explorer"), bundle });
"""


def family_page(
    family: Family,
    *,
    title: str,
    lead: str,
    rows: Sequence[Mapping[str, str]],
    facts: Mapping[str, str],
    start: tuple[str, float, int],
) -> str:
    """The HTML text of a measured family.

    lead: a paragraph of introduction; rows: a table, one mapping from heading to text a row; facts: how it was made;
    start: method, radius and ensemble size at which the controls stand first.
    """
    from plotly.offline import get_plotlyjs  # 5 MB of text: read only when a page is made

    bundle = pack(family)
    method, radius, n_draws = start
    opening = f'{{ method: "{method}", radius: {radius!r}, n_draws: {n_draws} }}'
    scripts = f"""<script>{get_plotlyjs()}</script>
<script type="application/json" id="flatviz-index">{_inside_script(bundle.index)}</script>
<script type="text/plain" id="flatviz-records">{base64.b64encode(bundle.buffer).decode()}</script>
<script type="module">
const START = {opening};
{EXPLORER.read_text(encoding="utf-8")}
{BOOTSTRAP}
</script>
"""
    pictures = '<div id="explorer"><noscript>The pictures on this page are drawn by JavaScript.</noscript></div>'
    return document(title, lead, pictures, heading="All posteriors", rows=rows, facts=facts, scripts=scripts)


def document(
    title: str,
    lead: str,
    pictures: str,
    *,
    heading: str,
    rows: Sequence[Mapping[str, str]],
    facts: Mapping[str, str],
    scripts: str = "",
) -> str:
    """The HTML text of a page: `lead` and `pictures` as they are, then `rows` as a table and `facts` on how it was made."""
    heads = "".join(f"<th scope='col'>{html.escape(h)}</th>" for h in rows[0])
    body = "".join("<tr>" + "".join(f"<td>{html.escape(v)}</td>" for v in row.values()) + "</tr>" for row in rows)
    made = "".join(f"<dt>{html.escape(k)}</dt><dd>{html.escape(v)}</dd>" for k, v in facts.items())
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{html.escape(title)}</title><link rel="icon" href="data:,"><style>{STYLE}</style></head>
<body><main>
<h1>{html.escape(title)}</h1>
<p class="lead">{lead}</p>
{pictures}
<h2>{heading}</h2>
<div class="scroll"><table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>
<details><summary>How this was made</summary><dl>{made}</dl></details>
</main>
{scripts}</body></html>
"""


def _inside_script(text: str) -> str:
    """JSON that cannot end the script element it stands in."""
    return text.replace("</", "<\\/").replace("<!--", "<\\u0021--")
