"""The front end as a widget: three synchronised traits, and arrays sent once, as messages."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import anywidget
import ipywidgets
import traitlets

from flatviz.pages.bundle import Bundle, pack, pack_members
from flatviz.pages.page import EXPLORER
from flatviz.results import Family

CONTROLS = ("radius", "n_draws", "method")


@lru_cache(maxsize=1)
def _front_end() -> tuple[bytes, bytes]:
    from plotly.offline import get_plotlyjs  # 5 MB of text: read when the first page asks

    return EXPLORER.read_bytes(), get_plotlyjs().encode()


class FamilyView(anywidget.AnyWidget):
    """A family of posteriors behind three controls; `radius`, `n_draws` and `method` are what they stand at.

    The module that draws, plotly.js and the arrays are asked for by the page and sent as messages: once a page, once a
    widget, and never part of a saved notebook.  They travel through `channel` (loader.js says why).
    check(name, value): raises ValueError or TypeError for a value that a control must not have; where a page sends such a
    value the control goes back to where it was.
    """

    _esm = Path(__file__).with_name("loader.js")
    front = traitlets.Unicode().tag(sync=True)
    channel = traitlets.Instance(ipywidgets.Widget, ()).tag(sync=True, **ipywidgets.widget_serialization)
    radius = traitlets.Float(0.0).tag(sync=True)
    n_draws = traitlets.Int(10).tag(sync=True)
    method = traitlets.Unicode("sabma").tag(sync=True)

    def __init__(self, check: Callable[[str, object], object] = lambda name, value: value) -> None:
        super().__init__(front=hashlib.sha256(EXPLORER.read_bytes()).hexdigest()[:12])
        self._check = check
        self.sent = {"front end": 0, "family": 0, "member": 0}  # messages by kind
        self._bundle: Bundle | None = None
        self.channel.on_msg(self._answer)
        self._from_page = False
        self.observe(lambda _: self._send_traits(), names=list(CONTROLS))

    def show_family(self, family: Family, *, stops: Mapping[str, Sequence[float]], live: bool = True) -> None:
        """Send a measured family to every page that shows this view."""
        self._bundle = pack(family, stops=stops, live=live)
        self._send_bundle("family", self._bundle)

    def add_members(self, family: Family, members: Sequence[int]) -> None:
        """Pack and send only these members of `family`; a page that opens later gets the whole."""
        added = pack_members(self._bundle, family, members)
        self._bundle = self._bundle.with_members(added)
        self._send_bundle("member", added)

    def set_state(self, sync_data: dict) -> None:
        """Take what the page says of its controls, as far as `check` allows it."""
        self._from_page = True
        try:
            super().set_state({name: value for name, value in sync_data.items() if self._allowed(name, value)})
        finally:
            self._from_page = False
        if any(getattr(self, name) != sync_data[name] for name in CONTROLS if name in sync_data):
            self._send_traits()

    def _allowed(self, name: str, value: object) -> bool:
        try:
            self._check(name, value)
        except (ValueError, TypeError):
            return False
        return True

    def close(self) -> None:
        """Remove the view from every page."""
        self.channel.close()
        super().close()

    def _send_traits(self) -> None:
        if not self._from_page:  # the page knows what it said itself
            self.channel.send({"kind": "traits", "traits": {name: getattr(self, name) for name in CONTROLS}})

    def _answer(self, _: object, content: dict, buffers: list) -> None:
        if content.get("want") == "front end":
            self.sent["front end"] += 1
            self.channel.send({"kind": "front end"}, list(_front_end()))
        elif content.get("want") == "family":
            self._send_traits()  # what was set before this page listened
            if self._bundle is not None:
                self._send_bundle("family", self._bundle)

    def _send_bundle(self, kind: str, bundle: Bundle) -> None:
        self.sent[kind] += 1
        self.channel.send({"kind": kind, "index": bundle.text}, [bundle.buffer])
