"""One self-contained HTML file: the explorer with its data, plotly.js inside, no kernel and no network."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from flatviz.pages.bundle import pack
from flatviz.pages.document import Script, document, json_for_html, paragraph
from flatviz.pages.playground import LEAD, playground_elements
from flatviz.pages.story import Step
from flatviz.pages.table import family_rows
from flatviz.results import Family

HERE = Path(__file__).parent
PARTS = ("records", "colors", "keys", "controls", "redraw", "room", "figures", "images", "state")  # before explorer.js
BOOTSTRAP = "\n" + (HERE / "front" / "start.js").read_text(encoding="utf-8")


@lru_cache(maxsize=1)
def front_end() -> str:
    """The front end as one ES module that imports nothing and exports `show`."""
    style = f"const STYLE = {json_for_html((HERE / 'front' / 'style.css').read_text(encoding='utf-8'))};"
    files = [*(HERE / "front" / f"{part}.js" for part in PARTS), HERE / "explorer.js"]
    return "\n".join([style, *(path.read_text(encoding="utf-8") for path in files)])


def family_page(
    family: Family,
    *,
    title: str,
    lead: str,
    facts: Mapping[str, str],
    start: tuple[str, float, int],
    rows: Sequence[Mapping[str, str]] = (),
    story: Sequence[Step] = (),
    code: Sequence[str] = (),
    look: Mapping[str, Any] | None = None,
    playground: bool = False,
) -> str:
    """The HTML text of a measured family.

    lead: a paragraph of introduction, plain text in which **words** are bold; facts: how it was made; start: first values of the
    controls for method, radius and ensemble size; rows: a table, one mapping from heading to text a row, by default that of
    `family_rows`; story: sections of the article; code: lines of Python that make `family`; look: the rest of the state at
    which the page opens (tab, compare, picked, chosen, step, phase, moment); playground: the two-weight world above
    the lead, and a regression with a gap below the article, both trained in the browser.
    """
    bundle, look = pack(family, story=story, code=code), {"step": 0 if story else -1, **(look or {})}
    controls = dict(zip(("method", "radius", "n_draws"), start)) | {"look": look}
    scripts = [
        plotlyjs(),
        Script.data("flatviz-index", _deflated(bundle.text.encode())),
        Script.data("flatviz-records", _deflated(planes_of(bundle.buffer))),
        Script.data("flatviz-start", controls),
        Script(front_end() + BOOTSTRAP),
    ]
    pictures = '<div id="explorer"><noscript>The pictures on this page are drawn by JavaScript.</noscript></div>'
    if playground:
        (weights, gap), code_of_worlds = playground_elements(["weights"], ["gap"])
        scripts.insert(0, Script(code_of_worlds))
        pictures = f"{weights}\n<h2>The same with a trained network</h2>\n{paragraph(lead)}\n{pictures}\n{gap}"
        lead = LEAD
    return document(title, lead, pictures, rows=rows or family_rows(family), facts=facts, scripts=scripts)


def planes_of(buffer: bytes) -> bytes:
    """The first bytes of all float32, then the second ones and so on: similar bytes are then neighbours, and take less room deflated."""
    return np.frombuffer(buffer, np.uint8).reshape(-1, 4).T.tobytes()


def _deflated(content: bytes) -> str:
    return base64.b64encode(zlib.compress(content, 9)).decode()


def plotlyjs() -> Script:
    """plotly.js, which sets the global Plotly."""
    from plotly.offline import get_plotlyjs  # 5 MB of text: read only when a page is made

    return Script(get_plotlyjs(), kind="", name="plotly")
