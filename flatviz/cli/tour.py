"""From a pre-trained net to a live flat posterior on real data: a table, and one page that needs no network."""

from __future__ import annotations

import argparse
import time

import torch

import flatviz
from flatviz.checks import check_count
from flatviz.cli.options import add_data, add_engine, add_model, add_out, add_tuned, data_options, engine_of, task_of
from flatviz.cli.output import check_output, progress_of_command, write_text
from flatviz.cli.threads import single_thread
from flatviz.core.devices import pick
from flatviz.datasets.named import OFFLINE
from flatviz.families.choice import Choices, choice_of, read_choices
from flatviz.families.preparation import build_model, task_for
from flatviz.families.tour import HEAD_STD, RANK, Tour, run_tour
from flatviz.pages.page import family_page
from flatviz.pages.story import tour_story
from flatviz.pages.table import family_rows, text_table
from flatviz.posteriors import METHODS
from flatviz.studies.tune_recipe import read_recipe

DIGITS = """A network pre-trained on digits that lie on their side became a Bayesian one, which learned ten upright digits a
class."""
OTHER = """A network pre-trained on one task became a Bayesian one, which learned a few examples a class of another ({name})."""
LEAD = """Move the **radius**: SA-BMA asks the posterior to be good even at the worst posterior that far from it, so a larger one
looks for flatter ground. Move the **ensemble size**: so many draws are averaged into one answer."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's options."""
    add_out(parser, "tour.html", "the page")
    add_data(parser)
    parser.epilog = (
        "The page of --data moons also shows what each posterior predicts over the plane of inputs, and, at the same method and "
        "radius, on a regression with a gap in its data, beside HMC."
    )
    add_model(parser)
    add_tuned(parser)
    add_engine(parser)
    parser.add_argument(
        "--device",
        choices=("auto", "cpu", "cuda"),
        default="auto",
        help="where to compute; auto: a GPU where there is one and the network is large enough to gain from it",
    )
    parser.add_argument("--seed", type=int, default=0, help="of the split, the networks, all noise, from 0 on (0)")


def run(args: argparse.Namespace) -> int:
    """Compute what the cache does not hold, print the table, write the page."""
    started = time.perf_counter()
    check_output("--out", args.out)
    check_count(args.seed, "--seed", least=0)
    task = task_for(task_of(args), args.seed)
    device, why = pick(args.device, build_model(args.model, task, seed=args.seed))
    tuned = None if args.tuned is None else read_choices(args.tuned)
    expected = "; well under two minutes on a CPU" if args.data in OFFLINE else ""
    print(f"flatviz {flatviz.__version__} tour: {args.model}, {args.data}, on {device} ({why}), seed {args.seed}{expected}")
    with single_thread(), engine_of(args) as engine:
        tour = run_tour(
            args.model,
            task=task,
            seed=args.seed,
            device=device,
            tuned=tuned,
            recipe=None if args.tuned is None else read_recipe(args.tuned),
            engine=engine,
            progress=progress_of_command(),
            say=print,
        )
    rows = family_rows(tour.family)
    print(f"\n{tour.task.name}; test split of {len(tour.task.test)}; λ over {len(tour.family.spectrum[-1])} draws\n")
    print(text_table(rows))
    title = "flatviz tour: from a pre-trained network to a flat posterior"
    lead = f"{(DIGITS if args.data == 'digits' else OTHER).format(name=tour.task.name)} {LEAD}"
    facts, story = _facts(tour, args, tuned), tour_story(tour.family)
    there = [r for m, r in zip(tour.family.method, tour.family.radius) if m == "sabma"]
    start = ("sabma", min(there, key=lambda r: abs(r - METHODS["sabma"].tuned(tour.net).radius)), 10)
    shown = dict(start=start, story=story, code=["from flatviz.families.tour import run_tour", _call(args)])
    write_text(args.out, family_page(tour.family, title=title, lead=lead, rows=rows, facts=facts, **shown))
    size, seconds = args.out.stat().st_size / 1e6, time.perf_counter() - started
    print(f"\n{args.out} written: {size:.1f} MB with plotly.js inside, opens in any browser; {seconds:.0f} s in all")
    if tour.cached:
        print(f"reused from the cache: {', '.join(tour.cached)}")
    return 0


def _call(args: argparse.Namespace) -> str:
    """The line of Python that makes the page's family."""
    if args.tuned is not None or args.size or args.per_class:
        return "# family: that of the command below, under 'How this was made'"
    return f"family = run_tour({args.model!r}, task={args.data!r}, seed={args.seed}).family"


def _facts(tour: Tour, args: argparse.Namespace, tuned: Choices | None) -> dict[str, str]:
    task, family = tour.task, tour.family
    statistics = family.prediction[0].batchnorm
    command = f"flatviz tour {data_options(args)} --seed {args.seed}"
    command += f" --tuned {args.tuned}" * (tuned is not None)
    chosen = {METHODS[m].label: str(choice_of(tuned, m)) for m in family.methods if m in (tuned or {})}
    what = "images" if len(task.input_shape) == 3 else "examples"
    sizes = ", ".join(f"{len(part)} {name}" for name, part in task.parts().items())
    return {
        "task": f"{task.name}: {sizes} {what}",
        "source network": f"{tour.recipe}",
        "network": f"{args.model}; treated: {tour.net!r}; all other weights stay at their source value",
        "prior": f"SWAG of rank {RANK} on the source task, covariance times {tour.recipe.scale:g}; "
        f"head: mean 0, standard deviation {HEAD_STD:g}",
        "fit": f"{METHODS['vi'].tuned(tour.net)}; weight decay on the mean only",
        **{f"{label}, tuned": text for label, text in chosen.items()},
        "surface": f"mean NLL of the {family.surface.n} training {what} over the {tour.net.dim} treated weights",
        "scores": f"test split of {len(task.test)} {what}, one seed",
        "BatchNorm": f"{statistics}: the statistics of the source network" if statistics else "none in this network",
        "made by": f"flatviz {flatviz.__version__}, torch {torch.__version__}: {command}",
    }
