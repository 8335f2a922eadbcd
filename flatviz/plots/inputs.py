"""Uncertainty over the plane of inputs, and the images on which draws disagree most."""

import plotly.graph_objects as go
import torch
from torch import Tensor
from torch.nn.functional import pad

from flatviz.plots.theme import INK, MUTED, Figure, axes_of, columns, figure, layout_of, numbers, scatter, style, tinted
from flatviz.results import Family, Prediction

CLASSES = ("#0072B2", "#D55E00")  # of the two classes' points
MAP = [[0.0, "#2b6ca3"], [0.5, "#f7f7f7"], [1.0, "#c2571a"]]  # probability of class 1, white where it is open
GAP = 0.04


def plot_input_maps(family: Family, i: int) -> Figure:
    """Class probabilities over the plane of inputs: VI, member i, HMC, with the training points; follows the ensemble size."""
    shown = family.inputs
    vi = family.index("vi") if "vi" in family.methods else i
    panels = [("vi", family[vi].maps["probs"][-1], False), (family[i].method, family[i].maps["probs"][-1], True)]
    panels += [("hmc", shown["reference"], False)] if "reference" in shown else []
    classes = class_words(family)
    alt = f"probability of {classes[1]} over the plane of inputs: VI, the selected posterior, and HMC as reference"
    fig = figure(f"Probability of {classes[1]} over the inputs", alt, showlegend=False)
    for k, (method, probs, follows) in enumerate(panels):
        axis = axes_of(k)
        bar = dict(title=dict(text="probability", side="right"), thickness=14, outlinewidth=0)
        look = dict(zmin=0, zmax=1, colorscale=MAP, showscale=k == len(panels) - 1, colorbar=bar, name=style(method).label)
        place = dict(x=numbers(shown["a"]), y=numbers(shown["b"]), z=numbers(probs))
        lines = dict(contours=dict(start=0.05, end=0.95, size=0.1), line=dict(width=0.5, color="rgba(255,255,255,0.6)"))
        trace = go.Contour(**place, **look, **lines, **axis, hovertemplate="(%{x:.2f}, %{y:.2f}): %{z:.2f}<extra></extra>")
        if follows:
            fig.add_live(trace, sizes={"z": family[i].maps["probs"]})
        else:
            fig.add_trace(trace)
        for c, color in enumerate(CLASSES):
            points = shown["x"][shown["y"] == c]
            marker = dict(color=color, size=8, symbol=("circle", "square")[c], line=dict(color="#fefefe", width=1.5))
            fig.add_trace(scatter(*points.T, "markers", classes[c], marker=marker, **axis))
    for k, ((method, *_), domain) in enumerate(zip(panels, columns(len(panels), GAP))):
        on, name = axes_of(k), style(method).label
        x, y = dict(domain=domain, title="input 1", constrain="domain"), dict(showticklabels=k == 0, constrain="domain")
        fig.update_layout(layout_of(k, x, y | dict(scaleanchor=on["xaxis"])))
        where = dict(x=0.5, xanchor="center", xref=f"{on['xaxis']} domain", yref=f"{on['yaxis']} domain", yshift=6)
        path = fig.add_text(name, font=dict(color=MUTED if method == "hmc" else INK), **where)
        if k == 1:
            fig.follow({f"{path}.text": name}, rows="all")
    fig.update_layout(yaxis_title="input 2")
    lost = "" if bool(family[i].maps["probs"].isfinite().any()) else "diverged:<br>no probability<br>is a number"
    fig.note(lost, x="x2 domain", y="y2 domain")
    return fig


def class_words(family: Family) -> tuple[str, ...]:
    """What a sentence calls the task's classes: their names, or "class 1"."""
    prediction = family[0].prediction
    return tuple(name if c < len(prediction.class_names) else f"class {name}" for c, name in enumerate(prediction.classes))


COLUMNS = 4  # of images
MARK = "#b84a00"  # around the image whose probabilities are drawn
BELOW = 0.4  # of an image's side: below it, for its label


def plot_images(family: Family, i: int, image: int | None = None, n_draws: int | None = None) -> Figure:
    """Test images on which the first `n_draws` draws of member i disagree most (None: all), and what each says of one of them.

    image: row of the test split of that one; the first of those shown, where it is not among them.
    Disagreement is `families.maps.disputed`; the line under an image is its label and the disagreement in nats.
    """
    maps, prediction = family[i].maps, family[i].prediction
    size = len(maps["shown"]) if n_draws is None else min(n_draws, len(maps["shown"]))
    shown, nats = maps["shown"][size - 1], maps["nats"][size - 1]
    height, k = family.images["pixels"].shape[1], len(shown)
    label = style(family[i].method).label
    place = shown.tolist().index(image) if image in shown.tolist() else 0
    row = int(shown[place])
    one = f"{'one' if place else 'the first'}, {_said(prediction, row)}"
    if prediction.n_draws > 1:
        title = f"Where the draws of {label} disagree most"
        alt = f"the {k} test images on which the draws of {label} disagree most, and each draw's class probabilities for {one}"
    else:
        title = f"Where {label} is least sure"
        alt = f"the {k} test images on which the one network of {label} is least sure, and its class probabilities for {one}"
    fig = figure(title, alt, showlegend=False)
    mosaic = _mosaic(_pixels(family, shown))
    fig.add_trace(go.Image(z=mosaic.numpy(), name="images", hoverinfo="skip"))
    across, down = mosaic.shape[1] / COLUMNS, height + _gap(height)
    x = [(j % COLUMNS + 0.45) * across - 0.5 for j in range(k)]
    y = [(j // COLUMNS + 1) * down - _gap(height) / 2 - 0.5 for j in range(k)]
    texts = [f"{prediction.classes[prediction.y[r]]}, {float(v):.2f}" for r, v in zip(shown, nats)]
    fig.add_trace(scatter(x, y, "text", "labels", text=texts, textfont=dict(size=12, color=INK)))
    left, top = place % COLUMNS * across - 0.5, place // COLUMNS * down - 0.5
    ends = dict(x0=left, x1=left + family.images["pixels"].shape[2], y0=top, y1=top + height)
    fig.add_shape(type="rect", line=dict(color=MARK, width=3), **ends)
    _add_probabilities(fig, prediction, row, size, style(family[i].method).color)
    return fig.update_layout(
        xaxis=dict(visible=False, domain=[0, 0.52], range=[-0.5, mosaic.shape[1] - 0.5]),
        yaxis=dict(visible=False, range=[mosaic.shape[0] - 0.5, -0.5], scaleanchor="x", constrain="domain"),
        xaxis2=dict(domain=[0.6, 1], anchor="y2", title="class", type="category"),
        yaxis2=dict(anchor="x2", title="probability", range=[0, 1]),
    )


def _add_probabilities(fig: Figure, prediction: Prediction, row: int, size: int, color: str) -> None:
    """Mean and single draws, of the first `size`, for the image at this row of the test split."""
    names, axis = prediction.classes, axes_of(1)
    probs = prediction.outputs[:size, row].log_softmax(-1).exp().cpu()
    bars = dict(name="mean", marker=dict(color=tinted(color, 0.35)), **axis)
    fig.add_trace(go.Bar(x=names, y=probs.mean(0).numpy(), **bars))
    lines = pad(probs, (0, 1), value=torch.nan).flatten()  # a gap between two draws
    look = dict(line=dict(color=color, width=0.8), **axis)
    fig.add_trace(scatter([*names, None] * len(probs), lines, "lines+markers", "draws", **look))
    fig.add_text(f"{_said(prediction, row)}: mean and single draws", xref="x2 domain", yref="y2 domain")


def _said(prediction: Prediction, row: int) -> str:
    return f"test image {row}, label {prediction.classes[prediction.y[row]]}"


def _pixels(family: Family, rows: Tensor) -> Tensor:
    """Images (k, H, W, 3) of these rows of the test split."""
    pixels = family.images["pixels"][torch.searchsorted(family.images["index"], rows)]
    return pixels if pixels.ndim == 4 else pixels[..., None].expand(-1, -1, -1, 3)


def _gap(side: int) -> int:
    return max(2, round(BELOW * side))


def _mosaic(pixels: Tensor) -> Tensor:
    """Images (k, H, W, 3) in rows of `COLUMNS` on white, with room below each, (rows (H + gap), COLUMNS (W + gap / 4), 3)."""
    k, height, width, _ = pixels.shape
    down, across = height + _gap(height), width + max(1, _gap(width) // 4)
    canvas = torch.full((-(-k // COLUMNS) * down, COLUMNS * across, 3), 255, dtype=torch.uint8)
    for j, image in enumerate(pixels):
        top, left = j // COLUMNS * down, j % COLUMNS * across
        canvas[top : top + height, left : left + width] = image
    return canvas
