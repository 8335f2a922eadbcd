"""Every notebook runs from top to bottom in a fresh kernel."""

import os
from pathlib import Path

import pytest
from browsing import CHROMIUM

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
IN_LAB = {"00_tour.ipynb"}  # with a browser, tests/widgets/test_in_jupyterlab.py runs it, and looks


def test_there_are_notebooks():
    assert NOTEBOOKS


@pytest.mark.parametrize("path", [p for p in NOTEBOOKS if not (CHROMIUM and p.name in IN_LAB)], ids=lambda p: p.name)
def test_the_notebook_runs(path, monkeypatch):
    import nbformat
    from nbclient import NotebookClient

    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])))
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=1800, kernel_name="python3").execute()
    assert all(c.execution_count for c in notebook.cells if c.cell_type == "code")
