"""When does SA-BMA help, on a network of images: differences to VI and SAM at equal gradients, seed by seed, and a sentence by rule."""

from __future__ import annotations

import math
from collections.abc import Sequence

from flatviz.posteriors import METHODS
from flatviz.studies.claims import BETTER, Difference, Verdict, judge
from flatviz.studies.transfer import TransferStudy

ASKED = ("nll", "accuracy", "ece", "shifted_nll", "shifted_accuracy", "shifted_ece", "lambda1")
NAMES = {
    "nll": "NLL", "accuracy": "accuracy (points)", "ece": "ECE", "shifted_nll": "NLL under shift",
    "shifted_accuracy": "accuracy under shift (points)", "shifted_ece": "ECE under shift", "lambda1": "λ1",
}  # fmt: skip
ENOUGH = 10  # seeds, below which a claim of the table is not to be generalised


def compare_with(study: TransferStudy, method: str = "sabma", baselines: Sequence[str] = ("vi", "f-sgd")) -> list[Verdict]:
    """`method` less each baseline of the study, paired by seed, a verdict on each quantity, corrected for their number together.

    Of lambda1 the logarithms are compared.  Empty where the study lacks the method or all baselines.
    """
    if method not in study.rows:
        return []
    compared = []
    for baseline in baselines:
        for quantity in ASKED if baseline in study.rows else ():
            mine, theirs = study.of(method, quantity), study.of(baseline, quantity)
            both = mine.isfinite() & theirs.isfinite()
            values = (mine / theirs).log() if quantity == "lambda1" else mine - theirs
            if bool(both.any()):
                compared.append(Difference((method, baseline), "equal gradients", quantity, values[both]))
    return judge(compared)


def verdict_rows(verdicts: Sequence[Verdict]) -> list[dict[str, str]]:
    """A row a comparison: the difference with its interval, seeds in which it is a gain, corrected p, the word."""
    return [_row(v) for v in verdicts]


def _row(v: Verdict) -> dict[str, str]:
    d = v.difference
    method, baseline = (METHODS[name].label for name in d.cell)
    if d.quantity == "lambda1":
        low, high = math.exp(d.mean - d.half), math.exp(d.mean + d.half)
        amount, half = f"{math.exp(d.mean):.2f} times", f" ({low:.2f} to {high:.2f})"
    else:
        factor = 100 if "accuracy" in d.quantity else 1
        amount, half = f"{factor * d.mean:+.3g}", f" ± {factor * d.half:.2g}"
    amount += "" if math.isnan(d.half) else half
    return {
        "compared": f"{method} less {baseline}",
        "quantity": NAMES[d.quantity],
        "difference": amount,
        "better in": f"{d.n_better} of {len(d.values)} seeds",
        "p (Holm)": "-" if math.isnan(v.corrected) else f"{v.corrected:.2g}",
        "verdict": v.word,
    }


def answer(verdicts: Sequence[Verdict]) -> str:
    """The sentence that the verdicts amount to, whatever they are."""
    if not verdicts:
        return "SA-BMA was not compared: the study needs it together with VI or SAM."
    n = max(len(v.difference.values) for v in verdicts)
    parts = []
    for baseline in dict.fromkeys(v.difference.cell[1] for v in verdicts):
        of = [v for v in verdicts if v.difference.cell[1] == baseline]
        said = [
            f"{what} {', '.join(NAMES[v.difference.quantity] for v in of if v.word == word)}"
            for word, what in (("holds", "better in"), ("does not hold", "worse in"), ("cannot tell", "undecided in"))
            if any(v.word == word for v in of)
        ]
        if all(v.word == "cannot tell" for v in of):
            said = [f"undecided in all {len(of)} quantities"]
        parts.append(f"against {METHODS[baseline].label} {'; '.join(said)}")
    text = f"SA-BMA at equal gradients over {n} paired seeds: {', and '.join(parts)}."
    few = f"  With fewer than {ENOUGH} seeds this describes these runs and no more." if n < ENOUGH else ""
    return text + few


assert set(NAMES) <= set(BETTER)
