"""Randomness: private generators for flatviz, saved and restored global state for other code."""

import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor

from flatviz.core.modules import Dispatch


def generator(seed: int, device: torch.device | str = "cpu") -> torch.Generator:
    """Create a generator, on the CPU by default.

    Noise is drawn there and moved, so that a seed means the same on every device.  Another `device`
    is for noise so large that drawing it would take longer than its use.
    """
    return torch.Generator(device).manual_seed(seed)


def randn_like(like: Tensor, source: torch.Generator) -> Tensor:
    """Standard normal noise of the shape, dtype and device of `like`."""
    return torch.randn(like.shape, generator=source, dtype=like.dtype).to(like.device)


class _Private(Dispatch):
    """Redirect this thread's draws from torch's global generator to one of this block."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._seed = seed
        self._sources: dict[torch.device, torch.Generator] = {}

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        kwargs = dict(kwargs or {})
        if torch.Tag.nondeterministic_seeded in func.tags and kwargs.get("generator") is None:
            named = {"default": "generator", "low": "low_generator"}.get(func._overloadname, "")
            if not any(a.name == "generator" for a in func._schema.arguments):
                func = getattr(func.overloadpacket, named, func)
            if any(a.name == "generator" for a in func._schema.arguments):
                first = next(
                    (a.device for a in args if isinstance(a, Tensor)),
                    torch.device(kwargs.get("device") or "cpu"),
                )
                kwargs["generator"] = self._sources.setdefault(first, generator(self._seed, first))
        return func(*args, **kwargs)


def random_state() -> tuple:
    """Read the global random states of Python, NumPy and torch, to detect draws."""
    cards = torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else []
    tensors = [torch.get_rng_state(), *cards]
    return (
        random.getstate(),
        str(np.random.get_state(legacy=False)),
        *(t.numpy().tobytes() for t in tensors),
    )


@contextmanager
def saved_rng(seed: int | None = None) -> Iterator[None]:
    """Run a block that may use the global random states of Python, NumPy and torch; restore them.

    With `seed` the block starts from that seed.  Outside the main thread the global states are not
    touched: torch draws the same numbers from a private generator.
    """
    if threading.current_thread() is not threading.main_thread():
        with _Private(seed or 0):
            yield
        return
    python = random.getstate()
    numpy_state = np.random.get_state()
    devices = list(range(torch.cuda.device_count())) if torch.cuda.is_initialized() else []
    with torch.random.fork_rng(devices=devices):
        if seed is not None:
            random.seed(seed)
            np.random.seed(seed % 2**32)
            torch.default_generator.manual_seed(seed)
            if devices:
                torch.cuda.manual_seed_all(seed)
        try:
            yield
        finally:
            random.setstate(python)
            np.random.set_state(numpy_state)
