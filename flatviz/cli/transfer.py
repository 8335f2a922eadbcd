"""Pre-train on some classes of an image folder, learn few shots of others by several methods, judge them under shift."""

from __future__ import annotations

import argparse
import csv
import math
import time
from pathlib import Path

import torch

import flatviz
from flatviz.checks import check_count
from flatviz.cli.options import add_out
from flatviz.cli.output import check_output, progress_of_command, write_text, written
from flatviz.cli.threads import threads
from flatviz.core.data import Data
from flatviz.core.progress import Progress
from flatviz.datasets.images import PUBLIC, image_folder, public_images
from flatviz.pages.gallery import gallery_page
from flatviz.pages.table import text_table, three
from flatviz.pages.transfer import transfer_pictures
from flatviz.plots.theme import style
from flatviz.results import interval
from flatviz.studies.transfer import QUANTITIES, TransferStudy, study_transfer
from flatviz.studies.transfer_claims import answer, compare_with, verdict_rows
from flatviz.studies.transfer_setting import PRIORS, Classes, Scheme, Sizes, method_of, network, split_classes

TRUNKS = {
    "fixed": "fixed: all weights that are not treated stay at the source's mean",
    "sampled": "sampled: all weights that are not treated are drawn from the prior with every pass and draw",
}
PARTS = ("source-classes", "target-classes", "left-out")
METHODS = "sgd,sam,swag,f-swag,vi,sabma"
HEADS = {
    "accuracy": "accuracy %", "nll": "NLL", "ece": "ECE", "shifted_accuracy": "shifted acc. %", "shifted_nll": "shifted NLL",
    "shifted_ece": "shifted ECE", "auroc": "AUROC", "lambda1": "λ1", "seconds": "seconds",
}  # fmt: skip
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
    settings = dict(methods=methods, seeds=args.seeds, pretrained=args.weights is not None, sizes=sizes, scheme=scheme)
    with threads(args.threads):
        study = study_transfer(data, classes, make, **settings, progress=progress, say=lambda text: print(text, flush=True))
    verdicts = compare_with(study)
    rows, words = table_rows(study), verdict_rows(verdicts)
    print(f"\n{len(classes.target)} classes, {sizes.shots} shots, BatchNorm {_statistics(study)}")
    print(f"mean ± half of the 95 % interval over {args.seeds} seeds; AUROC: entropy, left-out classes\n")
    print(text_table(rows))
    print("\nBy severity, mean over kinds and seeds\n")
    print(text_table(severity_rows(study)))
    if words:
        print(f"\n{text_table(words)}")
    print(f"\n{answer(verdicts)}")
    with written(table) as partial:
        write_csv(study, partial)
    pictures = transfer_pictures(study.shifts(), study.risks(), means(study), words, answer(verdicts))
    title = "flatviz transfer: few shots, then shift"
    write_text(
        args.out,
        gallery_page(pictures, title=title, lead=LEAD, heading="All methods", rows=rows, facts=facts(study, args)),
    )
    print(f"\n{table} and {args.out} written; {time.perf_counter() - started:.0f} s in all")
    return 0


def read_images(spec: str, sizes: Sizes, *, side: int | None, progress: Progress) -> tuple[Data, list[str]]:
    """Images of all classes, as many of each as the study can use, and the classes' names."""
    most = max(sizes.n_source + max(1, sizes.n_source // 5), 2 * sizes.shots + sizes.n_test, sizes.n_out)
    kind, _, path = spec.partition(":")
    if kind == "image-folder":
        data = image_folder(path, size=side, per_class=most, progress=progress)
        return data, sorted(p.name for p in Path(path).iterdir() if p.is_dir())
    if spec not in PUBLIC:
        raise ValueError(f"--data must be image-folder:PATH or one of {', '.join(PUBLIC)}, got {spec!r}")
    data = public_images(spec, train=True, per_class=most)
    return data, [str(i) for i in range(int(data.y.max()) + 1)]


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


def write_csv(study: TransferStudy, path: Path) -> None:
    """A line a method, seed, kind and severity; what has no severity is repeated."""
    others = [q for q in QUANTITIES if q not in ("accuracy", "nll", "ece")]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["method", "seed", "corruption", "severity", "accuracy", "nll", "ece", *others, "batchnorm"])
        for method, rows in study.rows.items():
            for seed, row in enumerate(rows):
                if row.shift is None:
                    continue
                rest = [f"{row.values[q]:.6g}" for q in others]
                for k, kind in enumerate(row.shift.kinds):
                    for v, severity in enumerate(row.shift.severities):
                        scores = [f"{float(row.shift.scores[q][k, v]):.6g}" for q in ("accuracy", "nll", "ece")]
                        writer.writerow([method, seed, kind, severity, *scores, *rest, row.shift.batchnorm or "none"])


def facts(study: TransferStudy, args: argparse.Namespace) -> dict[str, str]:
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
        "BatchNorm": _statistics(study),
        "sizes": str(study.sizes),
        "equal gradients": "a method of two gradients a step takes half the steps; SWAG's snapshots count as steps",
        "shift": "means over the corruptions and severities named; the strengths are flatviz's own, not CIFAR-10-C's",
        "AUROC": "entropy of the averaged prediction, left-out classes against the clean test images",
        "λ1": "largest Hessian eigenvalue of the training loss over the treated weights, mean over draws",
        "made by": f"flatviz {flatviz.__version__}, torch {torch.__version__}: {_command(args)}",
    }


def _statistics(study: TransferStudy) -> str:
    shifts = next(iter(study.shifts().values()), [])
    statistics = shifts[0].batchnorm if shifts else None
    return f"{statistics} statistics" if statistics else "none in this network"


def _command(args: argparse.Namespace) -> str:
    """The command with every option, defaults included, but where it writes."""
    skipped = ("command", "out", "csv", "threads")
    options = {name: value for name, value in vars(args).items() if name not in skipped and value is not None}
    return "flatviz transfer " + " ".join(f"--{name.replace('_', '-')} {value}" for name, value in options.items())
