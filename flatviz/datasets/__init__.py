"""Data sets, each one function that returns a `Data` or a `Task`; their splits and corruptions."""

from flatviz.datasets.corruptions import CORRUPTIONS, corrupt
from flatviz.datasets.digits import digits_transfer
from flatviz.datasets.few_shot import few_shot, pick_classes, transfer_task
from flatviz.datasets.images import data_from, image_folder, images_like, public_images
from flatviz.datasets.moons import moons_transfer
from flatviz.datasets.named import named_task
from flatviz.datasets.stream import stream

__all__ = [
    "CORRUPTIONS",
    "corrupt",
    "data_from",
    "digits_transfer",
    "few_shot",
    "image_folder",
    "images_like",
    "moons_transfer",
    "named_task",
    "pick_classes",
    "public_images",
    "stream",
    "transfer_task",
]
