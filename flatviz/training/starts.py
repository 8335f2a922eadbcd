"""Where the members of an ensemble start, and their training."""

from __future__ import annotations

import torch
from torch import Tensor

from flatviz.core.data import Data
from flatviz.core.net import Net
from flatviz.core.seeds import saved_rng
from flatviz.results import History
from flatviz.training.losses import training_loss
from flatviz.training.optimize import minibatches, sgd
from flatviz.training.run import Run


def starts(net: Net, seeds: list[int], *, head_only: bool) -> Tensor:
    """One start a seed, (B, D): treated weights as their layers draw them at first, all or the head's, the rest as in the net.

    A layer knows how to draw its weights by `reset_parameters`, as all of torch's do.
    """
    chosen = [b for b in net.blocks if not head_only or b.kind == "head"]
    owners, rows = {b.name.rpartition(".")[0] for b in chosen}, []
    for seed in seeds:
        module = net.to_module().cpu()
        with saved_rng(seed), torch.no_grad():
            for name, part in module.named_modules():
                if name in owners and hasattr(part, "reset_parameters"):
                    part.reset_parameters()
        w, fresh = net.w.detach().clone(), net.flatten(dict(module.named_parameters())).detach().to(net.w)
        for b in chosen:
            w[b.slice] = fresh[b.slice]
        rows.append(w)
    return torch.stack(rows)


def train_members(net: Net, data: Data, seeds: list[int], run: Run) -> tuple[Tensor, History]:
    """SGD from `starts`, of the head alone where not all weights are treated, all members together: (members, D) and the history."""
    loss = training_loss(net, data, run, len(seeds))
    batches = minibatches(len(data), run.optim.batch_size, seeds, net.device)
    return sgd(loss, starts(net, seeds, head_only=not net.treats_all), batches, run)
