"""The pictures of a symmetry study, in the order in which its page shows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from torch import Tensor

from flatviz.pages.gallery import Picture
from flatviz.plots.curve import plot_curve
from flatviz.plots.mass import plot_mass
from flatviz.plots.mmd import plot_mmd
from flatviz.plots.orbit import plot_orbit
from flatviz.plots.pairs import plot_pairs
from flatviz.plots.triptych import plot_marginals, plot_triptych
from flatviz.results import Curve

NAMES = {
    "raw": "as trained",
    "first": "unit norm, sorted by first weight",
    "max": "unit norm, sorted by largest weight",
    "aligned": "least mass, aligned",
}
FLATNESS = {
    "lambda1": "λ₁",
    "trace": "trace",
    "sam": "SAM-sharpness",
    "filter": "filter-normalised curvature",
    "relative": "relative flatness, first layer",
    "asam": "ASAM-sharpness",
    "weighted": "Σ w² H",
}


class Study(Protocol):
    """What the pictures need of a study."""

    mmd: Mapping[str, Mapping[str, Tensor]]
    figures: Mapping[str, Mapping[str, Tensor]]
    line: tuple[Curve, ...]

    def cell(self, variant: str, name: str, which: int = 0) -> tuple[float, float]:
        """Mean and half width of an interval."""
        ...


class OrbitLike(Protocol):
    """One network rescaled, with its measures."""

    t: Tensor
    measures: Mapping[str, Tensor]
    difference: Tensor


def symmetry_pictures(
    study: Study, orbit: OrbitLike, trends: Sequence[Mapping[str, str]], survival: Sequence[Mapping[str, str]]
) -> list[Picture]:
    """Figures and tables of the page; `survival` may be empty."""
    cells = {v: {n: study.cell(v, n) for n in sets} for v, sets in study.mmd.items()}
    table = {
        NAMES[v]: {n: (mean, 0.0 if half != half else half) for n, (mean, half) in row.items()} for v, row in cells.items()
    }
    marginals = study.figures["marginals"]
    layers = dict.fromkeys(name.rpartition(" ")[0] for name in marginals)
    pairs = {"test digits": study.figures["pairs"]["in"], "shuffled pixels": study.figures["pairs"]["out"]}
    pictures = [
        Picture("Trends of the paper", "Each is judged by a rule from its figures; intervals are 95 %.", table=trends),
        Picture("distances", "Each marker is the mean over replicates of sets of starting networks, with its 95 % interval. "
                "Ten modes come nearer than one by their number alone: the control, ten networks copied, does as well.",
                plot_mmd(table)),
        Picture("triptych", "Every point is one trained network of two hidden units. Its two output weights lie on a ring; "
                "at unit norm of the incoming weights on a diamond; in sorted order on half of it.",
                plot_triptych(study.figures["toy"])),
        Picture("marginals", "As trained, each unit of a layer has the marginal of all others. With equal networks counted "
                "once the first unit has one of its own.",
                plot_marginals({n: (marginals[f"{n} raw"], marginals[f"{n} removed"]) for n in layers})),
        Picture("mass", "Each point is a trained network. Its distance below the diagonal is mass that a rescaling of hidden "
                "units removes without changing the function: weight decay has not.", plot_mass(study.figures["mass"])),
        Picture("pairs", "Two networks that are one function would have no mutual information.", plot_pairs(pairs)),
        Picture("barrier", "Loss on test digits along the straight line between two trained networks. Aligning their units "
                "changes neither end, and lowers what lies between.",
                plot_curve(list(study.line), title="Loss along straight lines between two networks")),
        Picture("orbit", "The slider rescales hidden units of one trained network. No prediction changes beyond rounding; "
                "the curvature does, and only measures that follow the weights' own scale stay.",
                plot_orbit(orbit.t, {FLATNESS[name]: v for name, v in orbit.measures.items()}, orbit.difference)),
    ]  # fmt: skip
    if survival:
        caption = "Ratios to VI, each draw as it is and at the lightest network equal to it; intervals are paired by seed."
        pictures.append(Picture("What of the evidence on flatness survives", caption, table=survival))
    return pictures
