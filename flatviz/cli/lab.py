"""JupyterLab on the course's table of contents; every notebook has live sliders."""

from __future__ import annotations

import argparse
import importlib.util
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from flatviz.site.source import CLONE, CONTENTS, PACKAGED

NOTEBOOK = f"{CONTENTS}.ipynb"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's options; what follows -- goes to JupyterLab."""
    parser.add_argument("--notebook", default=NOTEBOOK, help=f"which notebook to open ({NOTEBOOK})")
    parser.add_argument("jupyter", nargs="*", help="options for JupyterLab, after --")


def run(args: argparse.Namespace) -> int:
    """Start JupyterLab and stay until it ends."""
    missing = [m for m in ("jupyterlab", "ipywidgets", "anywidget") if importlib.util.find_spec(m) is None]
    if missing:
        raise ImportError(
            f'flatviz lab needs {", ".join(missing)}: pip install "flatviz[lab]" (in a clone: pip install ".[lab]")'
        )
    folder = notebook_folder()
    target = folder / args.notebook
    if not target.exists():
        notebooks = ", ".join(sorted(p.name for p in folder.glob("*.ipynb")))
        raise ValueError(f"--notebook must be one of {notebooks}, got {args.notebook!r}")
    # -P: a jupyterlab.py of the current folder is not run in its place
    return attended([sys.executable, "-P", "-m", "jupyterlab", str(target), *args.jupyter])


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
