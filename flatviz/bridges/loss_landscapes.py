"""loss-landscapes (PyPI): its metrics as our objectives, its slices as our results.

Its slices are returned with the coordinates at which each value was really computed, which it does not report itself:
in 3.0.6 odd and even rows are shifted by a step, the trained weights are not on the grid, and `distance` divides.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from flatviz.checks import check_count, check_weights
from flatviz.core.net import Net
from flatviz.core.objective import Objective
from flatviz.core.seeds import saved_rng
from flatviz.results import Curve, Plane, Surface


def metric_objective(net: Net, metric: Any, *, label: str | None = None, n: int | None = None) -> Objective:
    """Any `loss_landscapes` `Metric` as an objective of the treated weights, for `slice_plane` and `slice_line`.

    It is evaluated on a copy of the network in evaluation mode, under saved and restored random state.  It gives
    values, not gradients.  label: what the values are (default: the metric's class); n: examples behind it, if a mean.
    Raises ValueError if the metric does not return one number.
    """
    return _MetricObjective(net, metric, label or type(metric).__name__, n)


class _MetricObjective(Objective):
    differentiable = False

    def __init__(self, net: Net, metric: Any, label: str, n: int | None) -> None:
        library = _library()
        self.net, self.dim, self._metric, self.label, self.n = net, net.dim, metric, label, n
        self.batchnorm = "frozen" if net.has_batchnorm else None
        self._module = net.to_module().eval()
        self._wrapper = library.wrap_model(self._module)
        parameters = dict(self._module.named_parameters())
        self._parameters = [parameters[b.name] for b in net.blocks]

    def __call__(self, w: Tensor) -> Tensor:
        check_weights(w, self.net.dim)
        with torch.no_grad():
            for parameter, block in zip(self._parameters, self.net.blocks):
                parameter.copy_(w[block.slice].view(block.shape))
        with saved_rng():
            return _number(self._metric(self._wrapper), self.label).to(w)


def run_random_plane(
    net: Net | nn.Module,
    metric: Any,
    *,
    distance: float = 1.0,
    steps: int = 20,
    normalization: str | None = "filter",
    seed: int = 0,
) -> Surface:
    """`loss_landscapes.random_plane` on a copy; its `steps` x `steps` values at their true coordinates, scattered.

    The plane's origin is the network's weights (all of them, treated or not), its axes one step along the two
    directions that were drawn, as recorded from the weights at which the metric was called.
    Raises ValueError where the library would divide by zero: a parameter that is all zero, with normalization.
    """
    library = _library()
    check_count(steps, "steps", least=2)
    full = _all_weights(net)
    if normalization is not None:
        zero = [b.name for b in full.blocks if float(full.w[b.slice].abs().max()) == 0]
        if zero:
            raise ValueError(
                f"loss_landscapes divides by the norm of each parameter, got all zeros in {zero[0]}: "
                "use plane_random, where the direction is 0 there, or normalization=None"
            )
    recorder = _recorder(library, metric, full.w, steps)
    with saved_rng(seed):
        library.random_plane(
            full.to_module().eval(), recorder, distance=distance, steps=steps, normalization=normalization, deepcopy_model=True
        )
    name = f"loss_landscapes.random_plane(distance={distance:g}, steps={steps}, normalization={normalization!r}), seed {seed}"
    plane = Plane(full.w, recorder.axes.to(full.w.dtype), "one step of loss-landscapes", name)
    coords = torch.stack(recorder.coords)
    values = torch.tensor(recorder.values)
    statistics = "frozen" if full.has_batchnorm else None
    return Surface(plane, coords[:, 0].to(values), coords[:, 1].to(values), values, type(metric).__name__, None, statistics)


def run_linear_interpolation(
    start: Net | nn.Module, end: Net | nn.Module, metric: Any, *, steps: int = 100, seed: int = 0
) -> Curve:
    """`loss_landscapes.linear_interpolation` on copies; t is where each value was really computed, 0 at `start`.

    The library never evaluates the start.  Raises ValueError if the two have different weights in number.
    """
    library = _library()
    check_count(steps, "steps")
    first, last = _all_weights(start), _all_weights(end)
    if first.dim != last.dim:
        raise ValueError(f"start and end must have the same weights, got {first.dim} and {last.dim}")
    along = (last.w - first.w).double()
    t_and_value: list[tuple[float, float]] = []

    class Recorder(library.metrics.Metric):
        def __call__(self, wrapper: Any) -> float:
            moved = _flat(wrapper) - first.w.double()
            value = metric(wrapper)
            t_and_value.append((float(moved @ along / (along @ along)), float(_number(value, type(metric).__name__))))
            return value

    modules = [n.to_module().eval() for n in (first, last)]
    with saved_rng(seed):
        library.linear_interpolation(*modules, Recorder(), steps=steps, deepcopy_model=True)
    t, values = torch.tensor(t_and_value).T
    statistics = "frozen" if first.has_batchnorm else None
    return Curve(t, values, y_label=type(metric).__name__, name="loss_landscapes.linear_interpolation", batchnorm=statistics)


def _recorder(library: Any, metric: Any, start: Tensor, steps: int):
    """A metric that notes where it is called: the axes are the first step of a row, and that from row to row."""

    class Recorder(library.metrics.Metric):
        def __init__(self) -> None:
            super().__init__()
            self.row: list[Tensor] = []
            self.values: list[float] = []
            self.coords: list[Tensor] = []
            self.axes: Tensor | None = None

        def __call__(self, wrapper: Any) -> float:
            here = _flat(wrapper) - start.double()
            value = metric(wrapper)
            self.values.append(float(_number(value, type(metric).__name__)))
            if self.axes is not None:
                self.coords.append(self._coords(here))
                return value
            self.row.append(here)
            if len(self.row) > steps:  # the first row is complete, and the step to the second was made
                second = self.row[1] - self.row[0]
                self.axes = torch.stack([self.row[steps] - self.row[steps - 1] + second, second])
                self.coords = [self._coords(point) for point in self.row]
                self.row = []
            return value

        def _coords(self, point: Tensor) -> Tensor:
            return torch.linalg.lstsq(self.axes.T, point[:, None]).solution[:, 0]

    return Recorder()


def _flat(wrapper: Any) -> Tensor:
    return torch.cat([p.detach().reshape(-1) for m in wrapper.get_modules() for p in m.parameters()]).double()


def _all_weights(net: Net | nn.Module) -> Net:
    return Net.from_module(net.to_module().eval() if isinstance(net, Net) else net, "all")


def _number(value: Any, name: str) -> Tensor:
    number = torch.as_tensor(value).detach().double()
    if number.numel() != 1:
        raise ValueError(f"the metric must return one number, got shape {tuple(number.shape)} from {name}: use a scalar metric")
    return number.reshape(())


def _library() -> Any:
    try:
        import loss_landscapes
        import loss_landscapes.metrics
        from loss_landscapes.model_interface.model_wrapper import wrap_model
    except ImportError as error:
        raise ImportError("this bridge needs loss-landscapes: pip install loss-landscapes") from error

    class Library:
        metrics = loss_landscapes.metrics
        random_plane = staticmethod(loss_landscapes.random_plane)
        linear_interpolation = staticmethod(loss_landscapes.linear_interpolation)

    Library.wrap_model = staticmethod(wrap_model)
    return Library
