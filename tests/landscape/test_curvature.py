"""Curvature: eigenpairs, restarts, both ends, GGN and Fisher, parts, density and trace, each
against a dense matrix."""

import math
import pickle
import warnings
from functools import partial

import torch
from cases import blobs, close, mlp, net_of, normals, refused, rng, warned
from internals import examined
from pytest import approx, fixture, mark, param
from scipy.sparse.linalg import aslinearoperator, eigsh, svds
from scipy.stats import wasserstein_distance
from torch import arange, cat, eye, float64, linspace, nn, ones, randn, stack, tensor, zeros
from torch.linalg import eigvalsh
from torch.testing import assert_close

import flatviz as fv
from flatviz import landscape
from flatviz.engine import graphs
from flatviz.objectives import curvature as network_curvature

OUTLIERS = linspace(1, 10, 10)
BULK = linspace(0.05, 0.6, 100)
THREEFOLD = tensor([9.0, 9, 9, 5, 5, 5])
CLUSTERED = {
    "outliers, a bulk, a null space": cat([OUTLIERS, BULK, zeros(790)]),
    "power law": 10 * arange(1, 401) ** -1.5,
    "threefold eigenvalues": cat([THREEFOLD, linspace(0, 1, 194)]),
}
hessian = torch.autograd.functional.hessian


def turned(values, generator):
    """A matrix (D, D) with these eigenvalues and random eigenvectors."""
    noise = normals(len(values), len(values), source=generator)
    basis, _ = torch.linalg.qr(noise)
    return (basis * values) @ basis.T


def quadratic_of(H):
    return lambda w: 0.5 * w @ H @ w


def bowl(values):
    """(f, w) of a diagonal Hessian: test vectors are normal, so the eigenbasis does not matter."""
    values = values.double()
    f = lambda w: 0.5 * (values * w * w).sum()
    return f, torch.ones_like(values)


def falling(matrix):
    """All eigenvalues, the largest first."""
    return eigvalsh(matrix).flip(0)


def true_residuals(product, spectrum):
    """|H v - lambda v| of each pair."""
    V = spectrum.vectors
    products = stack([product(v) for v in V])
    return (products - spectrum.values[:, None] * V).norm(dim=1)


@fixture
def outliers():
    """(H, eigenvalues falling, w): a bulk in [-0.5, 1] and five outliers, D = 60."""
    bulk = linspace(-0.5, 1.0, 55, dtype=float64)
    values = cat([bulk, tensor([5.0, 8, 9, 20, 30]).double()])
    w = ones(60, dtype=float64)
    return turned(values, rng()), values.flip(0), w


@fixture
def few_vectors(monkeypatch):
    """Room for 16 vectors of a basis, the least for 3 pairs."""
    monkeypatch.setattr("flatviz.landscape.krylov.BASIS_BYTES", 0)


@fixture
def network(tiny):
    """(net, data, f, dense Hessian)."""
    net, data = tiny
    f = fv.nll(net, data)
    return net, data, f, hessian(f, net.w)


def test_eigenpairs_of_a_quadratic_are_exact(quadratic):
    f, H, c = quadratic
    spectrum = fv.top_eigenpairs(f, c + 1, k=5)
    close(spectrum.values, falling(H)[:5], 1e-8)
    assert spectrum.residual.max() < 1e-8
    inner = spectrum.vectors @ spectrum.vectors.T
    assert_close(inner, eye(5, dtype=float64), rtol=0, atol=1e-10)
    assert spectrum.n_products <= 12 + 5
    with refused("k must be at most the number of weights, 12, got 13"):
        fv.top_eigenpairs(f, c, 13)


def test_a_restarted_run_finds_what_a_long_one_finds(outliers, few_vectors):
    H, values, w = outliers
    f = quadratic_of(H)
    spectrum = fv.top_eigenpairs(f, w, 3, iters=200, tol=1e-9)
    close(spectrum.values, values[:3], 1e-12)
    assert spectrum.residual.max() < 1e-7
    assert 16 < spectrum.n_products < 80
    # Too few products: the residual is the true one, large as it is
    short = fv.top_eigenpairs(f, w, 3, iters=6)
    assert short.residual.max() > 1e-2
    assert short.n_products == 6
    for found in (spectrum, short):
        true = true_residuals(lambda v: H @ v, found)
        close(found.residual, true, 1e-8)


class Skewed(fv.Objective):
    """Products that are not quite symmetric."""

    def __init__(self, H):
        self.H = H + 1e-8 * normals(*H.shape, source=1)

    def __call__(self, w):
        return 0.5 * w @ self.H @ w

    def operator(self, w, curvature="hessian"):
        return lambda v: self.H @ v


@mark.parametrize("room", ["enough", "little"])
def test_the_residual_is_true_also_of_products_that_are_not_quite_symmetric(
    outliers, room, request
):
    """Restarts add to what is known of a residual: there it is a bound."""
    if room == "little":
        request.getfixturevalue("few_vectors")
    H, _, w = outliers
    f = Skewed(H)
    found = fv.top_eigenpairs(f, w, 2, iters=40, tol=1e-10)
    true = true_residuals(f.operator(w), found)
    assert true.min() > 1e-9
    assert (found.residual >= true * (1 - 1e-4)).all()
    if room == "enough":
        close(found.residual, true, 1e-4)


@mark.parametrize("likelihood", ["categorical", 0.5])
def test_ggn_and_fisher_equal_their_definitions(tiny, likelihood):
    net, data = tiny
    J = torch.autograd.functional.jacobian(lambda w: net(w, data.x), net.w)
    out = net(net.w, data.x)
    if likelihood == "categorical":
        p = out.softmax(-1)
        inner = torch.diag_embed(p) - torch.einsum("nc,ne->nce", p, p)
        e = p - nn.functional.one_hot(data.y, 3)
    else:
        data = fv.Data(data.x, randn(12, 3, dtype=float64))
        inner = eye(3, dtype=float64).expand(12, 3, 3) / 0.25
        e = (out - data.y) / 0.25
    f = fv.nll(net, data, likelihood=likelihood)
    g = torch.einsum("ncd,nc->nd", J, e)
    dense = {
        "ggn": torch.einsum("ncd,nce,nef->df", J, inner, J) / 12,
        "fisher": g.T @ g / 12,
        "hessian": hessian(f, net.w),
    }
    v = randn(net.dim, dtype=float64)
    for kind, M in dense.items():
        close(f.operator(net.w, kind)(v), M @ v, 1e-8)
        spectrum = fv.top_eigenpairs(f, net.w, 3, curvature=kind, tol=1e-8)
        largest = falling(M)[:3]
        close(spectrum.values, largest, 1e-6)
        assert spectrum.curvature == kind


@mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@mark.parametrize("curvature", ["hessian", "ggn"])
def test_a_net_of_half_precision_has_the_eigenvalues_of_the_same_net_in_float64(
    tiny, dtype, curvature
):
    """A Krylov basis in the net's precision is not orthogonal: it gave 20 times the largest
    eigenvalue."""
    net, data = (part.to(dtype=dtype) for part in tiny)
    half = fv.nll(net, data)
    exact = fv.nll(net.to(dtype=float64), data.to(dtype=float64))
    find = partial(fv.top_eigenpairs, k=2, curvature=curvature)
    top = find(half, net.w)
    truth = find(exact, exact.net.w)
    close(top.values, truth.values, 0.02)
    assert top.residual.max() < 0.02 * top.values[0]


@mark.parametrize("n, fits", [(70_001, None), (12, 5)])
def test_batches_of_unequal_size_are_weighted_by_their_examples(tiny, monkeypatch, n, fits):
    """Sixteen chunks of 4,096 and the rest, of which all graphs are kept; or 12 examples in parts
    of 5, 5 and 2."""
    net, data = tiny
    v = ones(net.dim, dtype=float64)

    def products(part):
        f = fv.nll(net, part)
        kinds = ("hessian", "ggn", "fisher")
        return stack([f.operator(net.w, kind)(v) for kind in kinds])

    rest = n % 12
    want = (n - rest) / n * products(data)
    if rest:
        first = data.subset(slice(0, rest))
        want += rest / n * products(first)
    if fits:
        monkeypatch.setattr(network_curvature, "batch_that_fits", lambda *_: fits)
    repeated = data.subset(arange(n) % 12)
    close(products(repeated), want, 1e-9)


def test_a_product_stays_that_at_its_point_when_the_users_weights_change_in_place(
    tiny, monkeypatch
):
    """Of 12 examples in parts of 5, of which the last are passed again for each product."""
    net, data = tiny
    monkeypatch.setattr(network_curvature, "batch_that_fits", lambda *_: 5)
    f = fv.nll(net, data.subset(arange(12)))
    v = ones(net.dim, dtype=float64)
    for kind in ("hessian", "ggn", "fisher"):
        w = net.w.clone()
        product = f.operator(w, kind)
        before = product(v)
        w.mul_(2)
        assert torch.equal(product(v), before)


THREE = zeros(35, dtype=torch.bool)
THREE[[1, 5, 9]] = True


PARTS = {"mask": THREE, "layer": slice(0, 8), "head": slice(20, 32)}


@mark.parametrize("name", PARTS)
def test_a_part_of_the_weights_has_the_spectrum_of_its_block(network, name):
    net, _, f, dense = network
    part = PARTS[name]
    block = dense[part][:, part]
    spectrum = fv.top_eigenpairs(f, net.w, 2, part=part, tol=1e-9)
    close(spectrum.values, falling(block)[:2], 1e-6)
    assert spectrum.vectors.shape == (2, 35)
    outside = ones(35, dtype=torch.bool)
    outside[part] = False
    assert not spectrum.vectors[:, outside].any()
    density = fv.spectral_density(
        f,
        net.w,
        runs=1,
        steps=len(block),
        k=2,
        part=part,
    )
    close(density.values, spectrum.values, 1e-6)
    assert density.vectors.shape == (2, 35)
    trace, _ = fv.hessian_trace(f, net.w, part=part)
    close(trace, block.trace(), 1e-9)


@mark.parametrize(
    "part, error, text",
    [
        (slice(40, 50), ValueError, "mask of the 35 weights, got one that chooses"),
        ("head", TypeError, "mask of the weights, got 'head'"),
    ],
)
def test_what_is_no_part_is_refused(network, part, error, text):
    net, _, f, _ = network
    with refused(f"part must be a slice, an index or a {text}", error):
        fv.top_eigenpairs(f, net.w, 1, part=part)


def test_what_is_no_objective_of_a_network_or_no_function_is_refused():
    square = lambda w: w.square().sum()
    with refused(r"curvature='ggn' needs an objective of a network, .* got f\(w"):
        fv.top_eigenpairs(square, ones(5), 1, curvature="ggn")
    with refused("layers are those of a network's objective, as nll makes, got f"):
        landscape.layer_curvature(square, ones(3))
    with refused(r"batches need an objective of data, as nll makes, got"):
        landscape.batch_eigenvalues(square, ones(3), batch_size=4)
    w = linspace(1, 2, 50)  # of ones the same count would be kept twice in nine
    random = lambda w: square(nn.functional.dropout(w))
    with refused("f must be a function of w, got .* at w"):
        fv.top_eigenpairs(random, w, 1)


def test_the_largest_of_many_equal_ones_are_not_the_smallest():
    flat = fv.top_eigenpairs(lambda w: w.sum(), zeros(4), k=2)
    assert flat.values.tolist() == [0, 0]
    f, w = bowl(tensor([1.0] * 58 + [-7.0, -7.0]))
    largest = fv.top_eigenpairs(f, w, k=5)
    close(largest.values, [1.0] * 5)
    smallest = fv.top_eigenpairs(f, w, k=3, which="smallest")
    close(smallest.values, [-7.0, -7.0, 1.0])


def random_spectrum(seed):
    """(matrix, k): one of three laws, multiplicities 1 to 12, 10 to 200 weights, float32 or
    float64."""
    g = rng(seed)
    whole = lambda low, high: int(torch.randint(low, high, (), generator=g))
    D = whole(10, 201)
    k = whole(1, 11)
    copies = whole(1, 13)
    distinct = normals(math.ceil(D / copies), source=g)
    laws = distinct, distinct.sigmoid(), distinct.abs() ** 3
    distinct = laws[seed % 3]
    H = turned(distinct.repeat_interleave(copies)[:D], g)
    dtype = (torch.float32, float64)[seed % 2]
    return ((H + H.T) / 2).to(dtype), k


MORE = param(range(20, 200), marks=mark.long)
MANY = param(range(200, 2000), marks=[mark.slow, mark.timeout(1800)])


@mark.parametrize("seeds", [range(20), MORE, MANY])
@mark.filterwarnings("error")
def test_no_copy_of_an_eigenvalue_is_missed(seeds):
    """At both ends, to the tolerance of 1e-4 and the rounding of float32."""
    for seed in seeds:
        H, k = random_spectrum(seed)
        exact = falling(H.double())
        f = quadratic_of(H)
        how = dict(iters=2 * len(H), seed=seed)
        allowed = 1.05e-4 * exact.abs().max()
        for which, wanted in (("largest", exact), ("smallest", exact.flip(0))):
            found = fv.top_eigenpairs(f, H[0], k, which=which, **how)
            off = (found.values - wanted[:k]).abs()
            assert off.max() <= allowed, (seed, which)


def test_too_few_products_to_exclude_a_copy_are_said():
    bulk = linspace(0, 1, 500)
    f, w = bowl(cat([tensor([2.0]), bulk]))
    with warned("14 products found 1 eigenvalues, but are too few"):
        spectrum = fv.top_eigenpairs(f, w, 1, iters=14)
    assert spectrum.residual < 1e-4
    assert fv.top_eigenpairs(f, w, 1).n_products > 14


def test_residuals_above_tol_are_said():
    """Nine copies of 1 beside a dense spectrum: the sixth was missing, where the fifth's residual
    was above tol."""
    source = rng(14)
    rest = 0.99 * torch.rand(169, generator=source, dtype=float64)
    values = cat([ones(9), rest])
    H = turned(values, source)
    w = zeros(178, dtype=float64)
    find = partial(fv.top_eigenpairs, quadratic_of(H), w, 6, seed=14)
    with warned("160 products leave a residual of .*, more than tol"):
        find()
    long = find(iters=1000)
    close(long.values, [1.0] * 6, 1e-4)


def test_a_second_copy_among_thousands_is_found():
    bulk = linspace(1, 0, 5000)
    f, w = bowl(cat([tensor([9.0, 6.0, 6.0, 4.0]), bulk]))
    spectrum = fv.top_eigenpairs(f, w, k=3)
    close(spectrum.values, [9.0, 6.0, 6.0], 1e-4)
    assert spectrum.n_products < 40


def traces_of(values, n):
    """Estimates of the trace and their stated errors, of n seeds."""
    f, w = bowl(values)
    seen = [fv.hessian_trace(f, w, seed=seed) for seed in range(n)]
    return tensor(seen, dtype=float64).T


def rms(numbers):
    """The root of their mean square."""
    return numbers.square().mean().sqrt()


@mark.parametrize("name", CLUSTERED)
def test_the_error_of_a_trace_covers_it(name):
    values = CLUSTERED[name].double()
    estimates, stated = traces_of(values, 120)
    off = (estimates - values.sum()).abs()
    # 95 % expected, of 120: 3 binomial standard deviations below is 89 %
    covered = off < 2 * stated
    assert covered.double().mean() >= 0.89
    # the stated variance is unbiased; the ratio of two such roots over 120 seeds varies by some 8 %
    assert rms(off) / rms(stated) == approx(1, abs=0.2)


@mark.parametrize(
    "largest, most",
    [
        ([0.0, 0.5, 1.0], 1.03),
        ([4.0, 5.0, 8.0], 0.9),
        ([20.0, 30.0, 40.0], 0.2),
    ],
)
def test_a_trace_is_no_worse_than_hutchinsons_whatever_the_spectrum(largest, most):
    """Root mean square errors over 60 seeds, which vary by 9 %, beside that of 60 test vectors of
    one length, of which 5 % may be lost."""
    bulk = linspace(0, 1, 397)
    values = cat([tensor(largest), bulk]).double()
    trace = values.sum()
    estimates, stated = traces_of(values, 60)
    off = rms(estimates - trace)
    spread = values.square().sum() - trace**2 / 400
    variance = 2 / (1 + 2 / 400) * spread / 60
    assert off / variance.sqrt() < most * 1.25
    assert off / rms(stated) == approx(1, abs=0.27)


def test_the_trace_of_a_matrix_of_low_rank_is_exact():
    """Rank 5 is inside the second basis, of 6 vectors: estimate and error are those of rounding."""
    f, w = bowl(cat([arange(1.0, 6.0), zeros(195)]))
    estimate, error = fv.hessian_trace(f, w)
    close(estimate, 15, 1e-9)
    assert 0 <= error < 1e-9


@mark.parametrize("graph", ["right", "wrong", "refused"])
def test_products_of_one_recording_are_those_of_the_dense_hessian_at_any_point(
    tiny, monkeypatch, graph
):
    """With a stand-in for the graph of a card, which is recorded once, or gives other numbers, or
    cannot be recorded."""
    net, data = tiny
    f = fv.nll(net, data)
    recorded = []

    def record(warm, step):
        recorded.append(warm())
        if graph == "refused":
            raise RuntimeError("operation not permitted when stream is capturing")
        return step if graph == "right" else lambda: spoiled(step)

    def spoiled(step):
        step()
        for recording in f.replayed.replay.recordings.values():
            for out in recording.records:
                out.value.mul_(2)

    monkeypatch.setitem(graphs.RECORDERS, "cpu", record)
    points = randn(3, 2, net.dim, generator=rng())
    for w, v in points.to(net.w):
        want = hessian(f, w) @ v
        close(fv.hvp(f, w, v), want, 1e-9)
    assert len(recorded) == 1
    assert bool(f.replayed.replay.notes) == (graph != "right")
    assert pickle.loads(pickle.dumps(f.replayed)).replay is None


def test_layers_are_those_of_the_dense_hessian(network):
    net, _, f, dense = network
    layers = landscape.layer_curvature(f, net.w)
    parts = {"0": slice(0, 12), "1": slice(12, 20), "3": slice(20, 35)}
    assert list(layers) == list(parts)
    for name, part in parts.items():
        block = dense[part, part]
        layer = layers[name]
        assert layer.weights == len(block)
        assert layer.error == 0
        close(layer.lambda1, falling(block)[0], 1e-3)
        close(layer.trace, block.trace(), 1e-9)


@mark.parametrize("runs", [4, 1])
@mark.parametrize("name", CLUSTERED)
def test_the_density_is_unbiased_where_eigenvalues_cluster(name, runs):
    """Mean over 12 seeds within four of its own standard errors, and near in W1 distance: a null
    space counted once is far."""
    values = CLUSTERED[name].double()
    f, w = bowl(values)
    density = partial(fv.spectral_density, f, w, runs=runs, steps=30)
    found = [density(seed=seed) for seed in range(12)]

    def check(exact, statistic, more=0.0):
        """The mean is within four of its standard errors."""
        seen = stack([statistic(s) for s in found])
        error = seen.std() / math.sqrt(12)
        assert (seen.mean() - exact).abs() < 4 * error + more

    check(values.mean(), lambda s: s.nodes @ s.weights)
    # Gauss nodes need not lie on the same side of the cut as what they stand for
    third_of_one = 0.33 / len(values)
    share_above = (values > 0.02).double().mean()
    check(share_above, lambda s: s.weights[s.nodes > 0.02].sum(), third_of_one)
    for s in found:
        assert s.weights.sum() == approx(1, abs=1e-9)
        assert s.weights.min() >= 0
        if runs == 4 and "threefold" not in name:  # of those each run resolves one
            distance = wasserstein_distance(s.nodes, values, s.weights)
            assert distance < 0.003 * values.max()


def test_a_null_space_is_told_from_rounding():
    """Two eigenvalues of 100 are not 0: once both are known, what the later runs see is the
    rounding of float32."""
    values = cat([tensor([8.0, 4.0]), zeros(98)])
    f = lambda w: 0.5 * (values * w * w).sum()
    s = fv.spectral_density(f, ones(100), steps=10, k=2)
    is_at = lambda value: (s.nodes - value).abs() <= 1e-4
    others = ~(is_at(8) | is_at(4))
    assert s.nodes[others].abs().max() < 1e-5
    mean = float(s.nodes @ s.weights)
    assert mean == approx(0.12, abs=1e-6)


@mark.parametrize("value", [0.0, 2.0])
def test_equal_eigenvalues_have_a_density(value):
    """Lanczos ends at once."""
    f, w = bowl(torch.full((7,), value))
    spectrum = fv.spectral_density(f, w, k=5)
    close(spectrum.values, [value] * 5)
    close(spectrum.weights @ spectrum.nodes, value)
    with refused("at most the number of weights, 3"):
        fv.spectral_density(torch.sum, ones(3))


def test_the_edges_of_a_density_have_every_copy_or_a_warning_says_that_they_may_not():
    """Two short runs resolve two of three copies; the last of four runs finds no other."""
    f, w = bowl(CLUSTERED["threefold eigenvalues"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = fv.spectral_density(f, w, k=5)
    close(found.values, [9, 9, 9, 5, 5], 1e-4)
    with warned("the last run leaves it open whether each of the 5"):
        fv.spectral_density(f, w, k=5, runs=2, steps=9)


def test_scipy_takes_the_operator_as_it_is(network):
    net, _, f, dense = network
    operator = landscape.curvature_operator(f, net.w)
    values, vectors = eigsh(operator, 4, which="LA")
    largest = eigvalsh(dense)[-4:]
    close(values, largest, 1e-9)
    residual = dense.numpy() @ vectors - vectors * values
    assert abs(residual).max() < 1e-9
    v = randn(net.dim).double()
    close(operator(v), dense @ v, 1e-9)
    layer = net.blocks[0].slice
    part = aslinearoperator(landscape.curvature_operator(f, net.w, part=layer))
    columns = part @ eye(8).double().numpy()
    assert_close(torch.as_tensor(columns), dense[layer, layer])


def test_curvature_in_activations_takes_their_shape(tiny):
    """(n, d), against the dense Hessian of the flat vector."""
    net, data = tiny
    body = net.to_module()
    h = body[:3](data.x).detach()
    head = body[3]
    f = lambda h: nn.functional.cross_entropy(head(h), data.y)
    dense = hessian(f, h).view(48, 48)
    top = fv.top_eigenpairs(f, h, 2, tol=1e-9)
    close(top.values, falling(dense)[:2], 1e-8)
    assert top.vectors.shape == (2, 48)
    v = torch.randn_like(h)
    product = dense @ v.flatten()
    assert_close(fv.hvp(f, h, v), product.view(12, 4))
    trace, _ = fv.hessian_trace(f, h)
    close(trace, dense.trace(), 1e-9)
    density = fv.spectral_density(f, h, steps=48, runs=2, k=1)
    mean = density.nodes @ density.weights
    close(mean, dense.trace() / 48)
    with refused(r"v must have shape \(12, 4\) as w, got \(48,\)"):
        fv.hvp(f, h, v.flatten())


def test_eigenvalues_of_minibatches_are_those_of_their_dense_hessians(network):
    """Their mean is above that of the full loss, as lambda_max is convex."""
    net, data, f, dense = network
    spectra = landscape.batch_eigenvalues(
        f,
        net.w,
        batch_size=4,
        k=2,
        tol=1e-10,
    )
    for first, spectrum in zip((0, 4, 8), spectra, strict=True):
        batch = data.subset(slice(first, first + 4))
        dense_of_batch = hessian(fv.nll(net, batch), net.w)
        want = falling(dense_of_batch)[:2]
        close(spectrum.values, want, 1e-8)
    largest = stack([s.values[0] for s in spectra])
    assert largest.mean() > falling(dense)[0]


def test_a_trace_keeps_no_more_vectors_than_memory_has_room_for(monkeypatch):
    h = torch.arange(1.0, 201.0).double() ** -1
    f, w = bowl(h)
    _, error = fv.hessian_trace(f, w, products=60)
    monkeypatch.setattr("flatviz.landscape.krylov.BASIS_BYTES", 0)  # three vectors, the least
    estimate, with_three = fv.hessian_trace(f, w, products=60)
    assert abs(estimate - float(h.sum())) < 4 * with_three
    assert with_three > 1.5 * error  # fewer of the large eigenvalues are read exactly


def test_the_batch_of_a_product_does_not_depend_on_the_number_of_examples():
    net = net_of(mlp(4, 8, 3))

    def batch(n):
        data = blobs(n, 4, 3)
        problem = examined(net, data, "categorical")
        return network_curvature.batch_that_fits(problem, net.w)

    assert batch(8) == batch(100_000)
    assert batch(8) > 100_000


def test_an_index_that_holds_a_weight_twice_is_refused():
    f, w = bowl(tensor([9.0, 5.0, 3.0]))
    with refused("part must be .*, got an index that holds a weight twice"):
        fv.hessian_trace(f, w, part=tensor([0, 0, 1]))


def test_singular_values_of_an_operator_are_those_of_the_matrix():
    f, w = bowl(tensor([9.0, -12.0, 3.0, 1.0, 0.5]))
    _, values, _ = svds(fv.landscape.curvature_operator(f, w), 2)
    close(sorted(values.tolist()), [9.0, 12.0], 1e-6)


def test_a_batch_without_a_label_that_counts_has_loss_and_curvature_0():
    y = torch.arange(40).view(8, 5) % 4
    y[4:] = -100
    net = net_of(nn.Linear(3, 4))
    f = fv.nll(net, fv.Data(randn(8, 5, 3), y))
    _, empty = f.batches(4)
    assert empty(net.w) == 0
    assert empty.many(net.w[None]).tolist() == [0]
    for curvature in ("hessian", "ggn", "fisher"):
        first, second = fv.landscape.batch_eigenvalues(f, net.w, batch_size=4, curvature=curvature)
        assert first.values > 0
        assert second.values == 0
