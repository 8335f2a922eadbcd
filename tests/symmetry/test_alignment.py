"""Weight matching: undoes any permutation, never moves away, and meets the best of all permutations on small layers."""

import itertools

import pytest
import torch
from symmetric_networks import NETWORKS, network, outputs

import flatviz as fv


@pytest.mark.parametrize("name", NETWORKS)
def test_a_permuted_copy_with_noise_is_brought_back(name):
    net, units, x = network(name)
    v = units.extended(net)
    V = v + 0.02 * v.std() * torch.randn(30, len(v), dtype=v.dtype)
    moved = fv.symmetry.permute(units, V, fv.symmetry.random_order(units, 30, seed=1))
    found = fv.symmetry.align(units, moved, v)
    assert float((found == V).all(1).double().mean()) >= 0.95  # a local optimum now and then
    assert torch.equal(found.sort(1).values, moved.sort(1).values)  # a permutation of itself
    assert float((outputs(net, units, found, x) - outputs(net, units, V, x)).abs().max()) < 1e-8
    far, before = ((W - v)[:, : units.dim].norm(dim=1) for W in (found, moved))
    assert bool((far <= before + 1e-12).all())


def test_one_hidden_layer_meets_the_best_of_all_its_permutations():
    net = fv.Net.from_module(torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.Tanh(), torch.nn.Linear(5, 3)).double())
    units = fv.symmetry.units_of(net)
    V = torch.randn(6, net.dim, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    orders = torch.tensor(list(itertools.permutations(range(5))))
    best = torch.stack([(fv.symmetry.permute(units, V, p) - net.w).norm(dim=1) for p in orders]).amin(0)
    assert torch.allclose((fv.symmetry.align(units, V, net.w, starts=1) - net.w).norm(dim=1), best, rtol=1e-12)


def test_more_starts_never_move_further_away():
    net, units, _ = network("mlp")
    V = torch.randn(40, net.dim, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    few, many = ((fv.symmetry.align(units, V, net.w, starts=n) - net.w).norm(dim=1) for n in (1, 8))
    assert bool((many <= few + 1e-12).all()) and float((few - many).max()) > 0
    with pytest.raises(ValueError, match="reference must have shape"):
        fv.symmetry.align(units, V, net.w[:-1])
