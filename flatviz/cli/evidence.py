"""Sharpness, NLL and accuracy of VI, SAM, SA-BMA and the released code over seeds, with intervals."""

from __future__ import annotations

import argparse
import math

import torch

from flatviz.checks import check_count
from flatviz.cli.output import progress_of_command
from flatviz.cli.threads import single_thread
from flatviz.pages.table import text_table
from flatviz.plots.theme import short, style
from flatviz.results import interval
from flatviz.studies.evidence import KL_WEIGHTS, Evidence, gather
from flatviz.studies.tour import MODELS


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's options."""
    parser.add_argument("--seeds", type=int, default=5, help="how many seeds (5)")
    parser.add_argument("--model", choices=tuple(MODELS), default="mlp", help="LayerNorm MLP, or BatchNorm conv net")


def run(args: argparse.Namespace) -> int:
    """Print one table for each KL weight."""
    check_count(args.seeds, "--seeds")
    with single_thread():
        evidence = gather(args.seeds, model=args.model, progress=progress_of_command(), say=print)
    for kl_weight, settings in KL_WEIGHTS.items():
        decay = settings["weight_decay"]
        print(f"\nKL weight {kl_weight:g}, weight decay {decay:g} on the mean; {args.model}, digits, 10 shots a class")
        print(text_table(_rows(evidence, kl_weight)))
    over = "1 seed" if len(evidence.seeds) == 1 else f"{len(evidence.seeds)} seeds"
    print(f"\nmean ± half of the 95 % interval over {over}; ratio: λ1 over VI's, seed by seed")
    return 0


def _rows(evidence: Evidence, kl_weight: float) -> list[dict[str, str]]:
    vi = evidence.values[(kl_weight, "vi", 0.0)]
    rows = []
    for (kl, method, radius), values in evidence.values.items():
        if kl != kl_weight:
            continue
        ratio = values[:, 0] / vi[:, 0]
        below = int((ratio < 1).sum())
        rows.append(
            {
                "method": style(method).label,
                "radius": short(radius) if radius else "",
                "λ1": _cell(values[:, 0]),
                "ratio": _cell(ratio) if method != "vi" else "1",
                "seeds below VI": f"{below} of {len(ratio)}" if method != "vi" else "",
                "NLL": _cell(values[:, 1]),
                "accuracy %": _cell(100 * values[:, 2]),
            }
        )
    return rows


def _cell(values: torch.Tensor) -> str:
    mean, half = interval(values)
    return f"{mean:.3g}" if math.isnan(half) else f"{mean:.3g} ± {half:.2g}"  # of one seed there is no interval
