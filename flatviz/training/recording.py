"""The path of any training loop, recorded while it runs: the user's own, or a trainer's of another library."""

from __future__ import annotations

import warnings
from types import TracebackType

import torch
from torch import Tensor, nn
from torch.optim.optimizer import register_optimizer_step_post_hook

from flatviz.checks import Count, Several
from flatviz.core import Net, Treated, copied, public


@public
def record_path(
    module: nn.Module, *, every: Count = 1, most: Several = 500, treated: Treated = "trainable", head: str | None = None
) -> RecordedPath:
    """Record the weights of `module` while any loop trains it: `with fv.record_path(module, every=10) as path: ...`.

    Weights are noted at the start, after every `every`-th step of a `torch.optim` optimiser that holds some of them, and at
    the end.  A loop without such an optimiser calls `path.add()` itself.  Then `path.W` (S, D) goes into `plane_path`,
    `project`, and `path.net` is the network as it ended, for `nll(path.net, data)`.

    most: points kept; once there are more, every second one is dropped and `every` doubles, so that a long run takes no more
        room than this.
    treated, head: which weights, as in `Net.from_module`.
    The module, its gradients and the random state are left alone.  Not recorded: BatchNorm statistics on the way.

    A loop without a step is a warning.

    Raises:
        ValueError: For a module that `Net.from_module` refuses; dropout may be on.

    Example:
        >>> import torch, flatviz as fv
        >>> module = torch.nn.Linear(3, 1)
        >>> optimiser = torch.optim.Adam(module.parameters())
        >>> with fv.record_path(module, every=5) as path:
        ...     for _ in range(20):
        ...         optimiser.zero_grad()
        ...         module(torch.randn(8, 3)).square().mean().backward()
        ...         _ = optimiser.step()
        >>> path.steps, path.W.shape, fv.planes.plane_path(path.W).name
        ((0, 5, 10, 15, 20), torch.Size([5, 4]), 'PCA of a path of 5 points')
    """
    return RecordedPath(module, every, most, treated, head)


class RecordedPath:
    """What `record_path` gives: a context manager while the loop runs, and then its points.

    W: weights (S, D).  steps: after which step each was, (S,).  net: the network as it ended.
    """

    def __init__(self, module: nn.Module, every: int, most: int, treated: Treated, head: str | None) -> None:
        self.module, self.every, self._treated, self._head = module, every, treated, head
        self.net = self._net()
        parameters = dict(module.named_parameters())
        self._parameters = [parameters[b.name] for b in self.net.blocks]
        self._held = {id(p) for p in self._parameters}
        self._rows = most + 1  # one more than is kept: it shows that there are too many
        self._room = torch.empty(self._rows, self.net.dim, dtype=self.net.w.dtype)  # on the CPU; empty pages take no memory
        self._steps: list[int] = []
        self._step, self._moved = 0, set[int]()  # steps begun, and what the last one has moved

    @property
    def W(self) -> Tensor:
        """Weights (S, D), a row for each of `steps`."""
        return self._room[: len(self._steps)]

    @property
    def steps(self) -> tuple[int, ...]:
        """After which optimiser step each point was, 0 for the start."""
        return tuple(self._steps)

    def add(self, step: int | None = None) -> None:
        """Note where the module stands now, as the point after `step` (default: one after the last)."""
        step = self._steps[-1] + 1 if step is None and self._steps else step or 0
        self._write(len(self._steps))
        self._steps.append(step)
        if len(self._steps) == self._rows:
            self._thin()

    def __enter__(self) -> RecordedPath:
        self._hook = register_optimizer_step_post_hook(self._after_step)
        self.add(0)
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._hook.remove()
        if self._step > self._steps[-1]:
            self.add(self._step)
        self.net = self._net()
        if kind is None and len(self._steps) == 1:
            warnings.warn("no step of a torch.optim optimiser was seen: call path.add() in the loop", stacklevel=2)

    def __repr__(self) -> str:
        return f"RecordedPath({len(self._steps)} points, dim={self.net.dim}, steps {self._steps[:1]} to {self._steps[-1:]})"

    def _write(self, row: int) -> None:
        for block, parameter in zip(self.net.blocks, self._parameters):
            self._room[row, block.slice].copy_(parameter.detach().reshape(-1))

    def _after_step(self, optimiser: torch.optim.Optimizer, args: tuple, kwargs: dict) -> None:
        moved = {id(p) for group in optimiser.param_groups for p in group["params"]} & self._held
        if not moved:
            return
        if moved & self._moved or not self._moved:
            self._step, self._moved = self._step + 1, moved
            if self._step % self.every == 0:
                self.add(self._step)
        else:  # another optimiser of the same step
            self._moved |= moved
            if self._steps[-1] == self._step:
                self._write(len(self._steps) - 1)

    def _thin(self) -> None:
        kept = range(0, len(self._steps), 2)
        for to, source in enumerate(kept):  # row by row: no second copy
            self._room[to] = self._room[source]
        self._steps, self.every = [self._steps[i] for i in kept], 2 * self.every

    def _net(self) -> Net:
        return Net.from_module(copied(self.module).eval(), self._treated, head=self._head)
