"""Small networks, made for a task, the same for the same seed."""

from flatviz.models.convnet import convnet
from flatviz.models.mlp import mlp
from flatviz.models.optunet import optunet

__all__ = ["convnet", "mlp", "optunet"]
