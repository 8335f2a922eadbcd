"""Which file of a published image set is absent, cut short or another one: torchvision says only 'not found or corrupted'."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

IDX = ("train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")


def first_problem(kind: type, root: str | Path, split: str) -> str:
    """What is wrong with the files of torchvision's data set `kind` under `root`, in a sentence; empty where nothing is found.

    CIFAR and SVHN are compared with torchvision's checksums; MNIST's unpacked files, which have none, must be readable.
    """
    for path, md5 in _files(kind, Path(root), split):
        if not path.is_file():
            return f"{path} is not there"
        if not _is_whole(path, md5):
            return f"{path} is cut short or another file ({path.stat().st_size} bytes)"
    return ""


def _files(kind: Any, root: Path, split: str) -> Iterator[tuple[Path, str | None]]:
    if kind.__name__ in ("MNIST", "FashionMNIST"):
        return ((root / kind.__name__ / "raw" / name, None) for name in IDX)
    if kind.__name__ == "SVHN":
        return ((root / name, md5) for _, name, md5 in [kind.split_list[split]])
    files = (*kind.train_list, *kind.test_list, (kind.meta["filename"], kind.meta["md5"]))
    return ((root / kind.base_folder / name, md5) for name, md5 in files)


def _is_whole(path: Path, md5: str | None) -> bool:
    from torchvision.datasets.mnist import read_sn3_pascalvincent_tensor  # optional: a machine that computes on tensors
    from torchvision.datasets.utils import check_integrity  # need not have it

    if md5 is not None:
        return check_integrity(path, md5)
    try:
        read_sn3_pascalvincent_tensor(str(path))
    except Exception:  # of a file of another format it raises anything
        return False
    return True
