"""Augmentation: inputs that vary in training, once a step, and as the seed says.

A step's random numbers follow from the seed of the member, the number of the step and that of the
part of its minibatch.  So there is no state to save, and a resumed run sees the same images.
"""

import inspect
from collections.abc import Callable
from typing import Annotated

import numpy as np
import torch
from torch import Tensor

from flatviz.checks import shown
from flatviz.core import generator, random_state, saved_rng

WAY = "for instance torchvision.transforms.v2.RandomHorizontalFlip()"


def check_augment(augment: object, name: str) -> None:
    """Check for a function, which may be a module, as torchvision's transforms are."""
    if isinstance(augment, type) or not callable(augment):
        came = f"the class {augment.__name__}" if isinstance(augment, type) else shown(augment)
        raise TypeError(f"{name} must be a function of inputs, got {came}: {WAY}")


# x -> x of one example, as torchvision's transforms; or (x, generator) -> x of a minibatch
Augment = Annotated[Callable[..., Tensor], check_augment]


def takes_batch(augment: Augment) -> bool:
    """Tell whether it is of the form `f(x, generator)`, for a minibatch."""
    forward = augment.forward if isinstance(augment, torch.nn.Module) else augment
    try:
        parameters = inspect.signature(forward).parameters
    except (TypeError, ValueError):  # of a function in C
        return False
    if "generator" in parameters:
        return True
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    needed = [p for p in parameters.values() if p.kind in kinds and p.default is p.empty]
    return len(needed) == 2


def name_of(augment: Augment) -> str:
    """Return its name for errors."""
    return getattr(augment, "__qualname__", type(augment).__name__)


def seed_of(*numbers: int) -> int:
    """Mix several numbers, such as a seed and a step, into one seed."""
    (mixed,) = np.random.SeedSequence(numbers).generate_state(1, np.uint64)
    return int(mixed) >> 1


def augmented(augment: Augment, x: Tensor, seed: int) -> Tensor:
    """Return what `augment` makes of a minibatch `x` (n, ...), which it may overwrite.

    torch's random numbers in it, and its generator, which is on the device of x, begin at `seed`.

    Raises:
        TypeError: For anything but a tensor of the same shape and dtype on the same device.
    """
    with torch.inference_mode(False), torch.no_grad(), saved_rng(seed):
        if takes_batch(augment):
            device = x.device if x.device.type in ("cpu", "cuda") else "cpu"
            new = augment(x.clone(), generator(seed, device))
            _check_like(augment, new, x)
            return new
        rows = []
        for one in x.clone():
            row = augment(one)
            _check_like(augment, row, one)
            rows.append(row)
        return torch.stack(rows)


def _check_like(augment: Augment, new: object, x: Tensor) -> None:
    same = isinstance(new, Tensor) and (
        (new.shape, new.dtype, new.device) == (x.shape, x.dtype, x.device)
    )
    if same:
        return
    came = shown(new)
    if isinstance(new, Tensor) and new.device != x.device:
        came += f" on {new.device}"
    raise TypeError(
        f"augment must return {shown(x)} on {x.device}, as it gets, got {came} from"
        f" {name_of(augment)}: keep shape, dtype and device"
    )


def check_private(augment: Augment, before: tuple) -> None:
    """Check that `augment` has not moved Python's or NumPy's random numbers since `before`.

    before: what `random_state` returned.

    Raises:
        ValueError: If it has.
    """
    if random_state()[:2] != before[:2]:
        raise ValueError(
            "augment must draw by torch or by the generator that f(x, generator) gets, got"
            f" {name_of(augment)}, which moves the random numbers of Python or NumPy, so that no"
            f" seed fixes what it draws: take one that draws by torch, {WAY}"
        )
