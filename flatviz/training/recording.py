"""Recording of the path of any training loop, a user's or a trainer's."""

import math
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

import torch
from torch import Tensor, nn
from torch.optim.optimizer import register_optimizer_step_post_hook

from flatviz.checks import Count, Positive, Several, check_count
from flatviz.core import SAM, Data, Likelihood, Net, Treated, copied, public
from flatviz.landscape.spectrum import top_eigenpairs
from flatviz.landscape.trace import hessian_trace
from flatviz.noun import History
from flatviz.objectives.network import nll

Log = Callable[[str, float, int], object]  # (name, value, step)
VALUES = ("loss", "sharpness", "lambda1", "trace")
ASCENT = SAM(0.05)  # the step up the gradient, whose gain of loss is the sharpness

_RECORDING: "dict[int, RecordedPath]" = {}  # id -> path whose `with` block is running


def _after_step(optimiser: torch.optim.Optimizer, args: tuple, kwargs: dict) -> None:
    """Tell every running path that this optimiser has made a step."""
    for path in list(_RECORDING.values()):
        path.after_step(optimiser)


# Registered once for all paths: torch's dict of hooks must not change while a step in another
# thread calls them
register_optimizer_step_post_hook(_after_step)


@dataclass(eq=False)
class Measurements:
    """Measurements of loss, curvature and sharpness on `data` along a loop.

    They take at most `budget` percent of the time that the loop itself takes.
    """

    data: Data
    likelihood: Likelihood
    budget: float
    products: int
    log: Log | None
    # In seconds: time on the clock at the start, then durations
    began: float = 0.0
    looped: float = 0.0  # of the loop without measurements
    spent: float = 0.0  # of all measurements
    cost: float = 0.0  # of the last measurement
    offered: int = 0  # points, measured or not
    # A row for each measured point: its step, then its `VALUES`
    rows: list[tuple[float, ...]] = field(default_factory=list)

    def start(self) -> None:
        """Start the clock of the loop, or go on after a pause."""
        self.began = time.perf_counter() - self.looped - self.spent

    def again(self, net: Callable[[], Net | None], step: int) -> None:
        """Measure the net anew after `step`, if it was measured before all optimisers moved it."""
        if self.rows and self.rows[-1][0] == step:
            self.rows.pop()
            self.offered -= 1
            self.at(net, step, always=True)

    def finish(self, net: Net | None, step: int) -> None:
        """Measure the last point, if it was not measured when it was offered."""
        if self.rows[-1][0] < step:
            self.offered -= 1
            self.at(lambda: net, step, always=True)

    def at(
        self,
        net: Callable[[], Net | None],
        step: int,
        always: bool = False,
    ) -> None:
        """Measure the net after `step`, if the budget leaves time for it and for the end.

        always: measure it anyway.
        """
        now = time.perf_counter()
        self.looped = now - self.began - self.spent
        spent_at_the_end = self.spent + 2 * self.cost  # with this measurement and the last one
        if always or spent_at_the_end <= self.budget / 100 * self.looped:
            self.measure(net(), step)
            self.cost = time.perf_counter() - now
            self.spent += self.cost
        self.offered += 1

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks on what the budget allowed."""
        notes = []
        measured = len(self.rows)
        skipped = self.offered - measured
        if skipped:
            notes.append(
                f"{skipped} of {self.offered} points were not measured: the budget is"
                f" {self.budget:g} %"
            )
        percent = 100 * self.spent / max(self.looped, 1e-9)
        if measured == 2 and percent > self.budget:
            notes.append(
                f"start and end took {percent:.3g} % of the loop's time, the budget is"
                f" {self.budget:g} %"
            )
        return tuple(notes)

    def measure(self, net: Net | None, step: int) -> None:
        """Store and log the values of the net; all but the loss are NaN where it diverged.

        Without a net, for weights that are not finite, the loss is NaN too.
        """
        values = dict.fromkeys(VALUES, math.nan)
        if net is not None:
            values |= self._values(net)
        self.rows.append((step, *values.values()))
        if self.log is not None:
            for name, value in values.items():
                self.log(name, value, step)

    def _values(self, net: Net) -> dict[str, float]:
        """Compute the loss, and where it and its gradient are finite the other values."""
        f = nll(net, self.data, likelihood=self.likelihood)
        half = self.products // 2  # of the Hessian products for λ1, half for the trace
        loss, g = f.value_and_grad(net.w)
        values = {"loss": float(loss)}
        if loss.isfinite() & g.isfinite().all():
            spectrum = top_eigenpairs(f, net.w, 1, iters=half)
            raised = f(net.w + ASCENT(net.w, g))
            values["sharpness"] = float(raised - loss)
            values["lambda1"] = float(spectrum.values[0])
            values["trace"] = hessian_trace(f, net.w, products=half)[0]
        return values


class RecordedPath:
    """Weights along a training loop, recorded while the loop runs inside `with path:`.

    Attributes:
        W: Weights (S, D).
        steps: (S,), the step after which each was recorded.
        net: The network as it ended; of a loop that diverged, at its last finite point.
        history: With data, the loss, curvature and sharpness; `fv.plot(path.history)` draws them.
    """

    watch: Measurements | None = None

    def __init__(
        self,
        module: nn.Module,
        every: int,
        most: int,
        treated: Treated,
        head: str | None,
    ) -> None:
        self.module = module
        self.every = every
        # Even, so that one point more is an odd number, of which `add` keeps first and last
        self._most = most - most % 2
        self._treated = treated
        self._head = head
        self.net = self._copy()
        self._parameters = [module.get_parameter(b.name) for b in self.net.blocks]
        self._ids = {id(p) for p in self._parameters}
        self._points: list[Tensor] = []
        self._steps: list[int] = []
        self._step = 0  # steps of the loop so far
        self._last_added = 0  # step of the last call of `add`
        self._n_added = 0  # its calls so far
        self._thinned = 1  # of so many calls one is recorded
        self._moved = set[int]()  # ids of the parameters that optimisers moved in this step

    @property
    def W(self) -> Tensor:
        """Weights (S, D), a row for each of `steps`."""
        if not self._points:  # before the loop
            return torch.empty(0, self.net.dim, dtype=self.net.w.dtype)
        return torch.stack(self._points)

    @property
    def history(self) -> History:
        """Loss, λ1, trace and sharpness at the measured points.

        Raises:
            ValueError: For a path without data, or before its loop.
        """
        watch = self.watch
        if watch is None or not watch.rows:
            raise ValueError("the path has no history: give record_path data=, and run the loop")
        steps, *columns = torch.tensor(watch.rows, dtype=torch.float64).T
        records = dict(zip(VALUES, columns))
        return History(**records, steps=steps.long(), notes=watch.notes)

    @property
    def steps(self) -> tuple[int, ...]:
        """Optimiser step after which each point was recorded, 0 for the start."""
        return tuple(self._steps)

    def add(self, step: int | None = None) -> None:
        """Record the module's present weights as the point after `step`, by default the next one.

        If this makes more than `most` points, every second one is dropped, and from then on every
        second call is passed over; the last one of a `with` block is kept.
        """
        if step is None:
            step = self._last_added + 1
        self._last_added = step
        self._n_added += 1
        if self._n_added % self._thinned == 0:
            self._record(step)

    def _record(self, step: int) -> None:
        """Record the module's present weights as the point after `step`."""
        self._points.append(self._weights())
        if self.watch is not None:
            self.watch.at(self._net, step, always=not self._steps)
        self._steps.append(step)
        if len(self._steps) > self._most:
            self._points = self._points[::2]
            self._steps = self._steps[::2]
            self.every = 2 * self.every
            self._thinned = 2 * self._thinned

    def __enter__(self) -> Self:
        _RECORDING[id(self)] = self
        if self.watch is not None:
            self.watch.start()
        if not self._steps:  # a second block goes on
            self._record(0)
        return self

    def __exit__(
        self,
        kind: type | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        del _RECORDING[id(self)]
        last = max(self._step, self._last_added)
        if last > self._steps[-1]:
            self._record(last)
        ended = self._net()
        self.net = ended or self.net.at(self._last_finite())
        if kind is not None:
            return
        if self.watch is not None:
            self.watch.finish(ended, self._steps[-1])
        if ended is None:
            warnings.warn(
                "the loop ended at weights that are not finite, so that path.net is the network at"
                " the last recorded point that is: lower the learning rate",
                stacklevel=2,
            )
        if len(self._steps) == 1:
            warnings.warn(
                "no step of a torch.optim optimiser was seen: call path.add() in the loop",
                stacklevel=2,
            )

    def __repr__(self) -> str:
        return (
            f"RecordedPath({len(self._steps)} points, dim={self.net.dim}, steps {self._steps[:1]}"
            f" to {self._steps[-1:]})"
        )

    def _weights(self) -> Tensor:
        """Return the module's present treated weights (D,), on the CPU."""
        rows = [parameter.detach().flatten() for parameter in self._parameters]
        return torch.cat(rows).cpu()

    def after_step(self, optimiser: torch.optim.Optimizer) -> None:
        """Record the weights after a step of this optimiser, if it is due and moved some of them.

        Optimisers of different weights share a step of the loop.  The next step begins when one of
        them moves weights that this step has moved already.
        """
        moved = set[int]()
        for group in optimiser.param_groups:
            moved |= self._ids.intersection(map(id, group["params"]))
        if not moved:
            return
        step_begins = not self._moved or bool(moved & self._moved)
        if step_begins:
            self._step = self._step + 1
            self._moved = moved
            if self._step % self.every == 0:
                self._record(self._step)
        else:
            self._moved |= moved
            already_recorded = self._steps[-1] == self._step
            if already_recorded:  # before this optimiser moved its weights
                self._points[-1] = self._weights()
                if self.watch is not None:
                    self.watch.again(self._net, self._step)

    def _net(self) -> Net | None:
        """Return the module as it is now as a network, or None where a weight is not finite."""
        finite = all(p.isfinite().all() for p in self.module.parameters())
        return self._copy() if finite else None

    def _copy(self) -> Net:
        """Copy the module, in evaluation mode, as a network; an error for weights not finite."""
        module = copied(self.module).eval()
        return Net.from_module(module, self._treated, head=self._head)

    def _last_finite(self) -> Tensor:
        """Return the last recorded point that is finite, or the start."""
        finite = [w for w in self._points if w.isfinite().all()]
        return finite[-1].to(self.net.w) if finite else self.net.w


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
    budget: Positive = 5.0,
    products: Count = 20,
    log: Log | None = None,
) -> RecordedPath:
    """Record the weights of `module` while any loop trains it.

    Use it as `with fv.record_path(module, every=10) as path: ...`.  Weights are recorded at the
    start, at the end, and after every `every`-th step of a `torch.optim` optimiser that moves some
    of them.  A loop without such an optimiser calls `path.add()` itself.  Afterwards `path.W`
    (S, D) is the input of `plane_path` and `project`, and `path.net` is the network as it ended,
    for `nll(path.net, data)`.

    The module, its gradients and the random state are not changed.  BatchNorm statistics on the way
    are not recorded.  If nothing is recorded after the start, there is a warning.

    Args:
        module: The network that the loop trains.
        every: Optimiser steps from one point to the next.
        most: Points kept, rounded down to an even number; once there are more, every second one is
            dropped and `every` doubles, which bounds the memory of a long run.
        treated: Weights recorded, D of them, as in `Net.from_module`.
        head: Name of the head's module, as in `Net.from_module`.
        data: Examples, a batch or two, on which the module is measured in evaluation mode.
            `path.history` then has the loss, λ1 and trace of its Hessian, and the sharpness, which
            is the loss gained by a step of 0.05 up the gradient.
        likelihood: Likelihood of the loss, as in `fv.nll`.
        budget: Time for measurements, in percent of the time of the loop.  Start and end are always
            measured, and a recorded point between them if enough time for the end is left.
            `path.history.notes` counts the points that were not measured, and says if start and end
            alone took longer than the budget.
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
    path = RecordedPath(module, every, most, treated, head)
    if data is not None:
        check_count(products, "products", least=12)
        path.watch = Measurements(data, likelihood, budget, products, log)
    return path
