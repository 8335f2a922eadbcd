"""Flat-seeking methods against VI over seeds: paired differences with intervals, shift, nearness to HMC, verdicts by rule."""

from __future__ import annotations

import argparse
import csv
import math
import time
from collections.abc import Sequence
from pathlib import Path

import torch

from flatviz.checks import check_count
from flatviz.cli.output import check_output, progress_of_command, written
from flatviz.cli.threads import single_thread
from flatviz.pages.table import text_table
from flatviz.plots.theme import short, style
from flatviz.results import interval
from flatviz.studies.claims import BASELINES, BETTER, LEVEL, NAMES, Difference, differences, judge, sentence
from flatviz.studies.evidence import QUANTITIES, SETTINGS, SEVERITY, SHIFTS, Cell, Evidence, gather
from flatviz.studies.preparation import MODELS
from flatviz.studies.reference import about_reference

CLAIMED = {"sabma": (1.0, 2.0), "sam_mu": (0.2,)}  # method -> radii of which the verdicts speak
OF = ("lambda1", "nll", "accuracy", "ece", "shifted_nll", "tv")
SHARES = ("accuracy", "shifted_accuracy", "agreement")  # told in per cent


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's options."""
    parser.add_argument("--seeds", type=int, default=10, help="how many seeds (10)")
    parser.add_argument("--model", choices=tuple(MODELS), default="mlp", help="LayerNorm MLP, or BatchNorm conv net")
    parser.add_argument("--csv", type=Path, help="also write every value of every seed to this file")
    parser.add_argument("--read", type=Path, help="compute nothing: tables and verdicts of a file that --csv wrote")


def run(args: argparse.Namespace) -> int:
    """Print values, differences and verdicts for each setting."""
    started = time.perf_counter()
    check_count(args.seeds, "--seeds")
    if args.csv is not None:
        check_output("--csv", args.csv)
    if args.read is not None:
        evidence = read_csv(args.read)
    else:
        with single_thread():
            evidence = gather(args.seeds, model=args.model, progress=progress_of_command(), say=print)
    over = "1 seed" if len(evidence.seeds) == 1 else f"{len(evidence.seeds)} seeds"
    print(f"\n{args.model}, digits, 10 shots a class, {over}; mean ± half of the 95 % interval")
    print("λ1: of the training loss's Hessian over the treated weights, mean over draws; steps: in those of the methods")
    print(f"shifted: mean over {', '.join(SHIFTS)} at severity {SEVERITY}; agreement and TV: with HMC, {about_reference()}")
    for setting, chosen in SETTINGS.items():
        print(f"\n{chosen.label}\n\n{text_table(_value_rows(evidence, setting))}")
        for baseline in BASELINES:
            of_setting = [d for d in differences(evidence, baseline) if d.cell.setting == setting]
            print(f"\n  less VI of {baseline}, seed by seed (λ1: ratio); in brackets the seeds with a gain\n")
            print(text_table(_difference_rows(of_setting)))
            _print_verdicts(of_setting)
    if args.csv is not None:
        with written(args.csv) as partial:
            _write_csv(evidence, partial)
        print(f"\n{args.csv} written")
    print(f"\n{time.perf_counter() - started:.0f} s in all")
    return 0


def _print_verdicts(compared: Sequence[Difference]) -> None:
    claims = [d for d in compared if d.cell.radius in CLAIMED.get(d.cell.method, ()) and d.quantity in OF]
    if not claims:
        return
    print(f"\n  claims that a method is better, at level {LEVEL:g}, corrected by Holm for these {len(claims)}:")
    for verdict in judge(claims):
        print(f"  {sentence(verdict)}")


def _value_rows(evidence: Evidence, setting: str) -> list[dict[str, str]]:
    return [
        _named(cell) | {NAMES[q]: _amount(q, values[:, i]) for i, q in enumerate(QUANTITIES) if _measured(values[:, i])}
        for cell, values in evidence.values.items()
        if cell.setting == setting
    ]


def _difference_rows(compared: Sequence[Difference]) -> list[dict[str, str]]:
    rows: dict[Cell, dict[str, str]] = {}
    for d in compared:
        row = rows.setdefault(d.cell, _named(d.cell) | {NAMES[q]: "" for q in BETTER if any(q == e.quantity for e in compared)})
        if not bool(d.values.isfinite().all()):
            row[NAMES[d.quantity]] = "VI reaches it in too few seeds" if d.quantity == "lambda1" else ""
            continue
        amount = _ratio(d) if d.quantity == "lambda1" else _amount(d.quantity, d.values, sign="+")
        row[NAMES[d.quantity]] = f"{amount} ({d.n_better})"
    return list(rows.values())


def _named(cell: Cell) -> dict[str, str]:
    return {
        "method": style(cell.method).label,
        "radius": short(cell.radius) if cell.radius else "",
        "steps": f"{cell.share:g}",
    }


def _measured(values: torch.Tensor) -> bool:
    return not bool(values.isnan().all())


def _amount(quantity: str, values: torch.Tensor, sign: str = "") -> str:
    mean, half = interval((100 if quantity in SHARES else 1) * values)
    return f"{mean:{sign}.3g}" if math.isnan(half) else f"{mean:{sign}.3g} ± {half:.2g}"  # of one seed there is no interval


def _ratio(d: Difference) -> str:
    if math.isnan(d.half):
        return f"{math.exp(d.mean):.2f}"
    return f"{math.exp(d.mean):.2f} [{math.exp(d.mean - d.half):.2f}, {math.exp(d.mean + d.half):.2f}]"


def read_csv(path: Path) -> Evidence:
    """What `_write_csv` wrote.  Raises ValueError for another file."""
    values: dict[Cell, list[list[float]]] = {}
    seeds: dict[int, None] = {}
    try:
        with path.open(newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                cell = Cell(row["setting"], row["method"], float(row["radius"]), float(row["steps"]))
                values.setdefault(cell, []).append([float(row[q]) for q in QUANTITIES])
                seeds[int(row["seed"])] = None
        return Evidence({c: torch.tensor(rows, dtype=torch.float64) for c, rows in values.items()}, tuple(seeds))
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"--read must be a file that flatviz evidence --csv wrote, got {path}: {error}") from error


def _write_csv(evidence: Evidence, path: Path) -> None:
    """One line a cell and seed, every quantity in full."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["setting", "method", "radius", "steps", "seed", *QUANTITIES])
        for cell, values in evidence.values.items():
            for seed, row in zip(evidence.seeds, values.tolist()):
                writer.writerow([cell.setting, cell.method, cell.radius, cell.share, seed, *(f"{v:.6g}" for v in row)])
