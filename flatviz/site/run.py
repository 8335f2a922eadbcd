"""Run notebooks one after the other in one kernel, which loads torch once, and keep what their cells show."""

from __future__ import annotations

import atexit
import os
import time
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook

BEFORE = "%cd -q {}\n%reset -f\nimport flatviz.site.shown\nflatviz.site.shown.register()"
PATIENCE = 1800  # seconds for a cell
_thread = ThreadPoolExecutor(1)  # Jupyter's event loop lives here: in the main one that of a browser may run


class CellError(RuntimeError):
    """A cell raised; the message says where and what."""


def run(notebook: NotebookNode, name: str) -> float:
    """Run every code cell in an empty folder and write its outputs into `notebook`; figures and widgets as `shown.py` says.

    Args:
        notebook: Its cells get their outputs.
        name: Stands in the message of an error.

    Returns:
        The seconds it took.

    Raises:
        CellError: At the first cell that fails.
    """
    started = time.perf_counter()
    _thread.submit(_execute, notebook).result()
    for i, cell in enumerate((c for c in notebook.cells if c.cell_type == "code"), 1):
        cell.outputs = [o for o in cell.outputs if o.get("name") != "stderr"]
        errors = [o for o in cell.outputs if o.output_type == "error"]  # also of a display, after which nbclient goes on
        if errors and "raises-exception" not in cell.metadata.get("tags", ()):
            source = "\n".join(f"    {line}" for line in cell.source.splitlines())
            raise CellError(f"{name}, code cell {i}: {errors[0].ename}: {errors[0].evalue}\n{source}")
    return time.perf_counter() - started


def _execute(notebook: NotebookNode) -> None:
    client = _client()
    with TemporaryDirectory(prefix="flatviz-run-") as folder:
        client.nb = new_notebook(cells=[new_code_cell(BEFORE.format(folder)), *notebook.cells])
        try:
            client.execute(cleanup_kc=False, env=_environment())
        except CellExecutionError as error:
            if client.nb.cells[0].outputs:
                raise CellError(f"the kernel cannot load flatviz: {error}") from error


@cache
def _client() -> NotebookClient:
    """Its first run starts the kernel, which ends with this process."""
    quiet = ["--IPKernelApp.log_level=40"]  # of the kernel itself, not of the cells
    client = NotebookClient(new_notebook(), timeout=PATIENCE, kernel_name="python3", extra_arguments=quiet)
    atexit.register(lambda: client.km and client.km.provisioner.process.kill())
    return client


def _environment() -> dict[str, str]:
    """One thread, no progress bars, and this flatviz."""
    clone = str(Path(__file__).resolve().parents[2])
    path = os.pathsep.join(filter(None, [clone, os.environ.get("PYTHONPATH")]))
    return {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", "TQDM_DISABLE": "1"}
