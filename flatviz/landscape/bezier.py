"""A path of low loss between two minima: mode connection, with the barrier that is left."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Literal, get_args

import torch
from torch import Tensor

from flatviz.checks import Count, Rate, Seed, Several, Vector, Whole, check_weights
from flatviz.core.boundary import public
from flatviz.core.objective import Objective, ObjectiveLike, as_objective
from flatviz.core.progress import Progress, track
from flatviz.core.seeds import generator
from flatviz.results import Curve

Kind = Literal["bezier", "polygonal"]
LOOK = 11  # points of a curve by which those on the way are compared


@public
def connect(
    f: ObjectiveLike,
    a: Vector,
    b: Vector,
    *,
    kind: Kind = "bezier",
    bends: Whole = 1,
    steps: Count = 200,
    lr: Rate = 0.1,
    resolution: Several = 41,
    seed: Seed = 0,
    progress: Progress = False,
) -> Curve:
    """A curve from a to b (D,) on which the mean loss is low: minimises E_t f(c(t)), t uniform in [0, 1].

    kind: "bezier", c(t) = sum_i B_i(t) w_i with Bernstein polynomials, or "polygonal", straight pieces between the w_i;
    w_0 = a and w_last = b stand still, the `bends` between them, first on the straight line, move by Adam.
    steps, lr, seed: of Adam and of the points t drawn; 200 steps of 0.1 reach the valley between two small networks.
    lr: a step moves a control vector by at most about lr |b - a|.  Of the curves on the way, the straight line among them,
    the one of the lowest barrier is kept, of equal ones the one of the lowest mean: never worse than interpolation.
    `Curve.W` holds the control vectors, `Curve.barrier` the highest rise above the straight line between the ends'
    values; with bends=0 nothing is trained: plain interpolation.  Any f that can be differentiated will do.

    Raises:
        ValueError: If the ends differ in shape, or f has no gradient.

    Source: Garipov et al. 2018 (arXiv 1802.10026).

    Example:
        >>> import torch, flatviz as fv
        >>> ring = lambda w: (w.square().sum() - 1).square()  # a valley along the unit circle
        >>> ends = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
        >>> round(fv.slice_line(ring, *ends).barrier, 2), fv.landscape.connect(ring, *ends, seed=0).barrier < 0.02
        (0.25, True)
    """
    f = as_objective(f)
    check_weights(b, check_weights(a, f.dim, "a").numel(), "b")
    t = torch.linspace(0, 1, resolution, dtype=a.dtype, device=a.device)

    def curve(W: Tensor, t: Tensor) -> Curve:
        points = _mixing(t, len(W), kind) @ W
        points[0], points[-1] = a, b
        name = f"{kind} curve, {bends} bend{'s' * (bends != 1)}" if bends else "straight line"
        name += f.whose_statistics(a, b)
        return Curve(t, f.many(points), "t", f.label, name, f.n, f.batchnorm, W, kind)

    straight = torch.lerp(a, b, torch.linspace(0, 1, bends + 2, dtype=a.dtype, device=a.device)[:, None])
    straight[0], straight[-1] = a, b
    if not bends or torch.equal(a, b):
        return curve(straight, t)
    few = torch.linspace(0, 1, LOOK, dtype=a.dtype, device=a.device)
    on_the_way = (curve(W, few) for W in _train(f, straight, kind, steps, lr, seed, progress))
    return min((curve(straight, t), curve(min(on_the_way, key=_height).W, t)), key=_height)


def _train(f: Objective, W: Tensor, kind: str, steps: int, lr: float, seed: int, progress: Progress) -> Iterator[Tensor]:
    """Control vectors after every tenth of the steps of Adam."""
    source = generator(seed)
    with torch.inference_mode(False):  # W and inner must be tensors that autograd can keep
        W = W.clone()
        inner = W[1:-1].clone().requires_grad_(True)
    pace = lr * float((W[-1] - W[0]).norm()) / math.sqrt(W.shape[1])  # Adam moves every coordinate by about as much
    optimizer = torch.optim.Adam([inner], lr=pace)
    for i in track(range(steps), "connecting", progress):
        optimizer.param_groups[0]["lr"] = pace * min(1.0, 2 - 2 * (i + 1) / (steps + 1))  # flat, then down to 0
        with torch.inference_mode(False), torch.enable_grad():
            t = torch.rand(1, generator=source, dtype=W.dtype).to(W.device)
            value = f(_mixing(t, len(W), kind)[0] @ torch.cat([W[:1], inner, W[-1:]]))
            if not value.requires_grad:
                raise ValueError(
                    f"connect needs an f with a gradient, got {f.label}: train the curve on nll(net, data), then look along "
                    "it with slice_path(f, points_on(curve, t))"
                )
            (inner.grad,) = torch.autograd.grad(value, inner)
        optimizer.step()
        if (i + 1) % max(1, steps // 10) == 0 or i + 1 == steps:
            yield torch.cat([W[:1], inner.detach(), W[-1:]])


def _height(curve: Curve) -> tuple[float, float]:
    """What curves are compared by; one that diverged is the highest."""
    finite = bool(torch.isfinite(curve.values).all())
    return (curve.barrier, float(curve.values.mean())) if finite else (math.inf, math.inf)


@public
def points_on(curve: Curve, t: Vector) -> Tensor:
    """Weight vectors (T, D) of a curve of `connect` at `t` (T,) in [0, 1]: to project, to predict with.

    Raises:
        ValueError: For a curve without control vectors.

    Example:
        >>> import torch, flatviz as fv
        >>> straight = fv.landscape.connect(lambda w: w.sum(), torch.zeros(2), torch.ones(2), bends=0)
        >>> fv.landscape.points_on(straight, torch.tensor([0.0, 0.25, 1.0])).tolist()
        [[0.0, 0.0], [0.25, 0.25], [1.0, 1.0]]
    """
    if curve.W is None or curve.kind not in get_args(Kind):
        raise ValueError(f"points_on needs a curve made by connect, got {curve.name or 'one without control vectors'}")
    return _mixing(t.to(curve.W), len(curve.W), curve.kind) @ curve.W


def _mixing(t: Tensor, n: int, kind: str) -> Tensor:
    """Weights (T, n) of n control vectors at `t` (T,): Bernstein polynomials, or the two neighbours of a chain."""
    t = t[:, None]
    i = torch.arange(n, dtype=t.dtype, device=t.device)
    if kind == "bezier":
        binomial = torch.tensor([math.comb(n - 1, k) for k in range(n)], dtype=t.dtype, device=t.device)
        return binomial * t**i * (1 - t) ** (n - 1 - i)
    return (1 - (t * (n - 1) - i).abs()).clamp_min(0)
