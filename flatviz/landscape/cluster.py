"""Blocks of points as tasks of a `dask.distributed` client."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from flatviz.storage.digest import process_state

_made = threading.local()  # a worker makes each job's evaluator once a thread
RETRIES = 5
PATIENCE = 60  # seconds for a finished block to arrive; later it is sent again: its worker was lost on the way


def on_cluster(client: Any, job: tuple, parts: list[Tensor]) -> Iterator[tuple[int, Tensor]]:
    """Blocks of points, computed by the workers of a cluster.

    The job (objective, plane, options) is sent to every worker once; a lost worker costs only the blocks it had.

    Yields:
        (number of the block, its values) as they come in.
    """
    check_client(client)
    from distributed import as_completed, wait  # optional; `check_client` has imported it

    sent = client.scatter(_Job(uuid.uuid4().hex, job), broadcast=True, hash=False)
    wait(sent)
    blocks = {}

    def submit(i: int) -> Any:
        future = client.submit(_block, sent, i, parts[i].numpy(), pure=False, retries=RETRIES)
        blocks[future] = i
        return future

    waiting = as_completed([submit(i) for i in range(len(parts))])
    try:
        for future in waiting:
            try:
                number, values = future.result(timeout=PATIENCE)
            except TimeoutError:
                waiting.add(submit(blocks[future]))
            else:
                yield number, torch.from_numpy(values)
    finally:
        client.cancel(list(blocks))


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


class _Job:
    def __init__(self, name: str, job: tuple) -> None:
        self.name, self.job = name, job


def _block(job: _Job, number: int, coords: Any) -> tuple[int, Any]:
    evaluators = _made.__dict__.setdefault("evaluators", {})
    if job.name not in evaluators:
        evaluators.clear()
        f, origin, axes, options = job.job
        evaluators[job.name] = f.over(origin, axes, **options)
    return number, evaluators[job.name](torch.from_numpy(coords)).cpu().numpy()
