"""`flatviz tour`: from a pre-trained net to a live flat posterior, as a table and one page."""

import time
import webbrowser
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch

import flatviz
from flatviz.checks import computed
from flatviz.cli.reporting import progress_of_command, table_text, write_page
from flatviz.core import pick
from flatviz.datasets.tasks import named_task
from flatviz.families.members import Choices, read_choices
from flatviz.families.preparation import build_model, worth_of_transfer
from flatviz.families.tasks import executor
from flatviz.families.tour import HEAD_STD, RANK, Tour, TourSettings, run_tour
from flatviz.pages.document import family_rows, score_texts
from flatviz.pages.page import family_page
from flatviz.posteriors import METHODS
from flatviz.words import OFFLINE

DIGITS = (
    "A small network is trained on digits rotated by {} degrees. A posterior, a distribution over"
    " the weights of its norm layers and head, is then fitted to {} upright digits of each class."
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
# offline, on a CPU
EXPECTED = {
    "mlp": "under a minute",
    "conv": "some minutes",
    "resnet20": "ten minutes or more",
}


# of the page that opens first
FIRST = dict(n_draws=10, n_spectra=2, k=2, resolution=21, around_resolution=15)
REFRESH = 8  # seconds after which that page is read again


@dataclass(frozen=True)
class Asked:
    """Options of the command that the page names, by their names."""

    data: str
    model: str
    size: int | None
    per_class: int | None
    seed: int
    tuned: Path | None


def work(
    out: Path,
    seeds: int,
    device: str | None,
    workers: int | None,
    open_first: bool,
    **options: Any,
) -> None:
    """Train a family of posteriors, write one live page, print scores and flatness.

    options: those of `Asked`.
    """
    started = time.perf_counter()
    asked = Asked(**options)
    seed = asked.seed
    task = named_task(
        asked.data,
        seed=seed,
        size=asked.size,
        per_class=asked.per_class,
    )
    place, why = pick(device or "auto", build_model(asked.model, task, seed=seed))
    choices = None if asked.tuned is None else read_choices(asked.tuned)
    expected = f"; {EXPECTED[asked.model]} on a CPU" if asked.data in OFFLINE else ""
    print(
        f"flatviz {flatviz.__version__} tour: {asked.model}, {asked.data}, on {place} ({why}), seed"
        f" {seed}{expected}"
    )
    run = partial(
        run_tour,
        asked.model,
        task=task,
        seed=seed,
        device=place,
        say=print,
    )
    if open_first:
        radius = METHODS["sabma"].plain.radius
        few = {"sgd": (0.0,), "vi": (0.0,), "sabma": (0.0, radius)}
        quick = TourSettings(
            radii=few,
            tuned=choices,
            measured=FIRST,
            gap=False,
        )
        first = run(settings=quick, progress=lambda *_: None)
        page = _page(first, asked, choices)
        again = f'<head><meta http-equiv="refresh" content="{REFRESH}">'
        write_page(out, page.replace("<head>", again, 1))
        webbrowser.open(out.absolute().as_uri())
        print(
            f"{time.perf_counter() - started:.0f} s to a first page, which the whole one replaces"
        )
    with executor(workers) as engine:
        whole = TourSettings(tuned=choices, repeats=seeds)
        tour = run(settings=whole, engine=engine, progress=progress_of_command())
    print(
        f"\n{tour.task.name}; test split of {len(tour.task.test)}; λ over"
        f" {len(tour.family[-1].spectrum)} draws\n"
    )
    facts = _facts(tour, asked, choices)
    print(table_text(_rows(tour)))
    print(
        f"\n{_worth(tour)}\nposterior: {facts['posterior']}\nconvergence of VI:"
        f" {facts['convergence of VI']}"
    )
    write_page(out, _page(tour, asked, choices))
    print(f"{time.perf_counter() - started:.0f} s in all")
    if tour.cached:
        print(f"reused from the cache: {', '.join(tour.cached)}")


def _rows(tour: Tour) -> list[dict[str, str]]:
    """The table: a row a posterior, and one for each network without the source."""
    rows = family_rows(tour.family)
    blank = dict.fromkeys(rows[0], "")
    for name, prediction in tour.alone.items():
        rows.append(blank | {"method": name} | score_texts(prediction))
    return rows


def _worth(tour: Tour) -> str:
    member = tour.family[tour.family.index("sabma", 0.0)]
    return worth_of_transfer(computed(member.prediction), tour.alone)


def _page(tour: Tour, asked: Asked, tuned: Choices | None) -> str:
    data = asked.data
    call = f"family = run_tour({asked.model!r}, task={data!r}, seed={asked.seed}).family"
    if asked.tuned or asked.size or asked.per_class:
        call = "# family: that of the command below, under 'How this was made'"
    nearest = tour.family.index("sabma", METHODS["sabma"].tuned(tour.net).radius)
    lead = f"{WHAT.get(data, OTHER).format(name=tour.task.name)} {_worth(tour)}. {LEAD}"
    return family_page(
        tour.family,
        title=TITLE,
        lead=lead,
        rows=_rows(tour),
        facts=_facts(tour, asked, tuned),
        start=("sabma", tour.family[nearest].radius, 10),
        code=["from flatviz.families.tour import run_tour", call],
        playground=True,
    )


def _facts(tour: Tour, asked: Asked, tuned: Choices | None) -> dict[str, str]:
    task = tour.task
    family = tour.family
    words = " ".join(
        f"--{name.replace('_', '-')} {value}"
        for name, value in vars(asked).items()
        if value is not None
    )
    statistics = computed(family[0].prediction).batchnorm
    temperature = METHODS["vi"].tuned(tour.net).settings["kl_weight"]
    chosen = {}
    for method, choice in (tuned or {}).items():
        if method in family.methods:
            chosen[METHODS[method].label] = str(choice)
    kinds = ", ".join(dict.fromkeys(block.kind for block in tour.net.blocks))
    what = "images" if len(task.input_shape) == 3 else "examples"
    sizes = ", ".join(f"{len(part)} {name}" for name, part in task.parts().items())
    return {
        "task": f"{task.name}: {sizes} {what}",
        "source network": f"{tour.recipe}",
        "network": (
            f"{asked.model}; {tour.net.dim} treated weights ({kinds}); all others stay at their"
            " source value"
        ),
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
