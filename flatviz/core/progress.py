"""Progress of long work: a bar with a time estimate, or any function of the caller's."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from flatviz.core.arithmetic import users_arithmetic

T = TypeVar("T")

# None: a bar where somebody watches; True / False: always / never; a function: progress(done,
# total, label), called before each step.  It may raise to cancel: the exception passes through
# whatever is running.
Progress = bool | None | Callable[[int, int, str], None]


def track(
    items: Iterable[T],
    label: str,
    progress: Progress = False,
    total: int | None = None,
    *,
    examples: int | None = None,
) -> Iterator[T]:
    """Yield `items`, reporting each one.

    The bar shows elapsed and remaining time.  With `examples`, the number that an item stands for,
    it counts examples and shows images/s.
    """
    total = len(items) if total is None else total  # type: ignore[arg-type]
    if callable(progress):
        report = users_arithmetic()(progress)
        for done, item in enumerate(items):
            report(done, total, label)
            yield item
        report(total, total, label)
        return
    if progress is False:
        yield from items
        return
    try:
        from tqdm.auto import tqdm  # optional: a machine that only computes need not have it
    except ImportError:
        yield from items
        return
    counted = {} if examples is None else {"unit": " images", "unit_scale": examples}
    yield from tqdm(
        items,
        desc=label,
        total=total,
        disable=None if progress is None else False,
        leave=False,
        **counted,
    )
