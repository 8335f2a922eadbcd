"""The site: its list of notebooks; `run` runs them in one kernel, `build` makes the pages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flatviz.words import did_you_mean

if TYPE_CHECKING:
    from nbformat import NotebookNode

# The folders in an installed wheel
PACKAGED = Path(__file__).resolve().parent.parent / "_notebooks"
CLONE = Path(__file__).resolve().parent.parent.parent / "notebooks"
CONTENTS = "contents"  # the table of contents
EXPERIMENTS = "experiments"  # the folder of the experiments
SOLUTION = re.compile(r"<details><summary>Solution</summary>.*?</details>", re.DOTALL)


def notebooks(names: Sequence[str] = ()) -> list[Path]:
    """List the notebooks in the order of the course, then the experiments.

    With `names`, list those whose name begins with one of them.

    Raises:
        ValueError: For a name that no notebook begins with.
    """
    folder = folder_of_notebooks()
    everything = [
        *sorted(folder.glob("*.ipynb"), key=_place),
        *sorted((folder / EXPERIMENTS).glob("*.ipynb")),
    ]
    for name in names:
        if not any(p.stem.startswith(name) for p in everything):
            known = [p.stem for p in everything]
            raise ValueError(
                f"a notebook must be one of {', '.join(known)}, or how its name begins, got"
                f" {name!r}{did_you_mean(name, known)}"
            )
    return [p for p in everything if not names or p.stem.startswith(tuple(names))]


def folder_of_notebooks() -> Path:
    """Find the notebooks of the clone, or of an installed wheel."""
    return CLONE if (CLONE / f"{CONTENTS}.ipynb").exists() else PACKAGED


def defined_in(experiment: str, **parameters: Any) -> dict[str, Any]:
    """Read the names that an experiment's notebook defines before its section "Run, or read".

    Studies that share its definitions use it.

    Raises:
        ValueError: For a parameter that the notebook does not have.
    """
    space = {"__name__": f"experiment_{experiment}"}
    for cell in read(folder_of_notebooks() / EXPERIMENTS / f"{experiment}.ipynb").cells:
        if "## Run, or read" in cell.source:
            break
        if cell.cell_type == "code":
            exec(compile(cell.source, f"{experiment}.ipynb", "exec"), space)
        if "parameters" in cell.metadata.get("tags", ()):
            if unknown := parameters.keys() - space.keys():
                raise ValueError(
                    f"parameters must be those of {experiment}, got {', '.join(sorted(unknown))}:"
                    " correct them"
                )
            space |= parameters
    return space


def _place(path: Path) -> tuple[bool, bool, bool, str]:
    """Sort the contents first, then the chapters by number, those by letter, and the rest."""
    head = path.stem.split("_")[0]
    return (path.stem != CONTENTS, not head.isdigit(), len(head) > 1, path.stem)


def read(path: Path, *, fast: bool = False) -> NotebookNode:
    """Read a notebook; with `fast`, chapters run small and experiments read their tables."""
    import nbformat  # optional: comes with JupyterLab

    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if fast and "parameters" in cell.metadata.get("tags", ()):
            cell.source = cell.source.replace("FAST = False", "FAST = True", 1)
    return notebook


def with_blanks(notebook: NotebookNode) -> NotebookNode:
    """Return the student's version, with blanks for solutions and no hidden cells."""
    from nbformat.v4 import new_code_cell  # optional: comes with JupyterLab

    student = deepcopy(notebook)
    student.cells = []
    for cell in deepcopy(notebook.cells):
        if "hide-cell" in cell.metadata.get("tags", ()):
            continue
        cell.source, solved = SOLUTION.subn("*Your answer:*", cell.source)
        student.cells.append(cell)
        if solved:
            student.cells.append(new_code_cell("# your code", id=f"blank-{len(student.cells)}"))
    return student
