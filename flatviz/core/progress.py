"""Progress of long work: a bar with a time estimate, or any function of the caller's."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TypeVar

from flatviz.core.arithmetic import users_arithmetic, users_device

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

        def report(done: int, total: int, label: str) -> None:
            with users_arithmetic(), users_device():
                progress(done, total, label)

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


class Parts:
    """Share done of a whole whose parts follow each other, each reported under its label.

    weights: label of a part -> the expected work of its steps, in any unit.  A label that is not of
    this part or a later one is of work inside the step in progress.
    """

    def __init__(self, weights: Mapping[str, Sequence[float]]) -> None:
        whole = sum(map(sum, weights.values()))
        self._weights = {}
        for label, steps in weights.items():
            self._weights[label] = [work / whole for work in steps]
        self._order = list(weights)
        self._at = 0
        self._begin = 0.0  # where the step in progress begins
        self._width = 0.0 if weights else 1.0
        self._inside: dict[str, tuple[int, int]] = {}  # done, total of work inside that step
        self._share = 0.0

    def share(self, done: int, total: int, label: str) -> float:
        """Return the share of the whole that is done, 0..1, which never falls."""
        if label in self._order[self._at :]:
            self._at = self._order.index(label)
            self._enter(self._weights[label], done / max(total, 1))
            self._inside = {}
        else:
            self._nest(label, done, total)
        begin = self._begin
        width = self._width
        for part, of in self._inside.values():
            width /= max(of, 1)
            begin += width * part
        self._share = max(self._share, min(begin, 1.0))
        return self._share

    def _nest(self, label: str, done: int, total: int) -> None:
        """Note work inside the step; drop notes from this label on, and complete ones."""
        labels = list(self._inside)
        ended = labels[labels.index(label) :] if label in labels else []
        for other in ended:
            del self._inside[other]
        while self._inside:
            last = next(reversed(self._inside))
            part, of = self._inside[last]
            if part < of:
                break
            del self._inside[last]
        self._inside[label] = (done, total)

    def _enter(self, steps: Sequence[float], share: float) -> None:
        """Place the step at this share of the current part in the whole."""
        before = sum(sum(self._weights[name]) for name in self._order[: self._at])
        at = min(round(share * len(steps)), len(steps))
        self._begin = before + sum(steps[:at])
        self._width = steps[at] if at < len(steps) else 0.0


@contextmanager
def one_bar(weights: Mapping[str, Sequence[float]], progress: Progress) -> Iterator[Progress]:
    """Open one bar for work in parts, with the time left of the whole.

    weights: as for `Parts`.  A function of the caller's hears of every part itself.

    Yields:
        The `progress` of every part.
    """
    if progress is False or callable(progress):
        yield progress
        return
    try:
        from tqdm.auto import tqdm  # optional: a machine that only computes need not have it
    except ImportError:
        yield False
        return
    parts = Parts(weights)
    form = "{percentage:3.0f} % {bar} {desc} {elapsed}, about {remaining} left"
    hidden = None if progress is None else False
    with tqdm(total=1.0, bar_format=form, leave=False, disable=hidden) as bar:

        def report(done: int, total: int, label: str) -> None:
            bar.set_description(label, refresh=False)
            bar.update(parts.share(done, total, label) - bar.n)

        yield report
