"""Pre-train on some classes of an image folder, learn few shots of others by several methods, judge them under shift."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Mapping
from pathlib import Path

import torch

import flatviz
from flatviz.checks import check_count
from flatviz.cli.old_options import add_out
from flatviz.cli.output import check_output, progress_of_command, write_text, written
from flatviz.cli.threads import threads
from flatviz.cli.transfer_tables import command_of, facts, means, ood_rows, severity_rows, statistics_of, table_rows, write_csv
from flatviz.core.data import Data
from flatviz.core.progress import Progress
from flatviz.core.seeds import generator
from flatviz.datasets.images import PUBLIC, image_folder, images_like, public_images
from flatviz.datasets.stream import held
from flatviz.families.choice import Choices, read_choices
from flatviz.families.tune import Tuning
from flatviz.pages.gallery import gallery_page
from flatviz.pages.table import text_table
from flatviz.pages.transfer import transfer_pictures
from flatviz.studies.transfer import study_transfer
from flatviz.studies.transfer_claims import answer, compare_with, verdict_rows
from flatviz.studies.transfer_setting import PRIORS, Classes, Scheme, Sizes, method_of, network, split_classes
from flatviz.studies.transfer_tuning import SourceTuning, read_source, tune_source, tune_transfer, with_source

PARTS = ("source-classes", "target-classes", "left-out")
METHODS = "sgd,sam,swag,f-swag,vi,sabma"
LEAD = """One network learned some classes of images; each method then had **a few images of other classes** and treated
its norm layers and head. Here is what they predict on clean test images, on corrupted ones, and on classes that no one taught."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's options."""
    sizes, scheme = Sizes(), Scheme()
    parser.add_argument(
        "--data", required=True, help=f"image-folder:PATH (a folder of class folders), or one of {', '.join(PUBLIC)}"
    )
    parser.add_argument(
        "--model", default="resnet20", help="resnet20, resnet20-group, resnet20-frn, or one of torchvision's (resnet20)"
    )
    parser.add_argument("--width", type=int, default=16, help="of resnet20: channels of its first stage (16)")
    parser.add_argument("--size", type=int, help="pixels to which the images of a folder are scaled (as they are)")
    parser.add_argument("--weights", help="a file (.pth, .safetensors), or torchvision's name: in place of pre-training")
    parser.add_argument("--methods", default=METHODS, help=f"names with commas between; sam is f-sgd ({METHODS})")
    parser.add_argument("--seeds", type=int, default=3, help="how many seeds: few-shot splits and noise (3)")
    for part in PARTS:
        parser.add_argument(f"--{part}", help="names of classes, with commas between (drawn: two fifths, two fifths, the rest)")
    numbers = {
        "source-images": (sizes.n_source, "a class to pre-train on"), "epochs": (sizes.epochs, "of pre-training"),
        "snapshots": (sizes.snapshots, "epochs of SWAG on the source"), "shots": (sizes.shots, "training images a class"),
        "test-images": (sizes.n_test, "to be judged on"), "out-images": (sizes.n_out, "of the left-out classes"),
        "gradients": (sizes.gradients, "of each fit"), "draws": (sizes.n_draws, "averaged"), "spectra": (sizes.n_spectra, "draws of λ1"),
    }  # fmt: skip
    for name, (default, what) in numbers.items():
        parser.add_argument(f"--{name}", type=int, default=default, help=f"{what} ({default})")
    parser.add_argument("--corruptions", default=",".join(sizes.kinds), help=f"kinds ({','.join(sizes.kinds)})")
    parser.add_argument("--severities", default=",".join(map(str, sizes.severities)), help="1 to 5, rising (1,3,5)")
    parser.add_argument("--prior", choices=PRIORS, default=scheme.prior, help=f"({scheme.prior})")
    choices = ("norm+head", "head", "authors", "all")
    parser.add_argument("--treated", choices=choices, default="norm+head", help="which weights (norm+head)")
    parser.add_argument(
        "--head-std", type=float, default=scheme.head_std, help=f"of the prior on the head ({scheme.head_std:g})"
    )
    parser.add_argument("--scale", type=float, default=scheme.scale, help=f"of the prior's covariance ({scheme.scale:g})")
    parser.add_argument(
        "--batchnorm", choices=("frozen", "refresh"), default=scheme.batchnorm, help="statistics that predict (frozen)"
    )
    parser.add_argument("--head-start", choices=("zero", "random"), default="zero", help="mean of the head's prior (zero)")
    parser.add_argument(
        "--trunk", choices=("fixed", "sampled"), default="fixed", help="the weights that are not treated (fixed)"
    )
    parser.add_argument(
        "--ood",
        metavar="DATA",
        help=f"other images of which to be unsure, commas between: image-folder:PATH, {', '.join(PUBLIC)}, NAME:ROOT",
    )
    parser.add_argument("--trials", type=int, default=0, help="of settings, for each method, before: 0 takes its record's (0)")
    parser.add_argument("--recipe", type=int, default=0, metavar="TRIALS", help="first trials of pre-training and SWAG (0)")
    parser.add_argument("--tuned", type=Path, help="a file that --trials wrote, in place of trials")
    parser.add_argument("--threads", type=int, default=2, help="of torch (2)")
    add_out(parser, "transfer.html", "the page")
    parser.add_argument("--csv", type=Path, help="where to write the table (beside the page, as .csv)")


def run(args: argparse.Namespace) -> int:
    """Compute what the cache does not hold, print the tables, write CSV and page."""
    started, progress = time.perf_counter(), progress_of_command()
    check_count(args.seeds, "--seeds"), check_count(args.threads, "--threads")
    table = args.csv or args.out.with_suffix(".csv")
    for option, path in (("--out", args.out), ("--csv", table)):
        check_output(option, path)
    methods = [method_of(name.strip()) for name in args.methods.split(",") if name.strip()]
    sizes, scheme = _sizes(args), _scheme(args)
    data, names = read_images(args.data, sizes, side=args.size, progress=progress)
    classes = _classes(args, names)
    print(f"flatviz {flatviz.__version__} transfer: {args.model} on {args.data}, images {tuple(data.x.shape[1:])}")
    print(f"pre-trained on: {classes.text('source')}; learned: {classes.text('target')}; left out: {classes.text('out')}")
    print(f"sizes: {sizes}")
    make = network(args.model, width=args.width, weights=args.weights)
    outside = read_outside(args.ood, data, sizes, progress=progress)
    how = dict(pretrained=args.weights is not None, progress=progress, say=lambda text: print(text, flush=True))
    with threads(args.threads):
        recipe, tuned = None, {}
        if args.recipe:
            recipe = tune_source(data, classes, make, trials=args.recipe, sizes=sizes, scheme=scheme, **how)
        source = recipe.best if recipe is not None else None if args.tuned is None else read_source(args.tuned)
        if source is not None:
            sizes, scheme = with_source(sizes, scheme, source)
        if args.trials:
            tuned = tune_transfer(data, classes, make, methods=methods, trials=args.trials, sizes=sizes, scheme=scheme, **how)
        choices = _choices(args, tuned)
        settings = dict(methods=methods, seeds=args.seeds, sizes=sizes, scheme=scheme, tuned=choices, outside=outside)
        study = study_transfer(data, classes, make, **settings, **how)
    if tuned or recipe is not None:
        _write_choices(table.with_suffix(".tuned.json"), args, tuned, recipe)
    verdicts = compare_with(study)
    rows, words = table_rows(study), verdict_rows(verdicts)
    print(f"\n{len(classes.target)} classes, {sizes.shots} shots, BatchNorm {statistics_of(study)}")
    print(f"mean ± half of the 95 % interval over {args.seeds} seeds; AUROC: entropy, left-out classes\n")
    print(text_table(rows))
    print("\nBy severity, mean over kinds and seeds\n")
    print(text_table(severity_rows(study)))
    print("\nImages from outside, told by entropy\n")
    print(text_table(ood_rows(study)))
    if words:
        print(f"\n{text_table(words)}")
    print(f"\n{answer(verdicts)}")
    with written(table) as partial:
        write_csv(study, partial)
    risks = {name: study.risks_with(name) for name in study.outside}
    pictures = transfer_pictures(study.shifts(), study.risks(), risks, ood_rows(study), means(study), words, answer(verdicts))
    title = "flatviz transfer: few shots, then shift"
    write_text(
        args.out,
        gallery_page(
            pictures, title=title, lead=LEAD, heading="All methods", rows=rows, facts=facts(study, args, tuned, recipe)
        ),
    )
    print(f"\n{table} and {args.out} written; {time.perf_counter() - started:.0f} s in all")
    return 0


def read_images(spec: str, sizes: Sizes, *, side: int | None, progress: Progress) -> tuple[Data, list[str]]:
    """Images of all classes, as many of each as the study can use, and the classes' names; a large folder is streamed."""
    most = max(sizes.n_source + max(1, sizes.n_source // 5), 2 * sizes.shots + sizes.n_test, sizes.n_out)
    kind, _, path = spec.partition(":")
    if kind == "image-folder":
        data = image_folder(path, size=side, per_class=most, progress=progress)
        return data, sorted(p.name for p in Path(path).iterdir() if p.is_dir())
    if spec not in PUBLIC:
        raise ValueError(f"--data must be image-folder:PATH or one of {', '.join(PUBLIC)}, got {spec!r}")
    data = public_images(spec, train=True, per_class=most)
    return data, [str(i) for i in range(int(data.y.max()) + 1)]


def read_outside(specs: str | None, like: Data, sizes: Sizes, *, progress: Progress) -> dict[str, Data]:
    """name -> images of --ood, `sizes.n_out` of each set drawn by seed 0, scaled to the shape of `like`."""
    outside: dict[str, Data] = {}
    for spec in (part.strip() for part in (specs or "").split(",") if part.strip()):
        kind, _, path = spec.partition(":")
        if kind == "image-folder":
            name = Path(path).name
            folders = sum(part.is_dir() for part in Path(path).iterdir()) if Path(path).is_dir() else 1
            per_class = -(-sizes.n_out // max(1, folders))
            images = image_folder(path, size=like.x.shape[-1], per_class=per_class, progress=progress)
        elif kind in PUBLIC:
            name, there = kind, dict(root=path, download=False) if path else {}
            images = public_images(kind, train=False, **there)
        else:
            raise ValueError(f"--ood must be image-folder:PATH, or one of {', '.join(PUBLIC)}, or NAME:ROOT, got {spec!r}")
        order = torch.randperm(len(images), generator=generator(0))[: sizes.n_out]
        outside[name] = images_like(held(images.subset(order)), like.x.shape[1:])
    return outside


def _choices(args: argparse.Namespace, tuned: Mapping[str, Tuning]) -> Choices:
    """What --trials chose, or the file of --tuned holds; nothing without either."""
    if args.tuned is not None and tuned:
        raise ValueError("--trials makes a choice and --tuned reads one: leave one of them out")
    return read_choices(args.tuned) if args.tuned is not None else {name: t.best.choice for name, t in tuned.items()}


def _write_choices(path: Path, args: argparse.Namespace, tuned: Mapping[str, Tuning], recipe: SourceTuning | None) -> None:
    about = dict(command=command_of(args), flatviz=flatviz.__version__, torch=torch.__version__, date=time.strftime("%Y-%m-%d"))
    held = {"about": about, "methods": {name: t.to_dict() for name, t in tuned.items()}}
    write_text(path, json.dumps(held | ({} if recipe is None else {"source": recipe.to_dict()}), indent=1) + "\n")
    print(f"{path} written: the choices, which --tuned reads")


def _scheme(args: argparse.Namespace) -> Scheme:
    return Scheme(args.prior, args.treated, args.head_std, args.head_start, args.scale, args.batchnorm, args.trunk)


def _sizes(args: argparse.Namespace) -> Sizes:
    severities = tuple(int(s) for s in args.severities.split(","))
    return Sizes(
        args.source_images, args.epochs, snapshots=args.snapshots, shots=args.shots, n_test=args.test_images, n_out=args.out_images,
        kinds=tuple(args.corruptions.split(",")), severities=severities, gradients=args.gradients, n_draws=args.draws,
        n_spectra=args.spectra,
    )  # fmt: skip


def _classes(args: argparse.Namespace, names: list[str]) -> Classes:
    asked = (args.source_classes, args.target_classes, args.left_out)
    if asked == (None, None, None):
        return split_classes(names)
    if missing := [f"--{part}" for part, value in zip(PARTS, asked) if value is None]:
        raise ValueError(f"--source-classes, --target-classes and --left-out go together, got no {' and no '.join(missing)}")
    chosen = [[name.strip() for name in value.split(",")] for value in asked]
    every = sum(chosen, [])
    if wrong := [name for name in every if name not in names or every.count(name) > 1]:
        raise ValueError(f"classes must be different ones of {', '.join(names)}, got {', '.join(wrong)}")
    return Classes(*(tuple(names.index(name) for name in part) for part in chosen), names=tuple(names))
