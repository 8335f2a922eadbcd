"""The objective: values, gradients and products against plain torch."""

import gc

import torch
from cases import assert_exact, net_of, refused
from pytest import approx
from torch import nn, ones, randn, tensor
from torch.testing import assert_close

import flatviz as fv


def test_value_gradient_and_batch_equal_plain_torch(tiny):
    net, data = tiny
    f = fv.nll(net, data)
    module = net.to_module()
    index = tensor([3, 5])
    loss = nn.functional.cross_entropy(module(data.x), data.y)
    loss.backward()
    assert_close(f(net.w), loss.detach())
    found = torch.func.grad(f)(net.w)
    want = torch.cat([p.grad.flatten() for p in module.parameters()])
    assert_close(found, want)
    assert f.n == 12
    assert_close(f(net.w, index), fv.nll(net, data.subset(index))(net.w))
    found = fv.hvp(lambda w: f(w), net.w, net.w)
    want = fv.hvp(f, net.w, net.w)
    assert_exact(found, want)


def test_hessian_of_a_linear_function_is_zero_and_that_of_a_value_without_gradient_is_refused():
    w = ones(3)
    v = tensor([1.0, 2.0, 3.0])
    found = fv.hvp(lambda w: w.sum(), w, v)
    assert torch.equal(found, torch.zeros(3))
    other = ones(3, requires_grad=True)
    for f in (
        lambda w: tensor(2.0),
        lambda w: w.detach().square().sum(),
        lambda w: other.sum(),
    ):
        with refused(
            r"a derivative needs an objective that torch can differentiate in w, got f\(w\)",
        ):
            fv.hvp(f, w, v)


def test_targets_of_another_layout_are_refused():
    net = net_of(nn.Conv2d(3, 4, 1))
    x = randn(2, 3, 8, 8)
    with refused(
        r"targets must have shape \(N, 4, 8, 8\) as the net's outputs, got \(2, 8, 8, 4\)",
    ):
        data = fv.Data(x, randn(2, 8, 8, 4))
        fv.nll(net, data, likelihood=1.0)
    line = net_of(nn.Linear(3, 1))
    flat, column = (
        fv.nll(line, fv.Data(x[:, :, 0, 0], ones(shape)), likelihood=1.0)
        for shape in ((2,), (2, 1))
    )
    assert flat(line.w) == column(line.w)


def test_labels_that_change_later_change_no_objective(tiny):
    net, data = tiny
    f = fv.nll(net, data)
    before = float(f(net.w))
    key = f.key
    data.y[:4] = -100
    assert f(net.w) == before == approx(float(f.many(net.w[None])[0]))
    assert f.key == key


def test_products_with_the_hessian_keep_no_graph(tiny):
    """Every tensor that a first product saved is gone after the last reference to its result."""
    f = fv.nll(*tiny)

    def alive():
        fv.hvp(f, f.net.w, f.net.w)
        gc.collect()
        return sum(type(o) is torch.Tensor for o in gc.get_objects())

    assert alive() == alive() == alive()
