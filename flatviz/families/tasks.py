"""Fits as tasks: one after the other here, or on the workers of a `dask.distributed` client, each kept as it comes."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import zip_longest
from typing import Any

from flatviz.checks import check_count
from flatviz.core import Progress, track
from flatviz.landscape.cluster import check_client, on_cluster
from flatviz.storage.cache import keep, look_up

SCHEDULER_WAIT = "30s"


def each(
    function: Callable[[Any, Any], Any],
    given: Any,
    items: Sequence[Any],
    *,
    engine: Any = None,
    label: str = "tasks",
    progress: Progress = False,
    errors: bool = False,
) -> Iterator[tuple[int, Any]]:
    """Calls of a function, here or on a cluster.

    given: what all tasks share, sent to every worker once.  A lost worker costs only the tasks it had.
    errors: True yields the exception of a task that fails on the workers, or loses them, in place of raising it.

    Yields:
        (number, function(given, item)) of each item, as they come in; in their order where `engine` is None.
    """
    here = ((i, function(given, item)) for i, item in enumerate(items))
    calls = here if engine is None else on_cluster(engine, function, given, items, errors=errors)
    yield from track(calls, label, progress, total=len(items))


@contextmanager
def cluster(n_workers: int | None, scheduler: str | None = None) -> Iterator[Any]:
    """A client of `n_workers` processes of one thread on this machine, or of a scheduler, closed at the end; None without either.

    Yields:
        The client.

    Raises:
        ImportError: Without the extra "cluster".
        ValueError: For both at once.
    """
    if n_workers is None and scheduler is None:
        yield None
        return
    if n_workers is not None and scheduler is not None:
        raise ValueError("one of workers and scheduler must be given, got both: leave one out")
    try:
        import distributed  # optional: extra "cluster"
    except ImportError as error:
        raise ImportError(f'a cluster needs {error.name}: pip install "flatviz[cluster]"') from error
    with ExitStack() as stack:
        if scheduler is None:
            how = dict(threads_per_worker=1, dashboard_address=None, security=True)  # TLS: no other user of the machine gets in
            here = distributed.LocalCluster(check_count(n_workers, "workers"), **how)
            scheduler = stack.enter_context(here)
        yield stack.enter_context(distributed.Client(scheduler, timeout=SCHEDULER_WAIT))


def workers(client: Any) -> int:
    """How many workers a client has, at least 1."""
    check_client(client)
    return max(1, len(client.scheduler_info()["workers"]))


def cached_each(
    folder: str,
    settings: Sequence[dict[str, Any]],
    compute: Callable[[list[int]], Iterator[tuple[int, Any]]],
    *,
    labels: Sequence[str] = (),
    say: Callable[[str], None] = lambda text: None,
) -> list[Any]:
    """The result for each of `settings`: from the cache, or from `compute(numbers that are missing)`, kept as they come.

    `compute` yields (place among the missing numbers, result); one that it leaves out is None in the list.  labels: the
    text for `say` of each, as in `cached`.
    """
    places = [look_up(folder, about, label, say) for about, label in zip_longest(settings, labels, fillvalue="")]
    results = [found[0] if found else None for _, found in places]
    missing = [i for i, (_, found) in enumerate(places) if not found]
    for at, result in compute(missing) if missing else ():
        results[missing[at]] = result
        keep(result, places[missing[at]][0], say)
    return results
