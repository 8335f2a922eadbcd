"""1,797 real scans of handwritten digits, 8 x 8 pixels, shipped inside scikit-learn: a transfer task with no download."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from flatviz.checks import Count, NonNegative, Seed, Whole
from flatviz.core.boundary import public
from flatviz.core.data import Data, Task
from flatviz.core.seeds import generator, saved_rng
from flatviz.datasets.corruptions import affine
from flatviz.datasets.few_shot import MOST_VALIDATION, hold_out

N_CLASSES, N_SOURCE = 10, 700


@public
def digits_transfer(*, shots: Count = 10, seed: Seed = 0, degrees: NonNegative = 90.0, validation: Whole | None = None) -> Task:
    """Source: 700 digits turned by 90 degrees.  Target: `shots` upright digits a class.  Test: all the rest, upright.

    The splits are disjoint.  Pixels are scaled to 0..1; x (N, 1, 8, 8).

    Args:
        shots: training digits a class.
        seed: draws the splits.
        degrees: by which the source is turned, counter-clockwise: how far apart the two domains are; multiples of 90 move pixels
            without change, other angles interpolate.
        validation: digits a class taken out of the test split to choose settings on; None: as many as the shots, at most 15;
            0: no validation split.

    Raises:
        ValueError: For more shots than there are digits.
    """
    with saved_rng():  # its import draws random numbers
        from sklearn.datasets import load_digits  # when asked for: who computes on tensors need not have it
    scans = load_digits()
    x = torch.as_tensor(scans.images, dtype=torch.float32)[:, None] / 16
    y = torch.as_tensor(scans.target, dtype=torch.long)
    order = torch.randperm(len(x), generator=generator(seed))
    source, rest = order[:N_SOURCE], order[N_SOURCE:]
    available = int(torch.bincount(y[rest], minlength=N_CLASSES).min())
    held_out = min(shots, MOST_VALIDATION) if validation is None else validation
    most = available - (2 * held_out if held_out else 0)  # hold_out takes no more than half of what is left
    if shots >= most:
        raise ValueError(f"shots must be below {most}, so that every class is left to test on, got {shots}")
    few = torch.cat([rest[y[rest] == c][:shots] for c in range(N_CLASSES)])
    index = rest[~torch.isin(rest, few)]
    test, chosen_on = Data(x[index], y[index]), None
    if held_out:
        chosen_on, test = hold_out(test, held_out, seed=seed)
    return Task(
        Data(_turned(x[source], degrees), y[source]),
        Data(x[few], y[few]),
        test,
        n_classes=N_CLASSES,
        name=f"digits, {shots} shots a class, from {'rotated digits' if degrees == 90 else f'digits turned by {degrees:g} degrees'}",
        validation=chosen_on,
    )


def _turned(x: Tensor, degrees: float) -> Tensor:
    """Images (N, C, H, W) turned counter-clockwise."""
    quarters = float(degrees) / 90
    if quarters.is_integer():
        return torch.rot90(x, int(quarters), dims=(2, 3)).contiguous()
    return affine(x, angle=math.radians(degrees))
