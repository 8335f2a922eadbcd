"""Tasks by name, as commands take them: digits, moons, a folder of images, a public image set."""

import math
from collections.abc import Callable
from functools import partial
from pathlib import Path

import torch
from torch import Tensor

from flatviz.checks import Count, NonNegative, Seed, Whole
from flatviz.core import Data, Task, generator, public, randn_like
from flatviz.datasets.corruptions import affine
from flatviz.datasets.images import image_folder, public_images
from flatviz.datasets.splits import MAX_VALIDATION, hold_out, pick_classes, transfer_task
from flatviz.words import IMAGE_FOLDER, OFFLINE, check_task

DIGITS = 10
DIGITS_SOURCE = 700
MOONS = 2
MOONS_SOURCE = 200
MOONS_TEST = 400
SOURCE_ANGLE = math.radians(30)


@public
def digits_transfer(
    *,
    shots: Count = 10,
    seed: Seed = 0,
    degrees: NonNegative = 90.0,
    validation: Whole | None = None,
) -> Task:
    """Build a task of digits: the source is rotated, the target upright.

    The source has 700 digits, the target `shots` a class, the test split all others.  The splits
    are disjoint.  Pixels are scaled to 0..1; x is (N, 1, 8, 8).

    Args:
        shots: Training digits a class.
        seed: Draws the splits.
        degrees: Angle by which the source is rotated, counter-clockwise; it sets how far apart
            source and target are.  Multiples of 90 move pixels without change, other angles
            interpolate.
        validation: Digits a class taken out of the test split to choose settings on; None: as many
            as the shots, at most 15; 0: no validation split.

    Raises:
        ValueError: For more shots than there are digits.

    Example:
        >>> import flatviz as fv
        >>> fv.datasets.digits_transfer(shots=2, degrees=15, seed=0).train
        Data(20 examples, x (20, 1, 8, 8) float32, classes 0..9)
    """
    # when asked for: who computes on tensors need not have it
    from sklearn.datasets import load_digits

    scans = load_digits()
    images = torch.as_tensor(scans.images, dtype=torch.float32)
    x = images[:, None] / 16
    y = torch.as_tensor(scans.target, dtype=torch.long)
    order = torch.randperm(len(x), generator=generator(seed))
    source = order[:DIGITS_SOURCE]
    rest = order[DIGITS_SOURCE:]
    counts = torch.bincount(y[rest], minlength=DIGITS)
    held_out = min(shots, MAX_VALIDATION) if validation is None else validation
    largest = int(counts.min()) - 2 * held_out  # hold_out takes no more than half of what is left
    if shots >= largest:
        raise ValueError(
            f"shots must be below {largest}, so that every class is left to test on, got {shots}"
        )
    by_class = [rest[y[rest] == c] for c in range(DIGITS)]
    few = torch.cat([index[:shots] for index in by_class])
    index = rest[~torch.isin(rest, few)]
    test = Data(x[index], y[index])
    chosen_on = None
    if held_out:
        chosen_on, test = hold_out(test, held_out, seed=seed)
    turned = "rotated digits" if degrees == 90 else f"digits turned by {degrees:g} degrees"
    name = f"digits, {shots} shots a class, from {turned}"
    return Task(
        Data(_turned(x[source], degrees), y[source]),
        Data(x[few], y[few]),
        test,
        DIGITS,
        name,
        chosen_on,
    )


def _turned(x: Tensor, degrees: float) -> Tensor:
    """Rotate images (N, C, H, W) counter-clockwise."""
    quarters = float(degrees) / 90
    if quarters.is_integer():
        return torch.rot90(x, int(quarters), dims=(2, 3)).contiguous()
    return affine(x, angle=math.radians(degrees))


@public
def moons_transfer(*, shots: Count = 10, noise: NonNegative = 0.15, seed: Seed = 0) -> Task:
    """Build a task of two moons: the source is 200 points rotated by 30 degrees.

    The target is `shots` upright points a class; validation has as many, at most 15 a class, and
    test 400.  Class 0 lies on (cos t, sin t), class 1 on (1 - cos t, 1/2 - sin t), t in [0, pi],
    both plus Gaussian noise.

    Args:
        shots: Training points a class; 10 are the few shots of the transfer setting.
        noise: Standard deviation of each coordinate; 0.15 lets the classes touch, so that no
            posterior is sure everywhere.
        seed: Draws points and noise; the sets are disjoint draws of one stream.

    Returns:
        A `Task` with x (N, 2).

    Example:
        >>> import flatviz as fv
        >>> task = fv.datasets.moons_transfer(shots=5, seed=0)
        >>> {name: len(part) for name, part in task.parts().items()}
        {'source': 200, 'train': 10, 'validation': 10, 'test': 400}
    """
    source = generator(seed)
    upright = _moons(MOONS_SOURCE, noise, source)
    train = _moons(MOONS * shots, noise, source)
    test = _moons(MOONS_TEST, noise, source)
    validation = _moons(MOONS * min(shots, MAX_VALIDATION), noise, source)
    x = upright.tensor()
    cos = math.cos(SOURCE_ANGLE)
    sin = math.sin(SOURCE_ANGLE)
    rotation = x.new_tensor([[cos, sin], [-sin, cos]])
    turned = Data(x @ rotation, upright.y)
    name = f"two moons, {shots} shots a class, from turned moons"
    return Task(turned, train, test, MOONS, name, validation)


def _moons(n: int, noise: float, source: torch.Generator) -> Data:
    """Draw `n` points, alternating between the classes."""
    share = torch.rand(n, generator=source, dtype=torch.float32)
    t = math.pi * share
    y = torch.arange(n) % MOONS
    cos = t.cos()
    sin = t.sin()
    first = torch.stack([cos, sin], 1)
    second = torch.stack([1 - cos, 0.5 - sin], 1)
    x = torch.where(y[:, None] == 0, first, second)
    x = x + noise * randn_like(x, source)
    return Data(x, y)


# By the experiment "tasks", transfer helps with these
NEAR = partial(digits_transfer, degrees=15.0, shots=2)
BUILT: dict[str, Callable[..., Task]] = dict(
    zip(OFFLINE, (digits_transfer, NEAR, moons_transfer), strict=True)
)
MIN_CLASSES = 4  # to use one half of them as the source


@public
def named_task(
    name: str,
    *,
    shots: Count | None = None,
    seed: Seed = 0,
    size: Count | None = None,
    per_class: Count | None = None,
) -> Task:
    """Build a task by name: "digits", "digits-near", "moons", "image-folder:PATH", "mnist:ROOT".

    The source of "digits" is rotated by 90 degrees, and transfer harms; that of "digits-near" by 15
    degrees, with 2 shots a class, and transfer helps.

    A folder is one of class folders, or holds two of those, train and test.  A public set (mnist,
    fashion_mnist, cifar10, cifar100, svhn) is in ROOT as torchvision stores it; nothing is
    downloaded. The first half of an image set's classes is the source, the other half the target;
    with fewer than four classes, one half of each class's examples.

    Args:
        name: See above.
        shots: Training examples a class of the target, and as many to choose settings on; None: 10,
            of "digits-near" 2.
        seed: Draws them.
        size: Pixels of each side to which a folder's images are scaled; None where all have one
            size.
        per_class: Largest number of examples a class, drawn by `seed`; None reads all.

    Raises:
        ValueError: For another name.

    Example:
        >>> import flatviz as fv
        >>> fv.datasets.named_task("moons", shots=5).name
        'two moons, 5 shots a class, from turned moons'
    """
    kind, _, place = check_task(name).partition(":")
    if name in BUILT:
        given = {} if shots is None else {"shots": shots}
        return BUILT[name](seed=seed, **given)
    test = None
    if kind == IMAGE_FOLDER:
        folder = Path(place)
        train = folder / "train"
        two = train.is_dir() and (folder / "test").is_dir()
        data = image_folder(
            train if two else folder,
            size=size,
            per_class=per_class,
            seed=seed,
        )
        if two:
            names = data.class_names
            test = image_folder(
                folder / "test",
                size=size,
                classes=names,
                seed=seed,
            )
        title = f"images of {folder.name}"
    else:
        public = kind.replace("-", "_")
        read = partial(public_images, public, root=place, download=False)
        data = read(train=True, per_class=per_class, seed=seed)
        test = read(train=False)
        title = kind
    shots = 10 if shots is None else shots
    return halved_task(data, shots=shots, seed=seed, test=test, name=title)


def halved_task(
    whole: Data, *, shots: int, seed: int, test: Data | None = None, name: str = "halves"
) -> Task:
    """Build a task from one data set, with half of its classes as the source.

    With fewer than four classes, each half has one half of the examples of each class.
    """
    classes = whole.y.unique().tolist()
    if len(classes) >= MIN_CLASSES:
        half = (len(classes) + 1) // 2
        source = pick_classes(whole, classes[:half])
        target = pick_classes(whole, classes[half:])
        test = test if test is None else pick_classes(test, classes[half:])
        name = f"{name}: {len(classes) - half} classes, from {half} others"
    else:
        order = torch.randperm(len(whole), generator=generator(seed))
        order = order.to(whole.y.device)
        # Ordered by class, at random within each, so that every second index is one half
        ranked = order[whole.y[order].argsort(stable=True)]
        source = whole.subset(ranked[::2])
        target = whole.subset(ranked[1::2])
        name = f"{name}: {len(classes)} classes, from other examples of them"
    return transfer_task(
        source,
        target,
        shots=shots,
        seed=seed,
        test=test,
        name=name,
    )
