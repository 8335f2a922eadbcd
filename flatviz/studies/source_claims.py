"""The claims of the sources, each judged by rule from the project's stored results: what the docs' table is made of.

Names: "SA-BMA T1" ... of "Flat Posterior Does Matter For Bayesian Model Averaging" (arXiv 2406.15664), "F- ..." flat against plain
for each method that has both, after "Flat Seeking Bayesian Neural Networks" (arXiv 2302.02713), "symmetry T1" ... of "A
Symmetry-Aware Exploration of Bayesian Neural Network Posteriors" (arXiv 2310.08287), read from its own study's result.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from flatviz.posteriors import METHODS
from flatviz.results import interval
from flatviz.studies.averaging import Averaging
from flatviz.studies.averaging_claims import claims as averaging_claims
from flatviz.studies.averaging_claims import sentences
from flatviz.studies.claims import BETTER, NAMES, differences, holm, judge, p_of, sentence, verdicts_on, word_for
from flatviz.studies.compare import Comparison, read_comparison
from flatviz.studies.evidence import Evidence

HOLDS, NOT, OPEN = "holds", "does not hold", "cannot tell"
FLAT, FLAT_SEEKING, SYMMETRY = "SA-BMA", "F-", "symmetry"
FILES = {"averaging": "averaging_digits.json", "compare": "compare_digits.csv", "symmetry": "symmetry_digits.json"}
DIGITS = "digits, 10 shots a class, MLP"
OF_FLAT = ("lambda1", "nll", "tv")  # what is claimed of F-X against X
T5_OF = ("nll", "accuracy", "ece", "shifted_nll")
AT = 1.0  # the radius of SA-BMA of which T5 and T7 speak, where it is not tuned


@dataclass(frozen=True)
class SourceClaim:
    """One row of the table: claim and where it stands, our setting, our figure, the verdict."""

    name: str
    claim: str
    setting: str
    figure: str
    verdict: str

    def row(self) -> dict[str, str]:
        """As text by column."""
        return asdict(self)


def source_claims(evidence: Evidence, folder: Path) -> list[SourceClaim]:
    """All claims judged by the evidence and by the results in `folder`.  Raises ValueError where one is not there."""
    for name in FILES.values():
        if not (folder / name).is_file():
            raise ValueError(f"the claims need {folder / name}, got no such file: data/README.md has the command that makes it")
    comparison = read_comparison(folder / FILES["compare"])
    averaging, modes = read_averaging(folder / FILES["averaging"])
    trends = json.loads((folder / FILES["symmetry"]).read_text(encoding="utf-8"))["trends"]
    return [
        _t1(comparison),
        *_t2_t3(averaging),
        _t4(comparison),
        *_t5(evidence),
        _t6(evidence),
        *_t7(modes),
        _t8(averaging),
        *flat_against_plain(comparison),
        *(
            SourceClaim(f"{SYMMETRY} {t['']}", t["claim"], "digits, pool of perceptrons", t["figures"], t["verdict"])
            for t in trends
        ),
    ]


def _paired(comparison: Comparison, method: str, other: str, quantity: str) -> Tensor:
    """Differences seed by seed (n,), of lambda1 of the logarithms."""
    mine, theirs = comparison.of(method, quantity), comparison.of(other, quantity)
    return (mine / theirs).log() if quantity == "lambda1" else mine - theirs


def _judged(values: Sequence[Tensor], sign: int) -> list[str]:
    """Words on the claims that the means have this sign, corrected by Holm for their number."""
    corrected = holm([p_of(v) for v in values])
    return [word_for(sign * float(v.mean()), p) for v, p in zip(values, corrected)]


def _over(comparison: Comparison) -> str:
    return f"{DIGITS}, {len(comparison.seeds)} seeds"


def _t1(comparison: Comparison) -> SourceClaim:
    """Over the methods that do not seek flatness: more than half told higher, more than half told lower, or neither."""
    plain = [m for m in comparison.values if m != "sgd" and METHODS[m].gradients == 1 and m != "hmc"]
    words = _judged([_paired(comparison, m, "sgd", "lambda1") for m in plain], 1)
    higher, lower = words.count(HOLDS), words.count(NOT)
    verdict = HOLDS if 2 * higher > len(plain) else NOT if 2 * lower > len(plain) else OPEN
    figure = f"λ1 told higher in {higher}, lower in {lower} of {len(plain)} methods"
    claim = "most approximate inference that does not seek flatness ends in sharper weights than SGD"
    return SourceClaim(f"{FLAT} T1", claim, _over(comparison), figure, verdict)


def _t2_t3(averaging: Averaging) -> list[SourceClaim]:
    """Rows of the study of averaging, with its own correction for all of its claims."""
    asked = averaging_claims(averaging)
    told = dict(zip((claim.text for claim in asked), sentences(asked)))
    rows, setting = [], f"{DIGITS}, {len(averaging.seeds)} seeds, tempered"
    for method in ("VI", "SA-BMA"):
        for what in ("test NLL", "test error"):
            rows.append(("T2", f"{method}, over draws: λ1 and {what} rise together (Spearman)"))
    for method in ("VI", "SA-BMA"):
        for size in (1, 5):
            rows.append(("T3", f"{method}, {size} flattest draws less {size} sharpest: lower NLL"))
    out = []
    for name, text in rows:
        figure, _, verdict = told[text].removeprefix(f"{text}: ").rpartition(": ")
        out.append(SourceClaim(f"{FLAT} {name}", text, setting, figure, verdict))
    return out


def _t4(comparison: Comparison) -> SourceClaim:
    """Told below all; told above one; neither."""
    rivals = [m for m in comparison.values if m not in ("sabma", "authors_code", "hmc")]
    words = _judged([_paired(comparison, "sabma", m, "lambda1") for m in rivals], -1)
    above = [METHODS[m].label for m, word in zip(rivals, words) if word == NOT]
    below = words.count(HOLDS)
    verdict = NOT if above else HOLDS if below == len(rivals) else OPEN
    figure = f"λ1 told lower than {below} of {len(rivals)} methods'" + (
        f", higher than that of {', '.join(above)}" if above else ""
    )
    return SourceClaim(f"{FLAT} T4", "SA-BMA has the lowest λ1 of all methods", _over(comparison), figure, verdict)


def _t5(evidence: Evidence) -> list[SourceClaim]:
    """Verdicts of the evidence's own tables, with their correction."""
    rows = []
    for setting, baseline in (("tempered", "equal gradients"), ("tuned", "equal trials")):
        for verdict in verdicts_on([d for d in differences(evidence, baseline) if d.cell.setting == setting]):
            d = verdict.difference
            if d.cell.method != "sabma" or d.quantity not in T5_OF or (setting != "tuned" and d.cell.radius != AT):
                continue
            figure = sentence(verdict).partition(": ")[2].rpartition(":")[0]
            claim = f"SA-BMA generalises better than VI: {NAMES[d.quantity].removesuffix(' %')}"
            label = "as tuned" if setting == "tuned" else "tempered"
            where = f"{DIGITS}, {len(d.values)} seeds, {label}, radius {d.cell.radius:.3g}, {baseline}"
            rows.append(SourceClaim(f"{FLAT} T5", claim, where, figure, verdict.word))
    return rows


def _t6(evidence: Evidence) -> SourceClaim:
    """Of the smallest radius no fall of lambda1 is told, of the largest a fall of accuracy; a fall told of the smallest refutes."""
    cells = sorted((c for c in evidence.values if c.setting == "tempered" and c.method == "sabma"), key=lambda c: c.radius)
    of = {(d.cell, d.quantity): d for d in differences(evidence, "equal steps")}
    small, large = of[cells[0], "lambda1"], of[cells[-1], "accuracy"]
    first, last = (v.word for v in judge([small, large]))
    verdict = NOT if first == HOLDS else HOLDS if last == NOT else OPEN
    lower = ["told lower" if told else "not told lower" for told in (first == HOLDS, last == NOT)]
    figure = f"λ1 {math.exp(small.mean):.2f} of VI's at radius {cells[0].radius:g}, {lower[0]}; "
    figure += f"accuracy {100 * large.mean:+.2g} ± {100 * large.half:.2g} points at {cells[-1].radius:g}, {lower[1]}"
    where = f"{DIGITS}, {len(small.values)} seeds, tempered, equal steps"
    return SourceClaim(
        f"{FLAT} T6", "too small a radius brings no flatness, too large a one costs accuracy", where, figure, verdict
    )


def _t7(modes: Mapping[float, Mapping[float, Tensor]]) -> list[SourceClaim]:
    """Runs that end in the wide mode at radius `AT` against radius 0, by Fisher's exact test."""
    from scipy.stats import fisher_exact  # comes with scikit-learn

    counts = {ratio: [ends[r].bool() for r in (0.0, AT)] for ratio, ends in modes.items()}
    tables = [[[int(e.sum()), int((~e).sum())] for e in pair] for pair in counts.values()]
    corrected = holm([float(fisher_exact(t)[1]) for t in tables])
    rows = []
    for ratio, ((zero, miss), (at, _)), p in zip(counts, tables, corrected):
        n = zero + miss
        figure = f"{zero} of {n} runs at radius 0, {at} of {n} at radius {AT:g}"
        claim = f"SA-BMA ends in the wide one of two modes more often than VI, widths 1 : {ratio:g}"
        rows.append(SourceClaim(f"{FLAT} T7", claim, f"two modes of equal depth, {n} runs", figure, word_for(at - zero, p)))
    return rows


def _t8(averaging: Averaging) -> SourceClaim:
    values = torch.cat([v.flatten(0, 1) for v in averaging.weyl.values()])
    low, middle, high = values.unbind(1)
    within = int(((low <= middle * 1.01) & (middle <= high * 1.01)).sum())
    claim = "Weyl's bounds hold for λ1 of the averaged Hessian of an ensemble"
    figure = f"within them in {within} of {len(values)} ensembles of draws"
    return SourceClaim(
        f"{FLAT} T8", claim, f"{DIGITS}, {len(averaging.seeds)} seeds", figure, HOLDS if within == len(values) else NOT
    )


def flat_against_plain(comparison: Comparison) -> list[SourceClaim]:
    """Of every method that has an F- version: is that flatter, better, nearer to HMC; corrected for all of these claims."""
    pairs = [m for m in comparison.values if f"f-{m}" in comparison.values]
    asked = [(m, q, _paired(comparison, f"f-{m}", m, q)) for m in pairs for q in OF_FLAT]
    corrected = holm([p_of(values) for _, _, values in asked])
    rows, where = [], f"{_over(comparison)}, equal steps: two gradients against one"
    for (method, quantity, values), p in zip(asked, corrected):
        mean, half = interval(values)
        label = METHODS[method].label
        if quantity == "lambda1":
            figure = f"λ1 {math.exp(mean):.2f} of {label}'s ({math.exp(mean - half):.2f} to {math.exp(mean + half):.2f})"
        else:
            figure = f"{NAMES[quantity]} {mean:+.2g} ± {half:.2g}"
        better = int((BETTER[quantity] * values > 0).sum())
        claim = f"{METHODS[f'f-{method}'].label} {CLAIMED[quantity]} {label}"
        figure += f", better in {better} of {len(values)} seeds"
        rows.append(SourceClaim(METHODS[f"f-{method}"].label, claim, where, figure, word_for(BETTER[quantity] * mean, p)))
    return rows


CLAIMED = {"lambda1": "is flatter than", "nll": "has a lower NLL than", "tv": "predicts more like HMC than"}


def read_averaging(path: Path) -> tuple[Averaging, dict[float, dict[float, Tensor]]]:
    """What `flatviz averaging --json` wrote: the study, and width ratio -> radius -> (runs,), 1 where a run ends in the wide mode."""
    held = json.loads(path.read_text(encoding="utf-8"))

    def tensors(kind: str, key: Callable[[str], Any] = str) -> dict:
        return {key(name): torch.tensor(values, dtype=torch.float64) for name, values in held[kind].items()}

    study = Averaging(tensors("correlation"), tensors("ensembles"), tensors("weyl"), tensors("rank", int), tuple(held["seeds"]))
    radii = held["axes"]["two modes"][0]
    modes = {float(ratio): dict(zip(radii, torch.tensor(ends))) for ratio, ends in held["two modes"].items()}
    return study, modes


def claims_json(claims: Sequence[SourceClaim]) -> str:
    """The text of the file that `read_claims` reads."""
    return json.dumps({"claims": [claim.row() for claim in claims]}, indent=1, ensure_ascii=False) + "\n"


def read_claims(path: str | Path) -> list[SourceClaim]:
    """The claims of a file that `flatviz evidence --claims` wrote.  Raises ValueError for any other file."""
    try:
        return [SourceClaim(**row) for row in json.loads(Path(path).read_text(encoding="utf-8"))["claims"]]
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(
            f"claims must be a file that flatviz evidence --claims wrote, got {path}: {error}: run it again"
        ) from error


def claims_markdown(claims: Sequence[SourceClaim], *, source: str = "") -> str:
    """The table as Markdown, all of it or the rows whose name begins with `source` ("SA-BMA", "F-", "symmetry")."""
    rows = [c for c in claims if c.name.startswith(source)]
    cells = [("source", "claim", "our setting", "figure", "verdict"), ("---",) * 5]
    cells += [tuple(str(v).replace("|", "\\|") for v in c.row().values()) for c in rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in cells) + "\n"


PARTS = {
    FLAT: "Flat Posterior Does Matter For Bayesian Model Averaging, [arXiv 2406.15664](https://arxiv.org/abs/2406.15664)",
    FLAT_SEEKING: "Flat against plain, after Flat Seeking Bayesian Neural Networks, [arXiv 2302.02713](https://arxiv.org/abs/2302.02713)",
    SYMMETRY: "A Symmetry-Aware Exploration of Bayesian Neural Network Posteriors, [arXiv 2310.08287](https://arxiv.org/abs/2310.08287)",
}


def claims_page(claims: Sequence[SourceClaim]) -> str:
    """Markdown: what the verdicts mean, their counts, and a table for each source."""
    counts = ", ".join(f"{sum(c.verdict == word for c in claims)} × {word}" for word in (HOLDS, NOT, OPEN))
    text = f"Claims of the sources, judged by rule at our scale: {counts}. In the first two tables a verdict needs a p below 0.05, "
    text += "corrected by Holm for the claims judged together, of differences paired over seeds; in the third the rules are those of "
    text += "`flatviz symmetry`. Made by `flatviz evidence --read data/evidence.csv --claims data/claims.json`.\n\n"
    for source, title in PARTS.items():
        text += f"## {title}\n\n{claims_markdown(claims, source=source)}\n"
    return text


def claims_text(claims: Sequence[SourceClaim]) -> str:
    """The table as lines of a terminal, two a claim."""
    return "\n".join(f"{c.name:14} {c.verdict:13} {c.claim}\n{'':28} {c.figure} ({c.setting})" for c in claims)
