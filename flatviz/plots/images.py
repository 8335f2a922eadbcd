"""The images on which draws disagree most, and each draw's class probabilities for the first of them."""

from __future__ import annotations

import plotly.graph_objects as go
import torch
from torch import Tensor
from torch.nn.functional import pad

from flatviz.plots.theme import INK, Figure, axes_of, figure, scatter, style, tinted
from flatviz.results import Family, Prediction

COLUMNS = 4  # of images
MARK = "#b84a00"  # around the image whose probabilities are drawn
GAP = 0.4  # of an image's side: below it, for its label


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
    return max(2, round(GAP * side))


def _mosaic(pixels: Tensor) -> Tensor:
    """Images (k, H, W, 3) in rows of `COLUMNS` on white, with room below each, (rows (H + gap), COLUMNS (W + gap / 4), 3)."""
    k, height, width, _ = pixels.shape
    down, across = height + _gap(height), width + max(1, _gap(width) // 4)
    canvas = torch.full((-(-k // COLUMNS) * down, COLUMNS * across, 3), 255, dtype=torch.uint8)
    for j, image in enumerate(pixels):
        top, left = j // COLUMNS * down, j % COLUMNS * across
        canvas[top : top + height, left : left + width] = image
    return canvas
