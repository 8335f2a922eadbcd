"""Results on disk: `save` and `load`, shipped results, a cache by hash, a store of points."""

import ast
import hashlib
import os
import warnings
from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import Tensor

import flatviz
from flatviz.checks import FilePath, NewFile, shown
from flatviz.core import public
from flatviz.results import from_plain, to_plain
from flatviz.storage.digest import CannotHashError, process_state, value_digest
from flatviz.storage.files import DamagedFileError, read_file, set_aside, write_file

T = TypeVar("T")
KIND = "result"  # what a file says that it holds
_PACKAGE = Path(flatviz.__file__).resolve().parent
FOLDERS = (_PACKAGE.parent / "data", _PACKAGE / "_data")  # of shipped results
DRAWING_LAYERS = {"plots", "pages", "widgets", "site", "cli"}  # no cached result depends on them
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef)  # what may begin with a docstring


def cache_folder() -> Path:
    """Return `$FLATVIZ_CACHE`, or `flatviz` in the user's cache folder.

    Raises:
        NotADirectoryError: If `$FLATVIZ_CACHE` is a file.
    """
    if folder := os.environ.get("FLATVIZ_CACHE"):
        if Path(folder).exists() and not Path(folder).is_dir():
            raise NotADirectoryError(
                f"FLATVIZ_CACHE must be a folder, got the file {folder}: name a folder, or unset it"
            )
        return Path(folder)
    base = (
        os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA") or Path.home() / ".cache"
    )
    return Path(base) / "flatviz"


@lru_cache(maxsize=1)
def code_digest(root: Path | None = None) -> str:
    """Hash flatviz's code, so that cached results belong to the code that computed them.

    Comments and docstrings do not count, nor do the layers that draw results.
    """
    digest = hashlib.sha256()
    root = root or _PACKAGE
    for path in sorted(root.rglob("*.py")):
        place = path.relative_to(root)
        if place.parts[0] not in DRAWING_LAYERS:
            tree = ast.parse(path.read_bytes())
            for node in ast.walk(tree):
                if isinstance(node, DOCUMENTED) and ast.get_docstring(node) is not None:
                    del node.body[0]
            digest.update(f"{place.as_posix()} {ast.dump(tree)}".encode())
    return digest.hexdigest()[:16]


def cache_key(**settings: object) -> str:
    """Hash `settings`, flatviz's code, torch's version and `process_state`.

    Raises CannotHashError for settings that have no hash.
    """
    environment = {"code": code_digest(), "torch": torch.__version__, "process": process_state()}
    return value_digest({"settings": dict(sorted(settings.items())), "environment": environment})


@public
def save(result: object, path: NewFile) -> Path:
    """Write a noun, or a dict, tuple or list of nouns, tensors, numbers and texts.

    The file is safetensors, with the rest as JSON in its header and a checksum.  It is written
    completely or not at all.

    Args:
        result: The value.
        path: File to write, ".safetensors" by convention.

    Returns:
        `path`.

    Raises:
        TypeError: For what cannot be saved.
        OSError: If the disk is full.

    Example:
        >>> import tempfile, torch, flatviz as fv
        >>> folder = tempfile.mkdtemp()
        >>> path = fv.save(fv.Draws(torch.ones(3, 2)), f"{folder}/draws.safetensors")
        >>> fv.load(path).W.shape
        torch.Size([3, 2])
    """
    tensors: list[torch.Tensor] = []
    plain = to_plain(result, tensors)
    write_file(path, KIND, plain, {str(i): t for i, t in enumerate(tensors)})
    return Path(path)


@public
def load(path: FilePath) -> Any:
    """Read a file of `save`, with tensors on the CPU; no code in the file is ever run.

    Args:
        path: The file.

    Raises:
        ValueError: For a file that is damaged, or that `save` of this version did not write.
        FileNotFoundError: For a path without a file.

    Example:
        >>> import tempfile, flatviz as fv
        >>> path = f"{tempfile.mkdtemp()}/settings.safetensors"
        >>> fv.load(fv.save({"lr": 0.05, "radii": (0.0, 1.0)}, path))
        {'lr': 0.05, 'radii': (0.0, 1.0)}
    """
    if not Path(path).is_file():
        raise FileNotFoundError(
            f"a result must be a file that fv.save wrote, got {path}, which is not there: check its"
            " name"
        )
    try:
        return _read(Path(path))
    except DamagedFileError as error:
        raise ValueError(
            f"a result must be a whole file that fv.save wrote, got {path}: {error}: compute it"
            " again"
        ) from error


def cached(
    folder: str,
    compute: Callable[[], T],
    *,
    label: str = "",
    say: Callable[[str], None] = lambda text: None,
    **settings: object,
) -> tuple[T, bool]:
    """Return the result of `compute()`, computed once, and whether it was read from the cache.

    It is stored in `folder` of the cache under a hash of `settings`.  `say` gets messages with
    `label`: what is reused or computed, and which file is damaged.  A damaged file is renamed to
    `<name>.damaged` and the result is computed again.  The result is returned all the same if the
    file cannot be written, as on a full disk.
    """
    path, stored = look_up(folder, settings, label, say)
    if stored:
        return stored[0], True
    result = compute()
    keep(result, path, say)
    return result, False


def look_up(
    folder: str, settings: dict[str, object], label: str, say: Callable[[str], None]
) -> tuple[Path | None, list[Any]]:
    """Look for a result in the cache.

    Return its path (None for settings without a hash), and a list of the result, empty if it is not
    there.
    """
    try:
        path = cache_folder() / folder / f"{cache_key(**settings)}.safetensors"
    except CannotHashError as error:
        say(f"{label or folder}: not kept in the cache, for its settings hold {error}")
        return None, []
    stored = _stored(path, say)
    if label:
        say(f"{label}: reused from {path}" if stored else f"{label}: computing")
    return path, stored


def keep(result: object, path: Path | None, say: Callable[[str], None]) -> Path | None:
    """Save a result at the path from `look_up`; return the path, None where that failed."""
    try:
        return None if path is None else save(result, path)
    except OSError as error:
        say(f"not kept in the cache: {path}: {error}; the run goes on without it")
        return None


def _stored(path: Path, say: Callable[[str], None]) -> list[Any]:
    """Read a cached result into a list, empty where the file is missing or unreadable."""
    try:
        return [_read(path)] if path.exists() else []
    except DamagedFileError as error:
        say(f"damaged, so computed again: {path}: {error}; {set_aside(path)}")
    except OSError as error:
        say(f"unreadable, so computed again: {path}: {error}")
    return []


def _read(path: Path) -> object:
    plain, tensors = read_file(path, KIND)
    try:
        return from_plain(plain, tensors)
    except Exception as error:  # an intact file whose content this version cannot build
        raise DamagedFileError(
            f"expected nouns of this version of flatviz, got others ({error})"
        ) from error


def committed(name: str) -> Path:
    """Find a shipped result, such as "frontier.csv".

    `data/README.md` says what each contains and which command computes it.

    Raises:
        FileNotFoundError: If there is none of that name.
    """
    path = committed_path(name)
    if path.is_file():
        return path
    shipped = [path for folder in FOLDERS for path in folder.glob("*")]
    there = sorted({path.name for path in shipped if path.suffix != ".md"})
    raise FileNotFoundError(
        f"a shipped result must be one of {', '.join(there) or 'none here'}, got {shown(name)}"
    )


def committed_path(name: str) -> Path:
    """Return the path of a shipped result, or where a clone would have it."""
    paths = [folder / name for folder in FOLDERS]
    return next((path for path in paths if path.is_file()), paths[0])


class PointStore:
    """A file of `n` values, with a mask of those that are computed, named by a hash of `settings`.

    It is rewritten completely each time.  A second process on the same file repeats work and does
    no harm.  A damaged file is renamed, with a warning.  When the disk is full, a warning says that
    points are no longer stored.
    """

    def __init__(self, folder: str | Path | bool, n: int, **settings: object) -> None:
        base = cache_folder() / "slices" if folder is True else Path(str(folder))
        where = {
            "machine": machine(),
            "threads": torch.get_num_threads(),
            "layout": 2,  # of the file; files of an earlier layout are not read
        }
        self.path = base / f"{cache_key(n=n, **settings, **where)}.safetensors"
        self._into: Path | None = self.path  # None after a failed write
        self._say = partial(warnings.warn, stacklevel=4)

    def read(self, values: Tensor, done: Tensor) -> None:
        """Fill `values` (n,) and the mask `done` (n,) from the file."""
        if stored := _stored(self.path, self._say):
            values.copy_(stored[0]["values"])
            done.copy_(stored[0]["done"])

    def write(self, values: Tensor, done: Tensor) -> None:
        """Store those `values` (n,) that are `done` (n,)."""
        self._into = keep({"values": values, "done": done}, self._into, self._say)


def machine() -> str:
    """Describe the machine, on which floating-point results depend besides the program."""
    card = torch.cuda.get_device_name() if torch.cuda.is_available() else ""
    return f"{torch.backends.cpu.get_cpu_capability()} {card}"
