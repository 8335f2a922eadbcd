"""Which file of a published image set is absent, cut short or another one: said where torchvision says 'not found or corrupted'."""

from __future__ import annotations

import hashlib
import math
from pathlib import Path
from typing import Any

IDX = ("train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")
BLOCK = 2**20  # bytes of a file that are hashed at once


def first_problem(kind: type, root: str | Path, split: str) -> str:
    """What is wrong with the files of torchvision's data set `kind` under `root`, in a sentence; empty where nothing is found.

    CIFAR and SVHN by torchvision's checksums; MNIST's unpacked files, which have none, by the size that their header states.
    """
    root = Path(root)
    if kind.__name__ in ("MNIST", "FashionMNIST"):
        return next((text for name in IDX if (text := _idx_problem(root / kind.__name__ / "raw" / name))), "")
    return next((text for path, md5 in _files(kind, root, split) if (text := _md5_problem(path, md5))), "")


def _files(kind: Any, root: Path, split: str) -> list[tuple[Path, str]]:
    if kind.__name__ == "SVHN":
        _, name, md5 = kind.split_list[split]
        return [(root / name, md5)]
    meta = (kind.meta["filename"], kind.meta["md5"])
    return [(root / kind.base_folder / name, md5) for name, md5 in (*kind.train_list, *kind.test_list, meta)]


def _md5_problem(path: Path, md5: str) -> str:
    if not path.is_file():
        return f"{path} is not there"
    digest = hashlib.md5(usedforsecurity=False)
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            digest.update(block)
    return "" if digest.hexdigest() == md5 else f"{path} is cut short or another file ({path.stat().st_size} bytes)"


def _idx_problem(path: Path) -> str:
    """Of a file of MNIST's format: magic number, sides, bytes."""
    if not path.is_file():
        return f"{path} is not there"
    size = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(16)
    if len(head) < 8 or head[:2] != b"\0\0" or head[2] != 8 or head[3] not in (1, 3) or len(head) < 4 + 4 * head[3]:
        return f"{path} is no file of MNIST's format ({size} bytes)"
    sides = [int.from_bytes(head[4 + 4 * i : 8 + 4 * i], "big") for i in range(head[3])]
    wanted = 4 + 4 * len(sides) + math.prod(sides)
    return "" if size == wanted else f"{path} is cut short or another file: {size} bytes, {wanted} by its header"
