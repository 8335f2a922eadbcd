"""What the views of a notebook have in common: the module that they carry, and the front end that it asks for."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path

from flatviz.pages.page import front_end

HERE = Path(__file__).parent


def module(name: str) -> str:
    """The ES module of a view: `channel.js` and the file of this name."""
    return "\n".join((HERE / part).read_text(encoding="utf-8") for part in ("channel.js", name))


@lru_cache(maxsize=1)
def front_version() -> str:
    """Changes with the front end, which a page keeps."""
    return hashlib.sha256(front_end().encode()).hexdigest()[:12]


@lru_cache(maxsize=1)
def front_buffers() -> tuple[bytes, bytes]:
    """The front end and plotly.js, as a page asks for them."""
    from plotly.offline import get_plotlyjs  # 5 MB of text: read when the first page asks

    return front_end().encode(), get_plotlyjs().encode()
