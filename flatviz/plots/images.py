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


def plot_images(family: Family, i: int, image: int | None = None) -> Figure:
    """Test images on which the draws of member i disagree most, and what each draw says of one of them; follows the ensemble size.

    image: row of the test split of that one; the first of those shown, where it is not among them.
    Disagreement is `families.images.disputed`; the line under an image is its label and the disagreement in nats.
    """
    shown, nats, prediction = family[i].maps["shown"], family[i].maps["nats"], family[i].prediction
    height, k = family.images["pixels"].shape[1], shown.shape[1]
    label = style(family[i].method).label
    places = [row.index(image) if image in row else 0 for row in shown.tolist()]
    rows = [int(row[place]) for row, place in zip(shown, places)]
    one = f"{'one' if places[-1] else 'the first'}, {_said(prediction, rows[-1])}"
    if prediction.n_draws > 1:
        title = f"Where the draws of {label} disagree most"
        alt = f"the {k} test images on which the draws of {label} disagree most, and each draw's class probabilities for {one}"
    else:
        title = f"Where {label} is least sure"
        alt = f"the {k} test images on which the one network of {label} is least sure, and its class probabilities for {one}"
    fig = figure(title, alt, showlegend=False)
    sizes = range(len(shown))
    mosaics = torch.stack([_mosaic(_pixels(family, shown[n])) for n in sizes])
    fig.add_live(go.Image(z=mosaics[-1].numpy(), name="images", hoverinfo="skip"), sizes={"z": mosaics})
    across, down = mosaics.shape[2] / COLUMNS, height + _gap(height)
    x = [(j % COLUMNS + 0.45) * across - 0.5 for j in range(k)]
    y = [(j // COLUMNS + 1) * down - _gap(height) / 2 - 0.5 for j in range(k)]
    classes = prediction.classes
    texts = [[f"{classes[prediction.y[row]]}, {float(v):.2f}" for row, v in zip(shown[n], nats[n])] for n in sizes]
    text = scatter(x, y, "text", "labels", text=texts[-1], textfont=dict(size=12, color=INK))
    fig.add_live(text, sizes={"text": texts})
    _add_probabilities(fig, family, i, rows)
    _add_frame(fig, places, (across, down), family.images["pixels"].shape[1:3])
    bare = dict(visible=False, domain=[0, 0.52])
    fig.update_layout(
        xaxis=bare | dict(range=[-0.5, mosaics.shape[2] - 0.5]),
        yaxis=dict(visible=False, range=[mosaics.shape[1] - 0.5, -0.5], scaleanchor="x", constrain="domain"),
        xaxis2=dict(domain=[0.6, 1], anchor="y2", title="class", type="category"),
        yaxis2=dict(anchor="x2", title="probability", range=[0, 1]),
    )
    return fig


def _add_frame(fig: Figure, places: list[int], steps: tuple[float, float], size: tuple[int, int]) -> None:
    """A frame around the image whose probabilities are drawn, at every ensemble size."""
    (across, down), (height, width) = steps, size
    left, top = [j % COLUMNS * across - 0.5 for j in places], [j // COLUMNS * down - 0.5 for j in places]
    ends = dict(x0=left, x1=[x + width for x in left], y0=top, y1=[y + height for y in top])
    fig.add_shape(type="rect", line=dict(color=MARK, width=3), **{name: values[-1] for name, values in ends.items()})
    fig.follow({f"layout.shapes.0.{name}": values for name, values in ends.items()}, rows="size")


def _add_probabilities(fig: Figure, family: Family, i: int, rows: list[int]) -> None:
    """Mean and single draws for the image of each ensemble size at its row of the test split."""
    prediction = family[i].prediction
    n_draws, names = prediction.n_draws, prediction.classes
    means, lines, titles = [], [], []
    for n in range(1, len(rows) + 1):
        kept, row = min(n, n_draws), rows[n - 1]
        probs = prediction.outputs[:, row].log_softmax(-1).exp().cpu()
        means.append(probs[:kept].mean(0))
        drawn = torch.arange(n_draws)[:, None] < kept
        lines.append(torch.where(drawn, pad(probs, (0, 1), value=torch.nan), torch.nan))  # the gap between two draws
        titles.append(f"{_said(prediction, row)}: mean and single draws")
    color, axis = style(family[i].method).color, axes_of(1)
    bars = go.Bar(x=names, y=means[-1].numpy(), name="mean", marker=dict(color=tinted(color, 0.35)), **axis)
    fig.add_live(bars, sizes={"y": torch.stack(means)})
    draws = scatter(
        [*names, None] * n_draws, lines[-1].flatten(), "lines+markers", "draws", line=dict(color=color, width=0.8), **axis
    )
    fig.add_live(draws, sizes={"y": torch.stack(lines).flatten(1)})
    where = dict(x=0, y=1, xref="x2 domain", yref="y2 domain", xanchor="left", yanchor="bottom", showarrow=False)
    fig.add_annotation(text=titles[-1], **where)
    fig.follow({"layout.annotations.0.text": titles}, rows="size")


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
