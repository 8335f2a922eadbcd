"""A family as what the front end needs: figures made once by the plot functions, and each member's numbers, packed."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from flatviz.pages.figures import figures, ranges
from flatviz.plots.color import ColorScale, values_of
from flatviz.plots.metrics import SHOWN
from flatviz.plots.surface import marker_size
from flatviz.plots.theme import numbers, style
from flatviz.results import Family


@dataclass(frozen=True)
class Bundle:
    """`index`: JSON text, what is where; `buffer`: the members' records of little-endian float32."""

    index: str
    buffer: bytes


def pack(family: Family, *, stops: Mapping[str, Sequence[float]] | None = None, live: bool = False) -> Bundle:
    """A measured family as figures and numbers.

    stops: radii that the slider of each method offers beside the fitted ones; live: a kernel can fit those.
    Raises ValueError for a family that was not measured.
    """
    if family.surface is None or not family.prediction:
        raise ValueError("the family must be measured before it is shown, got posteriors only: use fv.measure")
    n_max = max(p.n_draws for p in family.prediction)
    scale = color_scale(family)
    records = [_record(family, i, n_max, scale) for i in range(len(family))]
    fields, offset = {}, 0
    for name, values in records[0].items():
        fields[name] = {"offset": offset, "shape": list(values.shape)}
        offset += int(np.prod(values.shape))
    index = {
        "n_max": n_max,
        "record": offset,
        "fields": fields,
        "members": [_meta(family, i) for i in range(len(family))],
        "figures": figures(family, scale, n_max),
        "stops": {m: list(r) for m, r in (stops or {}).items()},
        "live": live,
    }
    buffer = b"".join(v.astype("<f4").tobytes() for r in records for v in r.values())
    return Bundle(json.dumps(index, ensure_ascii=False, allow_nan=False, separators=(",", ":")), buffer)


def pack_members(family: Family, members: Sequence[int]) -> Bundle:
    """Only the records of some members and the axes that hold all, for a front end that has the rest."""
    n_max, scale = max(p.n_draws for p in family.prediction), color_scale(family)
    records = [_record(family, i, n_max, scale) for i in members]
    size = sum(int(np.prod(v.shape)) for v in records[0].values())
    index = {"record": size, "members": [_meta(family, i) for i in members], "ranges": ranges(family)}
    return Bundle(json.dumps(index), b"".join(v.astype("<f4").tobytes() for r in records for v in r.values()))


def color_scale(family: Family) -> ColorScale:
    """One loss scale for all surfaces and samples: that of the shared surface, so that members fitted later share it."""
    values = family.surface.values
    return ColorScale.over(values[torch.isfinite(values)])


def _meta(family: Family, i: int) -> dict[str, Any]:
    label, color, dash, symbol = style(family.method[i])
    return {
        "method": family.method[i],
        "radius": family.radius[i],
        "unit": family.unit[i],
        "label": label,
        "color": color,
        "dash": dash,
        "symbol": symbol,
    }


def _record(family: Family, i: int, n_max: int, scale: ColorScale) -> dict[str, np.ndarray]:
    """One member's arrays; where it has fewer draws (MAP has one) scores repeat and samples end."""
    shown, prediction = family.projection[i], family.prediction[i]
    spectra = torch.stack([s.values for s in family.spectrum[i]])
    residual = torch.stack([s.residual for s in family.spectrum[i]])
    n_spectra = max(len(s) for s in family.spectrum)
    inside = (shown.coords @ shown.plane.axes).norm(dim=1)
    center = (family.posterior[i].center - shown.plane.origin) @ torch.linalg.pinv(shown.plane.axes)
    per_draw = {
        "x": shown.coords[:, 0],
        "y": shown.coords[:, 1],
        "color": scale(values_of(shown)),
        "size": marker_size(shown),
        "about": torch.stack([values_of(shown), shown.distance], 1),
        "inside": inside,
        "distance": shown.distance,
        "loss": values_of(shown),
    }
    per_size = {name: prediction.scores[name] for name in SHOWN} | {
        "bin_count": prediction.bins[..., 0],
        "bin_confidence": prediction.bins[..., 1],
        "bin_accuracy": prediction.bins[..., 2].nan_to_num(0),
    }
    around = family.around[i].values
    return (
        {k: numbers(_longer(v, n_max, math.nan)) for k, v in per_draw.items()}
        | {k: numbers(_longer(v, n_max, None)) for k, v in per_size.items()}
        | {
            "center": numbers(center),
            "around": numbers(scale(torch.where(torch.isfinite(around), around, torch.nan).T)),
            "around_loss": numbers(around.T),
            "spectrum": numbers(_longer(spectra, n_spectra, math.nan).reshape(-1)),
            "spectrum_residual": numbers(_longer(residual, n_spectra, math.nan).reshape(-1)),
            "spectrum_mean": numbers(spectra.mean(0)),
        }
    )


def _longer(values: Tensor, n: int, fill: float | None) -> Tensor:
    """Rows up to n: `fill`, or the last row again."""
    missing = n - len(values)
    if missing <= 0:
        return values
    last = values[-1:].expand(missing, *values.shape[1:])
    return torch.cat([values, last if fill is None else torch.full_like(last, fill)])
