"""The metric of a Hamiltonian chain, learnt in burn-in: directions in which the posterior is narrow get steps of their own size.

    G = E[grad U grad U^T] = E[Hessian of U]   over the target exp(-U), by parts: its large eigenvalues are the narrow directions v_j
    A = I - sum_j (1 - s_j) v_j v_j^T,   s_j the standard deviation of v_j^T z

A step then moves z by size A p with p ~ N(0, I), as if z were A y and y were sampled, which is nowhere much narrower than 1.  s_j
is measured, not taken as lambda_j^-1/2: where curvature varies, its mean is that of the narrowest places.
Source: Neal 2011 (arXiv 1206.1901), section 5.4.1, for the linear change of variables.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

LARGEST = 20_000  # numbers of z; beyond, A stays I, for what is seen would fill the memory
ABOVE_NOISE = 2.0


class Metric:
    """A as `scaled`.  The lists `places` and `slopes`, (C, d) each, and `rows`, sqrt(1 - s_j) v_j (d,), change in place."""

    def __init__(self) -> None:
        self.places: list[Tensor] = []
        self.slopes: list[Tensor] = []
        self.rows: list[Tensor] = []

    def see(self, z: Tensor, slope: Tensor) -> None:
        """Places (C, d) of the target, one a chain, and the gradients there."""
        if z.shape[1] <= LARGEST:
            self.places.append(z.clone())
            self.slopes.append(slope.clone())

    def renew(self) -> None:
        """A of what was seen since the last time.

        With n gradients in d dimensions G = I shows eigenvalues up to (1 + sqrt(d / n))^2 (Marchenko and Pastur 1967): those of
        twice that and more are kept.
        """
        n = sum(map(len, self.places))
        if n < 2:
            return
        z, g = (torch.cat(seen).double() for seen in (self.places, self.slopes))
        d = z.shape[1]
        _, singular, vectors = torch.linalg.svd(g, full_matrices=False)
        narrow = vectors[singular.square() / n > ABOVE_NOISE * (1 + math.sqrt(d / n)) ** 2]
        if len(narrow):
            share = (1 - (z @ narrow.T).std(0)).clamp_min(0)
            narrow = share.sqrt()[:, None] * narrow
        self.rows[:] = narrow.to(self.places[0]).unbind()
        self.places.clear()
        self.slopes.clear()

    def scaled(self, x: Tensor) -> Tensor:
        """A x for each row of x (C, d)."""
        if not self.rows:
            return x
        rows = torch.stack(self.rows)
        return x - (x @ rows.T) @ rows
