"""Data sets, each one function that returns a `Data` or a `Task`; their splits and corruptions."""

from flatviz.lazy import lazy

__getattr__, __dir__, __all__ = lazy(
    __name__,
    {
        "corruptions": "CORRUPTIONS corrupt",
        "given": "data_from stream",
        "images": "image_folder images_like public_images",
        "splits": "few_shot pick_classes transfer_task",
        "tasks": "digits_transfer moons_transfer named_task",
    },
)
