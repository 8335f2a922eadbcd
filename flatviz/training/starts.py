"""Where the members of an ensemble start, and their training."""

from __future__ import annotations

import torch
from torch import Tensor

from flatviz.checks import check_choice
from flatviz.core.data import Data
from flatviz.core.net import Net
from flatviz.core.seeds import saved_rng
from flatviz.results import History
from flatviz.training.losses import training_loss
from flatviz.training.optimize import minibatches, sgd
from flatviz.training.run import Run

STARTS = ("auto", "fresh", "head", "here")


def starts(net: Net, seeds: list[int], start: str) -> Tensor:
    """One start a seed, (B, D).

    "fresh": all treated weights as their layers draw them at first; "head": the head alone, the rest where the net
    stands; "here": where the net stands.  "auto": fresh where all weights are treated, else head where there is one.
    A layer knows how to draw its weights by `reset_parameters`, as all of torch's do.

    Raises:
        ValueError: Where "head" finds none among the treated weights.
    """
    check_choice(start, STARTS, "start")
    has_head = any(b.kind == "head" for b in net.blocks)
    if start == "auto":
        start = "fresh" if net.treats_all else "head" if has_head else "here"
    if start == "head" and not has_head:
        raise ValueError("start='head' needs a treated head, got none: use treated='norm+head', or start='here'")
    return torch.stack([_one(net, seed, start) for seed in seeds])


def train_members(net: Net, data: Data, seeds: list[int], start: str, run: Run) -> tuple[Tensor, History]:
    """SGD from `starts`, all members together: (members, D) and the history."""
    loss = training_loss(net, data, run, len(seeds))
    batches = minibatches(len(data), run.optim.batch_size, seeds, net.device)
    return sgd(loss, starts(net, seeds, start), batches, run)


def _one(net: Net, seed: int, start: str) -> Tensor:
    if start == "here":
        return net.w.detach().clone()
    chosen = [b for b in net.blocks if start == "fresh" or b.kind == "head"]
    owners = {b.name.rpartition(".")[0] for b in chosen}
    module = net.to_module().cpu()
    with saved_rng(seed), torch.no_grad():
        for name, part in module.named_modules():
            if name in owners and hasattr(part, "reset_parameters"):
                part.reset_parameters()
    w, fresh = net.w.detach().clone(), net.flatten(dict(module.named_parameters())).detach().to(net.w)
    for b in chosen:
        w[b.slice] = fresh[b.slice]
    return w
