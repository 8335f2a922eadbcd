"""One network at several weight vectors: one after another, or in one pass, by stacked products or by torch.func.vmap.

A small network spends its time on Python, not on numbers: B members in one call cost little more than one.
"""

import warnings
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from flatviz.core import Inputs, Net, Progress, saved_rng, threads, track
from flatviz.engine.determinism import check_function, same_to_rounding, two_points, work_of


def forward(net: Net, W: Tensor, x: Tensor | Inputs, *, chunk: int | None = None, progress: Progress = False) -> Tensor:
    """Outputs (S, N, C) of weight vectors `W` (S, D) on inputs `x` (N, ...), without gradients.

    chunk: examples a batch; default: as many as keep its largest activation within `determinism.CACHE` bytes (CARD on a GPU),
    at least `determinism.LEAST`.

    Raises:
        ValueError: For several batches of a net whose outputs depend on the rest of a batch.
    """
    work = work_of(net, x)
    chunk = work.chunk(x.device) if chunk is None else chunk
    if chunk < len(x):
        check_function(net, x)
    with torch.no_grad(), threads(work.layer * min(chunk, len(x))):  # inference mode refuses gradients inside a forward pass
        if isinstance(x, Tensor):
            parts = x.split(chunk)
            return torch.stack([torch.cat([net(w, part) for part in parts]) for w in track(W, "predicting", progress)])
        parts = track(
            x.split(chunk), "predicting", progress, total=-(-len(x) // chunk)
        )  # each batch is read once, for all weights
        return torch.cat([torch.stack([net(w, part) for w in W]) for part in parts], dim=1)


Parts = tuple[Tensor, ...]  # the treated parameters, (B, size) each

# On a CPU, multiplications of one row beyond which one pass is no faster: it saves Python calls, and its larger arrays cost.
MOST, MOST_VMAPPED = 4_000_000, 16_000_000
MOST_BYTES = 2**29  # on a GPU, of the largest activation of all rows together: a gradient keeps that of every layer
CONVOLUTION = (nn.Conv2d, nn.MaxPool2d, nn.AdaptiveAvgPool2d)  # which may stand before the first treated layer
# Each acts on every number, or row, alone, so members may lie along an axis in front.
ELEMENTWISE = (nn.ReLU, nn.Tanh, nn.GELU, nn.SiLU, nn.Sigmoid, nn.Softplus, nn.LeakyReLU, nn.ELU, nn.Identity, nn.Dropout)


class Stacked:
    """A chain of layers read at several weight vectors: stacked(W (B, D), z) -> outputs (B, N, C).

    `z` is what `features(x)` gave: the inputs after the first layers that hold no treated weight, which are the same for
    all members and so computed once; (N, ...) shared, or (B, n, ...) one minibatch a member.
    """

    def __init__(self, net: Net, layers: list[tuple[str, nn.Module]]) -> None:
        self._places = {b.name: (i, b.shape) for i, b in enumerate(net.blocks)}
        self._sizes = [b.stop - b.start for b in net.blocks]
        first = next(i for i, (name, part) in enumerate(layers) if self._treats(name, part))
        self._before, self._after = layers[:first], layers[first:]

    def worth_batching(self, rows: int, n: int) -> bool:
        """Whether `rows` weight vectors at `n` inputs each are faster in one pass than one by one; always on a GPU."""
        linear = [part.weight for _, part in self._after if isinstance(part, nn.Linear)]
        return n * sum(weight.numel() for weight in linear if weight.device.type == "cpu") <= MOST

    def _treats(self, name: str, part: nn.Module) -> bool:
        return any(f"{name}.{key}".lstrip(".") in self._places for key, _ in part.named_parameters(recurse=False))

    @torch.no_grad()
    def features(self, x: Tensor) -> Tensor:
        """Inputs `x` (N, ...) after the layers that all members share, (N, F)."""
        for _, part in self._before:
            x = part(x)
        return x

    def __call__(self, W: Tensor, z: Tensor) -> Tensor:
        """Outputs (B, N, C) of the rows of `W` (B, D)."""
        W = W.split(self._sizes, dim=1)  # once: each slice of its own would cost a (B, D) buffer in the backward pass
        for name, part in self._after:
            z = self._layer(W, z, name, part)
        return z

    def _layer(self, W: Parts, z: Tensor, name: str, part: nn.Module) -> Tensor:
        if isinstance(part, nn.Linear):
            return self._linear(W, z, name, part)
        if isinstance(part, nn.LayerNorm):
            return self._layer_norm(W, z, name, part)
        return z if isinstance(part, nn.Flatten) else part(z)  # flat since `features`

    def _value(self, W: Parts, name: str, shared: Tensor | None) -> tuple[Tensor | None, bool]:
        """A parameter, and whether there is one for each member: (B, *shape)."""
        name = name.lstrip(".")
        if name not in self._places:
            return shared, False
        i, shape = self._places[name]
        return W[i].unflatten(1, shape), True

    def _linear(self, W: Parts, z: Tensor, name: str, part: nn.Linear) -> Tensor:
        weight, many = self._value(W, f"{name}.weight", part.weight)
        bias, many_bias = self._value(W, f"{name}.bias", part.bias)
        if many_bias:
            bias = bias[:, None]
        if not many:
            z = F.linear(z, weight)
        elif z.ndim == 2:  # one product for all members
            z = (z @ weight.flatten(0, 1).T).unflatten(1, weight.shape[:2]).transpose(0, 1)
        elif bias is not None:
            return torch.baddbmm(bias, z, weight.transpose(1, 2))
        else:
            z = torch.bmm(z, weight.transpose(1, 2))
        return z if bias is None else z + bias

    def _layer_norm(self, W: Parts, z: Tensor, name: str, part: nn.LayerNorm) -> Tensor:
        weight, many = self._value(W, f"{name}.weight", part.weight)
        bias, many_bias = self._value(W, f"{name}.bias", part.bias)
        if not (many or many_bias):
            return F.layer_norm(z, part.normalized_shape, weight, bias, part.eps)
        z = F.layer_norm(z, part.normalized_shape, eps=part.eps)
        if weight is not None:
            z = z * (weight[:, None] if many else weight)
        return z if bias is None else z + (bias[:, None] if many_bias else bias)


class Vmapped:
    """Any network read at several weight vectors by `torch.func.vmap`; called as `Stacked` is, which is faster where it applies."""

    def __init__(self, net: Net, x: Tensor) -> None:
        self._net, self._ndim, self._work = net, x.ndim, work_of(net, x)

    def worth_batching(self, rows: int, n: int) -> bool:
        """Whether `rows` weight vectors at `n` inputs each are faster in one pass than one by one, or fit a GPU's memory."""
        work = self._work
        return n * work.macs <= MOST_VMAPPED if self._net.device.type == "cpu" else rows * n * work.widest <= MOST_BYTES

    def features(self, x: Tensor) -> Tensor:
        """The inputs unchanged: every layer runs for each member."""
        return x

    def __call__(self, W: Tensor, x: Tensor) -> Tensor:
        """Outputs (B, N, C) of the rows of `W` (B, D); x (N, ...) shared, or (B, n, ...) one minibatch a member."""
        return torch.func.vmap(lambda w, x: self._net(w, x), (0, None if x.ndim == self._ndim else 0))(W, x)


def vmapped(net: Net, x: Tensor) -> Vmapped | None:
    """The network by vmap, or None where vmap fails, falls back to a loop, or gives other outputs than the network."""
    seen = net.look(x)
    if not isinstance(x, Tensor) or seen.writes or seen.draws:
        return None
    network = Vmapped(net, x)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # vmap warns where it has no rule for an operation
            return network if agrees(network, net, x) else None
    except (RuntimeError, ValueError, TypeError, Warning):
        return None


def stack(net: Net, x: Tensor) -> Stacked | None:
    """The network ready for several weight vectors at once, or None where it is no chain of layers that can be stacked.

    Linear, LayerNorm over the last axis, Flatten and functions of single numbers, in `nn.Sequential`, each used once, on
    inputs `x` that are flat when the first treated layer meets them; convolutions before that.
    """
    layers = chain_of(net)
    if layers is None or net.look(x).writes:
        return None
    stacked = Stacked(net, layers)
    return stacked if stacked.features(x[:1]).ndim == 2 and agrees(stacked, net, x) else None


def agrees(stacked: Stacked | Vmapped, net: Net, x: Tensor) -> bool:
    """Whether the stack gives the net's own outputs on the first examples, at its weights and at others, and their slopes."""
    if any(m._backward_hooks or m._backward_pre_hooks for m in net.module.modules()):
        return False  # neither way calls them
    few, W = x[:8], two_points(net)

    def seen(outputs: Callable[[Tensor], Tensor]) -> list[Tensor]:
        """Outputs, and the gradient of an arbitrary sum of them, whose terms do not cancel."""
        at = W.clone().requires_grad_()
        out = outputs(at)
        if not out.requires_grad:
            return [out]
        along = torch.linspace(1, 2, out[0].numel(), dtype=out.dtype, device=out.device).view_as(out[0])
        return [out.detach(), *torch.autograd.grad((out * along).sum(), at)]

    with torch.inference_mode(False), torch.enable_grad(), saved_rng():
        plain = seen(lambda at: torch.stack([net(w, few) for w in at]))
        got = seen(lambda at: stacked(at, stacked.features(few)))
    return len(got) == len(plain) and all(same_to_rounding(a, b) for pair in zip(got, plain) for a, b in zip(*pair))


def chain_of(net: Net) -> list[tuple[str, nn.Module]] | None:
    """The layers in order of execution where the network is a chain of those `stack` names."""
    layers = _chain(net.module, "")
    if layers is None:
        return None
    parts = [part for _, part in layers]
    tied = len({id(p) for p in net.module.parameters()}) != sum(len(list(part.parameters())) for part in parts)
    changed = any(m._forward_hooks or m._forward_pre_hooks or "forward" in vars(m) for m in net.module.modules())
    return None if tied or changed else layers


def _chain(module: nn.Module, name: str) -> list[tuple[str, nn.Module]] | None:
    """The layers in order of execution, or None."""
    if type(module) is nn.Sequential:
        layers: list[tuple[str, nn.Module]] = []
        for key, part in module._modules.items():  # `named_children` would leave out a second use
            inner = _chain(part, f"{name}.{key}".lstrip("."))
            if inner is None:
                return None
            layers += inner
        return layers
    one_axis = type(module) is nn.LayerNorm and len(module.normalized_shape) == 1
    whole = type(module) is nn.Flatten and (module.start_dim, module.end_dim) == (1, -1)
    fine = type(module) in (nn.Linear, *CONVOLUTION) or one_axis or whole or (type(module) in ELEMENTWISE and name)
    return [(name, module)] if fine else None
