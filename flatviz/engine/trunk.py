"""Activations of a network before its only treated layer, such as a head, computed once.

A network f(w, x) whose treated weights w are in one layer is g(w, h(x)).  The trunk h holds no
treated weight, and its BatchNorm statistics are fixed, so that h(x) is the same at every w.
`cache_trunk` returns g as a `Net` and h(x) as a `Data`.
"""

import os

import torch
from torch import Tensor, nn

from flatviz.core import Data, Fields, Net, Progress, public, run, track
from flatviz.engine.determinism import check_function, same_to_rounding, two_points

CHECKED = 8  # examples on which the tail is compared with the full network
BATCH = 256  # examples that pass through the trunk at once


class Tail(nn.Module):
    """One layer of a module, whose weights have the same names as in the full module."""

    def __init__(self, module: nn.Module, name: str) -> None:
        super().__init__()
        self._layer_name = name  # `name` may be that of a layer
        parent: nn.Module = self
        *outer, last = name.split(".")
        for key in outer:  # empty modules on the way, for the name's sake
            parent.add_module(key, nn.Module())
            parent = parent.get_submodule(key)
        parent.add_module(last, module.get_submodule(name))

    def forward(self, z: Tensor) -> Tensor:
        """Compute the layer's outputs."""
        return self.get_submodule(self._layer_name)(z)


@public
def cache_trunk(net: Net, data: Data, *, progress: Progress = False) -> tuple[Net, Data]:
    """Split the network at the module that holds all treated weights, and compute its inputs once.

    All verbs take the returned pair in place of (net, data).  The new net has the same treated
    weights in the same order, so that priors and posteriors of one net serve for the other.  With
    the head alone treated, nearly all of a step's cost is saved.  BatchNorm of the trunk keeps its
    statistics, as with `batchnorm="frozen"`.

    As a check, outputs of both nets on the first examples are compared, at the net's weights and at
    others near them.

    Args:
        net: Network whose treated weights are in one module inside of it, which runs once.
        data: Examples that pass through the trunk.  A test set, and each corrupted copy of it,
            needs a call of its own.
        progress: True, None (where a terminal watches) or a function.

    Returns:
        (net, data), the module as a network and its inputs as examples.

    Raises:
        ValueError: If no single module inside holds all treated weights, if this module does not
            run once, on one row for each example, or if outputs of the two nets differ by more than
            rounding, for instance because further layers follow the module.

    Example:
        >>> import torch, flatviz as fv
        >>> nn = torch.nn
        >>> module = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
        >>> net = fv.Net.from_module(module, lambda name: name.startswith("2."))
        >>> data = fv.Data(torch.randn(10, 4), torch.arange(10) % 3)
        >>> late, features = fv.engine.cache_trunk(net, data)
        >>> features.x.shape
        torch.Size([10, 8])
        >>> torch.allclose(late(net.w, features.x), net(net.w, data.x), atol=1e-6)
        True
    """
    check_function(net, data.x[:CHECKED])
    name = _treated_module(net)
    if not name:
        raise ValueError(
            f"a trunk must come before one layer that holds all treated weights, got {net!r}: fit"
            " on the images"
        )
    module = net.to_module().eval().requires_grad_(False)
    calls: list[tuple[Tensor, ...]] = []  # positional arguments of each call of the treated module
    module.get_submodule(name).register_forward_pre_hook(lambda _, inputs: calls.append(inputs))

    def trunk(x: Tensor | Fields) -> Tensor:
        calls.clear()
        run(module, x)
        lengths = [len(z) for inputs in calls for z in inputs if isinstance(z, Tensor)]
        if len(calls) != 1 or lengths != [len(x)]:
            raise ValueError(
                f"{name!r} must run once, on a tensor of one row an example, got other calls: fit"
                " on the images"
            )
        return calls[0][0]

    with torch.no_grad():
        starts = track(range(0, len(data), BATCH), "trunk", progress)
        x = torch.cat([trunk(data.x[i : i + BATCH]) for i in starts])
        tail = Tail(net.to_module().eval().requires_grad_(False), name)  # a copy without the hook
        # A Net has its weights in the order of this dict: that of `net`, which may differ from the
        # layer's own
        kinds = {b.name: b.kind for b in net.blocks}
        tail_net = Net.of_parts(tail, kinds, x[:2], net.frozen)
        for w in two_points(net):
            got = tail_net(w, x[:CHECKED])
            if not same_to_rounding(got, net(w, data.x[:CHECKED])):
                raise ValueError(
                    "outputs from kept activations must be the network's, got others: fit on the"
                    " images themselves"
                )
    return tail_net, Data(x, data.y)


def _treated_module(net: Net) -> str:
    """Name the innermost module that holds all treated weights; "" for the whole network."""
    paths = []
    for block in net.blocks:
        # a parametrised weight is named "layer.parametrizations.weight.original0"
        weight = block.name.partition(".parametrizations.")[0]
        layer, _, _ = weight.rpartition(".")
        paths.append(layer.split("."))
    return ".".join(os.path.commonprefix(paths))  # which takes lists of any kind
