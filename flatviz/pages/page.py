"""One self-contained HTML file: the explorer with its data, plotly.js inside, no kernel and no network."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from pathlib import Path

from flatviz.pages.bundle import pack
from flatviz.pages.document import Script, document
from flatviz.results import Family

EXPLORER = Path(__file__).with_name("explorer.js")

BOOTSTRAP = """
const data = (id) => JSON.parse(document.getElementById(id).textContent);
const state = data("flatviz-start");
const model = { get: (k) => state[k], set: (k, v) => { state[k] = v; }, save_changes() {}, on() {}, off() {} };
const buffer = Uint8Array.from(atob(data("flatviz-records")), (c) => c.charCodeAt(0));
show({ Plotly: globalThis.Plotly, model, el: document.getElementById("explorer"), bundle: { index: data("flatviz-index"), buffer } });
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

    lead: a paragraph of introduction, plain text in which **words** are bold; rows: a table, one mapping from heading to
    text a row; facts: how it was made; start: method, radius and ensemble size at which the controls stand first.
    """
    bundle = pack(family)
    scripts = [
        plotlyjs(),
        Script.data("flatviz-index", bundle.index),
        Script.data("flatviz-records", base64.b64encode(bundle.buffer).decode()),
        Script.data("flatviz-start", dict(zip(("method", "radius", "n_draws"), start))),
        Script(EXPLORER.read_text(encoding="utf-8") + BOOTSTRAP),
    ]
    pictures = '<div id="explorer"><noscript>The pictures on this page are drawn by JavaScript.</noscript></div>'
    return document(title, lead, pictures, heading="All posteriors", rows=rows, facts=facts, scripts=scripts)


def plotlyjs() -> Script:
    """plotly.js, which sets the global Plotly."""
    from plotly.offline import get_plotlyjs  # 5 MB of text: read only when a page is made

    return Script(get_plotlyjs(), kind="", name="plotly")
