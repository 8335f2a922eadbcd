"""A prior's width with which features survive, and the defaults of fits with frozen statistics."""

import torch
from cases import fitted_by, rng
from pytest import approx, fixture, mark, warns
from torch import nn

import flatviz as fv
from flatviz.posteriors.width import HeadInputs
from flatviz.training.settings import TEMPERED, TEMPERED_BATCHNORM, tempered


@fixture
def deep():
    """A net in which small shares of each weight add up, with BatchNorm or without."""
    torch.manual_seed(0)
    layers = []
    for _ in range(6):
        layers += [nn.Linear(8, 8), nn.BatchNorm1d(8), nn.ReLU()]
    module = nn.Sequential(*layers, nn.Linear(8, 3))
    data = fv.Data(torch.randn(40, 8, generator=rng()), torch.arange(40) % 3)
    module.train()(data.x)
    return module.eval(), data


def changed(net, data, prior):
    """Relative change of the head's inputs, from 300 draws of other seeds and a plain loop."""
    module = net.to_module()
    layers = list(module)[:-1]

    def features():
        h = data.x
        for layer in layers:
            h = layer(h)
        return h

    with torch.no_grad():
        before = features()
        squares = []
        for w in prior.sample(300, seed=7):
            torch.nn.utils.vector_to_parameters(
                w, [module.get_parameter(b.name) for b in net.blocks]
            )
            squares.append((features() - before).square().mean())
        return float((torch.stack(squares).mean() / before.square().mean()).sqrt())


def test_a_priors_share_is_halved_until_features_survive(deep):
    module, data = deep
    net = fv.Net.from_module(module)
    prior = fv.posteriors.moped_prior(net, data=data)
    head = torch.cat(
        [torch.arange(b.start, b.stop) for b in net.blocks if b.name.startswith("18.")]
    )
    rest = torch.tensor([i not in set(head.tolist()) for i in range(net.dim)])
    share = (prior.std / net.w.abs())[rest & (net.w.abs() > 0.01)]
    assert share.std() < 1e-6
    halvings = torch.log2(0.3 / share[0])
    assert halvings == approx(round(float(halvings)), abs=1e-4)
    assert round(float(halvings)) >= 1
    twice = fv.posteriors.moped_prior(net, share=2 * float(share[0]))
    assert changed(net, data, prior) < 0.36  # four draws of 16 examples chose it
    assert changed(net, data, twice) > 0.24
    assert torch.equal(prior.mean[rest], net.w[rest])


def test_the_heads_outputs_have_a_deviation_of_3_under_the_prior(deep):
    module, data = deep
    net = fv.Net.from_module(module, "norm+head")
    prior = fv.posteriors.moped_prior(net, data=data)
    head = [b for b in net.blocks if b.kind == "head"]
    weight = head[0].slice
    assert not prior.mean[weight].any()
    h = data.x
    with torch.no_grad():
        for layer in list(module)[:-1]:
            h = layer(h)
    draws = prior.sample(500, seed=1)[:, weight].view(-1, 3, 8)
    assert float((h @ draws.mT).std()) == approx(3, rel=0.25)  # its width is from 16 examples
    _, given = fv.transfer(
        fv.Net.from_module(module), fv.posteriors.moped_prior(fv.Net.from_module(module)), data=data
    )
    assert float(given.std[weight][0]) == approx(float(prior.std[weight][0]), rel=1e-4)


def test_without_data_priors_are_as_they_were(deep):
    module, _ = deep
    net = fv.Net.from_module(module)
    prior = fv.posteriors.moped_prior(net)
    assert torch.equal(prior.std, (0.05 * net.w.abs()).clamp_min(1e-4).log().exp())
    late, given = fv.transfer(net, prior)
    head = next(b for b in late.blocks if b.kind == "head")
    assert float(given.std[head.slice][0]) == approx(0.1)


def test_a_scale_with_which_features_do_not_survive_gets_a_warning(deep, recwarn):
    module, data = deep
    net = fv.Net.from_module(module)
    swag = fv.fit(net, data, fv.SWAG(rank=2, snapshots=3, lr=1e-4), seed=0)
    fv.transfer(net, swag, data=data)
    assert not [w for w in recwarn if "what the head reads" in str(w.message)]
    with warns(UserWarning, match="change what the head reads by .* lower scale"):
        fv.transfer(net, swag, data=data, scale=1e12)


def test_the_kept_trunk_gives_the_same_widths(deep, monkeypatch):
    module, data = deep
    monkeypatch.setattr("flatviz.engine.trunk.LEAST_MACS", 1)
    net = fv.Net.from_module(module, lambda name: name.startswith(("16.", "18.")))
    assert HeadInputs(net, data).net is not net
    got = fv.posteriors.moped_prior(net, data=data)
    monkeypatch.setenv("FLATVIZ_TRUNK", "0")
    want = fv.posteriors.moped_prior(net, data=data)
    torch.testing.assert_close(got.std, want.std)


@mark.parametrize("treated", ["head", "norm+head"])
def test_with_frozen_statistics_a_fits_defaults_are_those_of_any_net(deep, treated):
    module, data = deep
    net = fv.Net.from_module(module, treated)
    assert tempered(net, "frozen") is TEMPERED
    assert tempered(net, "train") is TEMPERED_BATCHNORM
    prior = fv.posteriors.moped_prior(net, data=data)
    how = dict(steps=5, seed=0, mc_samples=1)
    default = fv.fit(net, data, fv.VI(prior, mc_samples=1), steps=5, seed=0)
    named = fitted_by(fv.VI)(net, data, prior, **how, **TEMPERED._asdict())
    assert torch.equal(default.mean, named.mean)
    assert torch.equal(default.std, named.std)
    trained = fv.fit(net, data, fv.VI(prior, mc_samples=1), batchnorm="train", steps=5, seed=0)
    named = fitted_by(fv.VI)(
        net, data, prior, batchnorm="train", **how, **TEMPERED_BATCHNORM._asdict()
    )
    assert torch.equal(trained.mean, named.mean)


def test_a_methods_tuned_settings_are_those_of_stored_tables(deep):
    module, _ = deep
    vi = fv.METHODS["vi"]
    norms, head = (fv.Net.from_module(module, treated) for treated in ("norm+head", "head"))
    assert vi.tuned(norms).settings["start_scale"] == TEMPERED_BATCHNORM.start_scale
    assert vi.tuned(head).settings["start_scale"] == TEMPERED.start_scale  # nothing moves its norms


def test_a_note_says_that_steps_are_too_few_for_widths_to_recover(deep):
    module, data = deep
    net = fv.Net.from_module(module, "head")
    prior = fv.posteriors.moped_prior(net, data=data)
    how = dict(seed=0)
    fields = dict(lr=1.0, mc_samples=1, start_scale=0.01)
    short = fv.fit(net, data, fv.VI(prior, **fields), steps=40, **how)
    assert "a width grows by a factor of 7.77 at most" in " ".join(short.history.notes)
    assert not fv.VI(prior, **fields).widening(200)
    assert not fv.VI(prior, lr=1.0, start_scale=1.0).widening(5)
