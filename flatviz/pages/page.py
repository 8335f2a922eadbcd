"""One HTML file without kernel and network: the explorer with its data, or the playground."""

import base64
import zlib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from flatviz.pages.bundle import pack
from flatviz.pages.document import Script, document, family_rows, json_for_html, paragraph
from flatviz.pages.dots import dots_html
from flatviz.pages.story import Section, tour_story
from flatviz.plots.theme import on_dark, style
from flatviz.results import Family

# The playground's
METHODS = {
    "gd": "sgd",
    "sam": "sam_mu",
    "vi": "vi",
    "sabma": "sabma",
    "sgld": "sgld",
    "hmc": "hmc",
}
LABELS = {"gd": "gradient descent", "sam": "SAM"}  # here of a single point, without momentum
World = Literal["weights", "step", "network", "gap"]
WORLDS: tuple[World, ...] = get_args(World)
LEAD = (
    "A network is flat where its loss hardly rises when its weights move a little. Does flatness"
    " help?"
)


@lru_cache
def bundled(name: str) -> str:
    """Read a JavaScript bundle of `.ci/bundle.mjs`.

    Explorer and playground set a global each, the loader is an ES module.
    """
    path = Path(__file__).parent / "bundles" / f"{name}.js"
    return path.read_text(encoding="utf-8")


@lru_cache(maxsize=1)
def playground_code() -> str:
    """Return the playground as a script that sets `flatvizPlayground`.

    It has the methods' names, colours and symbols.
    """
    styles = {}
    for name, method in METHODS.items():
        look = style(method)
        label = LABELS.get(name, look.label)
        styles[name] = [label, look.color, on_dark(look.color), look.symbol]
    return f"const METHOD_STYLES = {json_for_html(styles)};\n{bundled('playground')}"


def playground_element(worlds: Sequence[str], *, code: bool = True) -> list[str | Script]:
    """Return an element of `WORLDS` and the script that fills it.

    code: with the playground, which a page needs once.
    """
    name = f"playground-{'-'.join(worlds)}"
    call = (
        f'flatvizPlayground.mount(document.getElementById("{name}"),'
        f" {json_for_html({'worlds': list(worlds)})})"
    )
    call = f"requestAnimationFrame(() => setTimeout(() => {call}));"  # the text can be read first
    text = f"{playground_code()}\n{call}" if code else call
    return [f'<div id="{name}"></div>', Script(text, kind="")]


def playground_page(worlds: Sequence[str] = WORLDS) -> str:
    """Write the HTML text of a page of the playground alone, without data and plotly.js."""
    return document("Flatness, live", LEAD, playground_element(worlds))


def family_page(
    family: Family,
    *,
    title: str,
    lead: str,
    facts: Mapping[str, str],
    start: tuple[str, float, int],
    rows: Sequence[Mapping[str, str]] = (),
    story: Sequence[Section] | None = None,
    code: Sequence[str] = (),
    look: Mapping[str, object] | None = None,
    playground: bool = False,
) -> str:
    """Write the HTML text of a measured family.

    lead: a paragraph of introduction, plain text in which **words** are bold.
    facts: how it was computed.
    start: first values of the controls for method, radius and ensemble size.
    rows: a table, one mapping from heading to text a row, by default that of `family_rows`.
    story: sections of the article, by default those of `tour_story`.
    code: lines of Python that make `family`.
    look: the rest of the state at which the page opens (tab, compare, picked, chosen, step).
    playground: the two-weight world above the lead, and a regression with a gap below the article,
        both trained in the browser.
    """
    story = tour_story(family) if story is None else story
    bundle = pack(family, story=story, code=code)
    look = {"step": 0 if story else -1, **(look or {})}
    method, radius, n_draws = start
    controls = {"method": method, "radius": radius, "n_draws": n_draws, "look": look}
    data = [
        plotlyjs(),
        Script.data("flatviz-index", _deflated(bundle.text.encode())),
        Script.data("flatviz-records", _deflated(planes_of(bundle.buffer))),
        Script.data("flatviz-start", controls),
        Script(f"{bundled('explorer')}\nflatvizExplorer.start();"),
    ]
    parts: list[str | Script] = [
        '<div id="explorer"><noscript>JavaScript draws the pictures of this page.</noscript></div>'
    ]
    if playground:
        between = f"<h2>The same with a trained network</h2>\n{paragraph(lead)}"
        parts = [
            *playground_element(["weights"]),
            between,
            *parts,
            *playground_element(["gap"], code=False),
        ]
        lead = LEAD
    return document(
        title,
        lead,
        parts,
        rows=rows or family_rows(family),
        picture=dots_html(family),
        facts=facts,
        scripts=data,
    )


def planes_of(buffer: bytes) -> bytes:
    """Reorder bytes for better compression: the first bytes of all float32, then the second, ..."""
    numbers = np.frombuffer(buffer, np.uint8).reshape(-1, 4)
    return numbers.T.tobytes()


def _deflated(content: bytes) -> str:
    return base64.b64encode(zlib.compress(content, 9)).decode()


@lru_cache
def plotlyjs() -> Script:
    """Return plotly.js as text, which `start` runs once the page can be read.

    It sets the global Plotly.
    """
    from plotly.offline import get_plotlyjs  # 5 MB of text: read only when a page is made

    return Script(get_plotlyjs(), kind="text/plain", name="plotly")
