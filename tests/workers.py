"""A Dask scheduler and two workers in forked processes, for a spawned one would import torch again."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest


@contextlib.contextmanager
def two_workers(folder: Path) -> Iterator:
    """A client of two workers with one thread each."""
    distributed, dask = pytest.importorskip("distributed"), pytest.importorskip("dask")
    if not hasattr(os, "fork"):
        pytest.skip("no fork on this system")
    file, started = str(folder / "scheduler.json"), []

    def start(make):
        async def serve():
            async with make() as server:
                await server.finished()

        started.append(os.fork())
        if started[-1] == 0:
            try:
                asyncio.run(serve())
            finally:
                os._exit(0)

    with dask.config.set({"distributed.comm.timeouts.connect": "300s"}):
        start(lambda: distributed.Scheduler(host="127.0.0.1", port=0, dashboard=False, scheduler_file=file))
        for _ in range(2):  # each waits for the scheduler's file
            start(lambda: distributed.Worker(scheduler_file=file, nthreads=1, local_directory=str(folder)))
        try:
            with distributed.Client(scheduler_file=file, timeout="300s") as client:
                client.wait_for_workers(2, timeout=300)
                yield client
        finally:
            for pid in started:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
