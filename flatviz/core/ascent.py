"""Perturbations of the SAM family.

A flat-seeking method takes its gradient at w + e instead of w:

    g = grad L(w),  e = ascent(w, g),  then the step uses grad L(w + e) on the same minibatch

Pass one of them as `ascent=` to a fit to make it flat-seeking (SWAG becomes F-SWAG).  `sharpness`
uses the same formulas.  Each is a pure function of w and g, which are (D,), or (B, D) for B members
trained at once, row by row.
"""

from __future__ import annotations

import torch
from torch import Tensor

from flatviz.checks import NonNegative, Radius
from flatviz.noun import VALUES, Noun

TINY = 1e-12  # added to a norm, so that e is 0 at a stationary point


class SAM(Noun, eq=True):
    """Sharpness-aware minimisation: e = radius g / |g|.

    So |e| = radius, a Euclidean norm over all treated weights (try 0.05 to 0.5).  A negative radius
    is a ValueError.

    Source: Foret et al. 2021.

    Example:
        >>> import torch, flatviz as fv
        >>> fv.SAM(0.5)(torch.zeros(2), torch.tensor([3.0, 4.0]))
        tensor([0.3000, 0.4000])
    """

    radius: Radius

    def __call__(self, w: Tensor, g: Tensor) -> Tensor:
        """Return the perturbation e, of the shape of w."""
        wide = _wide(g)
        length = _norm(wide) + TINY
        return (wide * (self.radius / length)).to(g)


class ASAM(Noun, eq=True):
    """Adaptive SAM: e = radius T^2 g / |T g| with T = |w| + eta.

    So |e / T| = radius, a ratio (try 0.5 to 2).  Rescaling a layer and undoing it in the next one
    leaves e / T unchanged.  T covers all treated weights; the authors' code uses T = 1 for biases.
    A negative radius or eta is a ValueError.

    Source: Kwon et al. 2021.

    Example:
        >>> import torch, flatviz as fv
        >>> e = fv.ASAM(0.5, eta=0.0)(torch.tensor([1.0, 10.0]), torch.ones(2))
        >>> round(float(e[1] / e[0]), 4)  # a step grows with the size of its weight
        100.0
    """

    radius: Radius
    eta: NonNegative = 0.01

    def __call__(self, w: Tensor, g: Tensor) -> Tensor:
        """Return the perturbation e, of the shape of w."""
        scale = _wide(w).abs() + self.eta
        scaled = scale * g
        length = _norm(scaled) + TINY
        return (scale * scaled * (self.radius / length)).to(g)


class FisherSAM(Noun, eq=True):
    """Fisher SAM: e = radius (g / f) / sqrt(sum g^2 / f) with f = 1 + eta g^2.

    So sum f e^2 = radius^2.  f is the identity plus eta times the diagonal empirical Fisher of the
    minibatch's mean gradient.  As g_i^2 is about |g|^2 / D, it differs from SAM only for eta near
    D / |g|^2 or above.  A negative radius or eta is a ValueError.

    Source: Kim et al. 2022, with its formula as two public ports implement it.

    Example:
        >>> import torch, flatviz as fv
        >>> e = fv.FisherSAM(0.5, eta=1.0)(torch.zeros(2), torch.tensor([3.0, 4.0]))
        >>> f = torch.tensor([10.0, 17.0])  # 1 + eta g^2
        >>> round(float((f * e * e).sum()), 4)  # radius^2
        0.25
    """

    radius: Radius
    eta: NonNegative = 1.0

    def __call__(self, w: Tensor, g: Tensor) -> Tensor:
        """Return the perturbation e, of the shape of w."""
        wide = _wide(g)
        natural = wide / (1 + self.eta * wide.square())
        length = (wide * natural).sum(-1, keepdim=True).sqrt() + TINY
        return (natural * (self.radius / length)).to(g)


def _wide(t: Tensor) -> Tensor:
    """Return `t` in float32 at least, as squares and TINY are 0 or inf in float16."""
    return t.to(torch.promote_types(t.dtype, torch.float32))


def _norm(g: Tensor) -> Tensor:
    return g.norm(dim=-1, keepdim=True)


VALUES.update({cls.__name__: cls for cls in (SAM, ASAM, FisherSAM)})
