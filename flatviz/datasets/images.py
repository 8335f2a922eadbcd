"""Images from outside: folders of classes, and the public sets that torchvision downloads and checks."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from flatviz.checks import check_choice, check_count
from flatviz.core.data import Data
from flatviz.core.inputs import Pixels
from flatviz.core.seeds import generator
from flatviz.datasets.stream import Stream, class_names_of, pair_of

MEMORY = 2**31  # bytes of images that a folder may take
PUBLIC = {  # name -> torchvision's class, and how it is asked for the two splits
    "mnist": ("MNIST", ({"train": True}, {"train": False})),
    "fashion_mnist": ("FashionMNIST", ({"train": True}, {"train": False})),
    "cifar10": ("CIFAR10", ({"train": True}, {"train": False})),
    "cifar100": ("CIFAR100", ({"train": True}, {"train": False})),
    "svhn": ("SVHN", ({"split": "train"}, {"split": "test"})),
}


NAMED = ("fashion_mnist", "cifar10", "cifar100")  # whose classes have names: of the others they are digits


def _whole_image(file: str) -> Any:
    """A picture in RGB."""
    from torchvision.datasets.folder import pil_loader  # when asked for: who computes on tensors need not have it

    try:
        return pil_loader(file)
    except OSError as error:
        raise ValueError(f"each file must be a whole image, got {file}: {error}: replace or remove it") from error


def image_folder(
    path: str | Path,
    *,
    size: int | None = None,
    per_class: int | None = None,
    classes: tuple[str, ...] | None = None,
    seed: int = 0,
) -> Data:
    """Images in a folder of class folders, whose names are those of the classes; x (N, 3, H, W) in bytes, batches from 0 to 1.

    y (N,) numbers the folders in the order of their names.

    Args:
        path: `<path>/<class>/<anything>.png` or another format that Pillow reads; class folders without images are an error.
        size: pixels of each side to which images are scaled and cropped in the middle; None where all have one size.
        per_class: at most so many of each class, drawn by `seed`; None takes all.
        classes: names of all classes in the order of their numbers, for a folder that lacks some: `train.class_names`.
        seed: draws them.
    A folder of more than 2 GiB of pixels is read batch by batch, as by `stream`.

    Raises:
        FileNotFoundError: For a folder that is not there.
        ValueError: For one without classes, for an image that cannot be read (it is named), and for images of
            several sizes without `size`.

    Example:
        >>> import tempfile, numpy as np, flatviz as fv
        >>> from pathlib import Path
        >>> from PIL import Image
        >>> folder = Path(tempfile.mkdtemp())
        >>> for name in ("cat", "dog"):
        ...     (folder / name).mkdir()
        ...     Image.fromarray(np.full((8, 8, 3), 128, dtype=np.uint8)).save(folder / name / "1.png")
        >>> images = fv.datasets.image_folder(folder)
        >>> images, images.class_names
        (Data(2 examples, x (2, 3, 8, 8) uint8, classes 0..1), ('cat', 'dog'))
    """
    from torchvision import datasets, transforms

    if not Path(path).is_dir():
        raise FileNotFoundError(
            f"path must be a folder of class folders, got {str(path)!r}, which is not there: check its name"
        )
    steps = [] if size is None else [transforms.Resize(check_count(size, "size")), transforms.CenterCrop(size)]
    try:
        to_bytes = transforms.Compose([*steps, transforms.PILToTensor()])
        images = datasets.ImageFolder(str(path), to_bytes, loader=_whole_image)
    except FileNotFoundError as error:
        raise ValueError(f"path must hold one folder of images for each class, got {str(path)!r}: {error}") from error
    names = tuple(images.classes if classes is None else classes)
    if unknown := set(images.classes) - set(names):
        raise ValueError(f"folders must be of the classes {names}, got {', '.join(sorted(unknown))} in {str(path)!r}")
    labels = torch.tensor([names.index(images.classes[label]) for label in images.targets])
    chosen = _chosen(labels, per_class, seed)
    y, shape = labels[chosen], images[chosen[0]][0].shape
    if len(chosen) * shape.numel() > MEMORY:
        stamps = tuple((s.st_size, s.st_mtime_ns) for s in (os.stat(images.samples[i][0]) for i in chosen))
        return Data(Stream(images, torch.tensor(chosen), shape, content=stamps), y, names)
    x = torch.empty((len(chosen), *shape), dtype=torch.uint8)
    for row, i in enumerate(chosen):
        image, _ = images[i]
        if image.shape != shape:
            shapes = f"{tuple(shape[1:])} and {tuple(image.shape[1:])}"
            raise ValueError(f"images must be of one size, got {shapes} ({images.samples[i][0]}): give size=")
        x[row] = image
    return Data(x, y, names)


def public_images(
    name: str, *, train: bool, root: str | Path = "data", download: bool = True, per_class: int | None = None, seed: int = 0
) -> Data:
    """One split of MNIST, FashionMNIST, CIFAR-10, CIFAR-100 or SVHN; x (N, C, H, W) in bytes, batches from 0 to 1, y (N,).

    torchvision downloads it into `root` with a progress bar and compares checksums; a second call reads what is there.

    Args:
        name: "mnist", "fashion_mnist", "cifar10", "cifar100" or "svhn".
        train: the training split, or the test split.
        root: the folder of torchvision's files.
        download: False raises where it is not in `root` yet.
        per_class: at most so many of each class, drawn by `seed`; None takes all.
        seed: draws them.

    Raises:
        RuntimeError: Where the files are absent, damaged or cannot be downloaded.
    """
    from torchvision import datasets

    kind, splits = PUBLIC[check_choice(name, tuple(PUBLIC), "name")]
    try:
        images = getattr(datasets, kind)(str(root), download=download, **splits[0 if train else 1])
    except (RuntimeError, OSError, EOFError, AssertionError, ValueError, KeyError, UnpicklingError) as error:
        raise RuntimeError(
            f"{name} must lie whole in {str(root)!r} or be downloadable, got: {error}: remove its files there, then check "
            "the network, or put torchvision's files there by hand and give download=False"
        ) from error
    x, y = _pixels(images.data), torch.as_tensor(images.labels if name == "svhn" else images.targets).long()
    index = torch.tensor(_chosen(y, per_class, seed))
    return Data(x[index], y[index], tuple(images.classes) if name in NAMED else ())


def images_like(images: Data, shape: tuple[int, ...] | torch.Size) -> Data:
    """Images in bytes scaled to the shape (C, H, W) of others: grey ones in every channel, or coloured ones made grey.

    Raises:
        ValueError: For images that are not kept in bytes, and for other numbers of channels.

    Example:
        >>> import torch, flatviz as fv
        >>> grey = fv.Data(torch.zeros(2, 1, 28, 28, dtype=torch.uint8), torch.tensor([0, 1]))
        >>> fv.datasets.images_like(grey, (3, 32, 32))
        Data(2 examples, x (2, 3, 32, 32) uint8, classes 0..1)
    """
    if not isinstance(images.x, Pixels):
        raise ValueError(f"images must be in bytes and in memory, got {images!r}: image_folder and public_images give such")
    x = images.x.bytes
    if x.shape[1] != shape[0]:
        if {x.shape[1], shape[0]} != {1, 3}:
            raise ValueError(f"images must have {shape[0]} channels, or 1 and 3, got {x.shape[1]}")
        x = x.expand(-1, 3, -1, -1) if shape[0] == 3 else x.float().mean(1, keepdim=True).round().byte()
    if x.shape[2:] != tuple(shape[1:]):
        x = F.interpolate(x.float(), size=tuple(shape[1:]), mode="bilinear", antialias=True).round().clamp(0, 255).byte()
    return replace(images, x=Pixels(x, images.x.mean, images.x.std, images.x.dtype))


def data_from(examples: Iterable[Any], n: int | None = None) -> Data:
    """All examples, or the first `n`, of a `torch.utils.data.Dataset` of (x, y) pairs or a `DataLoader` of batches of them.

    x of one example must be a tensor: give the data set a transform that makes one.

    Raises:
        TypeError: For examples that are no such pairs.
        ValueError: For none.

    Example:
        >>> import torch, flatviz as fv
        >>> pairs = torch.utils.data.TensorDataset(torch.rand(6, 3), torch.arange(6) % 2)
        >>> fv.datasets.data_from(pairs, 4)
        Data(4 examples, x (4, 3) float32, classes 0..1)
        >>> fv.datasets.data_from(torch.utils.data.DataLoader(pairs, batch_size=4))
        Data(6 examples, x (6, 3) float32, classes 0..1)
    """
    most = None if n is None else check_count(n, "n")
    batched = isinstance(examples, torch.utils.data.DataLoader) and examples.batch_size is not None
    total = len(examples) if hasattr(examples, "__len__") else None  # a data set of the user's may have no length
    xs, ys, seen = [], [], 0
    for i, pair in enumerate(examples):
        x, y = pair_of(pair, i)
        y = torch.as_tensor(y)
        xs.append(x if batched else x[None]), ys.append(y if batched else y[None])
        seen += len(xs[-1])
        if (most is not None and seen >= most) or (not batched and seen == total):
            break
    if not xs:
        raise ValueError("examples must hold at least one (x, y), got an empty set")
    y = torch.cat(ys)[:n]
    return Data(torch.cat(xs)[:n], y, class_names_of(examples, y))


def _chosen(labels: Tensor, per_class: int | None, seed: int) -> list[int]:
    """Numbers of the examples taken, in the order of the files."""
    if per_class is None:
        return list(range(len(labels)))
    check_count(per_class, "per_class")
    order = torch.randperm(len(labels), generator=generator(seed))
    taken = [order[labels[order] == label][:per_class] for label in labels.unique()]
    return torch.cat(taken).sort().values.tolist()


def _pixels(data: Any) -> Tensor:
    """Torchvision's arrays, (N, H, W), (N, H, W, C) or SVHN's (N, C, H, W), as (N, C, H, W)."""
    x = torch.as_tensor(data)
    if x.ndim == 3:
        return x[:, None]
    return x if x.shape[1] == 3 else x.permute(0, 3, 1, 2).contiguous()
