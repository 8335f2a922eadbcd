"""Calls of a function, and blocks of points, as tasks of a `dask.distributed` client."""

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch

from flatviz.storage.digest import process_state

_made = threading.local()  # a worker makes each job's evaluator once a thread
RETRIES = 5
PATIENCE = 60  # seconds for a finished result to arrive; later it is sent again: its worker was lost on the way


def on_cluster(
    client: Any, function: Callable[[Any, Any], Any], given: Any, items: Sequence[Any], *, errors: bool = False
) -> Iterator[tuple[int, Any]]:
    """Calls of a function, made by the workers of a cluster.

    `given`, what all calls share, is sent to every worker once; a lost worker costs only the calls it had.
    errors: True yields the exception of a call that fails on the workers, or loses them, in place of raising it.

    Yields:
        (number, function(given, item)) of each item as they come in.

    Raises:
        CancelledError: Where the scheduler has forgotten a task whose workers were lost.
    """
    check_client(client)
    from distributed import CancelledError, as_completed, wait  # optional; `check_client` has imported it

    (sent,) = client.scatter([given], broadcast=True, hash=False)
    wait(sent)
    numbers = {}

    def submit(i: int) -> Any:
        future = client.submit(function, sent, items[i], pure=False, retries=RETRIES)
        numbers[future] = i
        return future

    waiting = as_completed([submit(i) for i in range(len(items))])
    try:
        for future in waiting:
            try:
                result = (future.exception() if errors else None) or future.result(timeout=PATIENCE)
            except TimeoutError:
                waiting.add(submit(numbers[future]))
            except CancelledError as error:  # its workers were lost, and the scheduler has forgotten it
                if not errors:
                    raise
                yield numbers[future], error
            else:
                yield numbers[future], result
    finally:
        client.cancel(list(numbers))


def check_client(client: Any) -> None:
    """That `client` is one of dask.distributed, running, and that its workers compute what this process would.

    Raises:
        ImportError: Without that package.
        TypeError: For anything else.
        ValueError: For a closed client, and under autocast or hooks on all modules, which workers do not have.
    """
    try:
        import distributed  # optional: extra "cluster"
    except ImportError as error:
        raise ImportError('engine= needs dask: pip install "flatviz[cluster]"') from error
    if not isinstance(client, distributed.Client):
        raise TypeError(f"engine must be a dask.distributed Client, got {type(client).__name__}: Client(...) makes one")
    if client.status != "running":
        raise ValueError(f"engine must be a running Client, got one that is {client.status}: make another, Client(...)")
    if state := process_state():
        raise ValueError(
            f"engine must compute as this process does, got {', '.join(state)} that its workers lack: leave autocast, "
            "remove hooks on all modules and hook the module itself"
        )


def block_values(job: tuple, coords: Any) -> Any:
    """Values of a block of points, from their coordinates, both as arrays of numpy.

    job: what all blocks share: a name of its own, objective, origin, axes, options of the evaluator.
    """
    name, f, origin, axes, options = job
    evaluators = _made.__dict__.setdefault("evaluators", {})
    if name not in evaluators:
        evaluators.clear()
        evaluators[name] = f.over(origin, axes, **options)
    return evaluators[name](torch.from_numpy(coords)).cpu().numpy()
