"""Flatness of a posterior, against dense Hessians and Weyl's inequalities."""

import pytest
import torch

import flatviz as fv
from flatviz.metrics.curvature import ordered


def test_measures_of_a_quadratic_are_those_of_its_matrix(quadratic):
    f, H, c = quadratic
    W = c + torch.randn(3, 12, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    found = fv.sharpness(f, W, radius=0.1, adaptive_radius=0.2, probes=400)
    values = torch.linalg.eigvalsh(H).flip(0)
    torch.testing.assert_close(found.lambda1, values[0].expand(3), rtol=1e-6, atol=0)
    torch.testing.assert_close(found.ratio, (values[0] / values[4]).expand(3), rtol=1e-5, atol=0)
    assert bool(((found.trace - H.trace()).abs() < 4 * found.trace_error).all())
    g, T = (W - c) @ H, W.abs() + 0.01
    ball, adaptive = 0.1 * g / g.norm(dim=1, keepdim=True), 0.2 * T.square() * g / (T * g).norm(dim=1, keepdim=True)
    for risen, e in ((found.sam, ball), (found.adaptive, adaptive)):
        torch.testing.assert_close(risen, (g * e).sum(1) + 0.5 * ((e @ H) * e).sum(1))
    half = 4.303 * float(found.sam.std()) / 3**0.5
    assert found.interval("sam") == (pytest.approx(float(found.sam.mean())), pytest.approx(half, rel=1e-3))


def test_weyl_bounds_hold_on_the_samples_of_a_network_and_the_middle_is_the_averaged_hessian(tiny):
    f = fv.nll(*tiny)
    W = f.net.w + 0.3 * torch.randn(4, f.dim, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    lower, middle, upper = fv.metrics.weyl_bounds(f, W)
    dense = torch.stack([torch.autograd.functional.hessian(f, w) for w in W])
    spectra = torch.linalg.eigvalsh(dense)
    assert middle == pytest.approx(float(torch.linalg.eigvalsh(dense.mean(0))[-1]), rel=1e-5)
    assert upper == pytest.approx(float(spectra[:, -1].mean()), rel=1e-5)
    assert lower == pytest.approx(float((spectra[:, -1] + spectra[:, 0].sum() - spectra[:, 0]).max()) / 4, rel=1e-4)
    assert lower <= middle <= upper


def test_draws_in_order_of_sharpness():
    W, values = torch.eye(4), torch.tensor([2.0, 4.0, 1.0, 3.0])
    assert ordered(W, values, "flat").argmax(1).tolist() == [2, 0, 3, 1]
    assert ordered(W, values, "sharp").argmax(1).tolist() == [1, 3, 0, 2]
    assert sorted(ordered(W, values, "random", seed=1).argmax(1).tolist()) == [0, 1, 2, 3]
    with pytest.raises(ValueError, match="values must hold one number for each of the 4 draws, got 2"):
        ordered(W, values[:2], "flat")
