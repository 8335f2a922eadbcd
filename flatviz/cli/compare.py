"""Every method and its flat-seeking version over seeds: a table, a CSV file and one page."""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Mapping
from pathlib import Path

import torch

import flatviz
from flatviz.checks import check_count
from flatviz.cli.old_options import (
    add_data,
    add_engine,
    add_methods,
    add_model,
    add_out,
    add_tuned,
    data_options,
    engine_of,
    task_of,
)
from flatviz.cli.output import check_output, progress_of_command, write_text, written
from flatviz.cli.threads import single_thread
from flatviz.datasets.named import OFFLINE
from flatviz.experiments.reference import about_reference, noise_floor
from flatviz.families.choice import Choices, read_choices
from flatviz.pages.gallery import Picture, gallery_page
from flatviz.pages.table import text_table
from flatviz.plots.closeness import plot_closeness
from flatviz.plots.comparison import plot_comparison
from flatviz.plots.theme import style
from flatviz.posteriors import METHODS
from flatviz.results import interval
from flatviz.studies.compare import QUANTITIES, Comparison, compare
from flatviz.studies.tune_recipe import read_recipe

HEADS = (
    "accuracy %",
    "NLL",
    "ECE",
    "Brier",
    "MI",
    "λ1",
    "λ1/λ5",
    "agreement %",
    "TV",
    "100 MMD²",
    "seconds",
    "gradients a step",
)
NEAR = ("agreement", "tv", "mmd")  # to the reference posterior
LEAD = """Every method learned the same ten examples a class from the same pre-trained network; its flat-seeking version took
every gradient at the worst point within a small distance: an arrow leads there. The menus choose what lies along the axes."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's options."""
    add_data(parser)
    add_model(parser)
    parser.add_argument("--seeds", type=int, default=5, help="how many seeds (5)")
    add_methods(parser)
    add_tuned(parser)
    add_engine(parser)
    add_out(parser, "compare.html", "the page")
    parser.add_argument("--csv", type=Path, help="where to write the table (beside the page, as .csv)")


def run(args: argparse.Namespace) -> int:
    """Compute what the cache does not hold, print the table, write CSV and page."""
    started = time.perf_counter()
    check_count(args.seeds, "--seeds")
    table = args.csv or args.out.with_suffix(".csv")
    for option, path in (("--out", args.out), ("--csv", table)):
        check_output(option, path)
    tuned = None if args.tuned is None else read_choices(args.tuned)
    settings = dict(
        task=args.data if args.data in OFFLINE else task_of(args), model=args.model, methods=args.methods, tuned=tuned
    )
    settings["recipe"] = None if args.tuned is None else read_recipe(args.tuned)
    with single_thread(), engine_of(args) as engine:
        comparison = compare(args.seeds, **settings, engine=engine, progress=progress_of_command(), say=print)
    rows = table_rows(comparison)
    over = "one seed, so no intervals" if args.seeds == 1 else f"mean ± half of the 95 % interval over {args.seeds} seeds"
    print(f"\n{args.data}, {args.model}, 10 shots a class; {over}")
    if has_reference(comparison):
        print(
            f"agreement and TV (total variation): of predictions with HMC's, {about_reference()}; MMD²: of the treated weights"
        )
    print(f"\n{text_table(rows)}")
    with written(table) as partial:
        write_csv(comparison, partial)
    about = dict(title="flatviz compare: methods and their flat-seeking versions", lead=LEAD, heading="All methods")
    write_text(args.out, gallery_page(pictures(comparison), rows=rows, facts=_facts(comparison, args, tuned), **about))
    print(f"\n{table} and {args.out} written; {time.perf_counter() - started:.0f} s in all")
    return 0


def pictures(comparison: Comparison) -> list[Picture]:
    """Every quantity over every other, and how near each method comes to HMC."""
    table = means(comparison)
    over = "one seed: no intervals" if len(comparison.seeds) == 1 else f"{len(comparison.seeds)} seeds, 95 % intervals"
    compared = Picture(
        "comparison",
        f"Means over {over}. Filled: the method as it is; open: its flat-seeking version.",
        plot_comparison(table, title="NLL and curvature of every method"),
    )
    if not has_reference(comparison):
        return [compared]
    return [
        compared,
        Picture("closeness", f"Distance to HMC, {about_reference()}; {over}. The dotted line is the distance of one half of HMC's "
                "chains to the other.", plot_closeness(closeness_rows(table), floor=noise_floor())),
    ]  # fmt: skip


def has_reference(comparison: Comparison) -> bool:
    """Whether it was compared with HMC."""
    return not all(bool(comparison.of(method, "tv").isnan().all()) for method in comparison.values)


def closeness_rows(table: Mapping[str, Mapping[str, tuple[float, float]]]) -> dict[str, dict[str, Mapping]]:
    """Label of a method -> itself and its flat-seeking version, the method that predicts most like HMC first."""
    plain = sorted((m for m in table if not m.startswith("f-") or m[2:] not in table), key=lambda m: table[m]["tv"][0])
    return {style(m).label: {name: table[name] for name in (m, f"f-{m}") if name in table} for m in plain}


def means(comparison: Comparison) -> dict[str, dict[str, tuple[float, float]]]:
    """Mean and half width of each quantity of each method, over the seeds where it did not diverge."""
    table = {}
    for method, values in comparison.values.items():
        kept = values[~comparison.diverged(method)]
        kept = kept if len(kept) else values[:1]
        cells = [interval(column) for column in kept.T]
        known = [q not in NEAR or has_reference(comparison) for q in QUANTITIES]
        table[method] = {q: (m, 0.0 if h != h else h) for q, (m, h), there in zip(QUANTITIES, cells, known) if there}
    return table


def table_rows(comparison: Comparison) -> list[dict[str, str]]:
    """A row a method: label, and mean ± half width of each quantity."""
    rows = []
    for method, row in means(comparison).items():
        diverged = int(comparison.diverged(method).sum())
        cells = {"method": style(method).label + (f" ({diverged} diverged)" if diverged else "")}
        for quantity, head in zip(QUANTITIES, HEADS):
            if quantity not in row:
                continue
            mean, half = row[quantity]
            factor = 100 if quantity in ("accuracy", "agreement") else 1
            plain = quantity == "gradients" or len(comparison.seeds) < 2
            cells[head] = f"{factor * mean:.3g}" if plain else f"{factor * mean:.3g} ± {factor * half:.2g}"
        rows.append(cells)
    return rows


def write_csv(comparison: Comparison, path: Path) -> None:
    """One line a method and seed, every quantity in full."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["task", "method", "seed", *QUANTITIES])
        for method, values in comparison.values.items():
            for seed, row in zip(comparison.seeds, values.tolist()):
                writer.writerow([comparison.task, method, seed, *(f"{v:.6g}" for v in row)])


def _facts(comparison: Comparison, args: argparse.Namespace, tuned: Choices | None) -> dict[str, str]:
    chosen = tuned or {}
    settings = {m.label: str(chosen.get(m.name, m.plain)) for m in METHODS.values() if m.ascent is None or m.name in chosen}
    command = f"flatviz compare {data_options(args)} --seeds {args.seeds}"
    command += "" if args.tuned is None else f" --tuned {args.tuned}"
    return {
        "task": f"{comparison.task}, 10 examples a class, from a network pre-trained on the source",
        "network": f"{args.model}, norm layers and head treated",
        "source network": f"{comparison.recipe}",
        **({"agreement, TV": f"of predictions with HMC's: {about_reference()}"} if has_reference(comparison) else {}),
        "flat-seeking": f"SAM of radius {METHODS['f-sgd'].plain.radius:g} (Euclidean) in every gradient",
        **settings,
        "chains": "temperature 1, all training examples in every step, so that no minibatch heats them",
        "made by": f"flatviz {flatviz.__version__}, torch {torch.__version__}: {command}",
    }
