"""What belongs to the user stays as it is, and modules of every habit are copied, or refused with
one clear error."""

import contextlib
import copy
import os
import signal
import sys
import threading
import weakref
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import torch
from cases import around, blobs, fitted_by, mlp, net_of, refused
from oracles import equal as same
from pytest import mark
from torch import autograd, equal, float64, nn, no_grad, randn, stack, tanh
from torch.nn import Conv2d, Linear, Sequential
from torch.nn import functional as F
from torch.testing import assert_close

import flatviz as fv
from flatviz.core import find_head, replace_head


def plain():
    return mlp(5, 8, 3).eval()


def examples():
    return blobs(12, 5, 3)


class Clamped(Linear):
    def __init__(self, by):
        super().__init__(5, 3)
        self.by = by

    def forward(self, x):
        weight = self.weight.data if self.by == "data" else self.weight
        with no_grad():
            weight.clamp_(-0.1, 0.1)
        return super().forward(x)


class Counting(Linear):
    """Counts its passes in a buffer, in place or by another tensor, and scales by the count."""

    def __init__(self, in_place):
        super().__init__(5, 3)
        self.in_place = in_place
        self.register_buffer("count", torch.ones(()))

    def forward(self, x):
        self.count = self.count.add_(1) if self.in_place else self.count + 1
        return super().forward(x) * self.count


WRITERS = {
    # rows of the table are shortened in it in every pass
    "max_norm": lambda: Sequential(nn.Embedding(9, 6, max_norm=1.0), nn.Flatten(), Linear(24, 3)),
    "clamp": lambda: Clamped("no_grad"),
    "clamp of .data": lambda: Clamped("data"),
    "buffer in place": lambda: Counting(True),
    "another buffer": lambda: Counting(False),
}


@mark.parametrize("name", WRITERS)
def test_a_forward_that_writes_into_its_weights_or_buffers_writes_into_copies(name):
    module = WRITERS[name]().eval()
    x = torch.randint(0, 9, (12, 4)) if name == "max_norm" else randn(12, 5)
    net = net_of(module)
    data = fv.Data(x, torch.arange(12) % 3)
    f = fv.nll(net, data)
    W = net.w + randn(3, net.dim)
    before = [t.clone() for t in (net.w, W, *net.buffers().values())]

    def once(w):
        fresh = copy.deepcopy(module)
        nn.utils.vector_to_parameters(w.clone(), fresh.parameters())
        return F.cross_entropy(fresh(x), data.y).detach()

    want = stack([once(w) for w in W])
    for _ in range(2):
        assert_close(f.many(W), want)
        found = stack([f(w) for w in W]).detach()
        assert_close(found, want)
    fv.predict(net, fv.Draws(W), data, 3, seed=0)
    fv.fit(net, data, fv.SGD(), seed=0, steps=2)
    fv.fit(net, data, fv.Ensemble(members=2), seed=0, steps=2)
    plane = fv.plane_random(net, net.w, seed=0)
    surface = fv.slice_plane(f, plane, extent=1.0, resolution=3)
    at = plane.points(torch.cartesian_prod(surface.a, surface.b))
    assert_close(surface.values.flatten(), stack([once(w) for w in at]))
    assert same([net.w, W, *net.buffers().values()], before)


@mark.parametrize("norm", [nn.BatchNorm1d, nn.LayerNorm])  # members alone, and stacked
def test_inputs_are_never_written_into_by_any_verb(norm):
    layers = nn.ReLU(inplace=True), Linear(5, 8), norm(8), nn.Dropout(0.2), Linear(8, 3)
    net = net_of(Sequential(*layers).eval())
    data = examples()
    x = data.x.clone()
    short = dict(seed=0, steps=2)
    fv.fit(net, data, fv.SGD(), **short)
    fv.fit(net, data, fv.Dropout(), **short)
    fv.fit(net, data, fv.Laplace(structure="diagonal"), **short)
    fv.fit(net, data, fv.Ensemble(members=2), **short)
    fv.metrics.predict_linearised(net, around(net, -3.0), data)
    fv.engine.refresh_batchnorm(net, net.w, data)
    assert equal(data.x, x)


class Keeping(Linear):
    """Keeps activations from pass to pass, one of them in a list."""

    def forward(self, x):
        self.last = super().forward(x)
        self.all = [self.last, {"more": self.last * 2}]
        return self.last


def test_a_module_that_keeps_an_activation_can_be_copied_after_a_gradient():
    module = Keeping(5, 3).eval()
    module(randn(2, 5)).sum().backward()
    net = net_of(module)
    data = examples()
    f = fv.nll(net, data)
    fv.hvp(f, net.w, net.w)
    f.value_and_grad(net.w)
    for again in (net.copy(), net.to(dtype=float64), net_of(net.to_module())):
        assert equal(again.w.float(), net.w)
    fv.fit(net, data, fv.SGD(), seed=0, steps=2)


class Locked(Linear):
    def __init__(self):
        super().__init__(5, 3)
        self.lock = threading.Lock()


class Shared(Linear):
    """As frozen teachers do, so that running averages of a model share them."""

    def __deepcopy__(self, memo):
        return self


class Merging(nn.Module):
    """Loralib's layer: eval() merges the factors into the weight."""

    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(randn(3, 5))
        self.a = nn.Parameter(randn(2, 5))
        self.b = nn.Parameter(randn(3, 2))

    def train(self, mode=True):
        super().train(mode)
        if not mode:
            self.w.data += self.b.data @ self.a.data
        return self

    def forward(self, x):
        return F.linear(x, self.w)


REFUSED = {
    "scripted": (
        lambda: torch.jit.script(Linear(5, 3)),
        "got a scripted one .*: give the module that torch.jit compiled",
    ),
    "lazy": (
        lambda: Sequential(nn.LazyLinear(3)),
        r"got an uninitialised lazy layer in '0': run module\(x\) once before",
    ),
    "weight norm": (
        lambda: Sequential(nn.utils.weight_norm(Linear(5, 3))),
        "in '0': use .*parametrizations.weight_norm",
    ),
    "spectral norm": (
        lambda: nn.utils.spectral_norm(Linear(5, 3)),
        "use torch.nn.utils.parametrizations.spectral_norm",
    ),
    "lock": (
        Locked,
        (
            "module must be one that can be copied, got Locked.*lock.*: make locks, files and"
            " connections outside"
        ),
    ),
    "shared": (
        lambda: Sequential(Shared(5, 3)),
        "can be copied, got Shared, whose __deepcopy__ returns itself",
    ),
    "merged": (
        Merging,
        (
            r"eval\(\) must leave weights as they are, got others in w, merged from treated ones"
            r" \(LoRA\)"
        ),
    ),
}


@mark.filterwarnings("ignore")
@mark.parametrize("make, message", REFUSED.values(), ids=REFUSED)
def test_modules_that_cannot_be_followed_say_what_to_do(make, message):
    module = make()
    with refused(message):
        net_of(module)
    assert all(m.training for m in module.modules())
    assert all(p.requires_grad for p in module.parameters())


class Listed(Linear):
    """A second reference to a parameter, in a list, a closure or a default."""

    def __init__(self, refer):
        super().__init__(5, 3)
        self.second = refer(self.weight)

    def forward(self, x):
        weight = self.second() if callable(self.second) else self.second[0]
        return super().forward(x) * weight.norm()


def hooked(refer):
    """A hook scales the outputs by the length of a parameter of `refer(module)()`."""
    module = plain()
    original = refer(module)
    module[2].register_forward_hook(lambda part, inputs, out: out * original()[0].weight.norm())
    return module


def compiled_forward():
    module = plain()
    module.forward = torch.compile(module.forward, backend="eager")
    return module


ELSEWHERE = {
    "hook of a closure": lambda: hooked(lambda module: lambda: module),
    "hook of a weak reference": lambda: hooked(weakref.ref),
    "compiled forward": compiled_forward,
    "list": lambda: Listed(lambda weight: [weight]),
    "closure": lambda: Listed(lambda weight: lambda: weight),
    "default": lambda: Listed(lambda weight: lambda same=weight: same),
}
READS = (
    "must read its weights where they are parameters, got .*a closure, .* or a second reference to"
    " a parameter"
)


@mark.parametrize("name", ELSEWHERE)
def test_a_forward_that_goes_on_to_use_the_original_is_refused(name):
    module = ELSEWHERE[name]().eval()
    data = examples()
    net = net_of(module)
    for one in (net, net.copy()):
        with refused(READS):
            fv.nll(one, data)
        with refused(READS):
            one(one.w, data.x)


def test_a_hook_may_use_another_module():
    module = plain()
    other = Linear(3, 3)
    module.register_forward_hook(lambda part, inputs, out: other(out))
    net = net_of(module)
    x = randn(12, 5)
    assert_close(net(net.w, x), module(x))


class Adjoint(autograd.Function):
    """As in torchdiffeq's odeint_adjoint, RevNets and memcnn: the backward pass runs the layer
    again."""

    @staticmethod
    def forward(ctx, layer, x, *parameters):
        ctx.layer = layer
        ctx.save_for_backward(x, *parameters)
        with no_grad():
            return tanh(layer(x))

    @staticmethod
    def backward(ctx, grad):
        x, *parameters = ctx.saved_tensors
        with torch.enable_grad():
            x = x.detach().requires_grad_(True)
            return (None, *autograd.grad(tanh(ctx.layer(x)), [x, *parameters], grad))


class Again(nn.Module):
    def __init__(self, run):
        super().__init__()
        self.a = Linear(5, 6)
        self.b = Linear(6, 6)
        self.head = Linear(6, 3)
        self.run = run

    def forward(self, x):
        return self.head(self.run(self.b, tanh(self.a(x))))


def once(layer, x):
    return tanh(layer(x))


def checkpoint(layer, x):
    return torch.utils.checkpoint.checkpoint(once, layer, x, use_reentrant=False)


def adjoint(layer, x):
    return Adjoint.apply(layer, x, *layer.parameters())


@mark.parametrize("run", (checkpoint, adjoint))
def test_layers_that_run_again_in_the_backward_pass_have_values_and_no_gradients(run):
    module = Again(once).eval()
    again = Again(run).eval()
    again.load_state_dict(module.state_dict())
    data = examples()
    want = fv.nll(net_of(module), data)
    got = fv.nll(net_of(again), data)
    w = want.net.w
    W = stack([w, 1.5 * w])
    assert_close(got.many(W), want.many(W))
    for verb in (
        lambda: got.value_and_grad(w),
        lambda: got.net(w, data.x.clone().requires_grad_()),
        lambda: fv.fit(got.net, data, fv.SGD(), seed=0, steps=2),
        lambda: fv.hvp(got, w, w),
    ):
        with refused("gradient needs a module that runs once, got Again, which runs layers again"):
            verb()


def test_one_net_in_several_threads_gives_the_values_of_one():
    net = net_of(plain())
    data = blobs(200, 5, 3)
    f = fv.nll(net, data)
    W = net.w + randn(30, net.dim)
    want = stack([f(w) for w in W])
    fit = partial(fitted_by(fv.SGD), net, data, seed=0, steps=10, batch_size=16)
    fitted = fit().W
    with ThreadPoolExecutor(4) as threads:
        values = [threads.submit(lambda: stack([f(w) for w in W])) for _ in range(4)]
        fits = [threads.submit(fit) for _ in range(4)]
    for value in values:
        assert equal(value.result(), want)
    for q in fits:
        assert equal(q.result().W, fitted)


@contextlib.contextmanager
def thread_inside(net, x, seconds):
    """Another thread is in the middle of a pass at other weights, for so long at most."""
    inside = threading.Event()
    leave = threading.Event()

    def pause(*_):
        if threading.current_thread() is not threading.main_thread():
            inside.set()
            leave.wait(seconds)

    net.module[0].register_forward_hook(pause)
    with ThreadPoolExecutor(1) as thread:
        job = thread.submit(net, (2 * net.w).requires_grad_(), x)
        inside.wait()
        yield
        leave.set()
        assert job.result().shape == (len(x), 3)


def test_a_net_is_copied_while_another_thread_computes():
    net = net_of(plain())
    # The copy waits for the pass, so this runs out
    with thread_inside(net, randn(200, 5), 0.2):
        copies = [net.copy(), net.to(dtype=float64), net_of(net.to_module())]
    for other in copies:
        assert equal(other.w.float(), net.w)
        assert all(isinstance(p, nn.Parameter) for p in other.module.parameters())


@mark.skipif(
    sys.platform != "linux",
    reason="Windows has no fork; on macOS its child may crash in the system's libraries",
)
def test_a_process_forked_while_a_thread_is_inside_the_net_goes_on():
    net = net_of(plain())
    x = randn(4, 5)
    with thread_inside(net, x, 60):
        # It would wait for ever, with the thread's weights in the module
        if (child := os.fork()) == 0:
            signal.alarm(60)
            os._exit(0 if equal(net.at(net.w).to_module()(x), net(net.w, x)) else 1)
        assert os.waitpid(child, 0)[1] == 0


@mark.parametrize("last", [nn.Softmax(-1), nn.Sigmoid(), Sequential(nn.Softmax(-1), nn.Flatten())])
def test_probabilities_are_not_taken_for_logits(last):
    net = net_of(Sequential(Linear(5, 3), last))
    data = examples()
    for verb in (
        lambda: fv.nll(net, data),
        lambda: fv.fit(net, data, fv.SGD(), seed=0, steps=1),
        lambda: fv.predict(net, net.w[None], data, 1, seed=0),
    ):
        with refused("must return logits, got probabilities from S.*: leave the last layer out"):
            verb()
    means = fv.Data(data.x, torch.rand(12, 3))
    fv.nll(net, means, likelihood=0.1)


def test_log_probabilities_are_logits():
    module = plain()
    data = examples()
    f = fv.nll(net_of(module), data)
    net = net_of(Sequential(module, nn.LogSoftmax(-1)))
    logs = fv.nll(net, data)
    assert_close(f(f.net.w), logs(logs.net.w))


def test_weights_are_computed_anew_inside_of_torchs_cache_of_them():
    module = Sequential(
        nn.utils.parametrizations.weight_norm(Linear(5, 6)), nn.Tanh(), Linear(6, 3)
    ).eval()
    net = fv.Net.from_module(module)
    x = randn(12, 5)
    with nn.utils.parametrize.cached():
        got = [net(w, x) for w in (net.w, 2 * net.w)]
    assert_close(got, [net.to_module(w)(x) for w in (net.w, 2 * net.w)])


def test_looking_for_a_head_leaves_statistics_and_modes_of_a_module_in_training():
    module = Sequential(Linear(3, 4), nn.BatchNorm1d(4), Linear(4, 2)).train()
    before = module[1].running_mean.clone()
    assert find_head(module, randn(8, 3) + 5) == "2"
    assert torch.equal(module[1].running_mean, before)
    assert module[1].training


@mark.parametrize(
    "head",
    [
        Conv2d(4, 4, 3, padding=2, dilation=2, groups=2, padding_mode="reflect"),
        nn.ConvTranspose2d(4, 4, 3, stride=2, output_padding=1),
    ],
)
def test_a_new_head_is_a_convolution_of_the_same_geometry(head):
    x = randn(2, 4, 8, 8)
    module = Sequential(Conv2d(4, 4, 1), head)
    want = module(x).shape[2:]
    replace_head(module, 6, head="1")
    assert module(x).shape == (2, 6, *want)


def test_the_authors_rule_takes_a_part_anywhere_in_a_name():
    layers = OrderedDict(layernorm_before=nn.LayerNorm(3), head=Linear(3, 2))
    assert fv.Net.from_module(Sequential(layers), "authors").treats_all


def test_bn_in_the_middle_of_a_name_makes_no_resnet():
    layers = {"subnet": nn.LayerNorm(3), "norm": nn.LayerNorm(3), "head": Linear(3, 2)}
    net = fv.Net.from_module(Sequential(OrderedDict(layers)), "authors")
    assert {b.name.partition(".")[0] for b in net.blocks} == {"norm", "head"}
