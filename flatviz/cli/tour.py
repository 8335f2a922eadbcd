"""`flatviz tour`: from a pre-trained net to a live flat posterior, as a table and one page."""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
import pandas as pd
import torch

import flatviz
from flatviz.checks import check_count, computed
from flatviz.cli import options
from flatviz.cli.options import progress_of_command, write_page
from flatviz.core import pick
from flatviz.datasets.tasks import DEFAULT, OFFLINE, named_task
from flatviz.families.members import Choices, read_choices
from flatviz.families.preparation import MODELS, build_model, worth_of_transfer
from flatviz.families.tasks import executor
from flatviz.families.tour import HEAD_STD, RANK, Tour, run_tour
from flatviz.pages.document import family_rows, score_texts
from flatviz.pages.page import family_page
from flatviz.posteriors import METHODS

DIGITS = (
    "A small network is pre-trained on digits rotated by {} degrees. A posterior over its norm"
    " layers and head is then fitted to {} upright digits of each class."
)
WHAT = {"digits": DIGITS.format(90, "ten"), "digits-near": DIGITS.format(15, "two")}
OTHER = (
    "A network is pre-trained on one task. A posterior over its norm layers and head is then fitted"
    " to a few examples of each class of another ({name})."
)
TITLE = "flatviz tour: from a pre-trained network to a flat posterior"
LEAD = (
    "Scroll: the pictures follow the text. Move **radius** and **ensemble size** wherever you like."
)
MODEL = click.Choice(tuple(MODELS))
# offline, on a CPU
EXPECTED = {
    "mlp": "well under two minutes",
    "conv": "some minutes",
    "resnet20": "ten minutes or more",
}


@click.command(
    epilog=(
        "Examples: flatviz tour --out tour.html; flatviz tour --data moons; flatviz tour --model"
        " resnet20 --data cifar10:data"
    )
)
@options.out("tour.html", "the page")
@options.DATA
@click.option(
    "--size",
    type=int,
    help="Pixels of each side to which a folder's images are scaled (as they are).",
)
@click.option("--per-class", type=int, help="Read at most this many images of each class (all).")
@click.option(
    "--model",
    type=MODEL,
    default="mlp",
    show_default=True,
    help="LayerNorm MLP, BatchNorm conv net, or ResNet-20.",
)
@click.option(
    "--tuned",
    type=options.PATH,
    help="Settings chosen by `flatviz run tune`, in place of the methods' defaults.",
)
@options.SEED
@options.DEVICE
@options.WORKERS
def command(
    out: Path,
    data: str | None,
    size: int | None,
    per_class: int | None,
    model: str,
    tuned: Path | None,
    seed: int | None,
    device: str | None,
    workers: int | None,
) -> None:
    """Train a family of posteriors, print their scores and flatness, and write one live page.

    The page also trains two weights and a regression with a gap in the browser; that of --data
    moons shows predictions over the plane of inputs beside HMC.
    """
    started = time.perf_counter()
    seed = check_count(seed or 0, "--seed", least=0)
    data = data or DEFAULT
    images = dict(size=size, per_class=per_class)
    task = named_task(data, seed=seed, **images)
    place, why = pick(device or "auto", build_model(model, task, seed=seed))
    choices = None if tuned is None else read_choices(tuned)
    expected = f"; {EXPECTED[model]} on a CPU" if data in OFFLINE else ""
    print(
        f"flatviz {flatviz.__version__} tour: {model}, {data}, on {place} ({why}), seed"
        f" {seed}{expected}"
    )
    how: dict[str, Any] = dict(
        task=task, seed=seed, device=place, tuned=choices, progress=progress_of_command(), say=print
    )
    with executor(workers) as engine:
        tour = run_tour(model, engine=engine, **how)
    rows = family_rows(tour.family)
    rows += [
        dict.fromkeys(rows[0], "") | {"method": name} | score_texts(p)
        for name, p in tour.alone.items()
    ]
    worth = worth_of_transfer(
        computed(tour.family[tour.family.index("sabma", 0.0)].prediction), tour.alone
    )
    print(
        f"\n{tour.task.name}; test split of {len(tour.task.test)}; λ over"
        f" {len(tour.family[-1].spectrum)} draws\n"
    )
    facts = _facts(
        tour, model, dict(data=data, model=model, **images, seed=seed, tuned=tuned), choices
    )
    print(pd.DataFrame(rows).to_string(index=False))
    print(
        f"\n{worth}\nposterior: {facts['posterior']}\nconvergence of VI:"
        f" {facts['convergence of VI']}"
    )
    call = f"family = run_tour({model!r}, task={data!r}, seed={seed}).family"
    if tuned or any(images.values()):
        call = "# family: that of the command below, under 'How this was made'"
    code = ["from flatviz.families.tour import run_tour", call]
    start = (
        "sabma",
        tour.family[tour.family.index("sabma", METHODS["sabma"].tuned(tour.net).radius)].radius,
        10,
    )
    lead = f"{WHAT.get(data, OTHER).format(name=tour.task.name)} {worth}. {LEAD}"
    page = family_page(
        tour.family,
        title=TITLE,
        lead=lead,
        rows=rows,
        facts=facts,
        start=start,
        code=code,
        playground=True,
    )
    write_page(out, page)
    print(f"{time.perf_counter() - started:.0f} s in all")
    if tour.cached:
        print(f"reused from the cache: {', '.join(tour.cached)}")


def _facts(
    tour: Tour, model: str, asked: Mapping[str, Any], tuned: Choices | None
) -> dict[str, str]:
    task = tour.task
    family = tour.family
    words = " ".join(
        f"--{name.replace('_', '-')} {value}" for name, value in asked.items() if value is not None
    )
    statistics = computed(family[0].prediction).batchnorm
    temperature = METHODS["vi"].tuned(tour.net).settings["kl_weight"]
    chosen = {
        METHODS[m].label: str(choice) for m, choice in (tuned or {}).items() if m in family.methods
    }
    what = "images" if len(task.input_shape) == 3 else "examples"
    sizes = ", ".join(f"{len(part)} {name}" for name, part in task.parts().items())
    return {
        "task": f"{task.name}: {sizes} {what}",
        "source network": f"{tour.recipe}",
        "network": f"{model}; treated: {tour.net!r}; all other weights stay at their source value",
        "prior": (
            f"SWAG of rank {RANK} on the source task, covariance times {tour.recipe.scale:g}; "
            f"head: mean 0, standard deviation {HEAD_STD:g}"
        ),
        "posterior": (
            f"exp(-N L(w) / T) prior(w), tempered by T = {temperature:g} unless tuned; T = 1 is"
            " Bayes"
        ),
        "fit": f"{METHODS['vi'].tuned(tour.net)}; weight decay on the mean only",
        "convergence of VI": str(tour.gap or "not measured here, see fv.families.convergence_gap"),
        **{f"{label}, tuned": text for label, text in chosen.items()},
        "surface": (
            f"mean NLL of the {computed(family.surface).n} training {what} over the {tour.net.dim}"
            " treated weights"
        ),
        "scores": f"test split of {len(task.test)} {what}, one seed",
        "BatchNorm": (
            f"{statistics}: the statistics of the source network"
            if statistics
            else "none in this network"
        ),
        "made by": (
            f"flatviz {flatviz.__version__}, torch {torch.__version__}: flatviz tour {words}"
        ),
    }
