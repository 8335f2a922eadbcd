"""The playground's engine against flatviz: the same start, the same noise passed in, the same
numbers.

Every answer of the engine comes from `questions`, asked once in node.  What the texts say of
grounds and networks is counted over seeds in node; nothing of it is staged.
"""

import json
import math
import shutil
import subprocess
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import torch
from cases import around, fitted_by, mlp, net_of, normals, rng
from pytest import approx, fixture, mark, skip
from torch import float64, nn, zeros
from torch.testing import assert_close

import flatviz as fv
from flatviz.posteriors.hmc import Metric, Potential, StepSize, leapfrog
from flatviz.training import training_loss

HERE = Path(__file__).parent
ENGINE = HERE.parents[1] / "flatviz" / "pages" / "playground" / "engine.js"
STEPS = 40
LR = 0.05
KAPPA = 0.3
SEED = 3
SIZE = 0.005  # of a step of HMC
ACCEPTED = [0.9, 0.2, 0.75, 1.0, 0.6, 0.85]
TERMS = [
    {"kind": "bowl", "at": [0.2, -0.1], "h": 0.3},
    {"kind": "dent", "at": [-0.5, 0.3], "depth": 1.0, "width": 0.4},
    {"kind": "dent", "at": [0.9, 0.0], "depth": -0.7, "width": [1.1, 0.6]},
    {"kind": "valley", "k": 1.5, "a": 0.6, "b": -0.4},
    {"kind": "wall", "at": 0.7, "height": 0.8, "soft": 0.3},
    {"kind": "modes", "a": [-2.0, 0.0], "b": [2.0, 0.0], "narrow": 0.3, "ratio": 4.0},
]


def height(w):
    """L(w) of TERMS, by torch."""
    x, y = w.unbind(-1)

    def squares(a, b, width, depth):
        return ((x - a) / width) ** 2 + ((y - b) / depth) ** 2

    bowl = 0.15 * squares(0.2, -0.1, 1.0, 1.0)
    dent = -torch.exp(-squares(-0.5, 0.3, 0.4, 0.4) / 2)
    hill = 0.7 * torch.exp(-squares(0.9, 0.0, 1.1, 0.6) / 2)
    valley = 0.75 * (y - 0.6 * x * x + 0.4) ** 2
    wall = 0.8 * torch.sigmoid((x - 0.7) / 0.15)
    narrow = -squares(-2, 0, 0.3, 0.3) / 2
    wide = -squares(2, 0, 1.2, 1.2) / 2
    modes = math.log(2) - torch.logaddexp(narrow, wide)
    return bowl + dent + hill + valley + wall + modes


class Ground(nn.Module):
    """The ground as a network of two weights: half of its output squared is L(w) + 3, a regression
    of 0 with noise 1."""

    def __init__(self) -> None:
        super().__init__()
        self.w = nn.Parameter(double([0.1, 0.4]))

    def forward(self, x):
        half_square = height(self.w) + 3
        return (2 * half_square).sqrt().expand(len(x), 1)


def double(numbers):
    """A float64 tensor."""
    return torch.as_tensor(numbers, dtype=float64)


def listed(numbers):
    """All numbers of a tensor, in one list."""
    return numbers.flatten().tolist()


def plain(q):
    """A Gaussian as the engine reads it."""
    return {"mean": q.mean.tolist(), "logStd": q.log_std.tolist()}


@dataclass(frozen=True)
class Case:
    """A problem, and what the engine is told of it; `shift` is how much higher our loss is."""

    net: fv.Net
    data: fv.Data
    prior: fv.Gaussian
    start: fv.Gaussian
    likelihood: str | float
    told: dict
    shift: float = 0.0

    @property
    def question(self):
        return self.told | {"prior": plain(self.prior), "T": KAPPA / len(self.data)}

    def fitted(self, fit, *given, **how):
        return fit(self.net, self.data, *given, likelihood=self.likelihood, **how)


def ground():
    """One data point, so that T is kl_weight."""
    net = net_of(Ground())
    zero = zeros(1, 1).double()
    nothing = fv.Data(zero, zero)
    prior = fv.Gaussian(double([0.3, -0.2]), double([1.5, 2.0]).log())
    start = fv.Gaussian(net.w, double([0.5, 0.3]).log())
    shift = 3 + math.log(2 * math.pi) / 2
    return Case(net, nothing, prior, start, 1.0, {"terms": TERMS}, shift)


def network(*widths, noise=None):
    """A network of tanh, for classes, or for a regression with this noise."""
    source = rng(5)
    module = mlp(*widths).double()
    for p in module.parameters():
        p.data = normals(p.shape, source=source)
    x = normals(11, widths[0], source=source)
    y = torch.arange(11) % 3
    if noise is not None:
        y = normals(11, 1, source=source)
    net = net_of(module)
    log_std = torch.linspace(-0.5, 0.5, net.dim).double()
    prior = fv.Gaussian(torch.zeros_like(net.w), log_std)
    start = around(net, math.log(0.1))
    numbers = {"x": listed(x), "y": listed(y), "noise": noise}
    told = {"widths": widths, "data": numbers}
    return Case(net, fv.Data(x, y), prior, start, noise or "categorical", told)


CASES = {
    "ground": ground(),
    "classes": network(2, 5, 4, 3),
    "regression": network(1, 6, 1, noise=0.4),
}
WIDE = 3 * CASES["classes"].start.sample(6, seed=2)  # sure draws too: the last bins are in use
POINTS = normals(50, 2, source=8)
LABELS = (torch.arange(50) * 7) % 3
NARROW = fv.Gaussian(double([-0.4, 0.2]), double([-0.9, -0.6]))


def noises(dim, draws):
    """The noise of each step of a fit."""
    source = rng(SEED)
    return [normals(draws, dim, source=source) for _ in range(STEPS)]


def asked_of(case):
    """What is asked of a case, by name."""
    question = case.question
    w = case.net.w.tolist()
    dim = case.net.dim
    angles = math.pi * torch.arange(STEPS).double() / STEPS
    rates = LR / 2 * (1 + angles.cos())
    mirrored = []  # every second step has the negative of the one before
    for z in noises(dim, 2)[: STEPS // 2]:
        mirrored += [z.tolist(), (-z).tolist()]
    descent = {"rates": rates.tolist(), "momentum": 0.9}
    gaussians = descent | {
        "what": "gaussians",
        "start": plain(case.start),
        "noise": mirrored,
    }
    flat = {"mean": [0.0] * dim, "logStd": [0.0] * dim}
    points = descent | {
        "what": "points",
        "start": w,
        "T": 0.02,
        "prior": flat,
    }
    langevin = [listed(z) for z in noises(dim, 1)]
    z, p = normals(2, dim, source=1).tolist()
    asked = {
        "gradient": {"what": "gradient", "w": w},
        "eigen": {"what": "eigenpairs", "w": w, "k": 2},
        "vi": gaussians | {"radius": 0.0},
        "sabma": gaussians | {"radius": 0.7},
        "gd": points | {"radius": 0.0},
        "sam": points | {"radius": 0.2},
        "sgld": {"what": "sgld", "start": w, "noise": langevin, "rate": 0.01},
        "hmc": {
            "what": "trajectory",
            "z": z,
            "momentum": p,
            "size": SIZE,
            "n": 12,
        },
    }
    return {name: question | more for name, more in asked.items()}


def questions():
    """What is asked, by name."""
    asked = {
        (name, kind): question
        for kind, case in CASES.items()
        for name, question in asked_of(case).items()
    }
    scored = {
        "what": "scores",
        "widths": [2, 5, 4, 3],
        "W": WIDE.tolist(),
        "x": listed(POINTS),
        "y": listed(LABELS),
    }
    straight = {
        "terms": [{"kind": "bowl", "at": [0.5, -0.3], "h": 2.0}],
        "prior": {"mean": [0.0, 0.0], "logStd": [0.0, 0.0]},
    }
    chain = {
        "what": "chain",
        "start": [2.0, 2.0],
        "T": 0.2,
        "seed": 0,
        "steps": 4100,
    }
    return asked | {
        "sizes": {"what": "sizes", "accept": 0.8, "rates": ACCEPTED},
        "integral": {"what": "integral", "terms": TERMS, "q": plain(NARROW)},
        "scores": scored,
        "normals": {"what": "normals", "seed": 4, "n": 20000},
        "chain": straight | chain,
    }


def in_node(script, *arguments, **given):
    """What a script of this folder prints."""
    node = shutil.which("node")
    if node is None:
        skip("no node found: install it (Debian: apt-get install nodejs)")
    command = [node, HERE / script, *arguments]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", **given)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@fixture(scope="module")
def answers():
    """The engine's answers by name."""
    asked = questions()
    told = json.dumps(list(asked.values()))
    found = in_node("run.mjs", ENGINE, input=told)
    return dict(zip(asked, found))


def close(a, b, tolerance=1e-6):
    """Both in float64: what differs is the order of sums, and 40 steps of a fit let that grow."""
    assert_close(double(a), double(b), rtol=tolerance, atol=tolerance)


cases = mark.parametrize("kind", CASES)


@cases
def test_the_gradient_written_by_hand_is_that_of_torch(answers, kind):
    case = CASES[kind]
    value, gradient = case.fitted(fv.nll).value_and_grad(case.net.w)
    found = answers["gradient", kind]
    close(found["value"] + case.shift, value, 1e-10)
    close(found["g"], gradient, 1e-10)


@cases
@mark.parametrize("method", ["vi", "sabma"])
def test_vi_and_sabma_take_the_steps_of_flatviz(answers, kind, method):
    case = CASES[kind]
    fit = partial(fitted_by(fv.SABMA), radius=0.7) if method == "sabma" else fitted_by(fv.VI)
    optimisation = dict(mc_samples=2, steps=STEPS, lr=LR, seed=SEED)
    widths = dict(start=case.start, start_scale=1.0, kl_weight=KAPPA)
    q = case.fitted(fit, case.prior, **optimisation, **widths)
    found = answers[method, kind]
    close(found["q"]["mean"], q.mean)
    close(found["q"]["logStd"], q.log_std)
    close(found["kls"], q.history.kl)
    if method == "sabma":
        close(found["gains"], q.history.sharpness)


@cases
@mark.parametrize("method, ascent", [("gd", None), ("sam", fv.SAM(0.2))])
def test_gradient_descent_and_sam_take_the_steps_of_flatviz(answers, kind, method, ascent):
    optimisation = dict(steps=STEPS, lr=LR, weight_decay=0.02, seed=0)
    q = CASES[kind].fitted(fitted_by(fv.SGD), ascent=ascent, **optimisation)
    close(answers[method, kind]["w"], q.center)


@cases
def test_sgld_takes_the_steps_of_flatviz(answers, kind):
    case = CASES[kind]
    # Tempered with the likelihood: T P of the engine
    log_std = case.prior.log_std - math.log(KAPPA) / 2
    wide = fv.Gaussian(case.prior.mean, log_std)
    chain = dict(
        n_draws=STEPS,
        burn_in=0,
        thin=1,
        lr=0.01,
        temperature=KAPPA,
        seed=SEED,
    )
    q = case.fitted(fitted_by(fv.SGLD), prior=wide, **chain)
    close(answers["sgld", kind]["kept"], q.W)


@cases
def test_a_trajectory_of_hmc_is_that_of_flatviz(answers, kind):
    case = CASES[kind]
    loss = training_loss(case.net, case.data, case.likelihood, members=1)
    U = Potential(loss, case.prior, len(case.data) / KAPPA)
    z, p = normals(2, 1, case.net.dim, source=1)
    start = U(z)
    there, speed = leapfrog(U, start, p, SIZE, 12, Metric())
    before = start.value + p.square().sum() / 2
    after = there.value + speed.square().sum() / 2
    # a stable one: an unstable one lets rounding grow without a bound
    assert_close(after, before, rtol=1e-2, atol=0)
    found = answers["hmc", kind]
    close(found["z"], there.z[0])
    close(found["momentum"], speed[0])
    close(found["at"]["value"] + case.shift / KAPPA, there.value[0])


def test_the_step_size_of_hmc_is_adapted_as_in_flatviz(answers):
    size = StepSize(math.log(0.1))
    seen = []
    for rate in ACCEPTED:
        size.follow(rate)
        seen.append(size.size)
    _, _, _, average, _ = size.state.tolist()  # of the logarithm, at which the size settles
    close(answers["sizes"], [*seen, math.exp(average)], 1e-12)


def test_a_chain_of_hmc_has_mean_and_width_of_a_gaussian_posterior(answers):
    # 4000 nearly independent draws: three standard errors of mean and width
    W = np.array(answers["chain"])
    curvature = 2.0 / 0.2
    precision = curvature + 1  # of the prior
    exact = curvature / precision * np.array([0.5, -0.3])
    width = precision**-0.5
    three_errors = 3 * width / math.sqrt(2000)
    assert W.mean(0) == approx(exact, abs=three_errors)
    assert W.std(0) == approx(width, rel=0.05)


@cases
def test_the_largest_eigenvalues_are_those_of_top_eigenpairs(answers, kind):
    case = CASES[kind]
    exact = fv.top_eigenpairs(case.fitted(fv.nll), case.net.w, k=2)
    found = answers["eigen", kind]
    close([pair["value"] for pair in found], exact.values)
    for pair, vector in zip(found, exact.vectors):
        cosine = float(double(pair["vector"]) @ vector.double())
        assert abs(cosine) == approx(1, abs=1e-6)


def test_the_integral_over_q_is_the_mean_over_many_draws(answers):
    heights = height(NARROW.sample(20000, seed=0))
    mean = float(heights.mean())
    standard_error = float(heights.std()) / math.sqrt(20000)
    assert answers["integral"] == approx(mean, abs=4 * standard_error)


@mark.parametrize("name", ["ece", "nll", "accuracy"])
def test_scores_are_those_of_flatviz(answers, name):
    data = fv.Data(POINTS, LABELS)
    prediction = fv.predict(CASES["classes"].net, WIDE, data, 6, seed=0)
    of_all_draws = fv.score(prediction, name)[-1]
    close(answers["scores"][name], of_all_draws)


def test_the_engines_noise_is_standard_normal(answers):
    # 20000: three standard errors of mean, variance and lag-one correlation
    z = np.array(answers["normals"])
    error = 3 / math.sqrt(len(z))
    assert abs(z.mean()) < error
    assert abs(z.var() - 1) < math.sqrt(2) * error
    lag_one = (z[1:] * z[:-1]).mean()
    assert abs(lag_one) < error


@fixture(scope="module")
def ends():
    """Where 20 runs end, and what five networks score."""
    return in_node("ends.mjs", ENGINE.parent)


def test_on_the_first_ground_vi_ends_in_the_narrow_hollow_and_sabma_in_the_wide_meadow(ends):
    assert ends["hollow"]["vi"].get("narrow hollow", 0) >= 19
    assert ends["hollow"]["sabma"].get("wide meadow", 0) >= 19


def test_of_two_modes_a_large_radius_reaches_the_wide_one_less_often(ends):
    wide = {}
    for radius, counts in ends["modes"].items():
        wide[float(radius)] = counts.get("wide mode", 0)
    assert wide[0.0] >= 19
    assert wide[0.5] >= 19
    assert wide[2.0] < 10


@mark.parametrize("data, least, most", [("spiral", 4, 5), ("moons", 1, 4)])
def test_the_flatter_network_has_the_lower_test_loss_on_spirals_and_on_moons_by_chance_alone(
    ends, data, least, most
):
    vi, flat = ends["network"][data]

    def lower(key):
        """In how many of the five the flatter network has less."""
        return sum(f[key] < v[key] for v, f in zip(vi, flat))

    assert lower("lambda") >= 4
    assert least <= lower("nll") <= most
