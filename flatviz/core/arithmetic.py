"""Settings of computation.

The device, the number of threads, the float32 arithmetic, the kernel of attention.
"""

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
    """A new lock, in a forked process, for another thread may have had it."""
    global _lock
    _lock = Lock()


class _OfProcess:
    """A setting of the whole process that is changed for the length of a block.

    The last block to end, of whatever thread, restores the user's value: `users`, where `blocks`
    are open.
    """

    def __init__(self, read: Callable[[], Any], write: Callable[[Any], None]) -> None:
        self.read = read
        self.write = write
        self.blocks = 0
        self.users: Any = None

    @contextmanager
    def set(self, value: Any) -> Iterator[None]:
        """`value` for the length of the block."""
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
    """Torch's flags of float32 products now.

    The two old ones (None where the new ones contradict them), and the new ones.
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
    if (
        matmul is not None
    ):  # old and new alike: some of torch reads the one, some the other, and refuses two answers
        torch.set_float32_matmul_precision(matmul)
    if cudnn is not None:
        _CUDNN.allow_tf32 = cudnn
    for unit, value in zip(_UNITS, units):
        unit.fp32_precision = value


IEEE = ("highest", False, *("ieee",) * len(_UNITS))
_FLOAT32 = _OfProcess(float32_flags, _set_flags)
# The kernel of attention layers that torch takes in evaluation mode without gradients.  It gives
# zeros at padded positions, and has no derivative: values would belong to another function than
# derivatives.
FUSED_ATTENTION = _OfProcess(_MHA.get_fastpath_enabled, _MHA.set_fastpath_enabled)


@contextmanager
def arithmetic(flags: tuple = IEEE) -> Iterator[None]:
    """Compute float32 products by `flags`, those of IEEE arithmetic, for the length of the block.

    Also a decorator.

    By default torch lets cuDNN's convolutions compute in TF32, of 10 bits.
    """
    with _FLOAT32.set(flags):
        yield


@contextmanager
def users_arithmetic() -> Iterator[None]:
    """Compute float32 products as the user has set them in torch, inside of `arithmetic`.

    For the steps of a training.
    """
    with arithmetic(_FLOAT32.users if _FLOAT32.blocks else float32_flags()):
        yield


# multiply-adds that each thread is to have: some 5 ms, the time for which a busy machine lets one
# wait
SHARE = 200_000_000
PER_NUMBER = 32  # what a number read from memory counts for, in multiply-adds
_of_thread = local()  # `.users`: torch's setting outside of all blocks of this Python thread


@contextmanager
def threads(work: float) -> Iterator[None]:
    """Run the block on as many threads as pay for operations of `work` multiply-adds each, at most what the user set in torch.

    torch keeps the number for each Python thread, so blocks of several threads do not meet.  It
    also is what threads that start later begin with: that is put back at once.  A number that is
    set inside the block stays.
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


# multiply-adds of an operation beyond which it takes longer than Python's part in it, some 20
# microseconds
SHARED = 2_000_000


def workers(work: float) -> int:
    """Count the threads of Python that pay for tasks whose operations have `work` multiply-adds each; at most what the user set in torch.

    Python runs in one of them at a time, the operations at once.
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
PLACES = 16  # at which a convolution's weight is used at the least: an 8 x 8 image, pooled once


def pick(name: str = "auto", module: nn.Module | None = None) -> tuple[torch.device, str]:
    """The device to compute on, and the reason in a few words, for the line that a command prints.

    "auto" takes CUDA where there is a card, unless `module` is so small that one CPU core is
    faster: fewer than FEW multiply-adds an example, each weight counted once and each convolution's
    PLACES times.  On an H100 a Hessian product of a network of 4,000 weights took 8.6 ms and 3.0 ms
    on one core beside it; ResNet-18 is far beyond the limit.

    Args:
        name: "auto", or a device as torch names it: "cpu", "cuda", "cuda:1".
        module: The network that will be computed with; None: not known, and "auto" takes the card.

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
    """Estimate the least multiply-adds of an example, from the weights alone."""
    weights = (
        (p.numel(), isinstance(part, _ConvNd))
        for part in module.modules()
        for p in part.parameters(recurse=False)
    )
    return sum(n * (PLACES if convolution else 1) for n, convolution in weights)
