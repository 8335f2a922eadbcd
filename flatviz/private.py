"""State of one thread: random numbers, modes of torch, locks that survive a fork.

Nothing here changes a state of the process for longer than one operation of torch.
"""

import functools
import os
from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

import torch
from torch import Tensor
from torch._ops import OpOverload
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

T = TypeVar("T")


class cached_property(functools.cached_property[T]):
    """A property that is computed once, without the lock of Python 3.11.

    The lock is one for all instances: threads wait for it, and a process forked meanwhile waits
    forever.
    """

    if not TYPE_CHECKING:

        def __get__(self, instance: object, owner: type | None = None) -> object:
            if instance is None:
                return self
            return instance.__dict__.setdefault(self.attrname, self.func(instance))


def lock_of_process() -> Lock:
    """Return a lock that is free in a forked process.

    Code that could fork must not run inside of it.
    """
    lock = Lock()
    at_fork(
        before=lock.acquire,
        after_in_parent=lock.release,
        after_in_child=lock.release,
    )
    return lock


def at_fork(**functions: Callable[[], object]) -> None:
    """Call functions at each fork of the process, as `os.register_at_fork` takes them."""
    if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
        os.register_at_fork(**functions)


# Values of arguments with which an operation draws nothing
OFF = {
    "training": False,
    "train": False,
    "dropout_p": 0.0,
    "dropout": 0.0,
}


def named(operation: OpOverload, args: tuple, kwargs: dict) -> dict[str, Any]:
    """Return the arguments of an operation by name, defaults included."""
    places = operation._schema.arguments
    return (
        {a.name: a.default_value for a in places}
        | dict(zip((a.name for a in places), args))
        | kwargs
    )


def draws(operation: OpOverload, args: tuple, kwargs: dict) -> bool:
    """Tell whether an operation draws random numbers.

    Attention and RReLU draw none in evaluation mode.
    """
    if torch.Tag.nondeterministic_seeded not in operation.tags:
        return False
    arguments = named(operation, args, kwargs)
    return not any(arguments[name] == off for name, off in OFF.items() if name in arguments)


class Dispatch(TorchDispatchMode):
    """`called` runs each operation of torch in the block; torch's compiler is not imported."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # otherwise torch imports its compiler and sympy: 1.5 s and 150 MB

    def __torch_dispatch__(
        self, func: OpOverload, types: object, args: tuple = (), kwargs: dict | None = None
    ) -> object:
        return self.called(func, args, kwargs or {})

    def called(
        self,
        operation: OpOverload,
        args: tuple,
        kwargs: dict,
    ) -> object:
        """Run one operation."""
        return operation(*args, **kwargs)


class Functions(TorchFunctionMode):
    """`called` runs each function of torch in the block."""

    def __torch_function__(
        self,
        func: Callable[..., object],
        types: object,
        args: tuple = (),
        kwargs: dict | None = None,
    ) -> object:
        return self.called(func, args, kwargs or {})

    def called(
        self,
        function: Callable[..., object],
        args: tuple,
        kwargs: dict,
    ) -> object:
        """Run one function."""
        return function(*args, **kwargs)


class PrivateNumbers(Dispatch):
    """Take this thread's random numbers from generators of this block, the same on any thread.

    torch's global generators keep their state, also for other threads.
    """

    _lent = lock_of_process()  # its holder may set a global generator

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._seed = seed
        self._sources: dict[torch.device, torch.Generator] = {}

    def called(
        self,
        operation: OpOverload,
        args: tuple,
        kwargs: dict,
    ) -> object:
        """Run an operation with a generator of this block."""
        if kwargs.get("generator") is not None or not draws(operation, args, kwargs):
            return operation(*args, **kwargs)
        first = next(
            (a.device for a in args if isinstance(a, Tensor)),
            torch.device(kwargs.get("device") or "cpu"),
        )
        if first.type not in ("cpu", "cuda", "mps", "xpu"):  # torch has no generator for it
            return operation(*args, **kwargs)
        if first not in self._sources:
            self._sources[first] = torch.Generator(first).manual_seed(self._seed)
        source = self._sources[first]
        variant = {"default": "generator", "low": "low_generator"}.get(operation._overloadname, "")
        for taking in (operation, getattr(operation.overloadpacket, variant, operation)):
            if any(a.name == "generator" for a in taking._schema.arguments):
                return taking(*args, **kwargs, generator=source)
        return self._by_global(first, source, lambda: operation(*args, **kwargs))

    def _by_global(
        self, device: torch.device, source: torch.Generator, operation: Callable[[], T]
    ) -> T:
        """Run an operation that takes no generator, such as fused dropout, on the global one.

        The global generator has the block's state meanwhile.
        """
        if device.type not in ("cpu", "cuda"):
            return operation()
        if device.type == "cpu":
            shared = torch.default_generator
        else:
            card = torch.cuda.current_device() if device.index is None else device.index
            shared = torch.cuda.default_generators[card]
        with self._lent:
            users = shared.get_state()
            shared.set_state(source.get_state())
            try:
                return operation()
            finally:
                source.set_state(shared.get_state())
                shared.set_state(users)
