"""What the front end needs to draw the images on which draws disagree: pixels once, and each member's probabilities as bytes."""

from __future__ import annotations

import base64
from typing import Any

import torch
from torch import Tensor

from flatviz.plots.theme import style
from flatviz.results import Family

LEVELS = 254  # of a probability as one byte, so within 1 / 508 of what it was; 255: diverged


def pixels_of(family: Family, rows: Tensor) -> dict[str, Any]:
    """Images at these rows of the test split, as text: their rows, the shape (H, W) or (H, W, 3) of one, and all bytes."""
    pixels = family.images["pixels"][torch.searchsorted(family.images["index"], rows)]
    return {"rows": rows.tolist(), "shape": list(pixels.shape[1:]), "pixels": _text(pixels)}


def member_images(family: Family, i: int) -> dict[str, Any]:
    """Member i's images at every ensemble size, and what each draw says of them.

    pool (P): rows of the test split that it shows at any size, `labels` theirs; shown[n - 1]: places in the pool of those shown
    at ensemble size n, with `nats` of disagreement; probs: of draw, image of the pool and class, as bytes of `LEVELS`.
    """
    prediction, shown, nats = family[i].prediction, family[i].maps["shown"], family[i].maps["nats"]
    pool = shown.unique()
    probs = prediction.outputs[:, pool].log_softmax(-1).exp().cpu()
    return {
        "pool": pool.tolist(),
        "labels": prediction.y[pool].tolist(),
        "shown": torch.searchsorted(pool, shown).tolist(),
        "nats": [[round(float(v), 3) for v in row] for row in nats],
        "n_draws": prediction.n_draws,
        "classes": list(prediction.classes),
        "color": style(family[i].method).color,
        "probs": _text((probs * LEVELS).round().nan_to_num(nan=LEVELS + 1).to(torch.uint8)),
    }


def _text(values: Tensor) -> str:
    return base64.b64encode(values.contiguous().numpy().tobytes()).decode()
