# %% [markdown]
# # Experiment: the tempered posterior of the digits task, by HMC
#
# **Question.** How far are approximate posteriors from the one that they approximate? For this, draws of it are needed, from chains that
# agree. The posterior is the one that page and lab approximate: exp(−N L(w) / 0.03) p(w) over the 906 treated weights, with standard
# deviation 0.3 of the prior on the head.
#
# **Grid.** One run of Hamiltonian Monte Carlo for each of seeds 0 to 9: 8 chains of 400 draws after 120 trajectories of burn-in, in which
# a metric is learnt.
#
# **Rule.** The chains of a seed agree where, for every treated weight and the probability of every test image's class, R-hat is below
# 1.03 and the bulk effective sample size is at least 400, which is 50 a chain (Vehtari et al. 2021).

# %% tags=["parameters"]
RUN = False  # True samples (needs ArviZ), False reads the stored table
TABLE = "reference"  # stored table, or path of a CSV file
SAVE = ""  # path of a CSV file to write the table to
SAVE_DRAWS = ""  # path to write probabilities and draws to: data/hmc_digits.safetensors is one
SEEDS = 10
CONTROLS = 10  # seeds on which the controls of MMD² are measured
N_DRAWS = 3200  # of all chains
CHAINS = 8
BURN_IN = 120
EPOCHS = 60  # of pre-training
WORKERS = 1  # more than 1: so many processes
DEVICE = "cpu"

# %%
import math
from functools import partial
from typing import NamedTuple

import pandas as pd
import plotly.express as px
import torch

# %%
import flatviz as fv
from flatviz.bridges.arviz import diagnose_chains
from flatviz.datasets.corruptions import corrupt
from flatviz.experiments import QUANTITIES, at, read_table, run, shown, write_table
from flatviz.families.members import Fitting, predicted, with_head_std
from flatviz.families.tour import HEAD_STD, prepare
from flatviz.metrics.averaging import averaged
from flatviz.storage.cache import cached, committed_path

# %% [markdown]
# ## The reference posterior
#
# exp(−N L(w) / T) p(w), p the prior of `prepare`, with standard deviation `HEAD_STD` on the head. T = `KL_WEIGHT` is a value at which
# HMC itself predicts well; `data/README.md` has its scores beside other choices. Other studies read these definitions too.

# %%
KL_WEIGHT = fv.METHODS["vi"].plain.settings["kl_weight"]
# One gain of seed 4 mixes slowly: with 400 draws its R-hat was 1.16
CHAINS_OF = dict(n_draws=3200, chains=8, burn_in=120)
MAX_RHAT = 1.03
MIN_ESS = 400  # 50 a chain (Vehtari et al. 2021)
COMMITTED = committed_path("hmc_digits.safetensors")
KEPT_DRAWS = 64  # draws stored of each seed, the same number of each chain
SAME_PRIOR = 1e-3  # relative: pre-training on another machine differs by more


class Reference(NamedTuple):
    """HMC's averaged test probabilities (N, C), thinned draws (S, D), facts on its chains."""

    probabilities: torch.Tensor
    W: torch.Tensor
    facts: dict = {}


# %%
def sample_reference(
    net,
    task,
    prior,
    *,
    seed,
    kl_weight=KL_WEIGHT,
    chains=CHAINS_OF,
    diagnose=False,
    progress=False,
):
    """Run the chains for one prepared seed.

    Args:
        net: As `prepare` returns it.
        task: As `prepare` returns it.
        prior: As `prepare` returns it.
        seed: Fixes the chains.
        kl_weight: The temperature T.
        chains: n_draws, chains and burn_in of `HMC`.
        diagnose: Whether to add R-hat and effective sample sizes; needs ArviZ.
        progress: As `HMC` takes it.

    Returns:
        Its facts are NLL, accuracy and ECE of the mixture of all draws; total variation, agreement
        and 100 MMD^2 between two halves of the chains, the noise floor of a comparison with it;
        with `diagnose`, R-hat and effective sample sizes of weights and of the test probabilities
        of the true classes as text, with the largest `rhat` and the smallest bulk `ess` of both.
    """
    prior = with_head_std(net, prior, HEAD_STD)
    hmc = fv.HMC(prior, kl_weight=kl_weight, **chains)
    q = fv.fit(net, task.train, hmc, seed=seed, progress=progress)
    outputs = predicted(net, q.W, task.test.x, len(q.W), seed=0).outputs
    whole, *halves = (
        averaged(fv.Prediction(part), task.test.y) for part in (outputs, *outputs.chunk(2))
    )
    scores = ("nll", "accuracy", "ece")
    facts = {name: float(whole.scores[name]) for name in scores}
    facts |= {
        "halves_tv": fv.metrics.total_variation(*halves),
        "halves_agreement": fv.metrics.agreement(*halves),
    }
    if diagnose:
        y = task.test.y.expand(len(q.W), -1)
        true = outputs.softmax(-1).gather(-1, y[..., None])[..., 0]
        diagnoses = {
            "weights": diagnose_chains(q),
            "probabilities": diagnose_chains(fv.Draws(true, chains=q.chains)),
        }
        facts |= {name: str(diagnosis) for name, diagnosis in diagnoses.items()}
        facts["rhat"] = max(float(diagnosis.rhat.max()) for diagnosis in diagnoses.values())
        facts["ess"] = min(float(diagnosis.bulk.min()) for diagnosis in diagnoses.values())
    thin = math.ceil(len(q.W) / KEPT_DRAWS)
    kept = q.by_chain[:, ::thin].flatten(0, 1)
    facts["halves_mmd"] = _mmd(*kept.chunk(2))
    return Reference(whole.probs[0], kept, facts)


def _mmd(target, W):
    return 100 * float(fv.symmetry.mmd(target, {"q": W.to(target)}, permutations=0)["q"].value[0])


# %%
def reference_of(
    net,
    task,
    prior,
    *,
    seed,
    kl_weight=KL_WEIGHT,
    say=lambda text: None,
):
    """Return HMC's test probabilities and draws for a prepared seed, in float64.

    They are read from the committed result where that has this prior and temperature; otherwise
    they are computed once and cached.
    """
    stored = (
        fv.load(COMMITTED).get(f"seed {seed}")
        if COMMITTED.is_file() and kl_weight == KL_WEIGHT
        else None
    )

    def compute():
        say(f"seed {seed}: HMC, which no committed result holds for this network")
        sampled = sample_reference(
            net, task, prior, seed=seed, kl_weight=kl_weight, chains=CHAINS_OF
        )
        return {"probabilities": sampled.probabilities, "draws": sampled.W, "facts": sampled.facts}

    if stored is None or not _same(stored, prior, len(task.test)):
        about = dict(seed=seed, head_std=HEAD_STD, kl_weight=kl_weight, **CHAINS_OF)
        stored = cached("reference", compute, say=say, prior=mark_of(prior), **about)[0]
    return Reference(stored["probabilities"].double(), stored["draws"].double(), stored["facts"])


def mark_of(prior):
    """Compute eight numbers that identify a prior."""
    return prior.mean[:: max(1, prior.dim // 8)][:8].cpu()


def _same(stored, prior, n):
    mark = mark_of(prior)
    sizes = stored["mark"].shape == mark.shape and len(stored["probabilities"]) == n
    return sizes and torch.allclose(stored["mark"].to(mark), mark, rtol=SAME_PRIOR, atol=1e-6)


# %%
def weights_mmd(q, reference, *, seed):
    """Compute 100 MMD^2 between draws of `q` and HMC's draws of the treated weights.

    Its expectation is 0 where both come from one distribution, and an estimate may be slightly
    negative.  A single weight vector counts as a point mass.  Kernels and bandwidths are those of
    `flatviz.symmetry.mmd`.
    """
    n = (
        len(reference.W)
        if not isinstance(q, fv.Draws) or len(q.W) == 1
        else min(len(reference.W), len(q.W))
    )
    return _mmd(reference.W, q.sample(n, seed=seed))


# %%
SHIFTS = ("gaussian_noise", "translate", "rotate", "contrast", "gaussian_blur")
SEVERITY = 3
SCORED = ("nll", "accuracy", "ece")


def measured_of(net, task, q, *, seed, exact=None, n_draws=30, n_spectra=5):
    """Measure a posterior on one network and task, as {quantity: value}.

    Quantities: lambda1, the mean over `n_spectra` draws of the largest eigenvalue of the training
    loss's Hessian over the treated weights; train, the mean training loss of those draws; nll,
    accuracy and ece on the test split with `n_draws` draws; shifted_nll, shifted_accuracy and
    shifted_ece, means over `SHIFTS` at severity 3, where inputs are images; agreement, tv and mmd
    to the reference posterior `exact`, where there is one.
    """

    def predictions(data):
        return averaged(predicted(net, q, data.x, n_draws, seed=seed + 1), data.y)

    f = fv.nll(net, task.train)
    W = q.sample(n_spectra, seed=seed + 1)
    sharp = [fv.top_eigenpairs(f, w, 1, iters=40, seed=seed).values[0] for w in W]
    values = {"lambda1": torch.stack(sharp).mean(), "train": f.many(W).mean()}
    clean = predictions(task.test)
    values |= {name: clean.scores[name][-1] for name in SCORED}
    if len(task.input_shape) == 3:
        moved = [corrupt(task.test, kind, SEVERITY, seed=seed) for kind in SHIFTS]
        shifted = [predictions(data) for data in moved]
        for name in SCORED:
            each = [p.scores[name][-1] for p in shifted]
            values[f"shifted_{name}"] = torch.stack(each).mean()
    if exact is not None:
        p = exact.probabilities
        values |= {
            "agreement": fv.metrics.agreement(clean, p),
            "tv": fv.metrics.total_variation(clean, p),
            "mmd": weights_mmd(q, exact, seed=seed + 1),
        }
    return {name: float(value) for name, value in values.items()}


# %% [markdown]
# ## Sample and measure
#
# Of each seed the averaged class probabilities on the test images and 64 thinned draws are kept, in float16. *halves*: one half of the
# chains against the other. No comparison with HMC is finer than that.

# %%
HOW = dict(n_draws=N_DRAWS, chains=CHAINS, burn_in=BURN_IN)
MEASURED = ("nll", "accuracy", "ece", "halves_tv", "halves_agreement", "halves_mmd", "rhat", "ess")
grid = [dict(method="hmc", seed=seed) for seed in range(SEEDS)]


# %%
def sample(seed, device="cpu"):
    """What is stored of a seed; `mark` is what a prior is recognised by."""
    net, task, prior = prepare(
        "mlp", task=fv.datasets.digits_transfer(seed=seed), seed=seed, epochs=EPOCHS, device=device
    )
    found = sample_reference(net, task, prior, seed=seed, chains=HOW, diagnose=True)
    halves = {"probabilities": found.probabilities.half(), "draws": found.W.half()}
    return {"mark": mark_of(prior), **halves, "facts": found.facts}


def sampled(seed, device="cpu"):
    """The same, kept in the cache."""
    return cached("hmc", lambda: sample(seed, device), seed=seed, epochs=EPOCHS, **HOW)[0]


# %%
def fit(cells, device):
    yield from ((cell, sampled(cell["seed"], device)) for cell in cells)


def measure(fitted, cell):
    return {name: fitted["facts"][name] for name in MEASURED}


# %% [markdown]
# **Controls** of the distances that other experiments measure: VI; the prior itself, which knows no target digit; and a Gaussian
# with the mean and the standard deviation that HMC's draws have in each weight.

# %%
COMPARED = {
    "vi": "VI",
    "prior": "the prior itself",
    "moments": "Gaussian with HMC's means and standard deviations",
}
SHOWN = ("mmd", "tv", "nll", "accuracy")
controls = [
    dict(setting="control", method=method, seed=seed)
    for seed in range(CONTROLS)
    for method in COMPARED
]


def fit_controls(cells, device):
    seed = cells[0]["seed"]
    net, task, prior = prepare(
        "mlp", task=fv.datasets.digits_transfer(seed=seed), seed=seed, epochs=EPOCHS, device=device
    )
    exact = reference_of(net, task, prior, seed=seed, say=print)
    W = exact.W.to(net.w)
    found = {
        "vi": Fitting(net, task, prior, seed=seed).member("vi"),
        "prior": prior,
        "moments": fv.Gaussian(W.mean(0), W.std(0).log()),
    }
    measured = partial(measured_of, net, task, seed=seed, exact=exact, n_spectra=1)
    yield from ((cell, (measured, found[cell["method"]])) for cell in cells)


def measure_controls(fitted, cell):
    values = fitted[0](fitted[1])
    return {name: values[name] for name in SHOWN}


# %% [markdown]
# ## Run, or read

# %%
if RUN:
    parts = [run(grid, fit, measure, name="reference", device=DEVICE, workers=WORKERS)]
    if CONTROLS:
        parts += [
            run(
                controls,
                fit_controls,
                measure_controls,
                name="controls",
                device=DEVICE,
                workers=WORKERS,
            )
        ]
    table = pd.concat(parts, ignore_index=True)
else:
    table = read_table(TABLE)
if SAVE:
    write_table(table, SAVE)
if SAVE_DRAWS:
    about = {
        "head_std": HEAD_STD,
        "kl_weight": KL_WEIGHT,
        "settings": HOW,
        "torch": torch.__version__,
    }
    fv.save(about | {f"seed {seed}": sampled(seed) for seed in range(SEEDS)}, SAVE_DRAWS)

# %%
facts = table[table.method == "hmc"].pivot(index="seed", columns="quantity", values="value")[
    list(MEASURED)
]
facts.style.format(precision=4)

# %%
values = table[table.quantity.isin(["rhat", "ess", "halves_tv"])]
fig = px.scatter(
    values,
    x="seed",
    y="value",
    facet_col="quantity",
    facet_col_spacing=0.1,
    title="R-hat, least effective sample size and noise floor",
)
fig.update_yaxes(matches=None, showticklabels=True)

# %% [markdown]
# *Figure: of each seed the largest R-hat, the least bulk effective sample size, and the total variation between the predictions of
# one half of the chains and the other.*
#
# ## Verdict

# %% tags=["finding"]
rhat, ess = facts.rhat.max(), facts.ess.min()
word = "agree" if rhat < MAX_RHAT and ess >= MIN_ESS else "do not agree"
worst = f"R-hat at most {rhat:.3f}, bulk ESS at least {ess:.0f}"
print(
    f"chains of {len(facts)} seeds {word}: {worst}, of every weight and test probability (rule: {MAX_RHAT:g}, {MIN_ESS})"
)

# %% [markdown]
# ## What MMD² measures
#
# Means over seeds ± half of the 95 % interval. *TV*: total variation between predictions and HMC's. A distance between posteriors
# that is worth a verdict would put the prior far away, and would order the rows as TV does.

# %%
compared = {m: at(table, setting="control", method=m) for m in COMPARED if m in set(table.method)}
words = lambda v: {QUANTITIES[q].label: shown(v[q], factor=QUANTITIES[q].factor) for q in SHOWN}
pd.DataFrame([{"posterior": COMPARED[m]} | words(v) for m, v in compared.items()]).style.hide()

# %%
nearest = {q: sorted(compared, key=lambda m: compared[m][q].mean()) for q in ("mmd", "tv")}
for q, order in nearest.items():
    print(f"by {QUANTITIES[q].label}, nearest first: {', '.join(COMPARED[m] for m in order)}")
if compared:
    print(
        f"the two orders {'agree' if nearest['mmd'] == nearest['tv'] else 'differ'}; no verdict on a method is by MMD²"
    )

# %% [markdown]
# ## What would change our mind
#
# Chains that agree can all miss a part of the posterior. Chains from other networks' weights, or of another sampler, that settle at
# another total variation from these would show it.
