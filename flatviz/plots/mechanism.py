"""One step of SA-BMA drawn: ascend to the worst q' in the ball, descend by its gradient."""

from collections.abc import Sequence
from itertools import product
from typing import Literal, get_args

import numpy as np
import plotly.graph_objects as go
import torch
from torch import Tensor

from flatviz.catalog import LOOKS
from flatviz.checks import computed
from flatviz.core import public
from flatviz.plots.color import ColorScale
from flatviz.plots.ground import ellipse, ground, width_of
from flatviz.plots.theme import (
    INK,
    MUTED,
    Figure,
    Properties,
    points,
    short,
    span_of,
    style,
)
from flatviz.results import Family, Mechanism

Phase = Literal[
    "q and its ball", "ascend to the worst q′", "gradient there", "step back", "descend"
]
PHASES: tuple[Phase, ...] = get_args(Phase)
PHASE_TEXTS = (  # text of each phase, for any method's ball
    "every q′ that the radius allows",
    "q′ = q + Δ, the worst in the ball (to first order)",
    "g′ = ∇ E[NLL], taken at q′",
    "the mean is at q again, g′ is kept",
    "θ ← θ − lr g′ (g without a ball)",
)
ARROW = 0.3  # length of gradient arrows over half of the figure's width
STEP = 0.2  # length of the descent, likewise
HEAD = 14  # px, of an arrow's head
SHAFT = 0.7  # share of an arrow with a rim, which must end before the head
# Traces that do not move
FIXED = (
    "q",
    "ball of the radius",
    "SAM's ball",
    "SAM's move",
    "gradient g at q",
    "shaft of gradient g at q",
)
RIM = " rim"  # suffix of the name of the wider white line below a line
LABELS = {  # trace -> label, number of its point, side
    "q": ("q", 22, "top left"),
    "ball of the radius": ("ball", 18, "top left"),
    "SAM's ball": ("SAM's ball", 42, "bottom right"),
    "the worst q′": ("q′", 42, "bottom right"),
    "gradient g at q": ("g", 1, "top center"),
    "gradient g′ at q′": ("g′", 1, "top right"),
    "step: − g′ from q": ("−g′", 1, "bottom left"),
}
HALO = ", ".join(  # of a label, on any ground
    f"{x}px {y}px 1px #fefefe" for x in (-1.5, 0, 1.5) for y in (-1.5, 0, 1.5) if x or y
)
COLORS = dict(q=LOOKS["vi"].color, worst=LOOKS["sabma"].color, sam=LOOKS["sam_mu"].color)


def phase_traces(step: Mechanism, phase: int, k: int, half: float) -> list[go.Scatter]:
    """Draw everything that moves, at its place in a phase at radius k.

    half: half of the figure's width.  q' stays in place once the ascent has reached it; the dot is
    the mean, which is back at q from the fourth phase on.
    """
    zero = torch.zeros(2, dtype=torch.float64)
    there = step.worst[k].double()
    rest = ellipse(step.covariance, zero)
    worst = ellipse(step.worst_covariance[k], there)
    top = there if phase > 0 else zero
    length = float(step.length[k])
    back = _unit(step.there[k]) * half
    lines: list[tuple[Tensor, str, Properties]] = [
        (rest, "q", dict(color=COLORS["q"], width=3)),
        (
            ellipse(step.ball[k], zero),
            "ball of the radius",
            dict(color=COLORS["worst"], width=2, dash="dash"),
        ),
        (
            ellipse(torch.eye(2) * length**2, zero),
            "SAM's ball",
            dict(color=COLORS["sam"], width=1.5, dash="dot"),
        ),
        (worst if phase > 0 else rest, "the worst q′", dict(color=COLORS["worst"], width=3)),
        (torch.stack([zero, top]), "move of the mean", dict(color=COLORS["worst"], width=2)),
        (
            torch.stack([zero, _unit(step.gradient) * length]),
            "SAM's move",
            dict(color=COLORS["sam"], width=1.5),
        ),
    ]
    arrows = [
        (zero, _unit(step.gradient) * ARROW * half, "gradient g at q", "#1e2832"),
        (top, back * ARROW * (phase > 1), "gradient g′ at q′", "#8a1c7c"),
        (zero, -back * STEP * (phase > 3), "step: − g′ from q", COLORS["q"]),
    ]
    shafts = [
        (torch.stack([start, start + SHAFT * move]), f"shaft of {name}")
        for start, move, name, _ in arrows
    ]
    rims = [(at, f"{name}{RIM}") for at, name, line in lines if "dash" not in line] + shafts
    traces = [points(at, "lines", name, line=dict(color="#fefefe", width=5)) for at, name in rims]
    for at, name, line in lines:
        trace = points(at, "lines", name, line=line, hoverinfo="name")
        traces.append(labelled(trace, line["color"], name != "the worst q′" or phase > 0))
    traces += [_arrow(start, move, name, color) for start, move, name, color in arrows]
    dot = dict(size=11, color="#ffd23f", line=dict(color=INK, width=1.5))
    mean = top if phase < 3 else zero
    return [*traces, points(mean[None], "markers", "the mean now", marker=dot, hoverinfo="name")]


def labelled(trace: go.Scatter, color: str, shown: bool = True) -> go.Scatter:
    """Add the trace's label beside one of its points, if it has one and is shown."""
    text, at, side = LABELS.get(trace.name, ("", 0, None))
    texts = [text if i == at and shown else "" for i in range(len(trace.x))]
    font = dict(color=color, size=14, weight=700, shadow=HALO)
    return trace.update(mode=f"{trace.mode}+text", text=texts, textposition=side, textfont=font)


def _arrow(start: Tensor, move: Tensor, name: str, color: str) -> go.Scatter:
    shown = float(move.norm()) > 0
    edge = dict(color="#fefefe", width=1)
    tip = dict(
        symbol="arrow",
        size=[0, HEAD * shown],
        angleref="previous",
        color=color,
        opacity=1,
        line=edge,
    )
    ends = torch.stack([start, start + move])
    return labelled(
        points(
            ends,
            "lines+markers",
            name,
            hoverinfo="name",
            line=dict(color=color, width=3),
            marker=tip,
        ),
        color,
        shown,
    )


def _unit(v: Tensor) -> Tensor:
    return v.double() / v.double().norm().clamp_min(1e-12)


FRAME_MS = 1400  # duration of a phase
MARGIN = 1.12  # half of the width of a figure of one radius, over what is drawn
IN_SIGHT = 0.9  # share of the ground's width that a family's step shows, at any radius
# Traces in the method's colour, by the kind of its ball
OF_METHOD = (
    "ball of the radius",
    "the worst q′",
    "move of the mean",
)
# a trace -> kinds of step that have it
OF_BALL: dict[str, Sequence[str]] = dict.fromkeys(
    [*OF_METHOD, "gradient g′ at q′"], ("kl", "sam", "other")
)
OF_BALL |= dict.fromkeys(["SAM's ball", "SAM's move"], ("kl",))
ALTS = {
    "kl": (
        "q as an ellipse, the ball of the radius around it, the worst q′ in it, the gradients at"
        " both and the step"
    ),
    "sam": (
        "q as an ellipse, SAM's round ball around its mean, the worst q′ in it, the gradients at"
        " both and the step"
    ),
    "other": (
        "q as an ellipse, the round ball of the radius, where q′ is, the gradients at both and the"
        " step"
    ),
}
NO_BALL = "q as an ellipse, the gradient there and VI's step; there is no ball"


@public
def plot_mechanism(step: Mechanism, *, title: str | None = None) -> Figure:
    """Draw a step at several radii: q, the ball around it, the worst q' in it, and the step.

    Solid ellipses are one standard deviation of q and q'.  The dashed one is the projection of the
    ball KL(q' || q) <= radius^2 / 2 of moves of the mean, q's ellipse times the radius.  The dotted
    circle is SAM's ball of the same reach, whose worst point lies along the gradient.  Gradient
    arrows show directions: all have one length.  The play button goes through ascent, gradient,
    return and descent, for each radius.  `perturb` and `fit_sabma` have the equations.

    Args:
        step: From `fv.families.mechanism`.
        title: Default: of which q.

    Example:
        >>> net = fv.Net.from_module(torch.nn.Linear(2, 3))
        >>> data = fv.Data(torch.randn(12, 2), torch.arange(12) % 3)
        >>> q = fv.Gaussian(net.w, torch.linspace(-2, -1, net.dim))
        >>> how = dict(radii=[0.5, 1.0], seed=0, n_draws=4, resolution=5)
        >>> fig = fv.plots.plot_mechanism(fv.families.mechanism(net, data, q, **how))
        >>> [s.label for s in fig.layout.sliders[0].steps][:2]
        ['radius 0.5: q and its ball', 'radius 0.5: ascend to the worst q′']
    """
    last = len(step.radius) - 1
    fig = _figure(step, title or f"One step of SA-BMA from {step.name}", _alt(step, last))
    traces = phase_traces(step, 1, last, _half(step))
    start = len(fig.data)
    cells = list(product(range(last + 1), range(len(PHASES))))
    places = list(range(start, start + len(traces)))
    labels = [f"radius {short(step.radius[k])}: {PHASES[p]}" for k, p in cells]
    data = [phase_traces(step, phase, k, _half(step)) for k, phase in cells]
    fig.frames = [go.Frame(name=str(i), data=drawn, traces=places) for i, drawn in enumerate(data)]
    fig.add_traces(traces)
    fig.update_layout(_player(labels, active=len(PHASES) * last + 1))
    return fig.update_layout(height=780, margin=dict(l=60, r=20, t=44, b=190))


def _player(labels: Sequence[str], active: int) -> dict:
    """Describe buttons that play and pause, and a slider that stops at each frame."""
    # Redraw the ground with each frame, as plotly drops it while markers move
    settings = dict(
        frame=dict(duration=FRAME_MS, redraw=True), mode="immediate", transition=dict(duration=0)
    )
    steps = [
        dict(label=label, method="animate", args=[[str(i)], settings])
        for i, label in enumerate(labels)
    ]
    play = dict(label="▶", method="animate", args=[None, settings | dict(fromcurrent=True)])
    buttons = [play, dict(label="❚❚", method="animate", args=[[None], settings])]
    # 126 px are below the small print
    menu = dict(
        type="buttons",
        direction="left",
        buttons=buttons,
        showactive=False,
        x=0,
        y=0,
        xanchor="left",
        yanchor="top",
        pad=dict(t=126),
    )
    current = dict(visible=True, xanchor="left", prefix="", font=dict(size=14, color=MUTED))
    return dict(
        updatemenus=[menu],
        sliders=[
            dict(
                steps=steps,
                active=active,
                x=0,
                y=0,
                len=1,
                currentvalue=current,
                font=dict(color="rgba(0,0,0,0)"),
                pad=dict(l=110, t=114, r=10),
                ticklen=0,
            )
        ],
    )


def plot_step(family: Family, i: int) -> Figure:
    """Draw the step from VI's posterior at the radius of member i, in phases, the last at rest.

    Everything but the ground follows it.  Axes are as wide as the ground, which reaches as far as
    the largest radius, so that the ball grows and q stays; a member that reaches further has wider
    ones. Moving traces have the colour of the member's method; those that its step lacks are left
    out.
    """
    step = computed(family[i].step)
    kind = kind_of(family, i)
    half = max(MARGIN * step.reach(0), IN_SIGHT * _half(step))
    fig = _figure(step, "One step from VI's posterior", ALTS.get(kind, NO_BALL))
    fig.update_layout(xaxis_range=[-half, half], yaxis_range=[-half, half])
    fig = _in_phases(fig, step, half)
    color = style(family[i].method).color
    for k, trace in enumerate(fig.data):
        name = trace.name.removesuffix(RIM).removeprefix("shaft of ")
        if name in OF_BALL:
            trace.visible = kind in OF_BALL[name]
            fig.follow({f"data.{k}.visible": trace.visible}, rows="all", trace=trace.name)
        if name in OF_METHOD and not trace.name.endswith(RIM):
            trace.line.color = trace.textfont.color = color
            fig.follow(
                {f"data.{k}.line.color": color, f"data.{k}.textfont.color": color},
                rows="all",
                trace=trace.name,
            )
    return fig


def kind_of(family: Family, i: int) -> str:
    """Name the kind of a member's ball: "kl" of `kl_exact`, "sam" along g, "other" Euclidean.

    Without a ball it is "none" at radius 0, "not" for a method that never has one.
    """
    method = family[i].method
    if (mode := LOOKS[method].perturbation if method in LOOKS else None) is None and method != "vi":
        return "not"
    if mode is None or family[i].radius == 0:
        return "none"
    return {"kl_exact": "kl", "sam_mu": "sam"}.get(mode, "other")


def _in_phases(fig: Figure, step: Mechanism, half: float) -> Figure:
    """Add what moves, a row for each phase at the first radius; the last one is drawn."""
    rows = [phase_traces(step, phase, 0, half) for phase in range(len(PHASES))]
    for traces in zip(*rows):
        paths = (
            ["x", "y"]
            + ["marker.size"] * (traces[0].marker.symbol == "arrow")
            + ["text"] * bool(traces[0].text)
        )
        name = traces[0].name.removesuffix(RIM)  # a rim lies where its line does
        for path in paths:
            values = np.array([np.asarray(trace[path]) for trace in traces])
            fixed = name in FIXED
            fig.follow(
                {f"data.{len(fig.data)}.{path}": values[-1] if fixed else values},
                rows="all" if fixed else "phase",
                trace=name,
                key=f"{name} {path}",
            )
        fig.add_trace(traces[-1])
    at_worst = f", {short(float(step.worst_loss[0]))} at q′"
    raised = [
        f"expected loss {short(step.loss)} at q{at_worst * (phase > 0)}"
        for phase in range(len(PHASES))
    ]
    path = fig.add_text(raised[-1], font=dict(size=12), yshift=4)
    fig.follow({f"{path}.text": raised}, rows="phase")
    return fig.update_layout(margin=dict(t=60))


def _figure(step: Mechanism, title: str, alt: str) -> Figure:
    """Draw the ground of a step, with room for labels beside it."""
    surface = computed(step.surface)
    fig = ground(surface, ColorScale.over(surface.values), title, alt)
    ends = dict(xaxis_range=span_of(surface.a), yaxis_range=span_of(surface.b))
    return fig.update_layout(ends, width=width_of(surface) + 160)


def _half(step: Mechanism) -> float:
    """Return half of the width of the step's ground."""
    lo, hi = span_of(computed(step.surface).a)
    return (hi - lo) / 2


def _alt(step: Mechanism, k: int) -> str:
    rise = (
        f"raises the expected loss from {short(step.loss)} to {short(float(step.worst_loss[k]))}"
        " nats"
    )
    where = (
        f"{step.name} on the {computed(step.surface).plane.name}: at radius {short(step.radius[k])}"
    )
    return f"{where} the worst q′ {rise}; the step goes against the gradient there"
