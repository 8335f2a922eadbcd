"""The pictures of page and lab: one entry each in `VIEWS`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from torch import Tensor

from flatviz.pages.scene import Scene
from flatviz.plots.basin import plot_basin
from flatviz.plots.images import plot_images
from flatviz.plots.inputs import plot_input_maps
from flatviz.plots.mechanism import plot_step
from flatviz.plots.metrics import plot_metrics
from flatviz.plots.projection import plot_projection
from flatviz.plots.radius import columns_of, plot_flatness_against_radius
from flatviz.plots.reliability import plot_reliability
from flatviz.plots.spectrum import plot_spectrum
from flatviz.plots.surface import plot_surface
from flatviz.plots.surface_3d import plot_surface_3d
from flatviz.plots.theme import Figure
from flatviz.results import Family


@dataclass(frozen=True)
class View:
    """One picture: which figure a member of a family has, and how it stands in the page.

    name: of the picture; draw: (scene, member) -> figure, whose `live` properties follow the controls.  The figures of all
    members have the same live properties in the same order.  caption: may hold the names of `Scene.words` in braces.
    alt: what the picture is, for a reader who does not see it; what the controls select is said after it.  "": the figure's
        own text, where that holds for every ensemble size.
    span: columns of twelve; height: px.  fixed: traces that the family shares, so that their live properties stay.
    shared: axes whose range holds every member's, so that a control moves the picture and not the scale.
    when: whether a family has this picture at all.
    group: the tab under which it stands; views of a tab are in sight together.
    slot, option: views of one slot are alternatives, one frame with a menu of their options.
    link: name of a trace -> what its points are: "draws", one each, or "eigenvalues", those of each draw one after the
        other; {"x": "sizes"} where x counts draws.  A draw that the reader points at is marked in every linked view.
    """

    name: str
    draw: Callable[[Scene, int], Figure]
    caption: str
    span: int = 4
    height: int = 380
    fixed: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()
    alt: str = ""
    when: Callable[[Family], bool] = lambda family: True
    group: str = "More"
    slot: str = ""
    option: str = ""
    link: Mapping[str, str] = field(default_factory=dict)
    kind: str = "plotly"


def _surface(scene: Scene, i: int) -> Figure:
    family = scene.family
    beside = dict(method=family.method[i], reference={m: family.projection[j] for m, j in scene.references.items()})
    fig = plot_surface(family.surface, family.projection[i], title="Loss surface and samples", **beside, **scene.colors)
    for axis, ticks, at in zip("xy", (family.surface.a, family.surface.b), family.projection[i].coords.T):
        fig.layout[f"{axis}axis"].range = _reach(ticks, at)  # given, not found: a draw at the edge must not move the ground
    return fig


def _reach(ticks: Tensor, at: Tensor) -> list[float]:
    """The ends of an axis that holds the surface and these draws with their markers."""
    lo, hi = float(ticks.min()), float(ticks.max())
    at, room = at[at.isfinite()], 0.03 * (hi - lo)
    return [min([lo, *(at - room).tolist()]), max([hi, *(at + room).tolist()])]


def _relief(scene: Scene, i: int) -> Figure:
    family, method = scene.family, scene.family.method[i]
    title = "Loss surface and samples, in relief"
    fig = plot_surface_3d(family.surface, family.projection[i], method=method, title=title, **scene.colors)
    for k, trace in enumerate(fig.data):
        if trace.name == "drop lines":
            fig.follow({f"data.{k}.{axis}": trace[axis] for axis in "xyz"}, rows="segments")
            fig.follow({f"data.{k}.line.color": trace.line.color}, rows="all")
        elif trace.type == "scatter3d" and trace.name != "diverged":
            fig.follow({f"data.{k}.{name}": trace[name] for name in ("x", "y", "z", "customdata")}, rows="draws")
            fig.follow({f"data.{k}.name": trace.name, f"data.{k}.marker.color": trace.marker.color}, rows="all")
    return fig


def _around(scene: Scene, i: int) -> Figure:
    title = "Rise above the center, random directions"
    return plot_basin(scene.family.around[i], color_range=scene.rises["around"], title=title)


def _sharpest(scene: Scene, i: int) -> Figure:
    title = "Rise above the center, sharpest directions"
    return plot_basin(scene.family.sharpest[i], color_range=scene.rises["sharpest"], title=title)


def _hidden(scene: Scene, i: int) -> Figure:
    fig = plot_projection(scene.family.projection[i], method=scene.family.method[i], color_bar=False, **scene.colors)
    far = 100 * fig.layout.xaxis.range[1]  # a member fitted later may lie further out
    return fig.update_traces(x=[0, far], y=[0, far], selector=dict(name="equal"))


def _inputs(scene: Scene, i: int) -> Figure:
    return plot_input_maps(scene.family, i)


def _images(scene: Scene, i: int) -> Figure:
    return plot_images(scene.family, i)


def _mechanism(scene: Scene, i: int) -> Figure:
    return plot_step(scene.family, i)


def _radius(scene: Scene, i: int) -> Figure:
    family = scene.family
    return plot_flatness_against_radius(family, method=family.method[i], radius=family.radius[i])


def _spectrum(scene: Scene, i: int) -> Figure:
    family = scene.family
    reference = {m: family.spectrum[j] for m, j in scene.references.items()}
    return plot_spectrum(family.spectrum[i], method=family.method[i], reference=reference)


def _metrics(scene: Scene, i: int) -> Figure:
    family = scene.family
    reference = {m: family.prediction[j] for m, j in scene.references.items()}
    return plot_metrics(family.prediction[i], method=family.method[i], reference=reference, n_draws=scene.n_max)


def _reliability(scene: Scene, i: int) -> Figure:
    return plot_reliability(scene.family.prediction[i], method=scene.family.method[i])


VIEWS = (
    View(
        "surface",
        _surface,
        "The {label} of the training set on the plane of most variance of all methods' draws{share}. Circles are draws of the "
        "selected method: place is their shadow on the plane, the ring's colour their own true loss, size their distance from "
        "the plane. Most of a draw lies outside the plane, so a ring differs from the ground. Small crosses: VI's draws, and MAP.",
        span=5,
        height=470,
        fixed=("surface",),
        shared=("xaxis", "yaxis"),
        alt="draws as circles over contours of the training loss, on the plane of most variance of all draws",
        group="Surface",
        slot="surface",
        option="map",
        link={"samples": "draws"},
    ),
    View(
        "relief",
        _relief,
        "The same surface in relief. Each draw of the selected method stands at the height of its own true loss; the line from it "
        "down, or up, to the surface is what the plane does not show.",
        span=5,
        height=470,
        alt="draws on drop lines over the training loss in relief",
        group="Surface",
        slot="surface",
        option="relief in 3-D",
    ),
    View(
        "mechanism",
        _mechanism,
        "What the radius does, on the plane of one step from VI's posterior q: the dashed ball is as large as the radius; the worst "
        "q′ in it, Δ = radius F⁻¹g / √(gᵀF⁻¹g) away, lies where the loss rises most for its distance in KL. The step takes the "
        "gradient g′ there and goes against it from q: θ ← θ − lr ∇NLL(q + Δ). SAM's ball of the same reach is round, so its worst "
        "point lies along the gradient g. Ellipses are one standard deviation; gradient arrows show directions.",
        span=5,
        height=600,
        alt="q as an ellipse, the ball of the radius around it, the worst q′ in it, the gradients at both and the step",
        fixed=("surface",),
        group="Radius",
        when=lambda family: bool(family.mechanism),
    ),
    View(
        "radius",
        _radius,
        "Largest Hessian eigenvalue of the training loss, and scores of the test split with the largest ensemble, against the "
        "radius of each method, in its own unit. A ring marks what is selected; at radius 0 both methods are VI. {seeds} {radius}.",
        span=7,
        height=600,
        alt="largest eigenvalue, NLL, accuracy and ECE against the radius of each method, with a ring at what is selected",
        group="Radius",
        when=lambda family: bool(columns_of(family)),
    ),
    View(
        "sharpest",
        _sharpest,
        "How far the training loss rises above the center's own along the two sharpest directions there, as far for every "
        "posterior, in the same colours. The bold line is where it has risen by {level} nats. {sharpest} {floor}",
        height=470,
        group="Flatness",
        slot="directions",
        option="sharpest directions",
    ),
    View(
        "around",
        _around,
        "The same along two random directions, one pair for all posteriors; a step of 1 moves each filter by its own length. "
        "{around}",
        height=470,
        group="Flatness",
        slot="directions",
        option="random directions",
    ),
    View(
        "hidden",
        _hidden,
        "Each draw's distance from the middle of the first picture, in its plane and off it; rings as there. Above the dashed "
        "line the plane hides more than it shows.",
        span=3,
        height=470,
        shared=("xaxis", "yaxis"),
        alt="each draw's distance from the middle of the surface, in its plane and off it",
        group="Surface",
        link={"samples": "draws"},
    ),
    View(
        "inputs",
        _inputs,
        "What the task looks like from inside: the probability of class 1 at every input, of VI, of the selected posterior at the "
        "selected ensemble size, and of HMC, the exact answer for the same prior. White: even odds. A posterior that knows what it "
        "does not know fades to white away from the training points, which are drawn.",
        span=12,
        height=470,
        alt="probability of class 1 over the plane of inputs, of VI, the selected posterior and HMC, with the training points",
        group="Inputs",
        when=lambda family: bool(family.inputs),
    ),
    View(
        "spectrum",
        _spectrum,
        "Largest Hessian eigenvalues at several draws: how sharply the loss curves. Lower is flatter. Error bars are residuals.",
        shared=("yaxis",),
        group="Flatness",
        link={"draws": "eigenvalues"},
    ),
    View(
        "metrics",
        _metrics,
        "Scores on the test split when 1, 2, 3 ... draws are averaged; NLL in nats. High accuracy, low NLL and ECE are "
        "good. MAP is one network, hence a flat line. The band is the 95 % interval of an accuracy on that many test images: "
        "what lies inside it may be the luck of the test set.",
        shared=("yaxis", "yaxis2", "yaxis3"),
        alt="accuracy, NLL and ECE against the number of draws that are averaged, beside VI and MAP",
        group="Scores",
        link={"x": "sizes"},
    ),
    View(
        "reliability",
        _reliability,
        "How often a prediction of some confidence is right, with 95 % intervals; bins of few images fade. Bars below the "
        "diagonal: too sure of itself.",
        shared=("yaxis2",),
        alt="bars of accuracy by confidence, the diagonal of perfect calibration, and the counts below",
        group="Scores",
    ),
    View(
        "images",
        _images,
        "The test images on which the draws disagree most, of the whole test split, and what each draw says. Disagreement is the "
        "mutual information of label and draw over the draws shown, H(p̄) − mean H(pₘ), in nats; one draw disagrees with "
        "nobody, so for it the images of its largest entropy stand here. Point at an image: each thin line is one draw's class "
        "probabilities, bars are their mean. Point at a draw here or in another picture: its answers stand below the images.",
        span=12,
        height=470,
        alt="the test images on which draws disagree most, and each draw's class probabilities for one of them",
        group="Images",
        when=lambda family: bool(family.images),
        kind="images",
    ),
)


def views_of(family: Family) -> tuple[View, ...]:
    """The pictures that this family has."""
    return tuple(view for view in VIEWS if view.when(family))
