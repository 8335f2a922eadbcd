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
import pandas as pd
import plotly.express as px
import torch

# %%
import flatviz as fv
from flatviz.experiments import QUANTITIES, at, read_table, run, shown, write_table
from flatviz.experiments.measures import (
    HEAD_STD,
    KL_WEIGHT,
    MAX_RHAT,
    MIN_ESS,
    Measurement,
    mark_of,
    reference_of,
    sample_reference,
)
from flatviz.families.members import Fitting
from flatviz.families.tour import prepare
from flatviz.storage.cache import cached

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
    measured = Measurement(net, task, seed=seed, exact=exact, n_spectra=1)
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
