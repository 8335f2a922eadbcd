"""Transfer: what is kept, what is made anew, what stays frozen; a sampled trunk against networks
written by hand."""

import math
from functools import partial

import torch
from cases import fitted_by, refused, rng
from oracles import loop, stopping_at
from pytest import raises
from torch import arange, equal, randn
from torch.testing import assert_close

import flatviz as fv
from flatviz.training import training_loss


def test_the_prior_covers_kept_weights_the_head_is_new_and_the_rest_stays_at_its_source(
    source,
):
    net, prior = source
    narrow, q = fv.transfer(
        net,
        prior,
        treated="norm+head",
        head_std=0.2,
        scale=9.0,
    )
    assert narrow.dim == 2 * 8 + 10 * 8 + 10
    assert q.dim == narrow.dim
    full = {b.name: b.slice for b in net.blocks}
    for b in narrow.blocks:
        if b.kind == "head":
            assert not q.mean[b.slice].any()
            assert not q.factor[:, b.slice].any()
            want = torch.full((b.stop - b.start,), 0.2)
            assert_close(q.std[b.slice], want)
        else:
            assert_close(q.mean[b.slice], prior.mean[full[b.name]])
            want = 9 * prior.variance[full[b.name]]
            assert_close(q.variance[b.slice], want)
    assert_close(narrow.w, q.mean)
    kept = dict(narrow.to_module().named_parameters())["1.weight"].detach()
    assert_close(kept, net.unflatten(prior.mean)["1.weight"])


def test_other_classes_get_a_new_head_and_the_rest_is_as_with_the_same(source, task):
    net, _ = source
    (same, p_same) = fv.transfer(
        *source,
        n_classes=None,
        head_std=0.2,
        scale=4.0,
    )
    (other, p_other) = fv.transfer(
        *source,
        n_classes=3,
        head_std=0.2,
        scale=4.0,
    )
    assert other.dim == 16 + 3 * 8 + 3
    found = other(other.w, task.test.x[:5]).shape
    assert found == (5, 3)
    assert_close(p_other.mean[:16], p_same.mean[:16])
    assert_close(p_other.variance[:16], p_same.variance[:16])
    found = other.to_module()[1].state_dict()
    want = same.to_module()[1].state_dict()
    assert_close(found, want, rtol=0, atol=0)
    x = task.train.x[:30]
    y = task.train.y[:30] % 3
    few = fv.Data(x, y)
    fv.fit(other, few, fv.SABMA(p_other, radius=0.5), steps=3, seed=0)
    found = net(net.w, task.test.x[:2]).shape
    assert found == (2, 10)  # the source net is untouched


def test_a_random_head_is_torchs_own_and_follows_the_seed(source):
    heads = [fv.transfer(*source, head_start="random", seed=s)[1].mean[16:] for s in (0, 0, 1)]
    assert equal(heads[0], heads[1])
    assert not equal(heads[0], heads[2])
    # Uniform within 1 / sqrt of the inputs
    assert 0 < heads[0].abs().max() <= 1 / math.sqrt(8)


def test_a_downstream_prior_keeps_its_head(source, task):
    narrow, _ = fv.transfer(*source)
    downstream = fv.fit(
        narrow,
        task.train,
        fv.SWAG(rank=2, snapshots=4),
        batch_size=10,
        seed=0,
    )
    same, p = fv.transfer(narrow, downstream, keep_head=True, scale=4.0)
    assert_close(p.mean, downstream.mean)
    assert_close(p.variance, 4 * downstream.variance)
    assert_close(same.w, downstream.mean)


def test_a_moped_prior_is_as_wide_as_its_share_of_each_weight(source):
    net, _ = source
    p = fv.posteriors.moped_prior(net, share=0.1, floor=1e-3)
    assert_close((p.mean, p.std), (net.w, (0.1 * net.w.abs()).clamp_min(1e-3)))
    narrow, q = fv.transfer(net, p, n_classes=2, head_std=0.3)
    assert q.rank == 0
    assert narrow.dim == 16 + 2 * 8 + 2


def test_the_authors_choice_by_names_misses_the_shortcuts_norms():
    import torchvision

    def both(module, side):
        how = dict(example=torch.zeros(2, 3, side, side))
        return [
            fv.Net.from_module(module.eval(), treated, **how)
            for treated in ("norm+head", "authors")
        ]

    by_type, by_name = both(torchvision.models.resnet18(num_classes=10), 32)
    assert (by_type.dim, by_name.dim) == (14_730, 12_938)
    missed = {b.name for b in by_type.blocks} - {b.name for b in by_name.blocks}
    assert missed
    assert all("downsample.1" in name for name in missed)
    by_type, by_name = both(
        torchvision.models.VisionTransformer(16, 8, 2, 2, 8, 8, num_classes=4), 16
    )
    # Two norms a layer and one at the end
    assert by_name.dim == by_type.dim == 2 * 8 * 5 + 8 * 4 + 4


def test_bad_transfers_say_what_to_do(source):
    net, prior = source
    with refused(
        rf"prior must cover the net's {net.dim} weights, got 5: fit it on the same net",
    ):
        q = fv.Gaussian(prior.mean[:5], prior.log_std[:5])
        fv.transfer(net, q)
    with refused(r"treated must choose the new head '4', got \['1.weight'"):
        fv.transfer(*source, n_classes=3, treated=lambda name: name.startswith("1."))
    with refused("keep_head=True takes the head from the prior, got n_classes of a new one"):
        fv.transfer(*source, n_classes=3, keep_head=True)


def test_predictions_are_those_of_networks_with_a_trunk_of_their_own(source, task):
    net, prior = source
    fixed, q = fv.transfer(net, prior, head_std=0.2)
    sampled, same = fv.transfer(net, prior, head_std=0.2, trunk="sampled")
    assert equal(q.mean, same.mean)
    x = task.test.subset(arange(50))
    seen = fv.predict(sampled, q, x, 6, seed=3)
    assert seen.trunk == "sampled"
    p = fv.predict(fixed, q, x, 6, seed=3)
    found = p.trunk
    assert found == "fixed"
    W = q.sample(6, seed=3)
    whole = sampled.trunk.joined(W, seed=3)
    for w, joined, outputs in zip(W, whole, seen.outputs):
        # Blocks of the source net: the head has the same classes here
        module = net.to_module(joined)
        parameters = dict(module.named_parameters())
        for name, value in fixed.unflatten(w).items():
            assert_close(parameters[name].detach(), value)
        want = module.eval()(x.x).detach()
        assert_close(outputs, want, atol=1e-5, rtol=1e-4)


def test_a_sampled_trunk_has_the_variance_of_the_prior(source):
    net, prior = source
    sampled, q = fv.transfer(net, prior, trunk="sampled")
    hidden = next(b for b in net.blocks if b.name == "1.weight").slice
    many = sampled.trunk.joined(q.sample(400, seed=0), seed=0)[:, hidden]
    # 400 draws: the log of a variance is off by sqrt(2 / 400) = 0.07 on average
    found = (prior.variance[hidden] / many.var(0)).log().abs().mean()
    assert found < 0.15


def test_a_training_pass_draws_a_trunk_and_the_second_pass_of_a_step_keeps_it(source, task):
    net, prior = source
    sampled, q = fv.transfer(net, prior, trunk="sampled", seed=5)
    loss = training_loss(sampled, task.train)
    w = q.sample(1, seed=0)[0]  # at the mean the head is 0, whatever the trunk gives
    first, again = (loss(w, None)[0] for _ in range(2))
    loss.begin()
    second, _ = loss(w, None)
    assert equal(first, again)
    assert not equal(first, second)
    trunk = sampled.trunk.prior
    g = rng(5)
    drawn = (
        trunk.mean
        + trunk.std * randn(trunk.dim, generator=g)
        + randn(2, generator=g) @ trunk.factor
    )
    by_hand = loop(net, task.train, [sampled.trunk.all_weights(w, drawn)])[0]
    assert_close(first, by_hand, atol=1e-5, rtol=1e-4)


def test_a_stopped_fit_resumes_with_the_same_trunks(source, task, tmp_path):
    narrow, q = fv.transfer(*source, n_classes=10, trunk="sampled")
    fit = partial(fitted_by(fv.VI), narrow, task.train, q, steps=6, seed=0)
    with raises(KeyboardInterrupt):
        fit(checkpoint=tmp_path / "c", progress=stopping_at(3))
    found = fit(checkpoint=tmp_path / "c").mean
    assert equal(found, fit().mean)


def test_objectives_keep_the_trunk_and_methods_that_need_a_function_refuse_it(source, task):
    fixed, q = fv.transfer(*source)
    sampled, _ = fv.transfer(*source, trunk="sampled")
    f = fv.nll(fixed, task.train)
    found = f(q.mean)
    want = fv.nll(sampled, task.train)(q.mean)
    assert equal(found, want)
    with refused("dropout needs a function of the weights, got a sampled trunk"):
        fv.fit(sampled, task.train, fv.Dropout(rate=0.5), seed=0, steps=1)
    with refused("Laplace needs a function of the weights, got a sampled trunk"):
        fv.fit(sampled, task.train, fv.Laplace(), seed=0)
    with refused("trunk must be one of 'fixed', 'sampled', got 'free'"):
        fv.transfer(*source, trunk="free")
    draws = fv.Draws(q.mean[None])
    assert math.isfinite(float(fv.predict(sampled, draws, task.test, 1, seed=0).scores["nll"][0]))
