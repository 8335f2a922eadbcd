"""The figures of a family's planes and quantities, in two dimensions and in relief: what the menus above a picture switch."""

from dataclasses import replace

import torch
from torch import Tensor

from flatviz.pages.scene import Scene
from flatviz.plots.basin import plot_basin, plot_basin_3d
from flatviz.plots.color import ColorScale
from flatviz.plots.surfaces import plot_surface, plot_surface_3d
from flatviz.plots.theme import Figure, scatter
from flatviz.results import Projection, Surface

PLANES = {"sharpest": "sharpest directions", "around": "random directions", "ascent": "the ascent's directions"}


def basin(plane: str, relief: bool, scene: Scene, i: int) -> Figure:
    """Draw the rise of the loss above the center, on a plane through the member's center."""
    surface, title = scene.surfaces(plane)[i], f"Rise above the center, {PLANES[plane]}"
    return (plot_basin_3d if relief else plot_basin)(surface, color_range=scene.rises[plane], title=title)


def averages_scale(scene: Scene) -> ColorScale:
    """One scale for the losses (S, A, B) of the averages of all members, of which few lie beyond an end and of no map most.

    Its ends are those of the largest ensembles.  A point estimate, far below all averages near its center, moves an end only so
    far that its map is not mostly there.
    """
    values = torch.stack([m.maps["ensemble"] for m in scene.family])
    every = values[scene.distinct, -1].flatten(1).double()
    several = every[[scene.family[i].prediction.n_draws > 1 for i in scene.distinct]]
    several = several if len(several) else every
    lo = min(float(several.quantile(ENDS[0], dim=1).min()), float(every.quantile(0.4, dim=1).min()))
    hi = max(float(several.flatten().quantile(ENDS[1])), float(every.quantile(0.6, dim=1).max()))
    return ColorScale(lo, hi, below=bool((values < lo).any()), above=bool((values > hi).any()))


def shared(quantity: str, relief: bool, scene: Scene, i: int) -> Figure:
    """Loss, accuracy, or loss of the averaged prediction on the plane that all members share, with the member's draws."""
    surface, projection, look = GROUNDS[quantity](scene, i)
    fig = _relief(scene, i, surface, projection, look) if relief else _map(scene, i, surface, projection, look)
    return _moving(fig, scene, i, relief) if quantity == "ensemble" else fig


def _loss(scene: Scene, i: int) -> tuple[Surface, Projection, dict]:
    return scene.family.surface, scene.family[i].projection, dict(title="Loss surface and samples", **scene.colors)


def _accuracy(scene: Scene, i: int) -> tuple[Surface, Projection, dict]:
    surface, projection = scene.family.maps["accuracy"], scene.family[i].projection
    values = scene.family[i].maps["draws accuracy"][: len(projection.coords)]
    lowest = float(min(surface.values.min(), values.min()))
    look = dict(title="Training accuracy and samples", color_range=(min(lowest, 0.9), 1.0), log=False)
    return surface, replace(projection, values=values, label=surface.label), look


def _ensemble(scene: Scene, i: int) -> tuple[Surface, Projection, dict]:
    maps = scene.family.maps
    scale = averages_scale(scene)
    surface = Surface(
        scene.family.surface.plane, maps["a"], maps["b"], scene.family[i].maps["ensemble"][-1], ENSEMBLE, scene.family.surface.n
    )
    look = dict(title="Loss of the averaged prediction, wherever the draws move", color_range=(scale.lo, scale.hi), log=False)
    return surface, scene.family[i].projection, look


ENDS = 0.02, 0.85  # shares of the losses of averages below the start of their scale, of each member, and below its end, of all
ENSEMBLE = "NLL of the averaged prediction (nats)"
GROUNDS = {"loss": _loss, "accuracy": _accuracy, "ensemble": _ensemble}


def _map(scene: Scene, i: int, surface: Surface, projection: Projection, look: dict) -> Figure:
    family = scene.family
    beside = {m: family[j].projection for m, j in scene.references.items()}
    fig = plot_surface(surface, projection, method=family[i].method, reference=beside, **look)
    for axis, ticks, at in zip("xy", (surface.a, surface.b), projection.coords.T):
        fig.layout[f"{axis}axis"].range = _reach(
            ticks, at
        )  # fixed: with plotly's automatic range a draw at the edge would move the ground
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


def _moving(fig: Figure, scene: Scene, i: int, relief: bool) -> Figure:
    """The ground follows member and ensemble size; a cross at the shadow of the draws' mean."""
    x, y = scene.family[i].projection.coords.mean(0)
    fig = _sized(fig, scene.family[i].maps["ensemble"], relief)
    bar = averages_scale(scene).bar(ENSEMBLE)  # marks the ends of all members, not of this one
    fig.update_traces(colorbar=bar, selector=dict(name="surface"))
    if not relief:
        cross = dict(symbol="cross-thin", size=16, line=dict(color="#fefefe", width=3))
        fig.add_live(scatter([float(x)], [float(y)], "markers", "where the ensemble stands", marker=cross), "x", "y")
    return fig


def _sized(fig: Figure, grounds: Tensor, relief: bool) -> Figure:
    """The ground follows the ensemble size: its values for each, (S, A, B)."""
    fig.update_traces(
        customdata=None, hovertemplate="(%{x:.3g}, %{y:.3g}): %{z:.3g}<extra></extra>", selector=dict(name="surface")
    )
    k = [t.name for t in fig.data].index("surface")
    if relief:
        lo, hi = fig.data[k].cmin, fig.data[k].cmax
        fig.update_layout(scene_zaxis_range=[lo, hi])
    fig.follow({f"data.{k}.z": grounds.transpose(1, 2)}, rows="size", key="grounds")
    return fig
