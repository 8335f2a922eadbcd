"""Curvature of networks whose layers PyTorch differentiates twice only by another kernel, or not at all."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

import flatviz as fv
from flatviz.objectives.curvature import jacobians


class Attending(nn.Module):
    """Two tokens of four numbers, attention between them, and a head; float32, for that takes the fused kernel."""

    def __init__(self):
        super().__init__()
        self.norm, self.mix, self.head = nn.LayerNorm(4), nn.MultiheadAttention(4, 2, batch_first=True), nn.Linear(8, 3)

    def forward(self, x):
        z = self.norm(x.view(len(x), 2, 4))
        return self.head(self.mix(z, z, z, need_weights=False)[0].flatten(1))


class Scaled(nn.Module):
    """Gates as in MobileNetV3, of which PyTorch knows no second derivative."""

    def __init__(self, gate):
        super().__init__()
        self.a, self.gate, self.head = nn.Linear(8, 4), gate, nn.Linear(4, 3)

    def forward(self, x):
        z = self.a(x)
        return self.head(z * self.gate(z))


def made(module):
    net, data = fv.Net.from_module(module.eval()), fv.Data(torch.randn(12, 8), torch.arange(12) % 3)
    return net, data, fv.nll(net, data)


def dense_ggn(net, data):
    """sum_n J^T L'' J / N from Jacobians of reverse mode, one output at a time, in float64."""
    wide, x = net.to(dtype=torch.float64), data.x.double()
    J = torch.autograd.functional.jacobian(lambda w: wide(w, x), wide.w)
    p = wide(wide.w, x).softmax(-1)
    curved = torch.diag_embed(p) - p[:, :, None] * p[:, None, :]
    return torch.einsum("nci,ncd,ndj->ij", J, curved, J) / len(data)


def test_products_with_the_hessian_of_attention_are_differences_of_gradients():
    net, data, f = made(Attending())
    wide, v = net.to(dtype=torch.float64), torch.randn(net.dim, dtype=torch.float64)
    gradient = torch.func.grad(lambda w: F.cross_entropy(wide(w, data.x.double()), data.y))
    want = (gradient(wide.w + 1e-5 * v) - gradient(wide.w - 1e-5 * v)) / 2e-5
    got = fv.hvp(f, net.w, v.float())
    assert float((got - want).norm() / want.norm()) < 1e-4  # float32 against float64
    for curvature in ("ggn", "fisher"):
        assert fv.top_eigenpairs(f, net.w, 1, curvature=curvature).values[0] > 0


def test_the_kernel_of_attention_is_the_users_again_afterwards():
    before = torch.backends.cuda.flash_sdp_enabled(), torch.backends.cuda.math_sdp_enabled()
    net, _, f = made(Attending())
    fv.top_eigenpairs(f, net.w, 1)
    assert (torch.backends.cuda.flash_sdp_enabled(), torch.backends.cuda.math_sdp_enabled()) == before


def test_a_layer_without_a_second_derivative_is_named_and_its_ggn_is_right():
    net, data, f = made(Scaled(nn.Hardsigmoid()))
    with pytest.raises(ValueError, match=r"got hardsigmoid in 'gate', for which PyTorch has none: use curvature='ggn'"):
        fv.top_eigenpairs(f, net.w, 1)
    want = torch.linalg.eigvalsh(dense_ggn(net, data)).flip(0)[:3]
    got = fv.top_eigenpairs(f, net.w, 3, curvature="ggn").values
    torch.testing.assert_close(got.double(), want, rtol=1e-3, atol=1e-5)  # float32 products
    assert fv.top_eigenpairs(f, net.w, 1, curvature="fisher").values[0] > 0


@pytest.mark.filterwarnings("ignore:There is a performance drop")
def test_a_module_that_vmap_cannot_run_has_the_jacobians_of_autograd():
    shortened = nn.Embedding(5, 3, max_norm=1.0)  # in the forward pass, for which vmap has no rule
    module, x = nn.Sequential(shortened, nn.Flatten(), nn.Linear(12, 2)).double().eval(), torch.randint(0, 5, (6, 4))
    net = fv.Net.from_module(module, example=x)
    outputs, J = jacobians(net, net.w, x)
    torch.testing.assert_close(outputs, net(net.w, x))
    torch.testing.assert_close(J, torch.autograd.functional.jacobian(lambda w: net(w, x), net.w))
