"""The mean NLL under a Gaussian and its gradient in (mean, log_std, factor), by reparameterised draws.

w = mean + exp(log_std) z1 + z2 factor,  z1 and z2 standard normal,  g = grad NLL(w)
grad of E_q[NLL] in (mean, log_std, factor)  =  (g,  g exp(log_std) z1,  z2 (x) g)
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from flatviz.gaussian import Gaussian
from flatviz.training.gradient import Ascent, TrainingLoss, gradient, value_and_grad


class NoisyNLL:
    """Mean NLL over draws of a Gaussian, at noise and a minibatch that stay: `nll(q)`, and `nll.again(q')` for a second pass.

    `noise` holds (z1 (..., D), z2 (..., K)) of each draw.
    """

    def __init__(self, loss: TrainingLoss, index: Tensor | None, noise: list[tuple[Tensor, Tensor]]) -> None:
        self.loss, self.index, self.noise = loss, index, noise

    def __call__(
        self, q: Gaussian, *, blocks: int = 3, ascent: Ascent | None = None
    ) -> tuple[Tensor, tuple[Tensor, ...], Tensor | None]:
        """Value (...), its gradient in the first `blocks` of (mean, log_std, factor), and the loss gained by an `ascent`.

        With an `ascent` the gradient of each draw w is taken at w + e and flows to theta through the same noise.
        """
        at = partial(gradient, self.loss, index=self.index, ascent=ascent)
        return _averaged([_draw(at, q, z1, z2, blocks) for z1, z2 in self.noise])

    def again(self, q: Gaussian) -> tuple[Tensor, tuple[Tensor, ...], Tensor | None]:
        """The same noise and minibatch once more, at another q; what the loss trains along stays as it is."""

        def at(w: Tensor) -> tuple[Tensor, Tensor, None]:
            return *value_and_grad(self.loss, w, self.index, again=True), None

        return _averaged([_draw(at, q, z1, z2, 3) for z1, z2 in self.noise])


def _draw(
    at: Callable[[Tensor], tuple[Tensor, Tensor, Tensor | None]], q: Gaussian, z1: Tensor, z2: Tensor, blocks: int
) -> tuple[Tensor, tuple[Tensor, ...], Tensor | None]:
    """What `at(w)` gives at the draw of this noise, its gradient in w carried over to the first `blocks` of theta."""
    wide = q.std * z1
    value, g, gain = at(_plus_factor(q.mean + wide, z2, q.factor))
    if blocks < 3:
        return value, (g, g * wide)[:blocks], gain
    return value, (g, g * wide, z2.unsqueeze(-1) * (g if g.ndim == 1 else g.unsqueeze(-2))), gain


def _plus_factor(w: Tensor, z2: Tensor, factor: Tensor) -> Tensor:
    """W + z2 F, of one member or of each."""
    return torch.addmv(w, factor.T, z2) if w.ndim == 1 else w + (z2.unsqueeze(-2) @ factor).squeeze(-2)


def _averaged(passes: list[tuple]) -> tuple[Tensor, tuple[Tensor, ...], Tensor | None]:
    """Mean over draws of (value, gradient, gain)."""
    if len(passes) == 1:
        return passes[0]
    values, grads, gains = zip(*passes)
    gain = None if gains[0] is None else torch.stack(gains).mean(0)
    return torch.stack(values).mean(0), tuple(torch.stack(g).mean(0) for g in zip(*grads)), gain
