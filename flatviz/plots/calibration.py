"""Calibration of predictions: scores by ensemble size, reliability."""

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go
import torch
from torch import Tensor

from flatviz.checks import Count, computed
from flatviz.core import public
from flatviz.plots.ground import by_method
from flatviz.plots.theme import (
    INK,
    MUTED,
    Figure,
    Properties,
    axes_of,
    band,
    diagonal,
    figure,
    numbers,
    room,
    rows_of,
    scatter,
    style,
    styles,
)
from flatviz.results import SHOWN, Prediction

LABELLED = "predict on a Data, which has labels"
Z = 1.959964  # quantile of a two-sided 95 % interval


@public
def plot_metrics(
    predictions: Prediction | Mapping[str, Prediction],
    *,
    n_draws: Count | None = None,
    method: str | None = None,
    reference: Mapping[str, Prediction] | None = None,
    title: str = "Scores against ensemble size",
) -> Figure:
    """Draw accuracy, NLL and ECE, or NLL and RMSE of a regression, against ensemble size.

    Each score is a row, each method a curve; a single point (MAP) is a horizontal line.  The band
    around accuracy is its 95 % interval for the number of test examples (Wilson), the range for
    other test sets of this size.  Methods are scored on the same examples, so their difference is
    surer than two such bands suggest.

    Args:
        predictions: Result of `predict` on labelled data, or method -> Prediction.
        n_draws: An ensemble size to mark, in draws; None: no mark.
        method: Key in `fv.METHODS` that gives a single prediction label and colour; None: ink.
        reference: Method -> Prediction, drawn first and without bands; these curves stay where page
            and lab change the others, and that of `method` itself is left out.
        title: Title of the figure.

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
    if method is not None and list(named) == [None]:
        named = {method: named[None]}
    reference = reference or {}
    n_reference = len(reference)
    curves = [*reference.items(), *named.items()]
    for name, p in curves:
        if not p.scores:
            raise ValueError(
                f"prediction {name or 'posterior'!r} must carry scores, got none: {LABELLED}"
            )
    shown = [p for _, p in curves]
    labels = {
        score: label for score, label in SHOWN.items() if all(score in p.scores for p in shown)
    }
    looks = styles([name for name, _ in curves])
    longest = max(n_draws or 1, *(p.n_draws for p in shown))
    alt = _final_scores(labels, curves)
    fig = figure(title, alt, **_axes(labels, shown, longest))
    if "accuracy" in labels:
        for name, p in named.items():
            sizes, accuracy = _over_sizes(p.scores["accuracy"], longest)
            lo, hi = wilson(accuracy, p.outputs.shape[1])
            # another test set of the size
            noise = band(sizes, lo, hi, looks[name].color, 0.13, "noise")
            fig.add_live(noise, "x", "y", "fillcolor")
    for row, score in enumerate(labels):
        for i, (name, p) in enumerate(curves):
            look = looks[name]
            hover = "%{fullData.name}, %{x} draws: %{y:.4f}"
            x, y = _over_sizes(p.scores[score], longest)
            follows = i >= n_reference
            curve = scatter(
                x,
                y,
                "lines",
                look.label,
                line=look.line(2.2),
                hover=hover,
                legend=row == 0,
                legendgroup=str(i),
                visible=follows or name not in named,
                **axes_of(row),
            )
            if follows:
                fig.add_live(curve, "x", "y", "line.color", "line.dash", "name")
            else:
                fig.add_live(curve, "visible")
    if n_draws is not None:
        last = axes_of(len(labels) - 1)["xaxis"]
        fig.add_shape(
            type="line",
            x0=n_draws,
            x1=n_draws,
            xref=last,
            y0=0,
            y1=1,
            yref="paper",
            line=dict(color=INK, width=1),
        )
        counts = range(1, longest + 1)
        fig.follow({"layout.shapes.0.x0": counts, "layout.shapes.0.x1": counts}, rows="size")
    notes = [note_of_diverged(p, name) for name, p in named.items()]
    fig.note("<br>".join(filter(None, notes)))
    return fig


def _final_scores(
    labels: Mapping[str, str], curves: Sequence[tuple[str | None, Prediction]]
) -> str:
    """Describe the scores of each method's largest ensemble; of a method twice, the last."""
    final = {}
    for name, prediction in curves:
        scores = []
        for score, label in labels.items():
            value = float(prediction.scores[score][-1])
            scores.append(f"{label} {value:.3f}")
        final[style(name).label] = ", ".join(scores)
    return "; ".join(f"{method}: {scores}" for method, scores in final.items())


def note_of_diverged(prediction: Prediction, method: str | None) -> str:
    """Count in words the outputs that diverged, where no score is left; otherwise ""."""
    if bool(prediction.scores["nll"].isfinite().any()):
        return ""
    n = prediction.n_diverged
    return (
        f"{style(method).label}, diverged:<br>{n} of {prediction.outputs[..., 0].numel()}"
        " outputs<br>are no numbers"
    )


def wilson(share: Tensor, n: int | Tensor) -> tuple[Tensor, Tensor]:
    """Compute the ends of the 95 % interval of a probability seen as `share` in `n` trials.

        (p + z^2 / 2n  -+  z sqrt(p (1 - p) / n + z^2 / 4n^2)) / (1 + z^2 / n)

    Both are (...), and 0 and 1 for no trials.

    Source: E. B. Wilson, Journal of the American Statistical Association 22 (1927) 209.
    """
    p = share.double()
    n = torch.as_tensor(n).to(p).expand_as(p)
    trials = n.clamp_min(1)
    scale = 1 + Z**2 / trials
    middle = (p + Z**2 / (2 * trials)) / scale
    variance = p * (1 - p) / trials + Z**2 / (4 * trials**2)
    half = Z * variance.sqrt() / scale
    lo = (middle - half).clamp(0, 1)
    hi = (middle + half).clamp(0, 1)
    lo = torch.where(n > 0, lo, 0.0)
    hi = torch.where(n > 0, hi, 1.0)
    return lo.to(share.dtype), hi.to(share.dtype)


def _axes(
    labels: Mapping[str, str],
    predictions: Sequence[Prediction],
    longest: int,
) -> Properties:
    """Build a pair of axes for each score, one below the other, with room for all curves."""
    rows = []
    for score, label in labels.items():
        values = [p.scores[score] for p in predictions]
        if score == "accuracy":
            for p in predictions:
                values += wilson(p.scores[score], p.outputs.shape[1])
        everything = torch.cat(values)
        rows.append(dict(title=label, range=room(everything)))
    x = dict(range=[0.5, longest + 0.5])
    return rows_of(rows, x, "draws averaged (ensemble size)", 0.055)


def _over_sizes(scores: Tensor, longest: int) -> tuple[Tensor, Tensor]:
    """Return ensemble sizes and scores; a single point becomes a horizontal line."""
    if len(scores) == 1:
        return torch.tensor([1, longest]), scores.expand(2)
    return torch.arange(1, len(scores) + 1), scores


FULL = 50  # examples in a bin whose bar is solid
FAINT = 0.15  # opacity of a bar without examples
WIDTH = 640  # px


@public
def plot_reliability(
    prediction: Prediction | Mapping[str, Prediction],
    *,
    method: str | None = None,
    title: str = "Reliability",
) -> Figure:
    """Draw accuracy in each confidence bin, the diagonal of perfect calibration, and counts.

    Each bar has the 95 % interval of its accuracy (Wilson), and is fainter with fewer than `FULL`
    examples.  Several predictions are lines through the bins that have examples, at their mean
    confidence, with the same intervals.

    Args:
        prediction: Result of `predict` on labelled data, or name -> Prediction; bins are of equal
            width.
        method: Key in `fv.METHODS` that gives the bars their colour; None: ink.
        title: Title of the figure.

    Raises:
        ValueError: For no prediction, or one without labels.

    Example:
        >>> net = fv.Net.from_module(torch.nn.Linear(2, 3))
        >>> data = fv.Data(torch.ones(4, 2), torch.tensor([0, 1, 2, 2]))
        >>> prediction = fv.predict(net, fv.Gaussian(net.w, torch.zeros(net.dim)), data, 5, seed=0)
        >>> fig = fv.plots.plot_reliability(prediction)
        >>> int(fig.data[2].y.sum())  # counts
        4
    """
    named = by_method(prediction, "Prediction")
    for one in named.values():
        if one.bins is None:
            advice = "use plot_calibration for a regression" if one.scores else LABELLED
            raise ValueError(f"prediction must carry calibration bins, got none: {advice}")
    if isinstance(prediction, Mapping):
        return _reliabilities(prediction, title)
    fig = _bars(prediction, method, title)
    fig.note(note_of_diverged(prediction, method), y="y domain")
    return fig


def _bars(prediction: Prediction, method: str | None, title: str) -> Figure:
    """Draw bars of accuracy by confidence, and of counts below; they follow the ensemble size."""
    # (M, n) each, a row an ensemble size
    bins = computed(prediction.bins).nan_to_num(0)
    count, confidence, right = bins.unbind(-1)
    n = count.shape[1]
    ece = float(prediction.scores["ece"][-1])
    most = 1.05 * float(count.max())
    fig = figure(
        title,
        f"expected calibration error {ece:.3f} with {prediction.n_draws} draws",
        bargap=0.08,
        width=WIDTH,
        xaxis=dict(title="confidence", range=[0, 1], anchor="y2"),
        yaxis=dict(title="accuracy", range=[0, 1], domain=[0.3, 1]),
        yaxis2=dict(
            title="count",
            domain=[0, 0.22],
            anchor="x",
            range=[0, most],
            nticks=3,
        ),
    )
    places = dict(
        x=[(i + 0.5) / n for i in range(n)],
        width=0.92 / n,
        showlegend=False,
    )
    lo, hi = wilson(right, count)
    sizes = {
        "y": right,
        "customdata": confidence,
        "error_y.array": torch.where(count > 0, hi - right, 0.0),
        "error_y.arrayminus": torch.where(count > 0, right - lo, 0.0),
        "marker.opacity": (count / FULL).clamp(0, 1) * (1 - FAINT) + FAINT,
    }
    bars = go.Bar(
        places,
        name="accuracy",
        hovertemplate="mean confidence %{customdata:.2f}<br>accuracy %{y:.2f}<extra></extra>",
        marker=dict(color=style(method).color),
        error_y=dict(
            type="data",
            symmetric=False,
            color=INK,
            thickness=1.2,
            width=3,
        ),
    )
    for path, values in sizes.items():
        bars[path] = numbers(values[-1])
    fig.add_live(bars, "marker.color", sizes=sizes)
    fig.add_trace(diagonal())
    counts = go.Bar(
        places,
        y=numbers(count[-1]),
        yaxis="y2",
        name="count",
        marker=dict(color=MUTED, line=dict(width=0)),
        hovertemplate="%{y} inputs<extra></extra>",
    )
    fig.add_live(counts, sizes={"y": count})
    return fig


def _reliabilities(named: Mapping[str, Prediction], title: str) -> Figure:
    """Draw a line of accuracy over mean confidence for each prediction."""
    eces = {name: float(p.scores["ece"][-1]) for name, p in named.items()}
    alt = "; ".join(f"{style(m).label}: calibration error {ece:.3f}" for m, ece in eces.items())
    fig = figure(
        title,
        alt,
        width=WIDTH,
        xaxis=dict(title="mean confidence", range=[0, 1]),
        yaxis=dict(title="accuracy", range=[0, 1]),
    )
    fig.add_trace(diagonal())
    looks = styles(named)
    for name, p in named.items():
        look = looks[name]
        bins = computed(p.bins)[-1]
        count, confidence, right = bins[bins[:, 0] > 0].T
        lo, hi = wilson(right, count)
        label = f"{look.label}, ECE {eces[name]:.3f}"
        fig.add_trace(
            scatter(
                confidence,
                right,
                "lines+markers",
                label,
                line=look.line(2),
                marker=look.marker(8),
                error_y=dict(
                    type="data",
                    thickness=1,
                    width=3,
                    array=numbers(hi - right),
                    arrayminus=numbers(right - lo),
                    symmetric=False,
                ),
                customdata=count,
                legend=True,
                hover=f"{look.label}: accuracy %{{y:.2f}} at %{{x:.2f}}, %{{customdata}} inputs",
            )
        )
    return fig
