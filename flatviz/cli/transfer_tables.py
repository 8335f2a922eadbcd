"""The tables of `flatviz transfer`: methods, severities, images from outside; the CSV file; how all of it was made."""

from __future__ import annotations

import argparse
import csv
import math
from collections.abc import Mapping
from pathlib import Path

import torch

import flatviz
from flatviz.families.tune import Tuning
from flatviz.pages.table import three
from flatviz.plots.theme import style
from flatviz.results import interval
from flatviz.studies.transfer import TransferStudy
from flatviz.studies.transfer_seed import LEFT_OUT, QUANTITIES
from flatviz.studies.transfer_tuning import SourceTuning

TRUNKS = {
    "fixed": "fixed: all weights that are not treated stay at the source's mean",
    "sampled": "sampled: all weights that are not treated are drawn from the prior with every pass and draw",
}
HEADS = {
    "accuracy": "accuracy %", "nll": "NLL", "ece": "ECE", "shifted_accuracy": "shifted acc. %", "shifted_nll": "shifted NLL",
    "shifted_ece": "shifted ECE", "auroc": "AUROC", "lambda1": "λ1", "seconds": "seconds",
}  # fmt: skip
OOD = {"auroc": "AUROC", "aupr_out": "AUPR out", "fpr95_out": "FPR95"}


def means(study: TransferStudy) -> dict[str, dict[str, tuple[float, float]]]:
    """Mean and half width of each quantity of each method, over the seeds where it did not diverge."""
    table = {}
    for method in study.rows:
        cells = {}
        for quantity in QUANTITIES:
            values = study.of(method, quantity)
            kept = values[values.isfinite()]
            mean, half = interval(kept) if len(kept) else (math.nan, math.nan)
            cells[quantity] = (mean, 0.0 if math.isnan(half) else half)
        if not math.isnan(cells["nll"][0]):
            table[method] = cells
    return table


def table_rows(study: TransferStudy) -> list[dict[str, str]]:
    """A row a method: mean ± half width of each quantity."""
    rows, n = [], len(next(iter(study.rows.values())))
    for method, cells in means(study).items():
        diverged = int(study.of(method, "nll").isnan().sum())
        row = {"method": style(method).label + (f" ({diverged} diverged)" if diverged else "")}
        for quantity, head in HEADS.items():
            mean, half = cells[quantity]
            factor = 100 if "accuracy" in quantity else 1
            row[head] = three(factor * mean) + (f" ± {factor * half:.2g}" if n > 1 else "")
        rows.append(row)
    return rows


def severity_rows(study: TransferStudy) -> list[dict[str, str]]:
    """A row a method: accuracy / NLL / ECE at each severity."""
    rows = []
    for method, shifts in study.shifts().items():
        row = {"method": style(method).label}
        for column, severity in enumerate(shifts[0].severities):
            acc, nll, ece = (sum(float(s.mean(q)[column]) for s in shifts) / len(shifts) for q in ("accuracy", "nll", "ece"))
            row["clean" if severity == 0 else f"severity {severity}"] = f"{100 * acc:.1f} % / {nll:.3f} / {ece:.3f}"
        rows.append(row)
    return rows


def ood_rows(study: TransferStudy) -> list[dict[str, str]]:
    """A row a method: how well its entropy tells each set of images outside from the clean test images."""
    rows, n = [], len(next(iter(study.rows.values())))
    for method in means(study):
        row = {"method": style(method).label}
        for outside in study.outside:
            for score, head in OOD.items():
                values = study.ood(method, outside, score)
                mean, half = interval(values[values.isfinite()])
                row[f"{outside}: {head}"] = three(mean) + (f" ± {half:.2g}" if n > 1 and math.isfinite(half) else "")
        rows.append(row)
    return rows


def write_csv(study: TransferStudy, path: Path) -> None:
    """A line a method, seed, kind and severity; what has no severity is repeated."""
    others = [q for q in QUANTITIES if q not in ("accuracy", "nll", "ece")]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        extra = [(outside, score) for outside in study.outside if outside != LEFT_OUT for score in OOD]
        heads = [f"{score} {outside}" for outside, score in extra]
        writer.writerow(["method", "seed", "corruption", "severity", "accuracy", "nll", "ece", *others, "batchnorm", *heads])
        for method, rows in study.rows.items():
            for seed, row in enumerate(rows):
                if row.shift is None:
                    continue
                rest = [f"{row.values[q]:.6g}" for q in others]
                told = [f"{row.ood[outside][score]:.6g}" for outside, score in extra]
                for k, kind in enumerate(row.shift.kinds):
                    for v, severity in enumerate(row.shift.severities):
                        scores = [f"{float(row.shift.scores[q][k, v]):.6g}" for q in ("accuracy", "nll", "ece")]
                        writer.writerow([method, seed, kind, severity, *scores, *rest, row.shift.batchnorm or "none", *told])


def facts(
    study: TransferStudy, args: argparse.Namespace, tuned: Mapping[str, Tuning], recipe: SourceTuning | None
) -> dict[str, str]:
    """How the page was made."""
    scheme, c = study.scheme, study.classes
    start = (
        f"weights {args.weights}" if args.weights else f"pre-trained, {100 * study.source_accuracy:.1f} % right on other images"
    )
    return {
        "data": f"{args.data}; source {c.text('source')}; target {c.text('target')}; left out {c.text('out')}",
        "network": f"{args.model}, {start}; treated: {scheme.treated}",
        "prior": f"{scheme.prior}, covariance times {scheme.scale:g}; head: std {scheme.head_std:g}, start {scheme.head_start}",
        "trunk": TRUNKS[scheme.trunk] + "; its activations are kept" * scheme.keeps_trunk,
        "BatchNorm": statistics_of(study),
        "settings": _settings(study, tuned),
        **({} if recipe is None else {"pre-training and SWAG": _recipe(recipe)}),
        "sizes": str(study.sizes),
        "equal gradients": "a method of two gradients a step takes half the steps; SWAG's snapshots count as steps",
        "shift": "means over the corruptions and severities named; the strengths are flatviz's own, not CIFAR-10-C's",
        "AUROC": "entropy of the averaged prediction, left-out classes against the clean test images; the same for other images",
        "λ1": "largest Hessian eigenvalue of the training loss over the treated weights, mean over draws",
        "made by": f"flatviz {flatviz.__version__}, torch {torch.__version__}: {command_of(args)}",
    }


def _settings(study: TransferStudy, tuned: Mapping[str, Tuning]) -> str:
    """Where the methods' settings come from."""
    if not study.tuned:
        return "those of the methods' records, which suit the digits; not tuned for this network"
    told = [f"{style(name).label}: {tuned[name].chosen if name in tuned else choice}" for name, choice in study.tuned.items()]
    if not tuned:
        return "from the file of --tuned: " + "; ".join(told)
    first = next(iter(tuned.values()))
    seeds = ", ".join(map(str, first.seeds))
    return f"chosen by {len(first.trials)} trials of each method on the validation splits of seeds {seeds}: " + "; ".join(told)


def _recipe(recipe: SourceTuning) -> str:
    told = ", ".join(f"{name.replace('_', ' ')} {value:g}" for name, value in recipe.best.items())
    return f"{told}: the best of {len(recipe.tried)} by VI's validation NLL"


def statistics_of(study: TransferStudy) -> str:
    """Which BatchNorm statistics predicted."""
    shifts = next(iter(study.shifts().values()), [])
    statistics = shifts[0].batchnorm if shifts else None
    return f"{statistics} statistics" if statistics else "none in this network"


def command_of(args: argparse.Namespace) -> str:
    """The command with every option, defaults included, but where it writes."""
    skipped = ("command", "out", "csv", "threads")
    options = {name: value for name, value in vars(args).items() if name not in skipped and value is not None}
    return "flatviz transfer " + " ".join(f"--{name.replace('_', '-')} {value}" for name, value in options.items())
