"""`flatviz compare`: two checkpoints of a torchvision network, and which of them is flatter."""

from pathlib import Path

from flatviz.cli.reporting import progress_of_command, table_text
from flatviz.core import Task
from flatviz.datasets.images import image_folder
from flatviz.models.public import PublicNet, load_weights, torchvision_model
from flatviz.widgets.compare import compare, duration, spaced


def work(
    a: Path,
    b: Path,
    data: Path,
    model: str,
    size: int | None,
    examples: int | None,
) -> None:
    """Compare two checkpoints."""
    images = image_folder(data, size=size)
    if examples:
        images = images.subset(spaced(len(images), examples))
    n_classes = len(images.class_names)
    blank = torchvision_model(Task(images, images, images, n_classes=n_classes), model)
    first = PublicNet(load_weights(blank.network, a), blank.side).eval()
    second = PublicNet(load_weights(blank.network, b), blank.side).eval()
    minutes = duration(first, images) / 60
    print(
        f"{len(images)} images: about {minutes:.1g} minutes, fewer with fewer --examples",
        flush=True,
    )
    two = compare(first, second, images, progress=progress_of_command())
    print(table_text(two.rows))
    print(two.sentence)
