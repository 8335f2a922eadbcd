"""The plane in which draws vary most."""

from __future__ import annotations

import torch
from torch import Tensor

from flatviz._checks import check_many_weights
from flatviz.results import Draws, Plane

MARGIN = 1.15  # how far beyond the outermost draw the default extent reaches
NARROWEST = 0.8  # its shorter side over its longer one: a strip is hard to read


def plane_pca(draws: Tensor | Draws, *, name: str | None = None) -> Plane:
    """First two principal axes of weight vectors (S, D), through their mean; orthonormal, unit: distance.

    `explained` states their share of the draws' variance: what the picture does not show is the rest.
    Raises ValueError for fewer than three draws, or draws on one line.
    """
    W = check_many_weights(draws.W if isinstance(draws, Draws) else draws)
    if len(W) < 3:
        raise ValueError(f"a PCA plane needs at least 3 draws, got {len(W)}: draw more, or use plane_random")
    origin = W.mean(0)
    centred = (W - origin).double()
    _, scale, axes = torch.linalg.svd(centred, full_matrices=False)
    if scale[1] <= 1e-6 * scale[0]:
        raise ValueError("a PCA plane needs draws that span two directions, got draws on one line: use slice_line")
    axes = axes[:2]
    signs = axes.gather(1, axes.abs().argmax(1, keepdim=True)).sign()  # a sign is free: fix it, or pictures flip
    axes = axes * signs
    share = (scale[:2].square() / scale.square().sum()).tolist()
    reach = MARGIN * (centred @ axes.T).abs().amax(0)
    reach = torch.maximum(reach, NARROWEST * reach.max()).tolist()
    return Plane(
        origin,
        axes.to(W.dtype),
        "distance in weight space",
        name=name or f"PCA of {len(W)} draws",
        explained=(share[0], share[1]),
        extent=((-reach[0], reach[0]), (-reach[1], reach[1])),
    )
