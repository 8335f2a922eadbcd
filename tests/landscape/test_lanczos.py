"""Eigenpairs against dense Hessians, and Weyl's bounds on them."""

import pytest
import torch

import flatviz as fv
from flatviz.landscape import krylov


def test_eigenpairs_of_a_quadratic_are_exact(quadratic):
    f, H, c = quadratic
    spectrum = fv.top_eigenpairs(f, c + 1, k=5)
    torch.testing.assert_close(spectrum.values, torch.linalg.eigvalsh(H).flip(0)[:5], rtol=1e-8, atol=0)
    assert float(spectrum.residual.max()) < 1e-8
    torch.testing.assert_close(spectrum.vectors @ spectrum.vectors.T, torch.eye(5, dtype=torch.float64), rtol=0, atol=1e-10)
    assert spectrum.n_products <= 12 + 5
    with pytest.raises(ValueError, match="k must be at most the number of weights, 12, got 13"):
        fv.top_eigenpairs(f, c, 13)


def test_residuals_are_small_in_float32_within_forty_products(task, transferred):
    net, _ = transferred
    spectrum = fv.top_eigenpairs(fv.nll(net, task.train), net.w, k=5)
    assert float((spectrum.residual / spectrum.values[0]).max()) < 1e-3
    assert spectrum.n_products <= 45


def test_a_degenerate_hessian_is_no_trouble():
    spectrum = fv.top_eigenpairs(lambda w: 0.5 * (w * w).sum(), torch.zeros(6, dtype=torch.float64), k=3)
    torch.testing.assert_close(spectrum.values, torch.ones(3, dtype=torch.float64))
    assert float(spectrum.residual.max()) < 1e-12
    flat = fv.top_eigenpairs(lambda w: w.sum(), torch.zeros(4), k=2)
    assert float(flat.values.abs().max()) == 0


@pytest.mark.parametrize("outputs", (3, 5, 10))
def test_an_eigenvalue_counts_as_often_as_it_is_there(outputs):
    """The Hessian of a linear regression is X^T X / n once for each output."""
    x = torch.randn(200, 8, generator=torch.Generator().manual_seed(outputs))
    net = fv.Net.from_module(torch.nn.Linear(8, outputs))
    f = fv.nll(net, fv.Data(x, torch.zeros(200, outputs)), likelihood=1.0)
    each = torch.linalg.eigvalsh((X := torch.cat([x, torch.ones(200, 1)], 1)).T @ X / 200).flip(0)
    spectrum = fv.top_eigenpairs(f, net.w, k=5)
    torch.testing.assert_close(spectrum.values, each.repeat_interleave(outputs)[:5], rtol=1e-4, atol=0)  # its tolerance
    torch.testing.assert_close(spectrum.vectors @ spectrum.vectors.T, torch.eye(5), rtol=0, atol=1e-4)


def test_the_largest_of_many_equal_ones_are_not_the_smallest(monkeypatch):
    scale = torch.tensor([1.0] * 58 + [-7.0, -7.0], dtype=torch.float64)
    f, w = lambda w: 0.5 * (scale * w * w).sum(), torch.zeros(60, dtype=torch.float64)
    assert fv.top_eigenpairs(f, w, k=5).values.tolist() == pytest.approx([1.0] * 5)
    assert fv.top_eigenpairs(f, w, k=3, which="smallest").values.tolist() == pytest.approx([-7.0, -7.0, 1.0])
    monkeypatch.setattr(krylov, "BASIS_BYTES", 0)  # a basis that is restarted
    assert fv.top_eigenpairs(f, w, k=5).values.tolist() == pytest.approx([1.0] * 5)


def test_a_second_copy_among_thousands_is_found():
    scale = torch.cat([torch.tensor([9.0, 6.0, 6.0, 4.0]), torch.linspace(1, 0, 5000)]).double()
    spectrum = fv.top_eigenpairs(lambda w: 0.5 * (scale * w * w).sum(), torch.zeros(5004, dtype=torch.float64), k=3)
    assert spectrum.values.tolist() == pytest.approx([9.0, 6.0, 6.0], rel=1e-4)
    assert spectrum.n_products < 40
