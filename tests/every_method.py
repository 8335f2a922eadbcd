"""What tests know of each method: how far it is from an exact posterior, and its step with a start.

A new method has a row in `CASES`, and in `algorithms` where it has a step of its own.
"""

from inspect import signature
from typing import get_args

import torch
from cases import rng

import flatviz as fv
from flatviz.training import Perturbation

N = 40
NOISE = 0.5
DELTA = 2.0
ETA = 0.01
DECAY = dict(weight_decay=DELTA / N)
ROUGH = dict(**DECAY, snapshots=100, batch_size=8, lr=0.1, momentum=0.0)  # SGD at a constant rate
VARIATIONAL = dict(steps=600, mc_samples=3)
CHAINS = dict(**DECAY, n_draws=2000, chains=100, burn_in=150, thin=10)
CYCLES = dict(
    n_draws=800,
    chains=100,
    cycles=4,
    cycle_steps=120,
    noisy_share=0.3,
    lr=0.08,
)

# settings; |mean - exact| in exact sds, at most; sd over that of the reference, least and most;
# which reference; known bias
BAYES = dict(kl_weight=1.0, start_scale=1.0)  # the posterior itself, from the prior's own widths
CASES = {
    "sgd": (dict(**DECAY, steps=200), 0.01, 0, 0, "posterior", "a point, the mode"),
    "swa": (ROUGH, 0.35, 0, 0, "posterior", "a point; the mean of a noisy path"),
    "swag_diag": (
        ROUGH,
        0.35,
        0.55,
        1.6,
        "posterior",
        "as wide as SGD's noise, which rate and batch decide",
    ),
    "swag": (
        dict(**ROUGH, rank=20),
        0.35,
        0.55,
        1.6,
        "posterior",
        "as wide as SGD's noise, which rate and batch decide",
    ),
    "mfvi": (
        dict(**VARIATIONAL, prior_std=DELTA**-0.5, first_std=0.2),
        0.15,
        0.9,
        1.1,
        "conditional",
        "given the others: narrower",
    ),
    "moped": (
        dict(**VARIATIONAL, prior_std=DELTA**-0.5, moped=0.2),
        0.4,
        0.9,
        1.1,
        "conditional",
        "its prior stands where the net does",
    ),
    "vi": (
        dict(**VARIATIONAL, **BAYES),
        0.15,
        0.85,
        1.15,
        "posterior",
        "none beyond the shaking of the last steps",
    ),
    "vi_t": (dict(**VARIATIONAL, **BAYES, radius=1.0), 0.15, 0.85, 1.15, "posterior", "vi's"),
    "sabma": (
        dict(**BAYES, steps=600, mc_samples=4, radius=0.5),
        0.3,
        0.7,
        1.1,
        "posterior",
        "a flat posterior is narrower",
    ),
    "sabma_t": (
        dict(**VARIATIONAL, **BAYES, radius=1.0, ascent_radius=0.5),
        0.3,
        0.7,
        1.1,
        "posterior",
        "sabma's",
    ),
    "bsam": (
        dict(**DECAY, steps=200),
        0.2,
        1.2,
        2.7,
        "posterior",
        "s is the size of a gradient, not a curvature: too wide",
    ),
    "ivon": (
        dict(**DECAY, steps=2000, mc_samples=4),
        0.15,
        0.9,
        1.1,
        "conditional",
        "given the others: narrower",
    ),
    "laplace": (
        dict(**DECAY, structure="full", prior_precision=None, steps=200),
        0.03,
        0.98,
        1.02,
        "posterior",
        "none: it is Gaussian",
    ),
    "sgld": (
        dict(**CHAINS, lr=0.02),
        0.15,
        0.93,
        1.12,
        "posterior",
        "wider by 1 / (1 - lr h / 2): at most 7 % here",
    ),
    "sghmc": (
        dict(**CHAINS, lr=0.01, friction=0.3),
        0.15,
        0.93,
        1.07,
        "posterior",
        "none beyond the step",
    ),
    "psgld": (
        dict(**CHAINS, lr=0.02),
        0.2,
        0.93,
        1.12,
        "posterior",
        "the preconditioner moves, whose derivative is left out",
    ),
    "sgnht": (dict(**CHAINS, lr=0.01), 0.15, 0.93, 1.07, "posterior", "none beyond the step"),
    "hmc": (
        dict(kl_weight=1.0, n_draws=2000, chains=100, burn_in=50),
        0.1,
        0.93,
        1.07,
        "posterior",
        "none",
    ),
    "csgld": (
        dict(**CYCLES, **DECAY),
        0.15,
        0.6,
        1.0,
        "posterior",
        "the noisy end of a cycle is short: too narrow where flat",
    ),
    "csghmc": (
        dict(**CYCLES | {"lr": 0.02}, **DECAY, friction=0.3),
        0.15,
        0.6,
        1.0,
        "posterior",
        "csgld's",
    ),
    "emcmc": (
        dict(**DECAY, eta=ETA, lr=0.03, n_draws=1600, burn_in=150, thin=3),
        0.5,
        0.8,
        1.2,
        "with the guide",
        "none",
    ),
    "svgd": (
        dict(**DECAY, n_draws=100, steps=1000, lr=0.5, momentum=0.9),
        0.05,
        0.85,
        1.0,
        "posterior",
        "too narrow",
    ),
    "ptl": (
        dict(method=fv.CSGLD(**CYCLES), floor=0.0),
        0.15,
        0.6,
        1.0,
        "posterior",
        "csgld's",
    ),
    "dropout": (
        dict(**DECAY, steps=300, n_draws=500),
        3,
        0.7,
        2.3,
        "posterior",
        "another prior: sd |w| / 3, whatever the data",
    ),
    "ensemble": (
        dict(**DECAY, members=3, batch_size=None, steps=200),
        0.01,
        0,
        1e-3,
        "posterior",
        "one mode: all agree",
    ),
    "multiswag": (
        dict(
            **DECAY,
            method=fv.SWAG(rank=20, **{k: v for k, v in ROUGH.items() if k != "batch_size"}),
            inner_batch_size=ROUGH["batch_size"],
        ),
        0.35,
        0.55,
        1.6,
        "posterior",
        "swag's",
    ),
}
MODES = get_args(signature(fv.perturb).parameters["mode"].annotation)
OTHER_MODES = {"sam_mu", "rank1_pinv", "authors_code"}  # of sabma, not meant to be the posterior

STEPS = 9


def algorithms(prior, n):
    """name -> (method, where it starts: weights (D,), chains (3, D) or a Gaussian, steps after
    which it collects)."""
    w = prior.mean
    descent = dict(lr=0.1, weight_decay=0.01, ascent=fv.SAM(0.1))
    energy = dict(n=n, prior=prior)
    natural = dict(lr=0.1, kl_weight=0.3, mc_samples=2, start_scale=1.0, n=n)
    W = w + 0.1 * torch.randn(3, len(w), generator=rng(), dtype=w.dtype)
    keep = range(4, STEPS, 2)
    tail = range(2, STEPS, 3)
    return {
        "sgd": (fv.SGD(**descent), w, ()),
        "swa": (fv.SWA(**descent), w, tail),
        "swag_diag": (fv.SWAGDiagonal(**descent), w, tail),
        "swag": (fv.SWAG(rank=2, **descent), w, tail),
        "bsam": (fv.BSAM(n=n), w, ()),
        "ivon": (fv.IVON(n=n, weight_decay=0.01, mc_samples=2), w, ()),
        "sgld": (fv.SGLD(lr=0.1, **energy), W, keep),
        "psgld": (fv.PSGLD(lr=0.1, **energy), W, keep),
        "sgnht": (fv.SGNHT(lr=0.1, **energy), W, keep),
        "sghmc": (fv.SGHMC(lr=0.1, friction=0.2, **energy), W, keep),
        "csgld": (fv.CSGLD(lr=0.1, friction=0.2, cycle_steps=8, n_draws=4, **energy), W, keep),
        "emcmc": (fv.EMCMC(lr=0.01, eta=0.1, **energy), W, keep),
        "svgd": (fv.SVGD(lr=0.1, **energy), W, keep),
        "vi": (fv.VI(prior, ascent=fv.SAM(0.1), **natural), prior, ()),
        "mfvi": (fv.MeanFieldVI(prior, **natural), prior, ()),
        **{
            mode: (
                fv.SABMA(prior, radius=0.3, perturbation=Perturbation(mode), **natural),
                prior,
                (),
            )
            for mode in MODES
            if mode != "none"
        },
    }
