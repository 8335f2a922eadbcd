"""What belongs to the user stays as it is, and modules of every habit are copied, or refused with one clear error."""

import functools
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from torch import nn
from torch.nn import functional as F

import flatviz as fv


@pytest.fixture(autouse=True)
def seeded():
    with torch.random.fork_rng():
        yield


class Embedded(nn.Module):
    """`max_norm` writes shortened rows into the table in every pass."""

    def __init__(self):
        super().__init__()
        self.table, self.head = nn.Embedding(9, 6, max_norm=1.0), nn.Linear(6, 3)

    def forward(self, x):
        return self.head(self.table(x).mean(1))


class Clamped(nn.Module):
    def __init__(self, by):
        super().__init__()
        self.a, self.head, self.by = nn.Linear(5, 6), nn.Linear(6, 3), by

    def forward(self, x):
        if self.by == "data":
            self.a.weight.data.clamp_(-0.1, 0.1)
        else:
            with torch.no_grad():
                self.a.weight.clamp_(-0.1, 0.1)
        return self.head(torch.tanh(self.a(x)))


WRITERS = {
    "max_norm": (Embedded, lambda: torch.randint(0, 9, (12, 4))),
    "clamp": (lambda: Clamped("no_grad"), lambda: torch.randn(12, 5)),
    "clamp of .data": (lambda: Clamped("data"), lambda: torch.randn(12, 5)),
}


@pytest.mark.parametrize("name", WRITERS)
def test_a_forward_that_writes_into_its_weights_writes_into_copies(name):
    make, inputs = WRITERS[name]
    module = make().eval()
    net, data = fv.Net.from_module(module), fv.Data(inputs(), torch.arange(12) % 3)
    before, W = net.w.clone(), net.w + torch.randn(3, net.dim)
    kept = W.clone()
    f = fv.nll(net, data)
    want = torch.stack([F.cross_entropy(net.to_module(w)(data.x), data.y) for w in W]).detach()
    torch.testing.assert_close(f.many(W), want)
    torch.testing.assert_close(torch.stack([f(w) for w in W]).detach(), want)
    torch.testing.assert_close(fv.predict(net, fv.Draws(W), data, 3, seed=0).outputs.shape, (3, 12, 3))
    fv.slice_plane(f, fv.plane_random(net, net.w, seed=0), extent=1.0, resolution=3)
    fv.fit_sgd(net, data, seed=0, steps=2)
    assert torch.equal(net.w, before) and torch.equal(W, kept)


class Counting(nn.Module):
    """Counts its passes in a buffer, in place or by another tensor, and scales by the count."""

    def __init__(self, in_place):
        super().__init__()
        self.a, self.in_place = nn.Linear(5, 3), in_place
        self.register_buffer("count", torch.ones(()))

    def forward(self, x):
        if self.in_place:
            self.count += 1
        else:
            self.count = self.count + 1
        return self.a(x) * self.count


@pytest.mark.parametrize("in_place", [True, False])
def test_a_forward_that_writes_into_a_buffer_writes_into_a_copy(in_place):
    net, data = fv.Net.from_module(Counting(in_place).eval()), fv.Data(torch.randn(12, 5), torch.arange(12) % 3)
    f, W = fv.nll(net, data), net.w + torch.randn(3, net.dim)
    layer = nn.Linear(5, 3)

    def once(w):
        nn.utils.vector_to_parameters(w, layer.parameters())
        return F.cross_entropy(2 * layer(data.x), data.y).detach()

    want = torch.stack([once(w) for w in W])
    for _ in range(2):
        torch.testing.assert_close(f.many(W), want)
        torch.testing.assert_close(torch.stack([f(w) for w in W]).detach(), want)
    fv.metrics.predict_linearised(net, fv.Gaussian(net.w, torch.full_like(net.w, -3.0)), data)
    fv.fit_ensemble(net, data, seed=0, steps=2, members=2)
    plane = fv.plane_random(net, net.w, seed=0)
    surface = fv.slice_plane(f, plane, extent=1.0, resolution=3)
    at = plane.points(torch.cartesian_prod(surface.a, surface.b))
    torch.testing.assert_close(surface.values.flatten(), torch.stack([once(w) for w in at]))
    assert float(net.buffers()["count"]) == 1


def chain():
    """ReLU over the inputs themselves, and a dropout for `fit_dropout`."""
    return nn.Sequential(nn.ReLU(inplace=True), nn.Linear(5, 8), nn.Dropout(0.2), nn.Linear(8, 3))


def no_chain():
    """The same layers, which cannot be run for several members at once by stacked products."""
    module = chain()
    module.register_forward_hook(lambda part, inputs, out: out)
    return module


def with_batchnorm():
    return fv.Net.from_module(nn.Sequential(nn.ReLU(inplace=True), nn.Linear(5, 8), nn.BatchNorm1d(8), nn.Linear(8, 3)))


VERBS = {
    "fit_dropout": lambda net, data: fv.fit_dropout(net, data, seed=0, steps=2),
    "fit_laplace": lambda net, data: fv.fit_laplace(net, data, seed=0, structure="diagonal", steps=2),
    "predict_linearised": lambda net, data: fv.metrics.predict_linearised(
        net, fv.Gaussian(net.w, torch.full_like(net.w, -3.0)), data
    ),
    "fit_sgd": lambda net, data: fv.fit_sgd(net, data, seed=0, steps=2),
    "fit_ensemble": lambda net, data: fv.fit_ensemble(net, data, seed=0, steps=2, members=2),
    "refresh_batchnorm": lambda net, data: fv.engine.refresh_batchnorm(normed := with_batchnorm(), normed.w, data),
}


@pytest.mark.parametrize("make", [no_chain, chain])
@pytest.mark.parametrize("name", VERBS)
def test_inputs_are_never_written_into_by_any_verb(name, make):
    x = torch.randn(12, 5)
    net, data = fv.Net.from_module(make().eval()), fv.Data(x.clone(), torch.arange(12) % 3)
    VERBS[name](net, data)
    assert torch.equal(data.x, x)


class Keeping(nn.Module):
    """Keeps activations from pass to pass, one of them in a list."""

    def __init__(self):
        super().__init__()
        self.a, self.head = nn.Linear(5, 6), nn.Linear(6, 3)

    def forward(self, x):
        self.last = torch.tanh(self.a(x))
        self.all = [self.last, {"more": self.last * 2}]
        return self.head(self.last)


def test_a_module_that_keeps_an_activation_can_be_copied_after_a_gradient():
    module = Keeping().eval()
    module(torch.randn(2, 5)).sum().backward()
    net, data = fv.Net.from_module(module), fv.Data(torch.randn(12, 5), torch.arange(12) % 3)
    f = fv.nll(net, data)
    fv.hvp(f, net.w, net.w)
    w = net.w.clone().requires_grad_(True)
    torch.autograd.grad(f(w), w)
    for again in (net.copy(), net.to(dtype=torch.float64), fv.Net.from_module(net.to_module())):
        assert torch.equal(again.w.float(), net.w)
    fv.slice_plane(f, fv.plane_random(net, net.w, seed=0), extent=1.0, resolution=3)
    fv.fit_sgd(net, data, seed=0, steps=2)


def test_a_module_comes_back_with_its_own_requires_grad():
    module = nn.Sequential(nn.Linear(5, 6), nn.Tanh(), nn.Linear(6, 3))
    module[0].requires_grad_(False)
    net = fv.Net.from_module(module)
    for again in (
        net,
        net.at(net.w + 1),
        net.to(dtype=torch.float64),
        net.copy(),
        net.restrict(lambda name: name.startswith("2")),
    ):
        flags = [p.requires_grad for p in again.to_module().parameters()]
        assert flags == [False, False, True, True]
    assert not any(p.requires_grad for p in net.module.parameters())


class Locked(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.lock = nn.Linear(5, 3), threading.Lock()

    def forward(self, x):
        return self.a(x)


class Shared(nn.Module):
    """As frozen teachers do, so that running averages of a model share them."""

    def __init__(self):
        super().__init__()
        self.a = nn.Linear(5, 3)

    def __deepcopy__(self, memo):
        return self

    def forward(self, x):
        return self.a(x)


class Merging(nn.Module):
    """Loralib's layer: eval() merges the factors into the weight."""

    def __init__(self):
        super().__init__()
        self.w, self.a, self.b = (nn.Parameter(torch.randn(shape)) for shape in ((3, 5), (2, 5), (3, 2)))

    def train(self, mode=True):
        super().train(mode)
        if not mode:
            self.w.data += self.b.data @ self.a.data
        return self

    def forward(self, x):
        return F.linear(x, self.w)


def scripted():
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.jit.script(nn.Sequential(nn.Linear(5, 3)))


def weight_normed():
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return nn.Sequential(torch.nn.utils.weight_norm(nn.Linear(5, 3)))


REFUSED = {
    "scripted": (scripted, "got a scripted one .*: give the module that torch.jit compiled"),
    "lazy": (lambda: nn.Sequential(nn.LazyLinear(3)), r"got an uninitialised lazy layer in '0': run module\(x\) once before"),
    "weight norm": (weight_normed, "got the old weight_norm in '0': use torch.nn.utils.parametrizations.weight_norm"),
    "spectral norm": (lambda: nn.utils.spectral_norm(nn.Linear(5, 3)), "use torch.nn.utils.parametrizations.spectral_norm"),
    "lock": (Locked, "module must be one that can be copied, got Locked.*lock.*: make locks, files and connections outside"),
    "shared": (
        lambda: nn.Sequential(Shared()),
        "must be one that can be copied, got Shared, whose __deepcopy__ returns itself",
    ),
    "merged": (Merging, r"eval\(\) must leave weights as they are, got others in w, merged from treated ones \(LoRA\)"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_modules_that_cannot_be_followed_say_what_to_do(name):
    make, message = REFUSED[name]
    module = make()
    with pytest.raises(ValueError, match=message):
        fv.Net.from_module(module)
    assert all(m.training for m in module.modules()) and all(p.requires_grad for p in module.parameters())


class Listed(nn.Module):
    """A second reference to a parameter, in a list, a closure or a default."""

    def __init__(self, how):
        super().__init__()
        self.a, self.how = nn.Linear(5, 3), how
        weight = self.a.weight
        if how == "list":
            self.held = [weight]
        else:
            self.size = (lambda: weight.norm()) if how == "closure" else (lambda weight=weight: weight.norm())

    def forward(self, x):
        return self.a(x) * (self.held[0].norm() if self.how == "list" else self.size())


def plain():
    return nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 3)).eval()


def hook_of_a_closure():
    module = plain()

    def scale():
        return module[0].weight.norm()

    module[2].register_forward_hook(lambda part, inputs, out: out * scale())
    return module


def hook_of_a_weak_reference():
    module = plain()
    where = weakref.ref(module)
    module[2].register_forward_hook(lambda part, inputs, out: out * where()[0].weight.norm())
    return module


def compiled_forward():
    module = plain()
    module.forward = torch.compile(module.forward, backend="eager")
    return module


ELSEWHERE = [hook_of_a_closure, hook_of_a_weak_reference, compiled_forward]
ELSEWHERE += [functools.partial(Listed, how) for how in ("list", "closure", "default")]
READS = "must read its weights where they are parameters, got .*a closure, .* or a second reference to a parameter"


@pytest.mark.parametrize("make", ELSEWHERE)
@pytest.mark.parametrize("copy", (False, True))
def test_a_forward_that_goes_on_to_use_the_original_is_refused(make, copy):
    module = make().eval()
    net = fv.Net.from_module(module)
    net = net.copy() if copy else net
    with pytest.raises(ValueError, match=READS):
        fv.nll(net, fv.Data(torch.randn(12, 5), torch.arange(12) % 3))
    with pytest.raises(ValueError, match=READS):
        net(net.w, torch.randn(12, 5))


def test_a_hook_may_use_another_module():
    module, other = plain(), nn.Linear(3, 3)
    module.register_forward_hook(lambda part, inputs, out: other(out))
    net, x = fv.Net.from_module(module), torch.randn(12, 5)
    torch.testing.assert_close(net(net.w, x), module(x))


def test_weights_are_computed_anew_inside_of_torchs_cache_of_them():
    module = nn.Sequential(nn.utils.parametrizations.weight_norm(nn.Linear(5, 6)), nn.Tanh(), nn.Linear(6, 3)).eval()
    net, x = fv.Net.from_module(module), torch.randn(12, 5)
    with nn.utils.parametrize.cached():
        got = [net(w, x) for w in (net.w, 2 * net.w)]
    for out, w in zip(got, (net.w, 2 * net.w)):
        torch.testing.assert_close(out, net.to_module(w)(x))


class Adjoint(torch.autograd.Function):
    """As in torchdiffeq's odeint_adjoint, RevNets and memcnn: the backward pass runs the layer again."""

    @staticmethod
    def forward(ctx, layer, x, *parameters):
        ctx.layer = layer
        ctx.save_for_backward(x, *parameters)
        with torch.no_grad():
            return torch.tanh(layer(x))

    @staticmethod
    def backward(ctx, grad):
        x, *parameters = ctx.saved_tensors
        with torch.enable_grad():
            x = x.detach().requires_grad_(True)
            return (None, *torch.autograd.grad(torch.tanh(ctx.layer(x)), [x, *parameters], grad))


class Again(nn.Module):
    def __init__(self, how):
        super().__init__()
        self.a, self.b, self.head, self.how = nn.Linear(5, 6), nn.Linear(6, 6), nn.Linear(6, 3), how

    def forward(self, x):
        x = torch.tanh(self.a(x))
        if self.how == "checkpoint":
            x = torch.utils.checkpoint.checkpoint(lambda z: torch.tanh(self.b(z)), x, use_reentrant=False)
        elif self.how == "adjoint":
            x = Adjoint.apply(self.b, x, *self.b.parameters())
        else:
            x = torch.tanh(self.b(x))
        return self.head(x)


@pytest.mark.parametrize("how", ("checkpoint", "adjoint"))
def test_layers_that_run_again_in_the_backward_pass_have_values_and_no_gradients(how):
    module = Again("once").eval()
    again = Again(how).eval()
    again.load_state_dict(module.state_dict())
    data = fv.Data(torch.randn(12, 5), torch.arange(12) % 3)
    want, got = (fv.nll(fv.Net.from_module(m), data) for m in (module, again))
    W = want.net.w * torch.tensor([[1.0], [1.5], [0.5]])
    torch.testing.assert_close(got.many(W), want.many(W))
    leaf = data.x.clone().requires_grad_()
    for run in (
        lambda: got.value_and_grad(W[0]),
        lambda: got.net(got.net.w, leaf),
        lambda: torch.func.grad(got)(W[0]),
        lambda: fv.fit_sgd(got.net, data, seed=0, steps=2),
        lambda: fv.hvp(got, got.net.w, got.net.w),
    ):
        with pytest.raises(ValueError, match="a gradient needs a module that runs once, got Again, which runs layers again"):
            run()


def test_one_net_in_several_threads_gives_the_values_of_one():
    net, data = fv.Net.from_module(plain()), fv.Data(torch.randn(200, 5), torch.arange(200) % 3)
    f, W = fv.nll(net, data), net.w + torch.randn(30, net.dim)
    want, fitted = torch.stack([f(w) for w in W]), fv.fit_sgd(net, data, seed=0, steps=10, batch_size=16).W
    with ThreadPoolExecutor(4) as threads:
        values = [threads.submit(lambda: torch.stack([f(w) for w in W])) for _ in range(4)]
        fits = [threads.submit(fv.fit_sgd, net, data, seed=0, steps=10, batch_size=16) for _ in range(4)]
        assert all(torch.equal(v.result(), want) for v in values)
        assert all(torch.equal(q.result().W, fitted) for q in fits)


def test_a_net_is_copied_while_another_thread_computes():
    net, x, w = fv.Net.from_module(plain()), torch.randn(200, 5), None
    inside, copied = threading.Event(), threading.Event()

    def pause(*_):
        inside.set()
        copied.wait(0.2)  # the copy waits for the pass, so this runs out

    net.module[0].register_forward_hook(pause)
    w = (2 * net.w).requires_grad_()
    with ThreadPoolExecutor(1) as thread:
        job = thread.submit(net, w, x)
        inside.wait()
        copies = [net.copy(), net.to(dtype=torch.float64), fv.Net.from_module(net.to_module())]
        copied.set()
        job.result()
    for other in copies:
        assert torch.equal(other.w.float(), net.w)
        assert all(isinstance(p, nn.Parameter) for p in other.module.parameters())
