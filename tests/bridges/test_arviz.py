"""R-hat and effective sample sizes, of chains whose autocorrelation is known."""

import sys

import torch
from cases import refused
from pytest import approx
from torch import randn

import flatviz as fv
from flatviz import bridges


def autoregressive(a, shift=0.0, n=4000):
    """Four chains of x <- a x + noise, (4 n, 1): an effective sample of (1 - a) / (1 + a) of the
    draws."""
    rows = [randn(4)]
    for _ in range(n):
        rows.append(a * rows[-1] + (1 - a * a) ** 0.5 * randn(4))
    return (torch.stack(rows[1:], 1) + shift * torch.arange(4)[:, None]).reshape(-1, 1)


def test_the_effective_sample_size_is_that_of_the_autocorrelation():
    found = bridges.diagnose_chains(fv.Draws(autoregressive(0.6), chains=4))
    # An estimate of itself to some 5 %
    assert found.bulk == approx(16_000 * 0.4 / 1.6, rel=0.1)
    assert found.rhat < 1.01
    assert "R-hat at most 1.0" in str(found)


def test_chains_apart_have_a_large_r_hat_also_in_a_function_of_the_draws():
    q = fv.Draws(autoregressive(0.0, shift=1.0, n=200), chains=4)
    assert bridges.diagnose_chains(q).rhat > 1.2
    centred = bridges.diagnose_chains(
        q, lambda W: W - W.unflatten(0, (4, -1)).mean(1).repeat_interleave(200, 0)
    )
    assert centred.rhat < 1.02


def test_one_chain_is_refused_and_a_missing_package_is_named(monkeypatch):
    with refused("draws must be of at least 2 chains of 4 draws, got 1 of 20"):
        bridges.diagnose_chains(fv.Draws(randn(20, 2)))
    with refused("draws must be", TypeError):
        bridges.diagnose_chains(randn(20, 2))
    monkeypatch.setitem(sys.modules, "arviz", None)
    with refused(r"pip install 'flatviz\[arviz\]'", ImportError):
        bridges.diagnose_chains(fv.Draws(randn(20, 2), chains=2))
