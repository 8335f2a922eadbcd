"""Pictures of page and lab: one entry each in `VIEWS`; their captions are in `captions.toml`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from torch import Tensor

from flatviz.checks import known
from flatviz.pages.document import texts_of
from flatviz.pages.scene import PLANES, Scene
from flatviz.plots.basin import plot_basin, plot_basin_3d
from flatviz.plots.calibration import plot_metrics, plot_reliability
from flatviz.plots.curvature import plot_spectrum
from flatviz.plots.frontier import has_frontier, plot_frontier
from flatviz.plots.inputs import plot_input_maps, plot_predictive
from flatviz.plots.landscape import plot_projection
from flatviz.plots.mechanism import PHASE_TEXTS, PHASES, kind_of, plot_step
from flatviz.plots.radius import columns_of, plot_radius
from flatviz.plots.surfaces import plot_surface, plot_surface_3d
from flatviz.plots.theme import Figure, figure, style
from flatviz.results import Family, Prediction

Draw = Callable[[Scene, int], Figure]
TEXTS = texts_of("captions.toml")
MOVES = TEXTS["step"]["kl"]
BACK = TEXTS["step"]["back"]


@dataclass(frozen=True)
class View:
    """One picture: its figure of a member, and its place on the page.

    name: name of the picture; draw: (scene, member) -> figure, whose `live` properties follow the
    controls.  The figures of all members have the same live properties in the same order.  caption:
    may hold the names of `Scene.words` in braces.
    alt: description of the picture, for a reader who does not see it; what the controls select is
        said after it.  "": the figure's `alt`, where that is true for every ensemble size.
    span: columns of twelve; height: px.  fixed: traces that the family shares, so that their live
    properties stay. least: px of width; where its column is narrower, the views of its tab are
    placed one below the other. shared: axes whose range holds every member's, so that a control
    moves the picture and not the scale. when: whether a family has this picture at all.
    group: its tab; views of a tab are visible together.
    slot, option: views of one slot are alternatives, one frame with a menu for each name of their
    options. needs: parts of `families.family.SURFACES` that the picture shows, so that a preview
    computes that first.
    like: name of the view whose live properties this one's are: its figure is drawn once, not for
        every member, and they share the arrays of one `Live.key`.
    phases: for each row of its properties of `rows="phase"`, what the phase is called and does.
    said: the caption at a member, where that depends on what is drawn.
    link: name of a trace -> what its points are: "draws", one each, or "eigenvalues", those of each
        draw one after the other; {"x": "sizes"} where x counts draws.  A draw that the reader
        points at is marked in every linked view.
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
    phases: Callable[[Family], Sequence[tuple[str, str]]] = lambda family: ()
    said: Callable[[Family, int], str] | None = None

    @property
    def chosen(self) -> str:
        """Settings of a state that show this view in its slot."""
        return ", ".join(self.option.values())


def _basin(plane: str, relief: bool, scene: Scene, i: int) -> Figure:
    """The rise of the loss above the center, on a plane through the member's center."""
    surface = getattr(scene.family[i], plane)
    title = f"Rise above the center, {PLANES[plane]}"
    return (plot_basin_3d if relief else plot_basin)(
        surface, color_range=scene.rises[plane], title=title
    )


def _surface(scene: Scene, i: int) -> Figure:
    """The loss on the plane that all members share, with the member's draws."""
    family = scene.family
    surface = known(scene.family.surface)
    projection = known(scene.family[i].projection)
    beside = {m: known(family[j].projection) for m, j in scene.references.items()}
    title = "Loss surface and samples"
    fig = plot_surface(
        surface, projection, method=family[i].method, reference=beside, title=title, **scene.colors
    )
    for axis, ticks, at in zip("xy", (surface.a, surface.b), projection.coords.T):
        # fixed: with plotly's automatic range a draw at the edge would move the ground
        fig.layout[f"{axis}axis"].range = _reach(ticks, at)
    return fig


def _reach(ticks: Tensor, at: Tensor) -> list[float]:
    """The ends of an axis that holds the surface and these draws with their markers."""
    lo = float(ticks.min())
    hi = float(ticks.max())
    at = at[at.isfinite()]
    room = 0.03 * (hi - lo)
    return [min([lo, *(at - room).tolist()]), max([hi, *(at + room).tolist()])]


def _relief(scene: Scene, i: int) -> Figure:
    family = scene.family
    title = "Loss surface and samples, in relief"
    return plot_surface_3d(
        known(family.surface),
        family[i].projection,
        method=family[i].method,
        title=title,
        **scene.colors,
    )


def _hidden(scene: Scene, i: int) -> Figure:
    fig = _of_member(plot_projection, "projection", scene, i, color_bar=False, **scene.colors)
    far = 100 * fig.layout.xaxis.range[1]  # a member fitted later may lie further out
    return fig.update_traces(x=[0, far], y=[0, far], selector=dict(name="equal"))


def _with_ring(plot: Callable[..., Figure], scene: Scene, i: int) -> Figure:
    return plot(scene.family, method=scene.family[i].method, radius=scene.family[i].radius)


def _of_member(plot: Callable[..., Figure], part: str, scene: Scene, i: int, **more: Any) -> Figure:
    """One part of a member in its method's colours."""
    return plot(getattr(scene.family[i], part), method=scene.family[i].method, **more)


def _beside(plot: Callable[..., Figure], part: str, scene: Scene, i: int, **more: Any) -> Figure:
    """One part of a member beside that of the references."""
    reference = {m: getattr(scene.family[j], part) for m, j in scene.references.items()}
    return _of_member(plot, part, scene, i, reference=reference, **more)


_spectrum = partial(_beside, plot_spectrum, "spectrum")
_reliability = partial(_of_member, plot_reliability, "prediction")


def _metrics(scene: Scene, i: int) -> Figure:
    return _beside(plot_metrics, "prediction", scene, i, n_draws=scene.family.n_draws)


def _predictive(scene: Scene, i: int) -> Figure:
    return _of_member(plot_predictive, "prediction", scene, i, x=scene.family.inputs.get("x"))


def _images(scene: Scene, i: int) -> Figure:
    return figure("Where draws disagree most", TEXTS["images"]["alt"])  # drawn by images.js


def _step(scene: Scene, i: int) -> Figure:
    return plot_step(scene.family, i)


def _scored(family: Family) -> Prediction:
    return known(family[0].prediction)


def _caption_of_step(family: Family, i: int) -> str:
    """Caption of the step of a member, and how to read it."""
    said = TEXTS["step"][kind_of(family, i)].format(label=style(family[i].method).label, back=BACK)
    return f"{said} {TEXTS['step']['marks']}"


TWO = "2-D map"
THREE = "3-D relief"
SHARED: dict[str, Any] = dict(
    group="Surface", slot="surface", fixed=("surface",), span=5, height=470
)
ALL: dict[str, Any] = dict(span=12, height=470)
WIDE: dict[str, Any] = dict(span=8, height=470)
RADIUS: dict[str, Any] = dict(span=5, height=600, group="Radius")
PLACE = ("xaxis", "yaxis")
SAMPLES = {"samples": "draws"}


def _view(name: str, draw: Draw, **settings: Any) -> View:
    """A view with the texts of its name."""
    return View(name, draw, **{**TEXTS[name], **settings})


def _through_the_center(plane: str) -> list[View]:
    """Rise of the loss, map and relief, on a plane through each member's center."""
    said = {k: v.replace("{about}", TEXTS["about"][plane]) for k, v in TEXTS["rise"].items()}
    kept: dict[str, Any] = dict(
        group="Flatness", slot="directions", height=470, least=400, needs=(plane,)
    )
    option = {"plane": PLANES[plane], "view": TWO}
    raised: dict[str, Any] = dict(
        option=option | {"view": THREE}, alt=said["alt"].format(plane=PLANES[plane]), like=plane
    )
    return [
        View(plane, partial(_basin, plane, False), said["caption"], option=option, **kept),
        View(f"{plane} relief", partial(_basin, plane, True), said["relief"], **raised, **kept),
    ]


STEPS: dict[str, Any] = dict(
    said=_caption_of_step,
    when=lambda f: f[0].step is not None,
    phases=lambda f: tuple(zip(PHASES, PHASE_TEXTS)),
)
VIEWS = (
    _view("surface", _surface, option={"view": TWO}, link=SAMPLES, shared=PLACE, **SHARED),
    _view("relief", _relief, option={"view": THREE}, **SHARED),
    View(
        "mechanism",
        _step,
        MOVES.format(back=BACK),
        shared=PLACE,
        fixed=("surface",),
        least=420,
        **RADIUS | STEPS,
    ),
    _view(
        "radius",
        partial(_with_ring, plot_radius),
        **RADIUS | dict(span=7, least=480),
        when=lambda f: bool(columns_of(f)),
    ),
    _view(
        "frontier",
        partial(_with_ring, plot_frontier),
        **RADIUS | dict(least=390),
        when=has_frontier,
    ),
    *_through_the_center("sharpest"),
    *_through_the_center("around"),
    _view(
        "hidden",
        _hidden,
        span=3,
        height=470,
        least=260,
        shared=PLACE,
        group="Surface",
        link=SAMPLES,
    ),
    _view(
        "spectrum", _spectrum, shared=("yaxis",), group="Flatness", link={"draws": "eigenvalues"}
    ),
    _view(
        "metrics",
        _metrics,
        shared=("yaxis", "yaxis2", "yaxis3"),
        group="Scores",
        link={"x": "sizes"},
    ),
    _view(
        "reliability",
        _reliability,
        shared=("yaxis2",),
        group="Scores",
        when=lambda f: _scored(f).bins is not None,
    ),
    _view(
        "predictive",
        _predictive,
        shared=PLACE,
        group="Scores",
        when=lambda f: not _scored(f).has_classes,
        **WIDE,
    ),
    _view(
        "inputs",
        lambda scene, i: plot_input_maps(scene.family, i),
        group="Inputs",
        when=lambda f: "a" in f.inputs,
        **ALL,
    ),
    _view("images", _images, group="Images", when=lambda f: bool(f.images), kind="images", **ALL),
)


def views_of(family: Family) -> tuple[View, ...]:
    """The pictures that this family has."""
    return tuple(view for view in VIEWS if view.when(family))
