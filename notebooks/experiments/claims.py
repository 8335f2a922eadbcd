# %% [markdown]
# # What really holds
#
# **Question.** Papers on flat posteriors and on the symmetries of networks make claims. Which of them hold at our scale?
#
# Five cards say it in short; *show all* has every claim with our setting, estimate and verdict.
#
# λ1 is the largest eigenvalue of the Hessian of the training loss over the treated weights (norm layers and head): low is flat. NLL is
# the test loss in nats.

# %% tags=["parameters"]
RUN = False  # True judges the claims by the stored tables of the experiments, False reads the stored verdicts
TABLE = "claims.csv"  # stored verdicts
SAVE = ""  # path of a CSV file to write them to

# %%
import math
import runpy
from pathlib import Path

import numpy as np
import pandas as pd
from IPython.display import HTML, Markdown, display
from IPython.utils.io import capture_output
from scipy.stats import fisher_exact

# %%
import flatviz as fv
from flatviz.experiments import at, equivalent, holm, judged, paired
from flatviz.experiments.statistics import HOLDS, LEVEL, MISSING, NOT, OPEN, amount, mean_zero
from flatviz.plots.theme import COLORS, figure
from flatviz.storage.cache import committed

# %%
DIGITS, NEAR, FLAT = "digits, 10 shots a class, MLP", "digits-near, 2 shots a class, MLP", "SA-BMA"
MOONS = "two moons, perceptron of 42 weights"
NOTHING = float("nan")


def claim(name, text, where, figure, verdict, gain=NOTHING, half=NOTHING, corrected=NOTHING):
    """A row; gain and half are of the difference, with the sign of a gain."""
    return dict(
        name=name,
        claim=text,
        setting=where,
        figure=figure,
        verdict=verdict,
        gain=gain,
        half=half,
        corrected=corrected,
    )


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
    return judged(
        pd.concat([paired(of[a], of[b], {"lambda1": sign}) for a, b in pairs]), family="λ1"
    ).verdict.tolist()


# %%
def t1(table):
    plain = [
        m
        for m in table.method.unique()
        if m not in ("sgd", "hmc", "emcmc") and fv.METHODS[m].gradients == 1
    ]
    words = of_lambda1(table, [(m, "sgd") for m in plain], 1)
    higher, lower = words.count(HOLDS), words.count(NOT)
    verdict = HOLDS if 2 * higher > len(plain) else NOT if 2 * lower > len(plain) else OPEN
    text = "most approximate inference that does not seek flatness ends in sharper weights than SGD"
    return claim(
        f"{FLAT} T1",
        text,
        over(table),
        f"λ1 higher in {higher}, lower in {lower} of {len(plain)} methods",
        verdict,
    )


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
    return claim(
        f"{FLAT} T4", "SA-BMA has the lowest λ1 of all methods", over(table), figure, verdict
    )


# %%
def t2_t3(averaging):
    rows = []
    for row in averaging["verdicts"].itertuples():
        first, last = (f"{m}, over draws: λ1 and test {s}" for m, s in (("", "NLL"), ("", "error")))
        name = "T2" if row.claim.partition(", ")[2].startswith((first[2:], last[2:])) else ""
        name = "T3" if "draws less" in row.claim else name
        figure = averaging["sentence"](row).removeprefix(f"{row.claim}: ").rpartition(": ")[0]
        where = f"{over(averaging['draws'])}, T 0.03"
        rows += [claim(f"{FLAT} {name}", row.claim, where, figure, **numbers(row))] if name else []
    return sorted(rows, key=lambda row: row["name"])


# %%
def t7(toy, at_radius=1.0):
    of = {
        s: {r: v.value for r, v in rows.groupby("radius")}
        for s, rows in toy.groupby("setting", sort=False)
    }
    ends = {
        s: [(int(v.sum()), len(v)) for v in (radii[0.0], radii[at_radius])]
        for s, radii in of.items()
    }
    tested = lambda a, n, b, m: fisher_exact([[a, n - a], [b, m - b]])[1]
    p = holm([tested(a, n, b, m) for (a, n), (b, m) in ends.values()])
    rows = []
    for (setting, ((zero, n), (wide, _))), corrected in zip(ends.items(), p):
        verdict = (HOLDS if wide > zero else NOT) if corrected < 0.05 else OPEN
        text = f"SA-BMA ends in the wide one of two modes more often than VI, widths 1 : {setting.split()[-1]}"
        figure = f"{zero} of {n} runs at radius 0, {wide} of {n} at radius {at_radius:g}"
        figure += (
            ": not testable, VI leaves too little room" if tested(zero, n, n, n) > LEVEL else ""
        )
        rows.append(
            claim(
                f"{FLAT} T7",
                text,
                f"two modes of equal depth, {n} runs",
                figure,
                verdict,
                corrected=corrected,
            )
        )
    return rows


# %%
def t8(draws):
    bounds = draws[draws.quantity.str.startswith("Weyl ")]
    parts = bounds.assign(
        bound=bounds.quantity.str.split(r"[ ,]+").str[1], order=bounds.quantity.str.split().str[-1]
    )
    wide = parts.pivot(index=["method", "order", "seed"], columns="bound", values="value")
    within = ((wide.lower <= wide.middle * 1.01) & (wide.middle <= wide.upper * 1.01)).sum()
    figure = f"within them in {within} of {len(wide)} ensembles of draws"
    text = "Weyl's bounds hold for λ1 of the averaged Hessian of an ensemble (a theorem: this checks the computation)"
    return claim(f"{FLAT} T8", text, over(draws), figure, HOLDS if within == len(wide) else NOT)


# %%
GENERALISES = "generalises better than VI"
AGAINST_VI = {"lambda1": "is flatter than VI: λ1", "nll": f"{GENERALISES}: NLL", "accuracy": f"{GENERALISES}: accuracy",
              "ece": "is better calibrated than VI: ECE", "shifted_nll": f"{GENERALISES}: shifted NLL"}  # fmt: skip
TASKS = {"digits-near": NEAR, "digits": DIGITS, "moons": "two moons, MLP", "moons-gap": "moons-gap, a regression, MLP",
         "cifar10": "cifar10, 10 shots a class, conv net"}  # fmt: skip


def at_equal_steps(of, row):
    """The difference at equal steps beside that at equal gradients: λ1 of VI changes with the length of its fit."""
    (steps,) = of.loc[[(row.setting, row.quantity)]].reset_index().itertuples()
    return f"; at equal steps {amount(steps)}: {steps.verdict}"


def t4_t5(frontier):
    """The claims of `frontier` on SA-BMA at radius 1 against VI, under their three controls."""
    rows = []
    for row in frontier["verdicts"].itertuples():
        if row.quantity in AGAINST_VI and "sabma-1" in row.id and row.verdict != MISSING:
            name = "T4" if row.quantity == "lambda1" else "T5"
            where = f"{TASKS[row.task]}, {row.n} seeds"
            rows.append(
                claim(f"{FLAT} {name}", row.claim, where, frontier["said"](row), **numbers(row))
            )
    return rows


# %%
def open_questions(questions):
    """Q1: all weights; Q2: from scratch; Q3: whether a larger ensemble of VI does as well; T4 and T5 on other seeds."""
    rows, table, found = [], questions["table"], questions["verdicts"]
    seeds = lambda task: over(table, NEAR if task == questions["NEAR"] else DIGITS)
    asked = {
        questions["ALL"]: ("Q1", "over all weights, "),
        questions["SCRATCH"]: ("Q2", "from scratch, "),
    }
    of = found[found.baseline == "equal steps"].set_index(["setting", "quantity"])
    of = of[of.radius == 1]
    for row in found[(found.baseline == "equal gradients") & (found.radius == 1)].itertuples():
        task, _, weights = row.setting.partition(", ")
        name, text = asked.get(weights, ("T4" if row.quantity == "lambda1" else "T5", ""))
        where, text = (
            f"{seeds(task)}, T 0.03, radius 1, equal gradients",
            f"{text}SA-BMA {AGAINST_VI[row.quantity]}",
        )
        figure = better(row) + (at_equal_steps(of, row) if row.quantity == "lambda1" else "")
        rows.append(claim(f"{FLAT} {name}", text, where, figure, **numbers(row)))
    for row in questions["larger"].query("radius > 0").itertuples():
        text = f"{row.who} has a lower NLL than {row.against}"
        where = f"{seeds(row.task)}, T 0.03, equal steps"
        rows.append(claim(f"{FLAT} Q3", text, where, better(row), **numbers(row)))
    return sorted(rows, key=lambda row: row["name"])


# %%
def t6(frontier, T, task="digits-near", radii=(0.5, 2.0), ratio=1.1, points=0.01):
    of = lambda r: frontier["differences"](
        task, dict(method="sabma", radius=r, T=T), dict(method="vi", T=T), "equal T"
    )
    low, high = map(of, radii)
    first, last = mean_zero(low.lambda1, better=-1), mean_zero(high.accuracy)
    p = holm([first["p"], equivalent(first, np.log(ratio)), last["p"], equivalent(last, points)])
    close = f"within {ratio - 1:.0%} of it", f"within {100 * points:g} point of it"
    flat, right = (
        near if same < LEVEL else "no change shown" if differs >= LEVEL else "lower" if test["mean"] < 0 else "higher"
        for near, test, differs, same in zip(close, (first, last), p[::2], p[1::2])
    )  # fmt: skip
    fails = flat in ("lower", "higher") or right in (close[1], "higher")
    verdict = NOT if fails else HOLDS if (flat, right) == (close[0], "lower") else OPEN
    middle, least, most = np.exp(
        [first["mean"], first["mean"] - first["half"], first["mean"] + first["half"]]
    )
    figure = f"λ1 {middle:.2f} of VI's ({least:.2f} to {most:.2f}) at radius {radii[0]:g}, {flat}; "
    figure += f"accuracy {100 * last['mean']:+.2g} ± {100 * last['half']:.2g} points at {radii[-1]:g}, {right}"
    text = f"radius {radii[0]:g} leaves λ1 as it is, radius {radii[-1]:g} costs accuracy"
    return claim(
        f"{FLAT} T6",
        text,
        f"{TASKS[task]}, {len(low)} seeds, T {T:g}, equal steps",
        figure,
        verdict,
    )


# %%
CLAIMED = {
    "lambda1": "is flatter than",
    "nll": "has a lower NLL than",
    "tv": "predicts more like HMC than",
}


def flat_against_plain(compare):
    rows = compare["verdicts"]
    text = lambda row: f"{row.flat} {CLAIMED[row.quantity]} {row.against}"
    return [
        claim(
            row.flat,
            text(row),
            f"{DIGITS}, {row.n} seeds, {row.baseline}",
            better(row),
            **numbers(row),
        )
        for row in rows[rows.quantity.isin(CLAIMED)].itertuples()
    ]


# %%
AGREES = {"agrees": HOLDS, "differs by more": NOT, "is inconclusive": OPEN}


def learning_coefficient(learning):
    rows, found = [], learning["claims"]
    where = lambda row: f"{MOONS}, {row.n} seeds, {row.setting}"
    for row in found[(found.quantity == "hmc") & (found.method == "sam")].itertuples():
        text = f"SAM of radius {row.radius:g} ends at a smaller λ̂ than SGD"
        rows.append(
            claim(
                "learning L1", text, where(row), better(row._replace(quantity="λ̂")), **numbers(row)
            )
        )
    for row in learning["samplers"].itertuples():
        text = f"λ̂ by SGLD of step {row.sampler.split()[-1]} is within 10 % of that by HMC"
        figure = f"λ̂ {row.mean:+.2g} ± {row.half:.2g} ({row.share:+.0f} %)"
        rows.append(
            claim(
                "learning L2", text, where(row), figure, AGREES[row.word], corrected=row.corrected
            )
        )
    return rows


# %%
def judge():
    """Every claim, from the stored tables."""
    names = "compare", "averaging", "frontier", "questions", "symmetry", "learning"
    compare, averaging, frontier, questions, symmetry, learning = map(notebook, names)
    table = compare["table"].query("steps == 1")
    rows = [t1(table), *t2_t3(averaging), t4(table), *t4_t5(frontier), *open_questions(questions)]
    rows += [t6(frontier, T) for T in (0.03, 0.3)]
    rows += [*t7(averaging["toy"]), t8(averaging["draws"]), *flat_against_plain(compare)]
    found = [
        (f"{task}, pool of perceptrons", t)
        for task, rows in symmetry["trends"].items()
        for t in rows
    ]
    trends = [
        claim(f"symmetry {t['trend']}", t["claim"], where, t["figures"], t["verdict"])
        for where, t in found
    ]
    return pd.DataFrame(rows + trends + learning_coefficient(learning))


# %%
claims = judge() if RUN else pd.read_csv(committed(TABLE))
if SAVE:
    claims.to_csv(SAVE, index=False, float_format="%.6g")

# %% [markdown]
# ## Five cards
#
# Each has a title, the answer, a table, and a picture. The table counts comparisons, after a correction for all claims made together.
# A mark says what a comparison shows **of the title**:
#
# - ● *yes*: the title holds there.
# - ◉ *yes, small*: the title holds there, and the difference is shown to be smaller than a margin set beforehand.
# - □ *same*: the difference is shown to be smaller than the margin; its sign is not shown.
# - ✕ *reverse*: the reverse of the title holds there.
# - ○ *open*: inconclusive, these seeds do not decide.
# - *Not asked*: no claim was written down before the seeds were used.
#
# Below each table stands what one comparison is, and the control that could have proved the title wrong. The answer is **yes** where
# every row, controls too, has mostly ● and no ✕; **no** where no row has a ●, and each has mostly ◉, □ or ✕; else **it depends**. A bar
# is a 95 % interval of the mean over seeds, which are compared pair by pair.


# %%
def rows_with(text, at="", setting="", names="SA-BMA T"):
    """Rows whose claim has `text` and begins with `at`, in settings with these words."""
    picked = (
        claims.name.str.startswith(names)
        & claims.claim.str.contains(text, regex=False)
        & claims.claim.str.contains(at)
    )
    return claims[picked & claims.setting.str.contains(setting, regex=False)]


# %%
YES, SMALL, SAME, REVERSE = "● yes", "◉ yes, small", "□ same", "✕ reverse"
UNDECIDED, UNASKED = "○ open", "not asked"
WHAT_IS_EQUAL = "what is held equal, and on the task"
SYMBOLS = {
    YES: "circle",
    SMALL: "circle-open-dot",
    SAME: "square-open",
    REVERSE: "x-thin-open",
    UNDECIDED: "circle-open",
}


def shown(row):
    """What one claim shows of a card's title: that the quantity is lower, or the verdict itself."""
    if row.verdict == OPEN:
        return UNDECIDED
    if " of VI within " in row.claim:
        lower = float(row.figure.split()[0]) < (1 if "λ1" in row.claim else 0)
        return SAME if row.verdict == HOLDS else YES if lower else REVERSE
    return YES if (row.verdict == HOLDS) != (" a higher " in row.claim) else REVERSE


def compared(rows):
    """One row a comparison, with what its claims show together: a difference, equivalence, or both."""
    rows = rows.assign(shown=[shown(row) for row in rows.itertuples()])
    key = [rows.setting, rows.claim.str.partition(": ")[0], rows.figure]
    words = rows.groupby(key, sort=False).shown.agg(set)
    first = rows.groupby(key, sort=False).head(1)
    joint = [
        SMALL if {YES, SAME} <= of else next(w for w in (REVERSE, YES, SAME, UNDECIDED) if w in of)
        for of in words
    ]
    return first.assign(shown=joint)


def answer(groups, on):
    """Yes, no, or it depends `on`, and a table; groups: words of a row -> its comparisons."""
    counts = pd.DataFrame({name: rows.shown.value_counts() for name, rows in groups.items()}).T
    counts = counts.reindex(columns=[*SYMBOLS, UNASKED]).fillna(0).astype(int)
    counts[UNASKED] = counts.sum(axis=1).max() - counts.sum(axis=1) if on == WHAT_IS_EQUAL else 0
    n = counts.sum(axis=1)
    against = counts[[SMALL, SAME, REVERSE]].sum(axis=1)
    yes = (2 * counts[YES] > n).all() and not counts[REVERSE].any()
    no = (2 * against > n).all() and not counts[YES].any()
    table = counts.loc[:, counts.any()].assign(all=n)
    word = "**Yes**" if yes else "**No**" if no else f"**It depends** on {on}"
    return f"{word}.\n\n{table.to_html(border=0)}"


# %%
RATIO, DIFFERENCE = r"([\d.]+)[^(]*\(([\d.]+) to ([\d.]+)\)", r"([+-][\d.e-]+) ± ([\d.e-]+)"
POINTS = r"accuracy better by ([\d.]+) ± ([\d.]+)"


def estimates(rows, number):
    """Middle and ends of the intervals in the column figure, where `number` is a pattern of a mean and its interval."""
    found = rows.figure.str.extract(number).astype(float)
    return (
        [found[i] for i in found]
        if number == RATIO
        else [found[0], found[0] - found[1], found[0] + found[1]]
    )


# %%
def card(
    claim, groups, on, each, control, drawn, unit, number=DIFFERENCE, equal=0.0, reach=math.inf
):
    """Claim, answer and control as text, and a picture of `drawn`: name of a colour -> (labels, rows); equal: where nothing differs.

    `each` says what one comparison is.

    Rows farther than `reach` from there are said in words, so that the others can be read.
    """
    far, near = [], {}
    for name, (labels, rows) in drawn.items():
        out = (estimates(rows, number)[0] - equal).abs() > reach
        near[name] = labels[~out], rows[~out]
        far += [
            f"{label} {name}: {row.figure.partition(', median')[0]}"
            for label, row in zip(labels[out], rows[out].itertuples())
        ]
    drawn, beyond = (
        near,
        f"\n\n*Not drawn*, for they are far away: {'; '.join(far)}." if far else "",
    )
    below = f"*A comparison* is {each}. *Control*: {control}{beyond}"
    display(Markdown(f"### {claim}\n\n{answer(groups, on)}\n\n{below}"))
    places = list(
        dict.fromkeys(place for labels, _ in reversed(drawn.values()) for place in labels)
    )
    fig = figure(unit, f"{claim}: {unit}", height=150 + 30 * len(places))
    for (name, (labels, rows)), color in zip(drawn.items(), COLORS[1:]):
        middle, low, high = (column * (equal or 1) for column in estimates(rows, number))
        error = dict(
            array=high - middle, arrayminus=middle - low, thickness=1.5, width=4, color=color
        )
        symbols = [SYMBOLS[word] for word in rows.shown]
        marker = dict(size=10, color=color, symbol=symbols, line=dict(color=color, width=2))
        fig.add_scatter(
            x=middle, y=list(labels), error_x=error, mode="markers", showlegend=False, marker=marker
        )
        fig.add_scatter(x=[None], y=[None], mode="lines", name=name, line_color=color)
    fig.add_vline(x=equal, line_width=1, line_dash="dot").update_yaxes(
        categoryarray=places[::-1], categoryorder="array"
    )
    fig.update_layout(
        showlegend=len(drawn) > 1,
        legend_y=1.02,
        title_font_size=13,
        margin=dict(l=8, r=8, t=90 if len(drawn) > 1 else 56, b=30),
    )
    display(fig)


# %%
EQUAL_T, EQUAL_LOSS = "^T = [0-9.]+, equal T: ", "^T = [0-9.]+, equal training loss: "


def against_vi(claim, name, lower, same, margin, unit, **how):
    """A card on SA-BMA against VI, at equal temperature and at equal training loss."""
    texts = lower, lower.replace("lower", "higher"), same
    at_T, at_loss = (
        compared(pd.concat([rows_with(text, control) for text in texts]).sort_index())
        for control in (EQUAL_T, EQUAL_LOSS)
    )
    groups = {f"{name}, at equal temperature": at_T, f"{name}, at equal training loss": at_loss}
    where = lambda rows: (
        rows.setting.str.partition(",")[0] + ", " + rows.claim.str.partition(",")[0]
    )
    drawn = {"at equal T": (where(at_T), at_T), "at equal training loss": (where(at_loss), at_loss)}
    control = "VI at the temperature at which it has the training loss of SA-BMA, listed in [frontier](frontier.ipynb)."
    control += f" Margin: {margin}, as the claim of each task says. On cifar10 a step takes one draw ([draws](draws.ipynb))."
    each = "one task at one temperature T"
    card(claim, groups, WHAT_IS_EQUAL, each, control, drawn, unit, **how)


# %%
against_vi("1 · SA-BMA's radius makes a posterior flatter than VI", "λ1", "a lower λ1 than VI", "the λ1 of VI within",
           "10 to 25 %", "λ1 of SA-BMA in % of that of VI", number=RATIO, equal=100.0)  # fmt: skip

# %%
against_vi("2 · SA-BMA predicts better than VI", "NLL", "a lower NLL than VI", "the NLL of VI within",
           "0.02 to 0.1", "NLL of SA-BMA less that of VI (nats)", reach=0.1)  # fmt: skip

# %%
together = compared(rows_with("rise together", "^(?!.*equal)"))
at_loss = compared(rows_with("at equal training loss rise together"))
sharpest, random = (compared(rows_with(f" {other}: ", names="SA-BMA T3")) for other in ("sharpest", "random"))  # fmt: skip
groups = {
    "λ1 and test loss of a draw rise together": together,
    "control: among draws of equal training loss": at_loss,
    "an average of the flattest has a lower NLL than of the sharpest": sharpest,
    "control: than of random draws": random,
}
control = "draws of equal training loss, for flat draws fit better, too; and random draws in place of the sharpest"
control += " ([averaging](averaging.ipynb))."
drawn = {f"against the {name}": (rows.claim.str.partition(" draws")[0], rows)
         for name, rows in (("sharpest", sharpest), ("random ones", random))}  # fmt: skip
card("3 · Within one posterior, flat draws predict better than others", groups,
     "what they are compared with, and on the number of draws",
     "one method, VI or SA-BMA, with one score (NLL, error) or one number of draws (1, 5, 10)", control, drawn,
     "NLL of the flattest less the others (nats)")  # fmt: skip

# %%
flatter, better_nll = (
    compared(rows_with(text, setting="equal gradients", names="F-"))
    for text in ("is flatter than", "has a lower NLL")
)
control = "the method itself with twice its steps, for the flat-seeking version takes two gradients a step. Its λ1 is lower in "
control += f"{(flatter.shown == YES).sum()} of {len(flatter)} methods, higher in {(flatter.shown == REVERSE).sum()}."
card("4 · A flat-seeking version of a method predicts better", {"NLL": better_nll}, "the method", "one method", control,
     {"NLL": (better_nll.name, better_nll)}, "NLL of F- less that of the method (nats)")  # fmt: skip

# %%
modes = compared(rows_with("ten modes predict better than one", names="symmetry T8"))
groups = {"accuracy, Brier score and detection of foreign inputs are all better": modes}
drawn = {"accuracy": (modes.setting.str.partition(",")[0], modes)}
control = "one mode of the same method, with as many draws in all."
card(
    "5 · Ten networks trained apart predict better than one",
    groups,
    "the task",
    "one task",
    control,
    drawn,
    "accuracy gained (points)",
    POINTS,
)

# %% [markdown]
# ## SA-BMA against VI in full
#
# The sentences of [frontier](frontier.ipynb), made there by rule from its claims:

# %%
display(Markdown("\n".join(f"- {sentence}" for sentence in notebook("frontier")["WHAT_HOLDS"])))

# %% [markdown]
# ## Show all

# %%
PAPERS = {
    "SA-BMA": "Flat Posterior Does Matter For Bayesian Model Averaging, arXiv 2406.15664",
    "F-": "Flat against plain, after Flat Seeking Bayesian Neural Networks, arXiv 2302.02713",
    "symmetry": "A Symmetry-Aware Exploration of Bayesian Neural Network Posteriors, arXiv 2310.08287",
    "learning": "The local learning coefficient, after Lau et al., arXiv 2308.12108",
}
COLUMNS = {
    "name": "source",
    "claim": "claim",
    "setting": "our setting",
    "figure": "estimate",
    "corrected": "corrected p",
    "verdict": "verdict",
}
counted = claims[~claims.name.str.endswith(" T8")]  # a theorem
print(", ".join(f"{(counted.verdict == word).sum()} × {word}" for word in (HOLDS, NOT, OPEN)))

# %%
for source, title in PAPERS.items():
    rows = claims[claims.name.str.startswith(source)]
    texts = rows.assign(corrected=[f"{p:.3g}" if p == p else "" for p in rows.corrected])[
        list(COLUMNS)
    ].rename(columns=COLUMNS)
    head = f"{title}: " + ", ".join(
        f"{(rows.verdict == word).sum()} × {word}" for word in (HOLDS, NOT, OPEN)
    )
    display(HTML(f"<details><summary>{head}</summary>{texts.to_html(index=False)}</details>"))

# %% [markdown]
# ## The rules
#
# <details><summary>What each row compares, and when it holds</summary>
#
# A claim **holds** or **does not hold** where its *p*, corrected by Holm within the family that is named here, is below 0.05. Otherwise
# it is **inconclusive**: the test does not decide, and the interval shows which effects remain possible. In the last two tables the
# rules are those of the experiments on [symmetry](symmetry.ipynb) and [learning](learning.ipynb). ECE is the calibration error, TV the
# total variation distance of predictions to those of HMC.
#
# *digits-near* (2 shots a class) is the task where transfer helps, *digits* (10 shots) the one where it harms; *moons-gap* (27 seeds) and
# *cifar10* (10 seeds, short fits) are smaller studies. *T* is the temperature,
# the weight of the KL term; *no KL* is the objective of the published scripts. At *equal gradients* the plain method is fitted twice as
# long.
#
# - **T1** and the first row of **T4** compare λ1 of all methods (T1: without E-MCMC, which prefers flat ground), each with its default
#   settings ([compare](compare.ipynb)): a mean over draws, of SGD and SWA the value at their one point, so that ranks between draws and
#   points are not like for like.
# - **T2** and **T3** compare single draws, and the one, five and ten flattest draws with as many of the sharpest, and with random ones.
#   Family: all claims of [averaging](averaging.ipynb).
# - **T5**, and **T4** against VI, compare SA-BMA at radius 1, its default, with VI at equal *T*, at equal training loss and at equal KL,
#   after as many steps. *Within* a margin holds where the difference is shown to lie inside, and does not hold where it is shown to lie
#   beyond. Family: the claims of one file of [frontier](frontier.ipynb), written down before its seeds were used. Those of
#   [questions](questions.ipynb) are at equal gradients (VI takes twice the steps), on forty other seeds; family: the claims of one task.
# - **F-**: the flat-seeking version of a method, whose gradients are taken at SAM's worst point, against the method itself. Family: all
#   claims at equal steps, or all at equal gradients, of [compare](compare.ipynb).
# - **T1** holds where λ1 is higher than SGD's in more than half of the methods that do not seek flatness, and does not hold where it
#   is lower in more than half.
# - **T4** holds where SA-BMA's λ1 is below that of every other method, and does not hold where it is above that of at least one, each
#   time significantly. **T1** and this row of **T4** are a family each: their comparisons.
# - **T6** claims no effect on λ1 at the smallest radius, and a loss of accuracy at the largest. No effect is shown by two one-sided
#   tests: λ1 within 10 % of VI's. T6 holds where both parts are significant, does not hold where λ1 changes and is not shown to be within
#   10 %, or where accuracy at the largest radius is within one point (by two such tests) or higher; else inconclusive. All corrected
#   by Holm, each temperature alone. The largest radius tried is 2; a larger one was not tested.
# - **Q1** to **Q3** are open in the paper: SA-BMA over all weights, from scratch, and against a larger ensemble of draws of VI. Family: the
#   claims of one setting of [questions](questions.ipynb), and of Q3 all comparisons of ensembles there. Its table of
#   values says how far these fits have converged: on *digits* twice the steps lower VI's objective over all weights and from scratch.
# - **L1** and **L2** are on the local learning coefficient λ̂ ([learning](learning.ipynb)), at two strengths γ of the pull to the solution.
#   L1 compares solutions of SAM and SGD by HMC; family: all claims of that experiment. L2 holds where two one-sided tests show that SGLD
#   is within 10 % of HMC at SGD's solutions, and does not hold where it is shown to differ by more; family: both tests of L2's rows.
# - **T7** compares counts of runs by Fisher's exact test; family: its three rows. *Not testable*: if SA-BMA ended in the wide mode in
#   every run, the difference would still not be significant.
# - **T8** is Weyl's inequality, a theorem: its row checks our computation and is not counted.
#
# </details>

# %% [markdown]
# ## What would change our mind
#
# Each experiment says it at its end: [frontier](frontier.ipynb), [averaging](averaging.ipynb), [symmetry](symmetry.ipynb),
# [compare](compare.ipynb), [questions](questions.ipynb), [learning](learning.ipynb). How far the default fits have converged:
# [gaps](gaps.ipynb). All were run on small networks, on one set of digits, whose splits overlap between seeds, and λ̂ on two moons. On
# other networks and data a claim may turn out differently, in either direction.
