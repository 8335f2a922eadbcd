"""The course's notebooks, each run once in its small form for whatever test asks for it."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from flatviz.site import notebooks, read
from flatviz.site.run import NO_ALT, CellError, Channel, run

__all__ = ["CHAPTERS", "NO_ALT", "NOTEBOOKS", "CellError", "Channel", "executed", "name", "run"]

NOTEBOOKS = notebooks()
CHAPTERS = [p for p in NOTEBOOKS if re.fullmatch(r"\d\d|[A-Z]", p.stem.split("_")[0])]


def name(path: Path) -> str:
    """How a test of it is called."""
    return path.stem


@cache
def executed(path: Path):
    """The notebook with the outputs of its small run; one run serves all tests of this process."""
    notebook = read(path, fast=True)
    run(notebook, path.stem)
    return notebook
