"""loss-landscapes (PyPI): its slices as our results.

Releases differ in values, start point, row order and normalisation, so nothing of that is assumed.
Each slice has the coordinates at which its values were computed, read from the network's weights at
each evaluation, and names the installed version.  The bridge uses `random_plane` and
`metrics.Metric`.
"""

from importlib.metadata import version
from typing import Any

import torch
from torch import Tensor, nn

from flatviz.checks import check_count
from flatviz.core import Net, saved_rng
from flatviz.results import Plane, Surface, for_readers

# Distance from the first axis, relative to the first step, at which a point defines the second
NEW_DIRECTION = 0.05
ROUNDING = 3e-6  # relative to the weights' norm, of in-place sums in float32 over a plane


def run_random_plane(
    net: Net | nn.Module,
    metric: Any,
    *,
    distance: float = 1.0,
    steps: int = 20,
    normalization: str | None = "filter",
    seed: int = 0,
) -> Surface:
    """Run `loss_landscapes.random_plane` on a copy, with the coordinates of each value, scattered.

    The plane's origin is the network's weights (all of them, treated or not).  Its axes are
    orthonormal, the first along the first step, read from the weights at which the metric ran the
    network; those of all points are kept until the end.

    Raises:
        ValueError: For a metric that does not run the network or returns no single number, for
            weights that are not finite (3.0.6 divides by the norm of each parameter, with
            normalization), and for points that span no plane.
    """
    import loss_landscapes  # imported here, as nothing else needs it
    import loss_landscapes.metrics

    check_count(steps, "steps", least=2)
    full = Net.from_module(net.to_module().eval() if isinstance(net, Net) else net, "all")
    label = type(metric).__name__
    ran: list[Tensor] = []  # weights (D,) of the network as the metric ran it
    visited: list[Tensor] = []
    values: list[float] = []

    # A plain function, which a copy of the module shares
    def look(module: nn.Module, args: tuple) -> None:
        ran.append(torch.cat([p.detach().reshape(-1) for p in module.parameters()]))

    class Recorder(loss_landscapes.metrics.Metric):
        def __call__(self, model: object) -> object:
            ran.clear()
            value = metric(model)
            if not ran:
                raise ValueError(
                    f"the metric must run the network, whose weights are read then, got {label}:"
                    " use slice_plane"
                )
            if not bool(ran[0].isfinite().all()):
                raise ValueError(_not_finite(full))
            number = torch.as_tensor(value).detach().double()
            if number.numel() != 1:
                raise ValueError(
                    f"the metric must return one number, got shape {tuple(number.shape)} from"
                    f" {label}: use a scalar metric"
                )
            visited.append(ran[0])
            values.append(float(number))
            return value

    with saved_rng(seed), full.device:  # where the library draws its directions
        module = full.to_module().eval()
        module.register_forward_pre_hook(look)
        try:
            loss_landscapes.random_plane(
                module, Recorder(), distance=distance, steps=steps, normalization=normalization
            )
        except ZeroDivisionError as error:
            raise ValueError(_not_finite(full)) from error
    name = (
        f"{_named('random_plane')}(distance={distance:g}, steps={steps},"
        f" normalization={normalization!r}), seed {seed}"
    )
    center = full.w.double()
    axes, coords = _on_axes(torch.stack(visited).double() - center, ROUNDING * float(center.norm()))
    plane = Plane(full.w, axes.to(full.w.dtype), "distance in weight space", name)
    a, b = coords.to(full.w.dtype).T
    statistics = "frozen" if full.has_batchnorm else None
    return for_readers(Surface(plane, a, b, a.new_tensor(values), label, None, statistics))


def _on_axes(points: Tensor, rounding: float) -> tuple[Tensor, Tensor]:
    """Find orthonormal axes (2, D) and coordinates (S, 2) of `points` on a plane through 0.

    The first axis runs along the first step, the second to the side on which the first point lies.

    Raises:
        ValueError: For points that lie on no plane.
    """
    moved = points - points[0]
    step = moved[int((moved.norm(dim=1) > 0).int().argmax())]
    least = NEW_DIRECTION * float(step.norm()) + rounding
    first = step / step.norm().clamp_min(1e-300)
    across = points - torch.outer(points @ first, first)
    across -= torch.outer(across @ first, first)  # twice: once loses orthogonality
    far = across[int(across.norm(dim=1).argmax())]
    if float(far.norm()) <= least:
        raise ValueError("points must span a plane, got such of one direction: use plane_random")
    side = 1 if float(far @ points[0]) >= 0 else -1
    axes = torch.stack([first, side * far / far.norm()])
    coords = points @ axes.T
    off = float((points - coords @ axes).norm(dim=1).max())
    if off > 10 * least:
        raise ValueError(
            f"points must lie on a plane through the weights, got one {off:.2g} off it"
        )
    return axes, coords


def _not_finite(net: Net) -> str:
    zero = [b.name for b in net.blocks if float(net.w[b.slice].abs().max()) == 0]
    because = f"; {zero[0]} is all zeros, by whose norm it divides" if zero else ""
    return (
        f"{_named('weights')} must be finite, got NaN or inf{because}: use plane_random, where the"
        " direction is then 0, or normalization=None"
    )


def _named(function: str) -> str:
    """Name a function of the package with its version, as in every result."""
    return f"loss_landscapes {version('loss-landscapes')} {function}"
