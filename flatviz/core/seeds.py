"""Randomness: private generators for our draws, and for those of modules and libraries."""

import random
from contextlib import AbstractContextManager

import numpy as np
import torch
from torch import Tensor

from flatviz.private import PrivateNumbers


def generator(seed: int, device: torch.device | str = "cpu") -> torch.Generator:
    """Create a generator, on the CPU by default.

    Noise is drawn there and moved, so that a seed means the same on every device.  Another `device`
    is for noise so large that drawing it would take longer than its use.
    """
    return torch.Generator(device).manual_seed(seed)


def randn_like(like: Tensor, source: torch.Generator, *shape: int) -> Tensor:
    """Draw standard normal noise of `shape` (by default that of `like`), on its device."""
    size = shape or like.shape
    z = torch.randn(
        size,
        generator=source,
        dtype=like.dtype,
        device=source.device,
    )
    return z.to(like.device)


def signs_like(like: Tensor, source: torch.Generator, *shape: int) -> Tensor:
    """Draw random signs, +1 or -1, of `shape`, in the dtype and on the device of `like`."""
    bits = torch.randint(0, 2, shape, generator=source, device=source.device)
    return bits.to(like) * 2 - 1


def random_state() -> tuple:
    """Read the global random states of Python, NumPy and torch, to detect draws."""
    cards = torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else []
    of_torch = [t.numpy().tobytes() for t in (torch.get_rng_state(), *cards)]
    of_numpy = str(np.random.get_state(legacy=False))
    return (random.getstate(), of_numpy, *of_torch)


def saved_rng(seed: int = 0) -> AbstractContextManager:
    """Run a block whose draws come from private generators of torch, from `seed` on.

    torch's global generators, which other threads use, do not change.  Those of Python and NumPy
    have no such place of a thread: to save and restore them would take numbers from other threads
    twice.  A module that draws from them moves them; where its outputs depend on them, verbs
    refuse it.
    """
    return PrivateNumbers(seed)
