"""Options and other parts that commands share: extras, output files, progress."""

import importlib
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from flatviz.core import Progress
from flatviz.storage.files import write_text

FITS = ("fitting", "seed", "tuning")  # first words of the labels of stages that consist of fits


def check_output(option: str, path: Path) -> Path:
    """Check that a path can be written, before hours of work, by creating its folder and a file.

    Raises:
        ValueError: For a folder, and for a place where no file can be written.
    """
    if path.is_dir():
        raise ValueError(f"{option} must be a file, got the folder {path}: add a name")
    absent = [p for p in path.absolute().parents if not p.exists()]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=path.parent).close()
    except OSError as error:
        raise ValueError(
            f"{option} must lie in a folder that can be written, got {path}: {error.strerror}"
        ) from None
    if absent:
        print(f"folder made: {absent[0]}")
    return path


def write_page(path: Path, text: str) -> None:
    """Write an HTML file, completely or not at all, and print its path."""
    print(
        f"{path} written: {write_text(path, text).stat().st_size / 1e6:.1f} MB with plotly.js"
        " inside, opens in any browser"
    )


def progress_of_command() -> Progress:
    """Return a bar on a terminal, elsewhere a printer of a line for each finished stage."""
    return None if sys.stderr.isatty() else Lines()


class Lines:
    """Progress as printed lines: steps and seconds of each finished stage.

    A stage inside another one prints its line where the outer one consists of fits.
    """

    def __init__(self) -> None:
        self._started: dict[str, float] = {}  # of the stages that have not ended, outermost first

    def __call__(self, done: int, total: int, label: str) -> None:
        """Note the step; print a line where it ends a stage."""
        seconds = time.perf_counter() - self._started.setdefault(label, time.perf_counter())
        if done >= total:
            del self._started[label]
            if all(outer.startswith(FITS) for outer in self._started):
                print(f"  {label}: {total} steps, {seconds:.1f} s", flush=True)


PATH = click.Path(path_type=Path)

DATA = click.option(
    "--data",
    metavar="NAME",
    help="Task: digits-near, digits, moons, image-folder:PATH, cifar10:ROOT ...",
)
DEVICE = click.option(
    "--device", help="auto, cpu, cuda or cuda:N; auto takes a GPU where the network gains from it."
)
SEED = click.option("--seed", type=int, help="Seed of the split, the networks and all noise (0).")
SEEDS = click.option("--seeds", type=int, help="Number of seeds.")
WORKERS = click.option(
    "--workers", type=int, metavar="N", help="Share the fits among N processes of one thread each."
)


def out(default: str | None, what: str, name: str = "--out") -> Callable:
    """Declare the option of a path to write to, checked before hours of work."""
    about: dict[str, Any] = dict(
        type=PATH, default=default, show_default=default is not None, help=f"File to write: {what}."
    )
    return click.option(
        name, callback=lambda ctx, option, path: path and check_output(name, path), **about
    )


def module(name: str, extra: str) -> Any:
    """Import a module that needs the packages of an extra.

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
