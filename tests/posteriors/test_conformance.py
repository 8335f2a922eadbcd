"""What every method of METHODS must do: keep the protocol, the seed and the user's things; stop and
go on; be seen; diverge aloud."""

import inspect
from dataclasses import replace
from functools import partial
from unittest.mock import Mock

import torch
from cases import around, assert_exact, fitted_by, net_of, normed, refused, relative_error, warned
from every_verb import least
from pytest import fixture, mark, raises
from torch import bfloat16, equal, float32, nn
from torch.testing import assert_close

import flatviz as fv
from flatviz.catalog import LOOKS, ROWS
from flatviz.posteriors.entries import ENTRIES

METHODS = [name for name, method in fv.METHODS.items() if method.ascent is None]
FLAT = [name for name in METHODS if fv.METHODS[name].look.flat]


def run(name, net, data, prior, **settings):
    method = fv.METHODS[name]
    given = (prior,) if method.needs_prior else ()
    return method.fit(net, data, *given, **{"seed": 0, **least(method), **settings})


def there(small, **to):
    """Net, data and prior in another dtype, or on another device."""
    net, data, prior = small
    blocks = [t.to(**to) for t in (prior.mean, prior.log_std, prior.factor)]
    return net.to(**to), data.to(**to), fv.Gaussian(*blocks)


@mark.parametrize("name", METHODS)
def test_protocol_shapes_seed_prefix_saving_and_the_net_untouched(name, small, tmp_path):
    net, data, _ = small
    before = {k: v.clone() for k, v in net.module.state_dict().items()}
    w = net.w.clone()
    random_state = torch.random.get_rng_state()
    q = run(name, *small)
    assert isinstance(q, fv.Posterior)
    assert q.center.shape == (net.dim,)
    assert q.center.dtype == net.w.dtype
    W = q.sample(3, seed=1)
    assert W.shape == (3, net.dim)
    assert torch.isfinite(W).all()
    assert equal(W, q.sample(3, seed=1))
    want = q.sample(2, seed=1)
    assert equal(W[:2], want)
    found = run(name, *small).sample(3, seed=1)
    assert equal(found, W)
    back = fv.load(fv.save(q, tmp_path / "q.pt"))
    assert equal(back.sample(3, seed=1), W)
    p = fv.predict(net, q, data, 2, seed=0)
    assert p.scores["nll"].shape == (2,)
    largest = run(name, *small, seed=2**63 - 1, **minibatch(name))
    assert not equal(largest.sample(3, seed=1), W)
    assert equal(torch.random.get_rng_state(), random_state)
    assert equal(net.w, w)
    assert all(equal(v, before[k]) for k, v in net.module.state_dict().items())


def minibatch(name):
    keywords = inspect.signature(fv.METHODS[name].fit).parameters
    return {"batch_size": 8} if "batch_size" in keywords else {}


def in_training(name, training):
    """Keywords by which a method trains so; a composed one hands them to the fit inside."""
    how = dict(training=training)
    return dict(settings=least(fv.METHODS[name])["settings"] | how) if name == "ptl" else how


STEPPED = [name for name in METHODS if name != "hmc"]  # HMC takes no minibatches


class Counted(fv.Training):
    """Counts the minibatches that pass in parts."""

    count = 0

    def in_parts(self, *args):
        Counted.count += 1
        return super().in_parts(*args)


@mark.parametrize("name", STEPPED)
def test_a_minibatch_in_parts_makes_the_same_draws(name, small):
    parts = in_training(name, Counted(accumulate=3))
    if name == "dropout":
        with refused(r"dropout takes no accumulate"):
            run(name, *small, **parts)
        return
    whole = run(name, *small, **minibatch(name))
    before = Counted.count
    found = run(name, *small, **parts, **minibatch(name))
    assert Counted.count > before
    assert_exact(found.center, whole.center)  # float64, a few steps
    # Laplace's draws go along eigenvectors: nearly equal eigenvalues leave them any direction
    if name != "laplace":
        assert_exact(found.sample(3, seed=1), whole.sample(3, seed=1))


@mark.parametrize("name", STEPPED)
def test_reduced_precision_is_inside_the_network_only(name, small):
    given = there(small, dtype=float32)  # autocast leaves float64 alone
    q = run(name, *given, **in_training(name, fv.Training(precision="bfloat16")))
    plain = run(name, *given)
    assert q.center.dtype == q.sample(1, seed=0).dtype == float32
    assert not equal(q.center, plain.center)
    # 8 bits of mantissa, a few steps
    assert relative_error(q.center, plain.center) < 0.02


@mark.parametrize("name", [name for name in METHODS if fv.METHODS[name].needs_prior])
def test_a_prior_at_a_modules_parameters_leaves_no_graph_in_the_posterior(name, small):
    net, data, prior = small
    mean = nn.utils.parameters_to_vector(nn.Parameter(w) for w in prior.mean.split(5))
    given = replace(prior, mean=mean)
    plain = run(name, net, data, prior)
    traced = run(name, net, data, given)
    found = traced.sample(2, seed=0)
    want = plain.sample(2, seed=0)
    assert equal(found, want)
    assert not traced.sample(2, seed=0).requires_grad
    history = traced.history
    assert all(v is None or not v.requires_grad for v in (history.loss, history.kl))


@mark.parametrize("name", METHODS)
def test_a_network_in_half_precision_has_a_posterior_in_it(name, small):
    q = run(name, *there(small, dtype=bfloat16))
    assert q.sample(1, seed=0).dtype == bfloat16
    assert bool(q.center.isfinite().all())


def test_each_member_of_an_ensemble_stops_by_itself(small):
    net, data, _ = small
    # Labels of others: the loss rises at once, or soon
    x = data.x.flip(0)
    validation = fv.Data(x, data.y)
    fit = partial(fitted_by(fv.Ensemble), net, data, lr=0.5, steps=40, batch_size=8)
    how = fv.Training(validation=validation, patience=3)
    together = fit(seed=0, members=3, training=how)
    never = fit(seed=0, members=3)
    for member in range(3):
        alone = fit(seed=1000 * member, members=1, training=how)
        assert_exact(together.W[member], alone.W[0])
    found = fv.nll(net, validation).many(together.W).mean()
    want = fv.nll(net, validation).many(never.W).mean()
    assert found < want


@mark.parametrize("name", METHODS)
def test_a_stopped_run_goes_on_to_the_same_result(name, small, tmp_path):
    go = partial(run, name, *small, **minibatch(name))
    path = tmp_path / "run.safetensors"
    with raises(KeyboardInterrupt):
        go(checkpoint=path, progress=Mock(side_effect=[None, None, None, KeyboardInterrupt]))
    assert path.exists()
    found = go(checkpoint=path).sample(3, seed=1)
    want = go().sample(3, seed=1)
    assert equal(found, want)
    if name != "ptl":
        with refused("checkpoint must be of this run"):
            run(name, *small, checkpoint=path, seed=1)


@mark.parametrize("name", FLAT)
def test_with_an_ascent_it_is_the_same_method_and_with_radius_zero_the_same_numbers(name, small):
    draws = lambda ascent: run(name, *small, ascent=ascent).sample(3, seed=1)
    plain = draws(None)
    same = draws(fv.SAM(0.0))
    other = draws(fv.SAM(0.3))
    assert_close(same, plain)
    assert not torch.allclose(other, plain)


@mark.skipif(not torch.cuda.is_available(), reason="there is no GPU here")
@mark.parametrize("name", METHODS)
def test_it_runs_on_cuda_and_agrees_with_the_cpu(name, small):
    q = run(name, *there(small, device="cuda"))
    W = q.sample(3, seed=1)
    assert W.device.type == "cuda"
    want = run(name, *small).sample(3, seed=1)
    assert_close(W.cpu(), want, rtol=1e-5, atol=1e-6)


BEGAN = "the loss ends far above where it began"


@fixture
def case(small):
    net, data, prior = small
    return net, data, around(net, -1.0)


@mark.parametrize("name", ["sgd", "sgld", "sabma"])
def test_infinity_is_divergence_and_bad_input_is_an_error_of_its_own(name, case):
    longer = {"sabma": dict(steps=150), "sgld": dict(burn_in=40)}
    fit = partial(run, name, *case, **longer.get(name, {}))
    with raises(fv.Diverged, match="must stay finite"):
        fit(lr=1e300)
    for wrong in ("lr", "radius" if name == "sabma" else "weight_decay"):
        with refused("must be a finite number >= 0, got") as raised:
            fit(**{wrong: -1.0})
        assert not isinstance(raised.value, fv.Diverged)


def test_a_loss_that_ends_far_above_where_it_began_is_said_and_a_good_fit_says_nothing(
    case, recwarn
):
    net, data, prior = case
    vi = partial(fitted_by(fv.VI), net, data, prior, seed=1, steps=300)
    for fit in (
        vi,
        partial(fitted_by(fv.SWAG), net, data, rank=3, snapshots=10, seed=1),
    ):
        assert fit(lr=0.1).history.notes == ()
        assert not recwarn.list
        with warned(BEGAN):
            q = fit(lr=60.0)
        assert q.history.notes[0].startswith(BEGAN)
        found = float(q.history.loss[-30:].mean() - q.history.loss[0])
        assert found > 10  # of 300 steps
    # Its first draws have a larger loss still
    wide = around(net, 18.0)
    with warned(BEGAN):
        fitted = fv.fit(net, data, fv.VI(wide), seed=1, steps=50)
        assert fitted.history.notes[0].startswith(BEGAN)


def test_a_loss_is_compared_with_that_of_the_net_where_the_fit_began_whatever_statistics_it_trained(
    case,
):
    data = case[1]
    module = normed(2, 4, 3).eval().double()
    net = net_of(module)
    began = float(fv.nll(net, data)(net.w))
    with warned(f"{BEGAN}, .* after {began:.3g} nats"):
        fv.fit(
            net,
            data,
            fv.VI(around(net, 18.0)),
            seed=1,
            steps=20,
            batchnorm="train",
        )


def test_every_method_has_a_row_of_the_catalog_that_says_what_its_fit_can():
    assert set(ENTRIES) == {look.name for look in ROWS}, "a row of catalog.toml for each entry"
    for name, look in LOOKS.items():
        assert not look.symbol.endswith("-thin"), f"{name}: plotly draws no such symbol"
    for name in METHODS:
        takes = "ascent" in inspect.signature(fv.METHODS[name].fit).parameters
        assert LOOKS[name].flat == takes, f"{name}: flat = true is for fits that take ascent="


TRAINS_STATISTICS = [
    name
    for name in METHODS
    if "batchnorm" in inspect.signature(fv.METHODS[name].fit).parameters or name == "ptl"
]


@mark.parametrize("name", TRAINS_STATISTICS)
def test_statistics_that_a_fit_trained_are_those_of_its_draws_saved_with_it_and_used_by_predict(
    name, tmp_path
):
    torch.manual_seed(0)
    net = net_of(normed(3, 8, 2).double())
    x = 2 * torch.randn(120, 3, dtype=torch.float64) + 1  # far from the statistics 0 and 1 at first
    data = fv.Data(x, (x[:, 0] * x[:, 1] > 0).long())
    prior = around(net, -4.0)
    longer = {"steps": 60} if "steps" in fv.METHODS[name].plain.settings else {}
    trained = {"batchnorm": "train"}
    if name == "ptl":
        trained = {"settings": least(fv.METHODS[name]).get("settings", {}) | trained}
    q = run(name, net, data, prior, **longer, **trained)
    W = q.sample(2, seed=1)
    mean = lambda net: net.buffers()["1.running_mean"]
    for again in (q, fv.load(fv.save(q, tmp_path / "q.pt"))):
        p = fv.predict(net, again, data, 2, seed=1, batchnorm="frozen")
        frozen = p.outputs
        for i, w in enumerate(W):
            part = q.parts[i] if isinstance(q, fv.Mixture) else q
            several = isinstance(q, fv.Draws) and len(q.W) > 1
            fresh = fv.engine.refresh_batchnorm(net, w if several else part.center, data)
            used = fresh if several else net.with_buffers(part.buffers)
            assert_exact(frozen[i], used.to_module(w).eval()(x).detach())
            # running means of sixty steps lag by some ten
            assert (mean(used) - mean(fresh)).norm() < 0.2 * (mean(net) - mean(fresh)).norm()
