"""The playground: training live in the browser, as elements of a page and as the module that the widget shows too."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from flatviz.pages.document import json_for_html
from flatviz.plots.theme import on_dark, style

HERE = Path(__file__).parent
PARTS = (
    "front/colors",
    "front/keys",
    "playground/engine",
    "playground/ui",
    "playground/world",
    "playground/step",
    "playground/network",
    "playground/playground",
)
METHODS = {"gd": "sgd", "sam": "sam_mu", "vi": "vi", "sabma": "sabma", "sgld": "sgld", "hmc": "hmc"}
LABELS = {"gd": "gradient descent", "sam": "SAM"}  # here of a single point, without momentum
WORLDS = ("weights", "step", "network", "gap")
LEAD = (
    "A network is flat where its loss hardly rises when its weights are moved. "
    "SA-BMA (green) lowers the loss of the worst cloud of weights within its radius (dashed), and so looks for flat ground; "
    "at radius 0 it is VI (blue), which lowers the average."
)


@lru_cache(maxsize=1)
def playground_module() -> str:
    """The playground as one ES module that imports nothing and exports `mount(element, options)`."""
    styles = {}
    for name, method in METHODS.items():
        drawn = style(method)
        styles[name] = [LABELS.get(name, drawn.label), drawn.color, on_dark(drawn.color), drawn.symbol]
    css = (HERE / "playground" / "playground.css").read_text(encoding="utf-8")
    head = f"const STYLE = {json_for_html(css)};\nconst METHOD_STYLES = {json_for_html(styles)};"
    files = [(HERE / f"{part}.js").read_text(encoding="utf-8") for part in PARTS]
    return "\n".join([head, *(re.sub(r"^import .*?;\n", "", text, flags=re.MULTILINE) for text in files)])


def playground_elements(*parts: Sequence[str]) -> tuple[list[str], str]:
    """An element for each part, a sequence of `WORLDS`, and the text of the module script that fills them, to embed in a page."""
    ids = [f"playground-{'-'.join(worlds)}" for worlds in parts]
    calls = [f'mount(document.getElementById("{name}"), {json_for_html({"worlds": w})});' for name, w in zip(ids, parts)]
    return [f'<div id="{name}"></div>' for name in ids], "\n".join([playground_module(), *calls])
