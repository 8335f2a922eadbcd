"""Networks for a task, reproducible by seed; weights from a file."""

from flatviz.models.imagenet import efficientnet_lite0
from flatviz.models.networks import convnet, learned_noise, mlp, resnet20
from flatviz.models.public import load_weights, torchvision_model

__all__ = [
    "convnet",
    "efficientnet_lite0",
    "learned_noise",
    "load_weights",
    "mlp",
    "resnet20",
    "torchvision_model",
]
