"""The front end as a widget: three traits, and arrays that travel once."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import anywidget
import traitlets

from flatviz.pages.bundle import Bundle, pack, pack_members
from flatviz.pages.page import EXPLORER
from flatviz.results import Family


@lru_cache(maxsize=1)
def _front_end() -> tuple[bytes, bytes]:
    from plotly.offline import get_plotlyjs  # 5 MB of text: read when the first page asks

    return EXPLORER.read_bytes(), get_plotlyjs().encode()


class FamilyView(anywidget.AnyWidget):
    """A family of posteriors behind three controls; `radius`, `n_draws` and `method` are what they stand at.

    The module that draws, plotly.js and the arrays are asked for by the page and sent as messages: once a page, once a
    model, and never part of a saved notebook.
    """

    _esm = Path(__file__).with_name("loader.js")
    front = traitlets.Unicode().tag(sync=True)
    radius = traitlets.Float(0.0).tag(sync=True)
    n_draws = traitlets.Int(10).tag(sync=True)
    method = traitlets.Unicode("sabma").tag(sync=True)

    def __init__(self, **traits: object) -> None:
        super().__init__(front=hashlib.sha256(EXPLORER.read_bytes()).hexdigest()[:12], **traits)
        self.sent = {"front end": 0, "family": 0, "member": 0}  # messages, counted for those who want to know
        self._bundle: Bundle | None = None
        self.on_msg(self._answer)

    def show_family(self, family: Family, *, stops: Mapping[str, Sequence[float]], live: bool = True) -> None:
        """Send a measured family to every page that shows this view."""
        self._bundle = pack(family, stops=stops, live=live)
        self._send_bundle("family", self._bundle)

    def add_members(self, family: Family, members: Sequence[int], *, stops: Mapping[str, Sequence[float]]) -> None:
        """Send only these members of `family`; a page that opens later gets the whole."""
        self._send_bundle("member", pack_members(family, members))
        self._bundle = pack(family, stops=stops, live=True)

    def _answer(self, _: object, content: dict, buffers: list) -> None:
        if content.get("want") == "front end":
            self.sent["front end"] += 1
            self.send({"kind": "front end"}, list(_front_end()))
        elif content.get("want") == "family" and self._bundle is not None:
            self._send_bundle("family", self._bundle)

    def _send_bundle(self, kind: str, bundle: Bundle) -> None:
        self.sent[kind] += 1
        self.send({"kind": kind, "index": bundle.index}, [bundle.buffer])
