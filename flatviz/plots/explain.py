"""The text that describes a result or a figure."""

from __future__ import annotations

from flatviz.core.boundary import public
from flatviz.plots.captions import words


@public
def explain(result: object) -> str:
    """What a result or figure shows: x and y, their unit and normalisation, the data, the BatchNorm mode, what is hidden.

    Args:
        result: a Surface, Curve, Spectrum, Projection, Persistence or Plane; or a figure that flatviz drew.

    Raises:
        TypeError: For anything else.

    Example:
        >>> plane = fv.Plane(torch.zeros(3), torch.eye(3)[:2], "distance in weight space", "a plane")
        >>> fv.explain(plane)[:74]
        'A plane, 3 weights. x and y count in: distance in weight space. The axes a'
    """
    meta = getattr(getattr(result, "layout", None), "meta", None)
    if isinstance(meta, dict):
        return meta.get("explain") or meta["alt"]
    return words(result)
