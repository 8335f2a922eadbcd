"""A second device for machines that have none, `second:0`: the CPU under another name, which
refuses to mix as CUDA does.

It finds code that mixes devices, and counts allocated bytes; of precision, speed and streams it
knows nothing.
"""

from __future__ import annotations

import functools
import shutil
from pathlib import Path

import torch
from torch.utils import cpp_extension

NAME = "second"
# One for each version of torch
BUILD = f"flatviz_second_device_{torch.__version__}".replace(".", "_").replace("+", "_")


class _Module:
    """What torch asks of a device's Python module."""

    is_available = is_initialized = staticmethod(lambda: True)
    device_count = staticmethod(lambda: 1)
    current_device = staticmethod(lambda: 0)
    set_device = synchronize = manual_seed_all = staticmethod(lambda *_: None)
    _is_in_bad_fork = staticmethod(lambda: False)
    get_rng_state = staticmethod(lambda *_: torch.get_rng_state())
    set_rng_state = staticmethod(lambda state, *_: torch.set_rng_state(state))
    get_amp_supported_dtype = staticmethod(lambda: [torch.bfloat16])


def missing() -> str:
    """Why the device cannot be compiled here; empty where it can."""
    needed = [name for name in ("c++", "ninja") if shutil.which(name) is None]
    return f"the second device needs {' and '.join(needed)}" if needed else ""


@functools.cache
def second_device() -> torch.device:
    """The device, compiled once for each version of torch, in the folder where torch keeps a user's
    extensions."""
    source = Path(__file__).with_name("second_device.cpp")
    cpp_extension.load(BUILD, [str(source)], extra_cflags=["-O0", "-w"], is_python_module=False)
    torch.utils.rename_privateuse1_backend(NAME)
    torch._register_device_module(NAME, _Module)
    return torch.device(NAME, 0)


def peak_bytes(run) -> int:
    """Most bytes that `run()` had allocated on the device beyond those before it."""
    ops = torch.ops.second_device
    before = ops.allocated()
    ops.reset_peak()
    run()
    return ops.max_allocated() - before
