"""Choice of the treated (random) parameters of a module, and of its head."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from contextlib import contextmanager
from functools import partial
from typing import Any, Literal, get_args

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _NormBase
from torch.nn.modules.conv import _ConvNd
from torch.nn.modules.dropout import _DropoutNd

from flatviz.checks import shown
from flatviz.core.inputs import Fields, run
from flatviz.core.seeds import saved_rng
from flatviz.gaussian import Gaussian
from flatviz.noun import Noun
from flatviz.words import did_you_mean, first_few

NORM_TYPES = (_NormBase, nn.LayerNorm, nn.GroupNorm, nn.RMSNorm)
TreatedWord = Literal["trainable", "all", "norm+head", "head", "authors"]
Treated = TreatedWord | Callable[[str], bool]
# Parts of names in ResNets, and in vision transformers of timm and torchvision
RESNET_PARTS = ("bn", "fc")
TRANSFORMER_PARTS = ("norm", "ln", "head")


def choose(
    module: nn.Module,
    treated: Treated,
    head: str | None,
    example: Tensor | Fields | None,
    frozen: Set[str] = frozenset(),
) -> dict[str, str]:
    """Choose the treated parameters; return their names, in order, with the kind of each.

    Kinds are "norm", "head" and "other".  Only "all" and a function choose parameters in `frozen`.
    Normalisation layers are recognised by type.  "authors" is the rule of SA-BMA's released code,
    by parts of the name: "bn" and "fc" of a ResNet, which misses the BatchNorm of the shortcuts
    (`downsample.1`); "norm", "ln" and "head" of a vision transformer.

    Raises:
        ValueError: If a part is missing, nothing is chosen, or weights of several dtypes are.
    """
    words = get_args(TreatedWord)
    if not callable(treated) and treated not in words:
        raise ValueError(
            f"treated must be {', '.join(map(repr, words))} or a function of the name, got"
            f" {shown(treated)}{did_you_mean(treated, words)}"
        )
    parameters = dict(module.named_parameters())
    norms = _weights_of_norms(module)
    heads: set[str] = set()
    if treated in ("norm+head", "head", "authors") or head is not None:
        heads = _weights_of_head(module, find_head(module, example) if head is None else head)
    if treated == "norm+head" and not norms:
        raise ValueError(
            "treated='norm+head' needs a normalisation layer (BatchNorm, LayerNorm, GroupNorm,"
            f" ...), got none in {type(module).__name__}: use treated='head', 'all', or a function"
            " of the parameter's name"
        )
    if isinstance(treated, str):
        chosen = _by_word(treated, parameters, norms, heads)
        left_out = frozenset() if treated == "all" else frozen
        names = [name for name in parameters if name in chosen - left_out]
        if not names and chosen:
            raise ValueError(
                f"treated={shown(treated)} leaves out what requires_grad_(False) froze, got"
                f" {type(module).__name__}, of which {first_few(sorted(chosen))} are frozen: call"
                " requires_grad_(True) on what is to be treated, or choose it by treated='all' or"
                " a function of the name"
            )
    else:
        names = list(filter(treated, parameters))
    if not names:
        raise ValueError(
            f"treated must choose at least one parameter, got none of {len(parameters)}:"
            f" {list(parameters)[:5]}"
        )
    _refuse_several_dtypes({name: parameters[name] for name in names})
    kinds = dict.fromkeys(names, "other")
    kinds.update(dict.fromkeys(norms.intersection(names), "norm"))
    kinds.update(dict.fromkeys(heads.intersection(names), "head"))
    return kinds


def _by_word(
    word: str,
    names: Iterable[str],
    norms: set[str],
    heads: set[str],
) -> set[str]:
    """Choose names by a `TreatedWord`; "trainable" and "all" are all of them."""
    if word == "norm+head":
        return norms | heads
    if word == "head":
        return heads
    if word == "authors":
        return _by_authors(names)
    return set(names)


def _by_authors(names: Iterable[str]) -> set[str]:
    """Choose names as the released code does.  "layer1.bn2.weight" is of a ResNet, "subnet" not."""
    layers = {layer for name in names for layer in name.split(".")}
    is_resnet = any(layer.startswith("bn") for layer in layers)
    parts = RESNET_PARTS if is_resnet else TRANSFORMER_PARTS
    return {name for name in names if any(part in name for part in parts)}


def _weights_of_norms(module: nn.Module) -> set[str]:
    """Name the parameters of normalisation layers, which are recognised by type."""
    names: set[str] = set()
    for name, layer in module.named_modules():
        if isinstance(layer, NORM_TYPES):
            names.update(key for key, _ in layer.named_parameters(name, recurse=False))
    return names


def _weights_of_head(module: nn.Module, head: str) -> set[str]:
    """Name the parameters of the head; a tied one by its first name in the module."""
    of_head = set(map(id, named_head(module, head).parameters()))
    names = {name for name, p in module.named_parameters() if id(p) in of_head}
    if not names:
        raise ValueError(f"head {head!r} must hold parameters, got none: name another module")
    return names


def tied(module: nn.Module) -> dict[str, list[str]]:
    """Map the first name of each parameter that stands at several places to its other names."""
    names: dict[int, list[str]] = {}
    for name, parameter in module.named_parameters(remove_duplicate=False):
        names.setdefault(id(parameter), []).append(name)
    return {name: others for name, *others in names.values() if others}


def find_head(module: nn.Module, example: Tensor | Fields | None = None) -> str:
    """Find the name of the last `nn.Linear` or 1x1 convolution in execution order.

    It takes one forward pass in evaluation mode.  A 1x1 convolution is the head (as in SqueezeNet)
    where no Linear follows it.  There is a warning if the layer's number of outputs is not the
    network's, as a function with weights of its own then follows.

    Raises:
        ValueError: If there is none, or if no `example` is given and no guessed input shape fits.
    """
    candidates = {}
    for name, m in module.named_modules():
        if isinstance(m, nn.Linear) or _is_pointwise(m):
            candidates[name] = m
    if not candidates:
        raise ValueError(
            "the module must have a head, got no nn.Linear and no 1x1 convolution in"
            f" {type(module).__name__}: name it, head='classifier'"
        )
    called: list[tuple[str, Tensor]] = []

    def note(name: str, m: nn.Module, inputs: object, out: Tensor) -> None:
        called.append((name, out))

    hooks = [m.register_forward_hook(partial(note, name)) for name, m in candidates.items()]
    try:
        for x in guesses(module) if example is None else [example]:
            called.clear()
            try:
                with torch.no_grad(), saved_rng(), _evaluating(module):
                    outputs = run(module, x)
            except Exception as error:  # a guess may break a user's code in any way
                if example is None:
                    continue
                raise ValueError(
                    f"the module must take the example, got {error}: give another batch"
                ) from error
            if called:
                name, out = called[-1]
                _warn_of_function(candidates[name], name, out, outputs)
                return name
    finally:
        for hook in hooks:
            hook.remove()
    raise ValueError(
        f"could not find the head of {type(module).__name__}: {_reason(example)}, or name the"
        " module, head='classifier'"
    )


def _reason(example: object) -> str:
    """Say why no head was found, and what to do."""
    if example is None:
        return (
            "no guessed input shape passes through it: give a batch of inputs, net.with_example(x)"
            " or from_module(module, example=x)"
        )
    return "none of its layers runs by itself, as functions use their weights: call the layers"


@contextmanager
def _evaluating(module: nn.Module) -> Iterator[None]:
    """Put a module in evaluation mode for the block."""
    modes = [(part, part.training) for part in module.modules()]
    module.eval()
    try:
        yield
    finally:
        for part, mode in modes:
            part.training = mode


def _warn_of_function(
    layer: nn.Module,
    name: str,
    out: Tensor,
    outputs: Tensor,
) -> None:
    """Warn if the last Linear, whose outputs are `out`, is not what makes the network's outputs.

    A function with a weight then follows it, as F.linear with that of an embedding.
    """
    if not isinstance(layer, nn.Linear) or not outputs.ndim:
        return
    if outputs.shape[-1] != layer.out_features and outputs.numel() != out.numel():
        warnings.warn(
            f"the last Linear that runs is {name} with {layer.out_features} outputs, where the"
            f" network has {outputs.shape[-1]}: if a function with a weight follows, as F.linear"
            " with that of an embedding, name the head or make it a module",
            stacklevel=3,
        )


def _is_pointwise(m: nn.Module) -> bool:
    """Tell whether a layer is a convolution of kernel size 1: a Linear at each position."""
    return isinstance(m, _ConvNd) and set(m.kernel_size) == {1} and m.groups == 1


def guesses(module: nn.Module) -> list[Tensor]:
    """Return zero inputs that the first weighted layer could take, small images first."""
    weighted = (nn.Linear, _ConvNd, nn.Embedding)
    first = next((m for m in module.modules() if isinstance(m, weighted)), None)
    like = next(module.parameters())
    if isinstance(first, nn.Linear):
        return [like.new_zeros(2, first.in_features)]
    if isinstance(first, nn.Embedding):
        return [torch.zeros(2, 8, dtype=torch.long, device=like.device)]
    if first is None:
        return []
    inputs = []
    for side in (8, 28, 32, 64, 224):
        sides = [side] * len(first.kernel_size)
        inputs.append(like.new_zeros(2, first.in_channels, *sides))
    return inputs


def named_head(module: nn.Module, head: str) -> nn.Module:
    """Return the submodule of this name; a ValueError where there is none."""
    modules = dict(module.named_modules())
    if head not in modules:
        raise ValueError(
            f"head must name a module, got {shown(head)}: expected one of"
            f" {[n for n in modules if n][-5:]}, ..."
        )
    return modules[head]


def refuse_dropout(module: nn.Module) -> None:
    """Raise ValueError if dropout of the module is active."""
    active = []
    for name, m in module.named_modules():
        if m.training and has_dropout(m):
            active.append(name or type(m).__name__)
    if active:
        raise ValueError(
            "the module must be a function of its weights, got dropout left on in"
            f" {first_few(active)}: module.eval()"
        )


def _refuse_several_dtypes(treated: Mapping[str, Tensor]) -> None:
    """Raise ValueError for weights that cannot be one vector."""
    of_dtype = {weight.dtype: name for name, weight in treated.items()}
    if len(of_dtype) > 1:
        named = [f"{dtype} ({name})" for dtype, name in of_dtype.items()]
        raise ValueError(
            f"treated weights must have one dtype, got {' and '.join(named)}: module.float(), or"
            " treat those of one dtype"
        )


def has_dropout(layer: nn.Module) -> bool:
    """Tell whether a layer, in training mode, drops inputs at random."""
    if isinstance(layer, _DropoutNd):
        return layer.p > 0
    if isinstance(layer, nn.RNNBase):  # between its layers
        return layer.dropout > 0 and layer.num_layers > 1
    return isinstance(layer, nn.MultiheadAttention) and layer.dropout > 0


def classes_of(module: nn.Module, head: str) -> int:
    """Return the number of outputs C of the head; a ValueError for another kind of layer."""
    layer = _layer(module, head)
    return layer.out_features if isinstance(layer, nn.Linear) else layer.out_channels


def replace_head(
    module: nn.Module,
    n_classes: int,
    *,
    head: str | None = None,
    example: Tensor | Fields | None = None,
    seed: int = 0,
) -> str:
    """Put a new head of `n_classes` outputs into `module`, in place, and return its name.

    The new layer is of the same kind, width, dtype and device, at torch's initial values for
    `seed`.

    head: its name; without one, `find_head` finds it, by a pass of `example`.
    """
    name = find_head(module, example) if head is None else head
    old = _layer(module, name)
    with saved_rng(seed):
        like: dict[str, Any] = dict(
            bias=old.bias is not None,
            device=old.weight.device,
            dtype=old.weight.dtype,
        )
        if isinstance(old, nn.Linear):
            new: nn.Module = nn.Linear(old.in_features, n_classes, **like)
        else:
            names = ["stride", "padding", "dilation", "groups", "padding_mode"]
            if old.transposed:
                names.append("output_padding")
            like |= {name: getattr(old, name) for name in names}
            new = type(old)(old.in_channels, n_classes, old.kernel_size, **like)
    parent, _, key = name.rpartition(".")
    setattr(module.get_submodule(parent), key, new.train(old.training))
    return name


def _layer(module: nn.Module, name: str) -> nn.Linear | _ConvNd:
    layer = named_head(module, name)
    if name == "" or not isinstance(layer, (nn.Linear, _ConvNd)):
        raise ValueError(
            "a head to be replaced must be a Linear or a convolution inside the module, got"
            f" {name!r}, a {type(layer).__name__}: name its last layer, head='classifier.6'"
        )
    return layer


# A trunk's seed beside that of the treated weights, so that equal seeds draw other noise
TRUNK_SEED = 104_729


class RandomTrunk(Noun):
    """Gaussian prior of the untreated weights in `Net.trunk`, independent of the treated ones.

    `transfer(trunk="sampled")` makes one.

    Args:
        prior: A Gaussian over all A weights of the network, `net.restrict("all")`; its part on the
            treated weights is not used.
        treated: Places of the D treated weights among them.
        seed: Fixes the draws in training.
    """

    prior: Gaussian
    treated: Tensor
    seed: int = 0

    def all_weights(self, w: Tensor, trunk: Tensor) -> Tensor:
        """Combine treated weights `w` (D,) and a draw `trunk` (A,) to all weights (A,)."""
        return trunk.index_copy(0, self.treated, w)

    def joined(self, W: Tensor, *, seed: int) -> Tensor:
        """Combine draws `W` (S, D) with one trunk each to all weights (S, A)."""
        trunks = self.prior.sample(len(W), seed=(seed + TRUNK_SEED) % 2**63)
        return trunks.index_copy(1, self.treated, W.to(trunks))

    def to(self, device: torch.device | str | None, dtype: torch.dtype | None) -> "RandomTrunk":
        """Copy to a device and dtype."""
        q = self.prior
        prior = Gaussian(
            q.mean.to(device, dtype),
            q.log_std.to(device, dtype),
            q.factor.to(device, dtype),
        )
        return RandomTrunk(prior, self.treated.to(device), self.seed)
