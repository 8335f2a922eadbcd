"""Results on disk.

`save` and `load`, those the project ships, a cache under a hash of what a result depends on, a
point store.
"""

import hashlib
import os
import warnings
from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

import flatviz
from flatviz.checks import FilePath
from flatviz.core import public
from flatviz.results import from_plain, to_plain
from flatviz.storage.digest import CannotHashError, process_state, value_digest
from flatviz.storage.files import DamagedFileError, read_file, set_aside, write_file

KIND = "result"  # of file


def cache_folder() -> Path:
    """`$FLATVIZ_CACHE`, or `flatviz` in the user's cache folder.

    Raises NotADirectoryError where that is a file.
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
def code_digest() -> str:
    """A hash of flatviz's source, so that the cache holds no result of other code for a key."""
    root = Path(__file__).resolve().parent.parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def cache_key(**settings: Any) -> str:
    """A hash of `settings`, of flatviz's code, torch's version and `process_state`.

    Raises CannotHashError for what has none.
    """
    around = {"code": code_digest(), "torch": torch.__version__, "process": process_state()}
    return value_digest({name: settings[name] for name in sorted(settings)} | around)


@public
def save(result: Any, path: FilePath) -> Path:
    """Write a noun, or a dict, tuple or list of nouns, tensors, numbers and texts; returns `path`.

    A safetensors file with the rest as JSON in its header and a checksum, written whole or not at
    all.

    Args:
        result: The value.
        path: File to write, ".safetensors" by custom.

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
    write_file(path, KIND, to_plain(result, tensors), {str(i): t for i, t in enumerate(tensors)})
    return Path(path)


@public
def load(path: FilePath) -> Any:
    """Read a file of `save`, tensors on the CPU; no code in the file is ever run.

    Args:
        path: The file.

    Raises:
        ValueError: For a file that is damaged, or that `save` of this version did not write.
        FileNotFoundError: For a path without a file.

    Example:
        >>> import tempfile, flatviz as fv
        >>> fv.load(fv.save({"lr": 0.05, "radii": (0.0, 1.0)}, f"{tempfile.mkdtemp()}/settings.safetensors"))
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
    compute: Callable[[], Any],
    *,
    label: str = "",
    say: Callable[[str], None] = lambda text: None,
    **settings: Any,
) -> tuple[Any, bool]:
    """Compute `compute()` once: kept in `folder` of the cache under a hash of `settings`.

    Returns it, and whether it was read.

    `say` hears with `label` what is reused or computed, and which file was damaged: that is renamed
    to `<name>.damaged` and the result computed again.  If the disk takes no file, the result is
    returned all the same.
    """
    path, stored = look_up(folder, settings, label, say)
    if stored:
        return stored[0], True
    result = compute()
    keep(result, path, say)
    return result, False


def look_up(
    folder: str, settings: dict[str, Any], label: str, say: Callable[[str], None]
) -> tuple[Path | None, list[Any]]:
    """Look for a result in the cache.

    Its path, None for settings without a hash, and the result if it is there.
    """
    try:
        path = cache_folder() / folder / f"{cache_key(**settings)}.safetensors"
    except CannotHashError as error:
        say(f"{label or folder}: not kept in the cache, for its settings hold {error}")
        return None, []
    kept = _stored(path, say)
    if label:
        say(f"{label}: reused from {path}" if kept else f"{label}: computing")
    return path, kept


def keep(result: Any, path: Path | None, say: Callable[[str], None]) -> Path | None:
    """Save a result at the path that `look_up` gave.

    Returns the path, None where the disk did not take it.
    """
    try:
        return None if path is None else save(result, path)
    except OSError as error:
        say(f"not kept in the cache: {path}: {error}; the run goes on without it")
        return None


def _stored(path: Path, say: Callable[[str], None]) -> list[Any]:
    """Read a file of the cache, a list of its result.

    an empty one where it is not there or cannot be read.
    """
    try:
        return [_read(path)] if path.exists() else []
    except DamagedFileError as error:
        say(f"damaged, so computed again: {path}: {error}; {set_aside(path)}")
    except OSError as error:
        say(f"unreadable, so computed again: {path}: {error}")
    return []


def _read(path: Path) -> Any:
    plain, tensors = read_file(path, KIND)
    try:
        return from_plain(plain, tensors)
    except Exception as error:  # whole, but what it holds cannot be made any more
        raise DamagedFileError(
            f"expected nouns of this version of flatviz, got others ({error})"
        ) from error


_PACKAGE = Path(flatviz.__file__).resolve().parent
FOLDERS = (_PACKAGE.parent / "data", _PACKAGE / "_data")


def committed(name: str) -> Path:
    """Find a shipped result, such as "frontier.csv".

    `data/README.md` says what each holds and which command computes it.

    Raises:
        FileNotFoundError: If there is none of that name.
    """
    path = expected(name)
    if path.is_file():
        return path
    there = sorted(
        {
            p.name
            for folder in FOLDERS
            if folder.is_dir()
            for p in folder.iterdir()
            if p.suffix != ".md"
        }
    )
    raise FileNotFoundError(
        f"a shipped result must be one of {', '.join(there) or 'none here'}, got {name!r}"
    )


def expected(name: str) -> Path:
    """Path of a shipped result in a clone, whether or not it is there.

    For callers that do without.
    """
    paths = [folder / name for folder in FOLDERS]
    return next((path for path in paths if path.is_file()), paths[0])


class PointStore:
    """File of `n` values, of which some are done, under a hash of `settings`, written whole each time.

    A second process on the same file repeats work and spoils nothing.  A damaged file is set aside
    with a warning.  A full disk: a warning, and the points are no longer stored.
    """

    def __init__(self, folder: str | Path | bool, n: int, **settings: object) -> None:
        base = cache_folder() / "slices" if folder is True else Path(str(folder))
        where = {
            "machine": machine(),
            "threads": torch.get_num_threads(),
            "layout": 2,
        }  # layout of the file
        self.path = base / f"{cache_key(n=n, **settings, **where)}.safetensors"
        self._into: Path | None = self.path  # None once the disk took nothing more
        self._say = partial(warnings.warn, stacklevel=4)

    def read(self, values: Tensor, done: Tensor) -> None:
        """Fill `values` (n,) and the mask `done` (n,) with what is stored."""
        for stored in _stored(self.path, self._say):
            values.copy_(stored["values"]), done.copy_(stored["done"])

    def write(self, values: Tensor, done: Tensor) -> None:
        """Store `values` (n,), those that are `done` (n,)."""
        self._into = keep({"values": values, "done": done}, self._into, self._say)


def machine() -> str:
    """Describe the machine, on which floating-point results depend besides the program."""
    card = torch.cuda.get_device_name() if torch.cuda.is_available() else ""
    return f"{torch.backends.cpu.get_cpu_capability()} {card}"
