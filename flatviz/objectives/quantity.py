"""Any number of a network's outputs as an objective: accuracy, calibration, the loss of averaged predictions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch import Tensor
from torch.nn import functional as F

from flatviz.checks import check_many_weights, check_weights
from flatviz.core.data import Data
from flatviz.core.net import Net
from flatviz.core.progress import Progress, track
from flatviz.engine.batchnorm import refresh_batchnorm
from flatviz.engine.determinism import check_function
from flatviz.engine.evaluate import Plan
from flatviz.engine.plan import EvaluationPlanner
from flatviz.storage.cache import tensor_digest
from flatviz.storage.digest import net_digest, value_digest


def _accuracy(out: Tensor, y: Tensor) -> Tensor:
    return (out.argmax(-1) == y).to(out.dtype).mean()


NAMED: dict[str, tuple[str, Callable[[Tensor, Tensor], Tensor]]] = {
    "accuracy": ("accuracy", _accuracy),
    "error": ("error rate", lambda out, y: 1 - _accuracy(out, y)),
    "nll": ("mean NLL (nats)", F.cross_entropy),
}


@dataclass(frozen=True, eq=False)
class Quantity:
    """g(w) = score(outputs (N, C), y) of one network at weights `w`; made by `quantity`.  Values, not gradients."""

    net: Net
    data: Data
    score: Callable[[Tensor, Tensor], Tensor]
    label: str
    statistics: Data | None = None
    key: str = field(default="")
    chunk: int = 4096

    @property
    def n(self) -> int:
        """Examples behind the value."""
        return len(self.data)

    @property
    def batchnorm(self) -> str | None:
        """Statistics used: 'frozen', 're-estimated' at each point, or None for a net without BatchNorm."""
        if not self.net.has_batchnorm:
            return None
        return "frozen" if self.statistics is None else "re-estimated"

    def __call__(self, w: Tensor) -> Tensor:
        """The value at `w` (D,)."""
        return self.many(check_weights(w, self.net.dim)[None])[0]

    def many(self, W: Tensor, *, progress: Progress = False) -> Tensor:
        """The value at each row of `W` (S, D); (S,)."""
        check_many_weights(W, self.net.dim)
        return torch.stack([self._one(w) for w in track(W, self.label, progress)])

    def over(
        self,
        origin: Tensor,
        axes: Tensor,
        points: int,
        *,
        exact: bool = False,
        precision: str | None = None,
        plan: dict | None = None,
    ):
        """Values at origin + coords @ axes, by the fast path where statistics are frozen."""
        if self.statistics is not None:
            if precision is not None:
                raise ValueError(
                    f"precision needs frozen BatchNorm statistics, got {precision!r} with statistics re-estimated at every "
                    "point: leave it out, or use batchnorm='frozen'"
                )
            return _Slow(self, origin, axes)
        shop = EvaluationPlanner(self.net, self.data, self._scored, additive=False)
        chosen = Plan(**plan) if plan else shop.plan(origin, axes, points, exact=exact, precision=precision)
        return shop.evaluator(origin, axes, chosen)

    def _one(self, w: Tensor) -> Tensor:
        with torch.no_grad():
            net = self.net if self.statistics is None else refresh_batchnorm(self.net, w, self.statistics)
            return self._scored(torch.cat([net(w, x) for x in self.data.x.split(self.chunk)]), self.data.y).to(w.dtype)

    def _scored(self, out: Tensor, y: Tensor) -> Tensor:
        value = torch.as_tensor(self.score(out, y)).detach()
        if value.numel() != 1:
            raise ValueError(f"a quantity must be one number, got shape {tuple(value.shape)} of {self.label}: take its mean")
        return value.reshape(())


class _Slow:
    """Values at origin + coords @ axes, one point after another."""

    def __init__(self, f: Quantity, origin: Tensor, axes: Tensor) -> None:
        self._f, self._origin, self._axes, self.plan = f, origin, axes, Plan()

    def __call__(self, coords: Tensor) -> Tensor:
        return self._f.many(self._origin + coords.to(self._axes) @ self._axes)


def quantity(
    net: Net,
    data: Data,
    what: str | Callable[[Tensor, Tensor], Tensor],
    *,
    label: str | None = None,
    batchnorm: str | Data = "frozen",
    key: str = "",
) -> Quantity:
    """Any number of the outputs as an objective for slices and paths: what(outputs (N, C), y (N,)) -> ().

    what: "accuracy", "error", "nll", or a function; a `Prediction`'s metric is
        `lambda out, y: fv.ece(fv.Prediction(out[None], y))`.
    batchnorm: "frozen", the net's statistics; a `Data`, from which they are re-estimated at every point.
    key: what to call a function of one's own in a cache on disk (a named one calls itself).
    Raises ValueError for an unknown name or choice, and for a net that `nll` would refuse.
    """
    if isinstance(what, str):
        if what not in NAMED:
            raise ValueError(f"what must be one of {', '.join(map(repr, NAMED))}, or a function of outputs and y, got {what!r}")
        key, (named, score) = what, NAMED[what]
    else:
        key = key and f"own {key} {value_digest(what)}"
        named, score = getattr(what, "__name__", "quantity").replace("<lambda>", "quantity"), what
    if not isinstance(batchnorm, Data) and batchnorm != "frozen":
        raise ValueError(f"batchnorm must be 'frozen' or a Data, got {batchnorm!r}")
    net, work = check_function(net, data.x)
    statistics = batchnorm if isinstance(batchnorm, Data) and net.has_batchnorm else None
    if key:
        extra = "" if statistics is None else tensor_digest(statistics.x)
        key = f"{key}/{net_digest(net)}/{tensor_digest(data.x, data.y)}/{extra}"
    return Quantity(net, data, score, label or named, statistics, key, work.chunk(data.x.device))
