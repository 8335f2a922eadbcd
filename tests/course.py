"""The course's notebooks, each run once in its small form for whatever test asks for it."""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path

import torch

from flatviz.core.seeds import saved_rng
from flatviz.site.run import run
from flatviz.site.source import notebooks, read

NOTEBOOKS = notebooks()
CHAPTERS = [p for p in NOTEBOOKS if re.fullmatch(r"\d\d|[A-Z]", p.stem.split("_")[0])]


def name(path: Path) -> str:
    """How a test of it is called."""
    return path.stem


def executed(path: Path, done: dict = {}):  # noqa: B006  one run serves all tests of this process
    """The notebook with the outputs of its small run; the process is as it was."""
    if path.stem not in done:
        notebook, threads, before = read(path, fast=True), torch.get_num_threads(), Path.cwd()
        try:
            with saved_rng(), tempfile.TemporaryDirectory() as folder:
                os.chdir(folder)  # what a cell writes is left there
                run(notebook, path.stem)
                done[path.stem] = notebook
        finally:
            os.chdir(before)
            torch.set_num_threads(threads)
    return done[path.stem]
