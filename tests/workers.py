"""A Dask scheduler and two workers in processes of their own, forked from one that has torch and nothing else.

A fork of the test process would inherit thread pools whose threads it does not have: once a test before used Dask, its tasks
would wait for ever.
"""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import os
from collections.abc import Iterator
from pathlib import Path

import pytest


@contextlib.contextmanager
def two_workers(folder: Path) -> Iterator:
    """A client of two workers with one thread each."""
    import distributed

    if not hasattr(os, "fork"):
        pytest.skip("no fork on this system")
    fresh = multiprocessing.get_context("forkserver")
    fresh.set_forkserver_preload(["flatviz"])
    file = str(folder / "scheduler.json")
    kinds = ["Scheduler", "Worker", "Worker"]  # the workers wait for the scheduler's file
    processes = [fresh.Process(target=_serve, args=(kind, file, str(folder)), daemon=True) for kind in kinds]
    try:
        for process in processes:
            process.start()
        with distributed.Client(scheduler_file=file, timeout="300s") as client:
            client.wait_for_workers(2, timeout=300)
            yield client
    finally:
        for process in processes:
            process.kill()
            process.join(30)


def _serve(kind: str, file: str, folder: str) -> None:
    import dask
    import distributed

    async def serve():
        own = {"host": "127.0.0.1", "port": 0, "dashboard": False}
        own = own if kind == "Scheduler" else {"nthreads": 1, "local_directory": folder}
        async with getattr(distributed, kind)(scheduler_file=file, **own) as server:
            await server.finished()

    with dask.config.set({"distributed.comm.timeouts.connect": "300s"}):
        asyncio.run(serve())
