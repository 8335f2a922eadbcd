"""Outputs of one network at several weight vectors, one after another."""

from __future__ import annotations

import torch
from torch import Tensor

from flatviz.core.inputs import Inputs
from flatviz.core.net import Net
from flatviz.core.progress import Progress, track
from flatviz.core.threads import threads
from flatviz.engine.determinism import check_function, work_of


def forward(net: Net, W: Tensor, x: Tensor | Inputs, *, chunk: int | None = None, progress: Progress = False) -> Tensor:
    """Outputs (S, N, C) of weight vectors `W` (S, D) on inputs `x` (N, ...), without gradients.

    chunk: examples a batch; default: as many as keep its largest activation within `determinism.CACHE` bytes (CARD on a GPU),
    at least `determinism.LEAST`.

    Raises:
        ValueError: For several batches of a net whose outputs depend on the rest of a batch.
    """
    work = work_of(net, x)
    chunk = work.chunk(x.device) if chunk is None else chunk
    if chunk < len(x):
        check_function(net, x)
    with torch.no_grad(), threads(work.layer * min(chunk, len(x))):  # inference mode refuses gradients inside a forward pass
        if isinstance(x, Tensor):
            parts = x.split(chunk)
            return torch.stack([torch.cat([net(w, part) for part in parts]) for w in track(W, "predicting", progress)])
        parts = track(
            x.split(chunk), "predicting", progress, total=-(-len(x) // chunk)
        )  # each batch is read once, for all weights
        return torch.cat([torch.stack([net(w, part) for w in W]) for part in parts], dim=1)
