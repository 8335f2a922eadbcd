"""Activations of a fixed trunk are computed once: the same outputs, gradients, fits and curvature
as through the whole network, FLATVIZ_TRUNK=0."""

import pickle
import threading
from collections import OrderedDict
from copy import deepcopy

import torch
from cases import rng
from pytest import fixture, mark, raises
from torch import nn
from torch.nn import functional as F
from torch.testing import assert_close

import flatviz as fv
from flatviz.engine import trunk
from flatviz.engine.trunk import cut_of, cut_or_reason
from flatviz.objectives.problem import Late, examined
from flatviz.training.losses import training_loss


@fixture(autouse=True)
def small_networks_too(monkeypatch):
    monkeypatch.setattr(trunk, "LEAST_MACS", 1)


class Residual(nn.Module):
    """Before its norm two tensors are read: the convolution's result, and its input beside it."""

    def __init__(self, inplace=False):
        super().__init__()
        self.stem = nn.Conv2d(3, 6, 3, padding=1)
        self.first = nn.BatchNorm2d(6)
        self.conv = nn.Conv2d(6, 6, 3, padding=1)
        self.norm = nn.BatchNorm2d(6)
        self.act = nn.ReLU(inplace=inplace)
        self.head = nn.Linear(6, 4)

    def forward(self, x):
        h = self.first(self.stem(x)).relu()
        h = self.act(self.norm(self.conv(h)) + h)
        n = x.size(0)
        return self.head(F.adaptive_avg_pool2d(h, 1).view(n, -1))


@fixture(scope="module")
def images():
    return fv.Data(torch.rand(20, 3, 8, 8, generator=rng()), torch.arange(20) % 4)


@fixture(scope="module")
def settled(images):
    torch.manual_seed(0)
    module = Residual()
    module.train()(images.x)  # statistics that are not the initial ones
    return module.eval()


HEAD = ("head",)
LATE = ("norm", "head")


def net_of(module, layers, images):
    return fv.Net.from_module(
        module, lambda name: name.split(".")[0] in layers, head="head", example=images.x[:2]
    )


def both(monkeypatch, compute):
    """What `compute` gives through the whole network, and from kept activations."""
    monkeypatch.setenv("FLATVIZ_TRUNK", "0")
    whole = compute()
    monkeypatch.delenv("FLATVIZ_TRUNK")
    return compute(), whole


def alike(pairs, **tolerance):
    for got, want in zip(*pairs, strict=True):
        assert_close(got, want, **({"atol": 2e-6, "rtol": 2e-5} | tolerance))


def near(net, n=3):
    return net.w + 0.1 * torch.randn(n, net.dim, generator=rng(1))


@mark.parametrize("layers, floats", [(HEAD, 6), (LATE, 2 * 6 * 64)])
def test_the_tail_has_the_networks_weights_and_takes_all_that_crosses(
    settled, images, layers, floats
):
    net = net_of(settled, layers, images)
    cut = cut_of(net, images.x)
    assert cut.floats == floats
    assert [repr(b) for b in cut.tail.blocks] == [repr(b) for b in net.blocks]
    w = near(net, 1)[0]
    assert_close(cut.tail(w, cut.rows(images.x)), net(w, images.x), atol=1e-6, rtol=1e-5)
    assert cut_of(net.at(w), images.x) is cut  # made once


def quantities(net, images):
    W = near(net)
    f = fv.nll(net, images)
    plane = fv.plane_random(net, W[0], seed=0)
    surface = fv.slice_plane(f, plane, extent=0.3, resolution=3)
    exact = fv.slice_plane(f, plane, extent=0.3, resolution=3, exact=True)
    point = W[0].clone().requires_grad_(True)
    return [
        f(W[1]),
        torch.autograd.grad(f(point), point)[0],
        torch.func.grad(f)(W[2]),
        f(W[0], torch.tensor([3, 1])),
        f.many(W),
        fv.quantity(net, images, "accuracy").many(W),
        torch.as_tensor(surface.values),
        torch.as_tensor(exact.values),
        *(f.operator(W[0], kind)(W[1]) for kind in ("hessian", "ggn", "fisher")),
        fv.top_eigenpairs(f, W[0], 2, seed=0).values,
        f.in_float64()(W[0].double()).float(),
        fv.hessian_trace(f, W[0], products=6)[0],
    ]


@mark.parametrize("layers", [HEAD, LATE])
def test_losses_planes_and_curvature_are_the_whole_networks(settled, images, layers, monkeypatch):
    def compute():
        return quantities(net_of(settled, layers, images), images)

    alike(both(monkeypatch, compute), atol=2e-5, rtol=2e-4)


def fits(net, images):
    prior = fv.Gaussian(net.w, torch.full_like(net.w, -2.0))
    how = dict(steps=4, seed=0)
    fields = dict(mc_samples=2, kl_weight=0.1, start_scale=0.3, lr=0.5)
    q = fv.fit(net, images, fv.VI(prior, **fields), **how)
    flat = fv.fit(net, images, fv.SABMA(prior, radius=0.5, **fields), batch_size=8, **how)
    sgd = fv.fit(net, images, fv.SGD(lr=0.01), steps=5, seed=0, batch_size=8)
    chains = fv.fit(net, images, fv.HMC(prior=prior, chains=2, n_draws=4, burn_in=2), seed=0)
    laplace = fv.fit(net.at(sgd.W[0]), images, fv.Laplace(structure="diagonal"), seed=0)
    scored = [fv.predict(net, p, images, 3, seed=0, batchnorm="frozen").outputs for p in (q, flat)]
    scored.append(
        fv.metrics.predict_linearised(net, q, images, link="mc", n_draws=3, seed=0).outputs
    )
    return [q.mean, q.std, q.history.loss, flat.mean, flat.std, sgd.W, laplace.std, *scored], chains


@mark.parametrize("layers", [HEAD, LATE])
def test_fits_and_predictions_are_the_whole_networks(settled, images, layers, monkeypatch):
    def compute():
        return fits(net_of(settled, layers, images), images)

    (got, chains), (want, other) = both(monkeypatch, compute)
    alike((got, want), atol=1e-5, rtol=1e-3)
    assert_close(chains.W, other.W, atol=1e-3, rtol=1e-2)


def passes(module, compute):
    """Examples that go through the first layer, and the result."""
    seen = []
    hook = nn.modules.module.register_module_forward_pre_hook(
        lambda layer, given: seen.append(len(given[0])) if layer_of(layer) else None
    )
    layer_of = lambda layer: isinstance(layer, nn.Conv2d) and layer.in_channels == 3
    try:
        return compute(), sum(seen)
    finally:
        hook.remove()


def test_a_fit_computes_the_trunk_once_and_its_history_says_so(settled, images, monkeypatch):
    net = net_of(settled, HEAD, images)
    prior = fv.Gaussian(net.w, torch.full_like(net.w, -2.0))

    def compute(steps):
        return fv.fit(net, images, fv.VI(prior, mc_samples=2), seed=0, steps=steps, batch_size=10)

    compute(2)
    (q, short), (_, long) = (passes(settled, lambda n=n: compute(n)) for n in (2, 200))
    assert short == long
    assert "activations before head.weight are kept, 6 numbers an example" in q.history.notes[0]
    monkeypatch.setenv("FLATVIZ_TRUNK", "0")
    (q, short), (_, long) = (passes(settled, lambda n=n: compute(n)) for n in (2, 20))
    assert long - short == 18 * 10  # both draws in one pass
    assert not any("activations" in note for note in q.history.notes)


def test_with_augment_each_step_runs_in_full_and_the_history_says_so(settled, images):
    net = net_of(settled, HEAD, images)
    method = fv.VI(fv.Gaussian(net.w, torch.full_like(net.w, -2.0)), mc_samples=2)

    def compute(steps, augment=torch.Tensor.neg):
        return fv.fit(net, images, method, seed=0, steps=steps, batch_size=10, augment=augment)

    compute(2)
    (q, short), (_, long) = (passes(settled, lambda n=n: compute(n)) for n in (2, 20))
    assert long - short == 18 * 10  # both draws in one pass
    assert "activations are not kept: augment varies the inputs" in q.history.notes
    assert not torch.equal(q.mean, compute(2, None).mean)


def test_a_loss_with_kept_activations_leaves_them_for_a_run_with_augment(settled, images):
    net = net_of(settled, HEAD, images)
    loss = training_loss(net, images)
    batch = torch.arange(5)
    loss.keep(20)
    loss.prepare(torch.Tensor.neg, 5, (0,))
    loss.begin(0, batch)
    varied = training_loss(net, fv.Data(-images.x, images.y))
    assert_close(loss(net.w, batch), varied(net.w, batch))


def test_a_fit_of_fewer_examples_than_there_are_runs_in_full(settled, images):
    loss = training_loss(net_of(settled, HEAD, images), images)
    loss.keep(19)
    assert loss._now is loss.problem
    loss.keep(20)
    assert loss._now is not loss.problem


def test_the_work_of_a_step_is_the_tails(settled, images):
    net = net_of(settled, HEAD, images)
    whole = examined(net, images, "categorical")
    assert Late().work(whole).macs == 6 * 4 < whole.work.macs


def test_a_changed_input_weight_or_buffer_is_seen(settled, images):
    data = fv.Data(images.x.clone(), images.y)
    net = net_of(settled, HEAD, images)
    W = near(net)

    def values():
        out = fv.predict(net, W, data, 3, seed=0, batchnorm="frozen").outputs
        return torch.cat([f.many(W), fv.nll(net, data).many(W), out.flatten()])

    f = fv.nll(net, data)
    before = values()
    layers = dict(net.module.named_modules())
    changes = [
        lambda: data.x[4].add_(1.0),
        lambda: layers["stem"].weight.mul_(1.5),
        lambda: layers["first"].running_mean.add_(0.3),
        lambda: setattr(layers["conv"], "bias", nn.Parameter(torch.ones(6), requires_grad=False)),
    ]
    for change in changes:
        with torch.no_grad():
            change()
        after = values()
        assert not torch.allclose(after, before, atol=1e-4)
        whole = torch.stack([net(w, data.x) for w in W])
        losses = torch.stack([F.cross_entropy(out, data.y) for out in whole])
        assert_close(after, torch.cat([losses, losses, whole.flatten()]), atol=1e-5, rtol=1e-4)
        before = after


def test_a_write_through_data_is_seen_by_the_next_verb(settled, images):
    data = fv.Data(images.x.clone(), images.y)
    net = net_of(settled, HEAD, images)
    W = near(net)
    before = fv.nll(net, data).many(W)
    data.x.data.mul_(3)
    after = fv.nll(net, data).many(W)
    want = torch.stack([F.cross_entropy(net(w, data.x), data.y) for w in W])
    assert not torch.allclose(after, before, atol=1e-4)
    assert_close(after, want)


def test_other_statistics_are_another_cut(settled, images):
    net = net_of(settled, HEAD, images)
    other = net.with_buffers({"first.running_mean": torch.full((6,), 0.7)})
    assert_close(fv.nll(other, images)(net.w), F.cross_entropy(other(net.w, images.x), images.y))


class Tied(nn.Module):
    """Its last layer has the first one's weight."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 4)
        self.middle = nn.Linear(4, 4)
        self.last = nn.Linear(4, 4)
        self.last.weight = self.first.weight

    def forward(self, x):
        return self.last(self.middle(self.first(x).tanh()).tanh())


def test_a_tied_weight_is_treated_wherever_it_stands():
    x = torch.randn(9, 4)
    net = fv.Net.from_module(Tied(), lambda name: name.startswith("first.weight"))
    assert cut_of(net, x) is None  # it is in the first layer
    module = Tied()
    module = nn.Sequential(OrderedDict(body=nn.Linear(4, 4), name=nn.Tanh(), rest=module))
    net = fv.Net.from_module(module, lambda name: name.startswith("rest.first.weight"))
    cut = cut_of(net, x)
    assert cut.tail.tied == {"rest.first.weight": ["rest.last.weight"]}
    w = near(net, 1)[0]
    assert_close(cut.tail(w, cut.rows(x)), net(w, x))


class Overwrites(nn.Module):
    """The first layer after the cut works in place."""

    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 6)
        self.act = nn.Hardtanh(-0.1, 0.1, inplace=True)
        self.head = nn.Linear(6, 4)
        self.scale = nn.Parameter(torch.ones(6))

    def forward(self, x):
        h = self.body(x)
        g = h + self.scale
        return self.head(self.act(h) + g)


def test_a_layer_in_place_overwrites_no_kept_rows(monkeypatch):
    data = fv.Data(torch.randn(12, 4), torch.arange(12) % 4)
    module = Overwrites()
    net = fv.Net.from_module(module, lambda name: "body" not in name)
    found = cut_or_reason(net, data.x)
    f = fv.nll(net, data)
    first = f(net.w)
    assert_close(f(net.w), first, atol=0, rtol=0)
    alike(both(monkeypatch, lambda: [fv.nll(net, data)(net.w)]))
    assert "are others" in found  # its copy of h would be clamped before it is shifted

    class After(Overwrites):
        def forward(self, x):
            return self.head(self.act(self.body(x).view(-1, 6)) * self.scale)

    net = fv.Net.from_module(After(), lambda name: name == "act" or "head" in name)
    rows = fv.nll(net, data)._late().data.x
    kept = rows.clone()
    quantities_of = fv.nll(net, data)
    quantities_of(net.w)
    assert torch.equal(rows, kept)


class Branches(nn.Module):
    """It branches on a tensor, so that fx cannot follow it."""

    def __init__(self, twice=False):
        super().__init__()
        self.body = nn.Linear(4, 5)
        self.head = nn.Linear(5, 3)
        self.twice = twice

    def forward(self, x):
        h = self.body(x)
        if h.sum() > 1e9:
            h = -h
        return self.head(h) + self.head(-h.tanh()) if self.twice else self.head(h)


def test_where_fx_fails_the_one_treated_module_is_the_cut_or_a_note_says_why():
    data = fv.Data(torch.randn(9, 4), torch.arange(9) % 3)
    net = fv.Net.from_module(Branches(), "head", head="head")
    cut = cut_of(net, data.x)
    w = near(net, 1)[0]
    assert cut.floats == 5
    assert_close(cut.tail(w, cut.rows(data.x)), net(w, data.x))
    net = fv.Net.from_module(Branches(twice=True), "head", head="head")
    assert cut_of(net, data.x) is None
    q = fv.fit(net, data, fv.SGD(), steps=2, seed=0)
    assert "activations are not kept: torch.fx cannot follow the module" in q.history.notes[0]


class Sizes(nn.Module):
    """What crosses depends on the batch in a way that rows cannot."""

    def __init__(self, crossing):
        super().__init__()
        self.body = nn.Linear(4, 5)
        self.head = nn.Linear(5, 3)
        self.crossing = crossing

    def forward(self, x):
        h = self.body(x)
        if self.crossing == "size":
            return self.head(h) * (2 * x.size(0)) / h.shape[0]
        if self.crossing == "double":
            return self.head(h) + h.double().sum(1, keepdim=True).float()
        return self.head(h.sum(0, keepdim=True) * 0 + h)


def test_crossing_integers_are_the_number_of_rows_or_there_is_no_cut():
    x = torch.randn(9, 4)
    net = fv.Net.from_module(Sizes("size"), "head", head="head")
    assert "crosses the cut, 4 of 2 examples and 6 of 3" in cut_or_reason(net, x)


def test_nothing_is_kept_of_inputs_as_fields_of_sampled_trunks_and_of_early_weights(
    settled, images
):
    both_inputs = fv.Data({"x": torch.randn(5, 4)}, torch.arange(5) % 3)

    class Named(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Linear(4, 5)
            self.head = nn.Linear(5, 3)

        def forward(self, x):
            return self.head(self.body(x))

    net = fv.Net.from_module(Named(), "head", head="head", example=both_inputs)
    assert cut_or_reason(net, both_inputs.x) == ""
    everything = fv.Net.from_module(settled, "all", example=images.x[:2])
    assert cut_or_reason(everything, images.x) == ""
    first = net_of(settled, ("first", "head"), images)
    assert cut_of(first, images.x) is None or cut_of(first, images.x).floats > 6
    prior = fv.Gaussian(everything.w, torch.full_like(everything.w, -5.0))
    sampled, _ = fv.transfer(everything, prior, treated="head", trunk="sampled")
    assert cut_or_reason(sampled, images.x) == ""


def test_training_statistics_and_fresh_ones_go_through_the_whole_network(settled, images):
    net = net_of(settled, LATE, images)
    loss = training_loss(net, images, batchnorm="train")
    loss.keep(10**6)
    assert loss._now is loss.problem
    f = fv.quantity(net, images, "nll", batchnorm=images)
    assert f._late().net is net
    fresh = fv.predict(net, near(net), images, 3, seed=0, batchnorm=images).outputs
    refreshed = fv.engine.refresh_batchnorm(net, near(net)[1], images)
    assert_close(fresh[1], refreshed(near(net)[1], images.x), atol=1e-5, rtol=1e-4)


def test_rows_beyond_the_bound_are_not_kept_and_the_oldest_go_first(settled, images, monkeypatch):
    net = net_of(settled, HEAD, images)
    size = 20 * 6 * 4
    monkeypatch.setenv("FLATVIZ_TRUNK", str(size - 1))
    assert fv.nll(net, images)._late().net is net
    q = fv.fit(net, images, fv.SGD(), steps=2, seed=0)
    assert "MiB are beyond FLATVIZ_TRUNK" in q.history.notes[0]
    monkeypatch.setenv("FLATVIZ_TRUNK", str(2 * size))
    store = trunk._Store()
    monkeypatch.setattr(trunk, "_STORE", store)
    others = [fv.Data(images.x + i, images.y) for i in range(3)]
    for data in (others[0], others[1], others[0], others[2]):
        fv.nll(net, data).many(near(net))
    assert [key[1] for key in store.entries] == [id(others[0].x), id(others[2].x)]
    del data, others
    store.get(None)
    assert not store.entries  # as the inputs are gone
    monkeypatch.setenv("FLATVIZ_TRUNK", "much")
    with raises(ValueError, match="FLATVIZ_TRUNK must be a number of bytes"):
        fv.nll(net, images).many(near(net))


def test_a_resumed_fit_has_the_bits_of_one_that_never_stopped(settled, images, tmp_path):
    net = net_of(settled, LATE, images)
    prior = fv.Gaussian(net.w, torch.full_like(net.w, -2.0))

    def fit(path, stop=None):
        def progress(done, total, label):
            if label == "VI" and done == stop:
                raise KeyboardInterrupt

        return fv.fit(
            net,
            images,
            fv.VI(prior, mc_samples=2),
            steps=6,
            seed=0,
            batch_size=8,
            checkpoint=path,
            progress=progress,
        )

    whole = fit(tmp_path / "whole.safetensors")
    with raises(KeyboardInterrupt):
        fit(tmp_path / "part.safetensors", stop=3)
    trunk._STORE.entries.clear()
    again = fit(tmp_path / "part.safetensors")
    assert torch.equal(again.mean, whole.mean)
    assert torch.equal(again.std, whole.std)


def test_threads_get_the_values_of_one(settled, images):
    nets = [net_of(settled, layers, images) for layers in (HEAD, LATE)] * 3
    want = [fv.nll(net, images).many(near(net)) for net in nets]
    got = [None] * len(nets)
    trunk._CUTS.clear()

    def work(i):
        got[i] = fv.nll(nets[i], images).many(near(nets[i]))

    workers = [threading.Thread(target=work, args=(i,)) for i in range(len(nets))]
    for one in workers:
        one.start()
    for one in workers:
        one.join()
    for a, b in zip(got, want):
        assert_close(a, b)


def test_objectives_are_copied_pickled_and_hashed_without_rows(settled, images):
    net = net_of(settled, HEAD, images)
    f = fv.nll(net, images)
    key = f.key
    f.many(near(net))
    assert f.key == key
    for other in (deepcopy(f.kept), pickle.loads(pickle.dumps(f.kept))):
        assert other._made is None
    assert len(pickle.dumps(f.kept)) < 200


def test_a_head_at_0_is_compared_elsewhere():
    class Doubled(Branches):
        def forward(self, x):
            return 2 * super().forward(x)

    x = torch.randn(9, 4)
    net = fv.Net.from_module(Doubled(), "head", head="head")
    net = net.at(torch.zeros_like(net.w))  # where its head alone has the same outputs
    assert "are others" in cut_or_reason(net, x)


def test_a_stream_is_read_once_for_its_rows(settled, images):
    read = []

    class Set(torch.utils.data.Dataset):
        def __len__(self):
            return 20

        def __getitem__(self, i):
            read.append(i)
            return images.x[i], int(images.y[i])

    stream = fv.datasets.stream(Set())
    net = net_of(settled, HEAD, images)
    prior = fv.Gaussian(net.w, torch.full_like(net.w, -2.0))
    how = dict(seed=0, batch_size=10)
    fields = dict(mc_samples=2)
    counts = []
    for steps in (4, 40):
        read.clear()
        q = fv.fit(net, stream, fv.VI(prior, **fields), steps=steps, **how)
        counts.append(len(read))
    assert max(counts) < 80  # its rows and a few looks, not 40 steps of 10
    memory = fv.fit(net, images, fv.VI(prior, **fields), steps=40, **how)
    assert_close(q.mean, memory.mean, atol=1e-5, rtol=1e-4)


@mark.parametrize("precision", ["bfloat16"])
def test_a_fit_in_lower_precision_keeps_rows_of_that_precision(settled, images, precision):
    net = net_of(settled, HEAD, images)
    training = fv.Training(precision=precision)
    loss = training_loss(net, images, training=training)
    whole = loss(net.w, torch.arange(20))
    loss.keep(20)
    assert loss._now is not loss.problem
    kept = loss(net.w, torch.arange(20))
    alike((kept, whole), atol=1e-2, rtol=1e-2)
