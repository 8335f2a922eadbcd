"""Data sets, each one function that returns a `Data` or a `Task`; their splits and corruptions."""

from flatviz.datasets.few_shot import few_shot as few_shot  # before its module of the same name stands in its place
from flatviz.lazy import lazy

__getattr__, __dir__, __all__ = lazy(
    __name__,
    {
        "corruptions": "CORRUPTIONS corrupt",
        "few_shot": "few_shot pick_classes transfer_task",
        "given": "data_from stream",
        "images": "image_folder images_like public_images",
        "tasks": "digits_transfer moons_transfer named_task",
    },
)
