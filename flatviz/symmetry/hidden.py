"""The hidden units of a network: read from its graph, and each action checked on the network's outputs."""

from dataclasses import replace

import torch
from torch import Tensor
from torch.nn.modules.batchnorm import _BatchNorm

from flatviz.core import Net, generator, guesses, public
from flatviz.symmetry.actions import gathered, random_factor, random_order, random_signs, scaled_by
from flatviz.symmetry.graph import read_graph
from flatviz.symmetry.units import ACTIONS, Units, free_units, index_arrays, number_layers, refusals, refuse_untreated, still

TRIED = 3  # moves of each action
KEPT = 1e-3  # of an output's largest size, by which an action may change it: rounding adds up to less


@public
def units_of(net: Net) -> Units:
    """Hidden units of a network: which weights lead in and out of each, and which actions leave the function unchanged.

    Linear, Conv (grouped too), flatten between them, BatchNorm, LayerNorm, residual sums, pooling and elementwise
    functions are followed.  Units on any other path, as those of attention and of a transformer's blocks, stand still, as does
    a layer of which a weight is not treated: `Units.still` lists them.

    Raises:
        TypeError: For a module that torch.fx cannot trace.

    Example:
        >>> import flatviz as fv
        >>> from torch import nn
        >>> units = fv.symmetry.units_of(fv.Net.from_module(nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2))))
        >>> units.n_permutations, units.n_scaled
        (6, 3)
    """
    reading = read_graph(net)
    sizes = {b.name: (b.start, b.shape) for b in net.blocks}
    statistics, at = [], net.dim
    for name, value in net.buffers().items():
        if name in reading.rows:
            sizes[name] = (at, tuple(value.shape))
            statistics.append((name, at, at + value.numel()))
            at += value.numel()
    refuse_untreated(reading, sizes)
    permuted, number = number_layers(reading, "permuted")
    scaled, scale_number = number_layers(reading, "scaled")
    arrays = index_arrays(reading, sizes, at, number, scale_number)
    names = [b.name for b in net.blocks]
    units = Units(
        net.dim,
        permuted,
        scaled,
        **arrays,
        statistics=tuple(statistics),
        refused={a: refusals(reading, a) for a in ACTIONS},
        free=free_units(arrays, sum(n.n for n in scale_number)),
        still=still(reading, names),
    )
    changed = _changes(net, units)
    return replace(units, refused={action: units.refused[action] + changed.get(action, ()) for action in ACTIONS})


def _changes(net: Net, units: Units) -> dict[str, tuple[str, ...]]:
    """The actions that change outputs where the graph shows no reason: weights read past their layer, hooks, shared layers."""
    net, source = net.copy(), generator(0)
    for m in net.module.modules():
        if isinstance(m, _BatchNorm):
            m.eps = 0.0  # scaling is exact for no other
    v = units.extended(net)
    v = v * (1 + 0.2 * torch.rand(len(v), generator=source).to(v)) + 0.1 * v.square().mean().sqrt()
    x, before = _outputs(net, units, v)
    V = v.repeat(TRIED, 1)
    signs = torch.stack([-torch.ones(units.n_scaled).to(v), *(random_signs(units, v, seed=i) for i in range(1, TRIED))])
    moves = {
        "permute": (units.permuted, lambda: gathered(units, V, random_order(units, TRIED, seed=1).to(v.device))),
        "scale": (units.scaled, lambda: scaled_by(units, V, random_factor(units, TRIED, seed=1, std=0.3).to(v))),
        "flip": (units.scaled, lambda: scaled_by(units, V, signs)),
    }
    found = {}
    for action, (layers, move) in moves.items():
        if layers and not units.refused[action]:
            after = torch.stack([units.net_at(net, moved)(moved[: units.dim], x) for moved in move()])
            off = float(((after - before).abs().amax((0, 1)) / before.abs().amax(0).clamp_min(1e-30)).max())
            if not off <= KEPT:
                found[action] = (f"outputs that change by {off:.1%} (a hook, or a weight read past its layer)",)
    return found


def _outputs(net: Net, units: Units, v: Tensor) -> tuple[Tensor, Tensor]:
    """Inputs that pass, the net's example or a guess, and the outputs of the net at v."""
    guessed = [torch.randn(zeros.shape, generator=generator(0)).to(zeros) for zeros in guesses(net.module)]
    for x in guessed if net.example is None else [net.example]:
        try:
            return x, units.net_at(net, v)(v[: units.dim], x)
        except (RuntimeError, ValueError, AssertionError, IndexError):
            continue
    raise ValueError(
        f"units are found by comparing outputs, got no inputs that pass through {net!r}: "
        "give a batch of them, Net.from_module(module, example=x)"
    )
