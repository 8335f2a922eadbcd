"""Small networks, made for a task, the same for the same seed."""

from flatviz.models.convnet import convnet
from flatviz.models.mlp import mlp

__all__ = ["convnet", "mlp"]
