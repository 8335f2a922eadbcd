"""One step of SA-BMA drawn: ascend to the worst q' in the ball, take the gradient there, step back, descend."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
import torch
from torch import Tensor

from flatviz.core.boundary import public
from flatviz.plots.color import ColorScale
from flatviz.plots.ground import add_contour, plane_axes, small_print, width_of
from flatviz.plots.nouns import one_or_several
from flatviz.plots.theme import INK, METHODS, MUTED, Figure, figure, scatter, short
from flatviz.results import Family, Mechanism

EQUATION = "Δ = radius F⁻¹g / √(gᵀF⁻¹g),  θ ← θ − lr ∇NLL(q + Δ)"
PHASES = ("q and its ball", "ascend to the worst q′", "gradient there", "step back", "descend")
TWEENS = 5  # frames from one phase to the next
FRAME_MS = 70
ARROW = 0.3  # of the half width of the picture: length of the gradient arrows, which show directions
ROOM = 1.12  # times what is drawn: half of the width of a picture of one radius
STEP = 0.2  # of it: length of the descent
PATH = "#56B4E9"  # readable on dark and on white
RING = 72  # points of an ellipse
COLORS = dict(q=METHODS["vi"].color, worst=METHODS["sabma"].color, sam=METHODS["sam_mu"].color)


@public
def plot_mechanism(step: Mechanism | Sequence[Mechanism], *, title: str | None = None) -> Figure:
    """What the radius does: q as an ellipse, the ball around it, the worst q' in it, and the step that follows.

    Solid ellipses are one standard deviation of q and q'.  The dashed one is the shadow of the ball
    KL(q' || q) <= radius^2 / 2 of moves of the mean: q's own ellipse times the radius.  The dotted circle is SAM's ball of
    the same reach, whose worst point lies along the gradient.  Gradient arrows show directions: all have one length.  The
    play button goes through ascend, gradient there, step back, descend, for each radius and, of several steps, for each
    stage of training; from stage to stage it moves in a straight line.

        Delta = radius F^-1 g / sqrt(g^T F^-1 g),   theta <- theta - lr grad NLL(q + Delta)

    Args:
        step: what `fv.mechanism` returned; or stages of one training, as `fv.mechanism_in_training` returns them.
        title: default: of which q.

    Raises ValueError for no step, or several that are not on one surface.

    Example:
        >>> net = fv.Net.from_module(torch.nn.Linear(2, 3))
        >>> data = fv.Data(torch.randn(12, 2), torch.arange(12) % 3)
        >>> q = fv.Gaussian(net.w, torch.linspace(-2, -1, net.dim))
        >>> step = fv.mechanism(net, data, q, radii=[0.5, 1.0], seed=0, n_draws=4, resolution=5)
        >>> fig = fv.plot_mechanism(step)
        >>> [s.label for s in fig.layout.sliders[0].steps][:2]
        ['radius 0.5: q and its ball', 'radius 0.5: ascend to the worst q′']
    """
    stages = one_or_several(step)
    first, last = stages[0], len(stages[0].radius) - 1
    if any(stage.surface is not first.surface for stage in stages):
        raise ValueError("several steps must share one surface: fv.mechanism_in_training makes such, plot others one by one")
    several = len(stages) > 1
    from_where = f"{len(stages)} moments of training" if several else first.name
    alt = "; later, ".join(_alt(stage, last) for stage in stages[:: max(1, len(stages) - 1)])
    alt += f"; the plane holds {_in_plane(stages, last)} of each move's length" if several else ""
    fig = _figure(first, last, title or f"One step of SA-BMA from {from_where}", alt)
    if several:
        fig.add_trace(_path(stages))
    moving = _traces(first, last, 1, 0.0, _half(first))
    places = list(range(len(fig.data), len(fig.data) + len(moving)))
    fig.add_traces(moving)
    fig.frames, labels = _frames(stages, places)
    return fig.update_layout(**_controls(labels, len(PHASES) * last + 1), height=780, margin=dict(l=60, r=20, t=140, b=190))


def plot_step(family: Family, i: int) -> Figure:
    """The step from VI's posterior at the radius of member i, whole and at rest; everything but the ground follows it.

    The picture is as wide as what is drawn at this radius, so that q and its ball fill it.
    """
    step = family.mechanism
    half = min(ROOM * step.reach(i), _half(step))
    fig = _figure(step, i, "One step from VI's posterior", "the ball of the radius around q, the worst q′ in it, and the step")
    fig.update_layout(xaxis_range=[-half, half], yaxis_range=[-half, half])
    fig.follow({f"layout.{axis}.range": [-half, half] for axis in ("xaxis", "yaxis")}, rows="all")
    for trace in _traces(step, i, 4, 0.0, half):
        fig.add_live(trace, "x", "y")
    raised = f"expected loss {short(step.loss)} at q, {short(float(step.worst_loss[i]))} at q′"
    above = dict(x=0, y=1, xref="paper", yref="paper", xanchor="left", yanchor="bottom", yshift=104)  # px: five rows of legend
    fig.add_annotation(text=raised, font=dict(size=12), showarrow=False, **above)
    fig.follow({"layout.annotations.0.text": raised}, rows="all")
    return fig.update_layout(margin=dict(t=160))


def _figure(step: Mechanism, k: int, title: str, alt: str) -> Figure:
    fig = figure(title, alt, explain=f"{alt}. {EQUATION}")
    add_contour(fig, step.surface, ColorScale.of(step.surface))
    fig.update_layout(**plane_axes(step.surface.plane, small_print(step.surface)), width=width_of(step.surface) + 160)
    for axis, ticks in (("xaxis", step.surface.a), ("yaxis", step.surface.b)):
        fig.update_layout({axis: dict(range=[float(ticks.min()), float(ticks.max())])})
    legend = dict(entrywidth=0.48, entrywidthmode="fraction", font=dict(size=12))
    return fig.update_layout(legend=legend)


def ellipse(covariance: Tensor, center: Tensor) -> Tensor:
    """Points (RING + 1, 2) with (c - center)^T covariance^-1 (c - center) = 1."""
    angle = torch.linspace(0, 2 * torch.pi, RING + 1, dtype=torch.float64)
    values, vectors = torch.linalg.eigh(covariance.double())  # a flat ellipse has no Cholesky factor
    root = (vectors * values.clamp_min(0).sqrt()) @ vectors.T  # symmetric, so that ellipses in between are ellipses
    return center.double() + torch.stack([angle.cos(), angle.sin()], 1) @ root


def _half(step: Mechanism) -> float:
    """Half of the width of its ground."""
    return float(step.surface.a.max() - step.surface.a.min()) / 2


def _center(step: Mechanism) -> Tensor:
    """Where q's mean lies on its ground."""
    return torch.zeros(2, dtype=torch.float64) if step.center is None else step.center.double()


def _in_plane(stages: Sequence[Mechanism], k: int) -> str:
    """How much of the moves of the mean their shadows are long, as "65 to 93 %"."""
    shares = [100 * float(stage.worst[k].norm() / stage.length[k].clamp_min(1e-12)) for stage in stages]
    return f"{min(shares):.0f} to {max(shares):.0f} %"


def _path(stages: Sequence[Mechanism]) -> go.Scatter:
    """The means of q at all stages, which stand still."""
    line = dict(color=PATH, width=2, dash="dot")
    dots = dict(size=8, color=PATH, line=dict(color=INK, width=1))
    points = torch.stack([_center(stage) for stage in stages])
    names = [stage.name for stage in stages]
    look = dict(line=line, marker=dots, customdata=names, hovertemplate="%{customdata}<extra></extra>")
    return scatter(*points.T, "lines+markers", "means of q in training", legend=True, **look)


def _traces(step: Mechanism, k: int, phase: int, done: float, half: float) -> list[go.Scatter]:
    """Everything that moves, at `done` (0 to 1) of the way from `phase` to the next, at radius k; half: of the picture's width."""
    zero = torch.zeros(2, dtype=torch.float64)
    rest, worst = ellipse(step.covariance, zero), ellipse(step.worst_covariance[k], step.worst[k])
    there = step.worst[k].double()
    up, back = _unit(step.gradient) * ARROW * half, -_unit(step.there[k]) * STEP * half
    share = [0.0, 1.0, 1.0, 0.0, 0.0][phase], [0.0, 1.0, 1.0, 0.0, 0.0][min(phase + 1, 4)]
    at = share[0] + done * (share[1] - share[0])
    moving, place = torch.lerp(rest, worst, at), at * there
    fallen = back * (done if phase == 3 else float(phase == 4))
    grown = {0: 0.0, 1: done, 2: 1.0, 3: 1.0, 4: 1.0}[phase]
    arrow_at = there if phase == 4 else place
    sam = float(step.length[k])
    sams_move = _unit(step.gradient) if step.slope is None else step.gradient.double() / max(step.slope, 1e-12)
    circle = ellipse(torch.eye(2) * sam**2, zero)
    lines = [
        (rest, "q", dict(color=COLORS["q"], width=3)),
        (ellipse(step.ball[k], zero), "ball of the radius", dict(color=COLORS["worst"], width=2, dash="dash")),
        (circle, "SAM's ball", dict(color=COLORS["sam"], width=1.5, dash="dot")),
        (worst if phase == 4 else moving, "the worst q′", dict(color=COLORS["worst"], width=3)),
        (torch.stack([zero, there if phase == 4 else place]), "move of the mean", dict(color=COLORS["worst"], width=2)),
        (torch.stack([zero, sams_move * sam]), "SAM's move", dict(color=COLORS["sam"], width=1.5)),
    ]
    center = _center(step)
    lines = [(points + center, name, line) for points, name, line in lines]
    arrows = [
        (zero, up, "gradient g at q", INK),
        (arrow_at, _unit(step.there[k]) * ARROW * half * grown, "gradient g′ at q′", "#8a1c7c"),
        (zero, fallen, "step: − g′ from q", COLORS["q"]),
    ]
    gap = torch.full((1, 2), torch.nan, dtype=torch.float64)
    solid = torch.cat([part for i in (0, 3, 4, 5) for part in (lines[i][0], gap)])
    shafts = [part for start, move, *_ in arrows for part in (center + torch.stack([start, start + move]), gap)]
    solid = torch.cat([solid, *shafts])
    rim = scatter(*solid.T, "lines", "rim", line=dict(color="#fefefe", width=5), connectgaps=False)
    traces = [rim, *(_on_ground(points, name, line, legend=True) for points, name, line in lines)]
    return [*traces, *(_arrow(center + start, move, name, color) for start, move, name, color in arrows)]


def _on_ground(points: Tensor, name: str, line: dict, legend: bool) -> go.Scatter:
    return scatter(*points.T, "lines", name, legend=legend, line=line, hoverinfo="name")


def _arrow(start: Tensor, move: Tensor, name: str, color: str) -> go.Scatter:
    tip = dict(
        symbol="arrow",
        size=[0, 14 if float(move.norm()) > 0 else 0],
        angleref="previous",
        color=color,
        opacity=1,
        line=dict(color="#fefefe", width=1),
    )
    ends = torch.stack([start, start + move])
    return scatter(*ends.T, "lines+markers", name, legend=True, line=dict(color=color, width=3), marker=tip, hoverinfo="name")


def _unit(v: Tensor) -> Tensor:
    return v.double() / v.double().norm().clamp_min(1e-12)


def _frames(stages: Sequence[Mechanism], places: list[int]) -> tuple[list[go.Frame], list[tuple[str, str]]]:
    """Frames of the traces at `places`, and (name, label) of those that the slider stops at."""
    frames, stops = [], []
    rests = [(step, k) for step in stages for k in range(len(step.radius))]
    for at, (step, k) in enumerate(rests):
        stage = f"{step.name}, " if len(stages) > 1 else ""
        for phase, label in enumerate(PHASES):
            name = f"{at}.{phase}"
            stops.append((f"{name}.0", f"{stage}radius {short(step.radius[k])}: {label}"))
            following = rests[at + 1] if phase == len(PHASES) - 1 and at + 1 < len(rests) else None
            for i in range(TWEENS if phase < len(PHASES) - 1 or following else 1):
                data = _traces(step, k, phase, 0.0 if following else i / TWEENS, _half(step))
                if following and i:
                    data = _between(data, _traces(*following, 0, 0.0, _half(step)), i / TWEENS)
                frames.append(go.Frame(name=f"{name}.{i}", data=data, traces=places))
    return frames, stops


def _between(here: list[go.Scatter], there: list[go.Scatter], done: float) -> list[go.Scatter]:
    """The traces with every point at `done` of its straight way: ellipses are drawn at the same angles in both."""
    for a, b in zip(here, there):
        a.x, a.y = ((1 - done) * np.asarray(p) + done * np.asarray(r) for p, r in ((a.x, b.x), (a.y, b.y)))
    return here


def _controls(stops: list[tuple[str, str]], active: int) -> dict:
    settings = dict(frame=dict(duration=FRAME_MS, redraw=True), mode="immediate", transition=dict(duration=0))
    steps = [dict(label=label, method="animate", args=[[name], settings]) for name, label in stops]
    play = dict(label="▶", method="animate", args=[None, settings | dict(fromcurrent=True)])
    pause = dict(label="❚❚", method="animate", args=[[None], settings])
    menu = dict(
        type="buttons", direction="left", buttons=[play, pause], showactive=False, x=0, y=0, xanchor="left", yanchor="top"
    )
    beside = dict(l=110, t=114, b=0, r=10)  # px: the buttons stand on the left
    current = dict(visible=True, xanchor="left", prefix="", font=dict(size=14, color=MUTED))
    slider = dict(
        active=active,
        steps=steps,
        x=0,
        y=0,
        len=1,
        pad=beside,
        currentvalue=current,
        ticklen=0,
        font=dict(color="rgba(0,0,0,0)"),
    )
    slider["currentvalue"]["font"]["color"] = MUTED
    return dict(updatemenus=[menu | dict(pad=dict(t=126))], sliders=[slider])


def _alt(step: Mechanism, k: int) -> str:
    return (
        f"{step.name} on the {step.surface.plane.name}: at radius {short(step.radius[k])} the worst q′ raises the expected loss "
        f"from {short(step.loss)} to {short(float(step.worst_loss[k]))} nats; the step goes against the gradient there"
    )
