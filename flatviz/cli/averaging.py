"""Does flatness matter for averaging: lambda1 and score over draws, flat-first ensembles, SA-BMA over ranks, two modes."""

from __future__ import annotations

import argparse
import datetime
import json
import time
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from flatviz.checks import check_count
from flatviz.cli.output import check_output, progress_of_command, written
from flatviz.cli.threads import single_thread
from flatviz.metrics.sharpness import ORDERS
from flatviz.pages.table import text_table
from flatviz.posteriors import METHODS
from flatviz.results import interval
from flatviz.studies.averaging import POSTERIORS, SCORES, SIZES, WEYL_DRAWS, WITH, Averaging, measure_averaging
from flatviz.studies.averaging_claims import claims, sentences
from flatviz.studies.claims import LEVEL
from flatviz.studies.two_modes import end_in_wide

RATIOS, RADII, RUNS = (2.0, 5.0, 10.0), (0.0, 0.5, 1.0, 2.0), 20  # of the two modes


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's options."""
    parser.add_argument("--seeds", type=int, default=10, help="how many seeds (10)")
    parser.add_argument("--json", type=Path, help="also write every figure of every seed to this file")


def run(args: argparse.Namespace) -> int:
    """Print correlations, ensembles, bounds, ranks, the two modes and the verdicts."""
    started = time.perf_counter()
    check_count(args.seeds, "--seeds")
    if args.json is not None:
        check_output("--json", args.json)
    with single_thread():
        averaging = measure_averaging(args.seeds, progress=progress_of_command(), say=print)
        modes = {ratio: end_in_wide(RADII, ratio=ratio, seeds=range(RUNS)) for ratio in RATIOS}
    print(f"\nmlp, digits, 10 shots a class, seeds 0 to {args.seeds - 1}; mean ± half of the 95 % interval")
    print("λ1: of the training loss's Hessian over the treated weights\n")
    for title, rows in tables(averaging, modes).items():
        print(f"{title}\n\n{text_table(rows)}\n")
    asked = claims(averaging)
    said = sentences(asked)
    print(f"claims at level {LEVEL:g}, corrected by Holm for these {len(asked)}:")
    print("\n".join(f"  {line}" for line in said))
    if args.json is not None:
        with written(args.json) as partial:
            partial.write_text(json.dumps(plain(averaging, modes, said), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        print(f"\n{args.json} written")
    print(f"\n{time.perf_counter() - started:.0f} s in all")
    return 0


def tables(averaging: Averaging, modes: dict[float, Tensor]) -> dict[str, list[dict[str, str]]]:
    """title -> rows of text."""
    labels = {m: METHODS[m].label + (f" {radius:g}" if radius else "") for m, radius in POSTERIORS.items()}
    correlation = [
        {"posterior": labels[m]} | {name: _amount(r[:, i], "+.2f") for i, name in enumerate(WITH)}
        for m, r in averaging.correlation.items()
    ]
    ensembles = [
        {"posterior": labels[m], "order": order, "score": score}
        | {str(size): _amount(values[:, o, i, s], ".3f") for i, size in enumerate(SIZES)}
        for m, values in averaging.ensembles.items()
        for s, score in enumerate(SCORES)
        for o, order in enumerate(ORDERS)
    ]
    weyl = [
        {"posterior": labels[m], "first draws": order}
        | {name: _amount(values[:, o, i], ".3g") for i, name in enumerate(("lower bound", "λ1 of the mean", "upper bound"))}
        | {"holds in": f"{_within(values[:, o])} of {len(values)}"}
        for m, values in averaging.weyl.items()
        for o, order in enumerate(ORDERS)
    ]
    ranks = [
        {"rank": str(k)} | {name: _amount(values[:, i], ".3g") for i, name in enumerate(("λ1", *SCORES))}
        for k, values in averaging.rank.items()
    ]
    wide = [
        {"width ratio": f"{ratio:g}"}
        | {f"radius {r:g}": f"{int(ends[i].sum())} of {ends.shape[1]}" for i, r in enumerate(RADII)}
        for ratio, ends in modes.items()
    ]
    return {
        "Spearman's correlation over draws of λ1 with": correlation,
        "ensembles of the same draws, by size": ensembles,
        f"Weyl's bounds on the averaged Hessian of the first {WEYL_DRAWS} draws": weyl,
        "SA-BMA at radius 1 by rank": ranks,
        "two modes of equal depth: runs of SA-BMA that end in the wide one": wide,
    }


def plain(averaging: Averaging, modes: dict[float, Tensor], said: list[str]) -> dict[str, Any]:
    """Everything as plain values, with the command that makes them."""
    kinds = {
        "correlation": averaging.correlation,
        "ensembles": averaging.ensembles,
        "weyl": averaging.weyl,
        "rank": averaging.rank,
    }
    return {
        "command": f"flatviz averaging --seeds {len(averaging.seeds)}",
        "date": datetime.date.today().isoformat(),
        "torch": torch.__version__,
        "seeds": list(averaging.seeds),
        "axes": {
            "correlation": ["seed", list(WITH)],
            "ensembles": ["seed", list(ORDERS), list(SIZES), list(SCORES)],
            "weyl": ["seed", list(ORDERS), ["lower", "lambda1 of the mean", "upper"]],
            "rank": ["seed", ["lambda1", *SCORES]],
            "two modes": [list(RADII), "run"],
        },
        "verdicts": said,
        **{kind: {str(k): _rounded(v) for k, v in values.items()} for kind, values in kinds.items()},
        "two modes": {f"{ratio:g}": ends.int().tolist() for ratio, ends in modes.items()},
    }


def _rounded(values: Tensor) -> list:
    """Nested lists with four digits after the point."""
    return [round(v, 4) for v in values.tolist()] if values.ndim == 1 else [_rounded(v) for v in values]


def _within(values: Tensor) -> int:
    """Seeds (n, 3) whose middle value is between the others, to the tolerance of Lanczos."""
    low, middle, high = values.unbind(1)
    return int(((low <= middle * 1.01) & (middle <= high * 1.01)).sum())


def _amount(values: Tensor, form: str) -> str:
    mean, half = interval(values)
    return f"{mean:{form}} ± {half:.2g}" if half == half else f"{mean:{form}}"
