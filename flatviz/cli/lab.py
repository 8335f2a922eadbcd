"""`flatviz lab`: JupyterLab on the course; every notebook has live sliders."""

import shutil
import signal
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from flatviz.site import CLONE, PACKAGED, folder_of_notebooks
from flatviz.words import did_you_mean


def work(notebook: str, jupyter: tuple[str, ...]) -> int:
    """Open JupyterLab on the course, or on one notebook.

    JUPYTER: options for JupyterLab, after --.
    """
    # -P: a jupyterlab.py of the current folder is not run in its place
    words = [sys.executable, "-P", "-m", "jupyterlab", str(_place(notebook)), *jupyter]
    # Ctrl-C reaches both processes; Jupyter alone acts on it, and ends its kernels
    # A function, as Jupyter would inherit SIG_IGN
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        return subprocess.Popen(words).wait()
    finally:
        signal.signal(signal.SIGINT, before)


def _place(notebook: str) -> Path:
    """Return the notebook's path, after checking for it and for JupyterLab."""
    if missing := [m for m in ("jupyterlab", "ipywidgets", "anywidget") if find_spec(m) is None]:
        raise ImportError(
            f'this needs {", ".join(missing)}: pip install "flatviz[lab]" (in a clone: pip install'
            ' ".[lab]")'
        )
    folder = _folder()
    if (folder / notebook).is_file():
        return folder / notebook
    known = sorted(p.name for p in folder.glob("*.ipynb"))
    begun = [name for name in known if notebook and name.startswith(notebook)]
    if len(begun) != 1:
        near = did_you_mean(notebook, begun or known)
        raise ValueError(
            f"the notebook must be one of {', '.join(begun or known)}, or how one begins, got"
            f" {notebook!r}{near}"
        )
    return folder / begun[0]


def _folder() -> Path:
    """Return the clone's notebooks, or a copy in ./flatviz-notebooks for an installed package.

    The copy is the user's to change.
    """
    if folder_of_notebooks() == CLONE:
        return CLONE
    folder = Path.cwd() / "flatviz-notebooks"
    for notebook in PACKAGED.rglob("*.ipynb"):
        place = folder / notebook.relative_to(PACKAGED)
        place.parent.mkdir(parents=True, exist_ok=True)
        if not place.exists():  # never over what the user changed
            shutil.copy(notebook, place)
    return folder
