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
from cases import blobs, net_of, random_surface, refused
from pytest import mark, param, skip
from torch import cat, nn, ones, randn, tanh, zeros_like
from torch.nn import Embedding, Module, Parameter
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.utils import parametrizations as P
from torch.nn.utils import parametrize
from torch.testing import assert_close

import flatviz as fv

W = 6  # features of each of 5 places
Linear = partial(nn.Linear, W, W)


class Do(Module):
    """A function of inputs and layers as a module."""

    def __init__(self, function, *layers):
        super().__init__()
        self.function = function
        self.layers = nn.ModuleList(layers)

    def forward(self, x):
        return self.function(x, *self.layers)


def do(function, *makers):
    """A maker of the module function(x, *layers), with layers of these makers."""
    return lambda: Do(function, *(make() for make in makers))


def recurrent(kind, width=W, **how):
    layer = partial(kind, W, width, batch_first=True, **how)
    return do(lambda x, layer: layer(x)[0], layer)


def padded(x):
    """True at some of the last two places."""
    mask = x[..., 0] > 0
    mask[:, :-2] = False
    return mask


def encoder(mask=False, **how):
    def encode(x, layers):
        return layers(x, src_key_padding_mask=padded(x) if mask else None)

    def layers():
        layer = nn.TransformerEncoderLayer(W, 2, 8, batch_first=True, **how)
        return nn.TransformerEncoder(layer, 1)

    return do(encode, layers)


def attention(**how):
    def attend(x, layer):
        out, _ = layer(x, x, x, key_padding_mask=padded(x))
        return out

    return do(attend, partial(nn.MultiheadAttention, W, 2, batch_first=True, **how))


def channels(*makers):
    return do(lambda x, *layers: nn.Sequential(*layers)(x.mT).mT, *makers)


def bag(**how):
    at_each_place = lambda x, layer: layer(x)[:, None] * ones(5, 1)
    return do(at_each_place, partial(nn.EmbeddingBag, 9, W, **how))


def hooked(kind, hook):
    layer = Linear()
    getattr(layer, f"register_{kind}_hook")(hook)
    return layer


def skew():
    def antisymmetric(w):
        upper = w.triu(1)
        return upper - upper.mT

    layer = Linear()
    parametrize.register_parametrization(layer, "weight", Do(antisymmetric))
    return layer


def shared():
    first = Linear()
    second = Linear()
    second.weight = first.weight
    return nn.Sequential(first, nn.Tanh(), second)


class Parameters(Module):
    """Parameters of several kinds: a number, a list, complex by a view, unused, empty."""

    def __init__(self):
        super().__init__()
        self.scale = Parameter(torch.rand(()) + 0.5)
        self.unused = Parameter(torch.rand(3))
        self.empty = Parameter(torch.rand(0, 2))
        matrices = randn(2, W, W) / 3
        self.matrices = nn.ParameterList(matrices.unbind())
        self.phase = Parameter(randn(W // 2 + 1, 2))

    def forward(self, x):
        for matrix in self.matrices:
            x = tanh(x @ matrix) * self.scale.exp()
        factors = torch.view_as_complex(self.phase)
        spectrum = torch.fft.rfft(x) * factors
        return torch.fft.irfft(spectrum, n=W)


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


def energy(x, layer):
    """Of each place the gradient of a learned energy, by torch.func."""
    slope = torch.func.grad(lambda z: tanh(layer(z)).sum())
    slopes = torch.func.vmap(slope)(x.reshape(-1, W))
    return x + slopes.view_as(x)


def routed(x, first, second):
    out = zeros_like(x)
    on = x[..., 0] > 0
    out[on] = first(x[on])
    out[~on] = second(x[~on])
    return out


class Moving(Module):
    """A buffer that moves with each pass."""

    def __init__(self):
        super().__init__()
        self.layer = Linear()
        self.register_buffer("scale", torch.linspace(0.5, 1.5, W).double())

    def forward(self, x):
        with torch.no_grad():
            self.scale.mul_(0.9).add_(0.1)
        return self.layer(x * self.scale)


def overwritten(x, layer):
    inputs = x.add_(0.1)
    z = layer(inputs).clone()
    z[..., :2] = z[..., 2:4] * 2
    return z


class Keeps(Module):
    """It keeps what it returned."""

    def __init__(self):
        super().__init__()
        self.layer = Linear()

    def forward(self, x):
        self.last = self.layer(x)
        return self.last


def glu(x, layer):
    gates = cat([layer(x), x], -1)
    return F.glu(gates)


def swapped(x, layer):
    first, second = layer(x).chunk(2, -1)
    return cat([second, first], -1)


def signed_by_numpy(x, layer):
    bias = layer.bias.detach().numpy()
    sign = 1 if abs(bias[0]) < 0.3 else -1
    return sign * layer(x)


def branched(x, layer):
    positive = float(layer.weight[0, 0]) > 0
    return layer(x) if positive else -x


def with_square(module, inputs, out):
    """A hook."""
    return out + 0.1 * out.square()


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
        partial(nn.Conv1d, W, W, 3, padding=1, padding_mode="circular"),
        partial(nn.GroupNorm, 2, W),
    ),
    "transposed": channels(
        partial(nn.ConvTranspose1d, W, W, 3, padding=1, groups=2),
    ),
    "batch": channels(
        partial(nn.BatchNorm1d, W, momentum=None),
    ),
    "instance": channels(
        partial(nn.InstanceNorm1d, W, affine=True, track_running_stats=True),
    ),
    "sort": do(lambda x: x.sort(1).values),
}
FEATURES = {
    "rms": partial(nn.RMSNorm, W),
    "selu in place": partial(nn.SELU, inplace=True),
    "dropout": partial(nn.Dropout, inplace=True),
    "glu": do(glu, Linear),
    "spectral": lambda: P.spectral_norm(Linear()),
    "skew": skew,
    "shared": shared,
    "twice": do(lambda x, layer: layer(tanh(layer(x))), Linear),
    "parameters": Parameters,
    "moving buffer": Moving,
    "transposed tie": do(
        lambda x, layer: x + F.linear(tanh(layer(x)), layer.weight.T),
        Linear,
    ),
    "overwritten": do(overwritten, Linear),
    "hook": lambda: hooked("forward", lambda m, i, out: out * 1.5),
    "pre-hook": lambda: hooked("forward_pre", lambda m, i: i[0] + 0.2),
    "backward hook": lambda: hooked("full_backward", lambda m, i, o: None),
    "own function": do(Sine.apply),
    "reversed": do(lambda x, layer: x + Reversed.apply(layer(x)), Linear),
    "reversed by a hook": lambda: hooked("full_backward_pre", lambda m, g: (-g[0],)),
    "energy": do(energy, Linear),
    "routed": do(routed, Linear, Linear),
    "straight through": do(lambda x: x + (x.round() - x).detach() / 2),
}
INPUTS = {  # the first part, which has the inputs themselves
    "writes its input": do(lambda x, layer: layer(x.mul_(0.5)), Linear),
    "in place first": partial(nn.LeakyReLU, inplace=True),
}
HABITS = INPUTS | {  # what users' modules do; the first two to the whole network
    "root hook": Linear,
    "patched": Linear,
    "layer hook": lambda: hooked("forward", with_square),
    "keeps": Keeps,
    "functional": do(lambda x, layer: F.elu(x + 0.1 * layer(x).sin()), Linear),
    "chunks": do(swapped, Linear),
    "numpy": do(signed_by_numpy, Linear),
    "branches": do(branched, Linear),
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
        wave = x.sum((1, 2)).cos()
        return wave[:, None] * Network.forward(self, x)


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
    parts = [KINDS[name]() for name in names]
    module = Network(parts, named).double().eval()
    if kind == "root hook":
        module.register_forward_hook(with_square)
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


same = partial(assert_close, rtol=1e-6, atol=1e-7)
DRAWN = max(1, int(os.environ.get("FLATVIZ_FUZZ", 0)) // len(KINDS))


@mark.filterwarnings("ignore")
@mark.parametrize("seed", range(DRAWN))
@mark.parametrize(
    "kind", [kind if kind in HABITS else param(kind, marks=mark.long) for kind in KINDS]
)
def test_a_network_of_odd_layers_is_what_plain_torch_says(kind, seed):
    number = list(KINDS).index(kind)
    module, x = network(kind, seed + 1000 * number)
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
        surface = random_surface(fv.nll(part, data), extent=1.0, resolution=3)
        grid = torch.cartesian_prod(surface.a, surface.b)
        points = surface.plane.points(grid)
        want = [loss_of(part.to_module(p).eval(), x, y) for p in points]
        same(surface.values.flatten(), torch.stack(want).detach())
    step = dict(steps=1, batchnorm="frozen")
    fields = dict(lr=0.1, momentum=0.0, weight_decay=0.0)
    after = fv.fit(net.at(w), data, fv.SGD(**fields), seed=0, **step)
    same(after.W[0], w - 0.1 * gradient)
    made = net.to_module(w)
    restricted = net.copy().at(w).restrict("all").to_module()
    for one in (made, copy.deepcopy(made), restricted):
        same(loss_of(one.eval(), x, y).detach(), loss)
    assert torch.equal(data.x, x)
    assert_close(module.state_dict(), state, rtol=0, atol=0, equal_nan=True)
    assert all(p.grad is None for p in module.parameters())
    assert torch.backends.mha.get_fastpath_enabled()


class Turned(Module):
    """Complex factors that lie at an odd place among the weights."""

    def __init__(self):
        super().__init__()
        self.one = Parameter(ones(1))
        self.phase = Parameter(ones(2, 2))

    def forward(self, x):
        factors = torch.view_as_complex(self.phase)
        spectrum = torch.fft.rfft(x * self.one) * factors
        return torch.fft.irfft(spectrum, n=3)


def test_a_complex_view_without_a_second_derivative_is_said_and_the_ggn_takes_it():
    net = net_of(Turned())
    f = fv.nll(net, blobs(6, 3, 3))
    v = ones(5)
    _, gradient = f.value_and_grad(net.w)
    assert gradient.isfinite().all()
    ggn = f.operator(net.w, "ggn")
    assert ggn(v).isfinite().all()
    with refused("second derivatives of every layer, got view_as_complex, for"):
        fv.hvp(f, net.w, v)
