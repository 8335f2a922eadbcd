"""Does flatness matter for averaging?  The draws of one posterior, told apart by lambda1, and SA-BMA over ranks.

Within a posterior: does lambda1 of a draw go with its score, and are ensembles of its flat draws better than those of its
sharp ones?  Of all draws they are the same ensemble.  Each seed makes its own split, network, prior and noise.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from flatviz.core.data import Task
from flatviz.core.net import Net
from flatviz.core.progress import Progress, track
from flatviz.experiments.settings import SETTINGS
from flatviz.families.choice import with_head_std
from flatviz.families.members import fit_member
from flatviz.families.tour import RANK, prepare
from flatviz.gaussian import Gaussian
from flatviz.landscape.lanczos import top_eigenpairs
from flatviz.metrics.averaging import scored
from flatviz.metrics.predict import predict
from flatviz.metrics.sharpness import ORDERS, ordered, weyl_bounds
from flatviz.objectives.nll import MeanNLL, nll
from flatviz.posteriors import METHODS
from flatviz.results import Prediction
from flatviz.storage.cache import cached

POSTERIORS = {"vi": 0.0, "sabma": 1.0}  # method -> radius
RANKS = (1, 2, 5, 10)
SIZES = (1, 2, 5, 10, 30)  # of the ensembles that figures and claims speak of
SCORES = ("nll", "accuracy", "ece")
WITH = ("nll", "error", "train", "nll given train")  # what lambda1 of a draw is correlated with
WEYL_DRAWS = 5
SHUFFLES = 10  # random orders, whose mean is taken


@dataclass(frozen=True)
class Averaging:
    """Figures of each seed, in float64.

    correlation: method -> (seeds, 4) Spearman's over draws of lambda1 with `WITH`;  ensembles: method -> (seeds, orders, sizes,
    scores) as in `ORDERS`, `SIZES`, `SCORES`;  weyl: method -> (seeds, orders, 3), lower bound, lambda1 of the averaged
    Hessian and upper bound for the first five draws in each order;  rank: K -> (seeds, 4), mean lambda1 and the scores of SA-BMA.
    """

    correlation: dict[str, Tensor]
    ensembles: dict[str, Tensor]
    weyl: dict[str, Tensor]
    rank: dict[int, Tensor]
    seeds: tuple[int, ...]


def measure_averaging(
    seeds: int,
    *,
    n_draws: int = 30,
    epochs: int = 60,
    steps: int = 300,
    progress: Progress = False,
    say: Callable[[str], None] = lambda text: None,
) -> Averaging:
    """Fit and measure seeds 0..seeds-1 on the digits (MLP, 10 shots), with the tempered objective of the evidence.

    lambda1 is that of the training loss's Hessian over the treated weights.  epochs: of pre-training; steps: of the fits.
    Each seed is kept in the cache folder.
    """
    about = dict(n_draws=n_draws, epochs=epochs, steps=steps, methods={m: METHODS[m] for m in POSTERIORS})
    per_seed = []
    for seed in range(seeds):
        compute = partial(_one_seed, seed, n_draws, epochs, steps, progress)
        per_seed.append(cached("averaging", compute, label=f"seed {seed}", say=say, seed=seed, **about)[0])
        say(
            f"seed {seed}: "
            + ", ".join(f"{m} λ1 with NLL {float(per_seed[-1][f'correlation/{m}'][0]):+.2f}" for m in POSTERIORS)
        )

    def over_seeds(kind: str, names: tuple) -> dict:
        return {name: torch.stack([of_seed[f"{kind}/{name}"] for of_seed in per_seed]) for name in names}

    by_method = [over_seeds(kind, tuple(POSTERIORS)) for kind in ("correlation", "ensembles", "weyl")]
    return Averaging(*by_method, over_seeds("rank", RANKS), tuple(range(seeds)))


def _one_seed(seed: int, n_draws: int, epochs: int, steps: int, progress: Progress) -> dict[str, Tensor]:
    chosen = SETTINGS["tempered"]
    net, task, wide = prepare("mlp", seed=seed, epochs=epochs, rank=max(RANKS), progress=progress)
    wide, fit = with_head_std(net, wide, chosen.head_std), {**chosen.fit, "steps": steps}
    f, values = nll(net, task.train), {}
    for method, radius in POSTERIORS.items():
        q = fit_member(net, task, of_rank(wide, RANK), method, radius, seed=seed, fit=fit, progress=progress)
        values |= {f"{k}/{method}": v for k, v in _of_draws(net, task, f, q.sample(n_draws, seed=seed + 1), seed).items()}
        if method == "sabma":
            values[f"rank/{RANK}"] = _of_rank(net, task, f, q, n_draws, seed)
    for rank in track([r for r in RANKS if r != RANK], f"ranks of seed {seed}", progress):
        q = fit_member(net, task, of_rank(wide, rank), "sabma", POSTERIORS["sabma"], seed=seed, fit=fit, progress=progress)
        values[f"rank/{rank}"] = _of_rank(net, task, f, q, n_draws, seed)
    return values


def of_rank(swag: Gaussian, rank: int) -> Gaussian:
    """SWAG's Gaussian with its last `rank` deviations alone: what `fit_swag` of that rank gives from the same run."""
    scale = math.sqrt(max(swag.rank - 1, 1) / max(rank - 1, 1))  # each rank divides by its own K - 1
    return dataclasses.replace(swag, factor=scale * swag.factor[swag.rank - rank :])


def _of_draws(net: Net, task: Task, f: MeanNLL, W: Tensor, seed: int) -> dict[str, Tensor]:
    """Correlations, ensembles and bounds of one posterior's draws W (S, D)."""
    lambda1 = _lambda1(f, W, seed)
    prediction = predict(net, W, task.test, len(W), seed=seed)
    each = [scored(Prediction(outputs[None], task.test.y)).scores for outputs in prediction.outputs]
    loss, error = torch.cat([s["nll"] for s in each]), 1 - torch.cat([s["accuracy"] for s in each])
    train = f.many(W)
    correlations = [spearman(lambda1, other) for other in (loss, error, train)]
    which = torch.arange(len(W), device=W.device)
    bounds = [
        weyl_bounds(f, W[ordered(which, lambda1, order, seed=seed)[:WEYL_DRAWS]], iters=40, seed=seed) for order in ORDERS
    ]
    ensembles = torch.stack([_in_order(prediction, lambda1, order, seed) for order in ORDERS])
    return {
        "correlation": torch.tensor([*correlations, partial_spearman(lambda1, loss, train)]).double(),
        "ensembles": ensembles,
        "weyl": torch.tensor(bounds).double(),
    }


def _in_order(prediction: Prediction, lambda1: Tensor, order: str, seed: int) -> Tensor:
    """Scores (sizes, scores) of the ensembles that take draws in that order; means over `SHUFFLES` orders where random."""
    orders = [
        ordered(prediction.outputs, lambda1, order, seed=s) for s in range(seed, seed + (SHUFFLES if order == "random" else 1))
    ]
    each = [scored(Prediction(outputs, prediction.y)).scores for outputs in orders]
    at = [min(size, len(lambda1)) - 1 for size in SIZES]
    return torch.stack([torch.stack([s[name][at] for name in SCORES], -1) for s in each]).double().mean(0)


def _of_rank(net: Net, task: Task, f: MeanNLL, q: Gaussian, n_draws: int, seed: int) -> Tensor:
    scores = predict(net, q, task.test, n_draws, seed=seed + 1).scores
    return torch.stack([_lambda1(f, q.sample(5, seed=seed + 1), seed).mean(), *(scores[k][-1] for k in SCORES)]).double()


def _lambda1(f: MeanNLL, W: Tensor, seed: int) -> Tensor:
    return torch.stack([top_eigenpairs(f, w, 1, iters=40, seed=seed).values[0] for w in W])


def spearman(a: Tensor, b: Tensor) -> float:
    """Spearman's rank correlation of a and b, (S,) each; ties share their mean rank."""
    return float(torch.corrcoef(torch.stack([_ranks(a), _ranks(b)]))[0, 1])


def partial_spearman(a: Tensor, b: Tensor, given: Tensor) -> float:
    """That of a and b once what both share with `given` is taken out: (r_ab - r_ag r_bg) / sqrt((1 - r_ag^2)(1 - r_bg^2))."""
    ab, ag, bg = spearman(a, b), spearman(a, given), spearman(b, given)
    return (ab - ag * bg) / math.sqrt(max((1 - ag**2) * (1 - bg**2), 1e-12))


def _ranks(x: Tensor) -> Tensor:
    x = x.double()
    return (x[:, None] > x).double().sum(1) + 0.5 * (x[:, None] == x).double().sum(1)
