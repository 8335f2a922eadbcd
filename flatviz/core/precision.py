"""How float32 products are computed: in IEEE arithmetic to measure, in what the user set in torch to train."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

import torch

_CUDA, _CUDNN, _CPU = torch.backends.cuda, torch.backends.cudnn, torch.backends.mkldnn
_MHA = torch.backends.mha
_UNITS: tuple[Any, ...] = (_CUDA.matmul, _CUDNN.conv, _CUDNN.rnn, _CPU.matmul, _CPU.conv, _CPU.rnn)
_lock, _outside = Lock(), [0, ()]  # how many blocks are open, in all threads, and the flags outside of all
_attending = [0, True]  # the same of `one_attention`


def unlock() -> None:
    """A new lock, in a forked process, for another thread may have had it."""
    global _lock
    _lock = Lock()


def float32_flags() -> tuple:
    """Torch's flags of float32 products now: the two old ones (None where the new ones contradict them), and the new ones."""

    def read(flag: Callable[[], Any]) -> Any:
        try:
            return flag()
        except RuntimeError:
            return None

    old = read(torch.get_float32_matmul_precision), read(lambda: _CUDNN.allow_tf32)
    return *old, *(unit.fp32_precision for unit in _UNITS)


IEEE = ("highest", False, *("ieee",) * len(_UNITS))


def _set(flags: tuple) -> None:
    matmul, cudnn, *units = flags
    if matmul is not None:  # old and new alike: some of torch reads the one, some the other, and refuses two answers
        torch.set_float32_matmul_precision(matmul)
    if cudnn is not None:
        _CUDNN.allow_tf32 = cudnn
    for unit, value in zip(_UNITS, units):
        unit.fp32_precision = value


@contextmanager
def arithmetic(flags: tuple = IEEE) -> Iterator[None]:
    """Float32 products by `flags`, those of IEEE arithmetic, for the length of the block.

    Where nobody says otherwise, cuDNN's convolutions are in TF32, of 10 bits.  The flags are those of the whole process; the
    last block to end, of whatever thread, puts the user's back.
    """
    with _lock:
        before = float32_flags()
        if not _outside[0]:
            _outside[1] = before
        _outside[0] += 1
        if before != flags:
            _set(flags)
    try:
        yield
    finally:
        with _lock:
            _outside[0] -= 1
            before = before if _outside[0] else _outside[1]
            if before != flags:
                _set(before)


@contextmanager
def users_arithmetic() -> Iterator[None]:
    """Float32 products as the user has set them in torch, inside of `arithmetic`: for the steps of a training."""
    with arithmetic(_outside[1] if _outside[0] else float32_flags()):
        yield


@contextmanager
def one_attention() -> Iterator[None]:
    """Attention layers of torch by their one path that has derivatives, for the length of the block.

    In evaluation mode without gradients torch takes a fused one, which gives zeros at padded positions: values would be of another
    function than derivatives.  The flag is the process's, as those of `arithmetic` are.
    """
    with _lock:
        if not _attending[0]:
            _attending[1] = _MHA.get_fastpath_enabled()
            _MHA.set_fastpath_enabled(False)
        _attending[0] += 1
    try:
        yield
    finally:
        with _lock:
            _attending[0] -= 1
            if not _attending[0]:
                _MHA.set_fastpath_enabled(_attending[1])
