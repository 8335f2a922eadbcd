"""What several commands share: their options, each declared once, and packages of an extra."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from flatviz.cli.output import check_output

PATH = click.Path(path_type=Path)

DATA = click.option("--data", metavar="NAME", help="Task: digits-near, digits, moons, image-folder:PATH, cifar10:ROOT ...")
DEVICE = click.option("--device", help="auto, cpu, cuda or cuda:N; auto takes a GPU where the network gains from it.")
SEED = click.option("--seed", type=int, help="Seed of the split, the networks and all noise (0).")
SEEDS = click.option("--seeds", type=int, help="Number of seeds.")
WORKERS = click.option("--workers", type=int, metavar="N", help="Share the fits among N processes of one thread each.")
SCHEDULER = click.option("--scheduler", metavar="ADDRESS", help="Share the fits among the workers of a Dask scheduler.")


def out(default: str | None, what: str, name: str = "--out") -> Callable:
    """A path to write to, which is tried before hours of work; its folder is created."""
    about = dict(type=PATH, default=default, show_default=default is not None, help=f"File to write: {what}.")
    return click.option(name, callback=lambda ctx, option, path: path and check_output(name, path), **about)


def module(name: str, extra: str) -> Any:
    """A module that needs the packages of an extra, loaded when it is used.

    Raises:
        ImportError: Without one of them; it names the extra.
    """
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        text = f'this needs {error.name}: pip install "flatviz[{extra}]" (in a clone: pip install ".[{extra}]")'
        raise ImportError(text) from error
