"""torchvision's networks with a new head, and weights from a local file, without network access."""

import pickle
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace

import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn import functional as F

from flatviz.checks import check_path, shown
from flatviz.core import Task, copied, find_head, public, replace_head, saved_rng
from flatviz.words import check_choice

SUFFIXES = (".safetensors", ".pth", ".pt", ".bin", ".ckpt", ".tar")
# names of a state dict in a checkpoint
STATES = ("state_dict", "model_state_dict", "model", "net", "network", "module", "weights")
REBUILDS = {  # all that is called while a checkpoint with other objects is read
    ("collections", "OrderedDict"),
    ("torch._utils", "_rebuild_tensor"),
    ("torch._utils", "_rebuild_tensor_v2"),
    ("torch._utils", "_rebuild_parameter"),
}
# torchvision's older files lack it; it counts batches and changes no output
COUNTER = "num_batches_tracked"


@public
def load_weights(
    module: nn.Module,
    path: str | Path,
    *,
    new_head: bool = False,
    head: str | None = None,
    example: Tensor | None = None,
) -> nn.Module:
    """Copy `module` with the weights and statistics of a file; every name and shape must fit.

    Args:
        module: The network; it is not changed.
        path: `.safetensors`, or `.pth`, `.pt`, `.bin`, `.ckpt`, `.tar` with a state dict or a
            checkpoint that holds one, as of Lightning, timm or a user's loop: {"state_dict":
            ...}, {"model": ...}, {"net": ...}.  No code in the file runs: objects beside tensors
            are ignored.  Names may begin with what a wrapper adds, `module.`
            (DataParallel), `_orig_mod.` (torch.compile) or an attribute (Lightning's `model.`);
            tensors beside the network are then left out.
        new_head: Keep the values of the head in `module`, whatever the file holds for it, as for
            other classes.
        head: Name of the head; None: the last Linear or 1x1 convolution that runs.
        example: A batch of inputs to find the head by.

    Raises:
        FileNotFoundError: For a path where there is no file.
        ValueError: For a damaged file, another kind of content, NaN, a negative variance, and for
            names, shapes or kinds of numbers that do not fit, which are named.

    Example:
        >>> import tempfile, torch, flatviz as fv
        >>> module, path = torch.nn.Linear(2, 3), f"{tempfile.mkdtemp()}/net.pt"
        >>> torch.save(module.state_dict(), path)
        >>> torch.equal(fv.models.load_weights(torch.nn.Linear(2, 3), path).weight, module.weight)
        True
    """
    initial = module.state_dict()
    names = [name for name in initial if not name.endswith(COUNTER)]
    state = _of_network(read_state(path), names, path)
    if new_head:
        head = head if head is not None else find_head(copied(module).eval(), example)
        of_head = f"{head}."
        state = {name: t for name, t in state.items() if not name.startswith(of_head)}
        state |= {name: t for name, t in initial.items() if name.startswith(of_head)}
    return with_state(module, state, path)


def with_state(module: nn.Module, state: Mapping[str, Tensor], path: str | Path) -> nn.Module:
    """Copy a module with the tensors of a file, whose names and shapes must fit.

    Raises:
        ValueError: As `load_weights`.
    """
    initial = module.state_dict()
    loaded = copied(module)
    counters = {name: t for name, t in initial.items() if name.endswith(COUNTER)}
    for name, value in state.items():
        if name not in initial:
            continue
        if wrong := _unlike(name, value, initial[name]):
            raise ValueError(f"weights must be {wrong} in {name} of {str(path)!r}")
    try:
        loaded.load_state_dict({**counters, **state})
    except RuntimeError as error:  # its text names the entries that do not fit
        raise ValueError(
            f"the weights of {str(path)!r} must fit the module, got {error}: make the module that"
            " they belong to; where only the head differs, new_head=True leaves it as it is"
        ) from error
    return loaded


def read_state(path: str | Path) -> dict[str, Tensor]:
    """Read the tensors of a file by name; errors as in `load_weights`."""
    check_path(path, "path")
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(
            f"path must be a file of weights, got {str(path)!r}, which is not there: check its name"
        )
    if path.suffix not in SUFFIXES:
        raise ValueError(f"path must end in {', '.join(SUFFIXES)}, got {str(path)!r}")
    content = _content(path)
    while isinstance(content, Mapping) and not _all_tensors(content):
        states = [content[name] for name in STATES if isinstance(content.get(name), Mapping)]
        if not states:
            break
        content = states[0]
    if not isinstance(content, Mapping) or not content or not _all_tensors(content):
        kind = "an object" if isinstance(content, _Inert) else f"a {type(content).__name__}"
        names = f" with {list(map(str, content))[:8]}" if isinstance(content, Mapping) else ""
        raise ValueError(
            "path must hold a state dict, names with tensors, or a checkpoint with one under"
            f" {', '.join(STATES)}, got {kind}{names} in {str(path)!r}: save"
            " module.state_dict()"
        )
    plain = {name.replace("_orig_mod.", ""): value for name, value in content.items()}
    if len(plain) < len(content):
        raise ValueError(
            "path must hold one tensor a name, got some with and without _orig_mod. in"
            f" {str(path)!r}: save module.state_dict() of one"
        )
    return plain


def _all_tensors(content: Mapping) -> bool:
    return all(isinstance(value, Tensor) for value in content.values())


def _kind(t: Tensor) -> str:
    """Name the kind of numbers of a tensor."""
    if t.is_floating_point():
        return "floating"
    if t.is_complex():
        return "complex"
    return "bool" if t.dtype == torch.bool else "whole"


def _unlike(name: str, value: Tensor, wanted: Tensor) -> str:
    """Say in which a tensor of a file differs in kind from the module's; "" where it does not."""
    if value.is_meta or value.layout != torch.strided or value.is_quantized:
        return f"plain tensors with numbers, got {value.layout} on {value.device}"
    if _kind(value) != _kind(wanted):
        return f"of the module's kind, {wanted.dtype}, got {value.dtype}"
    if not bool(torch.isfinite(value).all()):
        return "finite, got NaN or inf"
    if name.endswith("running_var") and bool((value < 0).any()):
        return f"variances >= 0, got {float(value.min()):g}"
    return ""


def _of_network(state: dict[str, Tensor], names: list[str], path: str | Path) -> dict[str, Tensor]:
    """Select the tensors of these names, without the prefix that most of them have in the file."""
    prefixes = Counter({"": 0})
    for name in state:
        for end in names:
            if f".{name}".endswith(f".{end}"):
                prefixes[name.removesuffix(end)] += 1
    (prefix, most), *others = prefixes.most_common()
    rivals = [other for other, n in others if 2 * n > len(names)]
    if prefixes[""] == most:
        prefix = ""
    elif rivals:
        raise ValueError(
            f"path must hold one network that fits, got those of {', '.join([prefix, *rivals])} in"
            f" {str(path)!r}: save one"
        )
    chosen = [name for name in state if name.startswith(prefix)]
    return {name.removeprefix(prefix): state[name] for name in chosen}


class _Inert:
    """Stand-in for an object that is no tensor; it accepts what pickle passes."""

    def __init__(self, *_: object, **__: object) -> None:
        """Do nothing."""

    __setstate__ = __setitem__ = append = extend = __init__


class _Called(_Inert):
    """Stand-in for a function that pickle may call, and change nothing of."""

    def __init__(self, function: Callable) -> None:
        self._function = function

    def __call__(self, *args: object) -> object:
        """Call the function."""
        return self._function(*args)


class _Unpickler(pickle.Unpickler):
    """Read the tensors of a pickled file; all other objects are inert, so that no code runs."""

    def find_class(self, module: str, name: str) -> object:
        if (module, name) not in REBUILDS:
            return _Inert
        found = super().find_class(module, name)
        return found if isinstance(found, type) else _Called(found)


def _content(path: Path) -> object:
    """Read a file; objects beside its tensors are inert."""
    try:
        return load_file(path) if path.suffix == ".safetensors" else _unpickled(path)
    except Exception as error:  # a damaged pickle raises any error
        reason = str(error).partition("\n")[0]
        raise ValueError(
            "path must hold tensors, as torch.save(module.state_dict(), path) writes them, got"
            f" {str(path)!r}, {path.stat().st_size} bytes: {reason}: it is damaged or no"
            " checkpoint, get it again"
        ) from error


def _unpickled(path: Path) -> object:
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError:  # it holds hyperparameters and other objects
        reader = SimpleNamespace(
            Unpickler=_Unpickler,
            load=lambda *a, **kw: _Unpickler(*a, **kw).load(),
            __name__="inert",
        )
        return torch.load(path, map_location="cpu", weights_only=False, pickle_module=reader)


# of ImageNet's channels: what the published weights expect
MEAN = (0.485, 0.456, 0.406)
STD = (0.229, 0.224, 0.225)
LOOKED = 8  # images whose range is looked at


class PublicNet(nn.Module):
    """Images (N, 1 or 3, H, W) in 0..1, resized and standardised, through `network`.

    side: Pixels to which images are resized; None: as they are.
    mean, std: Of the three channels, as the network's weights expect.
    """

    def __init__(
        self,
        network: nn.Module,
        side: int | None,
        mean: Sequence[float] = MEAN,
        std: Sequence[float] = STD,
    ) -> None:
        super().__init__()
        self.network = network
        self.side = side
        for name, numbers in (("mean", mean), ("std", std)):
            value = torch.tensor(numbers, dtype=torch.float32).view(3, 1, 1)
            self.register_buffer(name, value, persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        """Compute outputs (N, C)."""
        x = x.expand(-1, 3, -1, -1)
        if self.side is not None:
            x = F.interpolate(x, (self.side, self.side), mode="bilinear", align_corners=False)
        centred = x - self.get_buffer("mean")
        return self.network(centred / self.get_buffer("std"))


@public
def torchvision_model(
    task: Task,
    name: str,
    *,
    weights: str | Path | None = None,
    side: int | None = None,
    seed: int = 0,
) -> PublicNet:
    """Build a torchvision classifier ("resnet18", "vit_b_16", ...) with a new head for the task.

    The head has torch's initial values for `seed`; `transfer` draws it from the prior.  The module
    is in evaluation mode.

    Args:
        task: Gives channels and number of classes; images from 0 to 1, which the module
            standardises as for ImageNet.
        name: As in `torchvision.models.list_models()`.
        weights: None, random by `seed`; torchvision's name ("IMAGENET1K_V1", "DEFAULT"), downloaded
            once and checked; or a file, `.pth` as torchvision publishes it or `.safetensors`, for a
            machine without network.
        seed: Fixes the random weights, those of the new head included.
        side: Pixels to which images are enlarged inside the module; None: the side of a vision
            transformer, else as they are.

    Raises:
        ValueError: For an unknown name or weights, a file that does not fit, or inputs that are no
            images.
        RuntimeError: If a download fails.

    Example:
        >>> import torch, flatviz as fv
        >>> images = fv.Data(torch.rand(20, 3, 32, 32), torch.arange(20) % 10)
        >>> task = fv.Task(images, images, images, n_classes=10)
        >>> module = fv.models.torchvision_model(task, "resnet18", seed=0)
        >>> fv.Net.from_module(module, treated="norm+head").dim
        14730
    """
    from torchvision import models

    check_images(task, "torchvision_model")
    shape = task.input_shape
    check_choice(name, tuple(models.list_models(module=models)), "name")
    with saved_rng(seed):
        network = models.get_model(name, weights=None, **_without_auxiliary(name))
        network.eval().float()
    pixels = _fixed_side(network) or max(64, *shape[1:])
    example = torch.zeros(1, 3, pixels, pixels, dtype=torch.float32)
    if weights is not None and Path(weights).suffix in SUFFIXES:
        network = load_weights(network, weights, new_head=True, example=example)
    elif weights is not None:
        state = _downloaded(models, name, str(weights))
        network.load_state_dict(state, strict=not _without_auxiliary(name))
    replace_head(network, task.n_classes, example=example, seed=seed)
    return PublicNet(network, side or _fixed_side(network)).eval()


def check_images(task: Task, verb: str) -> None:
    """Refuse a task without images, and warn of pixels that are not from 0 to 1."""
    shape = task.input_shape
    if len(shape) != 3 or shape[0] not in (1, 3):
        raise ValueError(f"{verb} needs images (1 or 3, H, W), got inputs of shape {shape}")
    few = task.train.x[:LOOKED]
    assert isinstance(few, Tensor)  # as its shape says
    low, high = map(float, few.aminmax())
    if low < 0 or high > 1:
        warnings.warn(
            f"{verb} standardises inside the module and takes pixels from 0 to 1, got {low:.3g} to"
            f" {high:.3g}: give images as bytes (uint8), or divided by 255, not standardised",
            stacklevel=4,
        )


def _fixed_side(network: object) -> int | None:
    """Return the side in pixels that a vision transformer's position embedding fits."""
    from torchvision.models import VisionTransformer

    return network.image_size if isinstance(network, VisionTransformer) else None


def _without_auxiliary(name: str) -> dict[str, bool]:
    if name in ("googlenet", "inception_v3"):
        return dict(aux_logits=False, init_weights=True)
    return {}


def _downloaded(models: ModuleType, name: str, weights: str) -> dict[str, Tensor]:
    available = models.get_model_weights(name)
    short = weights.rpartition(".")[2]
    check_choice(short, tuple(available.__members__), "weights")
    try:
        return available[short].get_state_dict(progress=True, check_hash=True)
    except (OSError, RuntimeError) as error:
        raise RuntimeError(
            f"weights {shown(weights)} of {name} must be downloadable, got: {error}: fetch"
            f" {available[short].url} elsewhere and give its path, weights='.../file.pth'"
        ) from error
