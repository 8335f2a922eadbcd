"""Random networks of odd layers and habits: values, gradients, Hessian products, planes and copies
are those of plain PyTorch.

`FLATVIZ_FUZZ=500 python -m pytest -m "" tests/engine/test_fuzz_layers.py` draws more of them than
the default.
"""

import copy
import os
import random
from functools import partial
from types import MethodType

import torch
from cases import blobs, net_of, refused
from pytest import mark, param, skip
from torch import cat, nn, ones, randn, tanh, zeros_like
from torch.nn import Embedding, Module, Parameter
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.utils import parametrizations as P
from torch.nn.utils import parametrize

import flatviz as fv

W = 6  # features of each of 5 places
Linear = partial(nn.Linear, W, W)


class Do(Module):
    """A function of parts and inputs as a module; buffers by name."""

    def __init__(self, function, *parts, **buffers):
        super().__init__()
        self.function = function
        self.parts = nn.ModuleList(parts)
        for name, value in buffers.items():
            self.register_buffer(name, value)

    def forward(self, x):
        return self.function(self, x)


def do(function, *makers, **buffers):
    return lambda: Do(
        function,
        *(make() for make in makers),
        **{name: value.clone() for name, value in buffers.items()},
    )


def apply(module, x):
    return module.parts[0](x)


def recurrent(kind, width=W, **how):
    return do(lambda m, x: m.parts[0](x)[0], partial(kind, W, width, batch_first=True, **how))


def padded(x):
    """True at some of the last two places."""
    return cat([zeros_like(x[:, :-2, 0], dtype=torch.bool), x[:, -2:, 0] > 0], 1)


def encoder(mask=False, **how):
    def layers():
        return nn.TransformerEncoder(
            nn.TransformerEncoderLayer(W, 2, 8, batch_first=True, **how), 1
        )

    return do(lambda m, x: m.parts[0](x, src_key_padding_mask=padded(x) if mask else None), layers)


def attention(**how):
    layer = partial(nn.MultiheadAttention, W, 2, batch_first=True, **how)
    return do(lambda m, x: m.parts[0](x, x, x, key_padding_mask=padded(x))[0], layer)


def channels(*makers):
    return do(lambda m, x: nn.Sequential(*m.parts)(x.mT).mT, *makers)


def bag(**how):
    return do(
        lambda m, x: m.parts[0](x)[:, None] * ones(5, 1),
        partial(nn.EmbeddingBag, 9, W, **how),
    )


def hooked(kind, hook):
    layer = Linear()
    getattr(layer, f"register_{kind}_hook")(hook)
    return layer


def skew():
    part = Linear()
    parametrize.register_parametrization(part, "weight", Do(lambda m, w: w.triu(1) - w.triu(1).mT))
    return part


def shared():
    first = Linear()
    second = Linear()
    second.weight = first.weight
    return nn.Sequential(first, nn.Tanh(), second)


class Parameters(Module):
    """Parameters of several kinds: a number, a list, complex by a view, unused, empty."""

    def __init__(self):
        super().__init__()
        self.scale, self.unused, self.empty = (
            Parameter(torch.rand(size) + 0.5) for size in ((), (3,), (0, 2))
        )
        self.matrices = nn.ParameterList((randn(2, W, W) / 3).unbind())
        self.phase = Parameter(randn(W // 2 + 1, 2))

    def forward(self, x):
        for matrix in self.matrices:
            x = tanh(x @ matrix) * self.scale.exp()
        return torch.fft.irfft(torch.fft.rfft(x) * torch.view_as_complex(self.phase), n=W)


class Sine(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sin()

    @staticmethod
    def backward(ctx, g):
        return g * ctx.saved_tensors[0].cos()


class Reversed(torch.autograd.Function):
    generate_vmap_rule = True
    setup_context = staticmethod(lambda ctx, inputs, output: None)
    forward = staticmethod(lambda x: x.clone())
    backward = staticmethod(lambda ctx, g: -g)


def energy(m, x):
    """Of each place the gradient of a learned energy, by torch.func."""
    slope = torch.func.grad(lambda z: tanh(m.parts[0](z)).sum())
    return x + torch.func.vmap(slope)(x.reshape(-1, W)).view_as(x)


def routed(m, x):
    out = zeros_like(x)
    on = x[..., 0] > 0
    out[on] = m.parts[0](x[on])
    out[~on] = m.parts[1](x[~on])
    return out


def moving(m, x):
    with torch.no_grad():
        m.b.mul_(0.9).add_(0.1)
    return m.parts[0](x * m.b)


def overwritten(m, x):
    z = m.parts[0](x.add_(0.1)).clone()
    z[..., :2] = z[..., 2:4] * 2
    return z


def kept(m, x):
    m.last = m.parts[0](x)
    return m.last


FLOATS = torch.linspace(0.5, 1.5, W, dtype=torch.float64)
TOKENS = {  # (N, 5) whole numbers -> (N, 5, W)
    "embedding": partial(Embedding, 9, W, padding_idx=0),
    "max_norm": partial(Embedding, 9, W, max_norm=1.0),
    "bag": bag(padding_idx=0),
    "bag sum": bag(mode="sum", sparse=True),
}
PLACES = {
    "lstm": recurrent(nn.LSTM),
    "gru": recurrent(nn.GRU, num_layers=2, dropout=0.2),
    "both ways": recurrent(nn.GRU, W // 2, bidirectional=True),
    "attention": attention(),
    "attention bias": attention(add_bias_kv=True, add_zero_attn=True),
    "encoder": encoder(norm_first=True, activation="gelu"),
    "encoder padded": encoder(True),
    "conv": channels(
        partial(nn.Conv1d, W, W, 3, padding=1, padding_mode="circular"), partial(nn.GroupNorm, 2, W)
    ),
    "transposed": channels(partial(nn.ConvTranspose1d, W, W, 3, padding=1, groups=2)),
    "batch": channels(partial(nn.BatchNorm1d, W, momentum=None)),
    "instance": channels(partial(nn.InstanceNorm1d, W, affine=True, track_running_stats=True)),
    "sort": do(lambda m, x: x.sort(1).values),
}
FEATURES = {
    "rms": partial(nn.RMSNorm, W),
    "selu in place": partial(nn.SELU, inplace=True),
    "dropout": partial(nn.Dropout, inplace=True),
    "glu": do(lambda m, x: F.glu(cat([m.parts[0](x), x], -1)), Linear),
    "spectral": lambda: P.spectral_norm(Linear()),
    "skew": skew,
    "shared": shared,
    "twice": do(lambda m, x: m.parts[0](tanh(m.parts[0](x))), Linear),
    "parameters": Parameters,
    "moving buffer": do(moving, Linear, b=FLOATS),
    "transposed tie": do(
        lambda m, x: x + F.linear(tanh(m.parts[0](x)), m.parts[0].weight.T), Linear
    ),
    "overwritten": do(overwritten, Linear),
    "hook": lambda: hooked("forward", lambda m, i, out: out * 1.5),
    "pre-hook": lambda: hooked("forward_pre", lambda m, i: (i[0] + 0.2,)),
    "backward hook": lambda: hooked("full_backward", lambda m, i, o: None),
    "own function": do(lambda m, x: Sine.apply(x)),
    "reversed": do(lambda m, x: x + Reversed.apply(m.parts[0](x)), Linear),
    "reversed by a hook": lambda: hooked("full_backward_pre", lambda m, g: tuple(-t for t in g)),
    "energy": do(energy, Linear),
    "routed": do(routed, Linear, Linear),
    "straight through": do(lambda m, x: x + (x.round() - x).detach() / 2),
}
INPUTS = {  # the first part, which has the inputs themselves
    "writes its input": do(lambda m, x: m.parts[0](x.mul_(0.5)), Linear),
    "in place first": partial(nn.LeakyReLU, inplace=True),
}
HABITS = INPUTS | {  # what users' modules do; the first two to the whole network
    "root hook": Linear,
    "patched": Linear,
    "layer hook": lambda: hooked("forward", lambda m, i, out: out + 0.1 * out.square()),
    "keeps": do(kept, Linear),
    "functional": do(lambda m, x: F.elu(x + 0.1 * torch.sin(m.parts[0](x))), Linear),
    "chunks": do(lambda m, x: cat(m.parts[0](x).chunk(2, -1)[::-1], -1), Linear),
    "numpy": do(
        lambda m, x: m.parts[0](x) * (1 if abs(m.parts[0].bias.detach().numpy()[0]) < 0.3 else -1),
        Linear,
    ),
    "branches": do(
        lambda m, x: m.parts[0](x) if float(m.parts[0].weight[0, 0]) > 0 else -x, Linear
    ),
}
KINDS = TOKENS | PLACES | FEATURES | HABITS


class Network(Module):
    def __init__(self, parts, named):
        super().__init__()
        self.parts = nn.ModuleList(parts)
        self.head = nn.Linear(W, 3)
        self.named = named

    def forward(self, x):
        for part in self.parts:
            x = part(x)
        out = self.head(x.mean(1))
        return {"logits": out} if self.named else out

    def waved(self, x):
        return Network.forward(self, x) * x.sum((1, 2))[:, None].cos()


def network(kind, seed):
    """(module in evaluation mode, inputs) of a kind of layer and some others."""
    draw = random.Random(seed)
    names = [kind, draw.choice(list(PLACES)), *draw.sample(list(FEATURES), 2)]
    if kind not in TOKENS | INPUTS:
        draw.shuffle(names)
    if kind not in TOKENS | HABITS and draw.random() < 0.2:
        names.insert(0, "embedding")
    torch.manual_seed(seed)
    named = kind not in HABITS and draw.random() < 0.2
    module = Network([KINDS[name]() for name in names], named).double().eval()
    if kind == "root hook":
        module.register_forward_hook(lambda m, i, out: out + 0.1 * out.square())
    if kind == "patched":
        module.forward = MethodType(Network.waved, module)
    module.head.bias.requires_grad_(draw.random() < 0.8)
    if names[0] in TOKENS:
        return module, torch.randint(0, 9, (10, 5))
    return module, randn(10, 5, W, dtype=torch.float64)


def loss_of(module, x, y):
    out = module(x.clone())
    return F.cross_entropy(out["logits"] if module.named else out, y)


def by_torch(net, module, x, y, w, v):
    """Loss, gradient and H v at w, by torch alone; None in place of an H v that torch has not."""
    module = copy.deepcopy(module)
    parameters = [module.get_parameter(block.name) for block in net.blocks]
    nn.utils.vector_to_parameters(w.detach(), parameters)

    def gradient_of(value, **how):
        parts = torch.autograd.grad(value, parameters, allow_unused=True, **how)
        dense = []
        for part, p in zip(parts, parameters):
            part = zeros_like(p) if part is None else part
            dense.append(part.to_dense().flatten())
        return cat(dense)

    with sdpa_kernel(SDPBackend.MATH):
        loss = loss_of(module, x, y)
        gradient = gradient_of(loss, create_graph=True)
        try:
            product = gradient_of(gradient @ v)
        except RuntimeError:
            product = None
    return loss.detach(), gradient.detach(), product


same = partial(torch.testing.assert_close, rtol=1e-6, atol=1e-7)
DRAWN = max(1, int(os.environ.get("FLATVIZ_FUZZ", 0)) // len(KINDS))


@mark.filterwarnings("ignore")
@mark.parametrize("seed", range(DRAWN))
@mark.parametrize(
    "kind", [kind if kind in HABITS else param(kind, marks=mark.long) for kind in KINDS]
)
def test_a_network_of_odd_layers_is_what_plain_torch_says(kind, seed):
    module, x = network(kind, seed + 1000 * list(KINDS).index(kind))
    state = copy.deepcopy(module.state_dict())
    y = torch.arange(10) % 3
    net = net_of(module)
    data = fv.Data(x.clone(), y)
    f = fv.nll(net, data)
    w = net.w + 0.1 * torch.randn_like(net.w)
    v = torch.randn_like(net.w)
    try:
        loss, gradient, product = by_torch(net, module, x, y, w, v)
    except RuntimeError:  # torch has no gradient: a layer works in place behind a backward hook
        skip("torch has no gradient of it")
    same(f(w), loss)
    same(f.many(w[None])[0], loss)
    same(f.value_and_grad(w)[1], gradient)
    if product is None:
        with refused("Hessian needs second derivatives of every layer, got "):
            fv.hvp(f, w, v)
    else:
        same(fv.hvp(f, w, v), product)
    u = w.roll(1)
    ggn = f.operator(w, "ggn")
    same(u @ ggn(v), v @ ggn(u))
    head = net_of(module, lambda name: name.startswith("head"))
    for part in (net, head):  # of the head all else is computed once
        plane = fv.plane_random(part, part.w, seed=1)
        surface = fv.slice_plane(fv.nll(part, data), plane, extent=1.0, resolution=3)
        points = surface.plane.points(torch.cartesian_prod(surface.a, surface.b))
        want = [loss_of(part.to_module(p).eval(), x, y) for p in points]
        same(surface.values.flatten(), torch.stack(want).detach())
    step = dict(
        steps=1,
        lr=0.1,
        momentum=0.0,
        weight_decay=0.0,
        batchnorm="frozen",
    )
    after = fv.fit_sgd(net.at(w), data, seed=0, **step)
    same(after.W[0], w - 0.1 * gradient)
    made = net.to_module(w)
    for one in (made, copy.deepcopy(made), net.copy().at(w).restrict("all").to_module()):
        same(loss_of(one.eval(), x, y).detach(), loss)
    assert torch.equal(data.x, x)
    assert all(torch.equal(t, state[n]) for n, t in module.state_dict().items())
    assert not any(p.grad is not None for p in module.parameters())
    assert torch.backends.mha.get_fastpath_enabled()


class Turned(Module):
    """Complex factors that lie at an odd place among the weights."""

    def __init__(self):
        super().__init__()
        self.one = Parameter(ones(1))
        self.phase = Parameter(ones(2, 2))

    def forward(self, x):
        spectrum = torch.fft.rfft(x * self.one)
        return torch.fft.irfft(spectrum * torch.view_as_complex(self.phase), n=3)


def test_a_complex_view_without_a_second_derivative_is_said_and_the_ggn_takes_it():
    net = net_of(Turned())
    f = fv.nll(net, blobs(6, 3, 3))
    v = ones(5)
    assert f.value_and_grad(net.w)[1].isfinite().all()
    assert f.operator(net.w, "ggn")(v).isfinite().all()
    with refused("second derivatives of every layer, got view_as_complex, for"):
        fv.hvp(f, net.w, v)
