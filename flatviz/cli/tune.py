"""Settings for every method by one rule: equal trials, scored on small validation splits; written as JSON."""

from __future__ import annotations

import argparse
import json
import time

import torch

import flatviz
from flatviz.checks import check_count
from flatviz.cli.old_options import add_data, add_methods, add_model, add_out, data_options, task_of
from flatviz.cli.output import check_output, progress_of_command, write_text
from flatviz.cli.threads import single_thread
from flatviz.datasets.named import OFFLINE
from flatviz.families.tune import Tuning, tune
from flatviz.pages.table import text_table
from flatviz.plots.theme import style
from flatviz.posteriors import METHODS
from flatviz.studies.tune_recipe import tune_recipe


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's options."""
    add_methods(parser)
    parser.add_argument("--trials", type=int, default=16, help="trials of each method, the first of its own settings (16)")
    parser.add_argument("--seeds", default="1000,1001", help="seeds to choose on, with commas between (1000,1001)")
    parser.add_argument("--recipe", type=int, default=0, metavar="TRIALS", help="first trials of pre-training and SWAG (0)")
    add_data(parser)
    add_model(parser)
    add_out(parser, "tuned.json", "the choices")


def run(args: argparse.Namespace) -> int:
    """Compute what the cache does not hold, print the table, write the file."""
    started = time.perf_counter()
    methods = tuple(METHODS) if args.methods is None else args.methods
    check_output("--out", args.out)
    seeds = _seeds(args.seeds)
    with single_thread():
        task = args.data if args.data in OFFLINE else task_of(args)
        how = dict(seeds=seeds, task=task, model=args.model, progress=progress_of_command(), say=print)
        tuned = tune_recipe(check_count(args.recipe, "--recipe"), **how) if args.recipe else None
        recipe = None if tuned is None else tuned.best
        results = tune(methods, trials=args.trials, recipe=recipe, **how)
    print(f"\n{args.data}, {args.model}, 10 shots a class; {args.trials} trials each; validation NLL over seeds {args.seeds}\n")
    print(text_table([_row(tuning) for tuning in results.values()]))
    if tuned is not None:
        print(
            f"\npre-training and SWAG: {recipe}; VI's validation NLL of the trials: {', '.join(f'{s:.3f}' for s in tuned.scores)}"
        )
    chosen = "" if args.methods is None else f"--methods {','.join(methods)} "
    command = f"flatviz tune {chosen}--trials {args.trials} --seeds {args.seeds} {data_options(args)}"
    command += f" --recipe {args.recipe}" * (tuned is not None)
    about = dict(command=command, flatviz=flatviz.__version__, torch=torch.__version__, date=time.strftime("%Y-%m-%d"))
    written = {"about": about, "methods": {n: t.to_dict() for n, t in results.items()}}
    text = json.dumps(written | ({} if tuned is None else {"recipe": tuned.to_dict()}), indent=1)
    write_text(args.out, text + "\n")
    print(f"\n{args.out} written; {time.perf_counter() - started:.0f} s in all")
    return 0


def _seeds(text: str) -> list[int]:
    try:
        return [check_count(int(part), "each of --seeds", least=0) for part in text.split(",")]
    except ValueError as error:
        raise ValueError(f"--seeds must be whole numbers >= 0 with commas between, got {text!r}") from error


def _row(tuning: Tuning) -> dict[str, str]:
    chosen = tuning.to_dict()
    return {
        "method": style(tuning.method).label,
        "NLL": f"{chosen['validation_nll']:.3f}",
        "of the record": f"{chosen['validation_nll_of_the_record']:.3f}",
        "diverged": f"{chosen['diverged']} of {len(tuning.trials)}",
        "chosen": tuning.chosen,
    }
