"""Recording of the path of any training loop, a user's or a trainer's."""

import math
import warnings
from collections.abc import Callable
from functools import partial
from types import TracebackType
from typing import Self

import torch
from torch import Tensor, nn
from torch.optim.optimizer import register_optimizer_step_post_hook

from flatviz.checks import Count, Several, check_count
from flatviz.core import Data, Likelihood, Net, Treated, copied, public
from flatviz.landscape.spectrum import top_eigenpairs
from flatviz.landscape.trace import hessian_trace
from flatviz.noun import History
from flatviz.objectives.network import nll

Log = Callable[[str, float, int], object]  # (name, value, step)
VALUES = ("loss", "sharpness", "lambda1", "trace")
ASCENT = 0.05  # Euclidean length of the ascent step that measures sharpness


_RECORDING: "dict[int, RecordedPath]" = {}  # paths whose blocks are running


def _after_step(optimiser: torch.optim.Optimizer, args: tuple, kwargs: dict) -> None:
    for path in list(_RECORDING.values()):
        path.after_step(optimiser)


# Registered once, as the hooks must not change while a step of another thread calls them
register_optimizer_step_post_hook(_after_step)


def measured(
    net: Net, step: int, data: Data, likelihood: Likelihood, products: int, log: Log | None
) -> dict[str, float]:
    """Measure, and log, loss, curvature and sharpness of the net on `data` after `step`."""
    f = nll(net, data, likelihood=likelihood)
    half = products // 2
    loss, g = f.value_and_grad(net.w)
    values = dict.fromkeys(VALUES, math.nan) | {"loss": float(loss)}
    if bool(loss.isfinite() & g.isfinite().all()):
        up = net.w + ASCENT * g / g.norm().clamp_min(torch.finfo(g.dtype).tiny)
        values["sharpness"] = float(f(up)) - values["loss"]
        values["lambda1"] = float(top_eigenpairs(f, net.w, 1, iters=half).values[0])
        values["trace"] = hessian_trace(f, net.w, products=half)[0]
    if log is not None:
        for name, value in values.items():
            log(name, value, step)
    return values


class RecordedPath:
    """Points that `record_path` records: a context manager while the loop runs.

    Attributes:
        W: Weights (S, D).
        steps: (S,), the step after which each was recorded.
        net: The network as it ended.
        history: With data, the loss, curvature and sharpness; `fv.plot(path.history)` draws them.
    """

    def __init__(
        self,
        module: nn.Module,
        every: int,
        most: int,
        treated: Treated,
        head: str | None,
        measure: Callable[[Net, int], dict[str, float]] | None,
    ) -> None:
        self.module = module
        self.every = every
        self._treated = treated
        self._head = head
        self._measure = measure
        self.values: dict[int, dict[str, float]] = {}  # step -> its measurements
        self.net = self._net()
        self._parameters = [module.get_parameter(b.name) for b in self.net.blocks]
        self._ids = {id(p) for p in self._parameters}
        # On the CPU, where empty pages take no memory; one row more, to detect the limit
        self._room = torch.empty(most + 1, self.net.dim, dtype=self.net.w.dtype)
        self._steps: list[int] = []
        # Steps begun, and the weights that the last one moved
        self._step = 0
        self._moved = set[int]()

    @property
    def W(self) -> Tensor:
        """Weights (S, D), a row for each of `steps`."""
        return self._room[: len(self._steps)]

    @property
    def history(self) -> History:
        """Loss, λ1, trace and sharpness at the measured points; an error without data."""
        if not self.values:
            raise ValueError("the path has no history: give record_path data=, and run the loop")
        rows = [tuple(values.values()) for values in self.values.values()]
        columns = torch.tensor(rows, dtype=torch.float64).unbind(1)
        return History(**dict(zip(VALUES, columns)), steps=torch.tensor(list(self.values)))

    @property
    def steps(self) -> tuple[int, ...]:
        """Optimiser step after which each point was noted, 0 for the start."""
        return tuple(self._steps)

    def add(self, step: int | None = None) -> None:
        """Record the module's present weights as the point after `step` (default: next)."""
        step = self._steps[-1] + 1 if step is None and self._steps else step or 0
        self._write(len(self._steps))
        if self._measure is not None:
            self.values[step] = self._measure(self._net(), step)
        self._steps.append(step)
        if len(self._steps) == len(self._room):
            # Row by row: no second copy
            for to, source in enumerate(range(0, len(self._steps), 2)):
                self._room[to] = self._room[source]
            self._steps = self._steps[::2]
            self.every = 2 * self.every

    def __enter__(self) -> Self:
        _RECORDING[id(self)] = self
        self.add(0)
        return self

    def __exit__(
        self, kind: type | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        del _RECORDING[id(self)]
        if self._step > self._steps[-1]:
            self.add(self._step)
        self.net = self._net()
        if kind is None and len(self._steps) == 1:
            warnings.warn(
                "no step of a torch.optim optimiser was seen: call path.add() in the loop",
                stacklevel=2,
            )

    def __repr__(self) -> str:
        return (
            f"RecordedPath({len(self._steps)} points, dim={self.net.dim}, steps {self._steps[:1]}"
            f" to {self._steps[-1:]})"
        )

    def _write(self, row: int) -> None:
        for block, parameter in zip(self.net.blocks, self._parameters):
            self._room[row, block.slice].copy_(parameter.detach().reshape(-1))

    def after_step(self, optimiser: torch.optim.Optimizer) -> None:
        """Note the weights after a step of this optimiser, where it moves some of them."""
        moved = {id(p) for group in optimiser.param_groups for p in group["params"]} & self._ids
        if not moved:
            return
        if moved & self._moved or not self._moved:
            self._step = self._step + 1
            self._moved = moved
            if self._step % self.every == 0:
                self.add(self._step)
        else:  # another optimiser of the same step
            self._moved |= moved
            if self._steps[-1] == self._step:
                self._write(len(self._steps) - 1)

    def _net(self) -> Net:
        return Net.from_module(copied(self.module).eval(), self._treated, head=self._head)


@public
def record_path(
    module: nn.Module,
    *,
    every: Count = 1,
    most: Several = 500,
    treated: Treated = "trainable",
    head: str | None = None,
    data: Data | None = None,
    likelihood: Likelihood = "categorical",
    products: Count = 20,
    log: Log | None = None,
) -> RecordedPath:
    """Record the weights of `module` while any loop trains it.

    Use it as `with fv.record_path(module, every=10) as path: ...`.  Weights are recorded at the
    start, after every `every`-th step of a `torch.optim` optimiser of some of them, and at the end.
    A loop without an optimiser calls `path.add()` itself.  Then `path.W` (S, D) is the input of
    `plane_path` and `project`, and `path.net` the network as it ended, for `nll(path.net, data)`.

    The module, its gradients and the random state are not changed.  BatchNorm statistics on the way
    are not recorded.  A loop without a step is a warning.

    Args:
        module: The network that the loop trains.
        every: Optimiser steps from one point to the next.
        most: Points kept; once there are more, every second one is dropped and `every` doubles,
            which bounds the memory of a long run.
        treated: Weights recorded, D of them, as in `Net.from_module`.
        head: Name of the head's module, as in `Net.from_module`.
        data: Examples, a batch or two, on which `path.history` has, at each point, the loss, λ1 and
            trace of its Hessian and the sharpness, the loss gained by a step of 0.05 up the
            gradient, of the module in evaluation mode.  Choose `every` by what that takes.
        likelihood: Likelihood of the loss, as in `fv.nll`.
        products: Hessian products of a measurement, at least 12, half for λ1 and half for the
            trace.
        log: Function called with (name, value, step) of each value, as TensorBoard's
            `SummaryWriter().add_scalar`; for W&B `lambda name, value, step: run.log({name: value},
            step=step)`, for a file `lambda *row: csv.writer(file).writerow(row)`.

    Raises:
        ValueError: For a module that `Net.from_module` refuses (dropout is allowed); for data on
            which it cannot be evaluated.

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
    check_count(products, "products", least=12)
    measure = None
    if data is not None:
        measure = partial(measured, data=data, likelihood=likelihood, products=products, log=log)
    return RecordedPath(module, every, most, treated, head, measure)
