"""`flatviz compare`: which of two checkpoints of a torchvision network is flatter, as one page."""

from pathlib import Path

from flatviz.cli.reporting import module, progress_of_command, write_page
from flatviz.core import Task
from flatviz.datasets.images import image_folder
from flatviz.models.public import PublicNet, load_weights, torchvision_model


def work(
    a: Path,
    b: Path,
    data: Path,
    model: str,
    size: int | None,
    examples: int | None,
    out: Path,
) -> None:
    """Compare two checkpoints."""
    comparing = module("flatviz.widgets.compare", "lab")
    images = image_folder(data, size=size)
    if examples:
        images = images.subset(comparing.spaced(len(images), examples))
    n_classes = len(images.class_names)
    blank = torchvision_model(Task(images, images, images, n_classes=n_classes), model)
    first = PublicNet(load_weights(blank.network, a), blank.side).eval()
    second = PublicNet(load_weights(blank.network, b), blank.side).eval()
    minutes = comparing.duration(first, images) / 60
    print(
        f"{len(images)} images: about {minutes:.1g} minutes, fewer with fewer --examples",
        flush=True,
    )
    two = comparing.compare(first, second, images, progress=progress_of_command())
    print(two.sentence)
    write_page(out, two.html)
