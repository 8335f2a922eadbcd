"""A path of low loss between two minima: mode connection, with the barrier that is left."""

from __future__ import annotations

import torch
from torch import Tensor

from flatviz._checks import check_choice, check_count, check_weights
from flatviz.core.progress import Progress, track
from flatviz.core.seeds import generator
from flatviz.landscape._curves import mixing
from flatviz.landscape._objective import described, evaluate
from flatviz.results import Curve, ObjectiveLike

KINDS = ("bezier", "polygonal")


def connect(
    f: ObjectiveLike,
    a: Tensor,
    b: Tensor,
    *,
    kind: str = "bezier",
    bends: int = 1,
    steps: int = 200,
    lr: float = 0.02,
    resolution: int = 41,
    seed: int = 0,
    progress: Progress = False,
) -> Curve:
    """A curve from a to b (D,) on which the mean loss is low: minimises E_t f(c(t)), t uniform in [0, 1].

    kind: "bezier", c(t) = sum_i B_i(t) w_i with Bernstein polynomials, or "polygonal", straight pieces between the w_i;
    w_0 = a and w_last = b stand still, the `bends` between them, first on the straight line, move by Adam.
    `Curve.W` holds the control vectors, `Curve.barrier` the highest rise above the straight line between the ends'
    values; with bends=0 nothing is trained: plain interpolation.  Any f that can be differentiated will do.
    Raises ValueError if the ends differ in shape.
    Source: Garipov et al. 2018 (arXiv 1802.10026).
    """
    check_weights(b, check_weights(a, a.numel(), "a").numel(), "b")
    check_choice(kind, KINDS, "kind")
    check_count(bends, "bends", least=0), check_count(steps, "steps"), check_count(resolution, "resolution", least=2)
    source = generator(seed)
    share = torch.linspace(0, 1, bends + 2, dtype=a.dtype, device=a.device)[1:-1, None]
    inner = torch.lerp(a, b, share).detach().clone().requires_grad_(True)
    optimizer = torch.optim.Adam([inner], lr=lr)
    for i in track(range(steps if bends else 0), "connecting", progress):
        t = torch.rand(1, generator=source, dtype=a.dtype).to(a.device)
        optimizer.param_groups[0]["lr"] = lr * min(1.0, 2 - 2 * (i + 1) / (steps + 1))  # flat, then down to 0
        with torch.enable_grad():
            point = mixing(t, bends + 2, kind)[0] @ torch.cat([a[None], inner, b[None]])
            (inner.grad,) = torch.autograd.grad(f(point), inner)
        optimizer.step()
    W = torch.cat([a[None], inner.detach(), b[None]])
    t = torch.linspace(0, 1, resolution, dtype=a.dtype, device=a.device)
    points = mixing(t, len(W), kind) @ W
    points[0], points[-1] = a, b
    about = described(f)
    name = f"{kind} curve, {bends} bend{'s' * (bends != 1)}" if bends else "straight line"
    return Curve(t, evaluate(f, points), "t", about["label"], name, about["n"], about["batchnorm"], W, kind)


def points_on(curve: Curve, t: Tensor) -> Tensor:
    """Weight vectors (T, D) of a curve of `connect` at `t` (T,) in [0, 1]: to project, to predict with.

    Raises ValueError for a curve without control vectors.
    """
    if curve.W is None or curve.kind not in KINDS:
        raise ValueError(f"points_on needs a curve made by connect, got {curve.name or 'one without control vectors'}")
    return mixing(t.to(curve.W), len(curve.W), curve.kind) @ curve.W
