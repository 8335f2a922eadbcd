"""What is particular to one method: SWA, SWAG-diagonal, VI, bSAM, dropout, ensembles, MultiSWAG,
PTL, SVGD."""

import inspect
import math
import re
from functools import partial
from itertools import combinations

import torch
from cases import around, blobs, mlp, rng
from pytest import approx, fixture, mark, raises, warns
from torch import float64, nn, randn
from torch.nn import Conv2d, Dropout, Linear, Sequential
from torch.testing import assert_close

import flatviz as fv
from flatviz.posteriors import SWAG
from flatviz.training import SGD


def test_swa_is_the_mean_of_the_snapshots_and_swag_diagonal_their_variance(tiny):
    settings = dict(snapshots=4, batch_size=6, seed=0)
    swag = fv.fit_swag(*tiny, rank=4, **settings)
    diagonal = fv.fit_swag_diag(*tiny, **settings)
    assert_close(fv.fit_swa(*tiny, **settings).W[0], swag.mean)
    assert diagonal.rank == 0
    assert_close(
        diagonal.log_std, swag.log_std + 0.5 * math.log(2)
    )  # SWAG puts half of it on the diagonal


def test_flat_seeking_mean_field_vi_finds_narrower_widths_than_those_of_the_posterior(of_weights):
    """lambda = 50 examples, curvatures 4 and .2, prior N(0, 1): the posterior has std .0705 and
    .3015."""
    settings = dict(
        prior_std=1.0, first_std=0.2, likelihood=1.0, mc_samples=6, steps=350, lr=0.15, momentum=0.5
    )
    root = torch.tensor([4.0, 0.2], dtype=float64).sqrt()
    x = torch.ones(50, 2, dtype=float64)
    net = of_weights(lambda w, x: x * root * w, torch.zeros(2))
    flat = fv.fit_mfvi(net, fv.Data(x, 0 * x), ascent=fv.SAM(0.1), seed=0, **settings).std
    assert 0.04 < flat[0] < 0.055
    assert flat[1] == approx(0.277, rel=0.1)


def test_bsam_is_its_published_step(tiny):
    """m is perturbed by radius g / s, not normalised; weight decay pulls at m; m moves by the s of
    before the step."""
    net, data = tiny
    how = dict(
        radius=0.05,
        lr=0.1,
        b1=0.8,
        b2=0.9,
        damping=0.2,
        weight_decay=0.05,
        steps=5,
        first_precision=0.7,
    )
    q = fv.fit_bsam(net, data, seed=3, **how)
    radius, lr, b1, b2, damping, wd, steps, first = how.values()

    def grad(w):
        w.requires_grad_()
        return torch.autograd.grad(nn.functional.cross_entropy(net(w, data.x), data.y), w)[0]

    source = rng(3)
    m = net.w.clone()
    momentum = 0.0
    s = torch.full_like(net.w, first)
    for k in range(steps):
        g = grad(m + randn(net.dim, generator=source, dtype=float64) * (12 * s) ** -0.5)
        at_worst = grad(m + radius * g / s)
        size = s.sqrt() * g.abs()
        momentum = b1 * momentum + (1 - b1) * (at_worst + wd * m)
        rate = lr / 2 * (1 + math.cos(math.pi * k / steps))
        m = m - rate * momentum / s
        s = b2 * s + (1 - b2) * (size + damping + wd)
    assert_close(q.mean, m, rtol=1e-12, atol=1e-12)
    assert_close(q.variance, 1 / (12 * s), rtol=1e-12, atol=0)


def test_dropout_masks_each_example_anew_in_training_and_each_draw_anew_after_it(tiny):
    """400 copies of one example: the noise of their mean loss is 1/20 of that of one copy only if
    each has its own mask."""
    net, data = tiny
    still = dict(rate=0.5, steps=60, lr=0.0, seed=0)
    noise = [
        fv.fit_dropout(net, data.subset(torch.zeros(n).long()), **still).history.loss.std()
        for n in (1, 400)
    ]
    assert 0.03 < float(noise[1] / noise[0]) < 0.08
    assert (
        len(fv.fit_dropout(net, data, n_draws=30, **still).W.unique(dim=0)) > 10
    )  # of 2^4 masks of the hidden units


@mark.parametrize(
    "treated, kept", [("norm+head", 8), (lambda name: name.startswith("0."), 16), ("all", 0)]
)
def test_members_start_at_weights_drawn_anew_of_all_layers_or_of_the_head(treated, kept):
    module = Sequential(Linear(3, 4), nn.LayerNorm(4), Linear(4, 2))
    net = fv.Net.from_module(module, treated)
    data = blobs(6, 3, 2)
    W = fv.fit_ensemble(net, data, members=2, steps=1, lr=0.0, seed=5).W
    assert torch.equal(W[:, :kept], net.w[:kept].expand(2, -1))
    assert kept == net.dim or len(torch.stack([net.w, *W])[:, kept:].unique(dim=0)) == 3


def test_what_the_ensemble_and_the_parts_share_is_said_once(tiny):
    net, data = tiny
    how = dict(fit=fv.METHODS["swag"], members=2, steps=3, seed=0)
    for settings, flat in (({}, True), (dict(ascent=None), False)):
        parts = fv.fit_multi(*tiny, settings=settings, ascent=fv.SAM(0.1), **how).parts
        assert [part.history.sharpness is not None for part in parts] == [flat] * 2
    line = fv.Net.from_module(Linear(2, 1).double())
    assert len(fv.fit_multi(line, fv.Data(data.x, data.x[:, :1]), likelihood=0.5, **how).parts) == 2


@mark.parametrize("ascent", [None, fv.SAM(0.1)])
def test_the_swags_of_multiswag_run_together_are_those_run_one_by_one(tiny, ascent, tmp_path):
    settings = dict(rank=3, snapshots=12, batch_size=4, ascent=ascent)  # 36 steps, float64
    swags = partial(fv.fit_multi, *tiny, settings=settings, members=3, steps=5, seed=0)
    kept = partial(swags, fit=fv.METHODS["swag"], checkpoint=tmp_path / "a")
    together = kept()
    alone = swags(fit=fv.fit_swag)
    for one, other in zip(together.parts, alone.parts):
        a, b = ((q.mean, q.log_std, q.factor, q.history.loss) for q in (one, other))
        assert_close(a, b, rtol=1e-8, atol=1e-10)
        assert (one.history.sharpness is None) == (ascent is None)
    assert torch.equal(kept().parts[2].factor, together.parts[2].factor)


def test_pre_train_your_loss_samples_under_the_widened_prior(tiny):
    net, data = tiny
    factor = randn(2, net.dim, dtype=float64)
    prior = fv.Gaussian(net.w + 1, torch.full_like(net.w, -2.0), factor)
    seen = {}

    def fit(net, data, *, prior, seed, likelihood, checkpoint, progress):
        seen.update(w=net.w, prior=prior)
        return fv.fit_sgld(net, data, seed=seed, prior=prior, n_draws=2, burn_in=1, thin=1)

    q = fv.fit_ptl(net, data, prior, fit=fit, scale=3.0, floor=0.1, seed=0)
    assert q.W.shape == (2, net.dim)
    assert_close(seen["w"], prior.mean)
    eye = torch.eye(net.dim, dtype=float64)
    assert_close(seen["prior"].cov_mul(eye), 3 * prior.cov_mul(eye) + 0.01 * eye)
    with raises(ValueError, match="the prior must have a width, got scale=0 and floor=0"):
        fv.fit_ptl(net, data, prior, fit=fit, scale=0, floor=0, seed=0)


def moments_of(W, rank):
    """(SWAG, its state, what it kept of the rows of W)."""
    swag = SWAG(SGD(0.0), rank)
    kept = ()
    for w in W:
        state = swag.init(w)
        kept = swag.collect(kept, state)
    return swag, state, kept


def test_the_gaussian_is_half_the_variance_plus_half_the_deviations():
    W = 1 + 0.1 * randn(12, 6, dtype=float64)
    swag, state, kept = moments_of(W, 4)
    q = swag.result(state, None, kept)
    assert_close(q.mean, W.mean(0))
    assert_close((2 * q.log_std).exp(), 0.5 * W.var(0, unbiased=False))
    D = (W - W.cumsum(0) / torch.arange(1, 13)[:, None])[
        -4:
    ]  # from the running mean that includes the new iterate
    assert_close(q.factor.T @ q.factor, D.T @ D / (2 * 3))


def test_variances_survive_float32_where_the_naive_formula_does_not():
    W = (
        1 + 1e-4 * randn(20, 6, dtype=float64)
    ).float()  # the mean of squares less the squared mean: 50 % off
    _, _, (n, _, squares, *_) = moments_of(W, 5)
    assert_close(squares / n, W.double().var(0, unbiased=False), rtol=0.01, atol=0)


def test_scale_multiplies_the_covariance_alone(tiny):
    settings = dict(rank=3, snapshots=5, batch_size=6)
    one, wide = (fv.fit_swag(*tiny, seed=0, scale=scale, **settings) for scale in (1.0, 4.0))
    assert torch.equal(wide.mean, one.mean)
    assert_close(wide.sample(2, seed=1) - wide.mean, 2 * (one.sample(2, seed=1) - one.mean))
    with raises(ValueError, match="scale must be .* 0"):
        fv.fit_swag(*tiny, seed=0, scale=0.0)


NETWORKS = {
    "features": (mlp(3, 4, 2, act=nn.ReLU), (5, 3), ["2"]),
    "two layers": (
        mlp(3, 4, 4, 2),
        (5, 3),
        ["2", "4"],
    ),
    "maps": (
        Sequential(Conv2d(1, 4, 3), Conv2d(4, 2, 3), nn.Flatten(), Linear(8, 2)),
        (5, 1, 6, 6),
        ["1", "3"],
    ),
    "channels of a sequence": (
        Sequential(nn.Conv1d(3, 4, 1), nn.Conv1d(4, 2, 3)),
        (5, 3, 7),
        ["1"],
    ),
    "tokens": (Sequential(Linear(3, 4), Linear(4, 2)), (5, 7, 3), ["1"]),
    "one layer": (Linear(3, 2), (5, 3), [""]),
    "a dropout layer of its own": (
        Sequential(Linear(3, 4), Dropout(0.7), Linear(4, 2)).eval(),
        (5, 3),
        ["2"],
    ),
}


def dropped(module, x, rate, n_draws=200, treated="trainable"):
    """(net, draws, layer -> which of its inputs each draw drops (S, inputs)): columns of zeros."""
    net = fv.Net.from_module(module, treated)
    data = fv.Data(x, module(x).detach())
    how = dict(seed=0, lr=0.0, steps=1, likelihood=1.0)
    W = fv.fit_dropout(net, data, rate=rate, n_draws=n_draws, **how).W
    matrices = [b for b in net.blocks if b.name.endswith("weight") and len(b.shape) > 1]
    off = {
        b.name.rpartition(".")[0]: (W[:, b.slice].view(n_draws, *b.shape[:2], -1) == 0)
        .all(3)
        .all(1)
        for b in matrices
    }
    return net, W, {name: columns for name, columns in off.items() if columns.any()}


@mark.parametrize("module, shape, masked", NETWORKS.values(), ids=NETWORKS)
def test_a_draws_weights_are_the_network_with_the_same_mask_on_its_layers_inputs(
    module, shape, masked
):
    x = randn(shape)
    net, W, off = dropped(module, x, 0.5, n_draws=20)
    assert list(off) == masked
    plain = net.to_module()
    for name in masked:

        def masked_inputs(part, args, kept=2.0 * ~off[name][0]):
            places = 0 if isinstance(part, Linear) else args[0].ndim - 2
            return args[0] * kept.view(-1, *[1] * places)

        plain.get_submodule(name).register_forward_pre_hook(masked_inputs)
    assert_close(net(W[0], x), plain(x).detach())


def shares(*given, **how):
    """Layer -> the share of its inputs that draws drop, of 800 at the least: 3 sigma are 0.06."""
    off = dropped(*given, **how)[-1]
    return approx({name: columns.float().mean().item() for name, columns in off.items()}, abs=0.06)


def test_the_networks_own_dropout_layers_say_where_and_how_much_is_dropped():
    maps = Conv2d(1, 4, 3), nn.Dropout2d(0.2), Conv2d(4, 2, 3), Dropout(0.3), nn.Flatten()
    rest = Linear(8, 4), nn.ReLU(), Dropout(0.0), Linear(4, 4), Dropout(0.4), Linear(4, 2)
    module = Sequential(*maps, *rest).eval()
    x = randn(5, 1, 6, 6)
    assert shares(module, x, None) == {"2": 0.2, "5": 0.3, "10": 0.4}
    assert shares(module, x, 0.5) == dict.fromkeys(("2", "5", "8", "10"), 0.5)
    plain = Sequential(Linear(3, 4), Linear(4, 2))
    assert shares(plain, randn(5, 3), None) == {"1": 0.1}
    layer = nn.TransformerEncoderLayer(4, 2, 8, dropout=0.3, batch_first=True)
    encoder = Sequential(layer, Linear(4, 2)).eval()
    with warns(UserWarning, match="dropout in 0.dropout1, 0.dropout2 stays off: masks are weights"):
        assert shares(encoder, randn(5, 3, 4), None) == {"0.linear2": 0.3}


def test_layers_that_are_not_treated_and_rates_beyond_the_bounds():
    given = NETWORKS["two layers"][0], randn(5, 3)
    assert shares(*given, 0.2, treated=lambda name: name.startswith("4")) == {"4": 0.2}
    for rate in (0.0, 1.0):
        with raises(ValueError, match="rate must be above 0 and below 1"):
            dropped(*given, rate)


N = 30
NOISE = 0.5
DECAY = 0.1


@fixture(scope="module")
def line(linear_regression):
    """Build a regression with two correlated inputs: net, data, exact mean and covariance."""
    return linear_regression(N, [1.0, -0.5], NOISE, N * DECAY, seed=1)


def double_sum(w, g, temperature):
    """Equation 8 of the paper, a pair at a time; the gradient of the kernel by autograd."""
    apart = [(a - b).norm() for a, b in combinations(w, 2)]
    h = torch.stack(apart).median() ** 2 / math.log(len(w))
    phi = torch.zeros_like(w)
    for i in range(len(w)):
        for j in range(len(w)):
            other = w[j].clone().requires_grad_(True)
            k = (-(other - w[i]).square().sum() / h).exp()
            phi[i] += k.detach() * -g[j] / temperature + torch.autograd.grad(k, other)[0]
    return phi / len(w)


def test_two_steps_of_the_fit_are_two_steps_of_the_sum_with_momentum(line):
    net, data, _, _ = line
    how = dict(seed=0, n_draws=5, lr=0.02, momentum=0.5, weight_decay=DECAY, likelihood=NOISE)
    before, after = (fv.fit_svgd(net, data, steps=steps, **how).W for steps in (1, 3))
    w = fv.fit_svgd(net, data, steps=1, **how | dict(lr=0.0)).W
    v = 0
    for step in range(3):
        g = (w @ data.x.T - data.y.T) @ data.x / (N * NOISE**2) + DECAY * w
        v = 0.5 * v + double_sum(w, g, 1 / N) / N
        w = w + 0.02 * v
        if step == 0:
            assert_close(before, w, rtol=1e-10, atol=1e-12)
    assert_close(after, w, rtol=1e-10, atol=1e-12)


def test_particles_at_one_place_are_refused(line):
    module = Sequential(Linear(2, 2), Linear(2, 1)).double()
    with raises(
        ValueError, match=r"3 particles must start apart, got one place for all: treat a head"
    ):
        fv.fit_svgd(
            fv.Net.from_module(module, lambda name: name.startswith("0.")),
            line[1],
            seed=0,
            n_draws=3,
        )


STATED = re.compile(r"None: ([\d.]+), of a net with BatchNorm (\d\.\d+)")
TUNED = re.compile(r"None: the tuned one")


@mark.parametrize("norm", [nn.LayerNorm, nn.BatchNorm1d])
@mark.parametrize(
    "fit, how",
    [
        *((fit, dict(snapshots=5)) for fit in (fv.fit_swa, fv.fit_swag_diag, fv.fit_swag)),
        (fv.fit_sgd, dict(steps=3)),
        (fv.fit_vi, dict(steps=3)),
        (fv.fit_sabma, dict(steps=3, radius=0.5)),
    ],
)
def test_a_keyword_that_is_left_out_has_the_value_that_its_docstring_states(fit, how, norm):
    net = fv.Net.from_module(Sequential(Linear(2, 4), norm(4), Linear(4, 2)))
    data = blobs(12, 2, 2)
    prior = around(net, -1.0)
    given = (net, data, prior) if fit in (fv.fit_vi, fv.fit_sabma) else (net, data)
    _, *parts = re.split(r"\n    (\w+): ", inspect.getdoc(fit))
    texts = {name: " ".join(text.split()) for name, text in zip(parts[::2], parts[1::2])}
    stated = {
        name: float(found[1 + (norm is nn.BatchNorm1d)])
        for name, text in texts.items()
        if (found := STATED.search(text))
    }
    if method := re.search(r'fv\.METHODS\["(\w+)"\]\.tuned\(net\)', fit.__doc__):
        tuned = fv.METHODS[method[1]].tuned(net).settings
        stated |= {name: tuned[name] for name, text in texts.items() if TUNED.search(text)}
    assert "lr" in stated
    assert_close(fit(*given, seed=0, **how).center, fit(*given, seed=0, **how, **stated).center)
