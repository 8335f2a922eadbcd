"""How a minibatch goes through the network: in which precision, in how many parts, on how many processes."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import Tensor

from flatviz.checks import check_choice, check_count, kind

PRECISIONS = (None, "bfloat16")
Network = Callable[[Tensor, Tensor], Tensor]  # (w (D,), x (n, ...)) -> outputs (n, C)


@dataclass(frozen=True, eq=False)
class Passes:
    """How each minibatch is passed; the default is one plain pass in the weights' own precision.

    precision: "bfloat16" autocasts the network's products; weights, gradients, posterior and perturbation stay as they are.
    accumulate: parts of a minibatch that go one after another, their gradients averaged: less memory, the same step.
    parallel: each process of a `torchrun` takes its share of the minibatch; gradients are averaged over processes.
    """

    precision: str | None = None
    accumulate: int = 1
    parallel: bool = False

    def __post_init__(self) -> None:
        check_choice(self.precision, PRECISIONS, "precision")
        check_count(self.accumulate, "accumulate")
        kind(bool, "True or False")(self.parallel, "parallel")
        if self.parallel:
            join_processes()

    def check_weights(self, w: Tensor) -> None:
        """ValueError where the precision is reduced and the weights are no float32, which autocast leaves as they are."""
        if self.precision is not None and w.dtype != torch.float32:
            raise ValueError(
                f"precision={self.precision!r} needs weights in float32, got {w.dtype}: net.to(dtype=torch.float32)"
            )

    @property
    def whole(self) -> bool:
        """Whether a minibatch goes through in one piece, here."""
        return self.accumulate == 1 and not self.parallel

    @property
    def leads(self) -> bool:
        """Whether this process reports and saves: the first one does, or the only one."""
        return not self.parallel or dist.get_rank() == 0

    def outputs(self, network: Network, w: Tensor, x: Tensor) -> Tensor:
        """network(w, x) in this precision, given back in that of `w`; images in channels-last order where that is faster."""
        if isinstance(x, Tensor) and x.ndim == 4 and (w.is_cuda or self.precision is not None):
            x = x.contiguous(memory_format=torch.channels_last)
        with self.autocast(w):
            return network(w, x).to(w.dtype)

    def autocast(self, w: Tensor) -> AbstractContextManager:
        """The block in which the network's products are computed in this precision, on the device of `w`."""
        return nullcontext() if self.precision is None else torch.autocast(w.device.type, dtype=torch.bfloat16)

    def in_parts(self, value_and_grad: Network, w: Tensor, index: Tensor | None, n: int) -> tuple[Tensor, Tensor]:
        """Mean loss and gradient of a minibatch, from `value_and_grad(w, part)` of its parts here and in all processes.

        index: (batch,), (B, batch) for weights (B, D), or None for all n examples.
        """
        if index is None:
            index = torch.arange(n, device=w.device).expand(*w.shape[:-1], n)
        total, here = index.shape[-1], index
        if self.parallel:
            here = index[..., dist.get_rank() :: dist.get_world_size()]
        value, g = w.new_zeros(w.shape[:-1]), torch.zeros_like(w)
        for part in here.tensor_split(min(self.accumulate, max(1, here.shape[-1])), -1):
            if share := part.shape[-1] / total:
                one, its_g = value_and_grad(w, part)
                value.add_(one, alpha=share)
                g.add_(its_g, alpha=share)
        if self.parallel:
            both = torch.cat([g.reshape(-1), value.reshape(-1)])
            dist.all_reduce(both)
            g, value = both[: g.numel()].view_as(g), both[g.numel() :].view_as(value)
        return value, g

    def agreed(self, flag: bool, device: torch.device) -> bool:
        """The flag of the first process, in all of them."""
        if not self.parallel:
            return flag
        shared = torch.tensor([float(flag)], device=device)
        dist.broadcast(shared, 0)
        return bool(shared)

    def average(self, tensors: list[Tensor]) -> None:
        """Floating tensors replaced, in place, by their means over processes."""
        if not self.parallel or not (floating := [t for t in tensors if t.is_floating_point()]):
            return
        flat = torch.cat([t.reshape(-1) for t in floating])
        dist.all_reduce(flat)
        for t, mean in zip(floating, (flat / dist.get_world_size()).split([t.numel() for t in floating])):
            t.copy_(mean.view_as(t))


def join_processes() -> None:
    """Join the processes that `torchrun` started, unless the script has done so.  Raises ValueError where there are none."""
    if dist.is_available() and dist.is_initialized():
        return
    if not dist.is_available() or "WORLD_SIZE" not in os.environ:
        raise ValueError(
            "parallel=True needs processes, got a script run by itself: torchrun --nproc-per-node=2 script.py, in which each "
            "process holds net and data, on a GPU of its own where there are several: net.to(f'cuda:{os.environ[\"LOCAL_RANK\"]}')"
        )
    dist.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
