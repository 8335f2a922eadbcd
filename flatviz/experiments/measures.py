"""Objectives of the experiments, the reference posterior by HMC, and the measures of a posterior.

    exp(-N L(w) / T) p(w),  p the prior of `prepare`, with standard deviation HEAD_STD on the head

T = KL_WEIGHT is a value at which HMC itself predicts well; `data/README.md` has its scores beside
other choices.  Chains count as converged where R-hat of every treated weight and of every test
probability is below `MAX_RHAT`, and each is worth `MIN_ESS` independent draws.  Measured are
sharpness, scores, scores under shift, and the distance from HMC.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, NamedTuple

import torch
from torch import Tensor

from flatviz.bridges.arviz import diagnose_chains
from flatviz.core import Data, Net, Progress, Task
from flatviz.datasets.corruptions import corrupt
from flatviz.families.members import predicted, with_head_std
from flatviz.families.tour import HEAD_STD
from flatviz.gaussian import Gaussian
from flatviz.landscape.spectrum import top_eigenpairs
from flatviz.metrics.averaging import averaged
from flatviz.metrics.uncertainty import agreement, total_variation
from flatviz.objectives.network import nll
from flatviz.posteriors import METHODS
from flatviz.posteriors.hmc import fit_hmc
from flatviz.results import Draws, Posterior, Prediction
from flatviz.storage.cache import cached, committed_path, load
from flatviz.symmetry.discrepancy import mmd


class Setting(NamedTuple):
    """Temperature and prior shared by methods.

    name, more: short label and its rest; head_std: of the prior on the head; fit: settings of each
        fit.
    """

    name: str
    more: str
    head_std: float
    fit: Mapping[str, float]
    task: str = "digits"

    @property
    def label(self) -> str:
        """The complete label."""
        return self.name + self.more


# Settings of the published scripts, with decay on the mean only
PUBLISHED = dict(kl_weight=0.0, start_scale=1.0, weight_decay=5e-4)
# The default of page and lab, tempered
TEMPERED = {name: METHODS["vi"].plain.settings[name] for name in PUBLISHED}
KL_WEIGHT = TEMPERED["kl_weight"]

_SCRIPTS = ", weight decay 5e-4 on the mean: the published scripts"
SETTINGS = {"no KL": Setting("digits, no KL term", _SCRIPTS, 0.1, PUBLISHED)}
for _task, _name in (("digits", "T"), ("digits-near", "near, T")):
    for _t in (KL_WEIGHT, 1.0):
        _about = (
            f"{_task}, T = {_t:g}",
            f" (the KL weight), standard deviation {HEAD_STD:g} on the head",
        )
        SETTINGS[f"{_name} {_t:g}"] = Setting(
            *_about, HEAD_STD, TEMPERED | {"kl_weight": _t}, _task
        )


# One gain of seed 4 mixes slowly: with 400 draws its R-hat was 1.16
CHAINS = dict(n_draws=3200, chains=8, burn_in=120)
MAX_RHAT = 1.03
MIN_ESS = 400  # 50 a chain (Vehtari et al. 2021)
COMMITTED = committed_path("hmc_digits.safetensors")
KEPT_DRAWS = 64  # draws stored of each seed, the same number of each chain
SAME_PRIOR = 1e-3  # relative: pre-training on another machine differs by more


@dataclass(frozen=True, eq=False)
class Reference:
    """HMC's averaged test probabilities (N, C), thinned draws (S, D), facts on its chains."""

    probabilities: Tensor
    W: Tensor
    facts: dict[str, object] = field(default_factory=dict)


def sample_reference(
    net: Net,
    task: Task,
    prior: Gaussian,
    *,
    seed: int,
    kl_weight: float = KL_WEIGHT,
    chains: Mapping[str, Any] = CHAINS,
    diagnose: bool = False,
    progress: Progress = False,
) -> Reference:
    """Run the chains for one prepared seed.

    Args:
        net: As `prepare` returns it.
        task: As `prepare` returns it.
        prior: As `prepare` returns it.
        seed: Fixes the chains.
        kl_weight: The temperature T.
        chains: n_draws, chains and burn_in of `fit_hmc`.
        diagnose: Whether to add R-hat and effective sample sizes; needs ArviZ.
        progress: As `fit_hmc` takes it.

    Returns:
        Its facts are NLL, accuracy and ECE of the mixture of all draws; total variation, agreement
        and 100 MMD^2 between two halves of the chains, the noise floor of a comparison with it;
        with `diagnose`, R-hat and effective sample sizes of weights and of the test probabilities
        of the true classes as text, with the largest `rhat` and the smallest bulk `ess` of both.
    """
    prior = with_head_std(net, prior, HEAD_STD)
    q = fit_hmc(net, task.train, prior, seed=seed, kl_weight=kl_weight, progress=progress, **chains)
    outputs = predicted(net, q.W, task.test.x, len(q.W), seed=0).outputs
    whole, *halves = (
        averaged(Prediction(part), task.test.y) for part in (outputs, *outputs.chunk(2))
    )
    scores = ("nll", "accuracy", "ece")
    facts: dict[str, Any] = {name: float(whole.scores[name]) for name in scores}
    facts |= {"halves_tv": total_variation(*halves), "halves_agreement": agreement(*halves)}
    if diagnose:
        y = task.test.y.expand(len(q.W), -1)
        true = outputs.softmax(-1).gather(-1, y[..., None])[..., 0]
        diagnoses = {
            "weights": diagnose_chains(q),
            "probabilities": diagnose_chains(Draws(true, chains=q.chains)),
        }
        facts |= {name: str(diagnosis) for name, diagnosis in diagnoses.items()}
        facts["rhat"] = max(float(diagnosis.rhat.max()) for diagnosis in diagnoses.values())
        facts["ess"] = min(float(diagnosis.bulk.min()) for diagnosis in diagnoses.values())
    thin = math.ceil(len(q.W) / KEPT_DRAWS)
    kept = q.by_chain[:, ::thin].flatten(0, 1)
    facts["halves_mmd"] = _mmd(*kept.chunk(2))
    return Reference(whole.probs[0], kept, facts)


def reference_of(
    net: Net,
    task: Task,
    prior: Gaussian,
    *,
    seed: int,
    kl_weight: float = KL_WEIGHT,
    say: Callable = lambda text: None,
) -> Reference:
    """Return HMC's test probabilities and draws for a prepared seed, in float64.

    They are read from the committed result where that has this prior and temperature; otherwise
    they are computed once and cached.
    """
    stored = (
        load(COMMITTED).get(f"seed {seed}")
        if COMMITTED.is_file() and kl_weight == KL_WEIGHT
        else None
    )

    def compute() -> dict[str, Any]:
        say(f"seed {seed}: HMC, which no committed result holds for this network")
        sampled = sample_reference(net, task, prior, seed=seed, kl_weight=kl_weight, chains=CHAINS)
        return {"probabilities": sampled.probabilities, "draws": sampled.W, "facts": sampled.facts}

    if stored is None or not _same(stored, prior, len(task.test)):
        about: dict[str, Any] = dict(seed=seed, head_std=HEAD_STD, kl_weight=kl_weight, **CHAINS)
        stored = cached("reference", compute, say=say, prior=mark_of(prior), **about)[0]
    return Reference(stored["probabilities"].double(), stored["draws"].double(), stored["facts"])


def weights_mmd(q: Posterior, reference: Reference, *, seed: int) -> float:
    """Compute 100 MMD^2 between draws of `q` and HMC's draws of the treated weights.

    Its expectation is 0 where both come from one distribution, and an estimate may be slightly
    negative.  A single weight vector counts as a point mass.  Kernels and bandwidths are those of
    `flatviz.symmetry.mmd`.
    """
    n = (
        len(reference.W)
        if not isinstance(q, Draws) or len(q.W) == 1
        else min(len(reference.W), len(q.W))
    )
    return _mmd(reference.W, q.sample(n, seed=seed))


def _mmd(target: Tensor, W: Tensor) -> float:
    return 100 * float(mmd(target, {"q": W.to(target)}, permutations=0)["q"].value[0])


def mark_of(prior: Gaussian) -> Tensor:
    """Compute eight numbers that identify a prior."""
    return prior.mean[:: max(1, prior.dim // 8)][:8].cpu()


def _same(stored: dict[str, Any], prior: Gaussian, n: int) -> bool:
    mark = mark_of(prior)
    sizes = stored["mark"].shape == mark.shape and len(stored["probabilities"]) == n
    return sizes and torch.allclose(stored["mark"].to(mark), mark, rtol=SAME_PRIOR, atol=1e-6)


SHIFTS = ("gaussian_noise", "translate", "rotate", "contrast", "gaussian_blur")
SEVERITY = 3
SCORES = ("nll", "accuracy", "ece")


@dataclass(eq=False)
class Measurement:
    """Measure a posterior on one network and task: posterior -> {quantity: value}.

    Quantities: lambda1, the mean over `n_spectra` draws of the largest eigenvalue of the training
    loss's Hessian over the treated weights; train, the mean training loss of those draws; nll,
    accuracy and ece on the test split with `n_draws` draws; shifted_nll, shifted_accuracy and
    shifted_ece, means over `SHIFTS` at severity 3, where inputs are images; agreement, tv and mmd
    to the reference posterior, where there is one.

    Args:
        net: Network; its treated weights are measured.
        task: Its training and test splits are used.
        seed: Fixes draws and shifts.
        exact: The reference posterior of this network, or None.
        n_draws: Number of draws that are averaged.
        n_spectra: Number of draws whose curvature is measured.
    """

    net: Net
    task: Task
    _: KW_ONLY
    seed: int
    exact: Reference | None = None
    n_draws: int = 30
    n_spectra: int = 5

    def __post_init__(self) -> None:
        self.f = nll(self.net, self.task.train)
        images = len(self.task.input_shape) == 3
        self.shifted = [
            corrupt(self.task.test, kind, SEVERITY, seed=self.seed)
            for kind in (SHIFTS if images else ())
        ]

    def __call__(self, q: Posterior) -> dict[str, float]:
        """Compute all quantities."""
        W = q.sample(self.n_spectra, seed=self.seed + 1)
        sharp = [top_eigenpairs(self.f, w, 1, iters=40, seed=self.seed).values[0] for w in W]
        values: dict[str, Any] = {
            "lambda1": torch.stack(sharp).mean(),
            "train": self.f.many(W).mean(),
        }
        clean = self._predict(q, self.task.test)
        values |= {name: clean.scores[name][-1] for name in SCORES}
        shifted = [self._predict(q, data) for data in self.shifted]
        values |= {
            f"shifted_{name}": torch.stack([p.scores[name][-1] for p in shifted]).mean()
            for name in SCORES
            if shifted
        }
        if self.exact is not None:
            p = self.exact.probabilities
            values |= {"agreement": agreement(clean, p), "tv": total_variation(clean, p)}
            values["mmd"] = weights_mmd(q, self.exact, seed=self.seed + 1)
        return {name: float(value) for name, value in values.items()}

    def _predict(self, q: Posterior, data: Data) -> Prediction:
        return averaged(predicted(self.net, q, data.x, self.n_draws, seed=self.seed + 1), data.y)
