"""The playground's engine against flatviz: the same start, the same noise passed in, the same
numbers.

Every answer of the engine comes from `questions`, asked once in node.  What the texts say of
grounds and networks is counted over seeds in node; nothing of it is staged.
"""

import json
import math
import shutil
import subprocess
from pathlib import Path

import numpy as np
import torch
from cases import rng
from pytest import fixture, mark, skip
from torch import float64, nn, randn, tensor
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


class Ground(nn.Module):
    """The ground as a network of two weights: half of its output squared is L(w) + 3, a regression
    of 0 with noise 1."""

    def __init__(self, start) -> None:
        super().__init__()
        self.w = nn.Parameter(tensor(start, dtype=float64))

    def forward(self, x):
        return (2 * (height(self.w) + 3)).sqrt().expand(len(x), 1)


def height(w):
    """L(w) of TERMS, by torch."""
    x = w[..., 0]
    y = w[..., 1]
    bowl = 0.15 * ((x - 0.2) ** 2 + (y + 0.1) ** 2)
    dent = -torch.exp(-0.5 * (((x + 0.5) / 0.4) ** 2 + ((y - 0.3) / 0.4) ** 2))
    hill = 0.7 * torch.exp(-0.5 * (((x - 0.9) / 1.1) ** 2 + (y / 0.6) ** 2))
    valley = 0.75 * (y - 0.6 * x * x + 0.4) ** 2
    wall = 0.4 * (1 + torch.tanh((x - 0.7) / 0.3))
    modes = math.log(2) - torch.logaddexp(
        -((x + 2) ** 2 + y**2) / 0.18, -((x - 2) ** 2 + y**2) / 2.88
    )
    return bowl + dent + hill + valley + wall + modes


def ground_case(kappa=KAPPA):
    """(net, data, prior, what the engine is told of them, likelihood): one data point, so that T is
    kl_weight."""
    start = [0.1, 0.4]
    std = [0.5, 0.3]
    n = torch.zeros(1, 1, dtype=float64)
    net = fv.Net.from_module(Ground(start))
    prior = fv.Gaussian(double([0.3, -0.2]), double([1.5, 2.0]).log())
    told = {"terms": TERMS, "prior": plain(prior), "T": kappa}
    return (
        net,
        fv.Data(n, n),
        prior,
        fv.Gaussian(net.w, tensor(std).double().log()),
        told,
        1.0,
    )


def network_case(kind, kappa=KAPPA):
    """The same of a network 2-5-4-3 of tanh, or 1-6-1 for a regression."""
    source = rng(5)
    widths = [2, 5, 4, 3] if kind == "classes" else [1, 6, 1]
    layers = [m for a, b in zip(widths, widths[1:]) for m in (nn.Linear(a, b), nn.Tanh())][:-1]
    module = nn.Sequential(*layers).double()
    for p in module.parameters():
        p.data = randn(p.shape, generator=source, dtype=float64)
    x = randn(11, widths[0], generator=source, dtype=float64)
    y = torch.arange(11) % 3 if kind == "classes" else randn(11, 1, generator=source, dtype=float64)
    net = fv.Net.from_module(module)
    prior = fv.Gaussian(torch.zeros_like(net.w), torch.linspace(-0.5, 0.5, net.dim).double())
    noise = None if kind == "classes" else 0.4
    told = {
        "widths": widths,
        "data": {"x": x.flatten().tolist(), "y": y.flatten().tolist(), "noise": noise},
    }
    told |= {"prior": plain(prior), "T": kappa / 11}
    start = fv.Gaussian(net.w, torch.full_like(net.w, math.log(0.1)))
    return net, fv.Data(x, y), prior, start, told, noise or "categorical"


CASES = {
    "ground": ground_case,
    "classes": lambda: network_case("classes"),
    "regression": lambda: network_case("regression"),
}


def double(numbers):
    """A float64 tensor."""
    return torch.as_tensor(numbers, dtype=float64)


def plain(q):
    """A Gaussian as the engine reads it."""
    return {"mean": q.mean.tolist(), "logStd": q.log_std.tolist()}


def scored_case():
    """(net, widths, W, x, y): draws of the network and data that it is scored on."""
    net, _, _, start, told, _ = CASES["classes"]()
    W = 3 * start.sample(6, seed=2)  # sure ones too: the last bins are in use
    return (
        net,
        told["widths"],
        W,
        randn(50, 2, generator=rng(8), dtype=float64),
        (torch.arange(50) * 7) % 3,
    )


def questions():
    """What is asked, by name."""
    asked = {}
    rates = [LR / 2 * (1 + math.cos(math.pi * step / STEPS)) for step in range(STEPS)]
    for case, made in CASES.items():
        net, _, _, start, told, _ = made()
        w = net.w.tolist()
        zeros = [0.0] * net.dim
        asked["gradient", case] = told | {"what": "gradient", "w": w}
        asked["eigen", case] = told | {"what": "eigenpairs", "w": w, "k": 2}
        source = rng(SEED)
        drawn = [randn(2, net.dim, generator=source, dtype=float64) for _ in range(STEPS // 2)]
        # Every second step has the negative of the one before
        rows = [sign * z for z in drawn for sign in (1, -1)]
        for method, radius in (("vi", 0.0), ("sabma", 0.7)):
            fit = {
                "start": plain(start),
                "noise": torch.stack(rows).tolist(),
                "rates": rates,
                "radius": radius,
                "momentum": 0.9,
            }
            asked[method, case] = told | fit | {"what": "gaussians"}
        for method, radius in (("gd", 0.0), ("sam", 0.2)):
            point = {"start": w, "rates": rates, "momentum": 0.9, "radius": radius, "T": 0.02}
            asked[method, case] = (
                told | point | {"what": "points", "prior": {"mean": zeros, "logStd": zeros}}
            )
        source = rng(SEED)
        xi = [randn(1, net.dim, generator=source, dtype=float64)[0].tolist() for _ in range(STEPS)]
        asked["sgld", case] = told | {"what": "sgld", "start": w, "noise": xi, "rate": 0.01}
        z, p = randn(2, net.dim, generator=rng(1), dtype=float64)
        asked["hmc", case] = told | {
            "what": "trajectory",
            "z": z.tolist(),
            "momentum": p.tolist(),
            "size": SIZE,
            "n": 12,
        }
    asked["sizes", ""] = {"what": "sizes", "accept": 0.8, "rates": ACCEPTED}
    q = {"mean": [0.2, -1.0], "logStd": [-1.0, 0.3]}
    g = {"mean": [1.5, -0.2], "logStd": [0.4, 0.9]}
    asked["kl", ""] = {"what": "kl", "q": q, "prior": {"mean": [0.5, 0.1], "logStd": [0.2, -0.4]}}
    asked["worst", ""] = {"what": "worst", "q": q, "g": g, "radius": 0.6}
    asked["integral", ""] = {
        "what": "integral",
        "terms": TERMS,
        "q": {"mean": [-0.4, 0.2], "logStd": [-0.9, -0.6]},
    }
    _, widths, W, x, y = scored_case()
    numbers = {"W": W.tolist(), "x": x.flatten().tolist(), "y": y.tolist()}
    asked["scores", ""] = numbers | {"what": "scores", "widths": widths}
    asked["normals", ""] = {"what": "normals", "seed": 4, "n": 20000}
    straight = {
        "terms": [{"kind": "bowl", "at": [0.5, -0.3], "h": 2.0}],
        "prior": {"mean": [0.0, 0.0], "logStd": [0.0, 0.0]},
    }
    asked["chain", ""] = straight | {
        "what": "chain",
        "start": [2.0, 2.0],
        "T": 0.2,
        "seed": 0,
        "steps": 4100,
    }
    return asked


def in_node(script, *arguments, **given):
    """What a script of this folder prints."""
    if (node := shutil.which("node")) is None:
        skip("no node found: install it (Debian: apt-get install nodejs)")
    done = subprocess.run(
        [node, HERE / script, *arguments], capture_output=True, encoding="utf-8", **given
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@fixture(scope="module")
def answers():
    """The engine's answers by name."""
    asked = questions()
    return dict(zip(asked, in_node("run.mjs", ENGINE, input=json.dumps(list(asked.values())))))


def close(a, b, tolerance=1e-6):
    """Both in float64: what differs is the order of sums, and 40 steps of a fit let that grow."""
    assert_close(double(a), torch.as_tensor(b, dtype=float64), rtol=tolerance, atol=tolerance)


@mark.parametrize("case", CASES)
def test_the_gradient_written_by_hand_is_that_of_torch(answers, case):
    net, data, _, _, _, likelihood = CASES[case]()
    f = fv.nll(net, data, likelihood=likelihood)
    w = net.w.clone().requires_grad_()
    value = f(w)
    (g,) = torch.autograd.grad(value, w)
    shift = 3 + 0.5 * math.log(2 * math.pi) if case == "ground" else 0.0
    found = answers["gradient", case]
    close(found["value"] + shift, value.detach(), 1e-10)
    close(found["g"], g, 1e-10)


@mark.parametrize("case", CASES)
@mark.parametrize("method, radius", [("vi", 0.0), ("sabma", 0.7)])
def test_vi_and_sabma_take_the_steps_of_flatviz(answers, case, method, radius):
    net, data, prior, start, _, likelihood = CASES[case]()
    fit = dict(
        start=start, start_scale=1.0, kl_weight=KAPPA, mc_samples=2, steps=STEPS, lr=LR, seed=SEED
    )
    fit["likelihood"] = likelihood
    q = (
        fv.fit_sabma(net, data, prior, radius=radius, **fit)
        if radius
        else fv.fit_vi(net, data, prior, **fit)
    )
    found = answers[method, case]
    close(found["q"]["mean"], q.mean)
    close(found["q"]["logStd"], q.log_std)
    close(found["kls"], q.history.kl)
    if radius:
        close(found["gains"], q.history.sharpness)


@mark.parametrize("case", CASES)
@mark.parametrize("method, ascent", [("gd", None), ("sam", fv.SAM(0.2))])
def test_gradient_descent_and_sam_take_the_steps_of_flatviz(answers, case, method, ascent):
    net, data, _, _, _, likelihood = CASES[case]()
    how = dict(steps=STEPS, lr=LR, weight_decay=0.02, likelihood=likelihood, ascent=ascent, seed=0)
    close(answers[method, case]["w"], fv.fit_sgd(net, data, **how).center)


@mark.parametrize("case", CASES)
def test_sgld_takes_the_steps_of_flatviz(answers, case):
    net, data, prior, _, told, likelihood = CASES[case]()
    # Tempered with the likelihood: T P of the engine
    wide = fv.Gaussian(prior.mean, prior.log_std - 0.5 * math.log(KAPPA))
    how = dict(
        n_draws=STEPS,
        burn_in=0,
        thin=1,
        lr=0.01,
        temperature=KAPPA,
        likelihood=likelihood,
        seed=SEED,
    )
    close(answers["sgld", case]["kept"], fv.fit_sgld(net, data, prior=wide, **how).W)


@mark.parametrize("case", CASES)
def test_a_trajectory_of_hmc_is_that_of_flatviz(answers, case):
    net, data, prior, _, told, likelihood = CASES[case]()
    U = Potential(training_loss(net, data, likelihood, members=1), prior, len(data) / KAPPA)
    z, p = randn(2, net.dim, generator=rng(1), dtype=float64)
    first, slope, _ = U(z[None])
    there, speed, (value, _, _) = leapfrog(U, z[None], p[None], slope, SIZE, 12, Metric())
    energy = first + 0.5 * p.square().sum()
    # a stable one: an unstable one lets rounding grow without a bound
    assert_close(value + 0.5 * speed.square().sum(), energy, rtol=1e-2, atol=0)
    found = answers["hmc", case]
    close(found["z"], there[0])
    close(found["momentum"], speed[0])
    shift = (3 + 0.5 * math.log(2 * math.pi)) / KAPPA if case == "ground" else 0.0
    close(found["at"]["value"] + shift, value[0])


def test_the_step_size_of_hmc_is_adapted_as_in_flatviz(answers):
    size = StepSize(0.1)
    seen = []
    for rate in ACCEPTED:
        size.follow(rate)
        seen.append(size.size)
    size.settle()
    close(answers["sizes", ""], [*seen, size.size], 1e-12)


def test_a_chain_of_hmc_has_mean_and_width_of_a_gaussian_posterior(answers):
    # 4000 nearly independent draws: three standard errors of mean and width
    W = np.array(answers["chain", ""])
    precision = 2.0 / 0.2 + 1
    exact = np.array([0.5, -0.3]) * (2.0 / 0.2) / precision
    assert np.all(np.abs(W.mean(0) - exact) < 3 * precision**-0.5 / math.sqrt(2000))
    assert np.all(np.abs(W.std(0) * precision**0.5 - 1) < 0.05)


@mark.parametrize("case", CASES)
def test_the_largest_eigenvalues_are_those_of_top_eigenpairs(answers, case):
    net, data, _, _, _, likelihood = CASES[case]()
    exact = fv.top_eigenpairs(fv.nll(net, data, likelihood=likelihood), net.w, k=2)
    close([pair["value"] for pair in answers["eigen", case]], exact.values)
    for pair, vector in zip(answers["eigen", case], exact.vectors):
        assert abs(abs(float(tensor(pair["vector"]).double() @ vector.double())) - 1) < 1e-6


def test_kl_and_its_gradient_are_those_of_flatviz(answers):
    theta = [t.requires_grad_() for t in (double([0.2, -1.0]), double([-1.0, 0.3]))]
    value = fv.Gaussian(*theta).kl(fv.Gaussian(double([0.5, 0.1]), double([0.2, -0.4])))
    for name, exact in zip(
        ("value", "mean", "logStd"), (value.detach(), *torch.autograd.grad(value, theta))
    ):
        close(answers["kl", ""][name], exact)


def test_the_worst_q_and_its_budget_are_those_of_perturb(answers):
    q = fv.Gaussian(double([0.2, -1.0]), double([-1.0, 0.3]))
    g = double([1.5, -0.2]), double([0.4, 0.9]), q.factor
    mean, log_std, _ = fv.perturb(q, g, radius=0.6)
    found = answers["worst", ""]
    close(found["delta"]["mean"], mean)
    close(found["delta"]["logStd"], log_std)
    spent = (mean / q.std).square().sum(), 2 * log_std.square().sum()
    close(found["share"], spent[0] / 0.36)
    close(spent[0] + spent[1], 0.36)


def test_the_integral_over_q_is_the_mean_over_many_draws(answers):
    q = fv.Gaussian(double([-0.4, 0.2]), double([-0.9, -0.6]))
    heights = height(q.sample(20000, seed=0))
    assert abs(answers["integral", ""] - float(heights.mean())) < 4 * float(
        heights.std()
    ) / math.sqrt(20000)


def test_scores_are_those_of_flatviz(answers):
    net, _, W, x, y = scored_case()
    prediction = fv.predict(net, W, fv.Data(x, y), 6, seed=0)
    found = answers["scores", ""]
    for name, score in (
        ("ece", fv.metrics.ece),
        ("nll", fv.metrics.nll),
        ("accuracy", fv.metrics.accuracy),
    ):
        close(found[name], score(prediction, n_draws=6))


def test_the_engines_noise_is_standard_normal(answers):
    # 20000: three standard errors of mean, variance and lag-one correlation
    z = np.array(answers["normals", ""])
    assert abs(z.mean()) < 3 / math.sqrt(len(z))
    assert abs(z.var() - 1) < 3 * math.sqrt(2 / len(z))
    assert abs((z[1:] * z[:-1]).mean()) < 3 / math.sqrt(len(z))


@fixture(scope="module")
def ends():
    """Where 20 runs end, and what five networks score."""
    return in_node("ends.mjs", ENGINE.parent)


def test_on_the_first_ground_vi_ends_in_the_narrow_hollow_and_sabma_in_the_wide_meadow(ends):
    assert ends["hollow"]["vi"].get("narrow hollow", 0) >= 19
    assert ends["hollow"]["sabma"].get("wide meadow", 0) >= 19


def test_of_two_modes_a_large_radius_reaches_the_wide_one_less_often(ends):
    wide = {float(radius): counts.get("wide mode", 0) for radius, counts in ends["modes"].items()}
    assert wide[0.0] >= 19
    assert wide[0.5] >= 19
    assert wide[2.0] < 10


def test_the_flatter_network_has_the_lower_test_loss_on_spirals_and_on_moons_by_chance_alone(ends):
    lower = {}
    for data, (vi, flat) in ends["network"].items():
        assert sum(f["lambda"] < v["lambda"] for v, f in zip(vi, flat)) >= 4
        lower[data] = sum(f["nll"] < v["nll"] for v, f in zip(vi, flat))
    assert lower["spiral"] >= 4
    assert 1 <= lower["moons"] <= 4
