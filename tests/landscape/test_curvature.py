"""Curvature: eigenpairs, restarts, both ends, GGN and Fisher, parts, density and trace, each
against a dense matrix."""

import math
import pickle
import weakref
from functools import partial

import torch
from cases import rng
from pytest import approx, fixture, mark, param, raises, warns
from scipy.sparse.linalg import aslinearoperator, eigsh
from scipy.stats import wasserstein_distance
from torch import arange, cat, eye, float64, linspace, nn, ones, randn, stack, tensor, zeros
from torch.testing import assert_close

import flatviz as fv
from flatviz import landscape
from flatviz.engine import graphs
from flatviz.landscape import krylov, search, trace
from flatviz.objectives import curvature as core_curvature

D = 60
N_SEEDS = 120
CLUSTERED = {
    "outliers, a bulk, a null space": cat(
        [linspace(1, 10, 10), linspace(0.05, 0.6, 100), zeros(790)]
    ),
    "power law": 10 * arange(1, 401) ** -1.5,
    "threefold eigenvalues": cat([tensor([9.0, 9, 9, 5, 5, 5]), linspace(0, 1, 194)]),
}


@fixture
def outliers():
    """A quadratic whose D = 60 eigenvalues are a bulk in [-0.5, 1] and five outliers; (f, H,
    eigenvalues falling)."""
    values = cat(
        [
            linspace(-0.5, 1.0, D - 5, dtype=float64),
            tensor([5.0, 8, 9, 20, 30]).double(),
        ]
    )
    basis, _ = torch.linalg.qr(randn(D, D, generator=rng(), dtype=float64))
    H = (basis * values) @ basis.T
    return (lambda w: 0.5 * w @ H @ w), H, values.flip(0)


START = ones(D, dtype=float64)


def bowl(values):
    """(f, w) of a diagonal Hessian: test vectors are normal, so the eigenbasis does not matter."""
    return (lambda w: 0.5 * (values * w * w).sum()), torch.ones_like(values)


def test_a_restarted_run_finds_what_a_long_one_finds(outliers, monkeypatch):
    f, _, values = outliers
    monkeypatch.setattr(
        "flatviz.landscape.krylov.BASIS_BYTES", 0
    )  # 16 vectors, the least for 3 pairs
    spectrum = fv.top_eigenpairs(f, START, 3, iters=200, tol=1e-9)
    assert_close(spectrum.values, values[:3], rtol=1e-12, atol=0)
    assert spectrum.residual.max() < 1e-7
    assert 16 < spectrum.n_products < 80
    # Too few products: the residual is the true one, large as it is
    short = fv.top_eigenpairs(f, START, 3, iters=6)
    assert short.residual.max() > 1e-2
    assert short.n_products == 6
    for s in (spectrum, short):
        true = stack(
            [(fv.hvp(f, START, v) - lam * v).norm() for v, lam in zip(s.vectors, s.values)]
        )
        assert_close(s.residual, true, rtol=1e-8, atol=1e-9)


@mark.parametrize("room", [40, 12])
def test_the_residual_is_true_also_of_products_that_are_not_quite_symmetric(outliers, room):
    """Restarts (room=12) add to what is known of a residual: there it is a bound."""
    H = outliers[1] + 1e-4 * randn(D, D, generator=rng(1), dtype=float64)
    run = krylov.Krylov(lambda v: H @ v, START, room, rng())
    values, columns, residual = search.largest(run, 2, 40, 1e-9)
    true = stack([(H @ v - lam * v).norm() for v, lam in zip(run.vectors(columns), values)])
    assert (residual >= true * (1 - 1e-6)).all()
    assert true.min() > 1e-4
    if room == 40:
        assert_close(residual, true, rtol=1e-6, atol=0)


@mark.parametrize("likelihood", ["categorical", 0.5])
def test_ggn_and_fisher_equal_their_definitions(tiny, likelihood):
    net, data = tiny
    J = torch.autograd.functional.jacobian(lambda w: net(w, data.x), net.w)
    out = net(net.w, data.x)
    if likelihood == "categorical":
        p = out.softmax(-1)
        inner = torch.diag_embed(p) - p[:, :, None] * p[:, None]
        e = p - nn.functional.one_hot(data.y, 3)
    else:
        data = fv.Data(data.x, randn(12, 3, dtype=float64))
        inner = eye(3, dtype=float64).expand(12, 3, 3) / 0.25
        e = (out - data.y) / 0.25
    f = fv.nll(net, data, likelihood=likelihood)
    g = torch.einsum("ncd,nc->nd", J, e)
    dense = {"ggn": torch.einsum("ncd,nce,nef->df", J, inner, J) / 12, "fisher": g.T @ g / 12}
    dense["hessian"] = torch.autograd.functional.hessian(f, net.w)
    v = randn(net.dim, dtype=float64)
    for kind, M in dense.items():
        assert_close(f.operator(net.w, kind)(v), M @ v, rtol=1e-8, atol=1e-11)
        spectrum = fv.top_eigenpairs(f, net.w, 3, curvature=kind, tol=1e-8)
        assert_close(spectrum.values, torch.linalg.eigvalsh(M).flip(0)[:3], rtol=1e-6, atol=1e-9)
        assert spectrum.curvature == kind


@mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@mark.parametrize("curvature", ["hessian", "ggn"])
def test_a_net_of_half_precision_has_the_eigenvalues_of_the_same_net_in_float64(
    tiny, dtype, curvature
):
    """A Krylov basis in the net's precision is not orthogonal: it gave 20 times the largest
    eigenvalue."""
    net, data = tiny
    half = net.to(dtype=dtype)
    f = fv.nll(half, data.to(dtype=dtype))
    exact = fv.nll(half.to(dtype=float64), data.to(dtype=dtype).to(dtype=float64))
    top, truth = (fv.top_eigenpairs(g, g.net.w, 2, curvature=curvature) for g in (f, exact))
    assert torch.allclose(top.values.double(), truth.values, rtol=0.02)
    assert top.residual.max() < 0.02 * top.values[0]


def test_batches_of_examples_do_not_shrink_as_the_data_grows(tiny):
    net, data = tiny
    large = fv.Data(data.x.repeat(10_000, 1), data.y.repeat(10_000))
    problems = [fv.nll(net, d).problem for d in (data, large)]
    sizes = [core_curvature.batch_that_fits(problem, net.w) for problem in problems]
    # Memory that is freed is given again, and then counts once
    assert 0.5 < sizes[0] / sizes[1] < 2


def test_batches_of_unequal_size_are_weighted_by_their_examples(tiny, monkeypatch):
    """12 examples in parts of 5, 5 and 2: the mean is over examples, not over parts."""
    net, data = tiny
    f = fv.nll(net, data)
    v = ones(net.dim, dtype=float64)
    whole = {kind: f.operator(net.w, kind)(v) for kind in ("hessian", "ggn", "fisher")}
    assert core_curvature.batch_that_fits(f.problem, net.w) > 12
    monkeypatch.setattr(core_curvature, "batch_that_fits", lambda *_: 5)
    for kind, want in whole.items():
        assert_close(f.operator(net.w, kind)(v), want, rtol=1e-10, atol=1e-14)
    # 5, 5 and 2 once more, of which all graphs are kept
    monkeypatch.setattr("flatviz.objectives.network.SWEEP", 1)
    monkeypatch.setattr(type(f.cost), "chunk", lambda *_: 5)
    monkeypatch.setattr(core_curvature, "batch_that_fits", lambda *_: 12)
    for kind, want in whole.items():
        assert_close(f.operator(net.w, kind)(v), want, rtol=1e-10, atol=1e-14)


def test_a_part_of_the_weights_has_the_spectrum_of_its_block(tiny):
    net, data = tiny
    f = fv.nll(net, data)
    mask = zeros(net.dim, dtype=torch.bool)
    dense = torch.autograd.functional.hessian(f, net.w)
    mask[[1, 5, 9]] = True
    for part in (mask, *(block.slice for block in net.blocks)):
        spectrum = fv.top_eigenpairs(f, net.w, 2, part=part, tol=1e-9)
        block = dense[part][:, part]
        assert_close(
            spectrum.values, torch.linalg.eigvalsh(block).flip(0)[:2], rtol=1e-6, atol=1e-9
        )
        outside = ones(net.dim).index_fill(0, arange(net.dim)[part], 0)
        assert spectrum.vectors.shape == (2, net.dim)
        assert not (spectrum.vectors * outside).any()
        density = fv.spectral_density(f, net.w, runs=1, steps=len(block), k=2, part=part)
        assert_close(density.values, spectrum.values, rtol=1e-6, atol=1e-9)
        assert density.vectors.shape == (2, net.dim)
        assert fv.hessian_trace(f, net.w, part=part)[0] == approx(float(block.trace()), rel=1e-9)
    with raises(
        ValueError,
        match="part must be a slice, an index or a mask of the 35 weights, got one that chooses",
    ):
        fv.top_eigenpairs(f, net.w, 1, part=slice(40, 50))
    with raises(
        TypeError, match="part must be a slice, an index or a mask of the weights, got 'head'"
    ):
        fv.top_eigenpairs(f, net.w, 1, part="head")


def test_what_is_no_objective_of_a_network_or_no_function_is_refused():
    with raises(
        ValueError,
        match=r"curvature='ggn' needs an objective of a network, as nll makes, got f\(w\)",
    ):
        fv.top_eigenpairs(lambda w: w.square().sum(), ones(5), 1, curvature="ggn")
    w = linspace(1, 2, 50)  # of ones the same count would be kept twice in nine
    with raises(ValueError, match="f must be a function of w, got .* at w"):
        fv.top_eigenpairs(lambda w: nn.functional.dropout(w).square().sum(), w, 1)


@mark.parametrize("name", CLUSTERED)
def test_the_error_of_a_trace_covers_it(name):
    values = CLUSTERED[name].double()
    seen = [fv.hessian_trace(*bowl(values), seed=seed) for seed in range(N_SEEDS)]
    estimates, stated = tensor(seen, dtype=float64).T
    off = (estimates - values.sum()).abs()
    # 95 % expected, of 120: 3 binomial standard deviations below is 89 %
    assert (off < 2 * stated).double().mean() >= 0.89
    # the stated variance is unbiased; the ratio of two such roots over 120 seeds varies by some 8 %
    ratio = off.square().mean() / stated.square().mean()
    assert ratio.sqrt() == approx(1, abs=0.2)


def test_a_trace_is_no_worse_than_hutchinsons_whatever_the_spectrum():
    """Root mean square errors over 60 seeds, which vary by 9 %, beside that of 60 test vectors of
    one length, of which 5 % may be lost."""
    for outliers, most in (
        ([0.0, 0.5, 1.0], 1.03),
        ([4.0, 5.0, 8.0], 0.9),
        ([20.0, 30.0, 40.0], 0.2),
    ):
        values = cat([tensor(outliers), linspace(0, 1, 397)]).double()
        found = [fv.hessian_trace(*bowl(values), seed=seed) for seed in range(60)]
        seen = tensor(found, dtype=float64)
        hutchinson = 2 / (1 + 2 / 400) * (values.square().sum() - values.sum() ** 2 / 400) / 60
        off = (seen[:, 0] - values.sum()).square().mean().sqrt()
        assert float(off / hutchinson.sqrt()) < most * 1.25
        assert float(off / seen[:, 1].square().mean().sqrt()) == approx(1, abs=0.27)


def test_the_trace_of_a_matrix_of_low_rank_is_exact():
    """Rank 5 is inside the second basis, of 6 vectors: estimate and error are those of rounding."""
    values = cat([arange(1.0, 6.0), zeros(195)]).double()
    estimate, error = fv.hessian_trace(*bowl(values))
    assert estimate == approx(15, rel=1e-9)
    assert 0 <= error < 1e-9


@mark.parametrize("graph, replays", [("right", True), ("wrong", False), ("refused", False)])
def test_products_of_one_recording_are_those_of_the_dense_hessian_at_any_point(
    tiny, monkeypatch, graph, replays
):
    """With a stand-in for the graph of a card, which is recorded once, or gives other numbers, or
    cannot be recorded."""
    net, data = tiny
    f = fv.nll(net, data)
    recorded = []
    pairs = randn(3, 2, net.dim, generator=rng()).to(net.w)
    want = [torch.autograd.functional.hessian(f, w) @ v for w, v in pairs]

    def record(warm, step):
        recorded.append(warm())
        if graph == "refused":
            raise RuntimeError("operation not permitted when stream is capturing")
        return lambda: (
            step()
            or graph == "wrong"
            and [
                out.value.mul_(2)
                for recording in f.replayed.replay.recordings.values()
                for out in recording.records
            ]
        )

    monkeypatch.setitem(graphs.RECORDERS, "cpu", record)
    assert_close([fv.hvp(f, w, v) for w, v in pairs], want, rtol=1e-9, atol=1e-12)
    assert len(recorded) == 1
    assert (not f.replayed.replay.notes) == replays
    assert pickle.loads(pickle.dumps(f.replayed)).replay is None


def test_layers_are_those_of_the_dense_hessian(tiny):
    net, data = tiny
    f = fv.nll(net, data)
    dense = torch.autograd.functional.hessian(fv.nll(net, data), net.w)
    layers = landscape.layer_curvature(f, net.w)
    assert list(layers) == ["0", "1", "3"]
    for layer, part in zip(layers.values(), (slice(0, 12), slice(12, 20), slice(20, 35))):
        block = dense[part, part]
        assert layer.weights == len(block)
        assert layer.error == 0
        assert layer.lambda1 == approx(float(torch.linalg.eigvalsh(block)[-1]), rel=1e-3)
        assert layer.trace == approx(float(block.trace()), rel=1e-9)
    with raises(ValueError, match="layers are those of a network's objective, as nll makes, got f"):
        landscape.layer_curvature(lambda w: w.square().sum(), ones(3))


@mark.parametrize("name", CLUSTERED)
@mark.parametrize("runs", [4, 1])
def test_the_density_is_unbiased_where_eigenvalues_cluster(name, runs):
    """Mean over 12 seeds within four of its own standard errors, and near in W1 distance: a null
    space counted once is far."""
    values = CLUSTERED[name].double()
    found = [fv.spectral_density(*bowl(values), runs=runs, steps=30, seed=s) for s in range(12)]
    for exact, statistic in (
        (values.sum(), [(s.nodes @ s.weights) * len(values) for s in found]),
        ((values > 0.02).double().mean(), [s.weights[s.nodes > 0.02].sum() for s in found]),
    ):
        statistic = stack(statistic)
        # a third of one eigenvalue beside it: Gauss nodes need not lie on the same side of the cut
        # as what they stand for
        slack = 0.33 / len(values) if float(exact) < 1 else 0.0
        assert (
            abs(float(statistic.mean() - exact))
            < 4 * float(statistic.std()) / math.sqrt(12) + slack
        ), name
    for s in found:
        assert s.weights.sum() == approx(1, abs=1e-9)
        assert s.weights.min() >= 0
    if runs == 4 and "threefold" not in name:  # of a threefold eigenvalue each run resolves one
        assert (
            max(wasserstein_distance(s.nodes, values, s.weights) for s in found)
            < 0.003 * values.max()
        )


def test_a_null_space_is_told_from_rounding():
    """Two eigenvalues of 100 are not 0: once both are known, what the later runs see is the
    rounding of float32."""
    s = fv.spectral_density(*bowl(cat([tensor([8.0, 4.0]), zeros(98)])), steps=10, k=2)
    rest = s.nodes[((s.nodes - 8).abs() > 1e-4) & ((s.nodes - 4).abs() > 1e-4)]
    assert rest.abs().max() < 1e-5
    assert 100 * float(s.nodes @ s.weights) == approx(12, abs=1e-4)


def test_eigenpairs_of_a_quadratic_are_exact(quadratic):
    f, H, c = quadratic
    spectrum = fv.top_eigenpairs(f, c + 1, k=5)
    assert_close(spectrum.values, torch.linalg.eigvalsh(H).flip(0)[:5], rtol=1e-8, atol=0)
    assert spectrum.residual.max() < 1e-8
    assert_close(spectrum.vectors @ spectrum.vectors.T, eye(5, dtype=float64), rtol=0, atol=1e-10)
    assert spectrum.n_products <= 12 + 5
    with raises(ValueError, match="k must be at most the number of weights, 12, got 13"):
        fv.top_eigenpairs(f, c, 13)


def test_the_largest_of_many_equal_ones_are_not_the_smallest():
    assert fv.top_eigenpairs(lambda w: w.sum(), zeros(4), k=2).values.tolist() == [0, 0]
    f, w = bowl(tensor([1.0] * 58 + [-7.0, -7.0], dtype=float64))
    assert fv.top_eigenpairs(f, w, k=5).values.tolist() == approx([1.0] * 5)
    assert fv.top_eigenpairs(f, w, k=3, which="smallest").values.tolist() == approx(
        [-7.0, -7.0, 1.0]
    )


def spectra(seeds):
    """(matrix, k, seed) of random spectra: three laws, multiplicities 1 to 12, 10 to 200
    weights, float32 and float64."""
    for seed in seeds:
        g = rng(seed)
        D, k, copies = (
            int(torch.randint(low, high, (), generator=g))
            for low, high in ((10, 201), (1, 11), (1, 13))
        )
        laws = randn, torch.rand, lambda *a, **kw: randn(*a, **kw).abs() ** 3
        distinct = laws[seed % 3](-(-D // copies), generator=g, dtype=float64)
        basis, _ = torch.linalg.qr(randn(D, D, generator=g, dtype=float64))
        H = (basis * distinct.repeat_interleave(copies)[:D]) @ basis.T
        yield ((H + H.T) / 2).to((torch.float32, torch.float64)[seed % 2]), k, seed


@mark.parametrize(
    "seeds",
    [
        range(40),
        param(range(40, 2000), marks=[mark.long, mark.timeout(1800)]),
    ],
)
@mark.filterwarnings("error")
def test_no_copy_of_an_eigenvalue_is_missed(seeds):
    """At both ends, to the tolerance of 1e-4 and the rounding of float32."""
    for H, k, seed in spectra(seeds):
        exact = torch.linalg.eigvalsh(H.double())
        for sign in (1, -1):
            run = krylov.Krylov(
                lambda v: sign * (H @ v),  # noqa: B023
                H[0],
                len(H),
                rng(seed),
            )
            values, _, _ = search.largest(run, k, 2 * len(H), 1e-4)
            off = (values - (sign * exact).sort(descending=True)[0][:k]).abs().max()
            assert off <= 1.05e-4 * exact.abs().max(), (seed, sign)


@mark.parametrize("value", [0.0, 2.0])
def test_equal_eigenvalues_have_a_density_and_more_pairs_than_weights_are_refused(value):
    """Those of w'w value / 2, all of one value: Lanczos ends at once."""
    f = lambda w: 0.5 * value * (w * w).sum()
    spectrum = fv.spectral_density(f, torch.ones(7, dtype=torch.float64), k=5)
    assert torch.allclose(spectrum.values, torch.full((5,), value).double())
    assert float(spectrum.weights @ spectrum.nodes) == approx(value)
    with raises(ValueError, match="at most the number of weights, 3"):
        fv.spectral_density(f, torch.ones(3))


def test_the_edges_of_a_density_have_every_copy_or_a_warning_says_that_they_may_not(recwarn):
    """Two short runs resolve two of three copies; the last of four runs finds no other."""
    f, w = bowl(CLUSTERED["threefold eigenvalues"].double())
    found = fv.spectral_density(f, w, k=5).values
    assert found.tolist() == approx([9, 9, 9, 5, 5], rel=1e-4)
    assert not recwarn
    with warns(UserWarning, match="the last run leaves it open whether each of the 5"):
        fv.spectral_density(f, w, k=5, runs=2, steps=9)


def test_too_few_products_to_exclude_a_copy_are_said():
    f, w = bowl(cat([tensor([2.0]), linspace(0, 1, 500)]).double())
    with warns(UserWarning, match="14 products found 1 eigenvalues, but are too few"):
        spectrum = fv.top_eigenpairs(f, w, 1, iters=14)
    assert spectrum.residual < 1e-4
    assert fv.top_eigenpairs(f, w, 1).n_products > 14


def test_residuals_above_tol_are_said():
    """Nine copies of 1 beside a dense spectrum: the sixth was missing, where the fifth's residual
    was above tol."""
    source = rng(14)
    values = torch.rand(169, generator=source, dtype=float64) * 0.99
    values = cat([ones(9, dtype=float64), values])
    Q = torch.linalg.qr(randn(178, 178, generator=source, dtype=float64)).Q
    H = (Q * values) @ Q.T
    f = lambda w: 0.5 * w @ H @ w
    w = zeros(178, dtype=float64)
    with warns(UserWarning, match="160 products leave a residual of .*, more than tol"):
        fv.top_eigenpairs(f, w, 6, seed=14)
    more = fv.top_eigenpairs(f, w, 6, seed=14, iters=1000)
    assert more.values.tolist() == approx([1.0] * 6, rel=1e-4)


def test_a_second_copy_among_thousands_is_found():
    spectrum = fv.top_eigenpairs(
        *bowl(tensor([9.0, 6.0, 6.0, 4.0, *linspace(1, 0, 5000)]).double()), k=3
    )
    assert spectrum.values.tolist() == approx([9.0, 6.0, 6.0], rel=1e-4)
    assert spectrum.n_products < 40


def test_a_trace_keeps_no_test_vector_that_it_has_read():
    h = ones(2000)
    kept = []

    def product(v):
        kept.append(weakref.ref(y := h * v))
        alive.append(sum(ref() is not None for ref in kept))
        return y

    alive = []
    trace._estimated(product, h, 24, 60, 0)
    # Of a flat spectrum the basis stays small
    assert len(alive) == 60
    assert max(alive) <= trace.PROBES + 12


def test_scipy_takes_the_operator_as_it_is(tiny):
    net, data = tiny
    f = fv.nll(net, data)
    dense = torch.autograd.functional.hessian(f, net.w)
    operator = landscape.curvature_operator(f, net.w)
    values, vectors = eigsh(operator, 4, which="LA")
    want = torch.linalg.eigvalsh(dense)[-4:]
    assert_close(torch.as_tensor(values), want, rtol=1e-9, atol=0)
    residual = dense.numpy() @ vectors - vectors * values
    assert abs(residual).max() < 1e-9
    v = randn(net.dim).double()
    assert_close(operator(v), dense @ v, rtol=1e-9, atol=1e-12)
    layer = net.blocks[0].slice
    part = aslinearoperator(landscape.curvature_operator(f, net.w, part=layer))
    assert_close(torch.as_tensor(part @ eye(8).double().numpy()), dense[layer, layer])


def test_curvature_in_activations_takes_their_shape(tiny):
    """(n, d), against the dense Hessian of the flat vector."""
    net, data = tiny
    body = net.to_module()
    h = body[:3](data.x).detach()
    f = lambda h: nn.functional.cross_entropy(body[3](h), data.y)
    dense = torch.autograd.functional.hessian(f, h).view(48, 48)
    want = torch.linalg.eigvalsh(dense).flip(0)
    got = fv.top_eigenpairs(f, h, 2, tol=1e-9)
    assert_close(got.values, want[:2], rtol=1e-8, atol=0)
    assert got.vectors.shape == (2, 48)
    v = torch.randn_like(h)
    assert_close(fv.hvp(f, h, v), (dense @ v.flatten()).view(12, 4))
    trace, _ = fv.hessian_trace(f, h)
    assert trace == approx(float(want.sum()), rel=1e-9)
    density = fv.spectral_density(f, h, steps=48, runs=2, k=1)
    assert float(density.nodes @ density.weights) == approx(float(want.mean()), rel=1e-6)
    with raises(ValueError, match=r"v must have shape \(12, 4\) as w, got \(48,\)"):
        fv.hvp(f, h, v.flatten())


def test_eigenvalues_of_minibatches_are_those_of_their_dense_hessians(tiny):
    """Their mean is above that of the full loss, as lambda_max is convex."""
    net, data = tiny
    f = fv.nll(net, data)
    spectra = landscape.batch_eigenvalues(f, net.w, batch_size=4, k=2, tol=1e-10)
    for i, spectrum in enumerate(spectra):
        part = data.subset(arange(4 * i, 4 * i + 4))
        loss = lambda w, x, y: nn.functional.cross_entropy(net(w, x), y)
        dense = torch.autograd.functional.hessian(partial(loss, x=part.x, y=part.y), net.w)
        want = torch.linalg.eigvalsh(dense).flip(0)[:2]
        assert_close(spectrum.values, want, rtol=1e-8, atol=1e-10)
    largest = stack([s.values[0] for s in spectra])
    assert largest.mean() > fv.top_eigenpairs(f, net.w, 1).values[0]
    with raises(ValueError, match=r"batches need an objective of data, as nll makes, got"):
        landscape.batch_eigenvalues(lambda w: w.sum(), net.w, batch_size=4)
