"""Maps of a family beside its surface: predictions over inputs, disputed images, and extents."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor
from torch.nn.functional import adaptive_avg_pool2d
from torch.special import entr

from flatviz.core import Data, Net, Objective, Pixels, Task
from flatviz.families.members import once, predicted, with_maps
from flatviz.results import Family, Posterior, Prediction, Spectrum

RISE = 2.0  # nats above the center, at the edge of the plane
TICKS = 64  # distances at which the rise is evaluated, along each half of an axis
MARGIN = 0.8  # width of a map beyond the data, in their unit
REFERENCE_DRAWS = 100  # draws of HMC that its map averages
N_IMAGES = 8  # images at each ensemble size
MAX_CLASSES = 20  # the figures show each draw's probabilities
MAX_SIDE = 32  # px of an image's side; larger ones are averaged


def rise_distance(f: Objective, center: Tensor, spectrum: Spectrum) -> float:
    """Find the distance along two axes of `spectrum` at which f has risen by `RISE`.

    It is the largest of the four directions, and at most that of the quadratic model: a confident
    network has hardly any curvature at its center, but its loss grows further out.
    """
    largest = float(spectrum.values[0])
    model = math.sqrt(2 * RISE / largest) if largest > 0 else 1.0
    ticks = torch.linspace(0, model, TICKS + 1, dtype=center.dtype, device=center.device)
    axes = spectrum.vectors[:2].to(center)
    halves = torch.eye(len(axes)).to(center)
    directions = torch.cat([halves, -halves])
    evaluate = f.over(center, axes, coords=model * directions)
    at_center = evaluate(0 * directions[:1])
    least = float(at_center) + RISE
    first = partial(_first_risen, evaluate, ticks[1:], least)
    return max(map(first, directions))


def _first_risen(
    evaluate: Callable[[Tensor], Tensor], far: Tensor, least: float, direction: Tensor
) -> float:
    """Return the first of the distances `far` at which the loss is `least`, NaN or inf."""
    for some in far.split(TICKS // 8):  # as far out as is needed
        values = evaluate(some[:, None] * direction)
        risen = some[~(values < least)]
        if len(risen):
            return float(risen[0])
    return float(far[-1])


def has_input_maps(task: Task) -> bool:
    """Tell whether the task's inputs are points of a plane, in two classes."""
    return task.input_shape == (2,) and task.n_classes == 2


def input_maps(
    net: Net,
    task: Task,
    family: Family,
    *,
    seed: int,
    reference: Posterior | None = None,
    resolution: int = 17,
) -> Family:
    """Add the probability of class 1 over a grid of inputs to a family, for every member and size.

    `inputs`: ticks a, b (G,) of the grid; x, y: the training points; reference (G, G): of all draws
    of a reference posterior, HMC.  A member's "probs" (S, G, G): of ensemble size, b, a.
    """
    train = task.train.tensor().cpu()
    test = task.test.tensor().cpu()
    x = torch.cat([train, test])
    lowest = (x.amin(0) - MARGIN).tolist()
    highest = (x.amax(0) + MARGIN).tolist()
    a, b = (torch.linspace(lo, hi, resolution) for lo, hi in zip(lowest, highest))
    grid = {"a": a, "b": b, "x": train, "y": task.train.y.cpu()}
    family = replace(family, inputs=family.inputs | grid)
    row = partial(input_row, net, task, family, seed=seed)
    if reference is not None:
        of_reference = row(reference, REFERENCE_DRAWS)
        family.inputs["reference"] = of_reference["probs"][-1]
    rows = once(family, lambda member: row(member.posterior, family.n_draws))
    return with_maps(family, rows)


def input_row(
    net: Net,
    task: Task,
    family: Family,
    q: Posterior,
    n_draws: int,
    *,
    seed: int,
) -> dict[str, Tensor]:
    """Compute one member's predictions ("probs") on the family's grid; {} without a grid.

    They are probabilities of class 1 of ensembles of 1, 2, ... draws, (n_draws, G, G); with fewer
    draws the largest ensemble is repeated.
    """
    if "a" not in family.inputs:
        return {}
    a = family.inputs["a"]
    b = family.inputs["b"]
    points = torch.cartesian_prod(b, a).flip(1)
    points = points.to(task.train.tensor())
    prediction = predicted(net, q, points, n_draws, seed=seed)
    probs = prediction.probs[..., 1]
    maps = running_mean(probs).unflatten(1, (len(b), len(a)))
    return {"probs": repeated(maps.cpu(), n_draws)}


def running_mean(values: Tensor) -> Tensor:
    """Average the first 1, 2, ... rows, (S, ...)."""
    counts = torch.arange(1, len(values) + 1, device=values.device)
    each = [1] * (values.ndim - 1)
    return values.cumsum(0) / counts.view(-1, *each)


def repeated(rows: Tensor, n: int) -> Tensor:
    """Repeat the last row until there are `n`, as that of a larger ensemble."""
    missing = rows[-1:].repeat_interleave(n - len(rows), dim=0)
    return torch.cat([rows, missing])


def has_images(task: Task) -> bool:
    """Tell whether the task's inputs are images of one or three channels with one label each.

    There are at most `MAX_CLASSES` classes.
    """
    shape = task.test.x.shape
    are_images = len(shape) == 4 and shape[1] in (1, 3)
    return are_images and task.one_label and task.n_classes <= MAX_CLASSES


def with_pixels(task: Task, family: Family) -> Family:
    """Add to a family the `images` that its members show.

    index (K,): rows of the test split, increasing; pixels (K, H, W) or (K, H, W, 3), uint8.
    """
    if "shown" not in family[0].maps:
        return family
    shown = [member.maps["shown"].flatten() for member in family]
    index = torch.cat(shown).unique()
    images = {"index": index, "pixels": _pixels(task.test, index)}
    return replace(family, images=images)


def disputed_row(task: Task, prediction: Prediction, size: int) -> dict[str, Tensor]:
    """Compute a member's `disputed` up to an ensemble `size`: "shown" and "nats" (S, k).

    The row of a single point is repeated.  The result is {} for a task without images.
    """
    if not has_images(task):
        return {}
    rows, nats = disputed(prediction)
    return {"shown": repeated(rows, size), "nats": repeated(nats, size)}


def disputed(prediction: Prediction, n_shown: int = N_IMAGES) -> tuple[Tensor, Tensor]:
    """Rank inputs by disagreement at each ensemble size: rows (S, k), and disagreements (S, k).

    The disagreement is the mutual information between label and draw over the first n draws,
    H(mean_s p_s) - mean_s H(p_s), in nats.  It is 0 for one draw, so n = 1 shows the inputs of
    largest entropy H(p_1).  Inputs with diverged outputs come last.
    """
    probs = prediction.outputs.log_softmax(-1).double().exp()
    entropies = entr(probs).sum(-1)
    of_average = entr(running_mean(probs)).sum(-1)
    information = of_average - running_mean(entropies)
    values = torch.cat([entropies[:1], information[1:]])
    values = values.nan_to_num(nan=-1.0).cpu()
    nats, rows = values.sort(dim=1, descending=True, stable=True)
    nats = nats.clamp_min(0)
    return rows[:, :n_shown], nats[:, :n_shown]


def _pixels(data: Data, index: Tensor) -> Tensor:
    """Return the images at `index` as bytes (K, H, W) or (K, H, W, 3).

    They are scaled from the lowest value among them to the highest.
    """
    given = data.x
    index = index.to(given.device)
    if isinstance(given, Pixels):
        x = given.bytes[index]
    else:
        x = data.subset(index).tensor()
    x = x.float().cpu()
    height, width = x.shape[2:]
    scale = MAX_SIDE / max(height, width)
    if scale < 1:
        height = max(1, round(scale * height))
        width = max(1, round(scale * width))
        x = adaptive_avg_pool2d(x, (height, width))
    if isinstance(given, Pixels):
        lowest = 0.0
        span = 255.0
    else:
        lowest = float(x.min())
        span = max(float(x.max()) - lowest, 1e-12)
    levels = (x - lowest) * (255 / span)
    pixels = levels.round().to(torch.uint8)
    if pixels.shape[1] == 1:
        return pixels[:, 0]
    return pixels.permute(0, 2, 3, 1).contiguous()
