"""Pictures of the transfer study's page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from torch import Tensor

from flatviz.pages.gallery import Picture
from flatviz.plots.comparison import plot_comparison
from flatviz.plots.risk_coverage import plot_risk_coverage
from flatviz.plots.severity import plot_severity
from flatviz.results import Shift


def transfer_pictures(
    shifts: Mapping[str, Sequence[Shift]],
    risks: Mapping[str, Tensor],
    outside: Mapping[str, Mapping[str, Tensor]],
    ood: Sequence[Mapping[str, str]],
    table: Mapping[str, Mapping[str, tuple[float, float]]],
    verdicts: Sequence[Mapping[str, str]],
    sentence: str,
) -> list[Picture]:
    """Scores by severity, over all kinds and of each; risk against coverage, of the test images and with images from outside;
    NLL over λ1; tables of the outside scores and of the question."""
    first = next(iter(shifts.values()))[0]
    about = "Lines are means over seeds, bars the 95 % interval of that mean; severity 0 is the clean test split."
    caption = f"Scores on corrupted test images, averaged over {len(first.kinds)} kinds. {about}"
    pictures = [Picture("severity", caption, plot_severity(shifts))]
    for kind in first.kinds:
        name = kind.replace("_", " ")
        pictures.append(Picture(f"severity-{kind}", f"The same for {name} alone.", plot_severity(shifts, kind=kind)))
    caption = "The surest answers first: a method that knows when it errs keeps its risk low until the coverage is large."
    pictures.append(Picture("risk", caption, plot_risk_coverage(risks)))
    for name, by_method in outside.items():
        caption = f"The same where images from outside are mixed in ({name}): whatever is answered to one of these is wrong."
        figure = plot_risk_coverage(by_method, title=f"Risk against coverage, with {name}")
        pictures.append(Picture(f"risk-{name.replace(' ', '-')}", caption, figure))
    caption = (
        "How well the entropy of the averaged prediction tells other images from the clean test images; FPR95 is better low."
    )
    pictures.append(Picture("Images from outside", caption, table=ood))
    caption = (
        "NLL on clean test images over the largest Hessian eigenvalue of the training loss; the menus choose other quantities."
    )
    pictures.append(Picture("comparison", caption, plot_comparison(table, title="Scores and curvature of the methods")))
    return [*pictures, *([Picture("When does SA-BMA help?", sentence, table=verdicts)] if verdicts else [])]
