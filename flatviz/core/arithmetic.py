"""Settings of computation: device, number of threads, float32 arithmetic."""

import ctypes
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from threading import get_ident, local
from typing import Any

import torch
from torch import nn
from torch.nn.modules.conv import _ConvNd

from flatviz.checks import check_device
from flatviz.private import at_fork, lock_of_process

_torch: Any = torch.backends  # which builds its parts at run time
_CUDA = _torch.cuda
_CUDNN = _torch.cudnn
_CPU = _torch.mkldnn
_UNITS = (_CUDA.matmul, _CUDNN.conv, _CUDNN.rnn, _CPU.matmul, _CPU.conv, _CPU.rnn)


@dataclass(eq=False)
class OfProcess:
    """Settings of the whole process, `wanted` while any thread is in a block that needs them.

    The last thread to leave restores the user's values; one that the user changes meanwhile stays.
    """

    read: Callable[[], tuple]
    write: Callable[[tuple], object]
    wanted: tuple

    def __post_init__(self) -> None:
        self._lock = lock_of_process()
        self._threads = set[int]()  # threads in a block that needs them
        self._users = self.wanted
        at_fork(after_in_child=self._after_fork)

    @contextmanager
    def block(self, needed: bool) -> Iterator[None]:
        """Apply the settings in the block, or restore the user's inside another block."""
        me = get_ident()
        changes = needed != (me in self._threads)
        if changes:
            self._turn(me)
        try:
            yield
        finally:
            if changes:
                self._turn(me)

    def _turn(self, thread: int) -> None:
        """Enter or leave as this thread."""
        with self._lock:
            now = self.read()
            if self._threads:
                settings = zip(self._users, now, self.wanted)
                self._users = tuple(u if n == ours else n for u, n, ours in settings)
            else:
                self._users = now
            self._threads ^= {thread}
            value = self.wanted if self._threads else self._users
            if value != now:
                self.write(value)

    def _after_fork(self) -> None:
        for thread in self._threads - {get_ident()}:  # which the child does not have
            self._turn(thread)


def float32_flags() -> tuple:
    """Return torch's current flags for float32 products.

    The two legacy flags come first (None where they contradict the new ones), then the new ones.
    """

    def read(flag: Callable[[], object]) -> object:
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


AUTOCAST = ("cpu", "cuda")
IEEE = ("highest", False, *("ieee",) * len(_UNITS))
_FLOAT32 = OfProcess(float32_flags, _set_flags, IEEE)


@contextmanager
def arithmetic() -> Iterator[None]:
    """Compute float32 products in IEEE arithmetic inside the block or decorated function.

    torch's default lets convolutions of cuDNN compute in TF32, which has 10 bits of mantissa.  A
    `torch.autocast` around the block, in whose products Lanczos loses orthogonality, is off, and
    new tensors are on the CPU, whatever `torch.set_default_device` says.
    """
    with ExitStack() as blocks:
        blocks.enter_context(_FLOAT32.block(True))
        for device in AUTOCAST:
            if torch.is_autocast_enabled(device):
                blocks.enter_context(torch.autocast(device, enabled=False))
        if (users := torch.empty(0).device).type != "cpu":
            blocks.callback(setattr, _of_thread, "device", vars(_of_thread).get("device"))
            blocks.enter_context(torch.device("cpu"))
            _of_thread.device = users
        yield


def users_device() -> AbstractContextManager:
    """Create tensors on the user's default device, for the user's code in a block of `arithmetic`.

    The default device is the thread's.
    """
    return vars(_of_thread).get("device") or nullcontext()


@contextmanager
def users_arithmetic() -> Iterator[None]:
    """Compute float32 products as the user set them in torch, inside a block of `arithmetic`.

    Training steps use it, and what the user records of them.  They compute in IEEE arithmetic while
    another thread is inside `arithmetic`, as torch has one setting.
    """
    with _FLOAT32.block(False):
        yield


# glibc hands freed memory back to the system beyond twice the largest block that was freed so far,
# and the next pass waits for its pages again: up to a fifth of the time of a ResNet.  A block of
# just under the largest that counts (32 MiB), freed once and never written, ends that; up to 64 MiB
# of freed memory then stay with the process.
torch.empty(31 * 2**20, dtype=torch.uint8)

# Multiply-adds for each thread: some 5 ms, which is how long a thread may wait on a busy machine
SHARE = 200_000_000
PER_NUMBER = 32  # cost of reading a number from memory, in multiply-adds
# `.count`: set by its innermost block; `.users`: the user's number; `.device`: the user's default
_of_thread = local()


def _openmp() -> tuple[Callable[[int], None], Callable[[int], int]] | None:
    """Return functions that set this thread's number of OpenMP, and of MKL.

    MKL's takes 0 for OpenMP's number, and returns the number before.  torch.set_num_threads sets
    both, and the number with which threads begin, which is the user's.  Return None on a system
    without these functions, such as Windows, and for a torch without OpenMP.
    """
    if "backend: OpenMP" not in torch.__config__.parallel_info():
        return None
    name = {"linux": "libtorch_cpu.so", "darwin": "libtorch_cpu.dylib"}.get(sys.platform, "")
    try:
        library = ctypes.CDLL(str(Path(torch.__file__).parent / "lib" / name))
        set_number = library.omp_set_num_threads
    except (OSError, AttributeError):
        return None
    return set_number, getattr(library, "MKL_Set_Num_Threads_Local", lambda number: 0)


_OPENMP = _openmp()


@contextmanager
def threads(work: float) -> Iterator[None]:
    """Run the block on as many threads as pay for operations of `work` multiply-adds each.

    The user's setting in torch is the upper limit.  The number is that of this Python thread alone.
    One that is set inside the block by torch's function stays.  The user's number stays on systems
    where `_openmp` finds nothing.
    """
    if _OPENMP is None:
        yield
        return
    set_number, set_mkl = _OPENMP
    before = torch.get_num_threads()
    mkl = set_mkl(0)  # not 0 outside of all blocks, and where it was set since
    outer = vars(_of_thread).copy()
    users = before if mkl or outer.get("count") != before else outer["users"]
    count = max(1, min(users, int(work / SHARE)))
    vars(_of_thread).update(count=count, users=users)
    set_number(count)
    try:
        yield
    finally:
        vars(_of_thread).clear()
        vars(_of_thread).update(outer)
        since = set_mkl(mkl)
        if since:
            set_mkl(since)
        elif torch.get_num_threads() == count:
            set_number(before)


# Multiply-adds beyond which an operation takes longer than its Python overhead, some 20 us
SHARED = 2_000_000


def workers(work: float) -> int:
    """Count the Python threads that pay for tasks whose operations have `work` multiply-adds each.

    The user's setting in torch is the upper limit.  Python itself runs in one of the threads at a
    time; their operations run at once.
    """
    users = getattr(_of_thread, "users", torch.get_num_threads())
    return max(1, min(users, int(work / SHARED)))


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
    if module is not None and (n := least_multiply_adds(module)) < FEW:
        why = f"a network of about {n:,} multiply-adds an example is faster there than on a GPU"
        return torch.device("cpu"), why
    return torch.device("cuda"), torch.cuda.get_device_name()


def least_multiply_adds(module: nn.Module) -> int:
    """Estimate a lower bound of the multiply-adds of an example from the weights alone."""
    weights = (
        (p.numel(), isinstance(part, _ConvNd))
        for part in module.modules()
        for p in part.parameters(recurse=False)
    )
    return sum(n * (PLACES if convolution else 1) for n, convolution in weights)
