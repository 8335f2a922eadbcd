"""What several commands share: their options, each declared once, packages of an extra, a cluster."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import click

from flatviz.checks import check_count

SCHEDULER_WAIT = "30s"
PATH = click.Path(path_type=Path)

DATA = click.option("--data", metavar="NAME", help="Task: digits-near, digits, moons, image-folder:PATH, cifar10:ROOT ...")
DEVICE = click.option("--device", help="auto, cpu, cuda or cuda:N; auto takes a GPU where the network gains from it.")
SEED = click.option("--seed", type=int, help="Seed of the split, the networks and all noise (0).")
SEEDS = click.option("--seeds", type=int, help="Number of seeds.")
WORKERS = click.option("--workers", type=int, metavar="N", help="Share the fits among N processes of one thread each.")
SCHEDULER = click.option("--scheduler", metavar="ADDRESS", help="Share the fits among the workers of a Dask scheduler.")


def out(default: str | None, what: str) -> Callable:
    """--out: the path to write to; its folder is created."""
    return click.option("--out", type=PATH, default=default, show_default=default is not None, help=f"File to write {what} to.")


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


@contextmanager
def engine_of(workers: int | None, scheduler: str | None) -> Iterator[Any]:
    """A `dask.distributed` Client for --workers or --scheduler, closed at the end; None without either.

    Yields:
        The client.

    Raises:
        ValueError: For both options at once.
    """
    if workers is None and scheduler is None:
        yield None
        return
    if workers is not None and scheduler is not None:
        raise ValueError("one of --workers and --scheduler must be given, got both: leave one out")
    distributed = module("distributed", "cluster")
    with ExitStack() as stack:
        place = scheduler
        if scheduler is None:
            cluster = distributed.LocalCluster(check_count(workers, "--workers"), threads_per_worker=1, dashboard_address=None)
            place = stack.enter_context(cluster)
        yield stack.enter_context(distributed.Client(place, timeout=SCHEDULER_WAIT))
