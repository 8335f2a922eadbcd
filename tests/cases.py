"""Small networks, data and Gaussians that many tests share, and the doors to what is not public."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import torch
from pytest import raises, warns
from scipy.stats import binomtest
from torch import nn
from torch.testing import assert_close

import flatviz as fv
from flatviz.posteriors.entries import grid_of, keyworded

# Measurements of a family in a second: draws, and cells of its surfaces
COARSE = dict(n_draws=3, n_spectra=1, k=2, resolution=5, around_resolution=5)


net_of = fv.Net.from_module


@cache
def fitted_by(cls: type):
    """`fv.fit` of a method as a function of its fields and the arguments of the run, by keyword."""
    return keyworded(cls)


@cache
def grid_by(cls: type):
    """`fv.fit_many` over radii (of VI, temperatures) and seeds: (radius, seed) -> posterior."""
    return grid_of(cls, "radius" if cls is fv.SABMA else "kl_weight")


def text_of(path: Path) -> str:
    """The text of a file, on every system."""
    return path.read_text(encoding="utf-8")


def rng(seed: int = 0) -> torch.Generator:
    """A generator of its own, which `FLATVIZ_TEST_SEED` does not shift."""
    return torch.Generator().manual_seed(seed)


def normals(*shape: int, source: int | torch.Generator = 0) -> torch.Tensor:
    """Standard normal numbers in float64, of a generator or of a seed, which `FLATVIZ_TEST_SEED`
    does not shift."""
    generator = rng(source) if isinstance(source, int) else source
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


def assert_exact(found, wanted):
    """They are equal up to a few roundings of float64."""
    assert_close(found, wanted, rtol=1e-8, atol=1e-10)


def close(found: object, wanted: object, share: float = 1e-6) -> None:
    """Numbers of any kind and precision are the wanted ones, up to a share of each."""
    assert_close(_double(found), _double(wanted), rtol=share, atol=1e-12)


def _double(numbers: object) -> torch.Tensor:
    if isinstance(numbers, torch.Tensor):
        numbers = numbers.detach()
    return torch.as_tensor(numbers, dtype=torch.float64).squeeze()


def numbers_of(q: fv.Gaussian) -> tuple[torch.Tensor, ...]:
    """Mean, log width and factor."""
    return q.mean, q.log_std, q.factor


def refused(text: str, kind: type[Exception] = ValueError):
    """The block must end with this kind of error, whose text matches."""
    return raises(kind, match=text)


def warned(text: str):
    """The block must warn the user with a text that matches."""
    return warns(UserWarning, match=text)


def mlp(*widths: int, act=nn.Tanh) -> nn.Sequential:
    """Linear layers of these widths with an activation between them."""
    layers = []
    for inside, outside in zip(widths, widths[1:]):
        layers += [nn.Linear(inside, outside), act()]
    return nn.Sequential(*layers[:-1])


def normed(inputs: int, hidden: int, outputs: int) -> nn.Sequential:
    """A hidden layer with BatchNorm, and a head."""
    layers = nn.Linear(inputs, hidden), nn.BatchNorm1d(hidden), nn.ReLU()
    return nn.Sequential(*layers, nn.Linear(hidden, outputs))


class Language(nn.Module):
    """Logits (N, T, words) of tokens (N, T); a tied head has the weight of the embedding."""

    def __init__(
        self,
        words: int,
        width: int,
        *,
        tied: bool,
        bias: bool = False,
    ):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.body = mlp(width, 2 * width, width)
        self.head = nn.Linear(width, words, bias=bias)
        if tied:
            self.head.weight = self.embed.weight

    def forward(self, x):
        return self.head(self.body(self.embed(x)))


def blobs(n: int, features: int, classes: int) -> fv.Data:
    """Normal inputs (n, features), whose labels take turns."""
    return fv.Data(torch.randn(n, features), torch.arange(n) % classes)


def random_surface(f, *, resolution: int, **how) -> fv.Surface:
    """The objective of a network on a random plane about its weights."""
    plane = fv.plane_random(f.net, f.net.w, seed=0)
    return fv.slice_plane(f, plane, resolution=resolution, **how)


def around(net: fv.Net, log_std: float) -> fv.Gaussian:
    """The Gaussian at the net's weights whose widths are all exp(log_std)."""
    return fv.Gaussian(net.w, torch.full_like(net.w, log_std))


def relative_error(found: torch.Tensor, exact: torch.Tensor) -> float:
    """Distance of two vectors in lengths of the second."""
    return float((found - exact).norm() / exact.norm())


def wilson(right: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
    """Wilson's intervals (2, ...) of shares `right` of n answers, by scipy."""
    counts = (right * n).round().int().flatten().tolist()
    numbers = n.int().flatten().tolist()
    ends = [binomtest(k, m).proportion_ci(method="wilson") for k, m in zip(counts, numbers)]
    return torch.tensor([(end.low, end.high) for end in ends], dtype=torch.float64).T
