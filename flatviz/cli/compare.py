"""`flatviz compare`: which of two checkpoints of a torchvision network is flatter, as one page."""

from pathlib import Path

import click

from flatviz.cli.options import PATH, module, out, progress_of_command, write_page
from flatviz.core import Task
from flatviz.datasets.images import image_folder
from flatviz.models.public import PublicNet, load_weights, torchvision_model


@click.command(epilog="Example: flatviz compare a.pt b.pt --data photos --model resnet18 --size 64")
@click.argument("a", type=PATH)
@click.argument("b", type=PATH)
@click.option(
    "--data",
    type=PATH,
    required=True,
    help="Folder of class folders with images, in the order of the outputs.",
)
@click.option(
    "--model",
    metavar="NAME",
    default="resnet18",
    show_default=True,
    help="Name in torchvision.models.",
)
@click.option(
    "--size",
    type=int,
    help="Pixels of each side to which images are scaled; needed where they differ.",
)
@click.option(
    "--examples",
    type=click.IntRange(min=2),
    help="Most images to take, evenly spaced over the folder; all where it is left out.",
)
@out("compare.html", "the page")
def command(
    a: Path, b: Path, data: Path, model: str, size: int | None, examples: int | None, out: Path
) -> None:
    """Compare two checkpoints: plane, path, curvature, scores, and a sentence on which is flatter.

    A, B: files of weights, `.pt`, `.pth`, `.ckpt` or `.safetensors`.  Images are standardised as
    ImageNet's; for another network or other inputs call `fv.compare(a, b, data)` in Python.
    """
    comparing = module("flatviz.widgets.compare", "lab")
    images = image_folder(data, size=size)
    if examples:
        images = images.subset(comparing.spaced(len(images), examples))
    blank = torchvision_model(
        Task(images, images, images, n_classes=len(images.class_names)), model
    )
    first, second = (
        PublicNet(load_weights(blank.network, path), blank.side).eval() for path in (a, b)
    )
    minutes = comparing.duration(first, images) / 60
    print(
        f"{len(images)} images: about {minutes:.1g} minutes, fewer with fewer --examples",
        flush=True,
    )
    two = comparing.compare(first, second, images, progress=progress_of_command())
    print(two.sentence)
    write_page(out, two.html)
