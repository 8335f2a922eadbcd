"""The front end in a notebook: families sent to pages, and figures that stay without a kernel."""

import hashlib
import html
import itertools
import re
import weakref
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import anywidget
import ipywidgets
import traitlets
from IPython import get_ipython
from IPython.display import HTML, display
from ipywidgets import Widget

from flatviz.checks import computed
from flatviz.pages.bundle import Bundle, pack, pack_members
from flatviz.pages.document import Json
from flatviz.pages.page import bundled, plotlyjs
from flatviz.results import Family

# Name of a cell -> the count of its last execution, and the views that it made
_VIEWS: dict[str, tuple[int, list[weakref.ref]]] = {}
CONTROLS = ("radius", "n_draws", "method", "look")
MAX_PICTURE = 4_000_000  # characters of the pictures that a page may send for the saved notebook
PNG = re.compile(r"data:image/png;base64,[A-Za-z0-9+/=]+")
NOT_DRAWN = (  # shown where no browser has drawn the lab: in a notebook that was run by a command
    "<p>The laboratory: pictures of a family of posteriors, with controls. A browser draws them:"
    " open this notebook in JupyterLab and run the cell, or write them as a page that needs no"
    " Python, <code>lab.to_html(&quot;lab.html&quot;)</code>.</p>"
)


def register(view: Widget) -> None:
    """Note that `view` belongs to the running cell, and close those of an earlier run of it.

    Outside a notebook it does nothing.
    """
    cell = running_cell()
    if cell is None:
        return
    name, count = cell
    before, views = _VIEWS.get(name, (count, []))
    if before != count:
        for reference in views:
            former = reference()
            if former is not None:
                former.close()
        views = []
    _VIEWS[name] = count, [*views, weakref.ref(view)]


def running_cell() -> tuple[str, int] | None:
    """Return (name, count of execution) of the cell that runs.

    The name is its id where the front end sends it, otherwise its text.
    """
    request = _request()
    metadata = request.get("metadata", {})
    content = request.get("content", {})
    name = metadata.get("cellId") or content.get("code")
    return (name, kernel_shell().execution_count) if name else None


def page_watches() -> bool:
    """Tell whether a page may show the running cell; a command that runs a notebook has none."""
    content = _request().get("content", {})
    return bool(content.get("allow_stdin"))


def _request() -> Mapping[str, Json]:
    """Return the message by which the running cell was requested; empty outside a kernel."""
    shell = kernel_shell()
    if not hasattr(shell, "get_parent"):
        return {}
    return shell.get_parent() or {}


def show_snapshot(html: str, name: str, *, again: bool = False) -> bool:
    """Put HTML under the running cell, or, `again`, in place of the one with this name.

    False outside a notebook.
    """
    if kernel_shell() is None:
        return False
    display(HTML(html), display_id=name, update=again)
    return True


def kernel_shell() -> Any:
    """Return the kernel's shell, or None outside a kernel."""
    shell = get_ipython()
    return shell if shell is not None and hasattr(shell, "kernel") else None


class Channel(ipywidgets.Widget):
    """Messages of the kernel to pages, which set none of its traits."""

    def set_state(self, sync_data: dict) -> None:
        """Take nothing of a page."""


class FixedLayout(ipywidgets.Layout):
    """A layout that no page sets: its module's name is code that other pages would load."""

    def set_state(self, sync_data: dict) -> None:
        """Take nothing of a page."""


class FamilyView(anywidget.AnyWidget):
    """A family of posteriors behind its controls `radius`, `n_draws`, `method` and `look`.

    `look` holds the rest of the state: tab, compare (None, or method and radius of state B), picked
    (a draw, or None), chosen (slot -> option), step (section read, -1: the last).

    The module that draws, plotly.js and the arrays are messages of the kernel, `appear` the first,
    and never part of a saved notebook; a page that opens later asks for them.  They are sent
    through `channel` (channel.js says why).

    Args:
        check: check(name, value) raises ValueError or TypeError for a value that a control must not
            have; if a page sends one, the control goes back to where it was.
        on_request: on_request(want, content) gets other requests of the page: "run", "stop",
            "seeds", and "picture" with the visible figures.
    """

    _esm = bundled("loader")
    front = traitlets.Unicode().tag(sync=True)
    channel = traitlets.Instance(Channel, ()).tag(sync=True, **ipywidgets.widget_serialization)
    radius = traitlets.Float(0.0).tag(sync=True)
    n_draws = traitlets.Int(10).tag(sync=True)
    method = traitlets.Unicode("sabma").tag(sync=True)
    look = traitlets.Dict().tag(sync=True)

    def __init__(
        self,
        check: Callable = lambda name, value: value,
        on_request: Callable = lambda want, content: None,
    ) -> None:
        # version of the front end; a page loads each version once
        front = hashlib.sha256(bundled("explorer").encode()).hexdigest()[:12]
        super().__init__(front=front, layout=FixedLayout())
        self.channel.on_msg(self._answer)
        self._check = check
        self._on_request = on_request
        self.sent = {"front end": 0, "family": 0, "member": 0}  # messages by kind
        self._numbers = itertools.count()
        self._watched = False
        self._bundle: Bundle | None = None
        self._status: dict | None = None
        self._from_page = False
        self.observe(lambda _: self._send_traits(), names=list(CONTROLS))

    def close(self) -> None:
        """Remove the view from every page."""
        self.channel.close()
        super().close()

    def show_family(self, family: Family, **settings: Any) -> None:
        """Send a measured family to every page of this view; settings are those of `pack`."""
        self._bundle = pack(family, **settings)
        self._send_bundle("family", self._bundle)

    def add_members(
        self,
        family: Family,
        members: Sequence[int],
        *,
        note: str = "",
        only: Collection[str] | None = None,
    ) -> None:
        """Pack and send only these members of `family`; a page that opens later gets all.

        note: beside their names; only: names of the views that are drawn, the others wait.
        """
        before = computed(self._bundle)
        added = pack_members(before, family, members, note=note, only=only)
        self._bundle = before.with_members(added)
        self._send_bundle("member", added)

    def show_status(
        self,
        share: float,
        text: str,
        busy: bool,
        error: str = "",
    ) -> None:
        """Show the state of the background: share done 0..1, a line, whether it works, an error."""
        self._status = {"share": share, "text": text, "busy": busy, "error": error}
        self._post("status", **self._status)

    def appear(self) -> None:
        """Send all that it shows to the running cell's page; do nothing without a page."""
        if page_watches():
            self._send_all()

    def set_state(self, sync_data: dict) -> None:
        """Take the values of a page's controls that `check` allows, and nothing else.

        Other traits, such as the code of the module, are shared by all pages of this kernel.
        """
        sent = {name: value for name, value in sync_data.items() if name in CONTROLS}
        allowed = {}
        for name, value in sent.items():
            if self._allowed(name, value):
                allowed[name] = value
        self._from_page = True
        try:
            super().set_state(allowed)
        finally:
            self._from_page = False
        if any(getattr(self, name) != value for name, value in sent.items()):
            self._send_traits()

    def _allowed(self, name: str, value: object) -> bool:
        try:
            self._check(name, value)
        except (ValueError, TypeError):
            return False
        return True

    def _send_traits(self) -> None:
        if not self._from_page:  # the page has its own values
            values = {name: getattr(self, name) for name in CONTROLS}
            self._post("traits", traits=values)

    def _answer(self, _: object, content: dict, buffers: list) -> None:
        want = content.get("want") if isinstance(content, dict) else None
        if want == "all":
            self._send_all(front=content.get("front", True))
        elif want in ("run", "stop", "seeds", "picture"):
            self._on_request(want, content)

    def _send_all(self, *, front: bool = True) -> None:
        """Send the front end, values of the controls, family and status, as far as there are."""
        self._watched = True
        if front:
            module = bundled("explorer").encode()
            plotly = plotlyjs().text.encode()
            self._post("front end", module, plotly)
        self._send_traits()
        if self._bundle is not None:
            self._send_bundle("family", self._bundle)
        if self._status is not None:
            self._post("status", **self._status)

    def _send_bundle(self, kind: str, bundle: Bundle) -> None:
        self._post(kind, bundle.buffer, index=bundle.text)

    def _post(self, kind: str, *buffers: bytes, **content: object) -> None:
        """Send a message as an attribute of the channel in every page, once one watches."""
        if not self._watched or self.channel.comm is None:
            return
        if kind in self.sent:
            self.sent[kind] += 1
        name = f"post {next(self._numbers)}"
        message = {"kind": kind, **content, "buffers": [None] * len(buffers)}
        paths = [[name, "buffers", i] for i in range(len(buffers))]
        update = {"method": "update", "state": {name: message}, "buffer_paths": paths}
        self.channel.comm.send(update, buffers=list(buffers))


def snapshot(content: Mapping, name: str) -> str:
    """Write HTML of the figures that a page sent, for a notebook without its kernel.

    name: name of the view, by which a page that shows it live leaves them out.
    """
    images = content.get("images")
    text = content.get("text")
    if not isinstance(images, list) or not isinstance(text, str):
        return ""
    are_pictures = all(isinstance(image, str) and PNG.fullmatch(image) for image in images)
    if not images or not are_pictures or sum(map(len, images)) > MAX_PICTURE:
        return ""
    alt = html.escape(text[:1000], quote=True)
    drawn = [f'<img src="{image}" alt="{alt}" style="max-width:100%">' for image in images]
    said = f"<p>{alt}<br><i>The last picture. Run the cell again for the live one.</i></p>"
    return snapshot_html(name, "".join(drawn) + said)


def snapshot_html(name: str, inside: str) -> str:
    """Wrap `inside` for a stored notebook; it is hidden where the view is live."""
    style = (
        f".jp-OutputArea-child:has(.flatviz-still[data-view='{name}']) ~ .jp-OutputArea-child "
        ".jupyter-widgets:not(:has(*)) {display: none}"
    )
    return f'<div class="flatviz-still" data-view="{name}"><style>{style}</style>{inside}</div>'
