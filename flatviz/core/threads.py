"""How many threads an operation of torch runs on: as many as pay, whatever else the machine does.

A parallel operation waits for the last of its threads.  Beside other busy processes that takes milliseconds, so that an
operation of microseconds becomes thousands of times slower.  The number of threads follows from the size of an operation, never
from a stopwatch: the same request takes the same arithmetic on a busy machine as on an idle one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread, local

import torch

SHARE = 200_000_000  # multiply-adds that each thread is to have: some 5 ms, the time for which a busy machine lets one wait
PER_NUMBER = 32  # what a number read from memory counts for, in multiply-adds
_of_thread = local()  # `.users`: torch's setting outside of all blocks of this Python thread


@contextmanager
def threads(work: float) -> Iterator[None]:
    """As many threads as pay for operations of `work` multiply-adds each, at most what the user set in torch.

    torch keeps the number for each Python thread, so blocks of several threads do not meet.  It also is what threads that
    start later begin with: that is put back at once.  A number that is set inside the block stays.
    """
    before = torch.get_num_threads()
    users = getattr(_of_thread, "users", before)
    outermost, count = not hasattr(_of_thread, "users"), max(1, min(users, int(work / SHARE)))
    _of_thread.users = users
    try:
        _set(count, before, users)
        yield
    finally:
        if outermost:
            del _of_thread.users
        if torch.get_num_threads() == count:
            _set(before, count, users)


def _set(count: int, now: int, users: int) -> None:
    if count != now:
        torch.set_num_threads(count)
        if count != users:
            putting_back = Thread(target=torch.set_num_threads, args=(users,))
            putting_back.start()
            putting_back.join()
