"""Networks for a task, reproducible by seed; weights from a file."""

from flatviz.models.networks import convnet, learned_noise, mlp, resnet20
from flatviz.models.public import load_weights, torchvision_model


def __getattr__(name: str) -> object:
    way = ": torchvision's are fv.models.torchvision_model(task, 'resnet18'), and any other module"
    advice = "" if name.startswith("_") else f"{way} is read by fv.Net.from_module(module)"
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}{advice}")


__all__ = ["convnet", "learned_noise", "load_weights", "mlp", "resnet20", "torchvision_model"]
