"""The reference posterior of the digits task, by HMC: what each method's predictions are compared with.

    exp(-N L(w) / T) p(w),  p the prior that `prepare` makes, with standard deviation HEAD_STD on the head

At T = KL_WEIGHT HMC itself is sensible; `data/README.md` has its scores beside other choices.  Its chains are said to agree where
R-hat of every treated weight and of every test probability is below `MOST_RHAT`, and each is worth `LEAST_ESS` independent draws.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from flatviz.bridges.arviz import diagnose_chains
from flatviz.core import Net, Progress, Task
from flatviz.experiments.settings import KL_WEIGHT
from flatviz.families.choice import with_head_std
from flatviz.families.members import predicted
from flatviz.families.tour import HEAD_STD
from flatviz.gaussian import Gaussian
from flatviz.metrics.averaging import averaged
from flatviz.metrics.uncertainty import agreement, total_variation
from flatviz.posteriors.hmc import fit_hmc
from flatviz.results import Draws, Posterior, Prediction
from flatviz.storage.cache import cached, expected, load
from flatviz.symmetry.discrepancy import mmd

CHAINS = dict(n_draws=3200, chains=8, burn_in=120)  # one gain of seed 4 moves slowly: with 400 draws its R-hat was 1.16
MOST_RHAT, LEAST_ESS = 1.03, 400  # 50 a chain, Vehtari et al. 2021
COMMITTED = expected("hmc_digits.safetensors")
KEPT_DRAWS = 64  # of each seed, as many of each chain
SAME_PRIOR = 1e-3  # relative: pre-training on another machine differs by more


@dataclass(frozen=True, eq=False)
class Reference:
    """HMC's averaged class probabilities on the test split (N, C), thinned draws (S, D) chain by chain, facts on its chains."""

    probabilities: Tensor
    W: Tensor
    facts: dict[str, Any] = field(default_factory=dict)


def sample_reference(
    net: Net,
    task: Task,
    prior: Gaussian,
    *,
    seed: int,
    kl_weight: float = KL_WEIGHT,
    chains: Mapping[str, int] = CHAINS,
    diagnose: bool = False,
    progress: Progress = False,
) -> Reference:
    """Run the chains for one prepared seed.

    Args:
        net: as `prepare` returns it.
        task: as `prepare` returns it.
        prior: as `prepare` returns it.
        seed: of the chains.
        kl_weight: the temperature T.
        chains: n_draws, chains and burn_in of `fit_hmc`.
        diagnose: whether to add R-hat and effective sample sizes; needs ArviZ.
        progress: as `fit_hmc` takes it.

    Returns:
        Its facts are NLL, accuracy and ECE of the mixture of all draws; total variation, agreement and 100 MMD^2 of one half of
        the chains to the other, the noise floor of a comparison with it; with `diagnose`, R-hat and effective sample sizes of
        weights and of the test probabilities of the true classes as text, and of both the largest `rhat` and the least bulk `ess`.
    """
    prior = with_head_std(net, prior, HEAD_STD)
    q = fit_hmc(net, task.train, prior, seed=seed, kl_weight=kl_weight, progress=progress, **chains)
    outputs = predicted(net, q.W, task.test.x, len(q.W), seed=0).outputs
    whole, *halves = (averaged(Prediction(part, task.test.y)) for part in (outputs, *outputs.chunk(2)))
    facts = {name: float(whole.scores[name]) for name in ("nll", "accuracy", "ece")}
    facts |= {"halves_tv": total_variation(*halves), "halves_agreement": agreement(*halves)}
    if diagnose:
        true = outputs.softmax(-1).gather(-1, task.test.y.expand(len(q.W), -1)[..., None])[..., 0]
        diagnoses = {"weights": diagnose_chains(q), "probabilities": diagnose_chains(Draws(true, chains=q.chains))}
        facts |= {name: str(diagnosis) for name, diagnosis in diagnoses.items()}
        facts["rhat"] = max(float(diagnosis.rhat.max()) for diagnosis in diagnoses.values())
        facts["ess"] = min(float(diagnosis.bulk.min()) for diagnosis in diagnoses.values())
    of_chain = q.by_chain.shape[1]
    kept = q.by_chain[:, :: -(-of_chain * q.chains // KEPT_DRAWS)].flatten(0, 1)
    facts["halves_mmd"] = _mmd(*kept.chunk(2))
    return Reference(whole.probs[0], kept, facts)


def reference_of(
    net: Net,
    task: Task,
    prior: Gaussian,
    *,
    seed: int,
    kl_weight: float = KL_WEIGHT,
    say: Callable[[str], None] = lambda text: None,
) -> Reference:
    """HMC's class probabilities on the test split of a prepared seed, and its draws, in float64.

    Read from the committed result where that is of this very prior and temperature, else computed once and kept in the cache.
    """
    stored = load(COMMITTED).get(f"seed {seed}") if COMMITTED.is_file() and kl_weight == KL_WEIGHT else None

    def compute() -> dict[str, Any]:
        say(f"seed {seed}: HMC, which no committed result holds for this network")
        sampled = sample_reference(net, task, prior, seed=seed, kl_weight=kl_weight, chains=CHAINS)
        return {"probabilities": sampled.probabilities, "draws": sampled.W, "facts": sampled.facts}

    if stored is None or not _same(stored, prior, len(task.test)):
        about = dict(seed=seed, head_std=HEAD_STD, kl_weight=kl_weight, **CHAINS)
        stored = cached("reference", compute, say=say, prior=mark_of(prior), **about)[0]
    return Reference(stored["probabilities"].double(), stored["draws"].double(), stored["facts"])


def weights_mmd(q: Posterior, reference: Reference, *, seed: int) -> float:
    """100 MMD^2 between draws of `q` and HMC's over the treated weights; 0 is the same law, and it can be a little below.

    A point is the law that has all its mass there.  Kernels and bandwidths: `flatviz.symmetry.mmd`.
    """
    n = len(reference.W) if not isinstance(q, Draws) or len(q.W) == 1 else min(len(reference.W), len(q.W))
    return _mmd(reference.W, q.sample(n, seed=seed))


def _mmd(target: Tensor, W: Tensor) -> float:
    return 100 * float(mmd(target, {"q": W.to(target)}, permutations=0)["q"].value[0])


def mark_of(prior: Gaussian) -> Tensor:
    """Eight numbers by which a prior is known again."""
    return prior.mean[:: max(1, prior.dim // 8)][:8].cpu()


def _same(stored: dict[str, Any], prior: Gaussian, n: int) -> bool:
    mark = mark_of(prior)
    sizes = stored["mark"].shape == mark.shape and len(stored["probabilities"]) == n
    return sizes and torch.allclose(stored["mark"].to(mark), mark, rtol=SAME_PRIOR, atol=1e-6)
