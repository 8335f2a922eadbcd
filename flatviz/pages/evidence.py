"""The pictures and tables of the evidence's page: gains over VI and nearness to HMC, a setting at a time, and the claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from flatviz.pages.gallery import Picture
from flatviz.plots.closeness import plot_closeness
from flatviz.plots.gains import plot_gains

Amounts = Mapping[str, tuple[float, float]]  # quantity -> (mean, half of its 95 % interval)
SHOWN = ("lambda1", "nll", "accuracy", "ece", "shifted_nll")  # of the gains; nearness to HMC has a picture of its own


@dataclass(frozen=True, eq=False)
class SettingShown:
    """What the page shows of one setting.

    gains: baseline -> method and radius -> quantity -> (mean gain, half); near: row -> method -> quantity -> (mean, half);
    values, verdicts: rows of text; tables: baseline -> rows of text.
    """

    name: str
    label: str
    gains: Mapping[str, Mapping[str, Amounts]]
    near: Mapping[str, Mapping[str, Amounts]]
    values: Sequence[Mapping[str, str]]
    tables: Mapping[str, Sequence[Mapping[str, str]]] = field(default_factory=dict)
    verdicts: Sequence[Mapping[str, str]] = ()


def evidence_pictures(
    settings: Sequence[SettingShown],
    *,
    over: str,
    about_hmc: str,
    floor: Mapping[str, float],
    claims: Sequence[Mapping[str, str]],
) -> list[Picture]:
    """Pictures and tables in order: the claims of the sources, where there are any, then each setting.

    over: the seeds, in words; about_hmc: the posterior compared with; floor: as `plot_closeness` takes it.
    """
    pictures = []
    if claims:
        pictures.append(Picture("What really holds", "Claims of the sources, judged by rule at our scale.", table=claims))
    for shown in settings:
        pictures += _of_setting(shown, over, about_hmc, floor)
    return pictures


def _of_setting(shown: SettingShown, over: str, about_hmc: str, floor: Mapping[str, float]) -> list[Picture]:
    drawn = {
        b: {row: {q: v for q, v in amounts.items() if q in SHOWN} for row, amounts in rows.items()}
        for b, rows in shown.gains.items()
    }
    title = f"Gains over VI: {shown.label}"
    pictures = [
        Picture(f"gains_{shown.name}", f"Paired differences to VI, mean over {over} with 95 % intervals; λ1 as log ratio.",
                plot_gains(drawn, title=title)),
    ]  # fmt: skip
    if any(amounts for members in shown.near.values() for values in members.values() for amounts in values.values()):
        caption = (
            f"Distance to HMC {about_hmc}; each row: VI at as many gradients (filled) and the flat-seeking fit (open), means over {over} "
            "with 95 % intervals. The dotted line is the distance of one half of HMC's chains to the other."
        )
        figure = plot_closeness(shown.near, floor=floor, title=f"Is a flat posterior closer to the exact one? {shown.label}")
        pictures.append(Picture(f"closeness_{shown.name}", caption, figure))
    pictures.append(Picture(f"Values: {shown.label}", f"Mean ± half of the 95 % interval over {over}.", table=shown.values))
    for baseline, rows in shown.tables.items():
        caption = f"Less VI of {baseline}, seed by seed (λ1: ratio); in brackets the seeds with a gain."
        pictures.append(Picture(f"{baseline[0].upper()}{baseline[1:]}: {shown.label}", caption, table=rows))
    if shown.verdicts:
        caption = "Claims that a method is better than VI, corrected by Holm for those of one baseline."
        pictures.append(Picture(f"Verdicts: {shown.label}", caption, table=shown.verdicts))
    return pictures
