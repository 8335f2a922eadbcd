"""The first hot primitive: run several weight vectors over data."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from flatviz.core.net import Net
from flatviz.core.progress import Progress, track
from flatviz.engine.determinism import check_function, spared, work_of


def forward(net: Net, W: Tensor, x: Tensor, *, chunk: int | None = None, progress: Progress = False) -> Tensor:
    """Outputs (S, N, C) of weight vectors `W` (S, D) on inputs `x` (N, ...), without gradients.

    chunk: examples a batch; default: as many as keep its largest activation within `probe.CACHE` bytes (CARD on a GPU),
    at least `probe.LEAST`.  Raises ValueError for several batches of a net whose outputs depend on the rest of a batch.
    """
    if chunk is None:
        chunk = work_of(net, x).chunk(x.device)
    net = spared(net, x) if chunk >= len(x) else check_function(net, x)[0]
    rows = []
    with torch.inference_mode():
        for w in track(W, "predicting", progress):
            rows.append(torch.cat([net(w, part) for part in x.split(chunk)]))
        out = torch.stack(rows)
    return out.clone()  # a tensor made in inference mode cannot be used in autograd; its copy can


def forward_sum(
    net: Net,
    W: Tensor,
    x: Tensor,
    y: Tensor,
    quantity: Callable[[Tensor, Tensor], Tensor],
    *,
    chunk: int,
    progress: Progress = False,
    label: str = "evaluating",
) -> Tensor:
    """Sum over examples of `quantity(outputs, y)`, a sum itself, for each weight vector; (S,).

    `chunk` examples a batch; the net is one that `check_function` gave.
    """
    parts = list(zip(x.split(chunk), y.split(chunk)))
    values = []
    with torch.inference_mode():
        for w in track(W, label, progress):
            values.append(sum(quantity(net(w, xs), ys) for xs, ys in parts))
        out = torch.stack(values)
    return out.clone()
