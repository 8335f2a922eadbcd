"""Options that several commands share, each declared once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from flatviz.checks import check_count

SCHEDULER_WAIT = "30s"

DATA = click.option("--data", metavar="NAME", help="Task: digits, moons, image-folder:PATH, cifar10:ROOT ...")
DEVICE = click.option("--device", help="auto, cpu, cuda or cuda:N; auto takes a GPU where the network gains from it.")
SEED = click.option("--seed", type=int, help="Of the split, the networks and all noise (0).")
SEEDS = click.option("--seeds", type=int, help="Number of seeds.")
WORKERS = click.option("--workers", type=int, metavar="N", help="Share the fits among N processes of one thread each.")
SCHEDULER = click.option(
    "--scheduler", metavar="ADDRESS", help="Share the fits among a Dask scheduler's workers, tcp://HOST:PORT."
)


def out(default: str | None, what: str) -> Callable:
    """--out: the path to write to; its folder is made."""
    path = click.Path(path_type=Path)
    return click.option("--out", type=path, default=default, show_default=default is not None, help=f"File to write {what} to.")


@contextmanager
def engine_of(workers: int | None, scheduler: str | None) -> Iterator[Any]:
    """A `dask.distributed` Client for --workers or --scheduler, closed at the end; None without either.

    Raises:
        ImportError: Without dask.
        OSError: Where no scheduler answers.
        ValueError: For both options at once.
    """
    if workers is None and scheduler is None:
        yield None
        return
    if workers is not None and scheduler is not None:
        raise ValueError("one of --workers and --scheduler must be given, got both: leave one out")
    try:
        import distributed  # optional: extra "cluster"
    except ImportError as error:
        raise ImportError('--workers and --scheduler need dask: pip install "flatviz[cluster]"') from error
    if scheduler is not None:
        with distributed.Client(scheduler, timeout=SCHEDULER_WAIT) as client:
            yield client
        return
    n = check_count(workers, "--workers")
    with distributed.LocalCluster(n_workers=n, threads_per_worker=1, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as client:
            yield client
