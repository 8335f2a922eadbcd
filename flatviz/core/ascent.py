"""SAM-family perturbations.

The step e of the weights at which a flat-seeking method takes its gradient.

    g = grad L(w),  e = ascent(w, g),  and the method goes on with grad L(w + e), same minibatch,
        same noise

Given as `ascent=` to a fit, they make it flat-seeking (SWAG becomes F-SWAG); `sharpness` measures
with the same formulas.  Each is a pure function of w and g, (D,) or, for B members trained at once,
(B, D) row by row.
"""

from __future__ import annotations

from torch import Tensor

from flatviz.checks import NonNegative, Radius
from flatviz.noun import Noun

TINY = 1e-12  # added to a norm: at a stationary point, where g is 0, e is 0


class SAM(Noun, eq=True):
    """Sharpness-aware minimisation.

    e = radius g / |g|, so |e| = radius (Euclidean; try 0.05 to 0.5).

    One norm over all treated weights.  Source: Foret et al. 2021.  Raises ValueError for a negative
    radius.

    Example:
        >>> import torch, flatviz as fv
        >>> fv.SAM(0.5)(torch.zeros(2), torch.tensor([3.0, 4.0]))
        tensor([0.3000, 0.4000])
    """

    radius: Radius

    def __call__(self, w: Tensor, g: Tensor) -> Tensor:
        """The perturbation e, of the shape of w."""
        return g * (self.radius / (_norm(g) + TINY))


class ASAM(Noun, eq=True):
    """Adaptive SAM: e = radius T^2 g / |T g| with T = |w| + eta, so |e / T| = radius (a ratio; try 0.5 to 2).

    Rescaling a layer and undoing it in the next leaves e / T as it was.  T is taken on all treated
    weights; the authors' code leaves biases at T = 1.  Source: Kwon et al. 2021.  Raises ValueError
    for a negative radius or eta.

    Example:
        >>> import torch, flatviz as fv
        >>> e = fv.ASAM(0.5, eta=0.0)(torch.tensor([1.0, 10.0]), torch.ones(2))  # a step grows with the size of its weight
        >>> round(float(e[1] / e[0]), 4)
        100.0
    """

    radius: Radius
    eta: NonNegative = 0.01

    def __call__(self, w: Tensor, g: Tensor) -> Tensor:
        """The perturbation e, of the shape of w."""
        scale = w.abs() + self.eta
        scaled = scale * g
        return scale * scaled * (self.radius / (_norm(scaled) + TINY))


class FisherSAM(Noun, eq=True):
    """Fisher SAM: e = radius (g / f) / sqrt(sum g^2 / f) with f = 1 + eta g^2, so sum f e^2 = radius^2.

    f is the identity plus eta times the diagonal empirical Fisher of the minibatch's mean gradient.
    g_i^2 is about
    |g|^2 / D, so f differs from 1, and this from SAM, only for eta near D / |g|^2.
    Source: Kim et al. 2022, its formula as two public ports read it.  Raises ValueError for a
    negative radius or eta.

    Example:
        >>> import torch, flatviz as fv
        >>> e = fv.FisherSAM(0.5, eta=1.0)(torch.zeros(2), torch.tensor([3.0, 4.0]))
        >>> round(float((e * e * torch.tensor([10.0, 17.0])).sum()), 4)  # f = 1 + eta g^2; the sum is radius^2
        0.25
    """

    radius: Radius
    eta: NonNegative = 1.0

    def __call__(self, w: Tensor, g: Tensor) -> Tensor:
        """The perturbation e, of the shape of w."""
        natural = g / (1 + self.eta * g.square())
        return natural * (self.radius / ((g * natural).sum(-1, keepdim=True).sqrt() + TINY))


def _norm(g: Tensor) -> Tensor:
    return g.norm(dim=-1, keepdim=True)
