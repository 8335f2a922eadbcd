"""Options, help and checks of all commands, without torch.

The function `work` of the module of a command's name does its work; it is loaded once the options
have passed their checks.
"""

import importlib
import re
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import click

import flatviz
from flatviz.cli.experiments import experiment_of, parameters_of, parsed, refuse_long
from flatviz.site import CONTENTS, notebooks
from flatviz.words import (
    DEFAULT_TASK,
    IMAGE_FOLDER,
    NETWORKS,
    OFFLINE,
    check_choice,
    check_device_word,
    check_task,
    did_you_mean,
)

REGISTERED = re.compile(r"^@register_model\(\)\n(?:@.*\n)*def (\w+)", re.MULTILINE)
COMMANDS = ("tour", "lab", "compare", "run", "docs", "doctor")


class _Commands(click.Group):
    """Commands in the order of `COMMANDS`; an unknown one is answered with the nearest."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the commands, in the order of `--help`."""
        return list(COMMANDS)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple:
        """Find the command that the first word names."""
        if args[0] not in COMMANDS and not args[0].startswith("-"):
            ctx.fail(f"No such command {args[0]!r}{did_you_mean(args[0], COMMANDS)}")
        return super().resolve_command(ctx, args)


@click.group(
    cls=_Commands, context_settings=dict(help_option_names=["-h", "--help"], max_content_width=110)
)
@click.version_option(flatviz.__version__, prog_name="flatviz", message="%(prog)s %(version)s")
def group() -> None:
    """Train Bayesian neural networks, measure how flat they are, and look at them."""


def work(name: str, **options: object) -> int | None:
    """Load the command's module, and do its work."""
    return importlib.import_module(f"flatviz.cli.{name}").work(**options)


def check_output(option: str, path: Path) -> Path:
    """Check that a path can be written, before hours of work.

    Below the current folder its folder is created, which is said.

    Raises:
        ValueError: For a folder, for a folder elsewhere that is not there, and for a place where
            no file can be written.
    """
    if path.is_dir():
        raise ValueError(f"{option} must be a file, got the folder {path}: add a name")
    absent = [p for p in path.absolute().parents if not p.exists()]
    if absent and not path.absolute().resolve().is_relative_to(Path.cwd().resolve()):
        raise ValueError(
            f"{option} must lie in a folder that is there, or below the current one, got {path}:"
            f" mkdir -p {path.absolute().parent}"
        )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=path.parent).close()
    except OSError as error:
        raise ValueError(
            f"{option} must lie in a folder that can be written, got {path}: {error.strerror}"
        ) from None
    if absent:
        print(f"folder made: {absent[0]}")
    return path


def check_there(option: str, path: Path, *, folder: bool = False) -> Path:
    """Check that a file or folder is there.

    Raises:
        ValueError: Where it is not; with the nearest name beside it.
    """
    kind = "folder" if folder else "file"
    if not (path.is_dir() if folder else path.is_file()):
        beside = [p.name for p in path.parent.glob("*") if p.is_dir() == folder]
        raise ValueError(f"{option} must be a {kind}, got {path}{did_you_mean(path.name, beside)}")
    return path


def check_data(name: str) -> str:
    """Check a task's name, and that the folder it names is there."""
    _, colon, place = check_task(name).partition(":")
    if colon:
        check_there("the path of --data", Path(place), folder=True)
    return name


def check_reading(data: str, size: int | None, per_class: int | None) -> None:
    """Check that a task reads images as these options say.

    Raises:
        ValueError: For an option that would change nothing.
    """
    kind = data.partition(":")[0]
    if size is not None and kind != IMAGE_FOLDER:
        raise ValueError(f"--size must be left out for {data}, got {size}: folders take it")
    if per_class is not None and kind in OFFLINE:
        raise ValueError(
            f"--per-class must be left out for {data}, got {per_class}: image sets take it"
        )


def check_public_network(name: str) -> str:
    """Check a name of `torchvision.models` in its files: to import it takes seconds."""
    torchvision = find_spec("torchvision")
    places = (torchvision and torchvision.submodule_search_locations) or ()
    known = []
    for place in places:
        for file in Path(place).glob("models/*.py"):
            known += REGISTERED.findall(file.read_text("utf-8"))
    known.sort()
    if known and name not in known:
        near = did_you_mean(name, known)
        raise ValueError(f"--model must be one of torchvision.models, got {name!r}{near}")
    return name


def check_compared(files: list[Path | None]) -> None:
    """Check that two files and a folder are there.

    Raises:
        ValueError: Where one is not.
    """
    given = [path for path in files if path is not None]
    if len(given) < len(files):
        raise ValueError(
            "two files of weights and --data FOLDER must be given, got"
            f" {' '.join(map(str, given)) or 'none'}: flatviz compare a.pt b.pt --data photos"
        )
    for option, path in zip(("A", "B", "--data"), given):
        check_there(option, path, folder=option == "--data")


def check_from_0(option: str, value: int) -> int:
    """A whole number >= 0."""
    if value < 0:
        raise ValueError(f"{option} must be a whole number >= 0, got {value}")
    return value


def checked(check: Callable[..., object], *before: object, **how: object) -> object:
    """A callback of click that checks a value, where one is given."""

    def callback(ctx: object, option: object, value: object) -> object:
        return value if value is None else check(*before, value, **how)

    return callback


def out(default: str | None, what: str, name: str = "--out") -> Callable:
    """A path to write to, which is tried before hours of work; its folder is created."""
    return click.option(
        name,
        type=PATH,
        help=f"File to write: {what}.",
        callback=checked(check_output, name),
        default=default,
        show_default=default is not None,
    )


PATH = click.Path(path_type=Path)
COUNT = click.IntRange(min=1)
DATA = click.option(
    "--data",
    metavar="NAME",
    callback=checked(check_data),
    help="Task: digits-near, digits, moons, image-folder:PATH, cifar10:ROOT ...",
)
DEVICE = click.option(
    "--device",
    callback=checked(check_device_word),
    help="auto, cpu, cuda or cuda:N; auto takes a GPU where the network gains from it.",
)
SEED = click.option(
    "--seed",
    type=int,
    callback=checked(check_from_0, "--seed"),
    help="Seed of the split, the networks and all noise (0).",
)
WORKERS = click.option(
    "--workers",
    type=COUNT,
    metavar="N",
    help="Share the fits among N processes of one thread each.",
)


@group.command(
    epilog=(
        "Examples: flatviz tour --out tour.html; flatviz tour --data moons; flatviz tour --model"
        " resnet20 --data cifar10:data"
    )
)
@out("tour.html", "the page")
@DATA
@click.option(
    "--size",
    type=COUNT,
    help="Pixels of each side to which a folder's images are scaled (as they are).",
)
@click.option("--per-class", type=COUNT, help="Read at most this many images of each class (all).")
@click.option(
    "--model",
    metavar="|".join(NETWORKS),
    default="mlp",
    show_default=True,
    callback=lambda ctx, option, value: check_choice(value, NETWORKS, "--model"),
    help="LayerNorm MLP, BatchNorm conv net, or ResNet-20.",
)
@click.option(
    "--tuned",
    type=PATH,
    callback=checked(check_there, "--tuned"),
    help="Settings chosen by `flatviz run tune`, in place of the methods' defaults.",
)
@SEED
@click.option(
    "--seeds",
    type=int,
    default=0,
    callback=checked(check_from_0, "--seeds"),
    help="Fit all again with N other seeds of the noise, for bands over seeds (0).",
    metavar="N",
)
@DEVICE
@WORKERS
@click.option(
    "--open",
    "open_first",
    is_flag=True,
    help="Open the page in a browser with a first fit; the whole family then replaces it.",
)
def tour(
    data: str | None,
    seed: int | None,
    size: int | None,
    per_class: int | None,
    **options: object,
) -> None:
    """Train a family of posteriors and write one live page.

    Their scores and flatness are printed.

    Its page also trains two weights and a regression with a gap in the browser; that of --data
    moons shows predictions over the plane of inputs beside HMC.
    """
    data = data or DEFAULT_TASK
    check_reading(data, size, per_class)
    work("tour", data=data, seed=seed or 0, size=size, per_class=per_class, **options)


@group.command(epilog="Examples: flatviz lab; flatviz lab 03; flatviz lab 03 -- --port 9999")
@click.option(
    "--notebook", default=f"{CONTENTS}.ipynb", show_default=True, help="Notebook to open."
)
@click.argument("words", nargs=-1, metavar="[NOTEBOOK] [-- JUPYTER]")
def lab(notebook: str, words: tuple[str, ...]) -> int | None:
    """Open JupyterLab on the course, or on one notebook.

    NOTEBOOK: its name, or how it begins: 03.  JUPYTER: options for JupyterLab, after --.
    """
    if words and not words[0].startswith("-"):
        notebook = words[0]
        words = words[1:]
    return work("lab", notebook=notebook, jupyter=words)


@group.command(
    short_help="Compare two checkpoints: which is flatter?",
    epilog="Example: flatviz compare a.pt b.pt --data photos --model resnet18 --size 64",
)
@click.argument("a", type=PATH, required=False)
@click.argument("b", type=PATH, required=False)
@click.option(
    "--data", type=PATH, help="Folder of class folders with images, in the order of the outputs."
)
@click.option(
    "--model",
    metavar="NAME",
    default="resnet18",
    show_default=True,
    callback=checked(check_public_network),
    help="Name in torchvision.models.",
)
@click.option(
    "--size",
    type=COUNT,
    help="Pixels of each side to which images are scaled; needed where they differ.",
)
@click.option(
    "--examples",
    type=click.IntRange(min=2),
    metavar="N",
    help="Most images to take, evenly spaced over the folder; all where it is left out.",
)
def compare(a: Path | None, b: Path | None, data: Path | None, **options: object) -> None:
    """Compare two checkpoints: a table of curvature and scores, a sentence on which is flatter.

    A, B: files of weights, `.pt`, `.pth`, `.ckpt` or `.safetensors`.  Images are standardised as
    ImageNet's; for another network or other inputs call `fv.compare(a, b, data)` in Python.
    """
    check_compared([a, b, data])
    work("compare", a=a, b=b, data=data, **options)


@group.command(
    epilog="Example: flatviz run frontier -p seeds=10 --device auto --workers 2 --out frontier.html"
)
@click.argument("name", required=False)
@click.option(
    "-p",
    "parameters",
    multiple=True,
    metavar="NAME=VALUE",
    help="A parameter of the notebook; may be repeated.",
)
@click.option("--stored", is_flag=True, help="Compute nothing: read the stored table.")
@click.option("--yes", is_flag=True, help="Start a run whose estimate exceeds ten minutes.")
@DATA
@SEED
@click.option("--seeds", type=COUNT, help="Number of seeds.")
@DEVICE
@WORKERS
@out(None, "the notebook with its results as one page, which needs no network")
@out(None, "the long table (CSV)", "--table")
def run(
    name: str | None,
    parameters: tuple[str, ...],
    stored: bool,
    yes: bool,
    out: Path | None,
    table: Path | None,
    **options: object,
) -> None:
    """Run an experiment, and write its page and its table.

    NAME: a notebook of notebooks/experiments; without it all are listed with their parameters.

    Finished fits are kept in the cache, so a run that was stopped continues.
    """
    if name is None:
        for path in experiment_of():
            texts = [f"{n.lower()}={v}" for n, v in parameters_of(path).items()]
            print(f"{path.stem}: {', '.join(texts)}")
        return
    (path,) = experiment_of(name)
    options |= dict(save=table and table.absolute(), run=not stored)
    words = list(parameters)
    for option, value in options.items():
        if value is not None:
            words.append(f"{option}={value}")
    values = parsed(words, parameters_of(path), name)
    if not stored and not yes:
        refuse_long(path, values)
    work("run", path=path, values=values, out=out)


@group.command(epilog="Examples: flatviz docs --out site; flatviz docs --run 03 05")
@click.argument("names", nargs=-1)
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default="site",
    show_default=True,
    help="Folder to write the site to.",
)
@click.option("--run", is_flag=True, help="Run the notebooks and print their times; write nothing.")
@click.option(
    "--fast",
    is_flag=True,
    help="Small runs, to see that everything works; their numbers mean nothing.",
)
def docs(names: tuple[str, ...], **options: object) -> int | None:
    """Build the site: course, experiments and reference.

    NAMES: how the names of the notebooks to run begin (all); the others appear without results.
    Experiments read their stored tables.  The status is 1 if a notebook fails or Sphinx warns.
    """
    return work("docs", paths=notebooks(names), **options)


@group.command(epilog="Example: flatviz doctor")
def doctor() -> int | None:
    """Report what is installed and what works, with a fix for the rest.

    The status is 1 if `flatviz tour` cannot run.
    """
    return work("doctor")
