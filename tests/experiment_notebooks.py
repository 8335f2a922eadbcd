"""The notebooks of experiments, run by a kernel with parameters, and what they print."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from types import ModuleType

import jupytext
import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "notebooks" / "experiments"


def functions(name: str, before: str = "# ## Run, or read", **parameters) -> ModuleType:
    """What the notebook defines `before` a text, the cell that runs or reads, without a kernel."""
    source = (FOLDER / f"{name}.py").read_text(encoding="utf-8").partition(before)[0]
    cells = jupytext.reads(source, fmt="py:percent").cells
    code = [cell.source for cell in cells if cell.cell_type == "code"]
    space = ModuleType(f"experiment_{name}")
    for i, cell in enumerate(code):
        exec(compile(cell, f"{name}.py, cell {i}", "exec"), vars(space))
        if i == 0:
            vars(space).update(parameters)
    return space


def values(table) -> dict[tuple[str, ...], list[float]]:
    """(experiment, setting, method, quantity) -> values over seeds."""
    cells = table.groupby(["experiment", "setting", "method", "quantity"])
    return cells.value.apply(list).to_dict()


@cache
def executed(name: str, **parameters) -> tuple[str, ...]:
    """The text of every output: what is printed, and the cells of tables, one row a line."""
    notebook = jupytext.read(FOLDER / f"{name}.py", fmt="py:percent")
    at = next(
        i for i, cell in enumerate(notebook.cells) if "parameters" in cell.metadata.get("tags", ())
    )
    given = "\n".join(f"{key} = {value!r}" for key, value in parameters.items())
    notebook.cells.insert(at + 1, nbformat.v4.new_code_cell(given))
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    NotebookClient(notebook, timeout=900, resources={"metadata": {"path": str(ROOT)}}).execute()
    outputs = [
        output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs
    ]
    return tuple(text for output in outputs if (text := _text(output)))


def _text(output) -> str:
    if output.output_type == "stream":
        return output.text
    html = output.get("data", {}).get("text/html", "")
    rows = re.findall(r"<tr.*?</tr>", html, flags=re.S) if "<table" in html else []
    return "\n".join(
        "  ".join(re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, flags=re.S)) for row in rows
    )
