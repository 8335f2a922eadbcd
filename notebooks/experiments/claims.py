# %% [markdown]
# # What really holds
#
# **Question.** Papers on flat posteriors and on the symmetries of networks make claims. Which of them hold at our scale?
#
# Every row below is a claim, where we tested it, our figure, and a verdict made from the figure by a rule. A comparison is made seed
# by seed; it **holds** or **does not hold** where its *p*, corrected by Holm for all claims judged together, is below 0.05, and is
# **inconclusive** otherwise: an effect, if there is one, is smaller than these seeds can show. In the last table the rules are those of
# the experiment on [symmetry](symmetry.ipynb).

# %% tags=["parameters"]
RUN = False  # True judges the claims by the stored tables of the experiments, False reads the stored verdicts
TABLE = "claims.csv"  # stored verdicts
SAVE = ""  # path of a CSV file to write them to

# %%
import runpy
from pathlib import Path

import numpy as np
import pandas as pd
import plotly.express as px
from IPython.display import Markdown, display
from IPython.utils.io import capture_output
from scipy.stats import fisher_exact

# %%
import flatviz as fv
from flatviz.experiments import at, equivalent, holm, judged, paired, read_table
from flatviz.experiments.statistics import HOLDS, LEVEL, NOT, OPEN, amount, mean_zero
from flatviz.storage.committed import committed

# %%
DIGITS, NEAR, FLAT = "digits, 10 shots a class, MLP", "digits-near, 2 shots a class, MLP", "SA-BMA"
NOTHING = float("nan")


def claim(name, text, where, figure, verdict, gain=NOTHING, half=NOTHING, corrected=NOTHING):
    """A row; gain and half are of the difference, with the sign of a gain."""
    return dict(name=name, claim=text, setting=where, figure=figure, verdict=verdict, gain=gain, half=half, corrected=corrected)


def numbers(row):
    return dict(verdict=row.verdict, gain=row.gain, half=row.half, corrected=row.corrected)


def better(row):
    return f"{amount(row)}, better in {row.gains} of {row.n} seeds"


# %%
def notebook(name):
    """What the notebook of an experiment makes of its stored table."""
    root = Path(fv.__file__).resolve().parent
    folder = next(f for f in (root.parent / "notebooks", root / "_notebooks") if f.is_dir())
    with capture_output():
        return runpy.run_path(str(folder / "experiments" / f"{name}.py"))


# %%
def of_lambda1(table, pairs, sign):
    """A verdict on each pair of methods: λ1 of the first higher (sign 1) or lower (-1) than that of the second."""
    of = {m: at(table, method=m)[["lambda1"]] for m in table.method.unique()}
    return judged(pd.concat([paired(of[a], of[b], {"lambda1": sign}) for a, b in pairs]), family="λ1").verdict.tolist()


# %%
def t1(table):
    plain = [m for m in table.method.unique() if m not in ("sgd", "hmc") and fv.METHODS[m].gradients == 1]
    words = of_lambda1(table, [(m, "sgd") for m in plain], 1)
    higher, lower = words.count(HOLDS), words.count(NOT)
    verdict = HOLDS if 2 * higher > len(plain) else NOT if 2 * lower > len(plain) else OPEN
    text = "most approximate inference that does not seek flatness ends in sharper weights than SGD"
    return claim(f"{FLAT} T1", text, over(table), f"λ1 higher in {higher}, lower in {lower} of {len(plain)} methods", verdict)


def over(table, task=DIGITS):
    return f"{task}, {table.seed.nunique()} seeds"


# %%
def t4(table):
    rivals = [m for m in table.method.unique() if m not in ("sabma", "authors_code", "hmc")]
    words = of_lambda1(table, [("sabma", m) for m in rivals], -1)
    above = [fv.METHODS[m].label for m, word in zip(rivals, words) if word == NOT]
    verdict = NOT if above else HOLDS if words.count(HOLDS) == len(rivals) else OPEN
    figure = f"λ1 lower than {words.count(HOLDS)} of {len(rivals)} methods'"
    figure += f", higher than that of {', '.join(above)}" if above else ""
    return claim(f"{FLAT} T4", "SA-BMA has the lowest λ1 of all methods", over(table), figure, verdict)


# %%
def t2_t3(averaging):
    rows = []
    for row in averaging["verdicts"].itertuples():
        first, last = (f"{m}, over draws: λ1 and test {s}" for m, s in (("", "NLL"), ("", "error")))
        name = "T2" if row.claim.partition(", ")[2].startswith((first[2:], last[2:])) and "equal" not in row.claim else ""
        name = "T3" if "draws less" in row.claim and "sharpest" in row.claim and "10 " not in row.claim else name
        figure = averaging["sentence"](row).removeprefix(f"{row.claim}: ").rpartition(": ")[0]
        where = f"{over(averaging['draws'])}, T 0.03"
        rows += [claim(f"{FLAT} {name}", row.claim, where, figure, **numbers(row))] if name else []
    return sorted(rows, key=lambda row: row["name"])


# %%
def t7(toy, at_radius=1.0):
    of = {s: {r: v.value for r, v in rows.groupby("radius")} for s, rows in toy.groupby("setting", sort=False)}
    ends = {s: [(int(v.sum()), len(v)) for v in (radii[0.0], radii[at_radius])] for s, radii in of.items()}
    p = holm([fisher_exact([[a, n - a], [b, m - b]])[1] for (a, n), (b, m) in ends.values()])
    rows = []
    for (setting, ((zero, n), (wide, _))), corrected in zip(ends.items(), p):
        verdict = (HOLDS if wide > zero else NOT) if corrected < 0.05 else OPEN
        text = f"SA-BMA ends in the wide one of two modes more often than VI, widths 1 : {setting.split()[-1]}"
        figure = f"{zero} of {n} runs at radius 0, {wide} of {n} at radius {at_radius:g}"
        rows.append(claim(f"{FLAT} T7", text, f"two modes of equal depth, {n} runs", figure, verdict, corrected=corrected))
    return rows


# %%
def t8(draws):
    bounds = draws[draws.quantity.str.startswith("Weyl ")]
    parts = bounds.assign(bound=bounds.quantity.str.split(r"[ ,]+").str[1], order=bounds.quantity.str.split().str[-1])
    wide = parts.pivot(index=["method", "order", "seed"], columns="bound", values="value")
    within = ((wide.lower <= wide.middle * 1.01) & (wide.middle <= wide.upper * 1.01)).sum()
    figure = f"within them in {within} of {len(wide)} ensembles of draws"
    text = "Weyl's bounds hold for λ1 of the averaged Hessian of an ensemble"
    return claim(f"{FLAT} T8", text, over(draws), figure, HOLDS if within == len(wide) else NOT)


# %%
def t5(evidence):
    rows, found, baseline = [], evidence["verdicts"], "equal gradients"
    for setting in ("T 0.03", "T 1", "near, T 0.03", "near, T 1"):
        asked = found[(found.setting == setting) & (found.baseline == baseline) & (found.method == "sabma")]
        for row in asked[asked.quantity.isin(["lambda1", "nll", "accuracy", "ece", "shifted_nll"])].itertuples():
            task = NEAR if setting.startswith("near") else DIGITS
            where = f"{over(evidence['table'], task)}, {setting.removeprefix('near, ')}, radius {row.radius:.3g}, {baseline}"
            flat = row.quantity == "lambda1"
            text = (
                "is flatter than VI: λ1"
                if flat
                else f"generalises better than VI: {evidence['NAMES'][row.quantity].removesuffix(' %')}"
            )
            line = claim(f"{FLAT} {'T4' if flat else 'T5'}", f"SA-BMA {text}", where, better(row), **numbers(row))
            rows += [line] if row.radius == 1.0 else []
    return rows


# %%
def t6(evidence, ratio=1.1, points=0.01):
    rows, table = evidence["found"], evidence["table"]
    radii = sorted({c["radius"] for c in rows if (c["setting"], c["method"]) == ("T 0.03", "sabma")})
    of = lambda method, radius: at(table, setting="T 0.03", method=method, radius=radius, steps=1.0)
    low, high = (of("sabma", r) for r in (radii[0], radii[-1]))
    sharp, right = np.log(low.lambda1 / of("vi", 0.0).lambda1), high.accuracy - of("vi", 0.0).accuracy
    first, last = mean_zero(sharp, better=-1), mean_zero(right)
    p = holm([first["p"], equivalent(first, np.log(ratio)), last["p"], equivalent(last, points)])
    falls, same = p[0] < LEVEL and first["mean"] < 0, p[1] < LEVEL
    costs, free = p[2] < LEVEL and last["mean"] < 0, p[3] < LEVEL
    verdict = NOT if falls or free else HOLDS if same and costs else OPEN
    words = ["lower" if falls else f"within {ratio - 1:.0%} of it" if same else "neither shown lower nor as high"]
    words += ["lower" if costs else f"within {100 * points:g} point of it" if free else "neither shown lower nor as high"]
    middle, least, most = np.exp([first["mean"], first["mean"] - first["half"], first["mean"] + first["half"]])
    figure = f"λ1 {middle:.2f} of VI's ({least:.2f} to {most:.2f}) at radius {radii[0]:g}, {words[0]}; "
    figure += f"accuracy {100 * last['mean']:+.2g} ± {100 * last['half']:.2g} points at {radii[-1]:g}, {words[1]}"
    text = "too small a radius brings no flatness, too large a one costs accuracy"
    return claim(f"{FLAT} T6", text, f"{over(table)}, T 0.03, equal steps", figure, verdict)


# %%
CLAIMED = {"lambda1": "is flatter than", "nll": "has a lower NLL than", "tv": "predicts more like HMC than"}


def flat_against_plain(table):
    parts = []
    for method in (m for m in table.method.unique() if f"f-{m}" in set(table.method)):
        mine, theirs, who = at(table, method=f"f-{method}"), at(table, method=method), fv.METHODS[method].label
        parts.append(paired(mine, theirs, dict.fromkeys(CLAIMED, -1)).assign(flat=fv.METHODS[f"f-{method}"].label, against=who))
    where = f"{over(table)}, equal steps: two gradients against one"
    rows = judged(pd.concat(parts), family="flat against plain").itertuples()
    text = lambda row: f"{row.flat} {CLAIMED[row.quantity]} {row.against}"
    return [claim(row.flat, text(row), where, better(row), **numbers(row)) for row in rows]


# %%
def judge():
    """Every claim, from the stored tables."""
    compare, averaging, evidence, symmetry = read_table("compare"), *map(notebook, ("averaging", "evidence", "symmetry"))
    rows = [t1(compare), *t2_t3(averaging), t4(compare), *t5(evidence), t6(evidence)]
    rows += [*t7(averaging["toy"]), t8(averaging["draws"]), *flat_against_plain(compare)]
    where = "digits, pool of perceptrons"
    trends = [claim(f"symmetry {t['trend']}", t["claim"], where, t["figures"], t["verdict"]) for t in symmetry["trends"]]
    return pd.DataFrame(rows + trends)


# %%
claims = judge() if RUN else pd.read_csv(committed(TABLE))
if SAVE:
    claims.to_csv(SAVE, index=False, float_format="%.6g")

# %% [markdown]
# ## How many hold

# %%
PAPERS = {
    "SA-BMA": "Flat Posterior Does Matter For Bayesian Model Averaging, [arXiv 2406.15664](https://arxiv.org/abs/2406.15664)",
    "F-": "Flat against plain, after Flat Seeking Bayesian Neural Networks, [arXiv 2302.02713](https://arxiv.org/abs/2302.02713)",
    "symmetry": "A Symmetry-Aware Exploration of Bayesian Neural Network Posteriors, [arXiv 2310.08287](https://arxiv.org/abs/2310.08287)",
}
parts = {title: claims[claims.name.str.startswith(source)] for source, title in PAPERS.items()}
counts = {title: rows.verdict.value_counts().reindex([HOLDS, NOT, OPEN], fill_value=0) for title, rows in parts.items()}
print(", ".join(f"{(claims.verdict == word).sum()} × {word}" for word in (HOLDS, NOT, OPEN)))

# %% [markdown]
# ## Claims with an interval
#
# A dot is the mean difference with the sign that the claim gives it, its bar the 95 % interval, both in units of half of that interval,
# so that claims on different quantities share one axis. Right of the line speaks for the claim. A bar can clear the line and the claim
# stay inconclusive: the verdict is corrected for the number of claims.

# %%
measured = claims[claims.half.notna()]
temperature = measured.setting.str.extract("(, T 1|, T 0.03)")[0].fillna("")
task = measured.setting.str.startswith("digits-near").map({True: ", digits-near", False: ""})
label = measured.claim.str.removesuffix(" (Spearman)") + task
label += temperature.where(measured.claim.str.startswith("SA-BMA") & measured.claim.str.contains("than VI: "), "")
drawn = measured.assign(claim=label, effect=measured.gain / measured.half, bar=1.0)
COLORS = {HOLDS: "#009E73", NOT: "#D55E00", OPEN: "#6b7780"}
size = dict(height=220 + 36 * len(drawn), labels=dict(effect="difference / half of its 95 % interval", claim="", verdict=""),
            title="Claims with an interval", template="plotly_white")  # fmt: skip
fig = px.scatter(
    drawn, x="effect", y="claim", error_x="bar", color="verdict", symbol="verdict", color_discrete_map=COLORS, **size
)
fig.add_vline(x=0, line_width=1).update_yaxes(range=[len(drawn) - 0.5, -1], categoryarray=drawn.claim, dtick=1)
fig.update_yaxes(ticklabelposition="inside top", ticklabelshift=6, tickfont_size=11, showgrid=False).update_xaxes(
    automargin=True
)
fig.update_layout(legend=dict(orientation="h", y=1, yanchor="bottom"), margin=dict(l=8, r=8, t=110))

# %% [markdown]
# *Figure: a row a claim, coloured by its verdict.*

# %% [markdown]
# ## The rules
#
# T1 and T4 compare λ1 of all methods; T2 and T3 single draws and sets of draws, with the verdicts of [averaging](averaging.ipynb),
# corrected for all of its claims; T5, and T4 against VI alone, SA-BMA with VI, with the verdicts of the [evidence](evidence.ipynb),
# corrected for the claims of one setting and baseline. *digits-near* is the task where transfer helps, *digits* the one where it harms.
# *T* is the temperature, the weight of the KL term. Flat-seeking versions (F-), whose gradients are taken at SAM's worst point, are
# compared with the plain method of as many steps. A claim on several comparisons follows from the verdicts on each:
#
# - **T1** holds where λ1 is higher than SGD's in more than half of the methods that do not seek flatness, and does not hold where it
#   is lower in more than half.
# - **T4** holds where SA-BMA's λ1 is below that of every other method, and does not hold where it is above that of one.
# - **T6** claims no effect on λ1 at the smallest radius, and a loss of accuracy at the largest. No effect is shown by two one-sided
#   tests: λ1 within 10 % of VI's. T6 holds where both parts are significant, does not hold where λ1 falls at the smallest radius or
#   accuracy is shown to lose less than one point at the largest (two one-sided tests again), and else is inconclusive. All corrected
#   by Holm.
# - **T7** compares counts of runs by Fisher's exact test. **T8** holds where Weyl's bounds hold for every set of draws.

# %% [markdown]
# ## All claims

# %%
COLUMNS = ["name", "claim", "setting", "figure", "corrected", "verdict"]
HEADS = ["source", "claim", "our setting", "figure", "corrected p", "verdict"]
for title, rows in parts.items():
    display(Markdown(f"### {title}\n\n" + ", ".join(f"{n} × {word}" for word, n in counts[title].items())))
    texts = rows.assign(corrected=[f"{p:.3g}" if p == p else "" for p in rows.corrected])
    display(texts[COLUMNS].set_axis(HEADS, axis=1).style.hide())

# %% [markdown]
# ## What would change our mind
#
# Each experiment says it at its end: [evidence](evidence.ipynb), [averaging](averaging.ipynb), [symmetry](symmetry.ipynb),
# [compare](compare.ipynb). No fit has quite arrived at its posterior ([gaps](gaps.ipynb)). All were run at the scale of digits and small
# networks on a CPU. A claim of a paper that is inconclusive or does not hold here may hold for its networks.
