# %% [markdown]
# # 10 · Does flatness matter when draws are averaged?
#
# Ten judges score a dive. Their average is a better score than most single ones, and it gains most where judges err in
# *different* ways. If you could invite only five of the ten, would you take the calm ones, whose score hardly changes
# when they sit a metre further left? "Flat is better" says yes. This chapter tests it.
#
# **You will learn** to
#
# - average draws in the right place, and say how much an ensemble gains and when more members stop to help;
# - prove how the sharpness of an average depends on the sharpness of its members (Weyl's inequalities);
# - order the draws of one posterior from sharp to flat, and test whether the flat ones predict better;
# - read a table of verdicts that was corrected for the number of its claims;
# - say what a radius does that a lower temperature does not.
#
# **Takes** 30 minutes to read and a minute to run on a CPU.
#
# **Needs** chapters [03](03_curvature.ipynb), [04](04_what_flat_means.ipynb) and [08](08_from_sam_to_sabma.ipynb).

# %% tags=["parameters"]
FAST = False  # True shrinks the run: tests and a first look

# %%
import math

import ipywidgets
import numpy as np
import pandas as pd
import torch

# %%
import flatviz as fv
from flatviz.experiments import at, holm, judged, read_table
from flatviz.experiments.statistics import mean_zero
from flatviz.families.tour import prepare
from flatviz.metrics.curvature import ordered
from flatviz.plots.theme import figure, style

# %%
torch.set_num_threads(1)
generator = torch.Generator().manual_seed(0)

# %% [markdown]
# **Number to expect**: of 20 claims nine hold on forty seeds, and one on the first ten of them. Cells below check it.

# %% [markdown]
# ## What is averaged
#
# A Bayesian network answers with the average of the **probabilities** of its draws,
#
# $$ \bar p(y \mid x) = \frac1M \sum_{m=1}^M p(y \mid x, w_m), \qquad w_m \sim q . $$
#
# **Why it cannot hurt on average.** $-\log$ is convex, so by Jensen, for each example,
#
# $$ -\log \bar p \;\le\; \frac1M \sum_m -\log p(y \mid x, w_m) . $$
#
# The NLL of the average is at most the average NLL of its members. The gap is the gain of the ensemble.
#
# Two posteriors on *digits* (source turned by 90 degrees, 10 shots): VI, and SA-BMA at radius 2. `net(w, x)` gives the outputs of the
# network with the weights `w`.

# %%
net, task, prior = prepare(task=fv.datasets.digits_transfer(), epochs=5 if FAST else 60)
settings = dict(steps=20) if FAST else {}
vi = fv.fit(net, task.train, fv.VI(prior), seed=0, **settings)
flat = fv.fit(net, task.train, fv.SABMA(prior, radius=2.0), seed=0, **settings)

# %%
n_draws = 10 if FAST else 30
W, y = vi.sample(n_draws, seed=1), task.test.y
every = torch.stack(
    [net(w, task.test.x).log_softmax(1) for w in W]
)  # log p(y | x, w_m), (draws, images, classes)

# %%
members = -every.gather(2, y.expand(n_draws, -1)[..., None]).mean((1, 2))  # NLL of each draw
average = -every.exp().mean(0).log().gather(1, y[:, None]).mean()
fv.expect(average <= members.mean() + 1e-6, "Jensen: the average is no worse")
library = fv.predict(net, W, task.test, n_draws, seed=0).scores["nll"][-1]
fv.expect(average, library, by="the library")

# %%
print(
    f"members {members.mean():.3f} on average, best {members.min():.3f}; the ensemble {average:.3f}"
)

# %% [markdown]
# ## How many draws?
#
# **Predict first**: by how much do the second, the tenth, the thirtieth draw lower the NLL?

# %%
predictions = {"vi": fv.predict(net, vi, task.test, n_draws, seed=2)}
predictions["sabma"] = fv.predict(net, flat, task.test, n_draws, seed=2)
fv.plot_metrics(predictions)

# %% [markdown]
# *Figure: accuracy, NLL and ECE (the calibration error of [chapter 00](00_tour.ipynb)) against the number of averaged draws, for
# VI and SA-BMA. NLL falls steeply over the first draws and is level after about ten.*
#
# **Try** other draws (`seed=2` to `seed=3`); a hundred of them; a fit at another temperature, `kl_weight=1.0`, whose single draws are
# worse and gain more.
#
# ### Why it falls like 1/M
#
# Let $p_m$ be the probability of the right label by draw $m$, with mean $\mu$ and variance $v$ over draws. The average of
# $M$ of them has mean $\mu$ and variance $v/M$. Expand $-\log$ around $\mu$; its second derivative is $1/\mu^2$:
#
# $$ -\log \bar p \approx -\log \mu - \frac{\bar p - \mu}{\mu} + \frac{(\bar p - \mu)^2}{2 \mu^2} . $$
#
# Average over draws: the middle term vanishes, and $\mathbb{E}(\bar p - \mu)^2 = v/M$. So
#
# $$ \mathbb{E}[-\log \bar p] \approx -\log \mu + \frac{v}{2 M \mu^2} . $$
#
# The part that an ensemble can remove halves with every doubling, as long as the draws are near each other: the expansion asks for
# $v \ll \mu^2$. Check with numbers that are not from a network, uniform in a range of 0.1 around 0.5, so that $\mu = 0.5$ and
# $v = 0.1^2 / 12$:

# %%
wide = 0.1
p = 0.5 + wide * (torch.rand(200_000, 8, generator=generator, dtype=torch.float64) - 0.5)
removable = {M: float(-p[:, :M].mean(1).log().mean()) + math.log(0.5) for M in (1, 2, 4)}
formula = {M: wide**2 / 12 / (2 * M * 0.5**2) for M in removable}
for M in removable:
    print(f"{M} draws: {removable[M]:.6f} above the limit, by the formula {formula[M]:.6f}")

# %%
ratios = torch.tensor([removable[M] / formula[M] for M in removable])
fv.expect(ratios, 1, rtol=0.2)

# %% [markdown]
# **Try** `wide = 0.5`: still right to a tenth or so. With `wide = 0.9` the first draw has half as much again above the limit as the
# formula says, and two draws remove more than half of it: the part of the higher orders falls faster than $1/M$.

# %% [markdown]
# ## The sharpness of an average: Weyl
#
# Let $H_m$ be the Hessian of the loss at draw $m$, and $\bar H = \frac1M \sum_m H_m$. Write $\lambda_{\max}$ for the
# largest eigenvalue, $\lambda_{\min}$ for the smallest. Weyl's inequalities for symmetric $A$, $B$:
#
# $$ \lambda_{\max}(A) + \lambda_{\min}(B) \;\le\; \lambda_{\max}(A + B) \;\le\; \lambda_{\max}(A) + \lambda_{\max}(B) . $$
#
# **Proof.** $\lambda_{\max}(A+B) = \max_{\lVert v \rVert = 1} (v^\top A v + v^\top B v)$. Upper bound: each part is at
# most its own maximum. Lower bound: take for $v$ the top eigenvector of $A$; then $v^\top B v \ge \lambda_{\min}(B)$.
#
# Use it $M - 1$ times, adding one matrix after the other, and divide by $M$; for the lower bound any $j$ may come first, so take
# the best:
#
# $$ \frac1M \max_j \Big[ \lambda_{\max}(H_j) + \sum_{m \ne j} \lambda_{\min}(H_m) \Big]
#    \;\le\; \lambda_{\max}(\bar H) \;\le\; \frac1M \sum_m \lambda_{\max}(H_m) . $$
#
# **Read it**: flat members make a flat average. The other way round it is weak: sharp members whose sharp directions
# differ have a flat average, too.


# %%
def weyl(H):
    """Lower bound, largest eigenvalue of the mean, upper bound, for symmetric H (M, n, n)."""
    values = torch.linalg.eigvalsh(H)
    low, high = values[:, 0], values[:, -1]
    lower = (high + low.sum() - low).max() / len(H)
    return lower, torch.linalg.eigvalsh(H.mean(0))[-1], high.mean()


# %%
H = torch.randn(6, 30, 30, generator=generator)
lower, middle, upper = weyl(H + H.mT)
fv.expect(lower <= middle <= upper, "between its bounds")
print(f"random matrices: {lower:.2f} <= {middle:.2f} <= {upper:.2f}")

# %% [markdown]
# And for five draws of each posterior. `weyl_bounds` finds the eigenvalues by Lanczos' method
# ([chapter 03](03_curvature.ipynb)), which is exact to a percent here:

# %%
L = fv.nll(net, task.train)
for name, q in (("VI", vi), ("SA-BMA", flat)):
    lower, middle, upper = fv.metrics.weyl_bounds(L, q.sample(3 if FAST else 5, seed=1))
    fv.expect(lower <= 1.01 * middle and middle <= 1.01 * upper, "between its bounds")
    print(f"{name:7s} {lower:6.2f} <= {middle:6.2f} <= {upper:6.2f}")

# %% [markdown]
# Two cautions. $\bar H$ is the Hessian of the *average loss*, not of the loss of the averaged prediction. And it is not
# the Hessian at the average weights.

# %% [markdown]
# ## Flat members or sharp members?
#
# Now the test of the story. Take the draws of *one* posterior, measure $\lambda_1$ of each, and order them: flat first,
# sharp first, at random. All orders end in the same ensemble of all draws; they differ on the way.

# %%
sharpness = torch.stack([fv.top_eigenpairs(L, w, 1).values[0] for w in W])
orders = {order: ordered(W, sharpness, order) for order in ("sharp", "random", "flat")}
curves = {
    o: fv.predict(net, V, task.test, n_draws, seed=0).scores["nll"] for o, V in orders.items()
}
fv.expect(curves["flat"][-1], curves["sharp"][-1], atol=1e-4, by="the other order")

# %%
alt = "; ".join(
    f"{order} first: NLL {nll[0]:.2f} with one draw, {nll[-1]:.2f} with all"
    for order, nll in curves.items()
)
titles = dict(xaxis_title="draws averaged", yaxis_title="test NLL (nats)")
fig = figure("The same draws, added in three orders", alt, height=420, **titles)
looks = dict(sharp=("#D55E00", "dot"), random=("#6b7780", "dash"), flat=("#009E73", "solid"))
for order, (color, dash) in looks.items():
    fig.add_scatter(
        x=list(range(1, n_draws + 1)),
        y=curves[order],
        name=f"{order} first",
        line=dict(color=color, dash=dash),
    )

# %%
fig

# %% [markdown]
# *Figure: three curves of the NLL over the number of draws, sharp first, random, flat first. They start at different values
# and end at the same one.*
#
# **Try** the draws of `flat` for those of `vi`; other draws of VI; the draws ordered by their *training loss*, `L.many(W)` for
# `sharpness`: how alike are the curves?
#
# On one seed one of the three is always lowest. Is that more than chance?

# %% [markdown]
# ## The answer over forty seeds
#
# The experiment [averaging](experiments/averaging.ipynb) asks this of forty seeds, with VI and SA-BMA; `flatviz run averaging`
# repeats it. Its table comes with flatviz, one row a seed and quantity: `"nll, 5 flat"` is the NLL of the five flattest draws. The
# difference "flattest less sharpest" is taken seed by seed; `mean_zero` gives its mean, half of its 95 % interval and the
# $p$-value (Student's t for forty values).

# %%
table = read_table("averaging")
scores = {
    m: at(table, experiment="averaging", method=m, setting="rank 5") for m in ("vi", "sabma")
}  # (seeds, quantities)
sizes, names = (1, 2, 5, 10), ["nll", "accuracy", "ece"]


# %%
def paired(method, against, score, seeds=slice(None)):
    """Flattest less other draws, for each size; of all 30 all orders are the same ensemble."""
    of, better = scores[method][seeds], 1 if score == "accuracy" else -1
    return [
        mean_zero(of[f"{score}, {n} flat"] - of[f"{score}, {n} {against}"], better) for n in sizes
    ]


# %% [markdown]
# **Live.** Choose what the flattest draws are compared with, and by which score. **Predict first**: for how many of the points
# will the bar miss the line at 0?


# %%
SCORES = dict(nll="NLL", accuracy="accuracy", ece="ECE")


# %%
def flat_less(against, score):
    bars = {method: paired(method, against, score) for method in ("vi", "sabma")}
    shut = sum(abs(row["mean"]) > row["half"] for rows in bars.values() for row in rows)
    alt = f"{shut} of {sum(map(len, bars.values()))} intervals leave out 0"
    title = f"Flattest less {against} draws, {len(scores['vi'])} seeds: {alt}"
    axes = dict(xaxis=dict(title="draws averaged", type="category"), height=420)
    return with_bars(figure(title, alt, yaxis_title=f"difference in {SCORES[score]}", **axes), bars)


# %%
def with_bars(fig, bars):
    for method, values in bars.items():
        mean, half = ([row[name] for row in values] for name in ("mean", "half"))
        look = dict(mode="markers", marker_color=style(method).color, name=style(method).label)
        fig.add_scatter(x=sizes, y=mean, error_y=dict(array=half), **look)
    return fig.add_hline(y=0, line_dash="dot").update_layout(scattermode="group")


# %%
_ = ipywidgets.interact(flat_less, against=["sharp", "random"], score=names)

# %% [markdown]
# *Figure: for 1, 2, 5 and 10 draws and for both methods the mean difference between the flattest draws and the others, with its
# 95 % interval, and a dotted line at 0. For NLL and accuracy most intervals against the sharpest draws leave out 0, and most against
# random draws contain it. For ECE most contain it.* For NLL and ECE a point below the line is a point for flat draws, for accuracy one
# above it.
#
# **Try** the first ten seeds alone, `paired(method, against, score, slice(10))`: how many bars miss the line now? The other thirty,
# `slice(10, None)`. One draw only, `sizes = (1,)`.
#
# ### With a correction
#
# Two dozen intervals are two dozen chances to be wrong. Take 16 of them, those of the NLL, and the correlations between a draw's
# $\lambda_1$ and its NLL and error (Spearman's: of the ranks; as Fisher's $z$, which is nearly Gaussian). `judged`
# corrects the $p$-values for the number of claims and writes a verdict on each:


# %%
def on_ensembles(seeds):
    return [dict(claim=f"{style(m).label}, {n} flattest less {n} {other}: lower NLL", **row) for m in scores for other in ("sharp", "random")
            for n, row in zip(sizes, paired(m, other, "nll", seeds))]  # fmt: skip


def on_draws(seeds):
    z = {
        (m, what): np.arctanh(scores[m][f"correlation with {what}"][seeds])
        for m in scores
        for what in ("nll", "error")
    }
    return [
        dict(
            claim=f"{style(m).label}: λ1 and {what.replace('nll', 'NLL')} rise together",
            **mean_zero(values),
        )
        for (m, what), values in z.items()
    ]


# %%
def claims_from(seeds):
    return judged(pd.DataFrame(on_ensembles(seeds) + on_draws(seeds)), family="chapter 10")


# %%
claims = claims_from(slice(None))
in_four = lambda p: f"{p:.4f}" if p >= 1e-4 else "< 0.0001"
verdicts = claims[["claim", "mean", "half", "p", "corrected", "verdict"]].style.hide()
verdicts.format(precision=4).format(in_four, subset=["p", "corrected"])

# %%
counts = claims.verdict.value_counts().to_dict()
fv.expect(counts, {"inconclusive": 11, "holds": 9})
print(f"{len(claims)} claims on forty seeds:", counts)

# %% [markdown]
# Over the draws of one posterior $\lambda_1$ and the NLL rise together, weakly (a correlation of about 0.2). One or two of the flattest
# draws, of VI five, have a lower NLL than as many of the sharpest. It is not shown to be lower than the NLL of as many *random* draws.
# A simple cause is a part of it: flat draws fit the training data better. Among draws of equal training loss the correlation is
# about half as large, shown for VI alone ([averaging](experiments/averaging.ipynb)). Other scores were not judged. With more draws every
# difference shrinks: of all 30 there is one ensemble.
#
# **Inconclusive** is an answer: the seeds do not decide, and the intervals show which effects remain possible. Does "not significant" mean
# "no effect"? We judged the first ten seeds before we ran the other thirty. The same 20 claims on each part alone:

# %%
for name, seeds in (("first ten", slice(10)), ("other thirty", slice(10, None))):
    part = claims_from(seeds)
    both = (part.verdict == "holds") & (claims.verdict == "holds")
    print(f"{name}: {(part.verdict == 'holds').sum()} hold, {both.sum()} of them on all forty too")
    fv.expect(int(both.sum()), {"first ten": 1, "other thirty": 7}[name], rtol=0)
    fv.expect("does not hold" not in set(part.verdict), "none is refuted")

# %% [markdown]
# Forty seeds show nine effects, of which the first ten show one. So "not significant" does not mean "no effect".
#
# Why correct? The **$p$-value** of a claim is the probability to see a difference at least this large when there is no effect. At
# a level of 5 %, one of twenty true "no effect" claims looks like an effect by chance. Holm's rule: sort the $p$-values,
# multiply the smallest by the number of claims $m$, the next by $m - 1$, and so on, never letting one fall below the one
# before. What is below 5 % then, holds. By hand, for four claims:

# %%
p_values = torch.tensor([0.001, 0.04, 0.03, 0.2], dtype=torch.float64)
factors = torch.arange(4, 0, -1)  # 4, 3, 2, 1
sorted_p, place = p_values.sort()
corrected = torch.empty_like(p_values)
corrected[place] = (sorted_p * factors).clamp(max=1).cummax(0).values

# %%
fv.expect(corrected, torch.tensor(holm(p_values.tolist())), by="the library")
print("as they are", p_values.tolist(), "corrected", [round(p, 3) for p in corrected.tolist()])

# %% [markdown]
# ## Radius or temperature?
#
# On *digits-near*, the task of chapter 00, SA-BMA is flatter than VI at the same temperature $T$ (on *digits* this is not shown). There a
# *lower* $T$ makes VI flatter too, for it fits the training data more closely, and so does SA-BMA. So what does the radius $\gamma$ do that
# a lower $T$ does not? Compare at equal training loss.
#
# ### To first order: mostly a temperature
#
# With $\ell(\theta) = \mathbb{E}_q[L]$ and $g = \nabla \ell$, SA-BMA minimises to first order
# ([chapter 08](08_from_sam_to_sabma.ipynb))
#
# $$ \ell + \gamma\, s + \tfrac{T}{N} \mathrm{KL}(q \Vert p), \qquad s = \sqrt{g^\top F^{-1} g} . $$
#
# VI at $T$ stands where $\nabla \ell + \tfrac{T}{N} \nabla \mathrm{KL} = 0$: one point for each $T$, a path. Split $\nabla s$ there into
# a part along $\nabla \ell$ and a part $r$ across it, in the inner product of $F^{-1}$:
#
# $$ \nabla s = \varphi\, \nabla \ell + r, \qquad
# \varphi = \frac{\langle \nabla s, \nabla \ell \rangle}{\langle \nabla \ell, \nabla \ell \rangle}, \qquad \langle r, \nabla \ell \rangle = 0 . $$
#
# Without $r$, SA-BMA's condition $(1 + \gamma \varphi)\, \nabla \ell + \tfrac{T}{N} \nabla \mathrm{KL} = 0$ is that of VI at
#
# $$ T^\star = \frac{T}{1 + \gamma\, \varphi} . $$
#
# **Where $\varphi > 0$, the ascent strengthens the pull of the likelihood against a KL that stays as it is**, and $T^\star$ is below $T$;
# where $\varphi < 0$, it is above. **The part across is what no temperature gives**: the effect of flatness. Near VI's solution
# $\varphi$ is about the slope $\mathrm{d}s / \mathrm{d}\ell$ along the path; it is that slope where $r$ has no part along the path. Check it on
# *digits-near*: $s$ and $\ell$ of VI along $T$, and the temperature at which VI has SA-BMA's loss. **Predict first**: how cold is VI
# that fits like SA-BMA at $\gamma = 1$ and $T = 0.03$?

# %%
near_net, near, near_prior = prepare(epochs=5 if FAST else 60)
near_loss, temperatures = fv.nll(near_net, near.train), [0.01, 0.02, 0.03, 0.05, 0.1]
colder = [
    fv.fit(near_net, near.train, fv.VI(near_prior, kl_weight=T), seed=0, **settings)
    for T in temperatures
]


# %%
def mean_loss(
    theta, z1, z2
):  # E_q[L] over draws of the noise, differentiable in theta = (mean, log_std, factor)
    return torch.stack(
        [near_loss(w) for w in theta[0] + theta[1].exp() * z1 + z2 @ theta[2]]
    ).mean()


# %%
def loss_and_slope(q, n=64):  # E_q[L] and s, the gain of the ascent per radius
    theta = [part.clone().requires_grad_() for part in (q.mean, q.log_std, q.factor)]
    mean = mean_loss(theta, *q.noise(n, seed=3))
    g = torch.autograd.grad(mean, theta)
    steps = fv.perturb(q, g, radius=1.0)
    return float(mean.detach()), float(sum((a * b).sum() for a, b in zip(g, steps)))


# %%
ell, s = np.array([loss_and_slope(q) for q in colder]).T
phi = np.gradient(s, ell)[temperatures.index(0.03)]  # the derivative of s in the loss


# %%
def cold_as(
    radius,
):  # T* by the formula, and the temperature at which VI has the training loss of SA-BMA
    q = fv.fit(
        near_net,
        near.train,
        fv.SABMA(near_prior, radius=radius, kl_weight=0.03),
        seed=0,
        **settings,
    )
    same = np.interp(np.log(loss_and_slope(q)[0]), np.log(ell), np.log(temperatures))
    return 0.03 / (1 + radius * phi), np.exp(same)


# %%
for radius in (0.5, 1.0, 2.0):
    formula, found = cold_as(radius)
    print(
        f"radius {radius:g}: T* by the formula {formula:.4f}, by VI of equal training loss {found:.4f}"
    )
    if not FAST:
        fv.expect(formula, found, rtol=0.15 if radius < 2 else 0.3, by="VI of equal training loss")

# %% [markdown]
# The formula is off by a tenth up to radius 1, and by a fifth at 2, where the first order ends. It fails, too, without a KL term
# (a sum of two multiples of $\nabla \ell$ has the zeros of one), where $r$ is large, and where the loss has several
# modes, as on *digits*: the ascent can end in another one.
#
# ### The draws of a step
#
# A fit estimates $g$ from $S$ draws: the ascent sees $g + e$, and the expected square of its length is $s^2 + c / S$ with
# $c = \operatorname{tr}(F^{-1} \operatorname{Cov} e)$, the covariance of one draw's gradient. So few draws add a penalty of their own, $\varphi$
# is larger, and a radius is worth a lower temperature. The experiment [draws](experiments/draws.ipynb) varies $S$ from 1 to 512, predicts
# $T^\star$ from one fit of VI, measures the angle of $\nabla s$ and $\nabla \ell$, and draws both as arrows. From its stored table, forty
# seeds (ten of 512 draws), the mean and its 95 % interval:

# %%
stored = read_table("draws").query("setting == 'digits-near' and kind == 'common' and steps == 600")
index = ["method", "draws", "seed", "radius", "T"]
stored = stored.pivot(index=index, columns="quantity", values="value").sort_index()


# %%
def same_loss_as_vi(radius, draws, seed):  # log T* / T, and log λ1 over VI's at equal training loss
    vi = np.log(stored.loc[("vi", draws, seed, 0.0)]).sort_values("train")
    flat = np.log(stored.loc[("sabma", draws, seed, radius, 0.03)])
    within = dict(left=np.nan, right=np.nan)  # VI's temperatures
    temperature = np.interp(flat.train, vi.train, np.log(vi.index), **within)
    lambda1 = np.interp(flat.train, vi.train, vi.lambda1_of_mean, **within)
    return temperature - math.log(0.03), flat.lambda1_of_mean - lambda1


# %%
def along_draws(radius):
    fits = stored.loc["sabma"].query("radius == @radius and T == 0.03").index
    rows = [(S, *same_loss_as_vi(radius, S, seed)) for S, seed, *_ in fits]
    long = pd.DataFrame(rows, columns=["draws", "T*", "λ1"]).melt("draws").dropna()
    grouped = long.groupby(["variable", "draws"]).value
    return grouped.apply(lambda values: pd.Series(mean_zero(values))).unstack()


# %%
found = {radius: along_draws(radius) for radius in (1.0, 2.0)}
rising = all(f["mean"]["T*"].is_monotonic_increasing for f in found.values())
fv.expect(rising, "T* rises with the draws")
near_vi = all(f["mean"]["λ1"].loc[8:].abs().max() < 0.05 for f in found.values())
fv.expect(near_vi, "λ1 is VI's at that loss, from eight draws on")


# %%
def add_radius(fig, radius, color):
    for i, quantity in enumerate(("T*", "λ1"), 1):
        rows = found[radius].loc[quantity]
        ratio = np.exp(rows["mean"])
        bars = dict(array=ratio * np.expm1(rows["half"]), color=color)
        place = dict(xaxis=f"x{i}", yaxis=f"y{i}", name=f"radius {radius:g}", showlegend=i == 1)
        fig.add_scatter(x=rows.index, y=ratio, error_y=bars, line_color=color, **place)


# %%
alt = "T* over T rises with the draws of a step; the ratio of eigenvalues is near 1"
panels = dict(rows=1, columns=2, pattern="independent", xgap=0.22)
fig = figure("Draws a step: the temperature a radius is worth", alt, grid=panels)
add_radius(fig, 1.0, "#0072b2")
add_radius(fig, 2.0, "#d55e00")

# %%
draws_axis = dict(type="log", title="draws a step", tickvals=[1, 8, 64, 512])
fig.update_layout(xaxis=draws_axis, xaxis2=draws_axis, yaxis=dict(title="T* / T", range=[0, 1.1]))
fig.update_layout(yaxis2=dict(title="λ1 / VI's", range=[0.8, 1.3]))

# %% [markdown]
# *Figure: on the left the temperature at which VI, with as many draws a step, has SA-BMA's training loss, over SA-BMA's own: it rises with
# the draws. On the right the largest eigenvalue of the mean Hessian over VI's at that loss: near 1 from eight draws on.*
#
# **Try** the stored radius 0.5 beside the two; another quantity of the table in place of `lambda1_of_mean`; the first ten seeds.
#
# ### What is left
#
# What the radius does beyond $T^\star$ is the distance of SA-BMA's line from that of VI, at the same training loss. **Slide** the radius:
# the ring is SA-BMA, the cross VI at $T^\star$.

# %%
chosen = {"vi": (0.0,), "vi_t": (0.01, 0.02, 0.05, 0.1), "sabma": (0.0, 0.5, 1.0, 2.0)}
family = fv.families.fit_family(near_net, near, near_prior, radii=chosen, seed=0, fit=settings)
small = dict(
    n_draws=6 if FAST else 30, n_spectra=2 if FAST else 5, resolution=5, around_resolution=5
)
measured = fv.families.measure(near_net, near, family, seed=1, **small)


# %%
def at_radius(radius):
    return fv.plots.plot_frontier(measured, method="sabma", radius=radius)


_ = ipywidgets.interact(at_radius, radius=[0.5, 1.0, 2.0])

# %% [markdown]
# *Figure: three panels, the largest eigenvalue, NLL and ECE over the training loss. A dotted line is VI over its temperature, a solid
# one SA-BMA over its radius; they run close together, and ring and cross lie on or near each other.*
#
# **Try** another seed in `fit_family`; a radius of 4 in `chosen`; the task of chapters 01 to 09, `net, task, prior` for `near_net, near,
# near_prior`, where the ascent can end in another mode.
#
# One seed. On forty seeds and with margins written down before: `flatviz run frontier` and `flatviz run draws`, whose tables README reads.
# There a conv net on images at $T = 0.3$ is the exception: SA-BMA is flatter than VI at equal training loss, and with 8 and 32 draws a step
# also than VI with a covariance narrowed after the fit to the same KL.

# %% [markdown]
# ## What others found since 2024
#
# - **Draws.** Ghosh et al. 2025: the number of draws a step and the shape of the posterior decide how flat VI ends. The experiment
#   [draws](experiments/draws.ipynb) asks the same of the radius of SA-BMA. On *digits-near*, $T^\star$ rises with the draws, and $\lambda_1$
#   of the mean Hessian at equal training loss stays that of VI; on a conv net it stays lower; whether it rises with the draws is open. `flatviz run draws --stored` prints the figures.
# - **Temperature.** If a radius is mostly a temperature, how is the temperature chosen? Ng et al. 2025 treat it as a parameter of the model,
#   estimate it from the data for the test log-density, and report results like those of a grid at a fraction of the cost. In flatviz:
#   not there; `flatviz run tune` and `flatviz run frontier` use a grid.
# - **The measure.** Da Silva et al. 2025: in transformers, attention has symmetries that leave the function alone and change the sharpness;
#   sharpness on the quotient manifold, in a geodesic ball, correlates with generalisation where adaptive sharpness does not.
#   In flatviz: permutations, scalings and sign flips are removed ([chapter 12](12_symmetries.ipynb)), those of attention are not, so no
#   $\lambda_1$ of a transformer here is free of them.
#
# ## Summary
#
# - Probabilities are averaged, never weights; by Jensen the ensemble is at least as good as its members on average.
# - The gain of $M$ draws grows like $1 - 1/M$: ten draws give nine tenths of it.
# - Flat members make a flat average loss (Weyl); the reverse need not hold.
# - Whether flat draws make better ensembles is an empirical question: here a few of the flattest have a lower NLL than the
#   sharpest, which is not shown against random ones; in part because flat draws fit the training data better.
# - A radius is, to first order, another temperature: $T^\star = T / (1 + \gamma \varphi)$, mostly a lower one. Compare at equal training
#   loss.
#
# ## Exercises
#
# **1.** Construct two symmetric matrices with $\lambda_{\max} = 10$ whose average has $\lambda_{\max} = 5$.
#
# <details><summary>Solution</summary>
#
# $\operatorname{diag}(10, 0)$ and $\operatorname{diag}(0, 10)$: sharp in different directions.
#
# </details>

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
pair = torch.stack([torch.diag(torch.tensor([10.0, 0.0])), torch.diag(torch.tensor([0.0, 10.0]))])
fv.expect(torch.stack(weyl(pair)[1:]), torch.tensor([5.0, 10.0]))

# %% [markdown]
# **2.** Show with numbers that averaging *weights* of the draws of VI is another thing than averaging probabilities.
#
# <details><summary>Solution</summary>
#
# The average of the weights is close to the mean of $q$: one network, without the gain of the ensemble.
#
# </details>

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
one = fv.predict(net, W.mean(0)[None], task.test, 1, seed=0).scores["nll"][-1]
print(f"averaged weights {one:.3f}, averaged probabilities {average:.3f}")
fv.expect(abs(one - average) > 1e-4, "two different things")

# %% [markdown]
# **3.** How many of 20 claims without any effect would you expect to call effects at a level of 5 %, uncorrected? What is
# the chance of at least one, if they are independent?
#
# <details><summary>Solution</summary>
#
# $20 \cdot 0.05 = 1$, and $1 - 0.95^{20} \approx 0.64$.
#
# </details>

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
p = torch.rand(20_000, 20, generator=generator)
fv.expect((p < 0.05).any(1).float().mean(), 1 - 0.95**20, rtol=0, atol=0.02, by="the formula")
fv.expect((20 * p.min(1).values < 0.05).float().mean(), 0.05, rtol=0, atol=0.01)  # corrected: 5 %

# %% [markdown]
# **4.** Is $\lambda_1$ of a draw (`sharpness`) related to the draw's test NLL (`members`), over the draws above? Compute
# Spearman's correlation: that of the ranks.
#
# <details><summary>Solution</summary>
#
# Rank both and correlate the ranks. With 30 draws a correlation within ±0.36 is no more than chance (5 %).
#
# </details>

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
ranks = torch.stack([sharpness.argsort().argsort(), members.argsort().argsort()]).double()
spearman = torch.corrcoef(ranks)[0, 1]
print(f"Spearman {spearman:.2f}, chance up to 0.36")

# %% [markdown]
# **5.** SAM on weights minimises $L + \rho \lVert \nabla L \rVert$, here with a weight decay
# $\tfrac{\delta}{2} \lVert w \rVert^2$. In a bowl $L = \tfrac12 h\, (w - 1)^2$ of one weight, which weight decay gives the solution of SAM
# with $\delta$? (The solution lies below 1.)
#
# <details><summary>Solution</summary>
#
# Here $s = \lVert \nabla L \rVert = h (1 - w)$ and $L = h (1 - w)^2 / 2$, so $s = \sqrt{2 h L}$, and the slope is
# $\varphi = \mathrm{d}s / \mathrm{d}L = h / s = 1 / (1 - w)$. With one weight there is no part across.
# The condition $h (1 - w) + \rho h = \delta w$ is that of $\delta^\star = \delta / (1 + \rho / (1 - w))$.
#
# </details>

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
h_, rho_, delta_ = 2.0, 0.1, 1.0
w_sam = h_ * (1 + rho_) / (h_ + delta_)
w_plain = h_ / (h_ + delta_ / (1 + rho_ / (1 - w_sam)))
fv.expect(w_sam, w_plain, rtol=1e-12, by="the other one")
print(f"both at {w_sam:.4f}")

# %% [markdown]
# ## References
#
# - Lim et al.: Flat posterior does matter for Bayesian model averaging, 2024,
#   [arXiv 2406.15664](https://arxiv.org/abs/2406.15664). Weyl's bounds for averaged Hessians.
# - Horn, Johnson: Matrix Analysis, 2nd ed., 2012, ch. 4, [doi 10.1017/CBO9781139020411](https://doi.org/10.1017/CBO9781139020411).
#   Weyl's inequalities.
# - Holm: A simple sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 6, 1979,
#   [jstor 4615733](https://www.jstor.org/stable/4615733).
# - Ghosh et al.: Variational learning finds flatter solutions at the edge of stability, 2025,
#   [arXiv 2506.12903](https://arxiv.org/abs/2506.12903).
# - Ng, van der Heide, Hodgkinson, Wei: Temperature optimization for Bayesian deep learning, 2025,
#   [arXiv 2410.05757](https://arxiv.org/abs/2410.05757).
# - Da Silva, Dangel, Oore: Hide & Seek: transformer symmetries obscure sharpness and Riemannian geometry finds it, 2025,
#   [arXiv 2505.05409](https://arxiv.org/abs/2505.05409).
#
# **Next**: [chapter 11](11_transfer_and_shift.ipynb) asks what all this is worth with few examples and shifted images.
