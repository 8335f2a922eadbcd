"""Curvature of networks whose layers PyTorch differentiates twice only by another kernel, or not at
all."""

import re
import warnings

import torch
from cases import Language, mlp, net_of, refused, relative_error, warned
from pytest import approx, mark
from torch import arange, autograd, backends, eye, float64, linalg, nn, randint, randn, stack
from torch.distributions import Categorical
from torch.nn import Embedding, Linear, Sequential, Tanh
from torch.nn import functional as F
from torch.testing import assert_close

import flatviz as fv
from flatviz.objectives.jacobians import check_jacobians, jacobians
from flatviz.objectives.problem import examined


class Attending(nn.Module):
    """Two tokens of four numbers, attention between them, and a head; float32, for that takes the
    fused kernel."""

    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(4)
        self.mix = nn.MultiheadAttention(4, 2, batch_first=True)
        self.head = Linear(8, 3)

    def forward(self, x):
        z = self.norm(x.view(len(x), 2, 4))
        return self.head(self.mix(z, z, z, need_weights=False)[0].flatten(1))


def made(module, dtype=torch.float32):
    net = net_of(module.eval())
    x = randn(12, 8, dtype=dtype)
    data = fv.Data(x, arange(12) % 3)
    return net, data, fv.nll(net, data)


def test_hessian_products_of_attention_are_differences_of_gradients_and_restore_the_kernel():
    kernels = lambda: (
        backends.cuda.flash_sdp_enabled(),
        backends.cuda.math_sdp_enabled(),
    )
    net, data, f = made(Attending())
    before = kernels()
    wide = net.to(dtype=float64)
    v = randn(net.dim, dtype=float64)
    gradient = torch.func.grad(lambda w: F.cross_entropy(wide(w, data.x.double()), data.y))
    want = (gradient(wide.w + 1e-5 * v) - gradient(wide.w - 1e-5 * v)) / 2e-5
    got = fv.hvp(f, net.w, v.float())
    assert relative_error(got, want) < 1e-4  # float32 against float64
    for curvature in ("ggn", "fisher"):
        spectrum = fv.top_eigenpairs(f, net.w, 1, curvature=curvature)
        found = spectrum.values[0]
        assert found > 0
    assert kernels() == before


def test_curvature_of_weight_norm_is_that_of_differences_of_gradients():
    """PyTorch's kernel of it has a wrong second derivative on the CPU; the first one is right."""
    norm = nn.utils.parametrizations.weight_norm
    module = Sequential(norm(Linear(8, 4)), Tanh(), norm(Linear(4, 3), dim=None))
    net, _, f = made(
        module.double(),
        float64,
    )
    w = net.w + 0.1 * randn(net.dim, dtype=float64)
    rows = [
        (f.value_and_grad(w + e)[1] - f.value_and_grad(w - e)[1]) / 2e-5
        for e in 1e-5 * eye(net.dim).double()
    ]
    want = stack(rows)
    spectrum = fv.top_eigenpairs(f, w, 3, tol=1e-7)
    wanted = linalg.eigvalsh((want + want.T) / 2).flip(0)[:3]
    assert_close(
        spectrum.values,
        wanted,
        rtol=1e-6,
        atol=1e-8,
    )
    found = fv.hessian_trace(f, w, products=net.dim)[0]
    assert found == approx(float(want.trace()), rel=1e-6)


class WrongTwice(autograd.Function):
    """x^2 with the right derivative, of which torch then sees no derivative in what comes from
    above."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.square()

    @staticmethod
    def backward(ctx, grad):
        return 2 * grad.detach() * ctx.saved_tensors[0]


class Squared(Linear):
    """A layer with `WrongTwice` of its weights."""

    def forward(self, x):
        return F.linear(x, WrongTwice.apply(self.weight).roll(1, 0) * self.weight, self.bias)


def test_a_hessian_that_is_not_symmetric_is_an_error_that_names_the_layer():
    module = Sequential(Linear(8, 4), Tanh(), Squared(4, 3))
    net, _, f = made(module)
    for verb in (
        fv.top_eigenpairs,
        fv.hessian_trace,
        fv.spectral_density,
        lambda f, w: fv.hvp(f, w, randn(net.dim)),
    ):
        with refused(
            r"mean NLL .* must be symmetric, got u.Hv and v.Hu that differ in layer '2'",
        ):
            verb(f, net.w)
    with refused(r"f\(w\) must be symmetric, got u.Hv and v.Hu that differ: the second"):
        fv.top_eigenpairs(lambda w: f(w), net.w, 1)


@mark.parametrize("around", [torch.no_grad, torch.inference_mode])
def test_a_loss_that_differentiates_inside_is_a_plain_function_of_the_weights(around):
    """As of a physics-informed network: (d net / dt - cos t)^2."""
    net = net_of(mlp(1, 8, 1).double())

    def loss(w):
        t = torch.linspace(0, 3, 20, dtype=float64)[:, None].requires_grad_(True)
        (slope,) = autograd.grad(net(w, t).sum(), t, create_graph=True)
        return (slope - t.cos()).square().mean()

    dense = autograd.functional.hessian(loss, net.w)
    with around():
        top = fv.top_eigenpairs(loss, net.w, 2, tol=1e-8)
        line = fv.slice_line(loss, net.w, -net.w, resolution=3)
        flat = fv.sharpness(loss, net.w[None], k=2)
    want = linalg.eigvalsh(dense).flip(0)[:2]
    assert_close(top.values, want)
    assert line.values[0] == loss(net.w)
    assert not line.values.requires_grad
    assert flat.sam > 0


@mark.filterwarnings("ignore:There is a performance drop")
def test_a_module_that_vmap_cannot_run_has_the_jacobians_of_autograd():
    shortened = Embedding(5, 3, max_norm=1.0)  # in the forward pass, for which vmap has no rule
    module = Sequential(shortened, nn.Flatten(), Linear(12, 2)).double().eval()
    x = randint(0, 5, (6, 4))
    net = net_of(module, example=x)
    outputs, J = jacobians(net, net.w, x)
    assert_close(outputs, net(net.w, x))
    want = autograd.functional.jacobian(lambda w: net(w, x), net.w)
    assert_close(J, want)


def diagonals(net, data, likelihood):
    """N times the GGN's diagonal: of Laplace's precision, and of products with the operator."""
    how = dict(seed=0, steps=0, likelihood=likelihood)
    fields = dict(structure="diagonal", prior_precision=1.0)
    f = fv.nll(net, data, likelihood=likelihood)
    product = f.operator(net.w, "ggn")
    dense = stack([product(e) for e in eye(net.dim).to(net.w)])
    q = fv.fit(net, data, fv.Laplace(**fields), **how)
    return 1 / q.variance - 1, len(data) * dense.diagonal()


class Doubled(Sequential):
    def forward(self, x):
        return 2 * super().forward(x)  # the outputs are not the last layer's


SMOOTHED = fv.Likelihood.categorical(label_smoothing=0.1)


@mark.parametrize(
    "chain, likelihood",
    [(Sequential, "categorical"), (Doubled, "categorical"), (Sequential, SMOOTHED)],
)
def test_the_diagonal_of_a_head_over_classes_is_that_of_the_whole_matrix(chain, likelihood):
    net, data, _ = made(chain(Linear(8, 5), Tanh(), Linear(5, 3)))
    assert_close(*diagonals(net, data, likelihood), rtol=1e-4, atol=1e-5)


@mark.parametrize("tied", [False, True])
def test_the_diagonal_of_a_head_over_tokens_is_that_of_the_whole_matrix(tied):
    """With weights of classes and places that do not count; a tied head has no closed form."""
    x = randint(0, 6, (5, 3))
    y = randint(0, 6, (5, 3))
    y[0] = -100
    y[1, 2] = -100
    data = fv.Data(x, y)
    likelihood = fv.Likelihood.categorical(weight=arange(1.0, 7.0), label_smoothing=0.1)
    module = Language(6, 4, tied=tied, bias=not tied).double()
    net = net_of(module, example=x)
    assert_close(*diagonals(net, data, likelihood))
    steps = []
    fv.fit(
        net_of(Language(6, 4, tied=False), "head", example=x),
        data,
        fv.Laplace(structure="diagonal"),
        seed=0,
        steps=1,
        progress=lambda *about: steps.append(about),
    )
    assert steps[-1] == (1, 1, "curvature")


def test_curvature_by_draws_of_labels_is_that_of_all_outputs_on_average():
    """A tied head; with weights of classes and places that do not count."""
    x = randint(0, 6, (5, 3))
    y = randint(0, 6, (5, 3))
    y[0, 1:] = -100
    data = fv.Data(x, y)
    likelihood = fv.Likelihood.categorical(weight=torch.arange(1.0, 7.0))
    module = Language(6, 4, tied=True).double()
    net = net_of(module, example=x)
    how = dict(seed=0, steps=0, likelihood=likelihood)
    fields = dict(prior_precision=0.5)
    for structure in ("last_layer", "diagonal"):
        exact = fv.fit(net, data, fv.Laplace(structure=structure, **fields), **how)
        sampled = fv.fit(
            net, data, fv.Laplace(structure=structure, label_draws=1000, **fields), **how
        )
        off = (exact.log_std - sampled.log_std).abs().mean()
        assert off < 0.009  # by chance up to 0.006; without the classes' weights from 0.012
    with refused("label_draws needs structure='last_layer'"):
        fv.fit(net, data, fv.Laplace(structure="kron", label_draws=2), seed=0)
    with refused("label_draws needs likelihood='categorical'"):
        outputs = fv.Data(x, randn(5, 3, 6).double())
        fv.fit(
            net,
            outputs,
            fv.Laplace(label_draws=2),
            seed=0,
            steps=0,
            likelihood=0.5,
        )


def test_a_curvature_that_would_not_fit_is_refused_before_the_training_with_its_size():
    x = randint(0, 6, (5, 3))
    module = Sequential(Embedding(6, 300), Linear(300, 20_000))
    data = fv.Data(x, x)
    head = net_of(module, "head", example=x)
    steps = []
    how = dict(seed=0, progress=lambda *about: steps.append(about))
    with refused("at most 5,000 weights, got 6,020,000, whose covariance"):
        fv.fit(head, data, fv.Laplace(), **how)
    odd = net_of(Sequential(*module, Tanh()), "head", example=x)
    with refused("60,000 outputs of an example in 6,020,000 weights"):
        fv.fit(odd, data, fv.Laplace(structure="diagonal"), **how)
    assert steps == []


def test_a_curvature_of_minutes_says_its_work_before_it_begins():
    """3 outputs of 50,000 examples: twice 6 multiply-adds of the net, and 2,000 squared of H."""
    net = fv.Net.from_module(Linear(2, 3))
    data = fv.Data(torch.zeros(50_000, 2), torch.zeros(50_000).long())
    problem = examined(net, data, "categorical")
    text = re.escape(f"takes {150_000 * (12 + 2000**2):.0e} multiply-adds, about 2 minutes")
    with warned(text + ".*label_draws=10 estimates it"):
        check_jacobians(problem, 2000, dense=True, warn=True)
    targets = fv.Data(data.x, torch.zeros(50_000, 3))
    # Labels are drawn of classes alone
    with warned("in 2,000 weights: progress=True"):
        check_jacobians(examined(net, targets, 1.0), 2000, dense=True, warn=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_jacobians(problem, 2000, dense=False, warn=True)
        check_jacobians(problem, 1000, dense=True, warn=True, draws=2)
        check_jacobians(problem, 2000, dense=True, warn=False)


@mark.parametrize("size", [1.0, 4.0, 5.0])
def test_a_product_that_is_all_rounding_is_not_taken_for_a_wrong_derivative(size):
    """Logits that leave a loss of 1e-9; float64 has the eigenvalue, rounding of float32 is 1e-7."""
    x = randn(180, 512)
    W = randn(3, 512)
    logits = x @ W.T
    two = logits.topk(2).values
    sure = two[:, 0] - two[:, 1] > 4
    data = fv.Data(x[sure], logits[sure].argmax(1))
    net = net_of(Linear(512, 3, bias=False)).at(size * W.flatten())
    wide = fv.nll(net.to(dtype=float64), data.to(dtype=float64))
    got = fv.top_eigenpairs(fv.nll(net, data), net.w, 1, iters=40)
    want = fv.top_eigenpairs(wide, net.w.double(), 1)
    assert float(got.values - want.values) == approx(0, abs=1e-6)


def test_the_laplace_of_a_treated_bias_alone_has_the_curvature_of_the_bias():
    module = Linear(3, 2).double()
    net = fv.Net.from_module(module, lambda name: name == "bias")
    data = fv.Data(randn(20, 3, dtype=float64), torch.arange(20) % 2)
    how = dict(seed=0, steps=0)
    fields = dict(prior_precision=1.0)
    diagonal = fv.fit(net, data, fv.Laplace(structure="diagonal", **fields), **how)
    p = net(net.w, data.x).softmax(-1)
    want = (p * (1 - p)).sum(0) + 1.0
    torch.testing.assert_close((-2 * diagonal.log_std).exp(), want, rtol=1e-6, atol=0)


def test_classes_of_a_users_distribution_have_the_curvature_of_classes():
    """By the divergence, not by draws, which are 5 % off."""
    net = net_of(Linear(3, 4))
    data = fv.Data(randn(9, 3), torch.arange(9) % 4)
    v = randn(net.dim)
    users = fv.Likelihood(lambda o: Categorical(logits=o))
    found, want = (
        fv.nll(net, data, likelihood=likelihood).operator(net.w, "ggn")(v)
        for likelihood in (users, "categorical")
    )
    assert_close(found, want, rtol=1e-4, atol=1e-6)
