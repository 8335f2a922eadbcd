"""Tasks by name, as commands take them: digits, moons, a folder of images, a public image set."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import torch

from flatviz.checks import Count, Seed
from flatviz.core.boundary import public
from flatviz.core.data import Data, Task
from flatviz.core.seeds import generator
from flatviz.datasets.digits import digits_transfer
from flatviz.datasets.few_shot import pick_classes, transfer_task
from flatviz.datasets.images import PUBLIC, image_folder, public_images
from flatviz.datasets.moons import moons_transfer

NEAR = dict(degrees=15.0, shots=2)  # the experiment tasks chose it: here transfer helps
OFFLINE = {"digits": digits_transfer, "digits-near": partial(digits_transfer, **NEAR), "moons": moons_transfer}
DEFAULT = "digits-near"  # of tour, lab and course
FOLDER = "image-folder"
NAMES = (*OFFLINE, f"{FOLDER}:PATH", *(f"{name.replace('_', '-')}:ROOT" for name in PUBLIC))
LEAST_CLASSES = 4  # of which one half can be the source


@public
def named_task(
    name: str, *, shots: Count | None = None, seed: Seed = 0, size: Count | None = None, per_class: Count | None = None
) -> Task:
    """A task by its name: "digits", "digits-near", "moons", "image-folder:PATH", "mnist:ROOT", "cifar10:ROOT" and so on.

    Of "digits" the source is turned by 90 degrees and transfer harms; of "digits-near" by 15 degrees, with 2 shots a class,
    and transfer helps.

    A folder is one of class folders, or holds two such, train and test.  A public set lies in ROOT as torchvision leaves it
    there; nothing is downloaded.  Of images the first half of the classes is the source, the other half the target; of
    fewer than four classes, one half of each class's examples.

    Args:
        name: see above.
        shots: training examples a class of the target, and as many to choose settings on; None: 10, of "digits-near" 2.
        seed: draws them.
        size: pixels of each side to which a folder's images are scaled; None where all have one size.
        per_class: at most so many examples a class are read, drawn by `seed`; None reads all.

    Raises:
        ValueError: For another name.

    Example:
        >>> import flatviz as fv
        >>> fv.datasets.named_task("moons", shots=5)
        Task('two moons, 5 shots a class, from turned moons': source 200, train 10, validation 10, test 400, 2 classes)
    """
    kind, _, place = name.partition(":")
    if name in OFFLINE:
        return OFFLINE[name](seed=seed, **({} if shots is None else {"shots": shots}))
    shots = 10 if shots is None else shots
    if kind == FOLDER and place:
        parts = {split: Path(place) / split for split in ("train", "test")}
        two = all(path.is_dir() for path in parts.values())
        read = dict(size=size, seed=seed)
        whole = image_folder(parts["train"] if two else place, per_class=per_class, **read)
        test = image_folder(parts["test"], classes=whole.class_names, **read) if two else None
        return halved_task(whole, shots=shots, seed=seed, test=test, name=f"images of {Path(place).name}")
    if (public := kind.replace("-", "_")) in PUBLIC and place:
        read = dict(root=place, download=False, per_class=per_class, seed=seed)
        whole, test = public_images(public, train=True, **read), public_images(public, train=False, root=place, download=False)
        return halved_task(whole, shots=shots, seed=seed, test=test, name=kind)
    raise ValueError(f"data must be one of {', '.join(NAMES)}, got {name!r}: give the folder after the colon")


def halved_task(whole: Data, *, shots: int, seed: int, test: Data | None = None, name: str = "halves") -> Task:
    """Source: the first half of the classes, target: the others; of fewer than four, half of the examples each."""
    classes = whole.y.unique().tolist()
    if len(classes) >= LEAST_CLASSES:
        half = (len(classes) + 1) // 2
        source, target = (pick_classes(whole, part) for part in (classes[:half], classes[half:]))
        test = test if test is None else pick_classes(test, classes[half:])
        name = f"{name}: {len(classes) - half} classes, from {half} others"
    else:
        order = torch.randperm(len(whole), generator=generator(seed)).to(whole.y.device)
        ranked = order[whole.y[order].argsort(stable=True)]  # class by class, each in random order: every second is a half
        source, target = whole.subset(ranked[::2]), whole.subset(ranked[1::2])
        name = f"{name}: {len(classes)} classes, from other examples of them"
    return transfer_task(source, target, shots=shots, seed=seed, test=test, name=name)
