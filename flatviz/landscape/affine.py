"""What any objective can be asked: its values at many points, and what it is."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from flatviz.results import ObjectiveLike


def evaluate(f: ObjectiveLike, W: Tensor) -> Tensor:
    """f at each row of `W` (S, D), by its own fast path where it has one; (S,)."""
    many = getattr(f, "many", None)
    if many is not None:
        return many(W)
    with torch.no_grad():
        return torch.stack([torch.as_tensor(f(w), dtype=W.dtype, device=W.device) for w in W])


class Affine:
    """values(coords) = f(origin + coords @ axes) for coords (S, K); by f's own `over` where it has one.

    points: how many are coming; plan: a way of evaluating chosen before, as `plan` gave it (None where f has none).
    Raises ValueError where `precision` is asked of an f that has no fast path.
    """

    def __init__(
        self,
        f: ObjectiveLike,
        origin: Tensor,
        axes: Tensor,
        points: int,
        *,
        exact: bool = False,
        precision: str | None = None,
        plan: dict | None = None,
    ) -> None:
        over = getattr(f, "over", None)
        self.plan: dict | None = None
        if over is not None:
            values = over(origin, axes, points, exact=exact, precision=precision, plan=plan)
            self.plan = values.plan.to_dict()
        else:
            if precision is not None:
                raise ValueError(
                    f"precision={precision!r} needs an objective of a network, as nll makes, got {type(f).__name__}"
                )

            def values(coords: Tensor) -> Tensor:
                return evaluate(f, origin + coords @ axes)

        self._values: Callable[[Tensor], Tensor] = values

    @property
    def in_blocks(self) -> bool:
        """Whether several points together cost less than each alone; known after the first call."""
        return getattr(self._values, "in_blocks", False)

    def __call__(self, coords: Tensor) -> Tensor:
        """Values (S,) at origin + coords @ axes."""
        return self._values(coords)


def described(f: ObjectiveLike) -> dict:
    """What an objective says of itself: label, n, batchnorm."""
    return {
        "label": getattr(f, "label", "f(w)"),
        "n": getattr(f, "n", None),
        "batchnorm": getattr(f, "batchnorm", None),
    }


def whose_statistics(f: ObjectiveLike, a: Tensor, b: Tensor) -> str:
    """For a name: which net's frozen BatchNorm statistics were used from `a` at t = 0 to `b` at t = 1; else empty."""
    net = getattr(f, "net", None)
    if net is None or getattr(f, "batchnorm", None) != "frozen":
        return ""
    at = [t for t, end in ((0, a), (1, b)) if torch.equal(net.w.to(end), end)]
    owner = f"the net at t = {at[0]}" if at else "a net that is neither end"
    return f" with the BatchNorm statistics of {owner}"
