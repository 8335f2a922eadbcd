"""The pictures of page and lab with their captions, all in one file (hence its length): one entry each in `VIEWS`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from flatviz.pages.grounds import PLANES, accuracy, averaged, basin, shared
from flatviz.pages.scene import Scene
from flatviz.plots.images import plot_images
from flatviz.plots.inputs import plot_input_maps
from flatviz.plots.mechanism import CAPTIONS, caption_of_step, plot_moments, plot_step
from flatviz.plots.metrics import plot_metrics
from flatviz.plots.projection import plot_projection
from flatviz.plots.radius import columns_of, radius_figure
from flatviz.plots.regression import plot_gap
from flatviz.plots.reliability import plot_reliability
from flatviz.plots.spectrum import plot_spectrum
from flatviz.plots.step import DOES, PHASES
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
    least: px of width; where its column is narrower, the views of its tab stand one below the other.
    shared: axes whose range holds every member's, so that a control moves the picture and not the scale.
    when: whether a family has this picture at all.
    group: the tab under which it stands; views of a tab are in sight together.
    slot, option: views of one slot are alternatives, one frame with a menu for each name of their options.
    needs: what of `families.family.SURFACES` the picture is made of, so that a preview computes that first.
    data: views of one `data` share the arrays of one `Live.key`; "": the view's own.
    like: name of the view whose live properties this one's are: its figure is made once, not for every member.
    phases: for each row of its properties of `rows="phase"`, what the phase is called and does; of several moments, all phases
        of one after the other.
    said: the caption at a member, where that depends on what is drawn.
    common: what it shows is the same for every member, so that it is kept once and drawn once beside another state.
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
    option: Mapping[str, str] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    data: str = ""
    like: str = ""
    link: Mapping[str, str] = field(default_factory=dict)
    kind: str = "plotly"
    least: int = 0
    phases: Callable[[Family], Sequence[tuple[str, str]]] = lambda family: ()
    common: bool = False
    said: Callable[[Family, int], str] | None = None

    @property
    def chosen(self) -> str:
        """What a state says of its slot where this view is shown."""
        return ", ".join(self.option.values())


def _hidden(scene: Scene, i: int) -> Figure:
    fig = plot_projection(scene.family[i].projection, method=scene.family[i].method, color_bar=False, **scene.colors)
    far = 100 * fig.layout.xaxis.range[1]  # a member fitted later may lie further out
    return fig.update_traces(x=[0, far], y=[0, far], selector=dict(name="equal"))


def _inputs(scene: Scene, i: int) -> Figure:
    return plot_input_maps(scene.family, i)


def _gap(scene: Scene, i: int) -> Figure:
    return plot_gap(scene.family, i)


def _images(scene: Scene, i: int) -> Figure:
    return plot_images(scene.family, i, scene.image)


def _mechanism(scene: Scene, i: int) -> Figure:
    return plot_step(scene.family, i)


def _moments(scene: Scene, i: int) -> Figure:
    return plot_moments(scene.family.stages)


def _radius(scene: Scene, i: int) -> Figure:
    family = scene.family
    return radius_figure(family, family[i].method, family[i].radius, previews=scene.previews)


def _spectrum(scene: Scene, i: int) -> Figure:
    family = scene.family
    reference = {m: family[j].spectrum for m, j in scene.references.items()}
    return plot_spectrum(family[i].spectrum, method=family[i].method, reference=reference)


def _metrics(scene: Scene, i: int) -> Figure:
    family = scene.family
    reference = {m: family[j].prediction for m, j in scene.references.items()}
    return plot_metrics(family[i].prediction, method=family[i].method, reference=reference, n_draws=scene.n_max)


def _reliability(scene: Scene, i: int) -> Figure:
    return plot_reliability(scene.family[i].prediction, method=scene.family[i].method)


TWO, THREE = "2-D map", "3-D relief"
WIDE = dict(span=5, height=470)
STEP = dict(span=5, height=600, least=420, group="Radius", slot="step")


def _on_shared_plane(quantity: str, label: str, caption: str, alt: str, name: str = "", **settings: Any) -> list[View]:
    """Map and relief of one quantity on the plane that all members share, with the draws."""
    name, kept = name or quantity, dict(group="Surface", slot="surface", data=f"shared {quantity}", **WIDE, **settings)
    kept["needs"] = () if quantity == "loss" else ("maps",)
    relief = "relief" if quantity == "loss" else f"{name} relief"
    link, option = {"samples": "draws"}, {"quantity": label, "view": TWO}
    return [
        View(
            name,
            shared(quantity, False),
            caption,
            alt=f"draws as circles over contours of {alt}",
            link=link,
            option=option,
            shared=("xaxis", "yaxis"),
            **kept,
        ),
        View(
            relief,
            shared(quantity, True),
            f"{caption.split(' Circles')[0]} Each draw of the selected method stands at its own height; the line from it down, or "
            "up, to the surface is what the plane does not show.",
            alt=f"draws on drop lines over {alt} in relief",
            option=option | {"view": THREE},
            **kept,
        ),
    ]


def _through_the_center(plane: str, about: str, when: Callable[[Family], bool] = lambda family: True) -> list[View]:
    """Rise of the loss and accuracy, map and relief, on a plane through each member's center."""
    place = dict(group="Flatness", slot="directions", height=470, least=400)
    loss, maps = ("maps",) if plane == "ascent" else (plane,), (plane, "maps") if plane != "ascent" else ("maps",)
    rise = {"plane": PLANES[plane], "quantity": "rise of the loss", "view": TWO}
    right = rise | {"quantity": "training accuracy"}
    said = f"How far the training loss rises above the center's own along {about}"
    told = f"The accuracy on the training set along {about} The cross is the center."
    level = " The bold line is where it has risen by {level} nats."
    average = rise | {"quantity": "loss of the average"}
    moved = (
        f"The loss of the averaged prediction of the training set while all draws move together along {about} At the cross they "
        "stand where they are. It follows the ensemble size, up to {most} draws; the average is mostly below the draws it is of."
    )
    averages = dict(data=f"{plane} ensemble", needs=maps, fixed=("surface",), **place)
    has = lambda family: f"{plane} ensemble" in family[0].maps  # noqa: E731
    mapped = lambda family: bool(family.maps)  # noqa: E731
    end = " {" + plane + "} {floor}"
    return [
        View(plane, basin(plane, False), said + level + end, option=rise, data=plane, needs=loss, when=when, **place),
        View(
            f"{plane} relief",
            basin(plane, True),
            said + " {floor}",
            alt=f"rise of the training loss above the center's own in relief, along {PLANES[plane]}",
            option=rise | {"view": THREE},
            data=plane,
            needs=loss,
            like=plane,
            when=when,
            **place,
        ),
        View(
            f"{plane} accuracy",
            accuracy(plane, False),
            told,
            option=right,
            data=f"{plane} accuracy",
            needs=maps,
            when=mapped,
            **place,
        ),
        View(
            f"{plane} accuracy relief",
            accuracy(plane, True),
            told,
            alt=f"training accuracy in relief, along {PLANES[plane]}",
            option=right | {"view": THREE},
            data=f"{plane} accuracy",
            needs=maps,
            like=f"{plane} accuracy",
            when=mapped,
            **place,
        ),
        View(
            f"{plane} ensemble",
            averaged(plane, False),
            moved,
            alt=f"loss of the averaged prediction while the draws move together, along {PLANES[plane]}",
            option=average,
            when=has,
            **averages,
        ),
        View(
            f"{plane} ensemble relief",
            averaged(plane, True),
            moved.replace(" At the cross they stand where they are.", ""),
            alt=f"loss of the averaged prediction in relief while the draws move together, along {PLANES[plane]}",
            option=average | {"view": THREE},
            like=f"{plane} ensemble",
            when=has,
            **averages,
        ),
    ]


VIEWS = (
    *_on_shared_plane(
        "loss",
        "loss",
        "The {label} of the training set on the plane of most variance of all methods' draws{share}. Circles are draws of the "
        "selected method: place is their shadow on the plane, the ring's colour their own true loss, size their distance from "
        "the plane. A draw lies in part outside the plane, so a ring differs from the ground. Small crosses: VI's draws, and MAP.",
        "the training loss, on the plane of most variance of all draws",
        name="surface",
        fixed=("surface",),
    ),
    *_on_shared_plane(
        "accuracy",
        "accuracy",
        "The accuracy on the training set on the plane of most variance of all methods' draws{share}. Circles are draws of the "
        "selected method; the ring's colour is the accuracy of the draw itself.",
        "the training accuracy, on the plane of most variance of all draws",
        fixed=("surface",),
        when=lambda family: bool(family.maps),
    ),
    *_on_shared_plane(
        "ensemble",
        "loss of the average",
        "The loss of the averaged prediction of the training set while all draws move over the same plane together: the ground says "
        "what it would be if the middle of the draws stood there; the white cross is where it stands. It follows the ensemble size. "
        "Circles are draws; a ring's colour is the draw's own loss, which the average is mostly below. On this plane alone: a point "
        "takes as many runs as there are draws.",
        "the loss of the averaged prediction over the plane of most variance of all draws, while the draws move together",
        fixed=("surface",),
        when=lambda family: "a" in family.maps,
    ),
    View(
        "mechanism",
        _mechanism,
        CAPTIONS["kl"],
        said=caption_of_step,
        shared=("xaxis", "yaxis"),
        fixed=("surface",),
        option={"step": "from VI's posterior"},
        when=lambda family: family[0].step is not None,
        phases=lambda family: tuple(zip(PHASES, DOES)),
        **STEP,
    ),
    View(
        "moments",
        _moments,
        "The same step at {moments} of one fit of SA-BMA at {stage_radius}, whatever the controls for method and radius say. All "
        "on one plane, of most of these moves: what is drawn are shadows, {in_plane} of each move's length. The dotted path "
        "joins the means of q.",
        alt="the step of SA-BMA at several moments of one training, with the path of q's mean",
        option={"step": "at moments of training"},
        when=lambda family: family[0].step is not None and len(family.stages) > 0,
        phases=lambda family: [(f"{q.name}: {phase}", does) for q in family.stages for phase, does in zip(PHASES, DOES)],
        common=True,
        **STEP,
    ),
    View(
        "radius",
        _radius,
        "Largest Hessian eigenvalue of the training loss, and scores of the test split with the largest ensemble, against the "
        "radius of each method, in its own unit. A ring marks what is selected; at radius 0 both methods are VI. {seeds} {radius}.",
        span=7,
        height=600,
        least=480,
        alt="largest eigenvalue, NLL, accuracy and ECE against the radius of each method, with a ring at what is selected",
        group="Radius",
        when=lambda family: bool(columns_of(family)),
    ),
    *_through_the_center("sharpest", "the two sharpest directions there, as far for every posterior, in the same colours."),
    *_through_the_center(
        "around", "two random directions, one pair for all posteriors; a step of 1 moves each filter by its own length."
    ),
    *_through_the_center(
        "ascent",
        "the way in which SA-BMA's ascent moves the mean there, Σ g (axis 1), and the rest of the gradient g, in whose plane SAM's "
        "ascent lies (axis 2), as far as along the sharpest directions.",
        when=lambda family: bool(family.maps),
    ),
    View(
        "hidden",
        _hidden,
        "Each draw's distance from the middle of the first picture, in its plane and off it; rings as there. Above the dashed "
        "line the plane hides more than it shows.",
        span=3,
        height=470,
        least=260,
        shared=("xaxis", "yaxis"),
        alt="each draw's distance from the middle of the surface, in its plane and off it",
        group="Surface",
        link={"samples": "draws"},
    ),
    View(
        "spectrum",
        _spectrum,
        "Largest Hessian eigenvalues at several draws: how sharply the loss curves. Lower is flatter. Error bars "
        "are residuals; where Lanczos has converged they are smaller than the markers.",
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
        "inputs",
        _inputs,
        "What the task looks like from inside: the probability of {class 1} at every input, of VI, of the selected posterior at the "
        "selected ensemble size, and of HMC, the exact answer for the same prior. White: even odds. A posterior that knows what it "
        "does not know fades to white away from the training points, which are drawn. {sure}",
        span=12,
        height=470,
        alt="class probability over the plane of inputs, of VI, the selected posterior and HMC, with the training points",
        group="Inputs",
        when=lambda family: "a" in family.inputs,
    ),
    View(
        "regression",
        _gap,
        "The same method and radius on another task, a regression on one input with no data between the two groups of points: a "
        "network of 24 hidden units, all weights treated, fitted once for each radius. Thick: mean of the draws; thin: ten of them; "
        "inner band: two standard deviations of the draws, what the posterior does not know; outer: with the noise of the data. HMC, the "
        "exact answer for the same prior, widens in the gap; q, one Gaussian around one solution, can less.",
        span=12,
        height=470,
        alt="predictive mean, bands and single draws of a regression with a gap, of VI, the selected posterior and HMC",
        group="Regression",
        when=lambda family: "curve x" in family.inputs,
    ),
    View(
        "images",
        _images,
        "The test images on which the draws disagree most, of the whole test split. Below each: its label and the disagreement, then "
        "the answers, {name 2}×4 for {class 2} by four draws. Disagreement is the "
        "mutual information of label and draw over the draws shown, H(p̄) − mean H(pₘ), in nats; one draw disagrees with "
        "nobody, so for it the images of its largest entropy stand here. Point at an image: each thin line is one draw's class "
        "probabilities, bars are their mean. Point at a draw here or in another picture: its answers stand below the images.",
        span=12,
        height=470,
        alt="the test images on which draws disagree most, or one draw is least sure, and each draw's class probabilities for one",
        group="Images",
        when=lambda family: bool(family.images),
        kind="images",
    ),
)


def views_of(family: Family) -> tuple[View, ...]:
    """The pictures that this family has."""
    return tuple(view for view in VIEWS if view.when(family))
