"""SGD on flat weight vectors: minibatches, rate, losses and the loop, shared by everything that is trained."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Sequence

import torch
from torch import Tensor

from flatviz.core.net import Net
from flatviz.core.seeds import generator
from flatviz.gaussian import Gaussian
from flatviz.results import History
from flatviz.storage.files import State
from flatviz.training.gradient import TrainingLoss, gradient
from flatviz.training.loop import advance
from flatviz.training.run import Run
from flatviz.training.stopping import EarlyStopping

FAR = 10.0  # nats an example, beside ten times the first loss: a wide posterior at T = 1 raises the loss by less


def minibatches(n: int, batch_size: int | None, seed: int | Sequence[int], device: torch.device) -> Iterator[Tensor | None]:
    """Indices of minibatches (batch,) without end, (B, batch) of a list of B seeds; None, all examples, where one batch holds them."""
    if batch_size is None or batch_size >= n:
        while True:
            yield None
    several = isinstance(seed, Sequence)
    sources = [generator(one) for one in (seed if several else [seed])]
    while True:  # an epoch at a time: a thousand members are not asked one by one in every step
        orders = [torch.randperm(n, generator=source) for source in sources]
        yield from (torch.stack(orders) if several else orders[0]).to(device).split(batch_size, dim=-1)


def steps_per_epoch(n: int, batch_size: int | None) -> int:
    """Minibatches in one pass over n examples."""
    return 1 if batch_size is None else math.ceil(n / batch_size)


def cosine(step: int, steps: int, last: float = 0.0) -> float:
    """Factor on the learning rate: 1 at step 0, falling to `last` along half a cosine."""
    return last + (1 - last) * 0.5 * (1 + math.cos(math.pi * step / steps))


def constant(step: int, steps: int) -> float:
    """Factor on the learning rate: 1 at every step."""
    return 1.0


def sgd(
    loss: TrainingLoss,
    w: Tensor,
    batches: Iterator[Tensor | None],
    run: Run,
    *,
    schedule: Callable[[int, int], float] = cosine,
    after: Callable[[int, Tensor], None] | None = None,
    state: State | None = None,
) -> tuple[Tensor, History]:
    """SGD with momentum m and coupled weight decay wd: v <- m v + g + wd w,  w <- w - lr schedule(step, steps) v.

    g is the gradient at w, or with the run's ascent at w + e; weight decay acts at w.  `w` is (D,), or (B, D) for members
    trained at once.  `after(step, w)` sees the new weights, and what it changes is in `state`, so that a checkpoint
    holds it.  Returns the weights and the history.

    Raises:
        Diverged: If the loss becomes NaN or inf.
    """
    w, optim = w.detach().clone(), run.optim
    velocity = torch.zeros_like(w)

    def update(step: int, index: Tensor | None) -> tuple[Tensor, Tensor | None]:
        value, g, gain = gradient(loss, w, index, run.ascent)
        if optim.weight_decay:
            g = g.add(w, alpha=optim.weight_decay)
        velocity.mul_(optim.momentum).add_(g)
        w.add_(velocity, alpha=-optim.lr * schedule(step, optim.steps))
        if after is not None:
            after(step, w)
        return value, gain

    stopping = early_stopping(loss, [w], lambda: w, run, members=None if w.ndim == 1 else len(w))
    return w, recorded(loss, {"w": w, "velocity": velocity, **(state or {})}, update, batches, run, stopping)


def recorded(
    loss: TrainingLoss,
    state: State,
    update: Callable[[int, Tensor | None], tuple[Tensor, Tensor | None]],
    batches: Iterator[Tensor | None],
    run: Run,
    stopping: EarlyStopping | None = None,
    *,
    check: bool = True,
) -> History:
    """`advance` for the run's steps; the history of what `update` gives: loss, and loss gained by an ascent or None.

    Raises:
        Diverged: If the loss, or a floating tensor of `state`, becomes NaN or inf, with `check`.
    """
    losses, gains = [], []

    def noted(step: int, index: Tensor | None) -> None:
        value, gain = update(step, index)
        losses.append(value)
        if gain is not None:
            gains.append(gain)

    everything = {**state, "losses": losses, "gains": gains, **loss.state}
    examples = None if loss.data is None else min(run.optim.batch_size or len(loss.data), len(loss.data))
    advance(everything, noted, batches, run.optim.steps, run, stopping, examples=examples)
    checks = None if stopping is None else torch.stack(stopping.losses)
    loss, sharpness = torch.stack(losses), torch.stack(gains) if gains else None
    if not check:
        return History(loss, sharpness=sharpness, validation=checks)
    check_converged(loss, *(t for t in state.values() if isinstance(t, Tensor) and t.is_floating_point()))
    return History(loss, sharpness=sharpness, validation=checks, notes=risen(loss, checks))


def early_stopping(
    loss: TrainingLoss, held: Sequence[Tensor], center: Callable[[], Tensor], run: Run, *, members: int | None = None
) -> EarlyStopping | None:
    """Stopping by the loss of `run.training.validation` at `center()`; None without one.  held: what the fit moves, beside statistics.

    members: B, where `held` and `center()` have a row for each; statistics of BatchNorm are then those of the last step.
    """
    validation = run.training.validation
    if validation is None:
        return None
    loss.check(validation)
    statistics = [value for value in loss.state.values() if isinstance(value, Tensor)] if members is None else []
    how = dict(
        steps=run.optim.steps, epoch=steps_per_epoch(len(loss.data), run.optim.batch_size), patience=run.training.patience
    )
    return EarlyStopping(lambda: loss.score(center(), validation), [*held, *statistics], **how, members=members)


class Diverged(ValueError):
    """A fit whose loss or parameters became NaN or inf: lower its lr or radius.  Bad input is a plain `ValueError`.

    Example:
        >>> import flatviz as fv
        >>> task = fv.datasets.moons_transfer(seed=0)
        >>> net = fv.Net.from_module(fv.models.mlp(task, hidden=(8,), seed=0))
        >>> try:
        ...     _ = fv.fit_sgd(net, task.train, seed=0, lr=1e30)
        ... except fv.Diverged as error:
        ...     print(error)
        the loss must stay finite, got NaN or inf at step 1 of 300: lower lr or radius
    """


def check_converged(losses: Tensor, *parameters: Tensor) -> None:
    """Raises Diverged for a run whose loss or parameters became NaN or inf."""
    if bool(torch.isfinite(losses).all()) and all(bool(torch.isfinite(p).all()) for p in parameters):
        return
    bad = (~torch.isfinite(losses)).reshape(len(losses), -1).any(1).nonzero()
    at = f"at step {int(bad[0])}" if len(bad) else "at its last step"
    raise Diverged(f"the loss must stay finite, got NaN or inf {at} of {len(losses)}: lower lr or radius")


def risen(losses: Tensor, validation: Tensor | None) -> tuple[str, ...]:
    """A note, and a warning, where a loss (T,) or (T, B) ends more than `FAR` (1 + |first loss|) above the first: () else.

    The end is the mean of the last tenth of the steps; with validation data it is their least loss, whose parameters are returned.
    """
    last = losses[-math.ceil(len(losses) / 10) :].mean(0) if validation is None else validation.amin(0)
    far = last - losses[0] > FAR * (1 + losses[0].abs())
    if not bool(far.any()):
        return ()
    first, last = (float(t.reshape(-1)[far.reshape(-1)][0]) for t in (losses[0], last))
    note = f"the loss ends far above where it began, {last:.3g} after {first:.3g} nats an example: lower lr or radius"
    warnings.warn(note, stacklevel=2)
    return (note,)


def check_covers(net: Net, q: Gaussian, name: str) -> None:
    """Raises ValueError where `q` is over other weights than the net's treated ones."""
    if q.dim != net.dim:
        raise ValueError(f"{name} must cover the net's {net.dim} treated weights, got {q.dim}: use what transfer returned")
