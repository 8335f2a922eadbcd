"""The methods, one a line of catalog.toml: name, label, colour, line style, unit, and record.

Plots read this table alone, so that drawing a result loads no training.
`flatviz.posteriors.METHODS` adds the records.
"""

import tomllib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

NO_UNIT = "(no radius)"
EUCLIDEAN = "Euclidean"
KL_BALL = "× the width of q"  # √(2 KL in nats), the shift of the mean in standard deviations
TEMPERATURE = "temperature T"
OVER_T = ("vi_t", "sabma_t")  # methods whose radius is the temperature
# Modes of a perturbation
Mode = Literal[
    "none", "kl_exact", "rank1_pinv", "rank1_damped", "sam_mu", "sam_theta", "authors_code"
]


@dataclass(frozen=True)
class Look:
    """Name and appearance of a method in tables and figures.

    Args:
        name: Its key in `fv.METHODS`.
        label: Its name in tables and figures.
        color: Hex, of no other row; of contrast 3 with white.
        dash: As plotly takes it.
        symbol: As plotly takes it, open or not.
        record: File and name of its record below `flatviz/posteriors`, as "sabma.METHOD".
        unit: Unit of its keyword `radius`; `NO_UNIT` where it has none.
        perturbation: The `mode` of `fv.perturb`, for SA-BMA and its relatives.
        flat: Whether a flat-seeking version exists: its fit takes `ascent=`.
    """

    name: str
    label: str
    color: str
    dash: str
    symbol: str
    record: str
    unit: str = NO_UNIT
    perturbation: Mode | None = None
    flat: bool = False

    def line(self, width: float) -> dict[str, object]:
        """Describe the method's line in a figure, `width` px wide."""
        return dict(color=self.color, dash=self.dash, width=width)

    def marker(self, size: float, **more: object) -> dict[str, object]:
        """Describe the method's marker in a figure, `size` px; `more` as in plotly."""
        return dict(color=self.color, symbol=self.symbol, size=size, **more)

    @property
    def flat_version(self) -> "Look":
        """The row of the flat-seeking version, F-<label>.

        Its radius is SAM's.  Its symbol is open, or filled where the plain one is open.
        """
        filled = self.symbol.removesuffix("-open")
        symbol = f"{filled}-open" if self.symbol == filled else filled
        return replace(
            self,
            name=f"f-{self.name}",
            label=f"F-{self.label}",
            symbol=symbol,
            unit=EUCLIDEAN,
            flat=False,
        )


# Look of a record outside of the table
UNLISTED = Look("method", "method", "#000000", "solid", "circle", "")

_TABLE = Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
ROWS = tuple(Look(**row) for row in tomllib.loads(_TABLE)["rows"])
LOOKS: dict[str, Look] = {}
for row in ROWS:
    LOOKS[row.name] = row
    if row.flat:
        LOOKS[row.flat_version.name] = row.flat_version
