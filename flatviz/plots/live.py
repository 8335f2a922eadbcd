"""Properties of a figure that follow the controls for method, radius and ensemble size.

A plot declares them where it draws the trace: `fig.add_live(trace, "x", "marker.color",
rows="draws")`.
"""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Live:
    """One property of a figure that changes with the member drawn or with the ensemble size.

    Args:
        trace: Name of the trace it belongs to, "" for the layout.
        path: Its place in the figure's JSON, such as "data.2.marker.color" or "layout.shapes.0.x0".
        values: An array, also of texts, a word (a colour, a label), or a bool (whether shown).
        rows: The part of an array drawn at ensemble size n: "all" of it; "draws", its first n rows;
            "segments", its first 3 n entries (both ends of a line and a gap, a draw); "size", row n
            - 1.
        key: Name shared by properties of equal values, which are then stored once.
    """

    trace: str
    path: str
    values: np.ndarray | str | bool
    rows: str = "all"
    key: str = ""

    @property
    def words(self) -> bool:
        """Whether it has no numbers."""
        return isinstance(self.values, (str, bool)) or self.values.dtype.kind == "U"

    def at(self, n: int) -> object:
        """Return the values drawn at ensemble size n."""
        if self.rows == "all" or isinstance(self.values, (str, bool)):
            return self.values
        if self.rows == "size":
            return self.values[min(n, len(self.values)) - 1]
        return self.values[: n if self.rows == "draws" else 3 * n]
