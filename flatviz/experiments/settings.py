"""Objectives and priors under which experiments compare methods."""

from collections.abc import Mapping
from typing import NamedTuple

from flatviz.families.tour import HEAD_STD
from flatviz.posteriors import METHODS


class Setting(NamedTuple):
    """What the methods share.  name, more: short label and its rest; head_std: of the prior on the head; fit: settings of each fit."""

    name: str
    more: str
    head_std: float
    fit: Mapping[str, float]
    task: str = "digits"

    @property
    def label(self) -> str:
        """The whole label."""
        return self.name + self.more


PUBLISHED = dict(kl_weight=0.0, start_scale=1.0, weight_decay=5e-4)  # the published scripts; decay on the mean only
TEMPERED = {name: METHODS["vi"].plain.settings[name] for name in PUBLISHED}  # the default of page and lab
KL_WEIGHT = TEMPERED["kl_weight"]

_SCRIPTS = ", weight decay 5e-4 on the mean: the published scripts"
SETTINGS = {"no KL": Setting("digits, no KL term", _SCRIPTS, 0.1, PUBLISHED)}
for _task, _name in (("digits", "T"), ("digits-near", "near, T")):
    for _t in (KL_WEIGHT, 1.0):
        _about = f"{_task}, T = {_t:g}", f" (the KL weight), standard deviation {HEAD_STD:g} on the head"
        SETTINGS[f"{_name} {_t:g}"] = Setting(*_about, HEAD_STD, TEMPERED | {"kl_weight": _t}, _task)
