"""What the study of averaging is asked, and its answers as sentences made from figures by the rule of `claims.py`."""

from __future__ import annotations

import math
from typing import NamedTuple

from torch import Tensor

from flatviz.families.tour import RANK
from flatviz.posteriors import METHODS
from flatviz.results import interval
from flatviz.studies.averaging import POSTERIORS, RANKS, SCORES, SIZES, Averaging
from flatviz.studies.claims import holm, p_of, word_for

LARGEST = 1 - 1e-6  # correlation: Fisher's z of 1 is infinite


class Claim(NamedTuple):
    """A sentence without its figures, the values of each seed (n,), and the sign that they should have."""

    text: str
    values: Tensor
    sign: int


def claims(found: Averaging) -> list[Claim]:
    """Correlations over draws (as Fisher's z), flat-first ensembles against others, ranks of SA-BMA against the usual one."""
    return [*_correlations(found), *_orders(found), *_ranks(found)]


def _correlations(found: Averaging) -> list[Claim]:
    about = ("test NLL", "test error", "training loss", "test NLL at equal training loss")
    return [
        Claim(f"{METHODS[m].label}, over draws: λ1 and {what} rise together (Spearman)", r.clamp(-LARGEST, LARGEST).atanh(), 1)
        for m in POSTERIORS
        for what, r in zip(about, found.correlation[m].unbind(1))
    ]


def _orders(found: Averaging) -> list[Claim]:
    asked = []
    for method in POSTERIORS:
        sharp, random, flat = found.ensembles[method][..., SCORES.index("nll")].unbind(1)
        for other, called in ((sharp, "sharpest"), (random, "random")):
            for size in (1, 5, 10):
                text = f"{METHODS[method].label}, {size} flattest draws less {size} {called}: lower NLL"
                asked.append(Claim(text, (flat - other)[:, SIZES.index(size)], -1))
    return asked


def _ranks(found: Averaging) -> list[Claim]:
    asked, usual = [], found.rank[RANK]
    for rank in RANKS:
        if rank != RANK:
            about = f"SA-BMA, rank {rank} less rank {RANK}: lower"
            asked.append(Claim(f"{about} λ1 (log ratio)", (found.rank[rank] / usual)[:, 0].log(), -1))
            asked.append(Claim(f"{about} NLL", (found.rank[rank] - usual)[:, 1], -1))
    return asked


def sentences(asked: list[Claim]) -> list[str]:
    """Each claim with its mean, 95 % interval, count of seeds and verdict, corrected by Holm for their number."""
    lines = []
    for claim, corrected in zip(asked, holm([p_of(claim.values) for claim in asked])):
        mean, half = interval(claim.values)
        agree = int((claim.sign * claim.values > 0).sum())
        if "Spearman" in claim.text:
            amount = f"{math.tanh(mean):+.2f} ({math.tanh(mean - half):+.2f} to {math.tanh(mean + half):+.2f})"
        else:
            amount = f"{mean:+.2g} ± {half:.2g}"
        lines.append(f"{claim.text}: {amount}, {agree} of {len(claim.values)} seeds: {word_for(claim.sign * mean, corrected)}")
    return lines
