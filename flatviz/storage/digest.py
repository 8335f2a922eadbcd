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

import dis
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
CODE = (
    "exceptiontable consts names varnames freevars cellvars argcount"
    " posonlyargcount kwonlyargcount flags"
)
ANY_VARIABLE = {"globals", "eval", "exec"}  # builtins whose reads have no name in the code
# Kinds of objects that are hashed by these attributes
CONTENT: dict[type, list[str]] = {
    types.CodeType: [f"co_{part}" for part in ("code", *CODE.split())],
    types.MethodType: ["__func__", "__self__"],
    staticmethod: ["__func__"],
    classmethod: ["__func__"],
    property: ["fget", "fset"],
    functools.cached_property: ["func"],
}


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
        if type(value) is str:
            return b"text " + value.encode("utf-8", "surrogatepass")
        if type(value) is bytes:
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
        if id(value) in self.treated:
            return ("treated weights",)
        if isinstance(value, Tensor):
            return _tensor(value)
        if isinstance(value, (type, types.FunctionType)):
            return _content(value)
        if isinstance(value, Net):
            return "net", value.w, value.trunk, *self.besides_weights(value)
        if isinstance(value, nn.Module):
            return "module", kind, _attributes(value)
        for known, names in CONTENT.items():
            if isinstance(value, known):
                return kind.__name__, *(getattr(value, name) for name in names)
        if isinstance(value, types.CellType):
            return ("cell", value.cell_contents) if value != types.CellType() else ("empty cell",)
        if isinstance(value, types.ModuleType):
            content = _version(value.__name__) or Path(value.__file__ or "").read_bytes()
            return "module", value.__name__, content
        if kind in (set, frozenset):
            return kind.__name__, sorted(value_digest(v) for v in value)
        cached = _cached_names(kind)
        if cached:
            return "object", kind, {k: v for k, v in vars(value).items() if k not in cached}
        return None


def _attributes(module: nn.Module) -> dict[str, object]:
    """Return a module's attributes, hooks without their registration numbers.

    Those grow with each registration in the process.
    """
    attributes = dict(vars(module))
    for name, value in attributes.items():
        if "hooks" in name and isinstance(value, dict):
            attributes[name] = list(value.values())
    return attributes


def _cached_names(kind: type) -> set[str]:
    """Return the names of a class's cached properties."""
    names = set()
    for base in kind.__mro__:
        for name, value in vars(base).items():
            if isinstance(value, functools.cached_property):
                names.add(name)
    return names


def _content(thing: type | types.FunctionType) -> tuple:
    """Describe a function or class by name and version, or by its parts."""
    module = thing.__module__ or ""
    name = thing.__qualname__
    version = _version(module)
    if version and "<" not in name:
        return "named", module, name, version
    if isinstance(thing, type):
        attributes = {}
        for k, v in vars(thing).items():
            ours = inspect.isfunction(v) or not (k.startswith("__") or k == "_abc_impl")
            if ours and not inspect.ismemberdescriptor(v):
                attributes[k] = v
        return "class", name, thing.__bases__, attributes
    reached = [] if version else _reached(thing)
    return (
        "function",
        thing.__code__,
        thing.__defaults__,
        thing.__kwdefaults__,
        thing.__closure__,
        vars(thing),
        reached,
    )


def _reached(function: types.FunctionType) -> list[tuple[str, object]]:
    """Return the global variables that a function's code names, and those of the user's modules.

    Raises:
        CannotHashError: For code that may read any variable, by a name that it makes.
    """
    variables = function.__globals__
    codes = _codes(function.__code__)
    loaded = set()
    for code in codes:
        for step in dis.get_instructions(code):
            if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
                loaded.add(step.argval)
    if unknown := sorted((loaded & ANY_VARIABLE) - variables.keys()):
        raise CannotHashError(
            f"{function.__qualname__} calls {unknown[0]}(), which can read any variable"
        )
    names = sorted({name for code in codes for name in code.co_names})
    reached = [(name, variables[name]) for name in names if name in variables]
    for module_name, value in list(reached):
        if isinstance(value, types.ModuleType) and not _version(value.__name__):
            # variables, which may have changed since its file was read; its code is in the file
            numbers = [(name, vars(value)[name]) for name in names if name in vars(value)]
            reached += [(f"{module_name}.{n}", v) for n, v in numbers if not callable(v)]
    return reached


def _codes(code: types.CodeType) -> list[types.CodeType]:
    """Return a code with all that is written inside it: lambdas, comprehensions, functions."""
    inner = [c for c in code.co_consts if isinstance(c, types.CodeType)]
    return [code, *(nested for c in inner for nested in _codes(c))]


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
