"""`flatviz lab`: JupyterLab on the course; every notebook has live sliders."""

from __future__ import annotations

import importlib.util
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import click

from flatviz.site.source import CLONE, CONTENTS, PACKAGED

NOTEBOOK = f"{CONTENTS}.ipynb"


@click.command(epilog="Example: flatviz lab --notebook 03_curvature.ipynb -- --port 9999")
@click.option("--notebook", default=NOTEBOOK, show_default=True, help="Notebook to open.")
@click.argument("jupyter", nargs=-1)
def command(notebook: str, jupyter: tuple[str, ...]) -> int:
    """Open JupyterLab on the course's table of contents, or on one notebook; JUPYTER: options for JupyterLab, after --."""
    missing = [m for m in ("jupyterlab", "ipywidgets", "anywidget") if importlib.util.find_spec(m) is None]
    if missing:
        raise ImportError(
            f'flatviz lab needs {", ".join(missing)}: pip install "flatviz[lab]" (in a clone: pip install ".[lab]")'
        )
    folder = notebook_folder()
    target = folder / notebook
    if not target.exists():
        known = ", ".join(sorted(p.name for p in folder.glob("*.ipynb")))
        raise ValueError(f"--notebook must be one of {known}, got {notebook!r}")
    # -P: a jupyterlab.py of the current folder is not run in its place
    return attended([sys.executable, "-P", "-m", "jupyterlab", str(target), *jupyter])


def attended(command: list[str]) -> int:
    """Run a command until it ends by itself; its exit status.

    Ctrl-C goes to both processes; only the command acts on it: Jupyter asks, ends its kernels and removes its files.
    """
    before = signal.signal(signal.SIGINT, lambda *_: None)  # not SIG_IGN, which the command would inherit
    try:
        return subprocess.Popen(command).wait()
    finally:
        signal.signal(signal.SIGINT, before)


def notebook_folder() -> Path:
    """The clone's notebooks; for an installed package a copy in ./flatviz-notebooks, which is the user's to change."""
    if (CLONE / NOTEBOOK).exists():
        return CLONE
    folder = Path.cwd() / "flatviz-notebooks"
    folder.mkdir(exist_ok=True)
    for notebook in PACKAGED.glob("*.ipynb"):
        if not (folder / notebook.name).exists():  # never over what the user changed
            shutil.copy(notebook, folder)
    return folder
