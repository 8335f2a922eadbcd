# %% [markdown]
# # Experiment: when does SA-BMA help?
#
# **Question.** In which settings does SA-BMA predict better than variational inference (VI) and than SAM on the mean, if none of them
# takes more gradients than SA-BMA does?
#
# **Grid.** The setting of the published scripts on the digits, and around it one factor changed at a time: steps, width of the
# head's prior, KL weight, rank, shots, angle of the source task, kinds of shift. In each case SA-BMA and SAM have three radii and VI
# three lengths; one of each is chosen by validation NLL, averaged over the seeds of the search. Of the conv net with BatchNorm the stored
# table has the first setting and its kinds of shift.
#
# **Confirmation.** The search names the gains in which all of its seeds agree. What it chose is fitted again on fresh seeds, which
# decide. At most five claims against each baseline are tested, with Holm's correction. The intervals of the confirmation are of settings
# that are fixed. In a third part (*choice by split*), shown where it has been run, the validation split of each fresh seed chooses for
# SA-BMA, SAM and VI anew, as somebody with one split does: there the variance of the choice is part of the differences between seeds, and
# so of the intervals.

# %% tags=["parameters"]
RUN = False  # True computes everything, False reads the stored table
TABLE = "search"  # stored summary, or path of a CSV file
SAVE = ""  # path of a CSV file to write the summary to; rows of another network than MODEL are those of TABLE
MODEL = "mlp"  # or conv
SEEDS = 4  # of the search, from 0 on
FRESH = 10  # of the confirmation, from 200 on
CASES = 0  # only so many cases, from the first; 0: all
EPOCHS = 60  # of pre-training
STEPS = 600  # of a fit in the setting of the published scripts
WORKERS = 1  # more than 1: processes of a local Dask cluster
DEVICE = "cpu"

# %%
import dataclasses
import warnings

import numpy as np
import pandas as pd
import plotly.express as px
from IPython.display import display
from scipy import stats

# %%
import flatviz as fv
from flatviz.datasets.corruptions import corrupt
from flatviz.experiments import QUANTITIES, judged, paired, run, sentences
from flatviz.experiments.measures import SEVERITY, SHIFTS
from flatviz.experiments.settings import PUBLISHED
from flatviz.experiments.statistics import BETTER
from flatviz.families.choice import with_head_std
from flatviz.families.members import Fitting, unless_diverged
from flatviz.families.preparation import BATCHNORM, PLAIN
from flatviz.families.tour import RANK, prepare
from flatviz.families.tune import score_of, with_validation
from flatviz.storage.cache import committed

# %% [markdown]
# ## The grid

# %%
FIRST = "the published scripts' setting"
DEFAULT = dict(steps=STEPS, head_std=0.1, kl_weight=0.0, rank=RANK, scale=0.0, shots=10, degrees=90.0)
WORDS = dict(steps="steps", head_std="head std", kl_weight="KL weight", rank="rank", scale="SWAG scale", shots="shots",
             degrees="source turned by")  # fmt: skip
ALONE = dict(steps=(300, 1200), head_std=(0.3, 1.0), kl_weight=(0.03, 1.0), rank=(2, 20), shots=(2, 5, 50), degrees=(0.0, 45.0))
TOGETHER = [dict(head_std=std, kl_weight=kl) for kl in ALONE["kl_weight"] for std in ALONE["head_std"]]
CONV = [dict(scale=64.0), dict(shots=5), dict(kl_weight=0.03), dict(steps=1200), dict(shots=2), dict(degrees=45.0), dict(rank=20),
        dict(shots=50)]  # fmt: skip

# %%
changes = CONV if MODEL == "conv" else [{name: v} for name, values in ALONE.items() for v in values] + TOGETHER
shifted = [f"{kind.replace('_', ' ')}, severity {s}" for kind in SHIFTS for s in (1, 5)]  # the first setting, judged on these
names = [FIRST, *shifted, *(", ".join(f"{WORDS[n]} {v:g}" for n, v in change.items()) for change in changes)]
settings = dict(zip(names, [DEFAULT] + [DEFAULT] * len(shifted) + [DEFAULT | change for change in changes]))
settings = {name: settings[name] for name in names[: CASES or len(names)]}
trained = {name: FIRST if name in shifted else name for name in settings}  # a shift changes the test split alone

# %%
SCORES = ("nll", "accuracy", "ece", "shifted_nll")
RADII = {
    "mlp": dict(sabma=(0.5, 1.0, 2.0), sam_mu=(0.05, 0.1, 0.2)),
    "conv": dict(sabma=(0.05, 0.2, 0.8), sam_mu=(0.01, 0.03, 0.1)),
}


def cells_of(name, seed):
    """Candidates of one setting: three radii of SA-BMA and SAM, VI of half, one and two times their steps."""
    steps = settings[name]["steps"]
    flat = [dict(method=m, radius=r, steps=float(steps)) for m, radii in RADII[MODEL].items() for r in radii]
    vi = [dict(method="vi", radius=0.0, steps=float(round(share * steps))) for share in (0.5, 1.0, 2.0)]
    return [dict(cell, setting=name, seed=seed) for cell in flat + vi]


grid = [cell for seed in range(SEEDS) for name in dict.fromkeys(trained.values()) for cell in cells_of(name, seed)]


# %% [markdown]
# ## Fit and measure


# %%
def fit(cells, device):
    """Candidates of one seed with what they are scored on; None for a fit that diverged."""
    prepared = {}
    for name in dict.fromkeys(cell["setting"] for cell in cells):
        about, some = settings[name], [cell for cell in cells if cell["setting"] == name]
        net, task, prior = start(about, cells[0]["seed"], device, prepared)
        task, splits = splits_of(name, task, cells[0]["seed"])
        found = posteriors(net, task, prior, about["kl_weight"], some)
        for cell in some:
            yield cell, (net, found.get((cell["method"], cell["radius"], cell["steps"])), splits)


def posteriors(net, task, prior, kl_weight, cells):
    """(method, radius, steps) -> posterior, without those that diverged; the radii of a method are trained together."""
    found, fixed = {}, {**PUBLISHED, "kl_weight": kl_weight, **({"weight_decay": 0.0} if kl_weight else {})}
    for method, steps in dict.fromkeys((cell["method"], cell["steps"]) for cell in cells):
        members = [(method, cell["radius"]) for cell in cells if (cell["method"], cell["steps"]) == (method, steps)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            seed = cells[0]["seed"]
            fitting = Fitting(net, task, prior, seed, fixed | {"steps": int(steps)})
            fits = unless_diverged(fitting.members, members, [seed]) or {}
        found |= {(method, radius, steps): q for (_, radius, _), q in fits.items()}
    return found


def start(about, seed, device, prepared):
    """Network, task and prior of a setting; settings whose source and prior are the same share the pre-training in `prepared`."""
    task = fv.datasets.digits_transfer(shots=about["shots"], degrees=about["degrees"], seed=seed)
    usual = BATCHNORM if MODEL == "conv" else PLAIN
    recipe = dataclasses.replace(usual, scale=about["scale"] or usual.scale)
    key = about["degrees"], about["rank"], recipe.scale
    if key not in prepared:
        how = dict(task=task, seed=seed, epochs=EPOCHS, recipe=recipe, rank=about["rank"], device=device)
        prepared[key] = prepare(MODEL, **how)
    net, _, prior = prepared[key]
    return net, task.to(net.device), with_head_std(net, prior, about["head_std"])


def splits_of(name, task, seed):
    """The task without its validation split, and what a setting is scored on: (kind of shift, severity) or name -> data."""
    task, validation = with_validation(task, seed)
    part = task.test.subset(np.arange(0, len(task.test), 2).tolist())
    kinds = [(kind, s) for kind in SHIFTS for s in ((1, SEVERITY, 5) if name == FIRST else (SEVERITY,))]
    return task, {"validation": validation, "test": task.test} | {k: corrupt(part, *k, seed=seed) for k in kinds}


# %%
def measure(fitted, cell):
    """Validation NLL, clean scores, and NLL under each shift, on every second test image; of the first setting at each severity."""
    net, q, splits = fitted
    if q is None:
        return dict.fromkeys(["validation", *SCORES, *(shifted if cell["setting"] == FIRST else ())], np.nan)
    how = dict(seed=cell["seed"] + 1)
    scores = {split: score_of(net, fv.METHODS[cell["method"]], q, data, **how) for split, data in splits.items()}
    values = {"validation": scores.pop("validation")["nll"]} | {q: scores["test"][q] for q in ("nll", "accuracy", "ece")}
    under = {kind: found["nll"] for kind, found in scores.items() if kind != "test"}
    values["shifted_nll"] = np.mean([under[kind, SEVERITY] for kind in SHIFTS])
    return values | {f"{kind.replace('_', ' ')}, severity {s}": v for (kind, s), v in under.items() if s != SEVERITY}


# %% [markdown]
# ## Choose, then compare
#
# SA-BMA at the chosen radius less each baseline, seed by seed. *VI, chosen* is VI of the length that validation chose; VI of equal
# gradients has twice SA-BMA's steps.

# %%
BASELINES = ("VI, equal steps", "VI, equal gradients", "VI, chosen", "SAM on the mean")


def choice(table, name):
    """Method -> (radius, steps) with the least mean validation NLL over seeds; a candidate that diverged is never chosen."""
    rows = table[(table.setting == trained[name]) & (table.quantity == "validation")]
    mean = rows.groupby(["method", "radius", "steps"]).value.agg(lambda v: v.mean(skipna=False)).fillna(np.inf)
    return {m: mean[m].idxmin() for m in ("sabma", "sam_mu", "vi")}


def values_of(table, name, method, radius, steps):
    """(seeds, quantities) of one candidate; of a case of shift the NLL under that shift alone."""
    rows = table[
        (table.setting == trained[name]) & (table.method == method) & (table.radius == radius) & (table.steps == steps)
    ]
    wide = rows.pivot(index="seed", columns="quantity", values="value")
    return wide[[name]].rename(columns={name: "shifted_nll"}) if name in shifted else wide[list(SCORES)]


# %%
def members_of(name, of):
    """SA-BMA and each baseline as method, radius and steps, of what was chosen."""
    steps = float(settings[name]["steps"])
    against = [("vi", 0.0, steps), ("vi", 0.0, 2 * steps), ("vi", *of["vi"]), ("sam_mu", *of["sam_mu"])]
    return {"SA-BMA": ("sabma", *of["sabma"]), **dict(zip(BASELINES, against))}


# %%
def summarised(table, part, chosen):
    """A row a case, baseline and quantity: mean difference, half of its interval, seeds, seeds with a gain, what was chosen.

    chosen: case -> its choice; None: the validation split of each seed chooses anew, and nothing is one choice of all.
    """
    rows, by_seed = [], [rows for _, rows in table.groupby("seed")]
    for name, of in chosen.items():
        picked = dict(radius=of["sabma"][0], sam_radius=of["sam_mu"][0], vi_steps=of["vi"][1]) if of else {}
        members = [members_of(name, of or choice(one, name)) for one in by_seed]
        values = {who: pd.concat([values_of(one, name, *m[who]) for one, m in zip(by_seed, members)]) for who in members[0]}
        for baseline in BASELINES:
            mine, theirs = values["SA-BMA"], values[baseline]
            found = paired(mine, theirs, {q: BETTER[q] for q in mine}, logs=())
            about = dict(model=MODEL, part=part, setting=name, against=baseline)
            rows += [
                about | dict(quantity=r.quantity, mean=r.mean, half=r.half, n=r.n, gains=r.gains, **picked)
                for r in found.itertuples()
            ]
    return pd.DataFrame(rows)


# %%
MOST = dict(mlp=6, conv=2)  # settings named that have to be trained


def with_p(summary):
    """The summary with the sign of a gain, and p of Student's t from mean and half interval."""
    scale = stats.t.ppf(0.975, summary.n - 1)
    p = 2 * stats.t.sf((summary["mean"] / summary.half).abs() * scale, summary.n - 1)
    return summary.assign(gain=summary.quantity.map(BETTER) * summary["mean"], p=p, ratio=False)


def named(summary):
    """Gains in which all seeds agree, by their p from the smallest: at most five against a baseline, of few settings."""
    agreed, kept = with_p(summary).query("gains == n and p == p").sort_values("p", kind="stable"), []
    for row in agreed.itertuples():
        needed = {trained.get(r.setting, r.setting) for r in kept} | {trained.get(row.setting, row.setting)}
        if len(needed) <= MOST[row.model] and sum(r.against == row.against for r in kept) < 5:
            kept.append(row)
    return sorted([(r.setting, r.against, r.quantity) for r in kept], key=lambda r: BASELINES.index(r[1]))


# %% [markdown]
# ## Run, or read
#
# The results of single seeds were not stored: only differences, intervals and counts, from which the tests cannot be repeated.

# %%
stored = pd.read_csv(TABLE if TABLE.endswith(".csv") else committed(f"{TABLE}.csv"))
if RUN:
    how = dict(device=DEVICE, workers=WORKERS)
    searched = run(grid, fit, measure, name="search", **how)
    chosen = {name: choice(searched, name) for name in settings}
    first = summarised(searched, "search", chosen)
    wanted = {FIRST, *(claim[0] for claim in named(first))}
    again = [cell for seed in range(200, 200 + FRESH) for name in dict.fromkeys(trained[w] for w in settings if w in wanted)
             for cell in cells_of(name, seed)]  # fmt: skip
    fresh = run(again, fit, measure, name="search, fresh seeds", **how)
    second = summarised(fresh, "confirmation", {name: of for name, of in chosen.items() if name in wanted})
    third = summarised(fresh, "choice by split", dict.fromkeys(name for name in chosen if name in wanted))
    summary = pd.concat([stored[stored.model != MODEL], first, second, third], ignore_index=True)
else:
    summary = stored
if SAVE:
    summary.to_csv(SAVE, index=False)

# %% [markdown]
# ## Differences
#
# SA-BMA less each baseline: mean ± half of the 95 % interval (seeds with a gain). *radius*, *SAM's*, *VI's steps*: what validation
# chose.


# %%
def shown(row):
    """One difference as text; nothing is left where a fit diverged."""
    if not np.isfinite(row.half):
        return "diverged"
    factor = QUANTITIES[row.quantity].factor
    return f"{factor * row['mean']:+.3f} ± {factor * row.half:.3f} ({row.gains})"


for (model, part), rows in summary.groupby(["model", "part"], sort=False):
    for quantity in SCORES:
        some = rows[rows.quantity == quantity]
        about = some.drop_duplicates("setting").set_index("setting")[["radius", "sam_radius", "vi_steps"]]
        text = some.assign(text=some.apply(shown, axis=1)).pivot(index="setting", columns="against", values="text")
        about = about.map(lambda v: f"{v:g}" if v == v else "by split").rename(
            columns=dict(sam_radius="SAM's", vi_steps="VI's steps")
        )
        head = f"{part}, {model}, {some.n.max()} seeds: {QUANTITIES[quantity].label}"
        display(about.join(text[list(BASELINES)]).rename_axis("case").reset_index().style.hide().set_caption(head))

# %%
drawn = with_p(summary[summary.against.isin(BASELINES[2:]) & summary.quantity.isin(["nll", "shifted_nll"])])
drawn = drawn.assign(label=drawn.quantity.map(lambda q: QUANTITIES[q].label), network=drawn.model)
fig = px.scatter(drawn, x="gain", y="setting", error_x="half", color="against", symbol="part", facet_col="label", height=1100,
                 hover_data=["network", "n", "gains"], title="Gain of SA-BMA in NLL: above 0 it is better")  # fmt: skip
fig.update_xaxes(matches=None, title="gain").update_yaxes(title="", autorange="reversed").add_vline(0, line_color="#888")
fig.update_layout(legend=dict(orientation="h", y=-0.08))

# %% [markdown]
# *Figure: gain of SA-BMA in NLL and shifted NLL in each case, over the chosen VI and over SAM, with 95 % intervals: in the search
# (few seeds) and in the confirmation (fresh ones).*
#
# ## Verdicts
#
# Claims that SA-BMA is better, on fresh seeds: a claim **holds** or **does not hold** where its *p*, corrected by Holm for the claims
# of its network, is under 0.05; else it is **inconclusive**.

# %%
for model, rows in summary.groupby("model", sort=False):
    claims = named(rows[rows.part == "search"])
    for part, confirmed in with_p(rows[rows.part != "search"]).groupby("part", sort=False):
        of = confirmed.set_index(["setting", "against", "quantity"], drop=False).loc[claims] if claims else confirmed[:0]
        of = of.assign(claim=["SA-BMA at " + s + " against " + a for s, a in zip(of.setting, of.against)])
        verdicts = judged(of.reset_index(drop=True), family=f"search, {model}")
        print(f"{part}: claims that SA-BMA is better, {model}, corrected by Holm for these {len(claims)}:",
              *sentences(verdicts), sep="\n  ")  # fmt: skip
        print(f"{part}: all differences of the confirmed cases, 95 % intervals, not corrected:")
        for baseline in BASELINES:
            known = confirmed[(confirmed.against == baseline) & confirmed.half.notna()]
            better, worse = int((known.gain > known.half).sum()), int((-known.gain > known.half).sum())
            left = len(known) - better - worse
            print(f"  against {baseline}: better in {better}, worse in {worse}, open in {left} of {len(known)}")

# %% [markdown]
# ## What would change our mind
#
# The search names gains only, so its claims look better than all differences together: read the counts above beside them. Cases are
# single changes around one setting of one small task; a case in which SA-BMA has a lower NLL than SAM on another data set would be new.
