"""The six figures of the front end, made once by the plot functions, and which of their parts follow the controls."""

from __future__ import annotations

import json
from typing import Any

import torch

from flatviz.plots.color import ColorScale
from flatviz.plots.metrics import SHOWN, plot_metrics
from flatviz.plots.projection import plot_projection
from flatviz.plots.reliability import plot_reliability
from flatviz.plots.spectrum import plot_spectrum
from flatviz.plots.surface import plot_surface
from flatviz.plots.theme import Figure
from flatviz.results import Family

REFERENCES = ("sgd", "vi")  # drawn beside whatever is selected


def figures(family: Family, scale: ColorScale, n_max: int) -> list[dict[str, Any]]:
    """The six figures of the member with most draws, and which of their parts follow the controls."""
    i = max(range(len(family)), key=lambda j: (family.prediction[j].n_draws, len(family.spectrum[j]), j))
    method = family.method[i]
    references = {m: family.index(m) for m in REFERENCES if m in family.methods}
    colors = dict(color_range=(scale.lo, scale.hi), log=scale.log)
    crosses = {m: family.projection[references[m]] for m in references if m != method}
    surface = plot_surface(family.surface, family.projection[i], reference=crosses, **colors, title="Loss surface and samples")
    around = plot_surface(family.around[i], **colors, title="Loss around the center")
    spectrum = plot_spectrum(
        family.spectrum[i],
        method=method,
        reference={m: family.spectrum[j] for m, j in references.items()},
    )
    metrics = plot_metrics(
        {m: family.prediction[j] for m, j in references.items()} | {"selected": family.prediction[i]}, n_draws=n_max
    )
    reliability = plot_reliability(family.prediction[i], method=method)
    hidden = plot_projection(family.projection[i], **colors, color_bar=False)
    _fix_ranges(family, spectrum=spectrum, metrics=metrics, reliability=reliability, hidden=hidden)
    label, plane = family.surface.label, family.surface.plane
    share = 100 * sum(plane.explained) if plane.explained else None
    return [
        _entry(
            "surface",
            surface,
            5,
            470,
            _samples_binds(surface),
            (
                f"The {label} of the training set on the plane of most variance of all methods' draws"
                + (f" ({share:.0f} % of it)" if share else "")
                + ". Circles are draws: place is their shadow on the plane, colour their own true loss, size their "
                "distance from the plane. Most of a draw lies outside the plane, so colours differ from the ground. "
                "Small crosses: the draws of VI, and MAP."
            ),
        ),
        _entry(
            "around",
            around,
            4,
            470,
            [_bind(around, "surface", "z", "around"), _bind(around, "surface", "customdata", "around_loss")],
            (
                "The same loss on a random plane through this posterior's center; a step of 1 moves each filter by its own "
                "length. Same directions and colours for every posterior: a wider dark basin is a flatter one."
            ),
        ),
        _entry(
            "hidden",
            hidden,
            3,
            470,
            [
                _bind(hidden, "samples", "x", "inside", take="draws"),
                _bind(hidden, "samples", "y", "distance", take="draws"),
                _bind(hidden, "samples", "marker.color", "color", take="draws"),
                _bind(hidden, "samples", "customdata", "loss", take="draws"),
            ],
            "Each draw's distance from the middle of the first picture, in its plane and off it. Above the dashed line "
            "the plane hides more than it shows.",
        ),
        _entry(
            "spectrum",
            spectrum,
            4,
            380,
            [
                _bind(spectrum, "draws", "y", "spectrum"),
                _bind(spectrum, "draws", "error_y.array", "spectrum_residual"),
                _bind(spectrum, "draws", "customdata", "spectrum_residual"),
                *(_bind(spectrum, "draws", f"marker.{k}", meta=k) for k in ("color", "symbol")),
                _bind(spectrum, "mean", "y", "spectrum_mean"),
                *(
                    _bind(spectrum, "mean", path, meta=k)
                    for path, k in (("line.color", "color"), ("line.dash", "dash"), ("name", "label"))
                ),
            ],
            "Largest Hessian eigenvalues at several draws: how sharply the loss curves. Lower is flatter. "
            "Error bars are residuals.",
        ),
        _entry(
            "metrics",
            metrics,
            4,
            380,
            [
                *(
                    bind
                    for row, score in enumerate(SHOWN)
                    for bind in (
                        _bind(metrics, "selected", "y", score, nth=row),
                        *(
                            _bind(metrics, "selected", path, meta=k, nth=row)
                            for path, k in (("line.color", "color"), ("line.dash", "dash"), ("name", "label"))
                        ),
                    )
                ),
                {"path": "shapes.0.x0", "value": "n_draws"},
                {"path": "shapes.0.x1", "value": "n_draws"},
            ],
            "Scores on the test split when 1, 2, 3 ... draws are averaged; NLL in nats. High accuracy, low NLL and ECE are "
            "good. MAP is one network, hence a flat line.",
        ),
        _entry(
            "reliability",
            reliability,
            4,
            380,
            [
                _bind(reliability, "accuracy", "y", "bin_accuracy", take="size"),
                _bind(reliability, "accuracy", "customdata", "bin_confidence", take="size"),
                _bind(reliability, "accuracy", "marker.color", meta="color"),
                _bind(reliability, "count", "y", "bin_count", take="size"),
            ],
            "How often a prediction of some confidence is right. Bars below the diagonal: too sure of itself.",
        ),
    ]


def _samples_binds(fig: Figure) -> list[dict[str, Any]]:
    fields = {"x": "x", "y": "y", "marker.color": "color", "marker.size": "size", "customdata": "about"}
    return [_bind(fig, "samples", path, name, take="draws") for path, name in fields.items()]


def ranges(family: Family) -> dict[str, dict[str, list[float]]]:
    """figure -> axis -> range: those that hold every member, so that moving a slider moves the picture and not the scale."""
    top = max(float((s.values + s.residual).max()) for group in family.spectrum for s in group)
    scores = {}
    for row, score in enumerate(SHOWN, 1):
        values = torch.cat([p.scores[score] for p in family.prediction])
        margin = 0.06 * float(values.max() - values.min()) + 1e-6
        scores[f"yaxis{'' if row == 1 else row}"] = [float(values.min()) - margin, float(values.max()) + margin]
    count = max(float(p.bins[..., 0].max()) for p in family.prediction)
    reach = 1.08 * max(float(torch.maximum((p.coords @ p.plane.axes).norm(dim=1), p.distance).max()) for p in family.projection)
    return {
        "spectrum": {"yaxis": [0, 1.08 * top]},
        "metrics": scores,
        "reliability": {"yaxis2": [0, 1.05 * count]},
        "hidden": {"xaxis": [0, reach], "yaxis": [0, reach]},
    }


def _fix_ranges(family: Family, **figures: Figure) -> None:
    fixed = ranges(family)
    for name, fig in figures.items():
        fig.update_layout({axis: dict(range=ends) for axis, ends in fixed[name].items()})
    far = 100 * fixed["hidden"]["xaxis"][1]  # a member fitted later may lie further out
    figures["hidden"].update_traces(x=[0, far], y=[0, far], selector=dict(name="equal"))


def _bind(
    fig: Figure, trace: str, path: str, field: str | None = None, *, take: str = "all", meta: str | None = None, nth: int = 0
) -> dict[str, Any]:
    """`path` of the trace called `trace` (the nth of that name) follows a field, or a word of the member."""
    found = [i for i, t in enumerate(fig.data) if trace in (t.name, t.legendgroup, t.meta)]
    follows = {"meta": meta} if meta else {"field": field, "take": take}
    return {"trace": found[nth], "path": path, **follows}


def _entry(name: str, fig: Figure, span: int, height: int, binds: list[dict], caption: str) -> dict[str, Any]:
    drawn = json.loads(fig.to_json())
    drawn["layout"]["height"] = height
    drawn["layout"]["meta"].pop("explain")  # of one member, and the sliders show others
    return {
        "name": name,
        "data": drawn["data"],
        "layout": drawn["layout"],
        "binds": binds,
        "span": span,
        "height": height,
        "caption": caption,
        "alt": drawn["layout"]["meta"]["alt"],
    }
