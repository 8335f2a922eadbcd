"""Another head for a module: a last layer with as many outputs as a task has classes."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn.modules.conv import _ConvNd

from flatviz.core.seeds import saved_rng
from flatviz.core.treated import find_head, named_head


def classes_of(module: nn.Module, head: str) -> int:
    """Outputs of the head, C.  Raises ValueError where it is neither a Linear nor a convolution."""
    layer = _layer(module, head)
    return layer.out_features if isinstance(layer, nn.Linear) else layer.out_channels


def replace_head(
    module: nn.Module, n_classes: int, *, head: str | None = None, example: Tensor | None = None, seed: int = 0
) -> str:
    """Put a new head of `n_classes` outputs into `module`, in place, and give its name.

    head: its name; without one, the last Linear or 1x1 convolution in execution order (`find_head`).  The new layer is of
    the same kind, width, dtype and device, at torch's own initial values for `seed`.
    """
    name = head if head is not None else find_head(module, example)
    old = _layer(module, name)
    with saved_rng(seed):
        like = dict(bias=old.bias is not None, device=old.weight.device, dtype=old.weight.dtype)
        if isinstance(old, nn.Linear):
            new: nn.Module = nn.Linear(old.in_features, n_classes, **like)
        else:
            new = type(old)(old.in_channels, n_classes, old.kernel_size, old.stride, old.padding, **like)
    parent, _, key = name.rpartition(".")
    setattr(module.get_submodule(parent), key, new.train(old.training))
    return name


def _layer(module: nn.Module, name: str) -> nn.Module:
    layer = named_head(module, name)
    if name == "" or not isinstance(layer, (nn.Linear, _ConvNd)):
        raise ValueError(
            f"a head to be replaced must be a Linear or a convolution inside the module, got {name!r}, "
            f"a {type(layer).__name__}: name its last layer, head='classifier.6'"
        )
    return layer
