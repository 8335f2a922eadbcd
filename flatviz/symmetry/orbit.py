"""Which measures of flatness a rescaling of hidden units changes, though the function stays, and which not."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from flatviz.checks import Positive, Seed, Several, Vector, check_count, check_weights
from flatviz.core.ascent import ASAM, SAM
from flatviz.core.boundary import public
from flatviz.core.data import Data
from flatviz.core.net import Net
from flatviz.core.objective import Objective
from flatviz.core.seeds import generator
from flatviz.landscape.krylov import Operator
from flatviz.landscape.spectrum import top_eigenpairs
from flatviz.metrics.curvature import gains, quadratic_forms
from flatviz.objectives.network import nll
from flatviz.planes.random import normalized
from flatviz.results import SHARPNESS_LABELS, Curve
from flatviz.symmetry.actions import random_signs, rescale
from flatviz.symmetry.hidden import units_of

ASCENTS = SAM(0.05), ASAM(0.5, 0.0)
PROBES, ITERS = 20, 40  # random signs behind a trace; products behind an eigenvalue


def sharpness_measures(net: Net, f: Objective, W: Tensor, *, seed: int = 0) -> dict[str, Tensor]:
    """Seven measures of flatness at each row of `W` (S, D): name -> (S,), in the order of `SHARPNESS_LABELS`.

    lambda1, trace and sam (f(w + radius g / |g|) - f(w)) change when units are rescaled.  So does filter, the mean of
    d^T H d over filter-normalised directions d, which are invariant to the scale of a filter but not to that of one input
    of it.  relative = sum_st <w_s, w_t> Tr H_st over rows s, t of the first layer does not see the scale of units (of a later layer
    it would see that of the units it reads), nor do asam (with eta = 0) and weighted = sum_d w_d^2 H_dd.
    Traces are means over PROBES random signs, the same ones at every row.
    Sources: Li et al. 2018 (filter); Petzka et al. 2021 (relative); Kwon et al. 2021 (asam).
    """
    g = generator(seed)
    signs = torch.randint(0, 2, (PROBES, net.dim), generator=g).to(W) * 2 - 1
    normal = torch.randn(PROBES, net.dim, generator=g, dtype=W.dtype).to(W.device)
    block = next((b for b in net.blocks if len(b.shape) > 1), net.blocks[0])
    width = (block.stop - block.start) // block.shape[0]
    squares = torch.randint(0, 2, (PROBES, width, width), generator=g).to(W) * 2 - 1

    def measures(w: Tensor) -> Tensor:
        H, (sam, asam) = Operator(f, w), gains(f, w, ASCENTS)
        filters = torch.stack([normalized(net, d, w) for d in normal])
        layer = torch.zeros_like(signs)
        layer[:, block.slice] = (w[block.slice].view(-1, width) @ squares).flatten(1)  # E z z^T = (W W^T) x identity
        top = top_eigenpairs(f, w, 1, iters=ITERS).values[0]
        trace, along_filters, relative, weighted = (quadratic_forms(H, V).mean() for V in (signs, filters, layer, signs * w))
        return torch.stack([top, trace, sam, along_filters, relative, asam, weighted]).detach()

    return dict(zip(SHARPNESS_LABELS, torch.stack([measures(w) for w in W]).unbind(1)))


@dataclass(frozen=True, eq=False)
class Orbit:
    """One network rescaled: `W` (T, D) at `t` (T,), t = 0 where it came, each unit's factor direction^t.

    `measures` name -> (T,); `difference` (T,) is the largest change of a logit from that at t = 0, `scale` the largest logit.
    """

    t: Tensor
    W: Tensor
    measures: dict[str, Tensor]
    difference: Tensor
    scale: float

    @property
    def curves(self) -> list[Curve]:
        """Each measure over its value at t = 0: `plot_curve(orbit.curves, barrier=False, log=True)` draws them."""
        axes = "t: half of the units times exp(t), the others by exp(-t)", "measure / its value at t = 0"
        return [Curve(self.t, v / v[len(v) // 2], *axes, name) for name, v in self.measures.items()]


@public
def rescaled_orbit(
    net: Net, data: Data, w: Vector, *, reach: Positive = 3.0, resolution: Several = 13, seed: Seed = 0
) -> Orbit:
    """The same function at other weights: hidden units rescaled, and every measure of `sharpness_measures` there.

    Half of the units of each layer, drawn by `seed`, grow by a factor exp(t) and the others shrink by it, t from -reach
    to reach.  The loss is the mean NLL of `data`, computed in the network's precision.

    Raises:
        ValueError: For a network that scaling would change.

    Example:
        >>> import torch, flatviz as fv
        >>> from torch import nn
        >>> x = torch.randn(20, 4, generator=torch.Generator().manual_seed(0))
        >>> data = fv.Data(x, (x[:, 0] > 0).long())
        >>> net = fv.Net.from_module(nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2)))
        >>> orbit = fv.symmetry.rescaled_orbit(net, data, net.w, reach=2.0, resolution=5)
        >>> float(orbit.difference.max()) < 1e-4 * orbit.scale, orbit.measures["lambda1"].shape
        (True, torch.Size([5]))
    """
    check_weights(w, net.dim)
    check_count(resolution, "resolution", least=3)
    units, f = units_of(net), nll(net, data)
    t = torch.linspace(-reach, reach, resolution - (resolution + 1) % 2).to(w)
    W = rescale(units, w.expand(len(t), -1), (t[:, None] * random_signs(units, w, seed=seed)).exp())
    with torch.no_grad():
        outputs = torch.stack([net(v, data.x) for v in W])
    middle = outputs[len(t) // 2]
    difference = (outputs - middle).abs().flatten(1).amax(1)
    return Orbit(t, W, sharpness_measures(net, f, W, seed=seed), difference, float(middle.abs().max()))
