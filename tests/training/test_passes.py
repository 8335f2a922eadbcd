"""A step of training: how its minibatch passes, noise drawn ahead, the ascent, a run stopped inside
a block, members together."""

from functools import partial
from types import MethodType
from unittest.mock import Mock

import torch
from cases import (
    Language,
    around,
    assert_exact,
    blobs,
    grid_by,
    mlp,
    net_of,
    normals,
    normed,
    refused,
    relative_error,
    rng,
)
from internals import examined
from oracles import equal, loop, random_gaussian, stopping_at
from pytest import approx, fixture, mark, raises
from torch import arange, cat, float32, nn, randint, stack, tensor, zeros
from torch.nn import Flatten, Linear, ReLU, Sequential
from torch.testing import assert_close

import flatviz as fv
from flatviz.training import SGD, Run, training_loss
from flatviz.training.driver import advance
from flatviz.training.gradient import ascended
from flatviz.training.losses import loss_of
from flatviz.training.streams import MirroredNoise


@fixture
def conv_case():
    layers = (
        nn.Conv2d(3, 8, 3),
        nn.BatchNorm2d(8),
        ReLU(),
        nn.AdaptiveAvgPool2d(1),
        Flatten(),
        Linear(8, 3),
    )
    x = torch.randn(20, 3, 6, 6)
    y = randint(0, 3, (20,))
    return Sequential(*layers), fv.Data(x, y)


LABELS = {
    "all": "categorical",
    "some": fv.Likelihood.categorical(ignore_index=1),
    "weighted": fv.Likelihood.categorical(weight=tensor([0.2, 3.0, 1.0])),
}


@mark.parametrize("likelihood", LABELS.values(), ids=LABELS)
def test_parts_of_members_trained_together_and_more_parts_than_examples(tiny, likelihood):
    """A part counts by its labels that count, with their weights: some have none."""
    net, data = tiny
    data = fv.Data(data.x, arange(len(data)) % 3)
    W = stack([net.w, net.w + 0.1])
    plain = training_loss(net, data, likelihood, members=2)
    how = fv.Training(accumulate=5)
    parts = training_loss(net, data, likelihood, training=how, members=2)
    for index in (None, tensor([[0, 3, 5], [1, 2, 4]])):
        want = ascended(plain, W, index, fv.SAM(0.1))
        got = ascended(parts, W, index, fv.SAM(0.1))
        assert_exact(got, want)


@mark.parametrize("likelihood", LABELS.values(), ids=LABELS)
def test_draws_that_share_a_minibatch_have_its_loss_and_gradient_in_the_mean(tiny, likelihood):
    net, data = tiny
    problem = examined(net, fv.Data(data.x, arange(len(data)) % 3), likelihood)
    for index in (None, tensor([0, 1, 3, 4, 5, 7])):
        shared = loss_of(problem, draws=3, shared=True)(net.w.expand(3, -1), index)
        whole = loss_of(problem)(net.w, index)
        found = [part.mean(0) for part in shared]
        assert_exact(found, [*whole])


@mark.parametrize("members", [1, 2])
@mark.parametrize("weight", [None, tensor([1.0, 0.0, 1.0])])
def test_a_minibatch_without_a_label_that_counts_moves_nothing(tiny, members, weight):
    net, data = tiny
    data = fv.Data(data.x, arange(len(data)) % 3)
    ignore = 1 if weight is None else -100
    likelihood = fv.Likelihood.categorical(weight=weight, ignore_index=ignore)
    loss = training_loss(net, data, likelihood, members=members)
    index = tensor([1, 4]).expand(members, 2)
    value, g = loss(net.w.expand(members, -1), index)
    assert not value.any()
    assert not g.any()


@mark.parametrize("precision, error", [("bfloat16", 0.05), ("float16", 0.02)])
def test_a_reduced_precision_is_inside_the_network_only(precision, error, conv_case):
    module, data = conv_case
    net = net_of(module.eval())
    seen = []
    last = torch.channels_last
    net.module[2].register_forward_hook(
        lambda m, x, out: seen.append((out.dtype, out.is_contiguous(memory_format=last)))
    )
    exact = training_loss(net, data)
    loss = training_loss(net, data, training=fv.Training(precision))
    seen.clear()
    value, g = loss(net.w, None)
    assert set(seen) == {(getattr(torch, precision), True)}
    assert value.dtype == g.dtype == float32
    for ascent in (None, fv.SAM(0.1)):  # 8 and 11 bits of mantissa
        g = ascended(loss, net.w, None, ascent)[1]
        reference = ascended(exact, net.w, None, ascent)[1]
        assert 1e-5 < relative_error(g, reference) < error


def test_gradients_below_the_least_number_of_float16_are_not_lost():
    torch.manual_seed(0)
    layers = Linear(3, 4, bias=False), Linear(4, 2, bias=False)
    with torch.no_grad():
        layers[1].weight *= 1e-4
    net = net_of(Sequential(*layers))
    data = blobs(512, 3, 2)

    def first_layers(precision):
        loss = training_loss(net, data, training=fv.Training(precision))
        return loss(net.w, None)[1][:12]

    # between the layers they are 1e-3 of a mean times 1e-5: 0 or the least number, 6e-8
    assert relative_error(first_layers("float16"), first_layers(None)) < 0.02


def test_a_step_without_memory_names_its_bytes_and_the_setting_to_lower():
    run = Run("VI")
    too_large = lambda step, index: torch.empty(2**50, dtype=torch.uint8)
    lost = torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.50 GiB")
    text = r"VI must fit .* 4 examples .* 1125899906842624 bytes.*: lower batch_size"
    with refused(text, MemoryError):
        advance(dict, too_large, iter([arange(4)]), 1, run, "")
    with refused(r"all examples.* 2.50 GiB.*accumulate=2", MemoryError):
        advance(dict, Mock(side_effect=lost), iter([None]), 1, run, "")
    with refused("mat1 and mat2", RuntimeError):
        advance(dict, Mock(side_effect=RuntimeError("mat1 and mat2")), iter([None]), 1, run, "")


def test_a_last_batch_of_one_example_trains():
    net = net_of(normed(3, 6, 2).eval())
    data = blobs(65, 3, 2)
    how = dict(seed=0, steps=4, batch_size=64, batchnorm="train")
    fv.pretrain(net, data, seed=0, epochs=2)
    fv.fit(net, data, fv.SGD(), **how)
    fv.fit(net, data, fv.Ensemble(members=2), **how)


def test_the_progress_line_counts_images(tiny, capsys):
    net, data = tiny
    fv.fit(net, data, fv.SGD(), seed=0, steps=30, batch_size=4, progress=True)
    assert "images/s" in capsys.readouterr().err
    prior = around(net, -2.0)
    fv.fit(net, data, fv.SABMA(prior, radius=0.5), steps=6, seed=0, progress=True)
    shown = capsys.readouterr().err
    assert "SA-BMA" in shown
    assert "/72 " in shown  # 6 steps of 12 images


def test_wrong_words_are_refused(tiny):
    for settings, text in (
        (dict(precision="float8"), "precision must be one of"),
        (dict(accumulate=0), "accumulate must be"),
        # with float64 autocast would do nothing
        (
            dict(precision="bfloat16"),
            "precision='bfloat16' needs float32 weights, got torch.float64",
        ),
    ):
        with refused(text):
            fv.fit(
                *tiny,
                fv.SGD(),
                seed=0,
                steps=1,
                training=fv.Training(**settings),
            )


@mark.parametrize("seeds, draws", [([7], 1), ([7, 8, 9], 2)])
def test_noise_is_that_of_every_second_step_and_its_negative_after_it(seeds, draws, monkeypatch):
    monkeypatch.setattr("flatviz.training.streams.STEPS_AHEAD", 4)
    q = random_gaussian(0, dim=7, rank=3, dtype=float32)
    ahead = MirroredNoise(seeds, draws, q, 10)
    sources = [rng(seed) for seed in seeds]
    for step in range(0, 10, 2):
        fresh = [torch.randn(draws, 10, generator=source) for source in sources]
        want = stack(fresh) if len(seeds) > 1 else fresh[0]
        found = torch.cat(ahead.at(step), -1)
        assert equal(found, want)
        found = torch.cat(ahead.at(step + 1), -1)
        assert equal(found, -want)


@mark.parametrize(
    "stop", [1, 3, 4, 5, 8]
)  # inside a block of 4 steps, at its last step, at the next one's first
@mark.parametrize("seeds", [[0], [0, 1]])
def test_a_run_stopped_anywhere_resumes_to_the_same_bits(seeds, stop, tiny, tmp_path, monkeypatch):
    monkeypatch.setattr("flatviz.training.streams.STEPS_AHEAD", 4)
    prior = random_gaussian(0, dim=tiny[0].dim, rank=2)
    fit = partial(
        grid_by(fv.SABMA),
        *tiny,
        prior,
        radius=[0.3],
        seed=seeds,
        steps=10,
        batch_size=5,
    )
    with raises(KeyboardInterrupt):
        fit(checkpoint=tmp_path / "run", progress=stopping_at(stop))
    found = dict(fit(checkpoint=tmp_path / "run"))
    assert equal(found, dict(fit()))


def randn(*shape, seed):
    return normals(*shape, source=seed)


@mark.parametrize(
    "ascent, metric",
    [
        (fv.SAM(0.3), lambda w, g: torch.ones_like(w)),
        (fv.ASAM(0.3), lambda w, g: (w.abs() + 0.01) ** -2),
        (fv.ASAM(0.3, eta=0.1), lambda w, g: (w.abs() + 0.1) ** -2),
        (fv.FisherSAM(0.3), lambda w, g: 1 + g.square()),
        (fv.FisherSAM(0.3, eta=5.0), lambda w, g: 1 + 5 * g.square()),
    ],
)
def test_a_perturbation_gains_most_to_first_order_inside_the_ball_of_its_norm(ascent, metric):
    w, g = randn(2, 20, seed=0)
    size = metric(w, g)
    step = ascent(w, g)
    found = (size * step.square()).sum()
    assert found == approx(0.09, rel=1e-9)
    others = randn(200, 20, seed=1)
    lengths = (size * others.square()).sum(1).sqrt()
    assert 0.3 * (others @ g / lengths).max() < step @ g
    # Members together: row by row
    rows = ascent(stack([w, 2 * w]), stack([g, 3 * g]))
    assert_close(rows[1], ascent(2 * w, 3 * g))
    zero = zeros(3)
    assert equal(ascent(zero, zero), zero)  # no way up at a stationary point


def test_a_negative_radius_is_refused():
    for kind in (fv.SAM, fv.ASAM, fv.FisherSAM):
        with refused("radius must be a finite number >= 0, got -0.1"):
            kind(-0.1)


@mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@mark.parametrize("size", [0.0, 1e-6, 1e-4, 1.0, 300.0])
@mark.parametrize("ascent", [fv.SAM(0.5), fv.ASAM(0.5), fv.FisherSAM(0.5)])
def test_a_perturbation_in_half_precision_is_that_of_float64_rounded(ascent, size, dtype):
    """Relative to the largest entry, two roundings of a number; squares would leave float16."""
    w = randn(1000, seed=0).to(dtype)
    g = (size * randn(1000, seed=1)).to(dtype)
    want = ascent(w.double(), g.double())
    got = ascent(w, g)
    assert got.dtype == dtype
    error = float((got.double() - want).abs().max())
    wanted = torch.finfo(dtype).eps * want.abs().max()
    assert error <= wanted


def test_a_step_is_the_gradient_at_the_perturbed_point_with_decay_at_the_unperturbed_one(tiny):
    net, data = tiny
    f = fv.nll(net, data)
    before, g = f.value_and_grad(net.w)
    after, worst = f.value_and_grad(net.w + 0.1 * g / g.norm())
    sgd = SGD(lr=0.5, weight_decay=0.3, ascent=fv.SAM(0.1))
    state, record = sgd.update(sgd.init(net.w), training_loss(net, data), None)
    want = net.w - 0.5 * (worst + 0.3 * net.w)
    assert_close(state.w, want)
    assert_close(record.sharpness, after - before)


def chain(dtype, treated="all"):
    middle = Sequential(ReLU(), Linear(8, 5, bias=False))
    module = Sequential(Flatten(), Linear(6, 8), nn.LayerNorm(8), middle, nn.Tanh(), Linear(5, 3))
    x = torch.randn(20, 2, 3, dtype=dtype)
    y = randint(0, 3, (20,))
    data = fv.Data(x, y)
    return net_of(module.to(dtype), treated), data


def rows(net):
    return net.w + 0.1 * torch.randn(3, net.dim, generator=rng(1), dtype=net.w.dtype)


def convolution(dtype):
    """Which vmap runs, in evaluation mode."""
    layers = (
        nn.Conv2d(1, 3, 3),
        nn.BatchNorm2d(3),
        ReLU(),
        nn.AdaptiveAvgPool2d(1),
        Flatten(),
        Linear(3, 2),
    )
    x = torch.randn(12, 1, 6, 6, dtype=dtype)
    data = fv.Data(x, arange(12) % 2)
    net = net_of(Sequential(*layers).to(dtype), "norm+head", example=data.x)
    return net, data


CHAINS = [
    partial(chain, treated=treated)
    for treated in ("all", "norm+head", lambda name: name.endswith("bias"))
]


@mark.parametrize("make", [*CHAINS, convolution])
@mark.parametrize("ascent", [None, fv.SAM(0.1)])
@mark.parametrize("dtype, tolerance", [(float32, 1e-5), (torch.float64, 1e-12)])
def test_one_step_together_is_each_step_alone(make, ascent, dtype, tolerance):
    net, data = make(dtype)
    loss = training_loss(net, data, members=3)
    single = training_loss(net, data)
    assert loss.network is not None
    W = rows(net)
    index = arange(12).view(3, 4)
    values, g, gain = ascended(loss, W, index, ascent)
    for i, w in enumerate(W):
        alone = ascended(single, w, index[i], ascent)
        row = values[i], g[i], None if ascent is None else gain[i]
        assert_close(row, alone, rtol=tolerance, atol=tolerance)
    together, _ = loss(W, None)
    want = single(W[2], None)[0]
    assert_close(together[2], want, rtol=tolerance, atol=tolerance)


def test_members_with_statistics_of_their_own_go_one_by_one_each_with_statistics_of_its_own():
    data = blobs(16, 3, 2)
    net = net_of(normed(3, 4, 2))
    loss = training_loss(net, data, batchnorm="train", members=2)
    assert loss.network is None
    W = stack([net.w, 2 * net.w])
    ascended(loss, W, None, fv.SAM(0.1))
    for i, w in enumerate(W):
        alone = training_loss(net, data, batchnorm="train")
        alone(w, None)
        assert_close(
            loss.state[f"{i} buffer 1.running_mean"], alone.state["0 buffer 1.running_mean"]
        )
        assert int(loss.state[f"{i} buffer 1.num_batches_tracked"]) == 1


PATCHED = {  # which layer of the three, and its other forward
    "a layer": (0, lambda layer, x: 2 * Linear.forward(layer, x) + 1),
    "a function": (1, lambda layer, x: x.softmax(-1)),
}


@mark.parametrize("name", PATCHED)
def test_members_of_a_net_with_a_patched_layer_have_the_losses_of_the_module_itself(name):
    module = mlp(4, 6, 3, act=ReLU).eval()
    data = blobs(20, 4, 3)
    index, forward = PATCHED[name]
    module[index].forward = MethodType(forward, module[index])
    net = net_of(module)
    loss = training_loss(net, data, members=3)
    values, _ = loss(rows(net), None)
    want = loop(net, data, rows(net))
    assert_close(values, want, rtol=1e-5, atol=1e-5)


def test_a_language_model_that_begins_far_off_learns_at_the_default_rate():
    """Each token is one of two after the last: log 2 = .69 nats; constant outputs have 3.2."""
    torch.manual_seed(0)
    x = randint(0, 24, (128, 1))
    for _ in range(8):
        either = randint(0, 2, (128, 1))
        token = (5 * x[:, -1:] + 1 + either) % 24
        x = cat([x, token], 1)
    data = fv.Data(x[:, :-1], x[:, 1:])
    module = Language(24, 32, tied=True)
    nn.init.normal_(module.body[-1].weight)  # logits of ten and more
    net = net_of(module, example=x[:2, :-1])
    assert fv.nll(net, data)(net.w) > 15
    late = fv.pretrain(net, data, epochs=20, batch_size=16, seed=0)
    # 1.3 to 1.6 on eight seeds; 6.7 and more without a bound on gradients
    assert fv.nll(late, data)(late.w) < 2
