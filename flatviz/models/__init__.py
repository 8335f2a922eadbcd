"""Networks, made for a task, the same for the same seed; weights from a file."""

from flatviz.models.public import torchvision_model
from flatviz.models.resnet import resnet20
from flatviz.models.small import convnet, mlp, optunet
from flatviz.models.weights import load_weights

__all__ = ["convnet", "load_weights", "mlp", "optunet", "resnet20", "torchvision_model"]
