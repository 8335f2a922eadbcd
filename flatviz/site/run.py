"""Run notebooks one after the other in one kernel, and keep what their cells show.

The kernel loads torch once.  Figures and widgets become elements of a page, with their data, which
`fv-site.js` draws without a kernel.
"""

import atexit
import base64
import html
import itertools
import json
import math
import os
import re
import time
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from queue import Empty
from tempfile import TemporaryDirectory
from typing import Any

import ipywidgets
import numpy as np
from IPython import get_ipython
from IPython.display import display
from jupyter_client import AsyncKernelClient, AsyncKernelManager
from jupyter_client.asynchronous.client import AsyncZMQSocketChannel
from jupyter_client.provisioning import LocalProvisioner
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook, new_output
from plotly.basedatatypes import BaseFigure
from traitlets import Type

from flatviz.pages.bundle import pack
from flatviz.pages.document import Json, json_for_html
from flatviz.plots.theme import CONFIG, in_house_style
from flatviz.results import Family
from flatviz.widgets.lab import Lab

# Cell that runs before a notebook's own
BEFORE = "%cd -q {}\n%reset -f\nimport flatviz.site.run\nflatviz.site.run.register()"
CELL_SECONDS = 1800  # that a cell may take
LAB_SECONDS = 900  # that a lab may take to fit its posteriors
SENTENCES = re.compile(r"((- )?\*\*.*\n?|\n)+")  # printed lines that begin in bold
NO_ALT = "A picture of the notebook; it is drawn by JavaScript."
HEIGHT = 460  # px, of a figure that says none
MAX_PICTURES = 40  # pictures of one `interact`, over all its controls
FEW = 4  # the same in a small run
ASK_AGAIN = 200  # ms, see `Channel`
# Thread of Jupyter's event loop, as a browser's may run in the main one
_thread = ThreadPoolExecutor(1)


class CellError(RuntimeError):
    """A cell raised an error; the message names the cell and the error."""


def run(notebook: NotebookNode, name: str) -> float:
    """Run every code cell in an empty folder and write its outputs into `notebook`.

    Figures and widgets are written as in `register`.

    Args:
        notebook: Its cells get their outputs.
        name: Appears in the message of an error.

    Returns:
        The seconds it took.

    Raises:
        CellError: At the first cell that fails.
    """
    started = time.perf_counter()
    _thread.submit(_execute, notebook).result()
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for i, cell in enumerate(cells, 1):
        cell.outputs = [_readable(o) for o in cell.outputs if o.get("name") != "stderr"]
        # Errors of a display count too, after which nbclient goes on
        errors = [o for o in cell.outputs if o.output_type == "error"]
        if errors and "raises-exception" not in cell.metadata.get("tags", ()):
            source = "\n".join(f"    {line}" for line in cell.source.splitlines())
            raise CellError(
                f"{name}, code cell {i}: {errors[0].ename}: {errors[0].evalue}\n{source}"
            )
    return time.perf_counter() - started


def _execute(notebook: NotebookNode) -> None:
    client = _client()
    # On Windows, where the kernel is in it
    with TemporaryDirectory(prefix="flatviz-run-", ignore_cleanup_errors=True) as folder:
        before = new_code_cell(BEFORE.format(folder))
        client.nb = new_notebook(cells=[before, *notebook.cells])
        try:
            client.execute(cleanup_kc=False, env=_environment())
        except CellExecutionError as error:
            if client.nb.cells[0].outputs:
                raise CellError(f"the kernel cannot load flatviz: {error}") from error


def _readable(output: NotebookNode) -> NotebookNode:
    """Return printed Markdown, lines that begin in bold, as a list in Markdown; others as is."""
    if output.output_type != "stream" or not SENTENCES.fullmatch(output.text):
        return output
    lines = [f"- {line.removeprefix('- ')}" for line in output.text.splitlines() if line]
    return new_output("display_data", data={"text/markdown": "\n".join(lines)})


class Channel(AsyncZMQSocketChannel):
    """A channel that asks for messages again and again.

    Sending a message at the moment when another arrives consumes the signal of the arrival.  A
    client that waits for the signal alone then waits for ever, as it did now and then where cells
    show widgets.
    """

    async def get_msg(  # type: ignore[override]  # asynchronous, as in the base class
        self, timeout: float | None = None
    ) -> dict[str, Any]:
        """Return the next message, waiting at most `timeout` seconds.

        Raises:
            Empty: If none has come by then.
        """
        end = math.inf if timeout is None else time.monotonic() + timeout
        while not await self.socket.poll(ASK_AGAIN):
            if time.monotonic() >= end:
                raise Empty
        return await self._recv()


class _KernelClient(AsyncKernelClient):
    """A client whose replies are never missed."""

    shell_channel_class = Type(Channel)


@cache
def _client() -> NotebookClient:
    """Return the client; its first run starts the kernel, which ends with this process."""
    # Import no module from the current folder
    quiet = [
        "--IPKernelApp.log_level=40",
        "--IPKernelApp.ignore_cwd=True",
    ]
    manager = AsyncKernelManager(kernel_name="python3", client_factory=_KernelClient)
    client = NotebookClient(
        new_notebook(),
        km=manager,
        timeout=CELL_SECONDS,
        extra_arguments=quiet,
    )
    atexit.register(_end, client)
    return client


def _end(client: NotebookClient) -> None:
    """Kill the kernel, which holds nothing to keep."""
    provisioner = client.km and client.km.provisioner
    if isinstance(provisioner, LocalProvisioner) and provisioner.process:
        provisioner.process.kill()


def _environment() -> dict[str, str]:
    """Return the kernel's environment: one thread, no progress bars, and this flatviz."""
    clone = str(Path(__file__).resolve().parents[2])
    places = [clone, os.environ.get("PYTHONPATH")]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, places)),
        "OMP_NUM_THREADS": "1",
        "TQDM_DISABLE": "1",
        "FLATVIZ_EXPECT": "raise",  # nobody has changed a line: what a text says must hold
    }


def register() -> None:
    """Show figures and widgets as elements of a page in this kernel, from now on."""

    def show_figure(fig: BaseFigure) -> None:
        display(_bundle(figure_html(fig), fig), raw=True)

    def bundle_of_widget(widget: ipywidgets.Widget, **_: object) -> dict[str, str]:
        return _bundle(widget_html(widget), widget)

    formatter = get_ipython().display_formatter
    formatter.ipython_display_formatter.for_type(BaseFigure, show_figure)
    formatter.mimebundle_formatter.for_type(ipywidgets.Widget, bundle_of_widget)


def _bundle(text: str, value: object) -> dict[str, str]:
    return {"text/html": text, "text/plain": f"<{type(value).__name__}>"}


def figure_html(fig: BaseFigure) -> str:
    """Return the element of a figure: its alt text, which the picture replaces, and its JSON."""
    alt = (fig.layout.meta or {}).get("alt")
    if not alt:  # of a figure by plotly.express
        fig = in_house_style(fig)
        alt = fig.layout.title.text or NO_ALT
    drawn = json.loads(fig.to_json())
    drawn["layout"].pop("meta", None)
    height = fig.layout.height or HEIGHT
    return _element("fv-figure", alt, drawn | {"config": CONFIG}, height)


def widget_html(widget: ipywidgets.Widget) -> str:
    """Return the element of a widget: the lab as its live page, `interact` as its pictures."""
    if isinstance(widget, Lab):
        if not widget.wait(LAB_SECONDS) or widget.family is None:
            raise RuntimeError(
                f"the lab must show a family after {LAB_SECONDS} s, it says: {widget.status}"
            )
        start = widget.method, widget.radius, widget.n_draws
        return family_html(widget.family, start=start)
    if isinstance(widget, ipywidgets.interactive):
        is_fast = get_ipython().user_ns.get("FAST")
        return _interact_html(widget, FEW if is_fast else MAX_PICTURES)
    return f'<p class="fv-note">{type(widget).__name__}: shown in JupyterLab.</p>'


def _interact_html(widget: ipywidgets.interactive, count: int) -> str:
    """Return the pictures of an `interact` for all values of lists and some of sliders.

    There are about `count` of them.
    """
    controls = widget.kwargs_widgets
    lists = [_choices(control) for control in controls]
    room = count // math.prod(len(choices) for choices in lists if choices)
    n_sliders = max(1, lists.count(None))
    stops = max(2, int(room ** (1 / n_sliders) + 1e-9))
    values = [choices or _stops(control, stops) for choices, control in zip(lists, controls)]
    names = [control._kwarg for control in controls]
    figures = []
    for chosen in itertools.product(*values):
        arguments = dict(zip(names, chosen))
        figures.append(widget.f(**arguments))
    about = []
    for control, choices, offered in zip(controls, lists, values):
        facts = {
            "name": control.description,
            "list": choices is not None,
            "labels": [_label(value) for value in offered],
            "start": offered.index(control.value),
        }
        about.append(facts)
    meta = figures[0].layout.meta or {}
    alt = meta.get("alt") or NO_ALT
    tallest = max(fig.layout.height or HEIGHT for fig in figures)
    height = tallest + 40 * len(about)
    drawn = [json.loads(fig.to_json()) for fig in figures]
    data = {"controls": about, "figures": drawn, "config": CONFIG}
    return _element("fv-live", alt, data, height)


def _choices(control: ipywidgets.Widget) -> list[object] | None:
    """Return all values of a control that offers a list, None of a slider."""
    if isinstance(control, ipywidgets.Checkbox):
        return [True, False]
    if isinstance(control, ipywidgets.Dropdown):
        return list(control.options)
    return None


def _stops(slider: ipywidgets.IntSlider | ipywidgets.FloatSlider, count: int) -> list[float]:
    """Return at most `count` of a slider's values, with both ends and its present value."""
    present = slider.value
    n = round((slider.max - slider.min) / slider.step)
    stops = {present}
    for i in np.linspace(0, n, min(count, n + 1)).round():
        stop = type(present)(round(slider.min + i * slider.step, 10))
        if abs(stop - present) > slider.step / 2:
            stops.add(stop)
    return sorted(stops)


def _label(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def family_html(family: Family, *, start: tuple[str, float, int]) -> str:
    """Return the element of a measured family.

    start: method, radius and ensemble size to show first.
    """
    bundle = pack(family)
    method, radius, n_draws = start
    data = {
        "index": bundle.index,
        "records": base64.b64encode(bundle.buffer).decode(),
        "start": {"method": method, "radius": radius, "n_draws": n_draws},
    }
    return _element(
        "fv-lab", "The laboratory: method, radius and ensemble size move every picture.", data
    )


def _element(
    kind: str,
    alt: str,
    data: dict[str, Json],
    height: int | None = None,
) -> str:
    text = html.escape(alt)
    style = f' style="min-height:{height}px"' if height else ""
    inside = (
        f'<p class="fv-alt">{text}</p>\n<script'
        f' type="application/json">{json_for_html(data)}</script>'
    )
    return f'<div class="{kind}" role="group" aria-label="{text}"{style}>\n{inside}\n</div>'
