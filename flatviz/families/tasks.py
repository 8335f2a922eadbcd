"""Fits as tasks: one after the other here, or shared by any executor of `concurrent.futures`, each kept as it comes."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from itertools import chain, repeat
from multiprocessing import get_context
from typing import Annotated, Any

import cloudpickle
import torch

from flatviz.checks import check_count, kind
from flatviz.core import Progress, track
from flatviz.storage.cache import keep, look_up
from flatviz.storage.digest import process_state

MAKES_ONE = "concurrent.futures.ProcessPoolExecutor(n) or distributed.Client(address).get_executor() is one"
Engine = Annotated[Executor, kind(Executor, "an executor of concurrent.futures", MAKES_ONE)] | None


def each(
    function: Callable[[Any, Any], Any],
    given: Any,
    items: Sequence[Any],
    *,
    engine: Engine = None,
    label: str = "tasks",
    progress: Progress = False,
) -> Iterator[tuple[int, Any]]:
    """Call a function for each item, here or by an executor.

    given: shared by all tasks; it travels with each of them, by cloudpickle, so that functions of a notebook do.

    Yields:
        (number, function(given, item)) of each item, as they come in; in their order where `engine` is None.

    Raises:
        RuntimeError: If a process of the executor is lost.
        ValueError: Under autocast or hooks on all modules, which other processes do not have.
    """
    here = ((i, function(given, item)) for i, item in enumerate(items))
    yield from track(here if engine is None else _shared(engine, function, given, items), label, progress, total=len(items))


def _shared(engine: Executor, function: Callable, given: Any, items: Sequence[Any]) -> Iterator[tuple[int, Any]]:
    if state := process_state():
        raise ValueError(
            f"engine must compute as this process does, got {', '.join(state)} that its workers lack: leave autocast, "
            "remove hooks on all modules and hook the module itself"
        )
    work = cloudpickle.dumps((function, given))
    futures, lost = {engine.submit(_call, work, item): i for i, item in enumerate(items)}, None
    try:
        for future in as_completed(futures):
            try:
                result = future.result()
            except BrokenExecutor as error:  # all that have not ended have this one; those that have are yielded first
                lost = error
            else:
                yield futures[future], result
    finally:
        for future in futures:
            future.cancel()
    if lost is not None:
        raise RuntimeError(
            f"a worker process must live until its task ends, got one that was lost ({lost}): call again, with fewer workers "
            "where memory was short; what a cache holds is not computed again"
        ) from lost


def _call(work: bytes, item: Any) -> Any:
    function, given = cloudpickle.loads(work)
    return function(given, item)


@contextmanager
def executor(workers: int | None) -> Iterator[Executor | None]:
    """A pool of `workers` processes of one thread on this machine; None without a number.

    Yields:
        The executor, closed at the end.
    """
    if workers is None:
        yield None
        return
    n, spawn = check_count(workers, "workers"), get_context("spawn")
    with ProcessPoolExecutor(n, spawn, initializer=torch.set_num_threads, initargs=(1,)) as pool:
        yield pool


def cached_each(
    folder: str,
    settings: Sequence[dict[str, Any]],
    compute: Callable[[list[int]], Iterator[tuple[int, Any]]],
    *,
    labels: Sequence[str] = (),
    say: Callable[[str], None] = lambda text: None,
) -> list[Any]:
    """Compute the result for each of `settings`: from the cache, or from `compute(missing numbers)`, kept as they come.

    `compute` yields (place among the missing numbers, result); one that it leaves out is None in the list.  labels: the
    text for `say` of each, as in `cached`.
    """
    named = zip(settings, chain(labels, repeat("")))
    places = [look_up(folder, about, label, say) for about, label in named]
    results = [stored[0] if stored else None for _, stored in places]
    missing = [i for i, (_, stored) in enumerate(places) if not stored]
    for at, result in compute(missing) if missing else ():
        results[missing[at]] = result
        keep(result, places[missing[at]][0], say)
    return results
