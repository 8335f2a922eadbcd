"""Small results that the project computed and ships: `data/` of a clone, `_data/` of an installed package."""

from __future__ import annotations

from pathlib import Path

import flatviz

_PACKAGE = Path(flatviz.__file__).resolve().parent
FOLDERS = (_PACKAGE.parent / "data", _PACKAGE / "_data")


def committed(name: str) -> Path:
    """Path of a shipped result, such as "evidence.csv"; `data/README.md` says what each holds and which command made it.

    Raises:
        FileNotFoundError: Where there is none of that name.
    """
    path = expected(name)
    if path.is_file():
        return path
    there = sorted({p.name for folder in FOLDERS if folder.is_dir() for p in folder.iterdir() if p.suffix != ".md"})
    raise FileNotFoundError(f"a shipped result must be one of {', '.join(there) or 'none here'}, got {name!r}")


def expected(name: str) -> Path:
    """Where a shipped result is, or, where there is none of that name, would be in a clone: for what does without."""
    paths = [folder / name for folder in FOLDERS]
    return next((path for path in paths if path.is_file()), paths[0])
