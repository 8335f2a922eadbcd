"""loss-landscapes (PyPI): its metrics as our objectives, its slices as our results.

Releases differ in values, start point, row order and normalisation, so nothing of that is assumed.  Each slice comes back with
the coordinates at which its values were really computed, read from the weights that the network had at each evaluation, and
names the installed version.  Used of the package: `point`, `random_plane` and `metrics.Metric`.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import torch
from torch import Tensor, nn

from flatviz.checks import check_count, check_weights
from flatviz.core.net import Net
from flatviz.core.objective import Objective
from flatviz.core.seeds import saved_rng
from flatviz.results import Plane, Surface, for_readers

NEW_DIRECTION = 0.05  # of the first step: a point that is so far from the directions seen so far adds one
ROUNDING = 3e-6  # of the weights' norm: what in-place sums of float32 lose over a plane


def metric_objective(net: Net, metric: Any, *, label: str | None = None, n: int | None = None) -> Objective:
    """Any `loss_landscapes` `Metric` as an objective of the treated weights, for `slice_plane` and `slice_line`.

    It is evaluated on a copy of the network in evaluation mode, under saved and restored random state.  It gives
    values, not gradients.  label: what the values are (default: the metric's class); n: examples behind it, if a mean.

    Raises:
        ValueError: If the metric does not return one number.
    """
    return _MetricObjective(net, metric, label or type(metric).__name__, n)


class _MetricObjective(Objective):
    differentiable = False

    def __init__(self, net: Net, metric: Any, label: str, n: int | None) -> None:
        self._library = _library()
        self.net, self.dim, self._metric, self.label, self.n = net, net.dim, metric, label, n
        self.batchnorm = "frozen" if net.has_batchnorm else None
        self._module = net.to_module().eval()
        parameters = dict(self._module.named_parameters())
        self._parameters = [parameters[b.name] for b in net.blocks]

    def __call__(self, w: Tensor) -> Tensor:
        check_weights(w, self.net.dim)
        with torch.no_grad():
            for parameter, block in zip(self._parameters, self.net.blocks):
                parameter.copy_(w[block.slice].view(block.shape))
        with saved_rng():
            return _number(self._library.point(self._module, self._metric), self.label).to(w)


def run_random_plane(
    net: Net | nn.Module,
    metric: Any,
    *,
    distance: float = 1.0,
    steps: int = 20,
    normalization: str | None = "filter",
    seed: int = 0,
) -> Surface:
    """`loss_landscapes.random_plane` on a copy; its values at the coordinates where each was computed, scattered.

    The plane's origin is the network's weights (all of them, treated or not).  Its axes are orthonormal, the first along the
    first step, read from the weights at which the metric ran the network.

    Raises:
        ValueError: For a metric that does not run the network, for weights that left the finite numbers (3.0.6
            divides by the norm of each parameter, with normalization), and for points that span no plane.
    """
    library = _library()
    check_count(steps, "steps", least=2)
    full = Net.from_module(net.to_module().eval() if isinstance(net, Net) else net, "all")
    axes = _Axes(full)
    values, coords = [], []

    def record(w: Tensor, value: Tensor) -> None:
        coords.append(axes.coords(w))
        values.append(float(value))

    with saved_rng(seed), full.device:  # where the library draws its directions
        module, recorder = _recorded(library, full, metric, record)
        try:
            library.random_plane(module, recorder, distance=distance, steps=steps, normalization=normalization)
        except ZeroDivisionError as error:
            raise ValueError(_not_finite(full)) from error
    name = f"{_named('random_plane')}(distance={distance:g}, steps={steps}, normalization={normalization!r}), seed {seed}"
    directions, places = axes.whole(coords)
    plane = Plane(full.w, directions.to(full.w.dtype), "distance in weight space", name)
    a, b = places.to(full.w.dtype).T
    statistics = "frozen" if full.has_batchnorm else None
    return for_readers(Surface(plane, a, b, torch.tensor(values).to(a), type(metric).__name__, None, statistics))


def _recorded(library: Any, net: Net, metric: Any, record: Callable[[Tensor, Tensor], None]) -> tuple[nn.Module, Any]:
    """A copy of the network, and `metric` that calls `record(weights (D,) of the network as it ran first, value)`."""
    weights: list[Tensor] = []

    def look(module: nn.Module, args: tuple) -> None:  # a plain function: a copy of the module keeps it as it is
        if not weights:
            weights.append(torch.cat([p.detach().reshape(-1) for p in module.parameters()]).double())

    class Recorder(library.metrics.Metric):
        def __call__(self, model: Any) -> Any:
            weights.clear()
            value = metric(model)
            if not weights:
                name = type(metric).__name__
                raise ValueError(
                    f"the metric must run the network, whose weights are read then, got {name}: use metric_objective"
                )
            if not bool(weights[0].isfinite().all()):
                raise ValueError(_not_finite(net))
            record(weights[0], _number(value, type(metric).__name__))
            return value

    module = net.to_module().eval()
    module.register_forward_pre_hook(look)
    return module, Recorder()


def _not_finite(net: Net) -> str:
    zero = [b.name for b in net.blocks if float(net.w[b.slice].abs().max()) == 0]
    because = f"; {zero[0]} is all zeros, by whose norm it divides" if zero else ""
    return (
        f"{_named('weights')} must be finite, got NaN or inf{because}: use plane_random, where the direction is then 0, "
        "or normalization=None"
    )


class _Axes:
    """Orthonormal axes (2, D) of the plane on which points arrive one by one, and coordinates on them.

    Only the axes and the first point are kept: a plane of many points takes no more memory than one of few.
    """

    def __init__(self, net: Net) -> None:
        self.origin = net.w.double()
        self.first: Tensor | None = None
        self.axes = self.origin.new_zeros(0, self.origin.numel())
        self.least = 0.0

    def coords(self, w: Tensor) -> Tensor:
        """Coordinates of weights `w` (D,) on the axes known so far, (0,) to (2,): along others it is 0."""
        point = w - self.origin
        if self.first is None:
            self.first = point
        elif len(self.axes) == 0 and float((step := point - self.first).norm()) > 0:
            self.axes = (step / step.norm())[None]
            self.least = NEW_DIRECTION * float(step.norm()) + ROUNDING * float(self.origin.norm())
            self._extend(self.first)
        self._extend(point)
        return self.axes @ point

    def _extend(self, point: Tensor) -> None:
        rest = point - self.axes.T @ (self.axes @ point)
        rest -= self.axes.T @ (self.axes @ rest)  # twice: once loses orthogonality
        if len(self.axes) == 0 or float(rest.norm()) <= self.least * (10 if len(self.axes) == 2 else 1):
            return
        if len(self.axes) == 2:
            raise ValueError(f"points must lie on a plane through the weights, got one {float(rest.norm()):.2g} off it")
        self.axes = torch.cat([self.axes, (rest / rest.norm())[None]])

    def whole(self, coords: list[Tensor]) -> tuple[Tensor, Tensor]:
        """The axes (2, D), and all coordinates (S, 2) as `coords` gave them; those before any axis are the first point's."""
        if len(self.axes) < 2:
            raise ValueError(f"points must span a plane, got {len(self.axes)} directions: use plane_random")
        first = self.axes @ self.first
        return self.axes, torch.stack([torch.cat([c, c.new_zeros(2 - len(c))]) if len(c) else first for c in coords])


def _named(function: str) -> str:
    """A function of the package, with the version that every name of a result states."""
    try:
        return f"loss_landscapes {version('loss-landscapes')} {function}"
    except PackageNotFoundError:
        return f"loss_landscapes (unknown version) {function}"


def _number(value: Any, name: str) -> Tensor:
    number = torch.as_tensor(value).detach().double()
    if number.numel() != 1:
        raise ValueError(f"the metric must return one number, got shape {tuple(number.shape)} from {name}: use a scalar metric")
    return number.reshape(())


def _library() -> Any:
    try:
        import loss_landscapes
        import loss_landscapes.metrics  # noqa: F401  of which users take one
    except ImportError as error:
        raise ImportError("this bridge needs loss-landscapes: pip install 'loss-landscapes>=3.0.6,<5'") from error
    return loss_landscapes
