"""Threads of a command that owns its process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

import torch


def single_thread() -> AbstractContextManager[None]:
    """One thread for torch: on networks this small a second one costs more than it brings."""
    return threads(1)


@contextmanager
def threads(n: int) -> Iterator[None]:
    """So many threads for torch."""
    before = torch.get_num_threads()
    torch.set_num_threads(n)
    try:
        yield
    finally:
        torch.set_num_threads(before)
