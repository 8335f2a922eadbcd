"""The mean NLL under a Gaussian and its gradient in (mean, log_std, factor), by reparameterised draws.

w = mean + exp(log_std) z1 + z2 factor,  z1 and z2 standard normal,  g = grad NLL(w)
grad of E_q[NLL] in (mean, log_std, factor)  =  (g,  g exp(log_std) z1,  z2 (x) g), averaged over the draws
"""

from __future__ import annotations

from torch import Tensor

from flatviz.gaussian import Gaussian
from flatviz.training.gradient import Ascent, TrainingLoss, gradient, value_and_grad

Noise = tuple[Tensor, Tensor]  # z1 (..., S, D) and z2 (..., S, K) of S draws


class NoisyNLL:
    """Mean NLL over S draws of a Gaussian, at noise and a minibatch that stay: `nll(q)`, and `nll.again(q')` for a second pass.

    loss: of one weight vector where one member has one draw, else of rows (B S, D), the draws of a member side by side.
    index: (n,), (B, n) for B members, or None.
    """

    def __init__(self, loss: TrainingLoss, index: Tensor | None, noise: Noise) -> None:
        self.loss, self.noise = loss, noise
        draws = noise[0].shape[:-1]
        self.rows = draws.numel()
        if index is not None and self.rows > 1:
            index = index.unsqueeze(-2).expand(*draws, -1).reshape(self.rows, -1)
        self.index = index

    @property
    def first(self) -> Noise:
        """The noise z1 (..., D), z2 (..., K) of the first draw."""
        return self.noise[0][..., 0, :], self.noise[1][..., 0, :]

    def __call__(
        self, q: Gaussian, *, blocks: int = 3, ascent: Ascent | None = None
    ) -> tuple[Tensor, tuple[Tensor, ...], Tensor | None]:
        """Value (...), its gradient in the first `blocks` of (mean, log_std, factor), and the loss gained by an `ascent`.

        With an `ascent` the gradient of each draw w is taken at w + e and flows to theta through the same noise.
        """
        wide, w = self._draws(q)
        return self._averaged(wide, *gradient(self.loss, w, self.index, ascent), blocks)

    def again(self, q: Gaussian) -> tuple[Tensor, tuple[Tensor, ...], Tensor | None]:
        """The same noise and minibatch once more, at another q; what the loss trains along stays as it is."""
        wide, w = self._draws(q)
        return self._averaged(wide, *value_and_grad(self.loss, w, self.index, again=True), None, 3)

    def _draws(self, q: Gaussian) -> Noise:
        """Std z1 (..., S, D), and the draws as the loss takes them."""
        z1, z2 = self.noise
        wide = q.std.unsqueeze(-2) * z1
        w = q.mean.unsqueeze(-2) + wide + z2 @ q.factor
        return wide, w.flatten() if self.rows == 1 else w.flatten(0, -2)

    def _averaged(
        self, wide: Tensor, value: Tensor, g: Tensor, gain: Tensor | None, blocks: int
    ) -> tuple[Tensor, tuple[Tensor, ...], Tensor | None]:
        """Means over draws of value, gradient carried over to the first `blocks` of theta, and gain."""
        g, draws = g.view_as(wide), wide.shape[:-1]
        parts = [g.mean(-2)]
        if blocks > 1:
            parts.append((g * wide).mean(-2))
        if blocks > 2:
            parts.append(self.noise[1].mT @ g / draws[-1])
        return value.view(draws).mean(-1), tuple(parts), None if gain is None else gain.view(draws).mean(-1)
