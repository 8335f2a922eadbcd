"""The lab of a notebook cell: when the cell runs again the former lab is closed, and its last picture stays in the notebook."""

from __future__ import annotations

import weakref

from IPython import get_ipython
from IPython.display import HTML, display
from ipywidgets import Widget

_OWNED: dict[str, tuple[int, list[weakref.ref]]] = {}  # cell -> (count of its execution, what it made)


def own(thing: Widget) -> None:
    """Note that the running cell made `thing`, and close what an earlier run of the same cell made.  Outside a notebook: nothing."""
    cell = running_cell()
    if cell is None:
        return
    name, count = cell
    before, made = _OWNED.get(name, (count, []))
    if before != count:
        for former in filter(None, (ref() for ref in made)):
            former.close()
        made = []
    _OWNED[name] = count, [*made, weakref.ref(thing)]


def running_cell() -> tuple[str, int] | None:
    """(name, count of execution) of the cell that runs: its id where the front end says it, else its text."""
    shell = _shell()
    if shell is None:
        return None
    parent = shell.get_parent() if hasattr(shell, "get_parent") else {}
    name = (parent or {}).get("metadata", {}).get("cellId") or (parent or {}).get("content", {}).get("code")
    return (name, shell.execution_count) if name else None


def show_still(html: str, name: str, *, again: bool = False) -> bool:
    """Put HTML under the running cell, or, `again`, in the place of what has this name; False outside a notebook."""
    if _shell() is None:
        return False
    display(HTML(html), display_id=name, update=again)
    return True


def _shell():
    """The kernel's shell, or None outside a kernel."""
    shell = get_ipython()
    return shell if shell is not None and hasattr(shell, "kernel") else None
