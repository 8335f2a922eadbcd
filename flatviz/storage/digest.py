"""Content hashes for cache keys.

Different contents have different hashes, and content that cannot be read has none.  A value is
hashed in the form that pickle would save, with what pickle leaves out: the code, defaults, closures
and global variables of functions, the attributes of classes, the hooks of modules.  Python and
installed packages count by name and version, the user's modules by their file.

Patches inside packages, and content read from other files or variables, are not detected.  For that
reason, one point of a slice read from the cache is computed again.

`joblib.hash` would refuse closures and lambdas, `dask.tokenize` reads importable functions by name
alone, and both can give different hashes to equal tensors, and so to copies of a network.
"""

import functools
import hashlib
import inspect
import pickle
import platform
import sys
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from flatviz.core import Net
from flatviz.core.arithmetic import AUTOCAST

# Arguments of a fit that do not change what it returns
NOT_IN_THE_RESULT = {
    "checkpoint",
    "progress",
    "label",
}
ATOMS = (int, float, bool, type(None), list, tuple, dict)  # which pickle writes by their content
CODE = tuple(
    f"co_{part}"
    for part in (
        "code exceptiontable consts names varnames freevars cellvars argcount"
        " posonlyargcount kwonlyargcount flags"
    ).split()
)


class CannotHashError(TypeError):
    """A value whose content cannot be read: an open file, a lock, a generator."""


def value_digest(value: object) -> str:
    """Hash a value of any kind; raise CannotHashError for content that cannot be read."""
    return _Hasher().hash(value)


def process_state() -> dict[str, Any]:
    """Describe the process's settings that affect any module: autocast, hooks on all modules."""
    hooks = {
        k: list(v.values())
        for k, v in vars(nn.modules.module).items()
        if "_hooks" in k and isinstance(v, dict) and v
    }
    casts = {
        f"autocast on {d}": str(torch.get_autocast_dtype(d))
        for d in AUTOCAST
        if torch.is_autocast_enabled(d)
    }
    return hooks | casts


def net_digest(net: Net) -> str:
    """Hash all that a network's outputs depend on besides its treated weights.

    These are its code, attributes, hooks and buffers.

    Raises:
        CannotHashError: If its module holds content that cannot be read.
    """
    hasher = _Hasher()
    return hasher.hash(hasher.besides_weights(net))


def arguments_digest(arguments: Mapping[str, object]) -> str:
    """Hash a fit's arguments, `locals()` on its first line; "" without a checkpoint, the only use.

    Raises:
        CannotHashError: For content that cannot be read; the text names the argument.
    """
    if arguments.get("checkpoint") is None:
        return ""
    digests = []
    for name in sorted(arguments.keys() - NOT_IN_THE_RESULT):
        try:
            digests.append((name, value_digest(arguments[name])))
        except CannotHashError as error:
            do = "leave checkpoint out, or give a value whose content can be compared"
            raise CannotHashError(
                f"checkpoint needs arguments that can be hashed, got {name} with {error}: {do}"
            ) from error
    return value_digest(digests)


class _Hasher(pickle.Pickler):
    """Pickler that writes into a hash."""

    def __init__(self) -> None:
        self.sha = hashlib.sha256()
        super().__init__(types.SimpleNamespace(write=self.sha.update), protocol=5)
        # Stored with the object, so that no other object gets its id
        self.seen: dict[int, tuple[int, object]] = {}
        self.treated: set[int] = set()

    def hash(self, value: object) -> str:
        try:
            self.dump(value)
        except Exception as error:  # whatever pickle or an object's __reduce__ raises
            raise CannotHashError(
                f"a {type(value).__name__} that cannot be hashed ({error})"
            ) from error
        return self.sha.hexdigest()[:24]

    def besides_weights(self, net: Net) -> tuple:
        treated = {b.name for b in net.blocks}
        self.treated |= {id(p) for n, p in net.module.named_parameters() if n in treated}
        return [tuple(b) for b in net.blocks], net.module, net.buffers()

    def persistent_id(self, value: Any) -> object:
        """Return a substitute for a value in the pickle, or None to pickle it as usual."""
        if type(value) in ATOMS:
            return None
        # New bytes, as pickle writes one object twice differently from two equal objects
        if type(value) in (
            str,
            bytes,
        ):
            if isinstance(value, str):
                return b"text " + value.encode("utf-8", "surrogatepass")
            return b"bytes " + value
        if id(value) in self.seen:
            return "seen", self.seen[id(value)][0]
        parts = self.parts(value)
        if parts is not None:
            self.seen[id(value)] = len(self.seen), value
        return parts

    def parts(self, value: Any) -> tuple | None:
        """Return kind and content of a value, or None to pickle it as usual."""
        kind = type(value)
        if isinstance(value, Tensor):
            return ("treated weights",) if id(value) in self.treated else _tensor(value)
        if isinstance(value, (type, types.FunctionType)):
            return _content(value)
        if isinstance(value, Net):
            return "net", value.w, value.trunk, *self.besides_weights(value)
        # Hooks without their registration numbers, which grow with each registration in the process
        if isinstance(value, nn.Module):
            attributes = {
                k: list(v.values()) if "hooks" in k and isinstance(v, dict) else v
                for k, v in vars(value).items()
            }
            return "module", kind, attributes
        if isinstance(value, types.CodeType):
            return "code", *(getattr(value, part) for part in CODE)
        if isinstance(value, types.CellType):
            return ("cell", value.cell_contents) if value != types.CellType() else ("empty cell",)
        if isinstance(value, (staticmethod, classmethod)):
            return kind.__name__, value.__func__
        if isinstance(value, types.MethodType):
            return kind.__name__, value.__func__, value.__self__
        if isinstance(value, property):
            return kind.__name__, value.fget, value.fset
        if isinstance(value, functools.cached_property):
            return kind.__name__, value.func
        if isinstance(value, types.ModuleType):
            return (
                "module",
                value.__name__,
                _version(value.__name__) or Path(value.__file__ or "").read_bytes(),
            )
        if kind in (set, frozenset):
            return kind.__name__, sorted(value_digest(v) for v in value)
        if kept := {
            name
            for base in kind.__mro__
            for name, v in vars(base).items()
            if isinstance(v, functools.cached_property)
        }:
            return "object", kind, {k: v for k, v in vars(value).items() if k not in kept}
        return None


def _content(thing: type | types.FunctionType) -> tuple:
    """Describe a function or class by name and version, or by its parts."""
    module = thing.__module__ or ""
    name = thing.__qualname__
    if (version := _version(module)) and "<" not in name:
        return "named", module, name, version
    if isinstance(thing, type):
        attributes = {
            k: v for k, v in vars(thing).items() if not k.startswith("__") or inspect.isfunction(v)
        }
        plain = {
            k: v
            for k, v in attributes.items()
            if k != "_abc_impl" and not inspect.ismemberdescriptor(v)
        }
        return "class", name, thing.__bases__, plain
    names = [] if version else sorted(set(thing.__code__.co_names) & thing.__globals__.keys())
    reached = [(n, thing.__globals__[n]) for n in names]
    return (
        "function",
        thing.__code__,
        thing.__defaults__,
        thing.__kwdefaults__,
        thing.__closure__,
        vars(thing),
        reached,
    )


def _tensor(t: Tensor) -> tuple:
    flat = t.detach().cpu().contiguous().reshape(-1)
    content = flat.view(torch.uint8).numpy().data
    return type(t).__name__, str(t.dtype), tuple(t.shape), hashlib.sha256(content).digest()


@functools.lru_cache
def _version(module: str) -> str:
    """Return the version of a module's code, of Python, a package or flatviz; otherwise ""."""
    root = module.partition(".")[0]
    if root in sys.stdlib_module_names:
        return "" if root == "__main__" else platform.python_version()
    package = sys.modules.get(root)
    installed = {"site-packages", "dist-packages"} & set(
        Path(getattr(package, "__file__", None) or "").parts
    )
    return str(getattr(package, "__version__", "")) if installed or root == "flatviz" else ""
