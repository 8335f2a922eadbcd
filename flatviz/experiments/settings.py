"""Objectives and priors under which experiments compare methods."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from flatviz.families.tour import HEAD_STD
from flatviz.posteriors import METHODS


class Setting(NamedTuple):
    """An objective, a prior and a task that the methods share: standard deviation of the prior on the head, settings of each fit."""

    label: str
    head_std: float
    fit: Mapping[str, float]
    task: str = "digits"


PUBLISHED = dict(kl_weight=0.0, start_scale=1.0, weight_decay=5e-4)  # the published scripts; decay on the mean only
TEMPERED = {name: METHODS["vi"].plain.settings[name] for name in PUBLISHED}  # the default of page and lab
KL_WEIGHT = TEMPERED["kl_weight"]

SETTINGS = {
    "plain": Setting("KL weight 0, weight decay 5e-4 on the mean: the published scripts", 0.1, PUBLISHED),
    "tempered": Setting(
        f"KL weight {KL_WEIGHT:g}, standard deviation {HEAD_STD:g} on the head: tour, lab and reference", HEAD_STD, TEMPERED
    ),
}
SETTINGS |= {
    f"T {t:g}": Setting(f"KL weight {t:g}, standard deviation {HEAD_STD:g} on the head", HEAD_STD, TEMPERED | {"kl_weight": t})
    for t in (0.1, 0.3, 1.0)
}
SETTINGS |= {
    f"near, T {t:g}": Setting(
        f"digits-near, KL weight {t:g}, standard deviation {HEAD_STD:g} on the head",
        HEAD_STD,
        TEMPERED | {"kl_weight": t},
        "digits-near",
    )
    for t in (KL_WEIGHT, 1.0)
}
