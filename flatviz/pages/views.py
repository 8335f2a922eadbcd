"""Figures of page and lab: one entry each in `VIEWS`; captions.toml has their words and places."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

from torch import Tensor

from flatviz.checks import computed
from flatviz.pages.document import texts_of
from flatviz.pages.scene import PLANES, Scene
from flatviz.plots.basin import plot_basin, plot_basin_3d
from flatviz.plots.calibration import plot_metrics, plot_reliability
from flatviz.plots.curvature import plot_spectrum
from flatviz.plots.frontier import has_frontier, plot_frontier
from flatviz.plots.inputs import plot_input_maps, plot_predictive
from flatviz.plots.landscape import plot_projection
from flatviz.plots.radius import columns_of, plot_radius
from flatviz.plots.surfaces import plot_surface, plot_surface_3d
from flatviz.plots.theme import Figure, Properties, Property, figure, span_of
from flatviz.results import Family, Prediction

Draw = Callable[[Scene, int], Figure]
Plot = Callable[..., Figure]
TEXTS = texts_of("captions.toml")


@dataclass(frozen=True)
class View:
    """One figure of page and lab: how to draw it for a member, and its place on the page.

    Args:
        name: Name of the view.
        draw: (scene, member) -> figure, whose `live` properties follow the controls.  The figures
            of all members have the same live properties in the same order.
        caption: Text, which may contain names of `Scene.words` in braces.
        span: Columns of twelve.
        height: Height in px.
        fixed: Traces that the family shares, whose live properties do not change.
        shared: Axes whose range holds every member's, so that a control moves the data and not the
            scale.
        alt: Description for screen readers, before that of the controls; "": the figure's `alt`, if
            it is valid for every ensemble size.
        when: Whether a family has this view.
        group: Its tab; views of a tab are visible together.
        slot: Views of one slot are alternatives in one frame.
        option: Name -> value of the frame's menus that selects this view.
        needs: Parts of `families.family.SURFACES` that the view shows, so that a preview computes
            them first.
        like: Name of a view with the same live properties: the figure of this one is drawn once,
            not for every member, and they share the arrays of one `Live.key`.
        link: Name of a trace -> kind of its points: "draws", one each, or "eigenvalues", those of
            each draw in turn; {"x": "sizes"} where x counts draws.  A draw under the pointer is
            marked in every linked view.
        kind: "plotly", or the front end's module that draws it.
        least: Smallest width in px; in a narrower column, the views of its tab are placed one below
            the other.
    """

    name: str
    draw: Draw
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
    like: str = ""
    link: Mapping[str, str] = field(default_factory=dict)
    kind: str = "plotly"
    least: int = 0

    @property
    def chosen(self) -> str:
        """Settings of a state that show this view in its slot."""
        return ", ".join(self.option.values())


def _basin(plane: str, relief: bool, scene: Scene, i: int) -> Figure:
    """Draw the rise of the loss above the center, on a plane through the member's center."""
    plot = plot_basin_3d if relief else plot_basin
    surface = getattr(scene.family[i], plane)
    title = f"Rise above the center, {PLANES[plane]}"
    return plot(surface, color_range=scene.rises[plane], title=title)


def _surface(scene: Scene, i: int) -> Figure:
    """Draw the loss on the plane that all members share, with the member's draws."""
    member = scene.family[i]
    surface = computed(scene.family.surface)
    projection = computed(member.projection)
    fig = plot_surface(
        surface,
        projection,
        method=member.method,
        reference=scene.beside("projection"),
        title="Loss surface and samples",
        **scene.colors,
    )
    x, y = projection.coords.T
    # fixed: with plotly's automatic range a draw at the edge would move the ground
    return fig.update_layout(xaxis_range=_reach(surface.a, x), yaxis_range=_reach(surface.b, y))


def _reach(ticks: Tensor, at: Tensor) -> list[float]:
    """Return the ends of an axis that holds the surface and these draws with their markers."""
    lo, hi = span_of(ticks)
    margin = 0.03 * (hi - lo)
    left, right = span_of(at)  # NaN where all diverged, which min and max leave out
    return [min(lo, left - margin), max(hi, right + margin)]


def _relief(scene: Scene, i: int) -> Figure:
    surface = computed(scene.family.surface)
    title = "Loss surface and samples, in relief"
    return _of_member(
        partial(plot_surface_3d, surface), "projection", scene, i, title=title, **scene.colors
    )


def _hidden(scene: Scene, i: int) -> Figure:
    fig = _of_member(plot_projection, "projection", scene, i, color_bar=False, **scene.colors)
    far = 100 * fig.layout.xaxis.range[1]  # a member fitted later may lie further out
    return fig.update_traces(
        x=[0, far],
        y=[0, far],
        selector=dict(name="equal"),
    )


def _with_ring(plot: Plot, scene: Scene, i: int) -> Figure:
    member = scene.family[i]
    return plot(scene.family, method=member.method, radius=member.radius)


def _of_member(plot: Plot, part: str, scene: Scene, i: int, **more: object) -> Figure:
    """Draw one part of a member in its method's colours."""
    member = scene.family[i]
    return plot(getattr(member, part), method=member.method, **more)


def _beside(plot: Plot, part: str, scene: Scene, i: int, **more: object) -> Figure:
    """Draw one part of a member beside that of the references."""
    return _of_member(plot, part, scene, i, reference=scene.beside(part), **more)


def _metrics(scene: Scene, i: int) -> Figure:
    return _beside(plot_metrics, "prediction", scene, i, n_draws=scene.family.n_draws)


def _predictive(scene: Scene, i: int) -> Figure:
    x = scene.family.inputs.get("x")
    return _of_member(plot_predictive, "prediction", scene, i, x=x)


def _images(scene: Scene, i: int) -> Figure:
    return figure("Where draws disagree most", TEXTS["images"]["alt"])  # drawn by images.js


def _scored(family: Family) -> Prediction:
    return computed(family[0].prediction)


def _view(name: str, draw: Draw, **conditions: Property) -> View:
    """Build a view with the texts and the place that captions.toml has for it."""
    return View(name, draw, **{**TEXTS[name], **conditions})


def _through_the_center(plane: str) -> list[View]:
    """Build views of the rise of the loss, as map and relief, around each center."""
    rise = TEXTS["rise"]
    about = TEXTS["about"][plane]
    place = {"plane": PLANES[plane]}
    shared: Properties = dict(
        group="Flatness", slot="directions", height=470, least=400, needs=(plane,)
    )
    flat = View(
        plane,
        partial(_basin, plane, False),
        rise["caption"].replace("{about}", about),
        option=place | TEXTS["surface"]["option"],
        **shared,
    )
    raised = View(
        f"{plane} relief",
        partial(_basin, plane, True),
        rise["relief"].replace("{about}", about),
        alt=rise["alt"].format(**place),
        like=plane,
        option=place | TEXTS["relief"]["option"],
        **shared,
    )
    return [flat, raised]


VIEWS = (
    _view("surface", _surface),
    _view("relief", _relief),
    _view("radius", partial(_with_ring, plot_radius), when=lambda f: bool(columns_of(f))),
    _view("frontier", partial(_with_ring, plot_frontier), when=has_frontier),
    *_through_the_center("sharpest"),
    *_through_the_center("around"),
    _view("hidden", _hidden),
    _view("spectrum", partial(_beside, plot_spectrum, "spectrum")),
    _view("metrics", _metrics),
    _view(
        "reliability",
        partial(_of_member, plot_reliability, "prediction"),
        when=lambda f: _scored(f).bins is not None,
    ),
    _view("predictive", _predictive, when=lambda f: not _scored(f).has_classes),
    _view(
        "inputs",
        lambda scene, i: plot_input_maps(scene.family, i),
        when=lambda f: "a" in f.inputs,
    ),
    _view("images", _images, when=lambda f: bool(f.images)),
)


def views_of(family: Family) -> tuple[View, ...]:
    """List the views that this family has."""
    return tuple(view for view in VIEWS if view.when(family))
