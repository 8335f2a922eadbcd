"""Networks for a task, reproducible by seed; weights from a file."""

from flatviz.lazy import lazy

__getattr__, __dir__, __all__ = lazy(
    __name__,
    {
        "networks": "convnet learned_noise mlp resnet20",
        "public": "load_weights torchvision_model",
    },
)
