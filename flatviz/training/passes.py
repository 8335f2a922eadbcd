"""`Training`: how minibatches go through the network (precision, parts, processes), and when a fit stops early."""

import os
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from types import NoneType

import torch
import torch.distributed as dist
from torch import Tensor

from flatviz.checks import check_choice, check_count, kind
from flatviz.core import Data

PRECISIONS = (None, "bfloat16")
Network = Callable[[Tensor, Tensor], Tensor]  # (w (D,), x (n, ...)) -> outputs (n, C)


@dataclass(frozen=True, eq=False)
class Training:
    """How a fit goes through its examples, whatever it minimises: `training=fv.Training(...)`.

    `pretrain`, `train_pool` and every `fit_*` that takes gradient steps have it: all but `fit_hmc`; `fit_ptl` hands on its `settings=`.

    Args:
        precision: "bfloat16" computes the network's products in that type (autocast); weights, gradients, posterior and
            perturbation stay in float32.
        accumulate: parts of a minibatch that pass one after another: the same gradient in less memory; BatchNorm then
            normalises each part by itself.
        parallel: share each minibatch among the processes that `torchrun --nproc-per-node=2 script.py` started, averaging
            gradients; batch_size is of all together, every process holds net and data and draws the same noise, and
            BatchNorm normalises each share.
        validation: the parameters returned are those with the least loss on it (a Gaussian's at its mean; of an ensemble
            each member's own), checked once an epoch and at most 50 times; `history.validation` holds it.
        patience: checks without a lower loss that end the run.

    Chains, SWAG and pools, which have no one best place, take no validation; dropout and a sampled trunk, which draw noise for
    a whole minibatch, take of the first three precision alone.
    Raises ValueError for a value out of range, and parallel=True in a script that `torchrun` did not start.

    Example:
        >>> import flatviz as fv
        >>> task = fv.datasets.moons_transfer(seed=0)
        >>> net = fv.Net.from_module(fv.models.mlp(task, hidden=(8,), seed=0))
        >>> how = fv.Training(accumulate=2, validation=task.source, patience=3)
        >>> len(fv.fit_sgd(net, task.train, seed=0, training=how).history.validation) < 50  # it stopped early
        True
    """

    made_by = "make one, fv.Training(accumulate=2)"

    precision: str | None = None
    accumulate: int = 1
    parallel: bool = False
    validation: Data | None = None
    patience: int = 10

    def __post_init__(self) -> None:
        check_choice(self.precision, PRECISIONS, "precision")
        check_count(self.accumulate, "accumulate")
        check_count(self.patience, "patience")
        kind(bool, "True or False")(self.parallel, "parallel")
        kind((Data, NoneType), "a Data", "task.validation is one")(self.validation, "validation")
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
