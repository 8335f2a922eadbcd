"""A picture in words."""

from __future__ import annotations

from flatviz.plots.captions import words


def explain(result: object) -> str:
    """What a result or figure shows: x and y, their unit and normalisation, the data, the BatchNorm mode, what is hidden.

    result: a Surface, Curve, Spectrum, Projection, Persistence or Plane; or a figure that flatviz drew.
    Raises TypeError for anything else.
    """
    meta = getattr(getattr(result, "layout", None), "meta", None)
    if isinstance(meta, dict):
        return meta.get("explain") or meta["alt"]
    return words(result)
