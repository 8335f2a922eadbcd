"""CIFAR-10-C and CIFAR-100-C as they are published: one .npy file a corruption, five severities one after another."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from flatviz.checks import Count, FilePath, check_choice
from flatviz.core.boundary import public
from flatviz.core.data import Data

FOLDERS = ("CIFAR-10-C", "CIFAR-100-C")
SEVERITIES = 5
WHERE = "zenodo.org/records/2535967 (CIFAR-10-C.tar) or 3555552 (CIFAR-100-C.tar), 2.9 GB each"


@public
def cifar_c(root: FilePath, kind: str, severity: Count) -> Data:
    """The test images of CIFAR-10-C or CIFAR-100-C under one of its 19 corruptions; x (N, 3, 32, 32) in bytes, y (N,).

    Nothing is downloaded: unpack the archive first.  The labels are those of CIFAR's test split, in its order.

    Args:
        root: the folder that holds labels.npy and <kind>.npy, or one that holds CIFAR-10-C or CIFAR-100-C.
        kind: "gaussian_noise", "frost" and so on: the name of a file.
        severity: 1 to 5, the first to the last fifth of the file.

    Raises:
        FileNotFoundError: For a folder or file that is not there.
        ValueError: For a file that is cut short or of another format, naming it, and for an unknown kind or
            severity.

    Source: Hendrycks and Dietterich 2019 (arXiv 1903.12261).

    Example:
        >>> import tempfile, numpy as np, flatviz as fv
        >>> folder = tempfile.mkdtemp()
        >>> np.save(f"{folder}/labels.npy", np.tile(np.arange(4, dtype=np.uint8), 5))
        >>> np.save(f"{folder}/fog.npy", np.zeros((20, 32, 32, 3), dtype=np.uint8))
        >>> fv.datasets.cifar_c(folder, "fog", severity=3)
        Data(4 examples, x (4, 3, 32, 32) uint8, classes 0..3)
    """
    folder = _folder(Path(root))
    check_choice(kind, tuple(sorted(p.stem for p in folder.glob("*.npy") if p.stem != "labels")), "kind")
    if severity > SEVERITIES:
        raise ValueError(f"severity must be a whole number from 1 to {SEVERITIES}, got {severity}")
    labels, images = _array(folder / "labels.npy"), _array(folder / f"{kind}.npy")
    if images.shape != (len(labels), 32, 32, 3) or images.dtype != np.uint8 or len(labels) % SEVERITIES:
        raise ValueError(
            f"{folder / kind}.npy must hold {len(labels)} images of 32 x 32 x 3 bytes, as labels.npy has labels, got "
            f"{images.shape} {images.dtype}: unpack the archive again"
        )
    n = len(labels) // SEVERITIES
    part = slice((severity - 1) * n, severity * n)
    x = torch.from_numpy(np.ascontiguousarray(images[part].transpose(0, 3, 1, 2)))
    return Data(x, torch.from_numpy(labels[part].astype(np.int64)))


def _folder(root: Path) -> Path:
    for folder in (root, *(root / name for name in FOLDERS)):
        if (folder / "labels.npy").is_file():
            return folder
    raise FileNotFoundError(f"root must hold labels.npy of CIFAR-10-C or CIFAR-100-C, got {str(root)!r}: unpack {WHERE} there")


def _array(path: Path) -> np.ndarray:
    """An array on disk, of which only what is used is read."""
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise ValueError(f"{path} is cut short or no .npy file ({path.stat().st_size} bytes): unpack it again") from error
