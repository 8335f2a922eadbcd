"""One step of SA-BMA drawn: ascend to the worst q' in the ball, take the gradient there, step back, descend."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
import torch

from flatviz.catalog import LOOKS
from flatviz.core.boundary import public
from flatviz.plots.animation import player
from flatviz.plots.color import ColorScale
from flatviz.plots.ground import ground, width_of
from flatviz.plots.nouns import one_or_several
from flatviz.plots.step import PHASES, RIM, STILL, labelled, mean_of, phase_traces
from flatviz.plots.theme import INK, MUTED, Figure, scatter, short, style
from flatviz.results import Family, Mechanism, Surface

TWEENS = 5  # frames from one phase to the next
FRAME_MS = 70
CURRENT = dict(size=14, color=MUTED)  # the label of the stop at which the slider is
ROOM = 1.12  # times what is drawn: half of the width of a picture of one radius
IN_SIGHT = 0.9  # share of the ground's width that the step of a family shows, whatever its radius
OF_METHOD = ("ball of the radius", "the worst q′", "move of the mean")  # traces in the colour of the method, of each ball
OF_BALL = dict.fromkeys([*OF_METHOD, "gradient g′ at q′"], ("kl", "sam", "other"))  # a trace -> kinds of step that have it
OF_BALL |= dict.fromkeys(["SAM's ball", "SAM's move"], ("kl",))
ALTS = {
    "kl": "q as an ellipse, the ball of the radius around it, the worst q′ in it, the gradients at both and the step",
    "sam": "q as an ellipse, SAM's round ball around its mean, the worst q′ in it, the gradients at both and the step",
    "other": "q as an ellipse, the round ball of the radius, where q′ is, the gradients at both and the step",
}
NO_BALL = "q as an ellipse, the gradient there and VI's step; there is no ball"
PATH = "#56B4E9"  # readable on dark and on white


@public
def plot_mechanism(step: Mechanism | Sequence[Mechanism], *, title: str | None = None) -> Figure:
    """What the radius does: q as an ellipse, the ball around it, the worst q' in it, and the step that follows.

    Solid ellipses are one standard deviation of q and q'.  The dashed one is the shadow of the ball
    KL(q' || q) <= radius^2 / 2 of moves of the mean: q's own ellipse times the radius.  The dotted circle is SAM's ball of
    the same reach, whose worst point lies along the gradient.  Gradient arrows show directions: all have one length.  The
    play button goes through ascend, gradient there, step back, descend, for each radius and, of several steps, for each
    stage of training; from each phase to the next all moves in a straight line.  "in steps" plays the phases without motion
    between them: plotly cannot read that a reader asks for less motion, as page and lab do, so the reader chooses.

        Delta = radius F^-1 g / sqrt(g^T F^-1 g),   theta <- theta - lr grad NLL(q + Delta)

    Args:
        step: what `fv.families.mechanism` returned; or stages of one training, as `fv.families.mechanism_in_training` returns them.
        title: default: of which q.

    Raises:
        ValueError: For no step, or several that are not on one surface.

    Example:
        >>> net = fv.Net.from_module(torch.nn.Linear(2, 3))
        >>> data = fv.Data(torch.randn(12, 2), torch.arange(12) % 3)
        >>> q = fv.Gaussian(net.w, torch.linspace(-2, -1, net.dim))
        >>> step = fv.families.mechanism(net, data, q, radii=[0.5, 1.0], seed=0, n_draws=4, resolution=5)
        >>> fig = fv.plots.plot_mechanism(step)
        >>> [s.label for s in fig.layout.sliders[0].steps][:2]
        ['radius 0.5: q and its ball', 'radius 0.5: ascend to the worst q′']
    """
    stages = one_or_several(step)
    first, last = stages[0], len(stages[0].radius) - 1
    if not all(_same_ground(stage.surface, first.surface) for stage in stages):
        raise ValueError(
            "several steps must share one surface: fv.families.mechanism_in_training makes such, plot others one by one"
        )
    several = len(stages) > 1
    from_where = f"{len(stages)} moments of training" if several else first.name
    alt = "; later, ".join(_alt(stage, last) for stage in stages[:: max(1, len(stages) - 1)])
    alt += f"; the plane holds {in_plane(stages, last)} of each move's length" if several else ""
    fig = _figure(first.surface, title or f"One step of SA-BMA from {from_where}", alt)
    if several:
        fig.add_trace(_path(stages))
    fig.frames, labels = _frames(stages, len(fig.data))
    fig.add_traces(phase_traces(first, 1, last, _half(first)))
    font = dict(font=dict(color="rgba(0,0,0,0)"), currentvalue=dict(visible=True, xanchor="left", prefix="", font=CURRENT))
    how = dict(t=126, left=200, jump=TWEENS * FRAME_MS * 4, active=len(PHASES) * last + 1)  # px: the buttons stand on the left
    fig.update_layout(**player(labels, FRAME_MS, **how, **font))
    return fig.update_layout(height=780, margin=dict(l=60, r=20, t=44, b=190))


def plot_step(family: Family, i: int) -> Figure:
    """The step from VI's posterior at the radius of member i, in phases, the last at rest; everything but the ground follows it.

    Axes are as wide as the ground, which reaches as far as the largest radius, so that the ball grows and q stays; a member
    that reaches further has wider ones.  What moves has the colour of the member's method, and what its step has not is left out.
    """
    step, kind = family[i].step, kind_of(family, i)
    half = max(ROOM * step.reach(0), IN_SIGHT * _half(step))
    fig = _figure(step.surface, "One step from VI's posterior", ALTS.get(kind, NO_BALL))
    fig.update_layout(xaxis_range=[-half, half], yaxis_range=[-half, half])
    color = style(family[i].method).color
    fig = _in_phases(fig, [step], half)
    for k, trace in enumerate(fig.data):
        name = trace.name.removesuffix(RIM).removeprefix("shaft of ")
        if name in OF_BALL:
            trace.visible = kind in OF_BALL[name]
            fig.follow({f"data.{k}.visible": trace.visible}, rows="all", trace=trace.name)
        if name in OF_METHOD and not trace.name.endswith(RIM):
            trace.line.color = trace.textfont.color = color
            fig.follow({f"data.{k}.line.color": color, f"data.{k}.textfont.color": color}, rows="all", trace=trace.name)
    return fig


def kind_of(family: Family, i: int) -> str:
    """What the step of a member is: "kl", of `kl_exact`; "sam", along g; "other", of another Euclidean ball.

    Without a ball: "none" at radius 0, "not" for a method that never has one.
    """
    method = family[i].method
    mode = LOOKS[method].perturbation if method in LOOKS else None
    if mode is None and method != "vi":
        return "not"
    if mode is None or family[i].radius == 0:
        return "none"
    return {"kl_exact": "kl", "sam_mu": "sam"}.get(mode, "other")


def plot_moments(stages: Sequence[Mechanism]) -> Figure:
    """The step at several moments of one training, each in phases, the last at rest; the ground and the path of q's mean stay."""
    first = stages[0]
    alt = f"the step at radius {short(first.radius[0])} at {len(stages)} moments of training, with the path of q's mean"
    fig = _figure(first.surface, f"One step at {len(stages)} moments of training", alt)
    fig.add_trace(_path(stages))
    return _in_phases(fig, stages, _half(first))


def _in_phases(fig: Figure, steps: Sequence[Mechanism], half: float) -> Figure:
    """Add what moves, a row for each phase of each of `steps` at its first radius: the last one is drawn."""
    shown = [(step, phase) for step in steps for phase in range(len(PHASES))]
    rows = [phase_traces(step, phase, 0, half) for step, phase in shown]
    for traces in zip(*rows):
        paths = ["x", "y"] + ["marker.size"] * (traces[0].marker.symbol == "arrow") + ["text"] * bool(traces[0].text)
        name = traces[0].name.removesuffix(RIM)  # a rim lies where its line does
        for path in paths:
            values = np.array([np.asarray(trace[path]) for trace in traces])
            still = len(steps) == 1 and name in STILL
            moving = dict(rows="all" if still else "phase", trace=name, key=f"{name} {path}")
            fig.follow({f"data.{len(fig.data)}.{path}": values[-1] if still else values}, **moving)
        fig.add_trace(traces[-1])
    raised = [_raised(step, phase, named=len(steps) > 1) for step, phase in shown]
    path = fig.add_text(raised[-1], font=dict(size=12), yshift=4)
    fig.follow({f"{path}.text": raised}, rows="phase")
    return fig.update_layout(margin=dict(t=60))


def _raised(step: Mechanism, phase: int, *, named: bool) -> str:
    """What the ascent raises, as far as the phase has come."""
    at_worst = f", {short(float(step.worst_loss[0]))} at q′" if phase else ""
    return f"{step.name + ': ' if named else ''}expected loss {short(step.loss)} at q{at_worst}"


def _figure(surface: Surface, title: str, alt: str) -> Figure:
    """The ground of a step, with room for labels beside it."""
    fig = ground(surface, ColorScale.of(surface), title, alt)
    ends = {axis: [float(ticks.min()), float(ticks.max())] for axis, ticks in (("x", surface.a), ("y", surface.b))}
    return fig.update_layout(xaxis_range=ends["x"], yaxis_range=ends["y"], width=width_of(surface) + 160)


def _same_ground(a: Surface, b: Surface) -> bool:
    """Whether two surfaces are one: stages that were read from disk have a copy each."""
    pairs = ((a.values, b.values), (a.plane.origin, b.plane.origin), (a.plane.axes, b.plane.axes), (a.a, b.a), (a.b, b.b))
    return a is b or all(x.shape == y.shape and torch.equal(x, y) for x, y in pairs)


def in_plane(stages: Sequence[Mechanism], k: int) -> str:
    """How much of the moves of the mean their shadows are long, as "65 to 93 %"."""
    shares = [100 * float(stage.worst[k].norm() / stage.length[k].clamp_min(1e-12)) for stage in stages]
    return f"{min(shares):.0f} to {max(shares):.0f} %"


def _half(step: Mechanism) -> float:
    """Half of the width of its ground."""
    return float(step.surface.a.max() - step.surface.a.min()) / 2


def _path(stages: Sequence[Mechanism]) -> go.Scatter:
    """The means of q at all stages, which do not move."""
    line = dict(color=PATH, width=2, dash="dot")
    dots = dict(size=8, color=PATH, line=dict(color=INK, width=1))
    points = torch.stack([mean_of(stage) for stage in stages])
    names = [stage.name for stage in stages]
    look = dict(line=line, marker=dots, customdata=names, hovertemplate="%{customdata}<extra></extra>")
    return labelled(scatter(*points.T, "lines+markers", "path of q's mean", **look), PATH)


def _frames(stages: Sequence[Mechanism], start: int) -> tuple[list[go.Frame], list[tuple[str, str]]]:
    """Frames of the traces from number `start` on, and (name, label) of those that the slider stops at."""
    shown = [(step, k, phase) for step in stages for k in range(len(step.radius)) for phase in range(len(PHASES))]
    rests = [phase_traces(step, phase, k, _half(step)) for step, k, phase in shown]
    places, frames, stops = list(range(start, start + len(rests[0]))), [], []
    for at, (step, k, phase) in enumerate(shown):
        stage = f"{step.name}, " if len(stages) > 1 else ""
        name = f"{at // len(PHASES)}.{phase}"
        stops.append((f"{name}.0", f"{stage}radius {short(step.radius[k])}: {PHASES[phase]}"))
        for i in range(TWEENS if at + 1 < len(shown) else 1):
            data = _between(rests[at], rests[at + 1], i / TWEENS) if i else rests[at]
            frames.append(go.Frame(name=f"{name}.{i}", data=data, traces=places))
    return frames, stops


def _between(here: list[go.Scatter], there: list[go.Scatter], done: float) -> list[go.Scatter]:
    """Every point, and the size of every arrow's head, at `done` of its straight way: ellipses are drawn at the same angles."""
    mixed = [go.Scatter(trace) for trace in here]
    for trace, a, b in zip(mixed, here, there):
        trace.x, trace.y = ((1 - done) * np.asarray(a[axis]) + done * np.asarray(b[axis]) for axis in "xy")
        if a.marker.symbol == "arrow":
            trace.marker.size = (1 - done) * np.asarray(a.marker.size) + done * np.asarray(b.marker.size)
    return mixed


def _alt(step: Mechanism, k: int) -> str:
    rise = f"from {short(step.loss)} to {short(float(step.worst_loss[k]))} nats"
    worst = f"at radius {short(step.radius[k])} the worst q′ raises the expected loss {rise}"
    return f"{step.name} on the {step.surface.plane.name}: {worst}; the step goes against the gradient there"
