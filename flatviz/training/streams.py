"""Inputs of the steps of a fit: minibatches, noise, learning rates."""

import math
from collections.abc import Callable, Iterator, Sequence

import torch
from torch import Tensor

from flatviz.core import generator, randn_like
from flatviz.gaussian import Gaussian

# Steps whose noise is drawn at once; one by one, a draw takes four times as long
STEPS_AHEAD = 64
MAX_AHEAD = 2**22  # numbers drawn at once
# Numbers of a draw beyond which a GPU draws them itself: 11 million take a CPU longer than
# ResNet-18's gradient
LARGE = 2**20


def minibatches(
    n: int,
    batch_size: int | None,
    seed: int | Sequence[int],
    device: torch.device,
) -> Iterator[Tensor | None]:
    """Yield indices of minibatches (batch,) without end, (B, batch) for B seeds.

    They are None, all examples, where one batch holds them.
    """
    if batch_size is None or batch_size >= n:
        while True:
            yield None
    seeds = [seed] if isinstance(seed, int) else seed
    sources = [generator(one) for one in seeds]
    while True:  # an epoch at a time: a thousand members are not asked one by one in every step
        orders = []
        for source in sources:
            orders.append(torch.randperm(n, generator=source, device=source.device))
        order = orders[0] if isinstance(seed, int) else torch.stack(orders)
        yield from order.to(device).split(batch_size, dim=-1)


def steps_per_epoch(n: int, batch_size: int | None) -> int:
    """Count the minibatches in one pass over n examples."""
    return 1 if batch_size is None else math.ceil(n / batch_size)


def cosine(step: int, steps: int, last: float = 0.0) -> float:
    """Compute a factor on the rate, from 1 at step 0 to `last` along half a cosine."""
    fall = 0.5 * (1 + math.cos(math.pi * step / steps))
    return last + (1 - last) * fall


def factors(
    schedule: Callable[[int, int], float | None],
    steps: int,
    device: torch.device,
) -> Tensor | None:
    """Compute the factor on the rate of each step, (steps,) in float64; None without a schedule."""
    each = [schedule(step, steps) for step in range(steps)]
    if not each or each[0] is None:
        return None
    return torch.tensor(each, dtype=torch.float64, device=device)


def rate_of(lr: float, factor: Tensor | float, like: Tensor) -> Tensor:
    """Return lr times a step's factor, () in float64 on the device of `like`."""
    if isinstance(factor, Tensor):
        return lr * factor
    return like.new_full((), lr * factor, dtype=torch.float64)


class Noise:
    """Noise of each step: `at(step)` is a tuple of standard normal tensors, here ().

    generators: their state is saved in checkpoints, so that a resumed run draws the same numbers.
    """

    generators: Sequence[torch.Generator] = ()

    def at(self, step: int) -> tuple[Tensor, ...]:
        """Return the noise of a step; steps come in order."""
        return ()


class FreshNoise(Noise):
    """`count` tensors of the shape of `like`, (D,) by one seed or (B, D) with one a row.

    They are zeros where `drawn(step)` is False.
    """

    def __init__(
        self,
        seeds: Sequence[int],
        like: Tensor,
        count: int = 1,
        drawn: Callable[[int], bool] = lambda step: True,
    ) -> None:
        self.generators = [generator(seed) for seed in seeds]
        self.drawn = drawn
        self.count = count
        self.zeros = torch.zeros_like(like)

    def at(self, step: int) -> tuple[Tensor, ...]:
        """Return the noise of a step."""
        if not self.count or not self.drawn(step):
            return (self.zeros,) * self.count
        rows = self.zeros.view(len(self.generators), -1)
        tensors = []
        for _ in range(self.count):
            drawn = [randn_like(row, source) for row, source in zip(rows, self.generators)]
            tensors.append(torch.stack(drawn).view_as(self.zeros))
        return tuple(tensors)


class MirroredNoise(Noise):
    """Noise z1 (..., S, D) and z2 (..., S, K) of S draws; odd steps negate the step before.

    Odd functions of the noise then cancel over two steps: the noise of the draw in the mean's
    gradient, and the gradient's mean in that of the widths.  Each member has its generator; the
    noise of several steps is drawn at once.
    """

    def __init__(
        self,
        seeds: Sequence[int],
        draws: int,
        q: Gaussian,
        steps: int,
    ) -> None:
        self.like = q.mean
        self.dim = q.dim
        self.draws = draws
        self.size = q.dim + q.rank
        self.device = torch.device("cpu")
        if self.size > LARGE:
            self.device = q.mean.device
        # As before the block's first step: this is saved
        self.generators = [generator(seed, self.device) for seed in seeds]
        self.ahead = [generator(seed, self.device) for seed in seeds]  # as they are after its last
        fitting = MAX_AHEAD // (len(seeds) * draws * self.size)
        ahead = min(STEPS_AHEAD, steps + 1, fitting)
        self.pairs = max(1, ahead // 2)
        self.block: list[tuple[Tensor, Tensor]] = []

    def at(self, step: int) -> tuple[Tensor, Tensor]:
        """Return the noise of a step."""
        if not self.block:
            self.block = self._drawn()
        place = step % (2 * self.pairs)
        noise = self.block[place]
        if place == 2 * self.pairs - 1:
            self.block = []
            for source, ahead in zip(self.generators, self.ahead):
                source.set_state(ahead.get_state())
        return noise

    def _drawn(self) -> list[tuple[Tensor, Tensor]]:
        members = len(self.generators)
        shape = (members, self.pairs, self.draws, self.size)
        z = torch.empty(shape, dtype=self.like.dtype, device=self.device)
        for source, ahead, rows in zip(self.generators, self.ahead, z):
            ahead.set_state(source.get_state())
            for row in rows:
                row.normal_(generator=ahead)
        z = z.to(self.like.device)
        both = torch.stack((z, -z), 2)
        z = both.flatten(1, 2)
        z = z[0] if members == 1 else z.transpose(0, 1)  # (steps, ..., S, D + K)
        z1 = z[..., : self.dim]
        z2 = z[..., self.dim :]
        return list(zip(z1.unbind(), z2.unbind()))
