"""Data sets, each one function that returns a `Data` or a `Task`; their splits and corruptions."""

from flatviz.datasets.corruptions import CORRUPTIONS, corrupt
from flatviz.datasets.few_shot import few_shot, pick_classes, transfer_task
from flatviz.datasets.given import data_from, stream
from flatviz.datasets.images import image_folder, images_like, public_images
from flatviz.datasets.tasks import digits_transfer, moons_transfer, named_task

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
