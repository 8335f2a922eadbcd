"""What the views of a notebook have in common: the module that they carry, and the front end that it asks for."""

from __future__ import annotations

import hashlib
from functools import lru_cache

import anywidget
import ipywidgets
import traitlets

from flatviz.pages.page import front_end


class FrontView(anywidget.AnyWidget):
    """A view that asks for the front end by messages through `channel`; its module is in `_esm`."""

    front = traitlets.Unicode().tag(sync=True)
    channel = traitlets.Instance(ipywidgets.Widget, ()).tag(sync=True, **ipywidgets.widget_serialization)

    def __init__(self) -> None:
        super().__init__(front=front_version())
        self.channel.on_msg(self._answer)

    def close(self) -> None:
        """Remove the view from every page."""
        self.channel.close()
        super().close()

    def _answer(self, _: object, content: dict, buffers: list) -> None:
        if content.get("want") == "front end":
            self.channel.send({"kind": "front end"}, list(front_buffers()))


@lru_cache(maxsize=1)
def front_version() -> str:
    """Changes with the front end, which a page keeps."""
    return hashlib.sha256(front_end().encode()).hexdigest()[:12]


@lru_cache(maxsize=1)
def front_buffers() -> tuple[bytes, bytes]:
    """The front end and plotly.js, as a page asks for them."""
    from plotly.offline import get_plotlyjs  # 5 MB of text: read when the first page asks

    return front_end().encode(), get_plotlyjs().encode()
