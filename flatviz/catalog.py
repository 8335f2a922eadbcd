"""The methods, one a line: name, label, colour, line style, unit of the radius, and record.

Plots read this table alone, so that drawing a result loads no training.
`flatviz.posteriors.METHODS` adds the records.
"""

from dataclasses import dataclass, replace
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
        color: Hex; no two rows have color, dash and symbol in common.
        dash: As plotly takes it.
        symbol: As plotly takes it, open or not.
        record: File and name of its record below `flatviz/posteriors`, as "sabma.METHOD".
        unit: Unit of its keyword `radius`; `NO_UNIT` where it has none.
        perturbation: The `mode` of `fv.perturb`, for SA-BMA and its relatives.
        flat: Whether a flat-seeking version exists: its fit takes `ascent=`.
        public: Names of its file in `fv.posteriors`, its step among them.
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
    public: str = ""

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
        symbol = (
            self.symbol.removesuffix("-open")
            if self.symbol.endswith("-open")
            else f"{self.symbol}-open"
        )
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

ROWS = (
    Look("sgd", "SGD (MAP)", "#1f2933", "dot", "x", "sgd.METHOD", flat=True),
    Look("fisher_sam", "FisherSAM", "#3d5a4c", "dot", "x-open", "sgd.FISHER_SAM", unit="Fisher"),
    Look("swa", "SWA", "#5c4a00", "dot", "hexagram", "swag.SWA_METHOD", flat=True),
    Look(
        "swag_diag", "SWAG-diagonal", "#a07c00", "dash", "star-square", "swag.DIAGONAL", flat=True
    ),
    Look("swag", "SWAG", "#8a6d00", "longdashdot", "star", "swag.METHOD", flat=True, public="SWAG"),
    Look(
        "mfvi", "mean-field VI", "#4f79a8", "dot", "square-open", "vi.MEAN_FIELD_METHOD", flat=True
    ),
    Look("moped", "MOPED", "#2a9d9d", "dashdot", "square-x", "vi.MOPED", flat=True),
    Look("vi", "VI", "#0072B2", "dash", "square", "vi.METHOD", flat=True, public="VI"),
    Look("vi_t", "VI over T", "#3a86c8", "dot", "square-dot", "vi.OVER_T", TEMPERATURE),
    Look(
        "sam_mu",
        "SAM on the mean",
        "#D55E00",
        "dashdot",
        "triangle-up",
        "sabma.SAM_ON_MEAN",
        EUCLIDEAN,
        "sam_mu",
    ),
    Look(
        "sabma",
        "SA-BMA",
        "#009E73",
        "solid",
        "circle",
        "sabma.METHOD",
        KL_BALL,
        "kl_exact",
        public="SABMA",
    ),
    Look("sabma_t", "SA-BMA over T", "#2f9e78", "dot", "circle-dot", "sabma.OVER_T", TEMPERATURE),
    Look(
        "rank1_pinv",
        "SA-BMA, rank 1",
        "#5b7a1d",
        "dashdot",
        "star-triangle-up",
        "sabma.RANK_ONE",
        KL_BALL,
        "rank1_pinv",
    ),
    Look(
        "authors_code",
        "released SA-BMA code",
        "#CC79A7",
        "longdash",
        "diamond",
        "sabma.RELEASED",
        EUCLIDEAN,
        "authors_code",
    ),
    Look(
        "bsam",
        "bSAM",
        "#a34700",
        "dashdot",
        "triangle-down",
        "bsam.METHOD",
        unit="share of a step g / s",
        public="BSAM",
    ),
    Look(
        "ivon",
        "IVON",
        "#1565c0",
        "longdash",
        "square-cross",
        "ivon.METHOD",
        public="IVON",
    ),
    Look(
        "laplace",
        "Laplace",
        "#7b3fa0",
        "solid",
        "hexagon",
        "laplace.METHOD",
        flat=True,
        public="laplace_evidence marginal_noise",
    ),
    Look("sgld", "SGLD", "#b3124f", "solid", "cross", "sgld.METHOD", flat=True, public="SGLD"),
    Look(
        "sghmc",
        "SGHMC",
        "#d6336c",
        "dash",
        "cross-open",
        "sgld.SGHMC_METHOD",
        flat=True,
        public="SGHMC",
    ),
    Look(
        "psgld",
        "pSGLD",
        "#8e2157",
        "longdash",
        "diamond-x",
        "psgld.METHOD",
        flat=True,
        public="PSGLD",
    ),
    Look(
        "sgnht",
        "SGNHT",
        "#e0558a",
        "longdashdot",
        "diamond-cross",
        "sgnht.METHOD",
        flat=True,
        public="SGNHT",
    ),
    Look("hmc", "HMC", "#111111", "solid", "circle-cross", "hmc.METHOD"),
    Look("csgld", "cyclical SGLD", "#7d0f38", "dot", "x-open", "sgld.CYCLICAL_SGLD", flat=True),
    Look(
        "csghmc", "cyclical SGHMC", "#c2185b", "dashdot", "x-open", "sgld.CYCLICAL_SGHMC", flat=True
    ),
    Look(
        "emcmc",
        "E-MCMC",
        "#96506b",
        "dashdot",
        "diamond-open",
        "coupled.METHOD",
        flat=True,
        public="EMCMC",
    ),
    Look(
        "svgd",
        "SVGD",
        "#5a3d8a",
        "dashdot",
        "octagon",
        "coupled.SVGD_METHOD",
        flat=True,
        public="SVGD",
    ),
    Look("ptl", "PTL", "#8c6f7a", "longdash", "pentagon", "multi.PTL"),
    Look("dropout", "MC dropout", "#2f7d7d", "dash", "circle-open", "dropout.METHOD", flat=True),
    Look(
        "ensemble", "deep ensemble", "#4d5b66", "solid", "bowtie", "sgd.ENSEMBLE_METHOD", flat=True
    ),
    Look("multiswag", "MultiSWAG", "#6b5b2f", "solid", "star-diamond", "multi.METHOD", flat=True),
)
LOOKS = {
    look.name: look for row in ROWS for look in ([row, row.flat_version] if row.flat else [row])
}
