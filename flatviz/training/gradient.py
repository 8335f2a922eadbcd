"""The one place where a gradient is taken, plainly or at the end of an ascent step."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

Ascent = Callable[[Tensor, Tensor], Tensor]  # (w, g) -> e, as in core/ascent.py
Loss = Callable[[Tensor, Tensor | None], Tensor]  # (w, index of the minibatch) -> mean loss


def gradient(loss: Loss, w: Tensor, index: Tensor | None, ascent: Ascent | None = None) -> tuple[Tensor, Tensor, Tensor | None]:
    """Loss at w, gradient (that of the loss at w + e with an `ascent`), and the loss gained by the ascent, or None.

    `w` is (D,), or (B, D) with a loss that gives (B,), one value a row.  Weight decay and priors are no part of either
    pass: they act at w.  The second pass sees the same minibatch; a loss with noise or statistics of its own has
    `loss.again(w, index)`, which replays the noise and leaves the statistics alone.
    """
    value, g = _value_and_grad(loss, w, index)
    if ascent is None:
        return value, g, None
    at_worst, g = _value_and_grad(getattr(loss, "again", loss), w.detach() + ascent(w.detach(), g), index)
    return value, g, at_worst - value


def _value_and_grad(loss: Loss, w: Tensor, index: Tensor | None) -> tuple[Tensor, Tensor]:
    w = w.detach().requires_grad_(True)
    value = loss(w, index)
    (g,) = torch.autograd.grad(value if value.ndim == 0 else value.sum(), w)
    return value.detach(), g
