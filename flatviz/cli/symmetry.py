"""Posteriors against a pool of trained networks, with equal networks counted once: MMD table, trends T1 to T9, page."""

from __future__ import annotations

import argparse
import datetime
import json
import math
import time
from pathlib import Path

import torch

import flatviz
from flatviz.checks import check_count
from flatviz.cli.output import check_output, progress_of_command, written
from flatviz.cli.threads import single_thread
from flatviz.pages.gallery import gallery_page
from flatviz.pages.symmetry import symmetry_pictures
from flatviz.pages.table import text_table
from flatviz.plots.mmd import set_label
from flatviz.plots.theme import style
from flatviz.results import interval
from flatviz.studies.symmetric_draws import CONTROL, SMALL, Sizes
from flatviz.studies.symmetric_evidence import CELLS, MEASURED, Survival, survival
from flatviz.studies.symmetry import VARIANTS, SymmetryStudy, orbit_of_digits, study_symmetry

TASKS = ("digits",)
LEAD = """Two networks whose hidden units are permuted or rescaled are **one function** at two places. Here a pool of
independently trained networks stands for the posterior, and draws of several methods are compared with it: as they are,
and once equal networks are counted once. The **control**, ten networks copied, has no spread of any method at all."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's options."""
    parser.add_argument("--task", choices=TASKS, default="digits", help="what is learned (digits)")
    parser.add_argument("--seed", type=int, default=0, help="of split, pool and methods (0)")
    parser.add_argument("--seeds", type=int, default=5, help="of the table on flatness; 0 leaves it out (5)")
    parser.add_argument("--small", action="store_true", help="a few networks, to see that it runs; its numbers mean nothing")
    parser.add_argument("--out", type=Path, default=Path("symmetry.html"), help="where to write the page (symmetry.html)")
    parser.add_argument("--json", type=Path, help="where to write the numbers too")


def run(args: argparse.Namespace) -> int:
    """Compute what the cache does not hold, print the tables and trends, write the page."""
    started = time.perf_counter()
    check_count(args.seeds, "--seeds", least=0)
    for option, path in (("--out", args.out), ("--json", args.json)):
        if path is not None:
            check_output(option, path)
    sizes, progress = SMALL if args.small else Sizes(), progress_of_command()
    with single_thread():
        study = study_symmetry(sizes, seed=args.seed, progress=progress, say=print)
        orbit = orbit_of_digits(args.seed, progress=progress)
        few = dict(n_draws=2, epochs=4, steps=10) if args.small else {}
        kept = survival(args.seeds, progress=progress, say=print, **few) if args.seeds else None
    print(f"\n100 MMD² from {study.n_target} trained networks ({study.n_diverged} diverged and left out), median over layers")
    print(f"mean ± half of the 95 % interval over {sizes.replicates} replicates; p: of one law, permuted labels\n")
    print(text_table(mmd_rows(study)))
    print("\nWhat each set predicts, on test digits and on the same with shuffled pixels (nats for MI)\n")
    print(text_table(score_rows(study)))
    print("\nTrends of the paper\n")
    for t in study.trends:
        print(f"{t.name:8} {t.verdict:13} {t.claim}\n{'':22} {t.figures}")
    if kept is not None:
        print(f"\nFlatness over VI's, {args.seeds} seeds (95 % interval, paired), as drawn and at least mass\n")
        print(text_table(survival_rows(kept)))
    seconds = time.perf_counter() - started
    facts = _facts(args, sizes, study)
    page = gallery_page(
        symmetry_pictures(study, orbit, trend_rows(study), () if kept is None else survival_rows(kept)),
        title="flatviz symmetry: equal networks counted once", lead=LEAD, heading="Distances from the pool",
        rows=mmd_rows(study), facts=facts,
    )  # fmt: skip
    with written(args.out) as partial:
        partial.write_text(page, encoding="utf-8")
    if args.json is not None:
        with written(args.json) as partial:
            partial.write_text(json.dumps(as_json(study, kept, facts), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"\n{args.out} written; {seconds:.0f} s in all")
    return 0


def mmd_rows(study: SymmetryStudy) -> list[dict[str, str]]:
    """A row a set: distance for each removal, and its ratio to the control where least mass and alignment were removed."""
    rows = []
    for name in study.mmd["raw"]:
        row = {"set": set_label(name)}
        for variant, label in VARIANTS.items():
            row[label] = plus_minus(*study.cell(variant, name))
        row["all weights, aligned"] = plus_minus(*study.cell("aligned", name, 1))
        ratio = (study.mmd["aligned"][name] / study.mmd["aligned"][CONTROL])[:, 0]
        row["over control, aligned"] = plus_minus(*interval(ratio.double()))
        row["p, raw"] = f"{float(study.p_value['raw'][name].median()):.2g}"
        row["p, aligned"] = f"{float(study.p_value['aligned'][name].median()):.2g}"
        rows.append(row)
    return rows


def score_rows(study: SymmetryStudy) -> list[dict[str, str]]:
    """A row a set: scores inside and outside."""
    heads = (
        "accuracy %",
        "ECE",
        "Brier",
        "MI",
        "MI outside",
        "AUROC",
        "AUPR, outside positive",
        "AUPR, inside positive",
        "FPR95",
    )
    rows = []
    for name, values in study.scores.items():
        cells = [interval(v.double()) for v in values.T]
        cells[0] = (100 * cells[0][0], 100 * cells[0][1])
        rows.append({"set": set_label(name)} | {h: plus_minus(*c) for h, c in zip(heads, cells)})
    return rows


def trend_rows(study: SymmetryStudy) -> list[dict[str, str]]:
    """A row a trend."""
    return [{"": t.name, "claim": t.claim, "verdict": t.verdict, "figures": t.figures} for t in study.trends]


def survival_rows(kept: Survival) -> list[dict[str, str]]:
    """A row a conclusion: ratio to VI as drawn and at least mass, and whether the conclusion is the same."""
    rows = []
    for setting in MEASURED:
        for method, radius in CELLS.items():
            for measure, label in (
                ("lambda1", "λ1"),
                ("trace", "trace"),
                ("sam", "SAM-sharpness"),
                ("adaptive", "ASAM-sharpness"),
            ):
                said = [kept.conclusion(setting, method, measure, least) for least in (False, True)]
                cells = [
                    "{:.2f} ({:.2f} to {:.2f})".format(*kept.ratio(setting, method, measure, least)) for least in (False, True)
                ]
                same = "survives" if said[0] == said[1] else "does not survive"
                rows.append(
                    {
                        "method": f"{style(method)[0]} {radius:g}, {setting}",
                        "measure": label,
                        "as drawn": cells[0],
                        "at least mass": cells[1],
                        "conclusion": said[0],
                        "then": same if said[0] != "open" else f"open; then {said[1]}",
                    }
                )
    return rows


def plus_minus(mean: float, half: float) -> str:
    """A mean with half of its interval, in three and two digits."""
    return f"{mean:.3g}" if math.isnan(half) else f"{mean:.3g} ± {half:.2g}"


def as_json(study: SymmetryStudy, kept: Survival | None, facts: dict[str, str]) -> dict:
    """The numbers of the tables, rounded, with how they were made."""
    short = lambda values: [float(f"{v:.4g}") for v in values]  # noqa: E731
    return {
        "made": facts | {"date": datetime.date.today().isoformat()},
        "mmd": {v: {n: short(study.cell(v, n)) for n in sets} for v, sets in study.mmd.items()},
        "mmd, all weights": {v: {n: short(study.cell(v, n, 1)) for n in sets} for v, sets in study.mmd.items()},
        "p": {v: {n: short([p.median()])[0] for n, p in sets.items()} for v, sets in study.p_value.items()},
        "scores": {r["set"]: {k: v for k, v in r.items() if k != "set"} for r in score_rows(study)},
        "trends": trend_rows(study),
        "barrier": {c.name: float(f"{c.barrier:.4g}") for c in study.line},
        "evidence at least mass": [] if kept is None else survival_rows(kept),
    }


def _facts(args: argparse.Namespace, sizes: Sizes, study: SymmetryStudy) -> dict[str, str]:
    small = " --small" if args.small else ""
    return {
        "task": "1,797 scanned digits, 1,347 to train on, 450 to test on; outside: those 450 with their pixels shuffled",
        "networks": "perceptron 64-16-16-10, ReLU, no normalisation; plain SGD, lr 0.05, batch 32, weight decay 1e-3, "
        f"{sizes.epochs} epochs; {sizes.trained} trained, {study.n_diverged} diverged and left out",
        "sets": f"{sizes.draws} weight vectors each: one mode, or {sizes.draws // sizes.modes} of each of {sizes.modes} modes",
        "distance": "unbiased MMD², mean of 20 kernels with bandwidths of the target alone, times 100",
        "intervals": f"95 %, Student's t over {sizes.replicates} replicates that share no network but the target",
        "made by": f"flatviz {flatviz.__version__}, torch {torch.__version__}: "
        f"flatviz symmetry --task {args.task} --seed {args.seed} --seeds {args.seeds}{small}",
    }
