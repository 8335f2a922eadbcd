"""Accuracy, NLL and ECE against ensemble size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go
import torch
from torch import Tensor

from flatviz.checks import Count
from flatviz.core.boundary import public
from flatviz.plots.nouns import by_method
from flatviz.plots.theme import INK, Figure, axes_of, band, figure, layout_of, room, scatter, style
from flatviz.results import Prediction

LABELS = {"accuracy": "accuracy", "nll": "NLL", "ece": "ECE"}
Z = 1.959964  # of a two-sided 95 % interval


@public
def plot_metrics(
    predictions: Prediction | Mapping[str, Prediction],
    *,
    n_draws: Count | None = None,
    method: str | None = None,
    reference: Mapping[str, Prediction] | None = None,
    title: str = "Scores against ensemble size",
) -> Figure:
    """Accuracy, NLL and ECE against ensemble size: one row a score, one curve a method.

    A single point (MAP) is a horizontal line.  The band around accuracy is its 95 % interval for that many test examples
    (Wilson): what another test set of the size might give.  Methods are scored on the same examples, so their difference is
    surer than two such bands side by side.

    Args:
        predictions: what `predict` returned on labelled data, or method -> Prediction.
        n_draws: an ensemble size to mark, in draws; None: no mark.
        method: whose a single prediction is, for label and colour; None: it is drawn in ink.
        reference: method -> Prediction, drawn first and without bands; these curves stay where page and lab change the
            others, and that of `method` itself is left out.
        title: of the figure.

    Raises:
        ValueError: For no prediction, or one without scores.

    Example:
        >>> net = fv.Net.from_module(torch.nn.Linear(2, 3))
        >>> data = fv.Data(torch.ones(4, 2), torch.tensor([0, 1, 2, 2]))
        >>> prediction = fv.predict(net, fv.Gaussian(net.w, torch.zeros(net.dim)), data, 5, seed=0)
        >>> fig = fv.plot_metrics({"vi": prediction}, n_draws=3)
        >>> [(trace.name, len(trace.x)) for trace in fig.data]  # a row a score
        [('noise', 10), ('VI', 5), ('VI', 5), ('VI', 5)]
    """
    named = by_method(predictions, "Prediction")
    named = {method: named[None]} if method is not None and list(named) == [None] else named
    n_reference = len(reference or {})
    curves = [*(reference or {}).items(), *named.items()]
    for name, p in curves:
        if "accuracy" not in p.scores:
            who, do = (
                name or "posterior",
                "print prediction.scores of a regression" if p.scores else "predict on a Data, which has labels",
            )
            raise ValueError(f"prediction {who!r} must carry scores of classes, got {', '.join(p.scores) or 'none'}: {do}")
    longest = max(n_draws or 1, *(p.n_draws for _, p in curves))
    final = {style(m).label: {k: float(p.scores[k][-1]) for k in LABELS} for m, p in curves}
    alt = "; ".join(f"{m}: accuracy {s['accuracy']:.3f}, NLL {s['nll']:.3f}, ECE {s['ece']:.3f}" for m, s in final.items())
    fig = figure(title, alt, **_axes([p for _, p in curves], longest))
    for name, p in curves[n_reference:]:
        fig.add_live(_noise(p, name, longest), "x", "y", "fillcolor")
    for row, score in enumerate(LABELS):
        for i, (name, p) in enumerate(curves):
            curve = _curve(p.scores[score], name, longest)
            curve.update(legendgroup=str(i), showlegend=row == 0, visible=i >= n_reference or name not in named, **axes_of(row))
            fig.add_live(curve, *(("x", "y", "line.color", "line.dash", "name") if i >= n_reference else ("visible",)))
    if n_draws is not None:
        fig.add_shape(type="line", x0=n_draws, x1=n_draws, xref="x3", y0=0, y1=1, yref="paper", line=dict(color=INK, width=1))
        sizes = range(1, longest + 1)
        fig.follow({f"layout.shapes.0.{end}": sizes for end in ("x0", "x1")}, rows="size")
    fig.note("<br>".join(filter(None, (lost(p, name) for name, p in named.items()))))
    return fig


def lost(prediction: Prediction, method: str | None) -> str:
    """How many outputs diverged, where that leaves no score of any ensemble size; else ""."""
    if bool(prediction.scores["nll"].isfinite().any()):
        return ""
    n = prediction.n_diverged
    return f"{style(method).label}, diverged:<br>{n} of {prediction.outputs[..., 0].numel()} outputs<br>are no numbers"


def wilson(share: Tensor, n: int | Tensor) -> tuple[Tensor, Tensor]:
    """Ends of the 95 % interval of a probability of which `share` was seen in `n` trials, both (...); of none, 0 and 1.

        (p + z^2 / 2n  -+  z sqrt(p (1 - p) / n + z^2 / 4n^2)) / (1 + z^2 / n)

    Source: E. B. Wilson, Journal of the American Statistical Association 22 (1927) 209.
    """
    p = share.double()
    n = torch.as_tensor(n, dtype=torch.float64, device=p.device).expand_as(p)
    trials = n.clamp_min(1)
    middle = (p + Z**2 / (2 * trials)) / (1 + Z**2 / trials)
    half = Z * (p * (1 - p) / trials + Z**2 / (4 * trials**2)).sqrt() / (1 + Z**2 / trials)
    lo, hi = (middle - half).clamp(0, 1), (middle + half).clamp(0, 1)
    return torch.where(n > 0, lo, 0.0).to(share.dtype), torch.where(n > 0, hi, 1.0).to(share.dtype)


def _axes(predictions: Sequence[Prediction], longest: int) -> dict:
    """A pair of axes for each score, one below the other; each holds all curves."""
    axes = {}
    for row, (score, label) in enumerate(LABELS.items()):
        top = 1 - row * 0.345
        values = torch.cat([p.scores[score] for p in predictions])
        if score == "accuracy":  # with the bands
            values = torch.cat([values, *(torch.stack(wilson(p.scores[score], len(p.y))).flatten() for p in predictions)])
        x = dict(matches="x" if row else None, range=[0.5, longest + 0.5], showticklabels=False)
        axes |= layout_of(row, x, dict(domain=[top - 0.29, top], title=label, range=room(values)))
    axes[f"xaxis{len(LABELS)}"] |= dict(showticklabels=True, title="draws averaged (ensemble size)")
    return axes


def _noise(p: Prediction, method: str | None, longest: int) -> go.Scatter:
    """The band of what another test set of this size might give."""
    x, accuracy = _over_sizes(p.scores["accuracy"], longest)
    return band(x, *wilson(accuracy, len(p.y)), style(method).color, 0.13, "noise")


def _over_sizes(scores: Tensor, longest: int) -> tuple[Tensor, Tensor]:
    """Ensemble sizes and scores; of a single point, which is every ensemble, the ends of a horizontal line."""
    if len(scores) == 1:
        return torch.tensor([1, longest]), scores.expand(2)
    return torch.arange(1, len(scores) + 1), scores


def _curve(scores: Tensor, method: str | None, longest: int) -> go.Scatter:
    """One method's scores against ensemble size; of a single point a horizontal line."""
    look, hover = style(method), "%{fullData.name}, %{x} draws: %{y:.4f}"
    return scatter(*_over_sizes(scores, longest), "lines", look.label, line=look.line(2.2), hover=hover)
