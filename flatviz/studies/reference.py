"""The reference posterior of the digits task, by HMC: what each method's predictions are compared with.

    exp(-N L(w) / KL_WEIGHT) p(w),  p the prior that `prepare` makes, with standard deviation HEAD_STD on the head

At these two HMC itself is sensible and its chains agree; `data/README.md` has its scores beside other choices.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

import flatviz
from flatviz.bridges.arviz import diagnose_chains
from flatviz.checks import check_count
from flatviz.core.data import Task
from flatviz.core.net import Net
from flatviz.core.progress import Progress
from flatviz.gaussian import Gaussian
from flatviz.metrics.exactness import agreement, total_variation
from flatviz.metrics.predict import predict
from flatviz.posteriors import METHODS
from flatviz.posteriors.hmc import fit_hmc
from flatviz.results import Draws
from flatviz.storage.cache import cached, load
from flatviz.studies import tour
from flatviz.studies.tour import prepare
from flatviz.studies.tune import with_head_std

HEAD_STD, KL_WEIGHT = tour.HEAD_STD, METHODS["vi"].plain.settings["kl_weight"]  # the posterior that tour and lab approximate
CHAINS = dict(n_draws=400, chains=8, burn_in=100)
COMMITTED = Path(flatviz.__file__).resolve().parent.parent / "data" / "hmc_digits.pt"  # there in a clone
KEPT_DRAWS = 64
SAME_PRIOR = 1e-3  # relative: pre-training on another machine differs by more


@dataclass(frozen=True, eq=False)
class Reference:
    """HMC's averaged class probabilities on the test split (N, C), its thinned draws (S, D), its scores, what says its chains agree."""

    probabilities: Tensor
    W: Tensor
    facts: dict[str, Any] = field(default_factory=dict)


def sample_reference(
    net: Net, task: Task, prior: Gaussian, *, seed: int, diagnose: bool = False, progress: Progress = False
) -> Reference:
    """Run the chains for one prepared seed; `diagnose` needs ArviZ.

    facts: NLL, accuracy and ECE of the mixture of all draws; total variation and agreement of one half of the chains to the
    other, the noise floor of a comparison with it; with `diagnose`, R-hat and effective sample sizes of weights and of the
    test probabilities of the true classes.
    """
    prior = with_head_std(net, prior, HEAD_STD)
    q = fit_hmc(net, task.train, prior, seed=seed, kl_weight=KL_WEIGHT, progress=progress, **CHAINS)
    statistics = "frozen" if net.has_batchnorm else None
    whole = predict(net, q.W, task.test, len(q.W), seed=0, batchnorm=statistics)
    halves = [whole.log_probs[part].exp().mean(0) for part in torch.arange(len(q.W)).chunk(2)]
    facts = {name: float(whole.scores[name][-1]) for name in ("nll", "accuracy", "ece")}
    facts |= {"halves_tv": total_variation(*halves), "halves_agreement": agreement(*halves)}
    if diagnose:
        true = whole.log_probs.exp().gather(-1, task.test.y.expand(len(q.W), -1)[..., None])[..., 0]
        facts |= {"weights": str(diagnose_chains(q)), "probabilities": str(diagnose_chains(Draws(true, chains=q.chains)))}
    kept = q.W[:: max(1, len(q.W) // KEPT_DRAWS)]
    return Reference(whole.log_probs.exp().mean(0), kept, facts)


def make_reference(seeds: int, *, progress: Progress = False, say: Callable[[str], None] = lambda text: None) -> dict[str, Any]:
    """What `data/hmc_digits.pt` holds: for seeds 0..seeds-1 probabilities in float16, facts, a few weights of the prior's mean
    by which it is recognised; thinned draws of seed 0."""
    check_count(seeds, "seeds")
    record: dict[str, Any] = {
        "head_std": HEAD_STD,
        "kl_weight": KL_WEIGHT,
        "settings": dict(CHAINS),
        "torch": torch.__version__,
    }
    for seed in range(seeds):
        net, task, prior = prepare("mlp", seed=seed)
        sampled = sample_reference(net, task, prior, seed=seed, diagnose=True, progress=progress)
        say(
            f"seed {seed}: "
            + ", ".join(f"{k} {v:.3g}" if isinstance(v, float) else f"{k}: {v}" for k, v in sampled.facts.items())
        )
        record[f"seed {seed}"] = {"mark": _mark(prior), "probabilities": sampled.probabilities.half(), "facts": sampled.facts}
        if seed == 0:
            record["draws of seed 0"] = sampled.W.half()
    return record


def reference_probabilities(
    net: Net, task: Task, prior: Gaussian, *, seed: int, say: Callable[[str], None] = lambda text: None
) -> Tensor:
    """HMC's averaged class probabilities (N, C) on the test split of a prepared seed.

    Read from the committed result where that is of this very prior, else computed once and kept in the cache folder.
    """
    stored = load(COMMITTED).get(f"seed {seed}") if COMMITTED.is_file() else None
    if stored is not None and _same(stored, prior, len(task.test)):
        return stored["probabilities"].double()

    def compute() -> Tensor:
        say(f"seed {seed}: HMC, which no committed result holds for this network")
        return sample_reference(net, task, prior, seed=seed).probabilities

    about = dict(seed=seed, head_std=HEAD_STD, kl_weight=KL_WEIGHT, **CHAINS)
    return cached("reference", compute, say=say, prior=_mark(prior), **about)[0].double()


def about_reference() -> str:
    """Which posterior it is, in a line."""
    return f"of exp(-N L / {KL_WEIGHT:g}) p(w) with standard deviation {HEAD_STD:g} on the head"


def _mark(prior: Gaussian) -> Tensor:
    """Eight numbers by which a prior is known again."""
    return prior.mean[:: max(1, prior.dim // 8)][:8].cpu()


def _same(stored: dict[str, Any], prior: Gaussian, n: int) -> bool:
    mark = _mark(prior)
    alike = stored["mark"].shape == mark.shape and torch.allclose(stored["mark"].to(mark), mark, rtol=SAME_PRIOR, atol=1e-6)
    return alike and len(stored["probabilities"]) == n
