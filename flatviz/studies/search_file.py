"""The file of a search: its figures as plain values, and what a confirmation on fresh seeds needs of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from flatviz.studies.cases import QUANTITIES, Case
from flatviz.studies.claims import BETTER, NAMES, Verdict, p_of_interval
from flatviz.studies.search import BASELINES, Gain, Outcome, Searched


def rows(outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
    """A row a case: choice, mean values of each competitor, and difference, half interval and seeds with a gain by baseline."""
    return [_row(outcome) for outcome in outcomes]


def claim_rows(verdicts: Sequence[Verdict]) -> list[dict[str, Any]]:
    """A row a claim: what it is of, its corrected p, verdict and sentence."""
    return [
        {
            "case": str(v.difference.cell),
            "baseline": v.difference.baseline,
            "quantity": v.difference.quantity,
            "corrected_p": _plain(v.corrected),
            "verdict": v.word,
            "sentence": sentence(v),
        }
        for v in verdicts
    ]


def sentence(verdict: Verdict) -> str:
    """A claim in words, with its figures and the verdict."""
    d = verdict.difference
    factor = 100 if d.quantity == "accuracy" else 1
    amount = f"{NAMES[d.quantity]} {factor * d.mean:+.2g} ± {factor * d.half:.2g}"
    seeds = f"better in {d.n_better} of {len(d.values)} seeds"
    return f"SA-BMA at {d.cell} against {d.baseline}: {amount}, {seeds}: {verdict.word}"


def _row(outcome: Outcome) -> dict[str, Any]:
    columns = [QUANTITIES.index(q) for q in outcome.case.quantities]
    return {
        "case": str(outcome.case),
        "settings": {k: v for k, v in asdict(outcome.case).items() if k not in ("shift", "severity")},
        "choice": dict(outcome.choice),
        "means": {n: {QUANTITIES[i]: _plain(float(v[:, i].mean())) for i in columns} for n, v in outcome.values.items()},
        "differences": {
            b: {d.quantity: [_plain(d.mean), _plain(d.half), d.n_better] for d in outcome.differences(b)} for b in BASELINES
        },
    }


def _plain(value: float) -> float | None:
    return float(f"{value:.4g}") if math.isfinite(value) else None


def balance(result: dict[str, Any]) -> list[str]:
    """A line a baseline: of all differences of the confirmed cases, whose intervals lie on SA-BMA's side, on the other, on neither."""
    lines = []
    for baseline in BASELINES:
        every = [
            (BETTER[quantity] * mean, half)
            for row in result["confirmation"]
            for quantity, (mean, half, _) in row["differences"][baseline].items()
            if mean is not None
        ]
        better = sum(gain > half for gain, half in every)
        worse = sum(-gain > half for gain, half in every)
        lines.append(
            f"against {baseline}: better in {better}, worse in {worse}, open in {len(every) - better - worse} of {len(every)}"
        )
    return lines


def read_searched(result: dict[str, Any], cases: Sequence[Case]) -> Searched:
    """The search that a file holds of one model: of these cases, by their names.  Raises ValueError where it is of others."""
    rows = {row["case"]: row for row in result["search"]}
    if list(rows) != [str(case) for case in cases]:
        raise ValueError(f"a stored search must be of the {len(cases)} declared cases, got {len(rows)} others: search again")
    n, gains = len(result["about"]["seeds"]), []
    for case in cases:
        for baseline, of_baseline in rows[str(case)]["differences"].items():
            for quantity, (mean, half, n_better) in of_baseline.items():
                p_value = math.nan if mean is None or half is None else p_of_interval(mean, half, n)
                gains.append(Gain(case, baseline, quantity, n_better == n, p_value))
    return Searched(tuple(result["about"]["seeds"]), {case: rows[str(case)]["choice"] for case in cases}, tuple(gains))
