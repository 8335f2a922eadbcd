"""`flatviz compare`.

Two checkpoints of one of torchvision's networks, which is flatter, as one page.
"""

from pathlib import Path

from flatviz.cli.reporting import module, progress_of_command, write_page
from flatviz.core import SAM, Data, Net, Task
from flatviz.datasets.images import image_folder
from flatviz.datasets.tasks import digits_transfer
from flatviz.models.networks import mlp
from flatviz.models.public import PublicNet, load_weights, torchvision_model
from flatviz.training.points import pretrain

RADIUS = 0.1
EPOCHS = 60  # of each example


def work(
    a: Path | None, b: Path | None, data: Path | None, model: str, size: int | None, out: Path
) -> None:
    """Compare two checkpoints, or two examples where no files are given."""
    compare = module("flatviz.widgets.compare", "lab").compare
    if a is None or b is None or data is None:
        first, second, images = examples()
    else:
        images = image_folder(data, size=size)
        classes = len(images.class_names)
        blank = torchvision_model(Task(images, images, images, n_classes=classes), model)
        first, second = (
            PublicNet(load_weights(blank.network, path), blank.side).eval() for path in (a, b)
        )
    two = compare(first, second, images, progress=progress_of_command())
    print(two.sentence)
    write_page(out, two.html)


def examples() -> tuple[Net, Net, Data]:
    """Two networks of scanned digits from one start, and the digits that they have not seen.

    A is trained by SGD, B by SAM.
    """
    task = digits_transfer(degrees=0.0)
    module = mlp(task, seed=0)
    print(f"A: {EPOCHS} epochs of SGD; B: {EPOCHS} epochs of SAM, radius {RADIUS}")
    how = dict(seed=0, epochs=EPOCHS, progress=progress_of_command())
    first, second = (
        pretrain(module, task.source, ascent=ascent, **how) for ascent in (None, SAM(RADIUS))
    )
    return first, second, task.test
