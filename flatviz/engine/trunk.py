"""The trunk's activations, computed once, where one layer alone is treated, such as a head.

A network f(w, x) whose treated weights w are in one layer is g(w, h(x)).  The trunk h holds no
treated weight, and its BatchNorm statistics are fixed, so that h(x) is the same at every w.
`cache_trunk` returns g as a `Net` and h(x) as a `Data`.
"""

import os

import torch
from torch import Tensor, nn

from flatviz.core import Data, Fields, Net, Progress, public, run, track
from flatviz.engine.determinism import check_function, same_to_rounding, two_points

CHECKED = 8
BATCH = 256


class Tail(nn.Module):
    """One layer, under its name in the full network."""

    def __init__(self, module: nn.Module, name: str) -> None:
        super().__init__()
        self.name = name
        place: nn.Module = self
        *outer, last = name.split(".")
        for key in outer:
            place.add_module(key, nn.Module())
            place = place.get_submodule(key)
        place.add_module(last, module.get_submodule(name))

    def forward(self, z: Tensor) -> Tensor:
        """Compute the layer's outputs."""
        return self.get_submodule(self.name)(z)


@public
def cache_trunk(net: Net, data: Data, *, progress: Progress = False) -> tuple[Net, Data]:
    """Split the network at the module that holds all treated weights, and compute its inputs once.

    All verbs take the resulting pair in place of the old one.  Outputs on the first examples are
    compared with the full network's, at its weights and at others.  The new net has the same
    treated weights in the same order, so that priors and posteriors of one serve for the other.
    With the head alone treated, nearly all of a step's cost is saved.  BatchNorm of the trunk keeps
    its statistics, as with `batchnorm="frozen"`.

    Args:
        net: Network whose treated weights are in one module inside of it, which runs once.
        data: Examples that pass through the trunk; a test set, and each corrupted copy of it, needs
            another call.
        progress: True, None (where a terminal watches) or a function.

    Returns:
        (net, data), the module as a network and its inputs as examples.

    Raises:
        ValueError: If no one module inside holds all treated weights, if it does not run once on
            one row an example, or if outputs differ by more than rounding, for instance because
            further layers follow it.

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
    module = net.to_module().eval().requires_grad_(False)
    seen: list[tuple[Tensor, ...]] = []
    layers = [
        b.name.partition(".parametrizations.")[0].rpartition(".")[0] + "." for b in net.blocks
    ]
    name = os.path.commonprefix([layer.split(".") for layer in layers])
    name = ".".join(name).rstrip(".")
    if not name:
        raise ValueError(
            f"a trunk must come before one layer that holds all treated weights, got {net!r}: fit"
            " on the images"
        )
    module.get_submodule(name).register_forward_pre_hook(lambda _, inputs: seen.append(inputs))

    def trunk(x: Tensor | Fields) -> Tensor:
        seen.clear()
        run(module, x)
        if [tuple(len(z) for z in inputs if isinstance(z, Tensor)) for inputs in seen] != [
            (len(x),)
        ]:
            raise ValueError(
                f"{name!r} must run once, on a tensor of one row an example, got other calls: fit"
                " on the images"
            )
        return seen[0][0]

    with torch.no_grad():
        x = torch.cat(
            [
                trunk(data.x[i : i + BATCH])
                for i in track(range(0, len(data), BATCH), "trunk", progress)
            ]
        )
        # a Net puts weights in the order of the dict: that of the whole network, not of the layer's
        tail = Tail(net.to_module().eval().requires_grad_(False), name)
        late = Net(tail, {b.name: b.kind for b in net.blocks}, x[:2], net.frozen)
        if not all(
            same_to_rounding(late(w, x[:CHECKED]), net(w, data.x[:CHECKED]))
            for w in two_points(net)
        ):
            raise ValueError(
                "outputs from kept activations must be the network's, got others: fit on the images"
                " themselves"
            )
    return late, Data(x, data.y)
