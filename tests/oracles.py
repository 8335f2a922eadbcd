"""Slow and obviously right: what the tests compare with."""

from __future__ import annotations

import contextlib
import dataclasses
import threading

import torch
from cases import rng
from torch import Tensor, backends, distributions, nn, randn, stack

import flatviz as fv
from flatviz.training import training_loss


def random_gaussian(
    seed: int,
    dim: int = 7,
    rank: int = 3,
    dtype=torch.float64,
) -> fv.Gaussian:
    """A Gaussian whose mean, widths and factor are all different."""
    g = rng(seed)
    mean, log_std = (randn(dim, generator=g, dtype=dtype) for _ in range(2))
    return fv.Gaussian(mean, 0.3 * log_std - 1, 0.3 * randn(rank, dim, generator=g, dtype=dtype))


def dense_covariance(q: fv.Gaussian) -> Tensor:
    """Sigma (D, D), written out."""
    return torch.diag((2 * q.log_std).exp()) + q.factor.T @ q.factor


def as_torch(q: fv.Gaussian) -> distributions.LowRankMultivariateNormal:
    """The same Gaussian in torch's own words."""
    return distributions.LowRankMultivariateNormal(q.mean, q.factor.T, (2 * q.log_std).exp())


def loop(net, data, points) -> Tensor:
    """The NLL at each point: a copy of the module with these weights, on a copy of the inputs."""
    with torch.no_grad():
        outputs = [net.to_module(w).eval()(data.x.clone()) for w in points]
    return stack([nn.functional.cross_entropy(out, data.y) for out in outputs])


def equal(a, b) -> bool:
    """Whether two results hold the same to the bit; an open value equals another."""
    if type(a) is not type(b):
        return False
    if isinstance(a, Tensor):
        return (
            a.dtype == b.dtype
            and a.shape == b.shape
            and bool(((a == b) | (a.isnan() & b.isnan())).all())
        )
    if isinstance(a, torch.Generator):
        return torch.equal(a.get_state(), b.get_state())
    if isinstance(a, dict):
        return list(a) == list(b) and all(equal(a[k], b[k]) for k in a)
    if isinstance(a, (tuple, list)):
        return len(a) == len(b) and all(map(equal, a, b))
    if dataclasses.is_dataclass(a):
        return all(equal(getattr(a, f.name), getattr(b, f.name)) for f in dataclasses.fields(a))
    return a == b


def tensors(value):
    """All tensors of a result, however deep; a figure has its traces for that."""
    if isinstance(value, Tensor):
        return [value.detach().double()]
    if isinstance(value, (list, tuple)):
        return [t for item in value for t in tensors(item)]
    if isinstance(value, dict):
        return tensors(list(value.values()))
    if isinstance(value, fv.Net):
        return [value.w.double(), *(b.double() for b in value.buffers().values())]
    if dataclasses.is_dataclass(value):
        return tensors([getattr(value, f.name) for f in dataclasses.fields(value)])
    return []


CUDNN = backends.cudnn
MKLDNN = backends.mkldnn
UNITS = (
    backends.cuda.matmul,
    CUDNN.conv,
    CUDNN.rnn,
    MKLDNN.matmul,
    MKLDNN.conv,
    MKLDNN.rnn,
)
IEEE = ("highest", False, *["ieee"] * len(UNITS))


def float32_flags() -> tuple:
    """torch's settings of float32 products: two old ones, which torch does not say (None) where
    they contradict the new ones, then those of each unit."""
    try:
        matmul = torch.get_float32_matmul_precision()
    except RuntimeError:
        matmul = None
    try:
        cudnn = CUDNN.allow_tf32
    except RuntimeError:
        cudnn = None
    return matmul, cudnn, *(unit.fp32_precision for unit in UNITS)


class Looks(nn.Linear):
    """A layer that notes torch's float32 flags in each pass."""

    seen: set = set()

    def forward(self, x):
        Looks.seen.add(float32_flags())
        return super().forward(x)


@contextlib.contextmanager
def tf32():
    """Flags that are neither torch's own nor IEEE: TF32 wherever it is known; torch's own
    afterwards."""
    before = float32_flags()
    torch.set_float32_matmul_precision("high")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before[0])
        backends.cuda.matmul.fp32_precision = before[2]
        MKLDNN.matmul.fp32_precision = before[5]
    assert float32_flags() == before


def stopping_at(step: int):
    """A progress function that cancels before this step."""

    def stop(done, total, label):
        if done == step:
            raise KeyboardInterrupt

    return stop


def one_by_one(
    net,
    data,
    starts,
    seeds,
    *,
    epochs,
    lr,
    weight_decay,
    batch_size,
):
    """The same training of one network after the other, plain SGD: what `train_pool` is compared
    with, (S, D)."""
    rows = []
    for w, seed in zip(starts, seeds):
        loss = training_loss(net, data)
        source = torch.Generator().manual_seed(seed)
        w = w.clone()
        for _ in range(epochs):
            for index in torch.randperm(len(data), generator=source).split(batch_size):
                g = loss(w, index)[1]
                w = w - lr * (g + weight_decay * w)
        rows.append(w)
    return stack(rows)


@contextlib.contextmanager
def beside(block):
    """Another thread is inside of `block()`, until the function is called, or this block ends."""
    inside = threading.Event()
    leave = threading.Event()

    def other():
        with block():
            inside.set()
            assert leave.wait(60)

    thread = threading.Thread(target=other)
    thread.start()
    assert inside.wait(60)

    def end():
        leave.set()
        thread.join()

    try:
        yield end
    finally:
        end()
