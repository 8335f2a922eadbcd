"""The images of a task on which the draws of a posterior disagree most, for every ensemble size."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor
from torch.nn.functional import adaptive_avg_pool2d
from torch.special import entr

from flatviz.core.data import Data, Task
from flatviz.core.inputs import Pixels
from flatviz.results import Family, Prediction

N_IMAGES = 8  # images at each ensemble size
MOST_CLASSES = 20  # of which each draw's probabilities are drawn
MOST_SIDE = 32  # px of an image; larger ones are averaged down


def has_images(task: Task) -> bool:
    """Whether the task's inputs are images of one or three channels, in no more than `MOST_CLASSES` classes."""
    shape = task.test.x.shape
    return len(shape) == 4 and shape[1] in (1, 3) and task.n_classes <= MOST_CLASSES


def with_pixels(task: Task, family: Family) -> Family:
    """The family with `images` of all that its members show.

    index (K,): rows of the test split, rising; pixels (K, H, W) or (K, H, W, 3), uint8.
    """
    if "shown" not in family[0].maps:
        return family
    index = torch.cat([m.maps["shown"].flatten() for m in family]).unique()
    return replace(family, images=dict(index=index, pixels=_pixels(task.test, index)))


def disputed_row(task: Task, prediction: Prediction, size: int) -> dict[str, Tensor]:
    """A member's `disputed` up to an ensemble `size`, "shown" and "nats" (S, k): a point is every ensemble, its row is repeated.

    {} where the task has no images.
    """
    if not has_images(task):
        return {}
    return {name: torch.cat([t, t[-1:].expand(size - len(t), -1)]) for name, t in zip(("shown", "nats"), disputed(prediction))}


def disputed(prediction: Prediction, n_shown: int = N_IMAGES) -> tuple[Tensor, Tensor]:
    """Rows (S, k) of the inputs with the largest disagreement at each ensemble size n = 1 .. S, and the disagreement (S, k).

    Mutual information between label and draw over the first n draws, H(mean_s p_s) - mean_s H(p_s), in nats; one draw
    disagrees with nobody, so n = 1 shows the inputs of its largest entropy H(p_1).  Inputs with diverged outputs come last.
    """
    probs = prediction.outputs.log_softmax(-1).double().exp()
    n = torch.arange(1, len(probs) + 1, device=probs.device).double()
    total, alone = (entr(p).sum(-1) for p in (probs.cumsum(0) / n[:, None, None], probs))
    shared = total - alone.cumsum(0) / n[:, None]
    values = torch.cat([alone[:1], shared[1:]]).nan_to_num(nan=-1.0).cpu()
    nats, rows = values.sort(dim=1, descending=True, stable=True)
    return rows[:, :n_shown], nats[:, :n_shown].clamp_min(0)


def _pixels(data: Data, index: Tensor) -> Tensor:
    """The images at `index` as bytes (K, H, W) or (K, H, W, 3), from the lowest value among them to the highest."""
    here = index.to(data.x.device)
    x = (data.x.bytes[here].float() if isinstance(data.x, Pixels) else data.batch(here)[0].float()).cpu()
    if max(x.shape[2:]) > MOST_SIDE:
        scale = MOST_SIDE / max(x.shape[2:])
        x = adaptive_avg_pool2d(x, [max(1, round(scale * side)) for side in x.shape[2:]])
    lo, hi = (0.0, 255.0) if isinstance(data.x, Pixels) else (float(x.min()), float(x.max()))
    pixels = ((x - lo) * (255 / max(hi - lo, 1e-12))).round().to(torch.uint8)
    return pixels[:, 0] if pixels.shape[1] == 1 else pixels.permute(0, 2, 3, 1).contiguous()
