"""A family's other planes and quantities: accuracy, the loss of the averaged prediction, the plane of the ascent."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import pad

from flatviz.core.data import Data, Task
from flatviz.core.net import Net
from flatviz.engine.batchnorm import check_batchnorm
from flatviz.engine.stacked import Stacked, stack
from flatviz.families.one_step import plane_of_step
from flatviz.landscape.projection import project
from flatviz.landscape.slices import slice_plane
from flatviz.metrics.prediction import predict
from flatviz.objectives.nll import nll
from flatviz.objectives.quantity import Quantity, quantity
from flatviz.results import Family, Plane, Posterior, Surface

FINE = 21  # grid points a side of the loss
COARSE = 17  # grid points a side of the accuracy
ENSEMBLE = 9  # of the loss of the averaged prediction, which takes as many runs as there are draws
CENTERED, MOST = 7, 10  # of the same on planes through the center: grid points a side, and draws that are averaged at most
AT_ONCE = 6400  # examples times networks that run together
PLANES = ("sharpest", "around")  # of a member, whose loss `Family` has; and "ascent"
ROWS = (
    "ascent",
    *(f"{plane} {quantity}" for plane in (*PLANES, "ascent") for quantity in ("accuracy", "ensemble")),
    "draws accuracy",
    "ensemble",
)  # one of each member


def family_maps(net: Net, task: Task, family: Family, *, seed: int, resolution: int = FINE) -> dict[str, Any]:
    """`Family.maps`.

    accuracy: a Surface, of the training examples on the shared plane; draws accuracy (M, S): of each draw itself, NaN where
    a member has fewer.  ascent: a Surface a member, the mean NLL on the plane of `plane_of_step` at its center; sharpest
    accuracy, around accuracy, ascent accuracy: a Surface a member.  ensemble (M, S, A, B), on ticks `a`, `b` of the shared
    plane: see `ensemble_losses`; not for a net with BatchNorm, whose convolutions would take minutes.  sharpest ensemble,
    around ensemble, ascent ensemble (M, MOST, CENTERED, CENTERED): the same on planes through the member's center, from where
    the draws are, of the first `MOST` draws; only for a net that runs at several weight vectors at once.
    resolution: grid points a side, at most; the accuracy has `COARSE`, the ensemble `ENSEMBLE`, and a net with BatchNorm
    half as many of each.
    """
    resolution, ensembles = min(resolution, _side(net, FINE)), not net.has_batchnorm
    shared, size = family.surface, max(p.n_draws for p in family.prediction)
    side = min(ENSEMBLE, resolution)
    ticks = [torch.linspace(float(t.min()), float(t.max()), side).to(t) for t in (shared.a, shared.b)]
    seen: dict[int, dict[str, Any]] = {}
    stacked = stack(net, task.train.x) if ensembles and isinstance(task.train.x, Tensor) else None
    for i, q in enumerate(family.posterior):
        if id(q) not in seen:
            planes = {name: getattr(family, name)[i] for name in PLANES}
            draws = family.prediction[i].n_draws, size, seed
            seen[id(q)] = _member_maps(net, task, q, planes, *draws, resolution)
            if ensembles:
                seen[id(q)]["ensemble"] = ensemble_losses(net, task, q, shared.plane, ticks, *draws, stacked=stacked)
            if stacked is not None:
                seen[id(q)] |= _centered(net, task, q, planes | {"ascent": seen[id(q)]["ascent"]}, draws[0], seed, stacked)
    rows = {name: [seen[id(q)][name] for q in family.posterior] for name in next(iter(seen.values()))}
    joined = {k: tuple(v) if isinstance(v[0], Surface) else torch.stack(v) for k, v in rows.items()}
    accuracy = _accuracy(quantity(net, task.train, "accuracy"), shared, COARSE)
    return joined | {"accuracy": accuracy} | ({"a": ticks[0], "b": ticks[1]} if ensembles else {})


def one_more_maps_row(family: Family, near: int) -> dict[str, Any]:
    """`family.maps` with a row for a member that joins the family, in which that of member `near` stands in."""
    maps = family.maps
    return maps | {name: _joined(maps[name], maps[name][near]) for name in ROWS if name in maps}


def last_maps_row(net: Net, task: Task, family: Family, *, seed: int) -> dict[str, Any]:
    """`family.maps` with the row of its last member computed, on the grids it has."""
    maps, q = family.maps, family.posterior[-1]
    if not maps:
        return {}
    draws = family.prediction[-1].n_draws, maps["draws accuracy"].shape[1], seed
    planes = {name: getattr(family, name)[-1] for name in PLANES}
    row = _member_maps(net, task, q, planes, *draws, len(maps["ascent"][0].a))
    stacked = stack(net, task.train.x) if "ensemble" in maps and isinstance(task.train.x, Tensor) else None
    if "ensemble" in maps:
        row["ensemble"] = ensemble_losses(net, task, q, family.surface.plane, [maps["a"], maps["b"]], *draws, stacked=stacked)
    if "ascent ensemble" in maps:
        row |= _centered(net, task, q, planes | {"ascent": row["ascent"]}, draws[0], seed, stacked)
    return maps | {name: _joined(maps[name][:-1], value) for name, value in row.items()}


def _joined(rows: Any, one: Any) -> Any:
    """Rows of members, and one more."""
    return (*rows, one) if isinstance(one, Surface) else torch.cat([rows, one[None]])


def ensemble_losses(
    net: Net,
    task: Task,
    q: Posterior,
    plane: Plane,
    ticks: Sequence[Tensor],
    n_draws: int,
    size: int,
    seed: int,
    *,
    stacked: Stacked | None = None,
    centered: bool = False,
) -> Tensor:
    """NLL of the average of the first n draws, (S, A, B), while all draws move over the plane together; nats, training examples.

        g_n(a, b) = -(1/N) sum_i log (1/n) sum_{m <= n} p(y_i | x_i, w_m + (a - c) u + (b - d) v)

    (c, d): the shadow of the draws' mean on the plane, so that g_n(c, d) is the loss of the ensemble where it stands; 0 where
    `centered`.  S = `size`; of fewer draws the largest ensemble is repeated.  stacked: the net ready for several weight
    vectors at once, which takes a third of the time.
    """
    draws = q.sample(n_draws, seed=seed)
    a, b = (grid.reshape(-1) for grid in torch.meshgrid(*ticks, indexing="ij"))
    place = 0.0 if centered else project(draws.mean(0, keepdim=True), plane).coords.to(draws)
    moves = (torch.stack([a, b], 1).to(draws) - place) @ plane.axes.to(draws)
    total, losses, data = None, [], task.train
    for n, w in enumerate(draws, 1):
        outputs = _outputs(net, stacked, w + moves, data)
        right = outputs.log_softmax(-1).gather(-1, data.y.expand(len(moves), -1)[..., None])[..., 0].double()  # (A B, N)
        total = right if total is None else torch.logaddexp(total, right)
        losses.append(-(total - math.log(n)).mean(1).reshape(len(ticks[0]), len(ticks[1])))
    shown = torch.stack(losses).float().cpu()
    return torch.cat([shown, shown[-1:].expand(size - len(shown), -1, -1)])


def _outputs(net: Net, stacked: Stacked | None, W: Tensor, data: Data) -> Tensor:
    """Logits (S, N, C) of the rows of W."""
    if stacked is None:
        statistics = "frozen" if check_batchnorm(net, "frozen") else None
        return predict(net, W, data.x, len(W), seed=0, batchnorm=statistics).outputs
    features = stacked.features(data.x)
    with torch.no_grad():
        return torch.cat([stacked(part, features) for part in W.split(max(1, AT_ONCE // len(data)))])


def _centered(
    net: Net, task: Task, q: Posterior, planes: Mapping[str, Surface], n_draws: int, seed: int, stacked: Stacked
) -> dict[str, Tensor]:
    """`ensemble_losses` on planes through the member's center, as far as their surfaces reach."""
    few, found = min(n_draws, MOST), {}
    for name, surface in planes.items():
        ticks = centered_ticks(surface)
        found[f"{name} ensemble"] = ensemble_losses(
            net, task, q, surface.plane, ticks, few, MOST, seed, stacked=stacked, centered=True
        )
    return found


def centered_ticks(surface: Surface) -> list[Tensor]:
    """Where on a plane through its center a member has the loss of the averaged prediction."""
    return [torch.linspace(float(t.min()), float(t.max()), CENTERED) for t in (surface.a, surface.b)]


def _member_maps(
    net: Net, task: Task, q: Posterior, planes: Mapping[str, Surface], n_draws: int, size: int, seed: int, resolution: int
) -> dict[str, Any]:
    """What one member has on planes of its own, and the accuracy of its draws."""
    f, right = nll(net, task.train), quantity(net, task.train, "accuracy")
    plane = plane_of_step(q, f.value_and_grad(q.center)[1], seed)
    ascent = slice_plane(f, plane, extent=float(planes["sharpest"].a.max()), resolution=resolution)
    found: dict[str, Any] = {"ascent": ascent}
    for name, surface in (*planes.items(), ("ascent", ascent)):
        found[f"{name} accuracy"] = _accuracy(right, surface, _side(net, COARSE))
    accuracies = right.many(q.sample(n_draws, seed=seed)).float().cpu()
    return found | {"draws accuracy": pad(accuracies, (0, size - len(accuracies)), value=torch.nan)}


def _accuracy(right: Quantity, surface: Surface, most: int) -> Surface:
    """The accuracy where `surface` is, on a coarser grid with the same ends."""
    ends = tuple((float(t.min()), float(t.max())) for t in (surface.a, surface.b))
    return slice_plane(right, surface.plane, extent=ends, resolution=min(most, len(surface.a)))


def _side(net: Net, points: int) -> int:
    """Grid points a side: about half, and odd, for a net whose convolutions take as long as all else."""
    return points // 4 * 2 + 1 if net.has_batchnorm else points
