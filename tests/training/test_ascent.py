"""The ascent step: its length in its own unit, and a second pass that leaves no trace."""

import pytest
import torch

import flatviz as fv
from flatviz.training.losses import FrozenLoss
from flatviz.training.points import SGD


def randn(*shape, seed):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.fixture
def point():
    return randn(2, 20, seed=0)


def test_each_perturbation_has_its_radius_in_its_own_norm(point):
    w, g = point
    assert float(fv.SAM(0.3)(w, g).norm()) == pytest.approx(0.3, rel=1e-9)
    assert float((fv.ASAM(0.3, eta=0.1)(w, g) / (w.abs() + 0.1)).norm()) == pytest.approx(0.3, rel=1e-9)
    e = fv.FisherSAM(0.3, eta=5.0)(w, g)
    assert float(((1 + 5 * g.square()) * e.square()).sum()) == pytest.approx(0.09, rel=1e-9)
    torch.testing.assert_close(fv.FisherSAM(0.3, eta=0.0)(w, g), fv.SAM(0.3)(w, g))
    for ascent in (fv.SAM(0.3), fv.ASAM(0.3), fv.FisherSAM(0.3)):
        rows = ascent(torch.stack([w, 2 * w]), torch.stack([g, 3 * g]))  # members together: row by row
        torch.testing.assert_close(rows[1], ascent(2 * w, 3 * g))


def test_each_perturbation_gains_most_to_first_order_inside_its_ball(point):
    w, g = point
    balls = {fv.SAM(1.0): torch.ones_like(w), fv.ASAM(1.0): (w.abs() + 0.01) ** -2, fv.FisherSAM(1.0): 1 + g.square()}
    for ascent, metric in balls.items():
        others = randn(200, 20, seed=1)
        lengths = (metric * others.square()).sum(1).sqrt()
        assert float((others @ g / lengths).max()) < float(ascent(w, g) @ g)


def test_no_way_up_at_a_stationary_point_and_a_negative_radius_is_refused():
    zero = torch.zeros(3)
    for kind in (fv.SAM, fv.ASAM, fv.FisherSAM):
        assert torch.equal(kind(0.1)(zero, zero), zero)
        with pytest.raises(ValueError, match="radius must be a finite number >= 0, got -0.1"):
            kind(-0.1)


def test_a_step_is_the_gradient_at_the_perturbed_point_with_decay_at_the_unperturbed_one(tiny):
    net, data = tiny
    f = fv.nll(net, data)
    before, g = f.value_and_grad(net.w)
    after, worst = f.value_and_grad(net.w + 0.1 * g / g.norm())
    sgd = SGD(torch.tensor([0.5]), weight_decay=0.3, ascent=fv.SAM(0.1))
    state, record = sgd.update(sgd.init(net.w), FrozenLoss(net, data, "categorical"), None)
    torch.testing.assert_close(state.w, net.w - 0.5 * (worst + 0.3 * net.w))
    torch.testing.assert_close(record.sharpness, after - before)
