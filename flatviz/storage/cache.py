"""A folder of results, each under a hash of everything it depends on; a file is whole or absent."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import torch
from torch import Tensor

from flatviz.results import from_plain, to_plain
from flatviz.storage.files import atomic_path


def cache_folder() -> Path:
    """`$FLATVIZ_CACHE`, or `flatviz` in the user's cache folder.  Raises NotADirectoryError where that is a file."""
    if own := os.environ.get("FLATVIZ_CACHE"):
        if Path(own).exists() and not Path(own).is_dir():
            raise NotADirectoryError(f"FLATVIZ_CACHE must be a folder, got the file {own}: name a folder, or unset it")
        return Path(own)
    base = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA") or Path.home() / ".cache"
    return Path(base) / "flatviz"


@lru_cache(maxsize=1)
def code_digest() -> str:
    """A hash of flatviz's own source: results of other code are never met."""
    root = Path(__file__).resolve().parent.parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def cache_key(**settings: Any) -> str:
    """A hash of `settings`, of the code and of torch's version."""
    text = json.dumps({**settings, "code": code_digest(), "torch": torch.__version__}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def tensor_digest(*tensors: Tensor, text: str = "") -> str:
    """A hash of tensors' bytes, shapes and dtypes, and of `text`."""
    digest = hashlib.sha256(text.encode())
    for t in tensors:
        t = t.detach().cpu().contiguous()
        digest.update(f"{t.dtype} {tuple(t.shape)}".encode())
        digest.update(t.reshape(-1).view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()[:24]


def save(result: Any, path: str | Path) -> Path:
    """Write a noun (or a dict, tuple, list of them) to `path`, whole or not at all."""
    path = Path(path)
    with atomic_path(path) as partial:
        torch.save(to_plain(result), partial)
    return path


def load(path: str | Path) -> Any:
    """Read what `save` wrote; no code in the file is ever run.

    Raises ValueError for a file that is damaged or was not written by `save`.
    """
    if not Path(path).is_file():
        raise FileNotFoundError(f"a result must be a file that fv.save wrote, got {path}, which is not there: check its name")
    try:
        return from_plain(torch.load(path, weights_only=True, map_location="cpu"))
    except (RuntimeError, EOFError, KeyError, TypeError, UnpicklingError) as error:
        text = f"a result must be a whole file that fv.save wrote, got {path}: delete it, and compute it again"
        raise ValueError(text) from error


def load_cached(path: Path, say: Callable[[str], None] = lambda text: None) -> Any:
    """What `save` wrote to `path`, or None where nothing is there; a damaged file is removed, and said to be."""
    if not path.exists():
        return None
    try:
        return load(path)
    except ValueError:
        say(f"damaged, so computed again: {path}")
        path.unlink(missing_ok=True)
        return None
