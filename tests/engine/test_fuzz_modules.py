"""Random modules: the fast path, the plain loop and the user's own module agree, whatever the module is made of.

`FLATVIZ_FUZZ=500 python -m pytest tests/engine/test_fuzz_modules.py` draws more of them than the default.
"""

import copy
import os
import warnings
from types import MethodType

import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F

import flatviz as fv

EXAMPLES = int(os.environ.get("FLATVIZ_FUZZ", 25))
ACTIVATIONS = {
    "relu": nn.ReLU, "relu in place": lambda: nn.ReLU(inplace=True), "tanh": nn.Tanh, "gelu": nn.GELU, "silu": nn.SiLU,
    "softplus": nn.Softplus, "leaky in place": lambda: nn.LeakyReLU(inplace=True), "none": nn.Identity,
}  # fmt: skip
NORMS = {"layer": nn.LayerNorm, "batch": nn.BatchNorm1d, "group": lambda n: nn.GroupNorm(2, n), "none": lambda n: nn.Identity()}
HABITS = ("plain", "root hook", "layer hook", "patched forward", "reads a parameter", "keeps an activation", "writes its input",
          "functional", "chunks", "tied head")  # fmt: skip
TREATED = ["all", lambda name: name.startswith("head"), lambda name: name.startswith("body.0")]


class Habit(nn.Module):
    """A body and a head, and something that users' modules do."""

    def __init__(self, body, head, habit):
        super().__init__()
        self.body, self.head, self.habit = body, head, habit

    def forward(self, x):
        if self.habit == "writes its input":
            x.mul_(0.5)
        if self.habit == "reads a parameter":
            x = x if float(self.head.weight[0, 0]) > 0 else -x
        if self.habit == "functional":
            x = F.elu(x + 0.1 * torch.sin(x))
        if self.habit == "chunks":
            first, second = x.chunk(2, dim=1)
            x = torch.cat([second, first], dim=1)
        z = self.body(x)
        if self.habit == "keeps an activation":
            self.last = z
        if self.habit == "tied head":
            z = z + F.linear(z, self.head.weight.T @ self.head.weight)
        return self.head(z)


def shifted(module, args, out):
    return out + 0.1 * out.square()


def waved(module, x):
    return Habit.forward(module, x) * x.sum(1, keepdim=True).cos()


@st.composite
def modules(draw):
    """(module in evaluation mode, habit, treated)."""
    width = draw(st.sampled_from([4, 6]))
    layers, wide = [], 4
    for _ in range(draw(st.integers(1, 3))):
        norm, activation = (kinds[draw(st.sampled_from(sorted(kinds)))] for kinds in (NORMS, ACTIVATIONS))
        layers += [nn.Linear(wide, width, bias=draw(st.booleans())), norm(width), activation()]
        wide = width
    habit = draw(st.sampled_from(HABITS))
    module = Habit(nn.Sequential(*layers), nn.Linear(width, 3), habit)
    with torch.random.fork_rng():
        torch.manual_seed(draw(st.integers(0, 2**16)))
        for p in module.parameters():
            nn.init.normal_(p, std=0.7)
        for buffer in filter(torch.is_floating_point, module.buffers()):
            buffer.copy_(torch.rand_like(buffer) + 0.5)
    if habit.endswith("hook"):
        (module if habit == "root hook" else module.body[0]).register_forward_hook(shifted)
    if habit == "patched forward":
        module.forward = MethodType(waved, module)
    return module.eval(), habit, draw(st.sampled_from(TREATED))


def plainly(module, net, W, data):
    """The module itself at each row of W: parameters written in place, on copies of the inputs."""
    values, parameters, before = [], dict(module.named_parameters()), copy.deepcopy(module.state_dict())
    with torch.no_grad():
        for w in W:
            for b in net.blocks:
                parameters[b.name].copy_(w[b.slice].view(b.shape))
            values.append(F.cross_entropy(module(data.x.clone()), data.y))
    module.load_state_dict(before)
    return torch.stack(values)


@settings(max_examples=EXAMPLES, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(made=modules())
def test_a_plane_of_any_module_is_what_the_module_itself_gives(made):
    module, habit, treated = made
    before = copy.deepcopy(module.state_dict())
    x = torch.randn(20, 4, generator=torch.Generator().manual_seed(0))
    data = fv.Data(x.clone(), torch.arange(20) % 3)
    net = fv.Net.from_module(module, treated)
    f, plane = fv.nll(net, data), fv.plane_random(net, net.w, seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a fast path that was discarded says so
        surface = fv.slice_plane(f, plane, extent=1.0, resolution=5)
    W = plane.points(torch.cartesian_prod(surface.a, surface.b))
    want = plainly(module, net, W, data)
    for values in (surface.values.flatten(), f.many(W)):
        torch.testing.assert_close(values, want, rtol=2e-4, atol=1e-5)  # float32, values of up to a hundred nats
    assert torch.equal(data.x, x), "the inputs were changed"
    assert all(torch.equal(value, before[name]) for name, value in module.state_dict().items()), "the module was changed"
    if habit == "reads a parameter":
        assert not any(p.grad is not None for p in module.parameters())


@settings(max_examples=EXAMPLES, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(made=modules(), seed=st.integers(0, 99))
def test_a_product_with_the_hessian_is_the_difference_of_two_gradients(made, seed):
    module, habit, treated = made
    if any(isinstance(m, (nn.ReLU, nn.LeakyReLU)) for m in module.modules()) or habit == "reads a parameter":
        return  # kinks and branches: a difference across one is no derivative
    data = fv.Data(torch.randn(20, 4, generator=torch.Generator().manual_seed(0)).double(), torch.arange(20) % 3)
    net = fv.Net.from_module(module.double(), treated)
    f = fv.nll(net, data)
    v = torch.randn(net.dim, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    above, below = (f.value_and_grad(net.w + step * v)[1] for step in (1e-5, -1e-5))
    want = (above - below) / 2e-5
    off = float((fv.hvp(f, net.w, v) - want).norm())
    assert off < 1e-4 * (float(want.norm()) + 1e-3)  # a central difference in float64: error of order step^2
