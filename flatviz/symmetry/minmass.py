"""The network of least mass among all that differ by scaling, and flatness under scaling."""

import torch
from torch import Tensor

from flatviz.checks import (
    Count,
    Positive,
    Seed,
    Several,
    Vector,
    Vectors,
    check_count,
    check_weights,
)
from flatviz.core import (
    ASAM,
    SAM,
    Data,
    Net,
    Objective,
    generator,
    public,
    randn_like,
    signs_like,
)
from flatviz.landscape.krylov import Operator
from flatviz.landscape.spectrum import top_eigenpairs
from flatviz.metrics.curvature import gains, quadratic_forms
from flatviz.noun import Noun
from flatviz.objectives.network import nll
from flatviz.planes.plane import filter_normalized
from flatviz.results import Curve
from flatviz.symmetry.actions import rescale, scaled_by
from flatviz.symmetry.removal import normed
from flatviz.symmetry.units import Layer, Units, units_of


class MinMass(Noun):
    """Equal networks `W` (S, E) of least mass, and the factors (S, V) that lead to them.

    `before` and `after` (S,) are the masses, `residual` (S,) the largest |in - out| / (in + out) of
    a unit, 0 at the minimum.  Units without incoming or outgoing weights are not scaled (factor 1)
    and not counted.
    """

    W: Tensor
    factor: Tensor
    before: Tensor
    after: Tensor
    residual: Tensor


@public
def min_mass(
    units: Units,
    W: Vectors,
    *,
    tolerance: Positive = 1e-12,
    max_sweeps: Count = 500,
) -> MinMass:
    """Minimise the mass sum_ij W_ij^2 (f_i / f_j)^2 of each row of W (S, E) over f > 0.

    The problem is convex in log f, strictly so where every unit is connected to inputs or outputs.
    For one unit, with a and b the squared lengths of its incoming and outgoing weights, f = (b /
    a)^(1/4) makes both sqrt(a b).  A sweep does so for all units of a layer at once, layer by
    layer, in float64; the search ends where a sweep removes less than `tolerance` of the mass.

    A normalisation undoes any scaling of the layer before, whose mass could fall to 0.  These units
    (`Units.free`) get incoming weights of length 1, as by `unit_norm`, and are not counted.  For a
    ResNet the mass is that of the last stage's gains and the head.  With BatchNorm the result is
    exact up to its eps.

    Args:
        units: Hidden units, as `units_of` returns.
        W: Weight vectors (S, E).
        tolerance: Share of the mass; a sweep that removes less ends the search.
        max_sweeps: Largest number of sweeps.

    Raises:
        ValueError: For a network that scaling would change.

    Source: the problem, Laurent et al. 2024 (arXiv 2310.08287); the steps, Stock et al. 2019 (arXiv
        1902.10416).

    Example:
        >>> import flatviz as fv
        >>> from torch import nn
        >>> net = fv.Net.from_module(nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2)))
        >>> least = fv.symmetry.min_mass(fv.symmetry.units_of(net), net.w[None])
        >>> bool(least.after < least.before), bool(least.residual < 1e-6)
        (True, True)
    """
    W = units.check("scale", W)
    # Networks in the last dimension, for reads in memory order
    counted = units.counted.to(W.device)
    masses = torch.where(counted, W.double().square(), 0)
    squares = masses.T.contiguous()
    steps = []
    for layer in units.scaled:
        steps += _steps(layer, units.counted)

    def lengths(rows: Tensor, columns: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Compute squared lengths into and out of units, and where both are above 0."""
        a = squares[rows].sum(1)
        b = squares[columns].sum(1)
        return a, b, (a > 0) & (b > 0)

    log_factor = squares.new_zeros(units.n_scaled, len(W))
    before = total = squares.sum(0)
    for _ in range(max_sweeps):
        for here, rows, columns in steps:
            a, b, connected = lengths(rows, columns)
            step = torch.where(connected, (b.log() - a.log()) / 4, 0)
            log_factor[here] += step
            square = (2 * step).exp()[:, None]
            squares[rows] *= square
            squares[columns] /= square
        last = total
        total = squares.sum(0)
        if not (last - total > tolerance * last).any():
            break
    factor = log_factor.T.exp().to(W.dtype)
    W = scaled_by(units, W, factor)
    W, normal = normed(units, W, units.free)
    apart = []
    for _, rows, columns in steps:
        a, b, connected = lengths(rows, columns)
        gap = (a - b).abs() / (a + b)
        apart.append(torch.where(connected, gap, 0))
    residual = torch.cat(apart).amax(0)
    return MinMass(W, factor * normal, before, total, residual)


def _steps(layer: Layer, counted: Tensor) -> list[tuple[slice, Tensor, Tensor]]:
    """Return units of a layer that no weight connects, with their weights in and out.

    These are all units, or one at a time where units feed each other.
    """
    rows = layer.rows[:, counted[layer.rows[0]]]
    columns = layer.columns[:, counted[layer.columns[0]]]
    if not torch.isin(rows, columns).any():
        return [(layer.slice, rows, columns)]
    steps = []
    for unit, (into, out) in enumerate(zip(rows, columns), layer.start):
        from_others = into[~torch.isin(into, out)]
        to_others = out[~torch.isin(out, into)]
        here = slice(unit, unit + 1)
        steps.append((here, from_others[None], to_others[None]))
    return steps


ASCENTS = SAM(0.05), ASAM(0.5, 0.0)
# Measures of `sharpness_measures`, in order
NAMES = "lambda1", "trace", "sam", "filter", "relative", "asam", "weighted"
PROBES = 20  # random signs for a trace
ITERS = 40  # products for an eigenvalue


def sharpness_measures(
    net: Net,
    f: Objective,
    W: Tensor,
    *,
    seed: int = 0,
) -> dict[str, Tensor]:
    """Compute seven measures of flatness at each row of `W` (S, D): name -> (S,).

    Rescaling of units changes

        lambda1, trace,
        sam = f(w + radius g / |g|) - f(w),
        filter = mean of d^T H d over filter-normalised directions d.

    The directions d are invariant to the scale of a filter, but not to that of one of its inputs.
    Not changed are

        relative = sum_st <w_s, w_t> Tr H_st over rows s, t of the first layer,
        asam, with eta = 0,
        weighted = sum_d w_d^2 H_dd.

    Traces are means over PROBES random signs, the same at every row.

    Sources: Li et al. 2018 (filter); Petzka et al. 2021 (relative); Kwon et al. 2021 (asam).
    """
    g = generator(seed)
    signs = signs_like(W, g, PROBES, net.dim)
    normal = randn_like(W, g, PROBES, net.dim)
    matrices = [block for block in net.blocks if len(block.shape) > 1]
    block = (matrices or net.blocks)[0]
    width = (block.stop - block.start) // block.shape[0]
    squares = signs_like(W, g, PROBES, width, width)

    def measures(w: Tensor) -> Tensor:
        H = Operator(f, w)
        sam, asam = gains(f, w, ASCENTS)
        filters = torch.stack([filter_normalized(net, d, w) for d in normal])
        layer = torch.zeros_like(signs)
        first = w[block.slice].view(-1, width)
        layer[:, block.slice] = (first @ squares).flatten(1)  # E z z^T = (W W^T) x identity
        top = top_eigenpairs(f, w, 1, iters=ITERS)
        lambda1 = top.values[0]
        trace, along_filters, relative, weighted = (
            quadratic_forms(H, V).mean() for V in (signs, filters, layer, signs * w)
        )
        values = [lambda1, trace, sam, along_filters, relative, asam, weighted]
        return torch.stack(values).detach()

    table = torch.stack([measures(w) for w in W])
    return dict(zip(NAMES, table.unbind(1)))


class Orbit(Noun):
    """One network rescaled: `W` (T, D) at `t` (T,), each unit's factor being direction^t.

    `measures` is name -> (T,); `difference` (T,) is the largest change of a logit from t = 0, where
    nothing is rescaled, and `scale` the largest logit.
    """

    t: Tensor
    W: Tensor
    measures: dict[str, Tensor]
    difference: Tensor
    scale: float

    @property
    def curves(self) -> list[Curve]:
        """Return each measure over its value at t = 0.

        `plot_curve(orbit.curves, barrier=False, log=True)` draws them.
        """
        axes = (
            "t: half of the units times exp(t), the others by exp(-t)",
            "measure / its value at t = 0",
        )
        middle = len(self.t) // 2
        return [
            Curve(self.t, values / values[middle], *axes, name)
            for name, values in self.measures.items()
        ]


@public
def rescaled_orbit(
    net: Net,
    data: Data,
    w: Vector,
    *,
    reach: Positive = 3.0,
    resolution: Several = 13,
    seed: Seed = 0,
) -> Orbit:
    """Rescale hidden units, which keeps the function, and compute `sharpness_measures` on the way.

    Half of the units of each layer, drawn by `seed`, grow by a factor exp(t) and the others shrink
    by it, t from -reach to reach.  The loss is the mean NLL of `data`, computed in the network's
    precision.

    Args:
        net: The network.
        data: Examples of the mean NLL.
        w: Weights (D,) to begin at, t = 0.
        reach: Largest |t|.
        resolution: Number of values of t.
        seed: Fixes the half of the units that grows.

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
    units = units_of(net)
    f = nll(net, data)
    odd = resolution - (resolution + 1) % 2
    t = torch.linspace(-reach, reach, odd).to(w)
    signs = signs_like(w, generator(seed), units.n_scaled)
    factor = (t[:, None] * signs).exp()
    W = rescale(units, w.expand(len(t), -1), factor)
    with torch.no_grad():
        outputs = torch.stack([net(v, data.x) for v in W])
    middle = outputs[len(t) // 2]
    difference = (outputs - middle).abs().flatten(1).amax(1)
    measures = sharpness_measures(net, f, W, seed=seed)
    return Orbit(t, W, measures, difference, float(middle.abs().max()))
