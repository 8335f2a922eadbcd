"""A family's other planes and quantities: sharpest directions, accuracy, the averaged prediction, the plane of the ascent."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import pad

from flatviz.core.data import Data, Task
from flatviz.core.net import Net
from flatviz.core.objective import Objective
from flatviz.engine.stacked import Stacked, stack
from flatviz.families.members import predicted
from flatviz.families.one_step import plane_of_step
from flatviz.landscape.slices import project, slice_plane
from flatviz.objectives.network import nll
from flatviz.objectives.quantity import Quantity, quantity
from flatviz.results import Family, Member, Plane, Spectrum, Surface

FINE = 21  # grid points a side of the loss
COARSE = 17  # grid points a side of the accuracy
ENSEMBLE = 9  # of the loss of the averaged prediction, which takes as many runs as there are draws
CENTERED, MOST = 7, 10  # of the same on planes through the center: grid points a side, and draws that are averaged at most
AT_ONCE = 6400  # examples times networks that run together
RISE = 2.0  # nats above the center, at the edge of the plane
TICKS = 64  # distances at which the rise is looked for, along each half of an axis


def shared_maps(net: Net, task: Task, shared: Surface, resolution: int) -> dict[str, Any]:
    """`Family.maps`: other quantities on the shared plane.

    accuracy: a Surface, of the training examples; a, b: ticks at which members have "ensemble"; not for a net with BatchNorm,
    whose convolutions would take minutes.
    resolution: grid points a side of the surfaces around members: the ensemble has no more of them.
    """
    maps: dict[str, Any] = {"accuracy": _accuracy(quantity(net, task.train, "accuracy"), shared, COARSE)}
    if not net.has_batchnorm:
        side = min(ENSEMBLE, resolution)
        ends = {"a": shared.a, "b": shared.b}
        maps |= {name: torch.linspace(float(t.min()), float(t.max()), side).to(t) for name, t in ends.items()}
    return maps


def maps_row(net: Net, task: Task, family: Family, member: Member, *, n_draws: int, seed: int) -> dict[str, Any]:
    """The other maps of a member that has its surfaces "around" and "sharpest".

    draws accuracy (S,): of each draw itself, NaN where the member has fewer than `n_draws`.  ascent: a Surface, the mean NLL on the
    plane of `plane_of_step` at its center, on at most `FINE` points a side; sharpest accuracy, around accuracy, ascent accuracy:
    Surfaces; a net with BatchNorm has half as many points.  ensemble (S, A, B), on ticks a, b of the shared plane: see
    `ensemble_losses`.  sharpest ensemble, around ensemble, ascent ensemble (MOST, CENTERED, CENTERED): the same on planes through
    the member's center, from where the draws are, of the first `MOST` draws; only for a net that runs at several weight vectors at
    once.
    """
    q, data = member.posterior, task.train
    f, right, draws = nll(net, data), quantity(net, data, "accuracy"), q.sample(member.prediction.n_draws, seed=seed)
    planes, fine = {"sharpest": member.sharpest, "around": member.around}, min(len(member.around.a), _side(net, FINE))
    plane = plane_of_step(q, f.value_and_grad(q.center)[1], seed)
    planes["ascent"] = slice_plane(f, plane, extent=float(member.sharpest.a.max()), resolution=fine)
    row: dict[str, Any] = {f"{name} accuracy": _accuracy(right, s, _side(net, COARSE)) for name, s in planes.items()}
    row["draws accuracy"] = pad(right.many(draws).float().cpu(), (0, n_draws - len(draws)), value=torch.nan)
    row["ascent"] = planes["ascent"]
    if "a" not in family.maps:
        return row
    stacked = stack(net, data.x) if isinstance(data.x, Tensor) else None
    outputs = partial(_outputs, net, stacked, data)
    place = project(draws.mean(0, keepdim=True), family.surface.plane).coords.to(draws)
    moves = _steps(family.surface.plane, [family.maps["a"], family.maps["b"]], draws, place)
    row["ensemble"] = ensemble_losses(outputs, data.y, draws, moves, n_draws)
    for name, s in planes.items() if stacked is not None else ():
        moves = _steps(s.plane, [torch.linspace(float(t.min()), float(t.max()), CENTERED) for t in (s.a, s.b)], draws)
        row[f"{name} ensemble"] = ensemble_losses(outputs, data.y, draws[:MOST], moves, MOST)
    return row


def _steps(plane: Plane, ticks: Sequence[Tensor], like: Tensor, place: Tensor | float = 0.0) -> Tensor:
    """From `place` on a plane to each point of a grid, (A, B, D)."""
    grid = torch.stack(torch.meshgrid(*ticks, indexing="ij"), -1)
    return (grid.to(like) - place) @ plane.axes.to(like)


def ensemble_losses(outputs: Callable[[Tensor], Tensor], y: Tensor, draws: Tensor, moves: Tensor, size: int) -> Tensor:
    """NLL of the average of the first n draws w_m, (S, A, B), while all draws make the same move; nats, training examples.

        g_n(a, b) = -(1/N) sum_i log (1/n) sum_{m <= n} p(y_i | x_i, w_m + moves[a, b])

    outputs: logits (S, N, C) at weight vectors (S, D).  moves (A, B, D): on the shared plane from the shadow of the draws' mean,
    so that g_n there is the loss of the ensemble; on others from where the draws are.  S = `size`; of fewer draws the largest
    ensemble is repeated.
    """
    total, losses = None, []
    for n, w in enumerate(draws, 1):
        logits = outputs(w + moves.flatten(0, 1))
        right = logits.log_softmax(-1).gather(-1, y.expand(len(logits), -1)[..., None])[..., 0].double()  # (A B, N)
        total = right if total is None else torch.logaddexp(total, right)
        losses.append(-(total - math.log(n)).mean(1).reshape(moves.shape[:2]))
    shown = torch.stack(losses).float().cpu()
    return torch.cat([shown, shown[-1:].expand(size - len(shown), -1, -1)])


def _outputs(net: Net, stacked: Stacked | None, data: Data, W: Tensor) -> Tensor:
    """Logits (S, N, C) of the rows of W; a net ready for several weight vectors at once takes a third of the time."""
    if stacked is None:
        return predicted(net, W, data.x, len(W), seed=0).outputs
    features = stacked.features(data.x)
    with torch.no_grad():
        return torch.cat([stacked(part, features) for part in W.split(max(1, AT_ONCE // len(data)))])


def _accuracy(right: Quantity, surface: Surface, most: int) -> Surface:
    """The accuracy where `surface` is, on a coarser grid with the same ends."""
    ends = tuple((float(t.min()), float(t.max())) for t in (surface.a, surface.b))
    return slice_plane(right, surface.plane, extent=ends, resolution=min(most, len(surface.a)))


def _side(net: Net, points: int) -> int:
    """Grid points a side: about half, and odd, for a net whose convolutions take as long as all else."""
    return points // 4 * 2 + 1 if net.has_batchnorm else points


def rise_distance(f: Objective, center: Tensor, spectrum: Spectrum) -> float:
    """How far along the first two axes of `spectrum` f has risen by `RISE`, the farthest of the four directions.

    At most the distance at which the quadratic model has: a confident network has hardly any curvature at its center, and
    its loss grows all the same.
    """
    largest = float(spectrum.values[0])
    model = math.sqrt(2 * RISE / largest) if largest > 0 else 1.0
    far = torch.linspace(0, model, TICKS + 1, dtype=center.dtype, device=center.device)[1:]
    axes = spectrum.vectors[:2].to(center)
    directions = torch.cat([torch.eye(len(axes)), -torch.eye(len(axes))]).to(center)
    evaluate = f.over(center, axes, coords=model * directions)
    least, reached = float(evaluate(0 * directions[:1])) + RISE, []
    for direction in directions:
        blocks = far.split(TICKS // 8)  # as far out as is needed
        risen = (some[~(evaluate(some[:, None] * direction) < least)] for some in blocks)
        reached.append(next((float(some[0]) for some in risen if len(some)), model))
    return max(reached)
