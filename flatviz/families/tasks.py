"""Fits as tasks: one after the other here, or on the workers of a `dask.distributed` client, each kept as it comes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from flatviz.core.progress import Progress, track
from flatviz.landscape.cluster import RETRIES, check_client
from flatviz.storage.cache import keep, look_up


def each(
    function: Callable[[Any, Any], Any],
    given: Mapping[Hashable, Any],
    items: Sequence[tuple[Hashable, Any]],
    *,
    engine: Any = None,
    label: str = "tasks",
    progress: Progress = False,
    errors: bool = False,
) -> Iterator[tuple[int, Any]]:
    """Calls of a function, here or on a cluster.

    given: what several tasks share, by key: a value, sent to every worker once, or a function without arguments, which is a
    task too: run once, by whichever worker, and again if that is lost.  A lost worker costs only the tasks it had.
    errors: True yields the exception of a task that fails on the workers, or loses them, in place of raising it.

    Yields:
        (number, function(given[key], item)) of each (key, item), as they come in; in their order where `engine` is None.
    """
    if engine is None:
        yield from track(_here(function, given, items), label, progress, total=len(items))
    else:
        yield from track(_on_cluster(function, given, items, engine, errors), label, progress, total=len(items))


def workers(client: Any) -> int:
    """How many workers a client has, at least 1."""
    check_client(client)
    return max(1, len(client.scheduler_info()["workers"]))


def _here(function: Callable, given: Mapping, items: Sequence[tuple[Hashable, Any]]) -> Iterator[tuple[int, Any]]:
    last, value = None, None
    for i, (key, item) in enumerate(items):
        if last is None or key != last:
            last, value = key, given[key]() if callable(given[key]) else given[key]
        yield i, function(value, item)


def _on_cluster(function: Callable, given: Mapping, items: Sequence, client: Any, errors: bool) -> Iterator[tuple[int, Any]]:
    check_client(client)
    from distributed import as_completed  # optional; `check_client` has imported it

    keys = dict.fromkeys(key for key, _ in items)
    often = dict(pure=False, retries=RETRIES)
    shared = {
        key: client.submit(given[key], **often)
        if callable(given[key])
        else client.scatter(given[key], broadcast=True, hash=False)
        for key in keys
    }
    numbers = {client.submit(function, shared[key], item, **often): i for i, (key, item) in enumerate(items)}
    try:
        for future in as_completed(list(numbers)):
            yield numbers[future], (future.exception() if errors else None) or future.result()
    finally:
        client.cancel(list(numbers))


def cached_each(
    folder: str,
    settings: Sequence[dict[str, Any]],
    compute: Callable[[list[int]], Iterator[tuple[int, Any]]],
    *,
    labels: Sequence[str] = (),
    say: Callable[[str], None] = lambda text: None,
) -> list[Any]:
    """The result for each of `settings`: from the cache, or from `compute(numbers that are missing)`, kept as they come.

    `compute` yields (place among the missing numbers, result); one that it leaves out is None in the list.  labels: what `say`
    hears of each, as in `cached`.
    """
    places = [look_up(folder, about, label, say) for about, label in zip_longest(settings, labels, fillvalue="")]
    results = [found[0] if found else None for _, found in places]
    missing = [i for i, (_, found) in enumerate(places) if not found]
    for at, result in compute(missing) if missing else ():
        results[missing[at]] = result
        keep(result, places[missing[at]][0], say)
    return results
