"""The static site: notebooks with their outputs, the reference and the live first page, put together by Sphinx offline."""

from __future__ import annotations

import io
import os
import shutil
from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell
from sphinx.application import Sphinx

from flatviz.site.source import EXPERIMENTS, folder_of_notebooks, notebooks, read

DOCS = Path(__file__).resolve().parent.parent.parent / "docs"  # Sphinx's settings, in a clone
TREE = "```{{toctree}}\n:hidden:\n:glob:\n\n{}\n```"
BELOW = {"contents": "[0-9]*\n[A-Z]_*", "claims": "*"}  # the pages that a page lists in the sidebar
COLAB, BINDER = "https://colab.research.google.com/github/", "https://mybinder.org/v2/gh/"


def build(executed: Mapping[str, NotebookNode], live: str, out: Path) -> list[str]:
    """Write the site into the folder `out`.

    Args:
        executed: Name -> notebook with its outputs; the others stand in the site without theirs.
        live: HTML for the first page.
        out: The folder.

    Returns:
        The warnings of Sphinx, none if all is well.

    Raises:
        FileNotFoundError: Outside of a clone, where Sphinx's settings are not.
    """
    if not (DOCS / "conf.py").exists():
        raise FileNotFoundError(f"the site must be built in a clone of flatviz, got no {DOCS / 'conf.py'}: clone it")
    with TemporaryDirectory(prefix="flatviz-site-") as folder:
        source, warnings = Path(folder) / "source", io.StringIO()
        for path in notebooks():
            place = source / path.relative_to(folder_of_notebooks())
            for part in (place.parent, source / "downloads"):
                part.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, source / "downloads")
            nbformat.write(_for_site(deepcopy(executed.get(path.stem) or read(path)), path), place)
        shutil.copy(DOCS / "index.md", source)
        (source / "live.html").write_text(live, encoding="utf-8")
        Sphinx(source, DOCS, out, Path(folder) / "doctrees", "html", status=None, warning=warnings).build()
    return [line for line in warnings.getvalue().splitlines() if line.strip()]


def _for_site(notebook: NotebookNode, path: Path) -> NotebookNode:
    """With the ways to run it below its title, the pages below it for the sidebar, and an experiment without its code."""
    if any(cell.cell_type == "code" for cell in notebook.cells):
        notebook.cells.insert(1, new_markdown_cell(_ways_to_run(path)))
    for cell in notebook.cells if path.parent.name == EXPERIMENTS else ():
        cell.metadata.setdefault("tags", []).append("remove-input")
    if path.stem in BELOW:
        notebook.cells.append(new_markdown_cell(TREE.format(BELOW[path.stem])))
    return notebook


def _ways_to_run(path: Path) -> str:
    """As slides, as a file; where GitHub builds the site (it says so in GITHUB_REPOSITORY) also Colab and Binder."""
    place = path.relative_to(folder_of_notebooks()).as_posix()
    ways = [f"{{download}}`download it </downloads/{path.name}>`, and open it with `flatviz lab --notebook {place}`"]
    ways.append('<a href="?slides">show it as slides</a>')
    if repository := os.environ.get("GITHUB_REPOSITORY"):
        ways.append(f"[open it in Colab]({COLAB}{repository}/blob/main/notebooks/{place})")
        ways.append(f"[run it on Binder]({BINDER}{repository}/main?labpath=notebooks/{place})")
    return "{.fv-run}\nThis page is a notebook: " + " · ".join(ways) + "."
