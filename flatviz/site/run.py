"""Run notebooks one after the other in this process, each in a namespace of its own, and keep what their cells show.

A kernel for each would load torch again each time.  What a browser needs a kernel for is shown as `shown.py` says.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import nbformat
from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.io import capture_output
from nbformat.v4 import new_output
from traitlets import List, Type
from traitlets.config import Config

from flatviz.site.shown import LIVE, MOST, register

SETTINGS = Config({"HistoryManager": {"enabled": False}, "InteractiveShell": {"colors": "nocolor", "autocall": 0}})


class CellError(RuntimeError):
    """A cell raised; the message says where and what."""


class _Results(DisplayHook):
    """Keeps the value of a cell's last expression in the publisher's list, instead of printing it."""

    def write_output_prompt(self) -> None:
        """None is printed."""

    def write_format_data(self, format_dict: dict, md_dict: dict | None = None) -> None:
        """Keep the value's representations."""
        values = dict(data=format_dict, metadata=md_dict or {}, execution_count=self.shell.execution_count)
        self.shell.display_pub.outputs.append(new_output("execute_result", **values))

    def finish_displayhook(self) -> None:
        """No line follows."""


class _Published(DisplayPublisher):
    """Keeps what `display` is given."""

    outputs = List()

    def publish(self, data: dict, metadata: dict | None = None, **_: Any) -> None:
        """Keep one output."""
        self.outputs.append(new_output("display_data", data=data, metadata=metadata or {}))

    def clear_output(self, wait: bool = False) -> None:
        """Drop what the cell has shown."""
        self.outputs.clear()


class _Shell(InteractiveShell):
    displayhook_class = Type(_Results)
    display_pub_class = Type(_Published)
    failed = List()  # errors of what was shown

    def enable_gui(self, gui: str | None = None) -> None:
        """There is none."""

    def showtraceback(self, *args: Any, **kwargs: Any) -> None:
        """The error is told by whoever runs the cell."""

    showsyntaxerror = showtraceback


@contextmanager
def shell() -> Iterator[_Shell]:
    """An IPython for one notebook.  Raises RuntimeError inside another IPython: `display` knows one only."""
    if InteractiveShell.initialized():
        raise RuntimeError("notebooks must run outside of IPython, got a running one: use the command flatviz docs --run")
    hook, main = sys.displayhook, sys.modules["__main__"]
    new = _Shell.instance(config=SETTINGS)
    register(new.display_formatter, new.failed, lambda: 4 if new.user_ns.get("FAST") else MOST)
    try:
        yield new
    finally:
        new.user_ns.clear()
        _Shell.clear_instance()
        sys.displayhook, sys.modules["__main__"] = hook, main


def run(notebook: nbformat.NotebookNode, name: str) -> float:
    """Run every code cell and write its outputs into `notebook`; the seconds it took.  Raises CellError at the first error."""
    started = time.perf_counter()
    with shell() as ipython:
        for i, cell in enumerate(c for c in notebook.cells if c.cell_type == "code"):
            cell.execution_count = i + 1
            ipython.display_pub.outputs = []
            with capture_output(display=False) as printed:
                result = ipython.run_cell(cell.source, store_history=True)
            error = result.error_before_exec or result.error_in_exec or next(iter(ipython.failed), None)
            if error is not None and "raises-exception" not in cell.metadata.get("tags", ()):
                shown = "\n".join(f"    {line}" for line in cell.source.splitlines())
                raise CellError(f"{name}, code cell {i + 1}: {type(error).__name__}: {error}\n{shown}") from error
            text = [new_output("stream", name="stdout", text=printed.stdout)] if printed.stdout else []
            cell.outputs = [*text, *_once(ipython.display_pub.outputs)]
    return time.perf_counter() - started


def _once(outputs: list) -> list:
    """Without the picture that `interact` draws before it shows itself: its element has it."""
    live = [o.output_type != "stream" and LIVE in o.data.get("text/html", "") for o in outputs]
    return [o for o, following in zip(outputs, [*live[1:], False]) if not following]
