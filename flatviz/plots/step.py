"""What is drawn of one step of SA-BMA in each of its phases."""

from __future__ import annotations

import plotly.graph_objects as go
import torch
from torch import Tensor

from flatviz.catalog import LOOKS
from flatviz.plots.theme import INK, scatter
from flatviz.results import Mechanism

PHASES = ("q and its ball", "ascend to the worst q′", "gradient there", "step back", "descend")
DOES = (  # in each of them, for whatever method's ball
    "every q′ that the radius allows",
    "q′ = q + Δ, the worst in the ball (to first order)",
    "g′ = ∇ E[NLL], taken at q′",
    "the mean is at q again, g′ is kept",
    "θ ← θ − lr g′ (g without a ball)",
)
ARROW = 0.3  # of the half width of the picture: length of the gradient arrows, which show directions
STEP = 0.2  # of it: length of the descent
HEAD = 14  # px, of an arrow
SHAFT = 0.7  # of an arrow: what has a rim, which would look out in front of the head
RING = 48  # points of an ellipse
STILL = ("q", "ball of the radius", "SAM's ball", "SAM's move", "gradient g at q", "shaft of gradient g at q")  # in all phases
RIM = " rim"  # after the name of a line: a wider one below it in white
LABELS = {  # a trace -> its label, the point beside which it is, and on which side of it
    "q": ("q", 30, "bottom left"),
    "ball of the radius": ("ball", 18, "top left"),
    "SAM's ball": ("SAM's ball", 42, "bottom right"),
    "the worst q′": ("q′", 0, "middle right"),
    "gradient g at q": ("g", 1, "middle left"),
    "gradient g′ at q′": ("g′", 1, "middle right"),
    "step: − g′ from q": ("−g′", 1, "bottom right"),
    "path of q's mean": ("path of q's mean", 0, "bottom left"),
}
HALO = "0 0 3px #fefefe, 0 0 3px #fefefe, 0 0 2px #fefefe"  # of a label, on any colour of the ground, which is alike on a dark page
COLORS = dict(q=LOOKS["vi"].color, worst=LOOKS["sabma"].color, sam=LOOKS["sam_mu"].color)


def phase_traces(step: Mechanism, phase: int, k: int, half: float) -> list[go.Scatter]:
    """Everything that moves, at its place in a phase at radius k; half: of the picture's width.

    q' stays where it is once the ascent has reached it; the dot is the mean, which is back at q from the fourth phase on.
    """
    zero = torch.zeros(2, dtype=torch.float64)
    center, there = mean_of(step), step.worst[k].double()
    rest, worst = ellipse(step.covariance, zero), ellipse(step.worst_covariance[k], there)
    top, length = there if phase > 0 else zero, float(step.length[k])
    back = _unit(step.there[k]) * half
    sams_move = _unit(step.gradient) if step.slope is None else step.gradient.double() / max(step.slope, 1e-12)
    lines = [
        (rest, "q", dict(color=COLORS["q"], width=3)),
        (ellipse(step.ball[k], zero), "ball of the radius", dict(color=COLORS["worst"], width=2, dash="dash")),
        (ellipse(torch.eye(2) * length**2, zero), "SAM's ball", dict(color=COLORS["sam"], width=1.5, dash="dot")),
        (worst if phase > 0 else rest, "the worst q′", dict(color=COLORS["worst"], width=3)),
        (torch.stack([zero, top]), "move of the mean", dict(color=COLORS["worst"], width=2)),
        (torch.stack([zero, sams_move * length]), "SAM's move", dict(color=COLORS["sam"], width=1.5)),
    ]
    arrows = [
        (zero, _unit(step.gradient) * ARROW * half, "gradient g at q", "#1e2832"),
        (top, back * ARROW * (phase > 1), "gradient g′ at q′", "#8a1c7c"),
        (zero, -back * STEP * (phase > 3), "step: − g′ from q", COLORS["q"]),
    ]
    drawn = [(points + center, name, line) for points, name, line in lines]
    shafts = [(center + torch.stack([start, start + SHAFT * move]), f"shaft of {name}") for start, move, name, _ in arrows]
    rims = [(points, f"{name}{RIM}") for points, name, line in drawn if "dash" not in line] + shafts
    traces = [scatter(*points.T, "lines", name, line=dict(color="#fefefe", width=5)) for points, name in rims]
    for points, name, line in drawn:
        trace = scatter(*points.T, "lines", name, line=line, hoverinfo="name")
        traces.append(labelled(trace, line["color"], name != "the worst q′" or phase > 0))
    traces += [_arrow(center + start, move, name, color) for start, move, name, color in arrows]
    dot, mean = dict(size=11, color="#ffd23f", line=dict(color=INK, width=1.5)), center + (top if phase < 3 else zero)
    return [*traces, scatter(*mean[:, None], "markers", "the mean now", marker=dot, hoverinfo="name")]


def labelled(trace: go.Scatter, color: str, shown: bool = True) -> go.Scatter:
    """The trace with its label beside one of its points; with none where it has no label, or nothing of it is shown."""
    text, at, side = LABELS.get(trace.name, ("", 0, None))
    texts = [text if i == at and shown else "" for i in range(len(trace.x))]
    font = dict(color=color, size=13, shadow=HALO)
    return trace.update(mode=f"{trace.mode}+text", text=texts, textposition=side, textfont=font)


def _arrow(start: Tensor, move: Tensor, name: str, color: str) -> go.Scatter:
    shown = float(move.norm()) > 0
    tip = dict(symbol="arrow", size=[0, HEAD * shown], angleref="previous", color=color, opacity=1)
    tip["line"] = dict(color="#fefefe", width=1)
    ends = torch.stack([start, start + move])
    arrow = scatter(*ends.T, "lines+markers", name, line=dict(color=color, width=3), marker=tip, hoverinfo="name")
    return labelled(arrow, color, shown)


def _unit(v: Tensor) -> Tensor:
    return v.double() / v.double().norm().clamp_min(1e-12)


def ellipse(covariance: Tensor, center: Tensor) -> Tensor:
    """Points (RING + 1, 2) with (c - center)^T covariance^-1 (c - center) = 1."""
    angle = torch.linspace(0, 2 * torch.pi, RING + 1, dtype=torch.float64)
    values, vectors = torch.linalg.eigh(covariance.double())  # a flat ellipse has no Cholesky factor
    root = (vectors * values.clamp_min(0).sqrt()) @ vectors.T  # symmetric, so that ellipses in between are ellipses
    return center.double() + torch.stack([angle.cos(), angle.sin()], 1) @ root


def mean_of(step: Mechanism) -> Tensor:
    """Where q's mean lies on its ground."""
    return torch.zeros(2, dtype=torch.float64) if step.center is None else step.center.double()
