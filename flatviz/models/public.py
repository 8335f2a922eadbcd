"""torchvision's networks with a new head for the task's classes, at its published weights, those of a file, or random ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from flatviz.checks import check_choice
from flatviz.core.data import Task
from flatviz.core.heads import replace_head
from flatviz.core.seeds import saved_rng
from flatviz.models.weights import SUFFIXES, load_weights

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # of ImageNet's channels: what the published weights expect


class PublicNet(nn.Module):
    """Images (N, 1 or 3, H, W) from 0 to 1, enlarged to `side` and standardised as ImageNet's, through `network`."""

    def __init__(self, network: nn.Module, side: int | None) -> None:
        super().__init__()
        self.network, self.side = network, side
        self.register_buffer("mean", torch.tensor(MEAN).view(3, 1, 1), persistent=False)
        self.register_buffer("std", torch.tensor(STD).view(3, 1, 1), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        """Outputs (N, C)."""
        if x.shape[1] == 1:
            x = x.expand(-1, 3, -1, -1)
        if self.side is not None and self.side != x.shape[-1]:
            x = F.interpolate(x, (self.side, self.side), mode="bilinear", align_corners=False)
        return self.network((x - self.mean) / self.std)


def torchvision_model(
    task: Task, name: str, *, weights: str | Path | None = None, side: int | None = None, seed: int = 0
) -> nn.Module:
    """One of torchvision's classifiers ("resnet18", "resnet50", "vit_b_16", ...) with a new head for the task's classes.

    Args:
        task: gives channels and number of classes; images from 0 to 1, which the module standardises as ImageNet's.
        name: as in `torchvision.models.list_models()`.
        weights: None, random by `seed`; torchvision's name ("IMAGENET1K_V1", "DEFAULT"), downloaded once and checked; or a
            file, `.pth` as torchvision publishes it or `.safetensors`, for a machine without network.
        seed: of random weights and of the new head.
        side: pixels to which images are enlarged inside the module; None: the side of a vision transformer, else as they are.

    The head is at torch's initial values for `seed`; `transfer` gives it the prior's.  The module is in evaluation mode.

    Raises:
        ValueError: For an unknown name or weights, a file that does not fit, or inputs that are no images.
        RuntimeError: Where a download fails.
    """
    from torchvision import models

    shape = task.input_shape
    if len(shape) != 3 or shape[0] not in (1, 3):
        raise ValueError(f"torchvision_model needs images (1 or 3, H, W), got inputs of shape {shape}")
    check_choice(name, tuple(models.list_models(module=models)), "name")
    with saved_rng(seed):
        network = models.get_model(name, weights=None, **_without_auxiliary(name)).eval()
    example = torch.zeros(1, 3, *[_own_side(network) or max(64, *shape[1:])] * 2)
    if weights is not None:
        file = Path(weights)
        if file.suffix in SUFFIXES:
            network = load_weights(network, file, new_head=True, example=example)
        else:
            network.load_state_dict(_downloaded(models, name, str(weights)), strict=not _without_auxiliary(name))
    replace_head(network, task.n_classes, example=example, seed=seed)
    return PublicNet(network, side or _own_side(network)).eval()


def _own_side(network: Any) -> int | None:
    """Pixels of the side that a vision transformer's position embedding has places for."""
    from torchvision.models import VisionTransformer

    return network.image_size if isinstance(network, VisionTransformer) else None


def _without_auxiliary(name: str) -> dict[str, bool]:
    return dict(aux_logits=False, init_weights=True) if name in ("googlenet", "inception_v3") else {}


def _downloaded(models: Any, name: str, weights: str) -> dict[str, Tensor]:
    known = models.get_model_weights(name)
    short = weights.rpartition(".")[2]
    check_choice(short, tuple(known.__members__), "weights")
    try:
        return known[short].get_state_dict(progress=True, check_hash=True)
    except (OSError, RuntimeError) as error:
        raise RuntimeError(
            f"weights {weights!r} of {name} must be downloadable, got: {error}: fetch {known[short].url} elsewhere "
            "and give its path, weights='.../file.pth'"
        ) from error
