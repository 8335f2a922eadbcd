"""Options that several commands have."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from flatviz.checks import check_count
from flatviz.core.data import Task
from flatviz.datasets.named import NAMES, named_task
from flatviz.families.preparation import MODELS
from flatviz.posteriors import METHODS

SCHEDULER_WAIT = "30s"


def add_methods(parser: ArgumentParser) -> None:
    """--methods: a list of names, or None."""
    everything = "names with commas between; without it all: " + ",".join(METHODS)
    parser.add_argument("--methods", type=_names, help=everything)


def add_model(parser: ArgumentParser) -> None:
    """--model: the network."""
    about = "LayerNorm MLP, BatchNorm conv net, or ResNet-20 for images (mlp)"
    parser.add_argument("--model", choices=tuple(MODELS), default="mlp", help=about)


def add_data(parser: ArgumentParser) -> None:
    """--data: the task, with --size and --per-class for images; `task_of` makes it."""
    parser.add_argument("--data", default="digits", metavar="NAME", help=f"what is learned: {', '.join(NAMES)} (digits)")
    parser.add_argument("--size", type=int, help="pixels of each side to which a folder's images are scaled (as they are)")
    parser.add_argument("--per-class", type=int, help="at most so many images of each class are read (all)")


def data_options(args: Namespace) -> str:
    """The options of `add_data` and `add_model` as they are typed."""
    text = f"--data {args.data} --model {args.model}"
    return text + "".join(f" --{n} {v}" for n, v in (("size", args.size), ("per-class", args.per_class)) if v)


def task_of(args: Namespace) -> Callable[[int], Task]:
    """The task of --data, as a function of the seed."""
    return partial(_named, args.data, args.size, args.per_class)


def _named(name: str, size: int | None, per_class: int | None, seed: int) -> Task:
    return named_task(name, seed=seed, size=size, per_class=per_class)


def add_tuned(parser: ArgumentParser) -> None:
    """--tuned: a file of `flatviz tune`."""
    about = "a file that flatviz tune wrote: its settings and radii in place of the methods' own"
    parser.add_argument("--tuned", type=Path, help=about)


def add_engine(parser: ArgumentParser) -> None:
    """--workers and --scheduler: where the fits run; `engine_of` starts or joins them."""
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--workers", type=int, metavar="N", help="share the fits among N processes here, of one thread each")
    where.add_argument(
        "--scheduler", metavar="ADDRESS", help="share the fits among the workers of a Dask scheduler, tcp://HOST:PORT"
    )


@contextmanager
def engine_of(args: Namespace) -> Iterator[Any]:
    """A `dask.distributed` Client for --workers or --scheduler, closed at the end; None without either.

    Raises ImportError without dask, OSError where no scheduler answers.
    """
    if args.workers is None and args.scheduler is None:
        yield None
        return
    try:
        import distributed  # optional: extra "cluster"
    except ImportError as error:
        raise ImportError('--workers and --scheduler need dask: pip install "flatviz[cluster]"') from error
    if args.scheduler is not None:
        with distributed.Client(args.scheduler, timeout=SCHEDULER_WAIT) as client:
            yield client
        return
    n = check_count(args.workers, "--workers")
    with distributed.LocalCluster(n_workers=n, threads_per_worker=1, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as client:
            yield client


def add_out(parser: ArgumentParser, default: str, what: str) -> None:
    """--out: the path to write to."""
    about = f"where to write {what}; makes its folder ({default})"
    parser.add_argument("--out", type=Path, default=Path(default), help=about)


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]
