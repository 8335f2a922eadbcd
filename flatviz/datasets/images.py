"""Image folders with a folder a class, and the public sets that torchvision downloads."""

import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from flatviz.checks import Count, FilePath, Seed, Whole
from flatviz.core import Data, Pixels, Stream, generator, public
from flatviz.core.streams import Reading
from flatviz.words import PUBLIC, check_choice

MEMORY = 2**31  # bytes of images that a folder may take
# Sets whose classes have names; the others' are digits
NAMED = ("fashion_mnist", "cifar10", "cifar100")


@dataclass(frozen=True)
class Folder:
    """Images of class folders as (pixels, class number), read when needed.

    `change` converts a picture to pixels.
    """

    samples: list[tuple[str, int]]
    change: Callable[[object], Tensor]

    def __len__(self) -> int:
        return len(self.samples)

    def __getitem__(self, i: int) -> tuple[Tensor, int]:
        file, label = self.samples[i]
        return self.change(_rgb_image(file)), label


def _rgb_image(file: str) -> object:
    """Read a picture's first frame in RGB, turned as its EXIF says, with 16 bits scaled to 8."""
    from PIL import Image, ImageOps  # imported here, as tensors need no Pillow

    try:
        with Image.open(file) as opened:
            image = ImageOps.exif_transpose(opened)
            if image.mode not in ("I", "F") and not image.mode.startswith("I;16"):
                return image.convert("RGB")
            wide = np.asarray(image)
    except (OSError, Image.DecompressionBombError) as error:
        raise ValueError(
            f"each file must be a whole image, got {file}: {error}: replace or remove it"
        ) from error
    largest = float(wide.max())
    if wide.dtype.kind == "f" or wide.min() < 0 or largest > 65535:
        raise ValueError(
            f"images must have 8 or 16 bits a channel, got {wide.dtype} in {file}: save it so"
        )
    if 0 < largest < 256:
        raise ValueError(
            f"images of 16 bits must use them, got values up to {largest:g} in {file}, which is"
            " black: save it with 8 bits"
        )
    if 0 < largest < 4096:
        warnings.warn(
            "an image of 16 bits has values below 4096, so that it is dark: where they are of 12"
            " bits, multiply them by 16",
            stacklevel=2,
        )
    high_bits = (wide >> 8).astype(np.uint8)
    return Image.fromarray(high_bits).convert("RGB")


def _files_in(folder: Path, wanted: Callable[[str], bool]) -> list[str]:
    """List the files of a folder and its folders, by name.

    Links are followed, each folder once, and none to a folder that this one is in.
    """
    inside = Path(os.path.realpath(folder))
    seen = {str(place) for place in (inside, *inside.parents)}
    files = []
    for root, inner, names in os.walk(folder, followlinks=True):
        new = {}
        for name in sorted(inner):
            place = os.path.realpath(os.path.join(root, name))
            if place not in seen:
                new[place] = name
        inner[:] = new.values()
        seen |= new.keys()
        files += [os.path.join(root, name) for name in names]
    return sorted(filter(wanted, files), key=os.path.split)


@public
def image_folder(
    path: FilePath,
    *,
    size: Count | None = None,
    per_class: Count | None = None,
    classes: tuple[str, ...] | None = None,
    seed: Seed = 0,
    workers: Whole = 0,
) -> Data:
    """Read images from a folder of class folders, whose names are those of the classes.

    x (N, 3, H, W) is in bytes, batches in floats from 0 to 1; y (N,) numbers the folders in the
    order of their names.  A folder of more than 2 GiB of pixels is read batch by batch, as by
    `stream`.

    Args:
        path: `<path>/<class>/<anything>.png` or another format that Pillow reads, also of 16 bits,
            turned as their EXIF says; links are followed, each folder once; class folders without
            images are an error, hidden folders, `__MACOSX` and pipes are ignored.
        size: Pixels of each side to which images are scaled and cropped in the middle; None where
            all have one size.
        per_class: Largest number of images a class, drawn by `seed`; None takes all.
        classes: Names of all classes in the order of their numbers, for a folder that lacks some:
            `train.class_names`.
        seed: Fixes which.
        workers: Processes that read the next minibatches of such a folder while one is computed.

    Raises:
        FileNotFoundError: For a folder that is not there.
        ValueError: For one without classes, for an image that cannot be read (it is named), and for
            images of several sizes without `size`.

    Example:
        >>> import tempfile, numpy as np, flatviz as fv
        >>> from pathlib import Path
        >>> from PIL import Image
        >>> folder = Path(tempfile.mkdtemp())
        >>> for name in ("cat", "dog"):
        ...     (folder / name).mkdir()
        ...     grey = Image.fromarray(np.full((8, 8, 3), 128, dtype=np.uint8))
        ...     grey.save(folder / name / "1.png")
        >>> images = fv.datasets.image_folder(folder)
        >>> images, images.class_names
        (Data(2 examples, x (2, 3, 8, 8) uint8, classes 0..1), ('cat', 'dog'))
    """
    from PIL import Image
    from torchvision import transforms

    folder = Path(path)
    if not folder.is_dir():
        raise FileNotFoundError(
            f"path must be a folder of class folders, got {str(path)!r}, none is there: check its"
            " name"
        )
    inside = sorted(place.name for place in folder.iterdir() if place.is_dir())
    folders = [name for name in inside if name != "__MACOSX" and not name.startswith(".")]
    names = tuple(folders if classes is None else classes)
    if unknown := set(folders) - set(names):
        raise ValueError(
            f"folders must be of the classes {names}, got {', '.join(sorted(unknown))} in"
            f" {str(path)!r}"
        )
    formats = Image.registered_extensions()

    def is_image(file: str) -> bool:
        path = Path(file)
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        pipe = path.exists() and not path.is_file()  # a link to nothing is an error
        return not hidden and not pipe and formats.get(path.suffix.lower()) in Image.OPEN

    samples = []
    for name in folders:
        files = _files_in(folder / name, is_image)
        if not files:
            raise ValueError(
                f"path must hold one folder of images for each class, got {str(path)!r}, where"
                f" {name} has no image: remove it"
            )
        samples += [(file, names.index(name)) for file in files]
    if not samples:
        raise ValueError(
            f"path must hold one folder of images for each class, got {str(path)!r}, which has no"
            " folder"
        )
    steps = [transforms.PILToTensor()]
    if size is not None:
        steps = [transforms.Resize(size), transforms.CenterCrop(size), *steps]
    images = Folder(samples, transforms.Compose(steps))
    labels = torch.tensor([number for _, number in samples])
    chosen = _chosen(labels, per_class, seed)
    y = labels[chosen]
    shape = images[chosen[0]][0].shape
    if len(chosen) * shape.numel() > MEMORY:
        stats = [os.stat(samples[i][0]) for i in chosen]
        stamps = tuple((stat.st_size, stat.st_mtime_ns) for stat in stats)
        stream = Stream(images, torch.tensor(chosen), shape, Reading(workers), content=stamps)
        return Data(stream, y, names)
    x = torch.empty((len(chosen), *shape), dtype=torch.uint8)
    for row, i in enumerate(chosen):
        image, _ = images[i]
        if image.shape != shape:
            shapes = f"{tuple(shape[1:])} and {tuple(image.shape[1:])}"
            raise ValueError(
                f"images must be of one size, got {shapes} ({samples[i][0]}): give size="
            )
        x[row] = image
    return Data(x, y, names)


@public
def public_images(
    name: str,
    *,
    train: bool,
    root: FilePath = "data",
    download: bool = True,
    per_class: Count | None = None,
    seed: Seed = 0,
) -> Data:
    """Read one split of MNIST, FashionMNIST, CIFAR-10, CIFAR-100 or SVHN.

    x (N, C, H, W) is in bytes, batches in floats from 0 to 1; y (N,).  torchvision downloads the
    set into `root` with a progress bar and compares checksums; a second call reads what is there.

    Args:
        name: "mnist", "fashion_mnist", "cifar10", "cifar100" or "svhn".
        train: The training split, or the test split.
        root: The folder of torchvision's files.
        download: False raises where it is not in `root` yet.
        per_class: Largest number of images a class, drawn by `seed`; None takes all.
        seed: Draws them.

    Raises:
        RuntimeError: If the files are absent, damaged or cannot be downloaded.
    """
    from torchvision import datasets

    kind = PUBLIC[check_choice(name, tuple(PUBLIC), "name")]
    split: dict[str, object] = {"train": train}
    if name == "svhn":
        split = {"split": "train" if train else "test"}
    try:
        images = getattr(datasets, kind)(str(root), download=download, **split)
    except Exception as error:  # damaged files raise any error
        raise RuntimeError(
            f"{name} must lie whole in {str(root)!r} or be downloadable, got: {error}: remove its"
            " files there, then check the network, or put torchvision's files there by hand and"
            " give download=False"
        ) from error
    x = _pixels(images.data)
    labels = images.labels if name == "svhn" else images.targets
    y = torch.as_tensor(labels).long()
    index = torch.tensor(_chosen(y, per_class, seed))
    names = images.classes if name in NAMED else ()
    return Data(x[index], y[index], tuple(names))


@public
def images_like(images: Data, shape: tuple[Count, ...] | torch.Size) -> Data:
    """Scale images in bytes to the shape (C, H, W) of others.

    Grey images are repeated in every channel, coloured ones turned to grey.

    Args:
        images: Images (N, C, H, W) in bytes.
        shape: (C, H, W) of the result.

    Raises:
        ValueError: For images that are not in bytes, and for other numbers of channels.

    Example:
        >>> import torch, flatviz as fv
        >>> grey = fv.Data(torch.zeros(2, 1, 28, 28, dtype=torch.uint8), torch.tensor([0, 1]))
        >>> fv.datasets.images_like(grey, (3, 32, 32))
        Data(2 examples, x (2, 3, 32, 32) uint8, classes 0..1)
    """
    if not isinstance(images.x, Pixels):
        raise ValueError(
            f"images must be in bytes and in memory, got {images!r}: image_folder and public_images"
            " give such"
        )
    if len(shape) != 3:
        raise ValueError(f"shape must be (C, H, W), got {tuple(shape)}")
    x = images.x.bytes
    given = x.shape[1]
    wanted, *sides = shape
    if given != wanted:
        if {given, wanted} != {1, 3}:
            raise ValueError(f"images must have {wanted} channels, or 1 and 3, got {given}")
        if wanted == 3:
            x = x.expand(-1, 3, -1, -1)
        else:
            grey = x.float().mean(1, keepdim=True)
            x = grey.round().byte()
    if list(x.shape[2:]) != sides:
        smooth = F.interpolate(x.float(), sides, mode="bilinear", antialias=True)
        x = smooth.round().clamp(0, 255).byte()
    return replace(images, x=replace(images.x, bytes=x))


def _chosen(labels: Tensor, per_class: int | None, seed: int) -> list[int]:
    """Choose the indices of examples, in the order of the files."""
    if per_class is None:
        return list(range(len(labels)))
    order = torch.randperm(len(labels), generator=generator(seed))
    taken = []
    for label in labels.unique():
        members = order[labels[order] == label]
        taken.append(members[:per_class])
    return torch.cat(taken).sort().values.tolist()


def _pixels(data: object) -> Tensor:
    """Convert torchvision's arrays (N, H, W), (N, H, W, C) or (N, C, H, W) to (N, C, H, W)."""
    x = torch.as_tensor(data)
    if x.ndim == 3:
        return x[:, None]
    if x.shape[1] == 3:
        return x
    return x.permute(0, 3, 1, 2).contiguous()
