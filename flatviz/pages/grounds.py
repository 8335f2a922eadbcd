"""The figures of a family's planes and quantities, in two dimensions and in relief: what the menus above a picture switch."""

from dataclasses import replace

from torch import Tensor

from flatviz.pages.scene import Scene
from flatviz.plots.basin import plot_basin, plot_basin_3d
from flatviz.plots.surfaces import plot_surface, plot_surface_3d
from flatviz.plots.theme import Figure
from flatviz.results import Projection, Surface

PLANES = {"sharpest": "sharpest directions", "around": "random directions", "ascent": "the ascent's directions"}


def basin(plane: str, relief: bool, scene: Scene, i: int) -> Figure:
    """Draw the rise of the loss above the center, on a plane through the member's center."""
    surface, title = scene.surfaces(plane)[i], f"Rise above the center, {PLANES[plane]}"
    return (plot_basin_3d if relief else plot_basin)(surface, color_range=scene.rises[plane], title=title)


def shared(quantity: str, relief: bool, scene: Scene, i: int) -> Figure:
    """Loss or accuracy on the plane that all members share, with the member's draws."""
    surface, projection, look = GROUNDS[quantity](scene, i)
    return (_relief if relief else _map)(scene, i, surface, projection, look)


def _loss(scene: Scene, i: int) -> tuple[Surface, Projection, dict]:
    return scene.family.surface, scene.family[i].projection, dict(title="Loss surface and samples", **scene.colors)


def _accuracy(scene: Scene, i: int) -> tuple[Surface, Projection, dict]:
    surface, projection = scene.family.maps["accuracy"], scene.family[i].projection
    values = scene.family[i].maps["draws accuracy"][: len(projection.coords)]
    lowest = float(min(surface.values.min(), values.min()))
    look = dict(title="Training accuracy and samples", color_range=(min(lowest, 0.9), 1.0), log=False)
    return surface, replace(projection, values=values, label=surface.label), look


GROUNDS = {"loss": _loss, "accuracy": _accuracy}


def _map(scene: Scene, i: int, surface: Surface, projection: Projection, look: dict) -> Figure:
    family = scene.family
    beside = {m: family[j].projection for m, j in scene.references.items()}
    fig = plot_surface(surface, projection, method=family[i].method, reference=beside, **look)
    for axis, ticks, at in zip("xy", (surface.a, surface.b), projection.coords.T):
        # fixed: with plotly's automatic range a draw at the edge would move the ground
        fig.layout[f"{axis}axis"].range = _reach(ticks, at)
    return fig


def _reach(ticks: Tensor, at: Tensor) -> list[float]:
    """The ends of an axis that holds the surface and these draws with their markers."""
    lo, hi = float(ticks.min()), float(ticks.max())
    at, room = at[at.isfinite()], 0.03 * (hi - lo)
    return [min([lo, *(at - room).tolist()]), max([hi, *(at + room).tolist()])]


def _relief(scene: Scene, i: int, surface: Surface, projection: Projection, look: dict) -> Figure:
    look = look | dict(title=f"{look['title']}, in relief")
    fig = plot_surface_3d(surface, projection, method=scene.family[i].method, **look)
    for k, trace in enumerate(fig.data):
        if trace.name == "drop lines":
            fig.follow({f"data.{k}.{axis}": trace[axis] for axis in "xyz"}, rows="segments")
            fig.follow({f"data.{k}.line.color": trace.line.color}, rows="all")
        elif trace.type == "scatter3d" and trace.name != "diverged":
            fig.follow({f"data.{k}.{name}": trace[name] for name in ("x", "y", "z", "customdata")}, rows="draws")
            fig.follow({f"data.{k}.name": trace.name, f"data.{k}.marker.color": trace.marker.color}, rows="all")
    return fig
