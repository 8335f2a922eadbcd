"""The pictures of page and lab: one entry each in `VIEWS`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from flatviz.plots.color import ColorScale
from flatviz.plots.metrics import plot_metrics
from flatviz.plots.projection import plot_projection
from flatviz.plots.reliability import plot_reliability
from flatviz.plots.spectrum import plot_spectrum
from flatviz.plots.surface import plot_surface
from flatviz.plots.theme import Figure
from flatviz.results import Family

REFERENCES = ("sgd", "vi")  # drawn beside whatever is selected


@dataclass(frozen=True)
class Scene:
    """What every picture of a family shares."""

    family: Family

    @cached_property
    def n_max(self) -> int:
        """The largest ensemble size."""
        return max(p.n_draws for p in self.family.prediction)

    @cached_property
    def references(self) -> dict[str, int]:
        """Method -> member, of the methods drawn beside the selected one."""
        return {m: self.family.index(m) for m in REFERENCES if m in self.family.methods}

    @cached_property
    def colors(self) -> dict:
        """The loss scale of all surfaces and samples: that of the shared surface, so that members fitted later share it."""
        scale = ColorScale.of(self.family.surface)
        return dict(color_range=(scale.lo, scale.hi), log=scale.log)

    @property
    def words(self) -> dict[str, str]:
        """What a caption may name: the surface's {label}, and the {share} of variance that its plane holds."""
        explained = self.family.surface.plane.explained
        share = f" ({100 * sum(explained):.0f} % of it)" if explained else ""
        return {"label": self.family.surface.label, "share": share}


@dataclass(frozen=True)
class View:
    """One picture: which figure a member of a family has, and how it stands in the page.

    name: of the picture; draw: (scene, member) -> figure, whose `live` properties follow the controls.  The figures of all
    members have the same live properties in the same order.  caption: may hold {label} and {share}, see `Scene.words`.
    span: columns of twelve; height: px.  fixed: traces that the family shares, so that their live properties stay.
    shared: axes whose range holds every member's, so that a control moves the picture and not the scale.
    group: the tab under which it stands; views of a tab are in sight together.
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
    group: str = "More"
    link: Mapping[str, str] = field(default_factory=dict)


def _surface(scene: Scene, i: int) -> Figure:
    family = scene.family
    crosses = {m: family.projection[j] for m, j in scene.references.items() if m != family.method[i]}
    title = "Loss surface and samples"
    return plot_surface(family.surface, family.projection[i], reference=crosses, title=title, **scene.colors)


def _around(scene: Scene, i: int) -> Figure:
    return plot_surface(scene.family.around[i], title="Loss around the center", **scene.colors)


def _hidden(scene: Scene, i: int) -> Figure:
    fig = plot_projection(scene.family.projection[i], color_bar=False, **scene.colors)
    far = 100 * fig.layout.xaxis.range[1]  # a member fitted later may lie further out
    return fig.update_traces(x=[0, far], y=[0, far], selector=dict(name="equal"))


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
        "The {label} of the training set on the plane of most variance of all methods' draws{share}. Circles are draws: place "
        "is their shadow on the plane, colour their own true loss, size their distance from the plane. Most of a draw lies "
        "outside the plane, so colours differ from the ground. Small crosses: the draws of VI, and MAP.",
        span=5,
        height=470,
        fixed=("surface",),
        group="Surface",
        link={"samples": "draws"},
    ),
    View(
        "around",
        _around,
        "The same loss on a random plane through this posterior's center; a step of 1 moves each filter by its own "
        "length. Same directions and colours for every posterior: a wider dark basin is a flatter one.",
        height=470,
        group="Flatness",
    ),
    View(
        "hidden",
        _hidden,
        "Each draw's distance from the middle of the first picture, in its plane and off it. Above the dashed line "
        "the plane hides more than it shows.",
        span=3,
        height=470,
        shared=("xaxis", "yaxis"),
        group="Surface",
        link={"samples": "draws"},
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
        "good. MAP is one network, hence a flat line.",
        shared=("yaxis", "yaxis2", "yaxis3"),
        group="Scores",
        link={"x": "sizes"},
    ),
    View(
        "reliability",
        _reliability,
        "How often a prediction of some confidence is right. Bars below the diagonal: too sure of itself.",
        shared=("yaxis2",),
        group="Scores",
    ),
)
