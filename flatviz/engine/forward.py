"""Outputs of one network at several weight vectors, one after another."""

from __future__ import annotations

import torch
from torch import Tensor

from flatviz.core.net import Net
from flatviz.core.progress import Progress, track
from flatviz.engine.determinism import check_function, work_of


def forward(net: Net, W: Tensor, x: Tensor, *, chunk: int | None = None, progress: Progress = False) -> Tensor:
    """Outputs (S, N, C) of weight vectors `W` (S, D) on inputs `x` (N, ...), without gradients.

    chunk: examples a batch; default: as many as keep its largest activation within `determinism.CACHE` bytes (CARD on a GPU),
    at least `determinism.LEAST`.  Raises ValueError for several batches of a net whose outputs depend on the rest of a batch.
    """
    if chunk is None:
        chunk = work_of(net, x).chunk(x.device)
    if chunk < len(x):
        check_function(net, x)
    rows = []
    with torch.inference_mode():
        for w in track(W, "predicting", progress):
            rows.append(torch.cat([net(w, part) for part in x.split(chunk)]))
        out = torch.stack(rows)
    return out.clone()  # a tensor made in inference mode cannot be used in autograd; its copy can
