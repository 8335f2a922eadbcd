"""Check the packages of an extra, write pages and report progress for the commands."""

import importlib
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType

from flatviz.core import Progress
from flatviz.storage.files import write_text

FITS = ("fitting", "seed", "tuning")  # first words of the labels of stages that consist of fits


def write_page(path: Path, text: str) -> None:
    """Write an HTML file, whole or not at all, and say so."""
    size = write_text(path, text).stat().st_size / 1e6
    print(f"{path} written: {size:.1f} MB with plotly.js inside, opens in any browser")


def table_text(rows: Sequence[Mapping[str, str]]) -> str:
    """Rows, from column to text, as lines of equal columns."""
    cells = [list(rows[0])]
    cells += [list(row.values()) for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells)]
    lines = [" ".join(map(str.rjust, line, widths)) for line in cells]
    return "\n".join(lines)


def progress_of_command() -> Progress:
    """A bar on a terminal; elsewhere a line for each stage that ends, such as a fit."""
    return None if sys.stderr.isatty() else Lines()


class Lines:
    """Progress as printed lines: steps and seconds of each stage that ends.

    A stage inside another one prints its line where the outer one consists of fits.
    """

    def __init__(self) -> None:
        self._started: dict[str, float] = {}  # of the stages that have not ended, outermost first

    def __call__(self, done: int, total: int, label: str) -> None:
        """Note the step; print where it ends a stage."""
        now = time.perf_counter()
        seconds = now - self._started.setdefault(label, now)
        if done >= total:
            del self._started[label]
            if all(outer.startswith(FITS) for outer in self._started):
                print(f"  {label}: {total} steps, {seconds:.1f} s", flush=True)


def module(name: str, extra: str) -> ModuleType:
    """A module that needs the packages of an extra, loaded when it is used.

    Raises:
        ImportError: Without one of them; it names the extra.
    """
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        text = (
            f'this needs {error.name}: pip install "flatviz[{extra}]" (in a clone: pip install'
            f' ".[{extra}]")'
        )
        raise ImportError(text) from error
