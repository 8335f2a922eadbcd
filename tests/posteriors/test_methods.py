"""What is particular to one method: SWA, SWAG-diagonal, VI, bSAM, dropout, ensembles, MultiSWAG,
PTL, SVGD."""

import math
from dataclasses import replace
from functools import partial
from itertools import product

import torch
from cases import (
    assert_exact,
    blobs,
    fitted_by,
    mlp,
    net_of,
    normals,
    numbers_of,
    refused,
    rng,
    warned,
)
from pytest import approx, fixture, mark
from torch import equal, float64, full_like, nn, randn, stack
from torch.nn import Conv2d, Dropout, Linear, Sequential
from torch.testing import assert_close

import flatviz as fv


def test_swa_is_the_mean_of_the_snapshots_and_swag_diagonal_their_variance(tiny):
    settings = dict(batch_size=6, seed=0)
    fields = dict(snapshots=4)
    swag = fv.fit(*tiny, fv.SWAG(rank=4, **fields), **settings)
    diagonal = fv.fit(*tiny, fv.SWAGDiagonal(**fields), **settings)
    q = fv.fit(*tiny, fv.SWA(**fields), **settings)
    found = q.W[0]
    assert_close(found, swag.mean)
    assert diagonal.rank == 0
    want = swag.log_std + 0.5 * math.log(2)
    assert_close(diagonal.log_std, want)  # SWAG puts half of it on the diagonal


CHAINS = fitted_by(fv.SGLD), fitted_by(fv.SGHMC), fitted_by(fv.PSGLD), fitted_by(fv.SGNHT)
UNEVEN = dict(n_draws=3, chains=2), "n_draws must be a multiple of the 2 chains, got 3"
FEW = dict(rank=5, snapshots=4), "snapshots must be a whole number >= 5, got 4"
NO_PRIOR = dict(prior_precision=None, weight_decay=0.0), "prior_precision must be > 0, got None"
WRONG = [*product(CHAINS, [UNEVEN]), (fitted_by(fv.SWAG), FEW), (fitted_by(fv.Laplace), NO_PRIOR)]


@mark.parametrize("fit, wrong", WRONG, ids=lambda value: getattr(value, "__name__", ""))
def test_a_wrong_setting_is_refused_before_the_data_are_read(tiny, fit, wrong):
    net, data = tiny
    settings, text = wrong
    unfit = fv.Data(data.x[:, :1], data.y)
    with refused("do not pass through"):
        fit(net, unfit, seed=0)
    with refused(text):
        fit(net, unfit, seed=0, **settings)


def test_a_snapshot_of_swag_is_the_weights_at_the_end_of_an_epoch(tiny):
    """Twelve copies of one example: each minibatch of six has the gradient of all."""
    net, data = tiny
    copies = data.subset(torch.zeros(12).long())
    q = fv.fit(
        net,
        copies,
        fv.SWA(snapshots=3, lr=0.1, momentum=0.5, weight_decay=0.0),
        seed=0,
        batch_size=6,
    )
    f = fv.nll(net, copies)
    w = net.w
    v = 0.0
    ends = []
    for step in range(6):
        v = 0.5 * v + f.value_and_grad(w)[1]
        w = w - 0.1 * v
        if step % 2:
            ends.append(w)
    assert_close(q.W[0], stack(ends).mean(0))


@mark.parametrize("treated, collects", [("all", True), ("head", False)])
def test_sgd_trains_the_statistics_of_batchnorm_with_all_weights_alone(treated, collects):
    module = Sequential(Linear(2, 4), nn.BatchNorm1d(4), nn.ReLU(), Linear(4, 3))
    data = blobs(20, 2, 3)
    q = fv.fit(net_of(module, treated), data, fv.SGD(), seed=0, steps=3, batch_size=10)
    assert (q.buffers is not None) == collects


def test_alpha_dropout_is_no_mask_and_a_rate_of_one_is_refused():
    data = fv.Data(torch.randn(6, 2, 4, 4), torch.arange(6) % 3)
    first = [Conv2d(2, 3, 3), nn.SELU()]
    last = [Conv2d(3, 4, 2), nn.Flatten(), Linear(4, 3)]
    net = net_of(Sequential(*first, nn.AlphaDropout(0.3), *last).eval())
    with warned("dropout in 2 stays off"):
        fv.fit(net, data, fv.Dropout(n_draws=1), seed=0, steps=1)
    net = net_of(Sequential(*first, Dropout(1.0), *last).eval())
    with refused("rate must be above 0 and below 1, got 1.0"):
        fv.fit(net, data, fv.Dropout(n_draws=1), seed=0, steps=1)


def annealed(lr, step):
    """The rate at one of five steps: half a cosine."""
    return lr / 2 * (1 + math.cos(math.pi * step / 5))


def test_bsam_is_its_published_step(tiny):
    """m is perturbed by radius g / s, not normalised; weight decay pulls at m; m moves by the s of
    before the step."""
    net, data = tiny
    lr = 0.1
    decay = 0.05
    q = fv.fit(
        net,
        data,
        fv.BSAM(
            lr=lr, weight_decay=decay, radius=0.05, b1=0.8, b2=0.9, damping=0.2, first_precision=0.7
        ),
        seed=3,
        steps=5,
    )
    f = fv.nll(net, data)
    source = rng(3)
    m = net.w
    momentum = 0.0
    s = torch.full_like(m, 0.7)
    for k in range(5):
        noise = normals(net.dim, source=source)
        std = (12 * s) ** -0.5
        _, g = f.value_and_grad(m + noise * std)
        _, worst = f.value_and_grad(m + 0.05 * g / s)
        size = s.sqrt() * g.abs()
        momentum = 0.8 * momentum + 0.2 * (worst + decay * m)
        m = m - annealed(lr, k) * momentum / s
        s = 0.9 * s + 0.1 * (size + 0.2 + decay)
    assert_exact(q.mean, m)
    assert_exact(q.variance, 1 / (12 * s))


def test_ivon_is_its_published_step(tiny):
    """The variance of a step's draws is that of the result; the curvature's estimate has a squared
    term, which keeps it above 0."""
    net, data = tiny
    q = fv.fit(
        net,
        data,
        fv.IVON(lr=0.1, weight_decay=0.3, temperature=0.5, b1=0.8, b2=0.9, first_hessian=0.7),
        seed=3,
        steps=5,
    )
    f = fv.nll(net, data)
    source = rng(3)
    m = net.w
    momentum = 0.0
    h = torch.full_like(m, 0.7)
    for k in range(5):
        std = (0.5 / (12 * (h + 0.3))).sqrt()
        z = normals(net.dim, source=source)
        _, g = f.value_and_grad(m + std * z)
        momentum = 0.8 * momentum + 0.2 * g
        estimate = g * z / std
        change = 0.1 * (estimate - h)
        h = h + change + 0.5 * change**2 / (h + 0.3)
        unbiased = momentum / (1 - 0.8 ** (k + 1))
        m = m - annealed(0.1, k) * (unbiased + 0.3 * m) / (h + 0.3)
    assert_exact(q.mean, m)
    assert_exact(q.variance, 0.5 / (12 * (h + 0.3)))


def test_dropout_masks_each_example_anew_in_training_and_each_draw_anew_after_it(tiny):
    """400 copies of one example: the noise of their mean loss is 1/20 of that of one copy only if
    each has its own mask."""
    net, data = tiny

    def still(n, **how):
        copies = data.subset(torch.zeros(n).long())
        fixed = dict(steps=60, lr=0.0, seed=0)
        return fitted_by(fv.Dropout)(net, copies, rate=0.5, **fixed, **how)

    of_one = still(1).history.loss.std()
    of_mean = still(400).history.loss.std()
    assert 0.03 < of_mean / of_one < 0.08
    draws = still(12, n_draws=30).W
    assert len(draws.unique(dim=0)) > 10  # of 2^4 masks of the hidden units


@mark.parametrize(
    "treated, kept",
    [
        ("norm+head", 8),
        (lambda name: name.startswith("0."), 16),
        ("all", 0),
    ],
)
def test_members_start_at_weights_drawn_anew_of_all_layers_or_of_the_head(treated, kept):
    module = Sequential(Linear(3, 4), nn.LayerNorm(4), Linear(4, 2))
    net = net_of(module, treated)
    data = blobs(6, 3, 2)
    q = fv.fit(net, data, fv.Ensemble(members=2, lr=0.0), steps=1, seed=5)
    want = net.w[:kept].expand(2, -1)
    assert equal(q.W[:, :kept], want)
    starts = stack([net.w, *q.W])[:, kept:]
    assert kept == net.dim or len(starts.unique(dim=0)) == 3


def test_one_call_makes_ensemble_and_parts_flat_seeking(tiny):
    multi = fv.Multi(fv.SWAG(lr=0.05), members=2, inner_batch_size=10)
    flat = multi.with_ascent(fv.SAM(0.1))
    assert flat.ascent == flat.method.ascent == fv.SAM(0.1)
    for part in fv.fit(*tiny, flat, steps=3, seed=0).parts:
        assert part.history.sharpness is not None
    for part in fv.fit(*tiny, multi, steps=3, seed=0).parts:
        assert part.history.sharpness is None


@mark.parametrize("ascent", [None, fv.SAM(0.1)])
def test_the_swags_of_multiswag_run_together_are_those_run_one_by_one(tiny, ascent, tmp_path):
    net, data = tiny
    swag = fv.SWAG(rank=3, snapshots=12, ascent=ascent)  # 36 steps, float64
    multi = fv.Multi(swag, members=3, inner_batch_size=4)
    kept = partial(fv.fit, net, data, multi, steps=5, seed=0, checkpoint=tmp_path / "a")
    together = kept()
    modes = fv.fit(net, data, fv.Ensemble(members=3), steps=5, seed=0).W
    for i, (w, one) in enumerate(zip(modes, together.parts)):
        other = fv.fit(net.at(w), data, swag, batch_size=4, seed=1000 * i + 1)
        assert_exact(numbers_of(one), numbers_of(other))
        assert_exact(one.history.loss, other.history.loss)
    found = kept().parts[2].factor
    assert equal(found, together.parts[2].factor)


def test_pre_train_your_loss_samples_under_the_widened_prior(tiny):
    net, data = tiny
    factor = randn(2, net.dim, dtype=float64)
    prior = fv.Gaussian(net.w + 1, full_like(net.w, -2.0), factor)
    sgld = fv.SGLD(n_draws=2, burn_in=1, thin=1)
    q = fv.fit(net, data, fv.PTL(prior, sgld, scale=3.0, floor=0.1), seed=0)
    assert q.W.shape == (2, net.dim)
    eye = torch.eye(net.dim, dtype=float64)
    variance = 3 * (2 * prior.log_std).exp() + 0.01
    wide = fv.Gaussian(prior.mean, 0.5 * variance.log(), 3**0.5 * prior.factor)
    assert_close(wide.cov_mul(eye), 3 * prior.cov_mul(eye) + 0.01 * eye)
    alone = fv.fit(net.at(prior.mean), data, replace(sgld, prior=wide), seed=0)
    assert_exact(q.W, alone.W)
    with refused("the prior must have a width, got scale=0 and floor=0"):
        fv.PTL(prior, sgld, scale=0, floor=0)


def moments_of(W, rank):
    """(SWAG, its state, what it kept of the rows of W)."""
    swag = fv.SWAG(rank=rank)
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
    found = (2 * q.log_std).exp()
    want = 0.5 * W.var(0, unbiased=False)
    assert_close(found, want)
    number = torch.arange(1, 13)[:, None]
    running_mean = W.cumsum(0) / number  # which includes the new iterate
    D = (W - running_mean)[-4:]
    found = q.factor.T @ q.factor
    want = D.T @ D / (2 * 3)
    assert_close(found, want)


def test_variances_survive_float32_where_the_naive_formula_does_not():
    W = 1 + 1e-4 * randn(20, 6)  # the mean of squares less the squared mean: 50 % off
    _, _, kept = moments_of(W, 5)
    n, _, squares, *_ = kept
    want = W.double().var(0, unbiased=False)
    assert_close(squares / n, want, rtol=0.01, atol=0)


def test_scale_multiplies_the_covariance_alone(tiny):
    fit = partial(fitted_by(fv.SWAG), *tiny, rank=3, snapshots=5, seed=0, batch_size=6)
    one = fit(scale=1.0)
    wide = fit(scale=4.0)
    assert equal(wide.mean, one.mean)
    found = wide.sample(2, seed=1) - wide.mean
    off = one.sample(2, seed=1) - one.mean
    assert_close(found, 2 * off)
    with refused("scale must be .* 0"):
        fit(scale=0.0)


NETWORKS = {  # module, shape of x, layers whose inputs are dropped
    "features": (
        mlp(3, 4, 4, 2, act=nn.ReLU),
        (5, 3),
        ["2", "4"],
    ),
    "maps": (
        Sequential(
            Conv2d(1, 4, 3),
            Conv2d(4, 2, 3),
            nn.Flatten(),
            Linear(8, 2),
        ),
        (5, 1, 6, 6),
        ["1", "3"],
    ),
    "channels of a sequence": (
        Sequential(nn.Conv1d(3, 4, 1), nn.Conv1d(4, 2, 3)),
        (5, 3, 7),
        ["1"],
    ),
    "tokens": (
        Sequential(Linear(3, 4), Linear(4, 2)),
        (5, 7, 3),
        ["1"],
    ),
    "groups, and transposed": (
        Sequential(
            nn.Conv1d(2, 4, 1),
            nn.Conv1d(4, 4, 1, groups=2),
            nn.ConvTranspose1d(4, 2, 1),
            nn.Conv1d(2, 2, 1),
        ),
        (5, 2, 7),
        ["3"],
    ),
    "one layer": (Linear(3, 2), (5, 3), [""]),
}


def dropped(module, x, rate, n_draws=200, treated="trainable"):
    """(net, draws, layer -> which of its inputs each draw drops (S, inputs)): columns of zeros."""
    net = net_of(module, treated)
    data = fv.Data(x, module(x).detach())
    fixed = dict(seed=0, steps=1, likelihood=1.0)
    fields = dict(lr=0.0)
    W = fv.fit(net, data, fv.Dropout(rate=rate, n_draws=n_draws, **fields), **fixed).W
    off = {}
    for b in net.blocks:
        layer, _, kind = b.name.rpartition(".")
        if kind != "weight" or len(b.shape) == 1:
            continue
        rows = W[:, b.slice].view(n_draws, *b.shape[:2], -1)
        columns = (rows == 0).all(3).all(1)
        if columns.any():
            off[layer] = columns
    return net, W, off


@mark.parametrize("name", NETWORKS)
def test_a_draws_weights_are_the_network_with_the_same_mask_on_its_layers_inputs(name):
    module, shape, masked = NETWORKS[name]
    x = randn(shape)
    net, W, off = dropped(module, x, 0.5, n_draws=20)
    assert list(off) == masked
    plain = net.to_module()
    for layer in masked:

        def masked_inputs(part, args, kept=2.0 * ~off[layer][0]):
            (inputs,) = args
            if isinstance(part, Linear):
                return inputs * kept
            places = inputs.ndim - 2
            return inputs * kept.view(-1, *[1] * places)

        plain.get_submodule(layer).register_forward_pre_hook(masked_inputs)
    found = net(W[0], x)
    assert_close(found, plain(x).detach())


def shares(*given, **how):
    """Layer -> the share of its inputs that draws drop, of 800 at the least: 3 sigma are 0.06."""
    off = dropped(*given, **how)[-1]
    share = lambda columns: float(columns.float().mean())
    found = {name: share(columns) for name, columns in off.items()}
    return approx(found, abs=0.06)


def test_the_networks_own_dropout_layers_say_where_and_how_much_is_dropped():
    module = Sequential(
        Conv2d(1, 4, 3),
        nn.Dropout2d(0.2),
        Conv2d(4, 2, 3),
        Dropout(0.3),
        nn.Flatten(),
        Linear(8, 4),
        nn.ReLU(),
        Dropout(0.0),
        Linear(4, 4),
        Dropout(0.4),
        Linear(4, 2),
    ).eval()
    x = randn(5, 1, 6, 6)
    assert shares(module, x, None) == {"2": 0.2, "5": 0.3, "10": 0.4}
    every = {"2": 0.5, "5": 0.5, "8": 0.5, "10": 0.5}
    assert shares(module, x, 0.5) == every
    plain = Sequential(Linear(3, 4), Linear(4, 2))
    found = shares(plain, randn(5, 3), None)
    assert found == {"1": 0.1}
    layer = nn.TransformerEncoderLayer(4, 2, 8, dropout=0.3, batch_first=True)
    encoder = Sequential(layer, Linear(4, 2)).eval()
    with warned("dropout in 0.dropout1, 0.dropout2 stays off: masks are weights"):
        found = shares(encoder, randn(5, 3, 4), None)
        assert found == {"0.linear2": 0.3}


N = 30
NOISE = 0.5
DECAY = 0.1


@fixture(scope="module")
def line(linear_regression):
    """Build a regression with two correlated inputs: net, data, exact mean and covariance."""
    return linear_regression(N, [1.0, -0.5], NOISE, N * DECAY, seed=1)


def double_sum(w, g, temperature):
    """Equation 8 of the paper, a pair at a time; the gradient of the kernel by autograd."""
    h = torch.pdist(w).median() ** 2 / math.log(len(w))
    phi = torch.zeros_like(w)
    for i, here in enumerate(w):
        for j, there in enumerate(w):
            kernel = lambda a, b: torch.exp(-(a - b).square().sum() / h)
            slope, k = torch.func.grad_and_value(kernel)(there, here)
            phi[i] += slope - k * g[j] / temperature
    return phi / len(w)


def test_two_steps_of_the_fit_are_two_steps_of_the_sum_with_momentum(line):
    net, data, _, _ = line
    how = dict(seed=0, likelihood=NOISE)
    fields = dict(n_draws=5, momentum=0.5, weight_decay=DECAY)
    fit = partial(fitted_by(fv.SVGD), net, data, **fields, **how)
    w = fit(steps=1, lr=0.0).W
    v = 0
    for step in range(1, 4):
        residuals = w @ data.x.T - data.y.T
        g = residuals @ data.x / (N * NOISE**2) + DECAY * w
        v = 0.5 * v + double_sum(w, g, 1 / N) / N
        w = w + 0.02 * v
        if step in (1, 3):
            q = fit(steps=step, lr=0.02)
            assert_exact(q.W, w)


def test_particles_at_one_place_are_refused(line):
    module = Sequential(Linear(2, 2), Linear(2, 1)).double()
    with refused(r"3 particles must start apart, got one place for all: treat a head"):
        net = net_of(module, lambda name: name.startswith("0."))
        fv.fit(net, line[1], fv.SVGD(n_draws=3), likelihood=1.0, seed=0)


def test_a_record_inside_an_ensemble_or_ptl_runs_at_its_own_settings(tiny):
    net, data = tiny
    entry = fv.METHODS["multiswag"]
    few = dict(members=2, steps=2, seed=0)
    settings = {"settings": {**entry.keywords(net)["settings"], "snapshots": 5}}
    of = {
        name: fv.METHODS[name].fit(net, data, **few, **settings, **how).parts[0]
        for name, how in (("multiswag", {}), ("f-multiswag", dict(ascent=fv.SAM(0.1))))
    }
    assert of["multiswag"].history.sharpness is None
    assert of["f-multiswag"].history.sharpness is not None
    steps = 5 * math.ceil(len(data) / 10)  # minibatches of 10
    assert len(of["multiswag"].history.loss) == steps
    prior = fv.Gaussian(net.w, full_like(net.w, -2.0))
    short = dict(n_draws=4, cycles=2, cycle_steps=20)
    found = fv.METHODS["ptl"].fit(net, data, prior, settings=short, seed=0)
    want = fv.fit(net, data, fv.PTL(prior, fv.CSGLD(**short)), seed=0)
    assert equal(found.W, want.W)


def test_members_at_one_place_are_said():
    net = net_of(mlp(3, 4, 2), lambda name: name.startswith("0."))
    with warned("2 members must start apart, got one place for all"):
        fv.fit(net, blobs(6, 3, 2), fv.Ensemble(members=2), steps=1, seed=0)


def test_attention_starts_at_weights_drawn_anew():
    module = nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0, batch_first=True)
    net = net_of(Sequential(module, nn.Flatten(), Linear(12, 2)))
    data = fv.Data(randn(5, 3, 4), torch.arange(5) % 2)
    W = fv.fit(net, data, fv.Ensemble(members=2, lr=0.0), steps=1, seed=0).W
    (block,) = [b for b in net.blocks if b.name.endswith("in_proj_weight")]
    starts = stack([net.w, *W])[:, block.slice]
    assert len(starts.unique(dim=0)) == 3


def test_pre_training_at_a_rate_below_its_last_one_does_not_raise_it(tiny):
    short = partial(fv.pretrain, *tiny, seed=0, epochs=2, lr=0.01)
    assert equal(short().w, short(last_lr=0.01).w)
