"""Fits as tasks, here or by any executor of `concurrent.futures`, each stored when it ends."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, ProcessPoolExecutor, as_completed
from contextlib import AbstractContextManager, nullcontext
from multiprocessing import get_context
from typing import Annotated, TypeVar, cast

import cloudpickle
import torch

from flatviz.checks import check_count, kind
from flatviz.core import Progress, track
from flatviz.storage.digest import process_state

Given = TypeVar("Given")  # what all tasks share
Item = TypeVar("Item")
Result = TypeVar("Result")
MAKES_ONE = (
    "concurrent.futures.ProcessPoolExecutor(n) or distributed.Client(address).get_executor() is one"
)
Engine = Annotated[Executor, kind(Executor, "an executor of concurrent.futures", MAKES_ONE)] | None


def run_each(
    function: Callable[[Given, Item], Result],
    given: Given,
    items: Sequence[Item],
    *,
    engine: Engine = None,
    label: str = "tasks",
    progress: Progress = False,
) -> Iterator[tuple[int, Result]]:
    """Call a function for each item, here or by an executor.

    given: shared by all tasks; it is sent with each of them by cloudpickle, so that functions of a
    notebook work.

    Yields:
        (number, function(given, item)) of each item when it is done; in order where `engine` is
        None.

    Raises:
        RuntimeError: If a process of the executor is lost.
        ValueError: Under autocast or hooks on all modules, which other processes do not have.
    """
    if engine is None:
        for i, item in enumerate(track(items, label, progress)):
            yield i, function(given, item)
    else:
        shared = _shared(engine, function, given, items)
        yield from track(shared, label, progress, total=len(items))


def _shared(
    engine: Executor,
    function: Callable[[Given, Item], Result],
    given: Given,
    items: Sequence[Item],
) -> Iterator[tuple[int, Result]]:
    if state := process_state():
        raise ValueError(
            f"engine must compute as this process does, got {', '.join(state)} that its workers"
            " lack: leave autocast, remove hooks on all modules and hook the module itself"
        )
    work = cloudpickle.dumps((function, given))
    futures = {engine.submit(_call, work, item): i for i, item in enumerate(items)}
    fault = None
    try:
        for future in as_completed(futures):
            try:
                result = cast(Result, future.result())
            except BrokenExecutor as error:  # of unfinished tasks; finished ones are yielded first
                fault = error
            else:
                yield futures[future], result
    finally:
        for future in futures:
            future.cancel()
    if fault is not None:
        raise RuntimeError(
            f"a worker process must live until its task ends, got one that was lost ({fault}): call"
            " again, with fewer workers where memory was short; what a cache holds is not computed"
            " again"
        ) from fault


def _call(work: bytes, item: object) -> object:
    function, shared = cloudpickle.loads(work)
    return function(shared, item)


def executor(workers: int | None) -> AbstractContextManager[Executor | None]:
    """Start `workers` processes of one thread here for the block; None without a number."""
    if workers is None:
        return nullcontext()
    n = check_count(workers, "workers")
    spawn = get_context("spawn")
    return ProcessPoolExecutor(n, spawn, initializer=torch.set_num_threads, initargs=(1,))
