"""Settings of computation: device, number of threads, float32 arithmetic, attention kernel."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock, Thread, local
from typing import Any

import torch
from torch import nn
from torch.nn.modules.conv import _ConvNd

from flatviz.checks import check_device

_torch: Any = torch.backends  # which builds its parts at run time
_CUDA = _torch.cuda
_CUDNN = _torch.cudnn
_CPU = _torch.mkldnn
_MHA = _torch.mha
_UNITS: tuple[Any, ...] = (_CUDA.matmul, _CUDNN.conv, _CUDNN.rnn, _CPU.matmul, _CPU.conv, _CPU.rnn)
_lock = Lock()


def unlock() -> None:
    """Replace the lock in a forked process, where another thread may have held the old one."""
    global _lock
    _lock = Lock()


class _OfProcess:
    """Setting of the whole process that blocks change for their length.

    Blocks may overlap, also in several threads.  The last one to end restores the user's value,
    `users`; `blocks` counts those that are open.
    """

    def __init__(self, read: Callable[[], Any], write: Callable[[Any], None]) -> None:
        self.read = read
        self.write = write
        self.blocks = 0
        self.users: Any = None

    @contextmanager
    def set(self, value: Any) -> Iterator[None]:
        """Apply `value` for the length of the block."""
        with _lock:
            before = self.read()
            if not self.blocks:
                self.users = before
            self.blocks += 1
            if before != value:
                self.write(value)
        try:
            yield
        finally:
            with _lock:
                self.blocks -= 1
                before = before if self.blocks else self.users
                if before != value:
                    self.write(before)


def float32_flags() -> tuple:
    """Return torch's current flags for float32 products.

    The two legacy flags come first (None where they contradict the new ones), then the new ones.
    """

    def read(flag: Callable[[], Any]) -> Any:
        try:
            return flag()
        except RuntimeError:
            return None

    old = read(torch.get_float32_matmul_precision), read(lambda: _CUDNN.allow_tf32)
    return *old, *(unit.fp32_precision for unit in _UNITS)


def _set_flags(flags: tuple) -> None:
    matmul, cudnn, *units = flags
    # Old and new alike: some of torch reads the one, some the other, and refuses two answers
    if matmul is not None:
        torch.set_float32_matmul_precision(matmul)
    if cudnn is not None:
        _CUDNN.allow_tf32 = cudnn
    for unit, value in zip(_UNITS, units):
        unit.fp32_precision = value


IEEE = ("highest", False, *("ieee",) * len(_UNITS))
_FLOAT32 = _OfProcess(float32_flags, _set_flags)
# The fused kernel that torch uses for attention in evaluation mode without gradients.  It gives
# zeros at padded positions, and has no derivative: values would belong to another function than
# derivatives.
FUSED_ATTENTION = _OfProcess(_MHA.get_fastpath_enabled, _MHA.set_fastpath_enabled)


@contextmanager
def arithmetic(flags: tuple = IEEE) -> Iterator[None]:
    """Compute float32 products by `flags` inside the block or decorated function.

    The default is IEEE arithmetic.  Torch's default lets convolutions of cuDNN compute in TF32,
    which has 10 bits of mantissa.
    """
    with _FLOAT32.set(flags):
        yield


@contextmanager
def users_arithmetic() -> Iterator[None]:
    """Compute float32 products as the user set them in torch, inside a block of `arithmetic`.

    Training steps use it.
    """
    with arithmetic(_FLOAT32.users if _FLOAT32.blocks else float32_flags()):
        yield


# Multiply-adds for each thread: some 5 ms, which is how long a thread may wait on a busy machine
SHARE = 200_000_000
PER_NUMBER = 32  # cost of reading a number from memory, in multiply-adds
_of_thread = local()  # `.users`: torch's setting outside of all blocks of this Python thread


@contextmanager
def threads(work: float) -> Iterator[None]:
    """Run the block on as many threads as pay for operations of `work` multiply-adds each.

    The user's setting in torch is the upper limit.  torch stores the number for each Python
    thread, so blocks in several threads do not interfere.  Threads that start later inherit the
    last number set, so it is put back at once.  A number that is set inside the block stays.
    """
    before = torch.get_num_threads()
    users = getattr(_of_thread, "users", before)
    outermost = not hasattr(_of_thread, "users")
    count = max(1, min(users, int(work / SHARE)))
    _of_thread.users = users
    try:
        _set_threads(count, before, users)
        yield
    finally:
        if outermost:
            del _of_thread.users
        if torch.get_num_threads() == count:
            _set_threads(before, count, users)


# Multiply-adds beyond which an operation takes longer than its Python overhead, some 20 us
SHARED = 2_000_000


def workers(work: float) -> int:
    """Count the Python threads that pay for tasks whose operations have `work` multiply-adds each.

    The user's setting in torch is the upper limit.  Python itself runs in one of the threads at a
    time; their operations run at once.
    """
    return max(1, min(getattr(_of_thread, "users", torch.get_num_threads()), int(work / SHARED)))


def _set_threads(count: int, now: int, users: int) -> None:
    if count != now:
        torch.set_num_threads(count)
        if count != users:
            putting_back = Thread(target=torch.set_num_threads, args=(users,))
            putting_back.start()
            putting_back.join()


FEW = 300_000  # multiply-adds an example below which a GPU waits for the CPU to launch its kernels
PLACES = 16  # assumed uses of a convolution's weight: an 8 x 8 image, pooled once


def pick(name: str = "auto", module: nn.Module | None = None) -> tuple[torch.device, str]:
    """Choose the device to compute on, and give the reason in a few words.

    "auto" takes CUDA where there is a GPU, unless `module` is so small that one CPU core is faster:
    fewer than FEW multiply-adds an example, with each weight counted once and those of convolutions
    PLACES times.  On an H100 a Hessian product of a network of 4,000 weights took 8.6 ms, and 3.0
    ms on one CPU core beside it; ResNet-18 is far beyond the limit.

    Args:
        name: "auto", or a device as torch names it: "cpu", "cuda", "cuda:1".
        module: The network to compute with; with None, "auto" takes the GPU.

    Returns:
        (device, reason).

    Raises:
        ValueError: for a name that is no device.
        RuntimeError: for CUDA that is not there.

    Example:
        >>> pick("cpu")
        (device(type='cpu'), 'as asked')
    """
    if name != "auto":
        check_device(name, way_out="--device cpu")
        return torch.device(name), "as asked"
    if not torch.cuda.is_available():
        return torch.device("cpu"), "no CUDA device here"
    if module is not None and (n := multiply_adds(module)) < FEW:
        return torch.device(
            "cpu"
        ), f"a network of about {n:,} multiply-adds an example is faster there than on a GPU"
    return torch.device("cuda"), torch.cuda.get_device_name()


def multiply_adds(module: nn.Module) -> int:
    """Estimate a lower bound of the multiply-adds of an example from the weights alone."""
    weights = (
        (p.numel(), isinstance(part, _ConvNd))
        for part in module.modules()
        for p in part.parameters(recurse=False)
    )
    return sum(n * (PLACES if convolution else 1) for n, convolution in weights)
