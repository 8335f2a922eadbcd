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
from flatviz.results import FLATNESS, Curve

NAMES = {
    "raw": "as trained",
    "first": "unit norm, sorted by first weight",
    "max": "unit norm, sorted by largest weight",
    "aligned": "least mass, aligned",
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
        Picture("distances", _distances_caption(cells), plot_mmd(table)),
        Picture("triptych", "Every point is one trained network of two hidden units, at its two output weights: as trained, "
                "at unit norm of each unit's incoming weights, and with the units sorted as well.",
                plot_triptych(study.figures["toy"])),
        Picture("marginals", "Weights into the first unit of each layer over the pool. Training treats all units of a layer alike, "
                "so as trained this is the marginal of each of them; with equal networks counted once it is not.",
                plot_marginals({n: (marginals[f"{n} raw"], marginals[f"{n} removed"]) for n in layers})),
        Picture("mass", "Each point is a trained network. Its distance below the diagonal is mass that weight decay left, and a "
                "rescaling of hidden units removes without changing the function.", plot_mass(study.figures["mass"])),
        Picture("pairs", "Two networks that are one function would have no mutual information.", plot_pairs(pairs)),
        Picture("barrier", _barrier_caption(study.line),
                plot_curve(list(study.line), title="Loss along straight lines between two networks")),
        Picture("orbit", _orbit_caption(orbit),
                plot_orbit(orbit.t, {FLATNESS[name]: v for name, v in orbit.measures.items()}, orbit.difference)),
    ]  # fmt: skip
    if survival:
        caption = "Ratios to VI, each draw as it is and at the lightest network equal to it; intervals are paired by seed."
        pictures.append(Picture("What of the evidence on flatness survives", caption, table=survival))
    return pictures


def _distances_caption(cells: Mapping[str, Mapping[str, tuple[float, float]]]) -> str:
    """What the markers are, and how near ten modes come beside ten copied networks."""
    counts = []
    for variant, row in cells.items():
        modes = [mean for name, (mean, _) in row.items() if name.endswith("/multi")]
        near = sum(mean < row["control"][0] for mean in modes)
        counts.append(f"{NAMES[variant]} {near} of {len(modes)}")
    return (
        "Each marker is the mean over replicates of sets of starting networks, with its 95 % interval. Ten networks copied, the "
        f"control, have no spread of any method; methods whose ten modes lie nearer than it: {'; '.join(counts)}."
    )


def _barrier_caption(lines: Sequence[Curve]) -> str:
    """The highest rise of each line above the straight line between its ends."""
    barriers = ", ".join(f"{line.name or 'line'} {line.barrier:.2f}" for line in lines)
    return f"Loss on test digits along the straight line between two trained networks; highest rise above its ends: {barriers} nats."


def _orbit_caption(orbit: OrbitLike) -> str:
    """The largest change of a logit, and which measures stay within 1 % of their value along the orbit."""
    spread = {name: float(v.max() / v.min()) for name, v in orbit.measures.items()}
    stay = [FLATNESS[name] for name, ratio in spread.items() if ratio < 1.01]
    return (
        f"The slider rescales hidden units of one trained network. The largest change of a logit is {float(orbit.difference.max()):.1e}; "
        f"measures that stay within 1 %: {', '.join(stay) or 'none'}; the others change by up to a factor of {max(spread.values()):.3g}."
    )
