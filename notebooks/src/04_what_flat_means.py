# %% [markdown]
# # 04 · What does "flat" mean?
#
# Three hikers compare valleys. The first looks at the ground right under her feet. The second asks what the *worst* step
# of one metre would cost. The third takes a hundred random steps and averages. Each says "this valley is flat" and means
# another thing. None is wrong.
#
# **You will learn** to
#
# - define six measures of flatness, and derive what worst and average case are in a bowl;
# - give examples in which two measures disagree on which valley is flatter;
# - rescale a network: the same function, with any sharpness you like;
# - name measures that a rescaling does not change, and prove it for one;
# - say what it means that a *posterior* is flat.
#
# **Takes** 35 minutes to read and half a minute to run on a CPU.
#
# **Needs** [chapter 03](03_curvature.ipynb).

# %% tags=["parameters"]
FAST = False  # True shrinks the run: tests and a first look

# %%
from dataclasses import replace
from itertools import permutations

import ipywidgets
import numpy as np
import torch
from scipy.stats import spearmanr

# %%
import flatviz as fv
from flatviz.families.tour import prepare

torch.set_num_threads(1)

# %% [markdown]
# **Number to expect**: without any change of the function, a rescaling changes $\lambda_1$ more than a hundredfold. A cell
# below checks it.
#
# Here are three valleys on which the hikers cannot agree, each a loss of one weight:

# %%
width = 0.35
valleys = {
    "bowl": lambda w: 0.5 * (w**2).sum(),
    "flat floor, steep walls": lambda w: (w**4).sum(),
    "narrow hole in a plain": lambda w: 1 - torch.exp(-(w**2).sum() / (2 * width**2)),
}

# %%
a = torch.linspace(-1.2, 1.2, 61)
curves = [fv.slice_path(f, a[:, None], t=a, x_label="w", name=k) for k, f in valleys.items()]
fv.plot_curve(curves, barrier=False, title="Three valleys")

# %% [markdown]
# *Figure: three curves with their minimum at w = 0. The solid one is a parabola; the dashed one is flat in the middle and
# rises steeply beyond 0.8; the dotted one is a narrow hole that ends in a plain at height 1.*
#
# **Try** a wider hole (`width = 0.8`), a bowl as curved as the hole (`0.5` to `4.1` in the bowl), a floor still flatter (`w**8`). The
# formulas below are those of the three as they stand, with any width; each sentence about their order names the width.

# %% [markdown]
# ## Six definitions
#
# Let $w$ be a solution, $H$ its Hessian, $g$ its gradient.
#
# 1. **Largest eigenvalue** $\lambda_1(H)$: the steepest wall, right here.
# 2. **Trace** $\operatorname{tr} H$: all walls together, right here.
# 3. **Ratio** $\lambda_1/\lambda_5$: is there one steep wall, or several?
# 4. **Worst case**: $\max_{\lVert e \rVert \le \rho} L(w + e) - L(w)$. SAM-sharpness approximates the worst step by
#    $e = \rho\, g / \lVert g \rVert$.
# 5. **Average case**: $\mathbb{E}_{z \sim \mathcal{N}(0, I)}\, L(w + \sigma z) - L(w)$.
# 6. **Adaptive** worst case: the same as 4, each weight's step measured in units of its own size: the maximum over
#    $\sum_i (e_i / w_i)^2 \le \rho^2$ (ASAM).
#
# ### In a bowl the first five are functions of the eigenvalues
#
# For the first three that is their definition.
#
# Let $g = 0$ and $L(w + e) = L(w) + \tfrac12 e^\top H e$.
#
# **Worst case.** $\max_{\lVert e \rVert \le \rho} \tfrac12 e^\top H e = \tfrac12 \rho^2 \lambda_1$, by step 3 of
# [chapter 03](03_curvature.ipynb).
#
# **Average case.** $\mathbb{E}[z_i z_j]$ is 1 for $i = j$ and 0 else, so
# $\tfrac12 \sigma^2\, \mathbb{E}[z^\top H z] = \tfrac12 \sigma^2 \operatorname{tr} H$.
#
# So in a bowl the worst case is $\lambda_1$ and the average case is the trace, up to a factor. Checked with numbers, in a
# bowl of five weights with eigenvalues 9 to 0.1:

# %%
h = torch.tensor([9.0, 4.0, 1.0, 0.5, 0.1])
bowl = lambda w: 0.5 * (h * w * w).sum()
e = 0.2 * torch.eye(5)[0]  # along the first eigenvector, radius 0.2
fv.expect(bowl(e), 0.5 * 0.2**2 * h[0], by="the formula")
z = 0.1 * torch.randn(100_000, 5, generator=torch.Generator().manual_seed(0))
fv.expect((0.5 * (h * z * z).sum(1)).mean(), 0.5 * 0.1**2 * h.sum(), rtol=0.02, by="the formula")

# %% [markdown]
# `sharpness` computes the measures at each of several weight vectors. Near the minimum of the bowl:

# %%
near = 1e-3 * torch.ones(1, 5)
flat = fv.sharpness(bowl, near, radius=0.2)
fv.expect(torch.cat([flat.lambda1, flat.trace]), torch.stack([h[0], h.sum()]), by="the formula")
fv.expect(flat.ratio[0], 90)
print(f"SAM-sharpness {flat.sam[0]:.3f}, the true worst case {0.5 * 0.2**2 * h[0]:.3f}")

# %% [markdown]
# SAM-sharpness lies a little below: the gradient points mostly, not wholly, along the steepest wall.
#
# ## Not in a bowl: who is flattest?
#
# For the three valleys everything is known in closed form. With $s$ the width of the hole:
#
# - curvature at 0: $1$, $0$ and $1/s^2$;
# - worst case at radius $\rho$: $\tfrac12\rho^2$, $\rho^4$ and $1 - e^{-\rho^2/2s^2}$;
# - average case with $\sigma$: $\tfrac12\sigma^2$, $3\sigma^4$ and $1 - 1/\sqrt{1 + \sigma^2/s^2}$.
#
# (The second uses $\mathbb{E} z^4 = 3$.) The last one is a Gaussian integral:
# $\mathbb{E}\, e^{-\sigma^2 z^2/2s^2} = 1/\sqrt{1 + \sigma^2/s^2}$.

# %%
sigma = 0.7
mean = [sigma**2 / 2, 3 * sigma**4, 1 - 1 / (1 + sigma**2 / width**2) ** 0.5]
z = sigma * torch.randn(100_000, generator=torch.Generator().manual_seed(0))
drawn = [z**2 / 2, z**4, 1 - torch.exp(-(z**2) / (2 * width**2))]
for exact, values in zip(mean, drawn):
    fv.expect(values.mean(), exact, rtol=0.03, by="the formula")

# %%
curvature = [float(fv.hvp(f, torch.zeros(1), torch.ones(1))) for f in valleys.values()]
order = lambda values: " < ".join(k for _, k in sorted(zip(values, valleys)))
print("by curvature:", order(curvature))
print("by average:  ", order(mean))
fv.expect(order(curvature) != order(mean), "two orders: flat is a statement about a radius")

# %% [markdown]
# By curvature the flat floor wins, and the hole loses where its width is below 1. By the average over $\sigma = 0.7$ the bowl wins,
# for the walls of the flat floor are within reach. (They are for $\sigma$ above $1/\sqrt 6 = 0.41$; at $\sigma = 3$, or with a hole
# of width 0.95, the hole is below both.) **Flat is a statement about a radius.**
#
# **Try** `sigma = 0.2` and `sigma = 3.0`: the order is another each time.
#
# ### Live: move the radius
#
# **Predict first**: at which radius is the hole *flatter* than the valley with the steep walls?


# %%
def worst_case(radius):
    """The three valleys within a radius, each with the height of its worst step."""
    t = torch.linspace(-radius, radius, 41)
    cut = [fv.slice_path(f, t[:, None], t=t, x_label="w") for f in valleys.values()]
    named = [replace(c, name=f"{k}: {c.values.max():.3g}") for k, c in zip(valleys, cut)]
    return fv.plot_curve(named, barrier=False, title=f"Worst case within {radius:.2f}")


# %%
_ = ipywidgets.interact(worst_case, radius=(0.05, 1.5, 0.05))

# %% [markdown]
# *Figure: the three curves between minus and plus the radius; the legend gives each one's highest value. At small radii
# the hole is the highest, at radius 1.5 the valley with steep walls is by far.*
#
# **Try** the widths 0.2 and 0.8 in the first cell; the floor `w**8`; the *mean* over the cut, `c.values.mean()` for `max()`.
#
# <details><summary>What one sees</summary>
#
# The order changes three times: from 0.75 on the bowl is flatter than the valley with steep walls (exactly: from
# $1/\sqrt 2$), from 1.00 on the hole is flatter than that valley too (exercise 3), and from 1.45 on it is flatter than the
# bowl (from a little below $\sqrt 2$). The sharpest of all at radius 0 is the flattest of all at 1.5: for a hole of width 0.35.
#
# </details>

# %% [markdown]
# ## On a network
#
# Six solutions of the ten-digits task, found by different recipes: SGD with the course's settings; three times as many
# steps; a strong weight decay; a small step; and with the gradients of SAM and ASAM, which look for flat places
# ([chapter 08](08_from_sam_to_sabma.ipynb)). What do the measures say of them? `sharpness` gives all but the average case,
# which is the trace once more where the loss is a bowl.

# %%
net, task, prior = prepare(task=fv.datasets.digits_transfer(), epochs=5 if FAST else 60)
L, steps = fv.nll(net, task.train), 60 if FAST else 300

# %%
recipes = {"SGD": (fv.SGD(), steps), "long": (fv.SGD(), 3 * steps)}
recipes["weight decay"] = fv.SGD(weight_decay=0.02), steps
recipes["small step"] = fv.SGD(lr=0.005), steps
recipes["SAM"] = fv.SGD(ascent=fv.SAM(0.2)), steps
recipes["ASAM"] = fv.SGD(ascent=fv.ASAM(1.0)), steps

# %%
fit = lambda sgd, steps: fv.fit(net, task.train, sgd, steps=steps, seed=0).center
W = torch.stack([fit(*recipe) for recipe in recipes.values()])
S = fv.sharpness(L, W)
test = fv.nll(net, task.test).many(W)
measures = dict(lambda1=S.lambda1, trace=S.trace, ratio=S.ratio, sam=S.sam, adaptive=S.adaptive)

# %%
print("rank, 1 = flattest  " + "  ".join(f"{k:>8s}" for k in measures))
ranks = {k: v.argsort().argsort() + 1 for k, v in measures.items()}
for i, name in enumerate(recipes):
    print(f"{name:20s}" + "  ".join(f"{int(r[i]):8d}" for r in ranks.values()))
fv.expect(len({tuple(r.tolist()) for r in ranks.values()}) > 1, "the measures disagree")

# %% [markdown]
# Read the table column by column: each column is a ranking of the *same six networks*. How alike are two rankings?
# **Spearman's** $\rho_S$ is the correlation of ranks: 1 for the same order, −1 for the reverse. If flatter networks were
# the better ones on test digits, the last column below would be positive.

# %%
for k, v in measures.items():
    same, unseen = spearmanr(S.lambda1, v).statistic, spearmanr(v, test).statistic
    print(f"{k:9s} agrees with lambda1 {same:+.2f}, with the loss on test digits {unseen:+.2f}")
if not FAST:
    signs = [spearmanr(v, test).statistic < 0 for v in measures.values()]
    fv.expect(sum(signs), 4)  # of five are negative

# %% [markdown]
# **Four of the five are negative**: of these six networks the flatter ones have the *higher* loss on test digits. Is that a finding?
# How large can $|\rho_S|$ of six be by chance? All 720 orders of six are equally likely then, so count:

# %%
chance = [abs(spearmanr(range(6), o).statistic) for o in permutations(range(6))]
for bound in (0.8, 0.82, 0.85, 0.9):
    print(
        f"|rho_S| of at least {bound:.2f}: {np.mean([c >= bound for c in chance]):.3f} of all orders"
    )
fv.expect(np.mean([c > 0.83 for c in chance]) < 0.05 < np.mean([c > 0.8 for c in chance]), "0.83")

# %% [markdown]
# Below 0.83 in size, then, a correlation is what chance gives six networks in one case of twenty or more. Six networks, one task:
# this is an example, not evidence. For many seeds with intervals there is `flatviz run compare`,
# and [chapter 10](10_flatness_and_averaging.ipynb). What the table does show: *"flat minima generalise" is not a
# statement until a measure is named.*

# %% [markdown]
# ## The same function, as sharp as you like
#
# Let a network be $f(x) = B\, \operatorname{relu}(A x)$, and $c > 0$. As $\operatorname{relu}(c t) = c \operatorname{relu}(t)$,
#
# $$ \tfrac1c B\, \operatorname{relu}(c A x) = B\, \operatorname{relu}(A x) : $$
#
# the weights $(cA, B/c)$ are the same function. Write this map of weight vectors as $w' = T w$ with a diagonal $T$.
# Then $L(w) = L(Tw)$ for all $w$. Differentiate twice at $w' = Tw$:
#
# $$ g(w) = T\, g(w'), \qquad H(w) = T\, H(w')\, T \quad \Longrightarrow \quad H(w') = T^{-1} H(w)\, T^{-1} . $$
#
# The block of $A$ is divided by $c^2$, that of $B$ multiplied by $c^2$. For $c \to \infty$ or $0$ the largest eigenvalue
# grows without bound, and not one prediction has changed. First the formula, on a small network:

# %%
from torch.nn import Flatten, Linear, ReLU, Sequential

_ = torch.manual_seed(0)  # of the module's first weights
module = Sequential(Flatten(), Linear(64, 16), ReLU(), Linear(16, 10))
relu = fv.pretrain(module, task.source, seed=0, epochs=3 if FAST else 20)
f, x = fv.nll(relu, task.source), task.source.x

# %%
factor = torch.linspace(0.5, 2.0, 16)  # one c for each hidden unit
moved = fv.symmetry.rescale(fv.symmetry.units_of(relu), relu.w[None], factor)[0]
fv.expect(relu(moved, x), relu(relu.w, x), atol=1e-4, by="the function before")

# %%
T = moved / relu.w  # the diagonal of T, read off
v = torch.randn(relu.dim, generator=torch.Generator().manual_seed(0))
by_formula = fv.hvp(f, relu.w, v / T) / T  # T^-1 H T^-1 v
there = fv.hvp(f, moved, v)
fv.expect((by_formula - there).norm() / there.norm(), 0, atol=1e-3)

# %% [markdown]
# Now turn the screw: half of the units times $e^t$, the other half times $e^{-t}$, and seven measures at each $t$. `lambda1`,
# `trace` and `sam` are definitions 1, 2 and 4, `asam` is 6; `filter` is the mean curvature along filter-normalised
# directions ([chapter 02](02_slicing_a_loss_surface.ipynb)); `relative` is the relative flatness of Petzka et al.;
# `weighted` is $\sum_d w_d^2 H_{dd}$. **Predict first**: which lines stay level?

# %%
orbit = fv.symmetry.rescaled_orbit(relu, task.source, relu.w, resolution=5 if FAST else 13)
lambda1 = orbit.measures["lambda1"]
fv.expect(orbit.difference.max() < 1e-3 * orbit.scale, "no logit has moved")
fv.expect(lambda1.max() / lambda1.min() > 100, "more than a hundredfold")  # the number to expect
fv.plot_curve(orbit.curves, barrier=False, log=True, title="The same function at other weights")

# %% [markdown]
# *Figure: seven lines against t, on a logarithmic axis, all 1 at t = 0. The lines of the largest eigenvalue, the trace,
# SAM-sharpness and the filter measure rise steeply to both sides; those named relative, asam and weighted stay level.*
#
# **Try** a network that was trained longer (`epochs=60`) or of more units (`16` to `64`, twice); more points of t
# (`resolution=25`).

# %%
change = {name: float(v.max() / v.min()) for name, v in orbit.measures.items()}
level = [change[name] for name in ("relative", "asam", "weighted")]
fv.expect(torch.tensor(level), 1, rtol=0.05)
if not FAST:
    fv.expect(
        min(change[name] for name in ("lambda1", "trace", "sam", "filter")) > 50, "the others"
    )
    fv.expect(max(change, key=change.get), "filter")

# %% [markdown]
# A surprise: the filter measure changes most. Filter normalisation removes the scale of a filter, not that of the single
# inputs that the next layer reads.
#
# ### Why ASAM does not see it
#
# Let $S = \operatorname{diag}\lvert w \rvert$. To first order the worst step within $\lVert S^{-1} e \rVert \le \rho$ is
# ASAM's $e = \rho\, S^2 g / \lVert S g \rVert$ (put $e = S u$: the worst $u$ of length $\rho$ is along $S g$). At $w' = Tw$ we have
# $S' = T S$ and $g' = T^{-1} g$. So
#
# $$ S' g' = S g, \qquad e' = \rho\, \frac{S' (S' g')}{\lVert S' g' \rVert} = T e, \qquad
#    L(w' + e') = L\big(T (w + e)\big) = L(w + e) . $$
#
# The worst step moves along with the weights, and the loss at its end is the same. In code, with `eta=0` (no floor):

# %%
gain = lambda w: f(w + fv.ASAM(0.5, eta=0.0)(w, f.value_and_grad(w)[1])) - f(w)
fv.expect(gain(moved), gain(relu.w), by="the weights before")
sam = lambda w: f(w + fv.SAM(0.05)(w, f.value_and_grad(w)[1])) - f(w)
print(f"ASAM at w {gain(relu.w):.4f}, at T w {gain(moved):.4f}")
print(f"SAM  at w {sam(relu.w):.4f}, at T w {sam(moved):.4f}")

# %% [markdown]
# Is a rescaling a mere trick? Training does not jump along it, but architectures differ in scale, and so do weight decay
# and step size. Compare $\lambda_1$ of networks from *the same recipe* only, or use a measure that does not see scale.

# %% [markdown]
# ## A flat posterior
#
# For a distribution $q = \mathcal{N}(\mu, \Sigma)$ over weights the loss is $\ell(\mu, \Sigma) = \mathbb{E}_q[L(w)]$. Write
# $w = \mu + z$, with $z \sim \mathcal{N}(0, \Sigma)$ whose law does not depend on $\mu$. Differentiate under the mean, twice:
#
# $$ \nabla^2_\mu\, \mathbb{E}_q[L(w)] = \mathbb{E}_q[\nabla^2 L(w)] . $$
#
# **The curvature that the posterior's mean feels is the average Hessian of its draws**, and its largest eigenvalue is
# $\lambda_1(\mathbb{E}_q H)$. That is not the mean of the draws' eigenvalues: $\lambda_1$ is convex, so by Jensen
# $\lambda_1(\mathbb{E}_q H) \le \mathbb{E}_q\, \lambda_1(H)$, with a gap where draws are steep in different directions. flatviz
# reports the right side, what a draw meets on average: `sharpness(L, q.sample(...))` measures each draw.
#
# In a bowl all draws have one Hessian, and $\ell = \tfrac12 \mu^\top H \mu + \tfrac12 \operatorname{tr}(H \Sigma)$.

# %%
q = fv.Gaussian(torch.ones(5), torch.full((5,), -1.0), factor=0.3 * torch.ones(1, 5))
exact = bowl(q.mean) + 0.5 * (h * q.variance).sum()
W = q.sample(20_000, seed=0)
fv.expect((0.5 * (h * W * W).sum(1)).mean(), exact, rtol=0.02, by="the formula")

# %% [markdown]
# And the course's VI posterior, draw by draw:

# %%
q = fv.fit(net, task.train, fv.VI(prior), seed=0)
fv.plots.plot_sharpness({"vi": fv.sharpness(L, q.sample(4 if FAST else 10, seed=1))})

# %% [markdown]
# *Figure: one marker for each draw at the height of its largest eigenvalue, and a line through the mean of the draws so
# far. The band is the 95 % interval of that mean; for few draws it is wider than the picture.*
#
# **Try** thirty draws (`10` to `30`); a colder fit, `| dict(kl_weight=0.003)`; draws twice as wide,
# `fv.Gaussian(q.mean, q.log_std + math.log(2), 2 * q.factor)` with `import math`.
#
# Both sides of Jensen's inequality, on a few draws. The loss averaged over them, as a function of their common shift, has their
# mean Hessian:

# %%
W = q.sample(4, seed=1)
averaged = lambda shift: torch.stack([L(w + shift) for w in W]).mean()
of_mean = float(fv.top_eigenpairs(averaged, torch.zeros(net.dim), 1).values[0])
of_draws = float(fv.sharpness(L, W).lambda1.mean())
print(f"largest eigenvalue: mean over draws {of_draws:.2f}, of the mean Hessian {of_mean:.2f}")
fv.expect(of_mean <= 1.001 * of_draws, "Jensen: the left side is at most the right one")

# %% [markdown]
# ## Summary
#
# - Flatness at a point: $\lambda_1$, trace. Flatness within a radius: worst case, average case.
# - In a bowl, worst case is $\tfrac12\rho^2\lambda_1$ and average case $\tfrac12\sigma^2\operatorname{tr} H$; elsewhere not.
# - Measures rank the same networks differently.
# - Rescaling ReLU units changes every measure that is not invariant to it. The function stays the same.
# - The curvature at a posterior's mean is the average Hessian of its draws; its $\lambda_1$ is at most the mean of theirs.
#
# ## Exercises
#
# **1.** Is $\lambda_1/\lambda_5$ unchanged if the whole loss is multiplied by 10? If all weights are measured in another
# unit, $w' = cw$? And under the rescaling of units above?
#
# <details><summary>Solution</summary>
#
# $10 L$ has $10 H$: the ratio stays. $w' = cw$ for *all* weights gives $H/c^2$: it stays. Under the rescaling of units
# $H' = T^{-1} H T^{-1}$ with different factors for different weights: it changes.
#
# </details>

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
ratio = lambda f, w: float(fv.sharpness(f, w[None]).ratio[0])
ten = lambda w: 10 * f(w)
fv.expect(ratio(ten, relu.w), ratio(f, relu.w), rtol=0.01, by="the loss itself")
print(f"ratio at w {ratio(f, relu.w):.2f}, at T w {ratio(f, moved):.2f}")

# %% [markdown]
# **2.** SAM's step is along the gradient. In the bowl with $\lambda = 9, 1$ stand at $w = (0, 1)$: what does SAM-sharpness
# measure, and what is the true worst case, for a small $\rho$?
#
# <details><summary>Solution</summary>
#
# The gradient is $(0, 1)$, so SAM steps along the *shallow* wall: $\rho + \tfrac12\rho^2$. Away from the minimum the worst
# step is governed by the gradient to first order, $\rho \lVert g \rVert = \rho$, and the steep wall enters at second
# order only.
#
# </details>

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
two = lambda w: 0.5 * (9 * w[0] ** 2 + w[1] ** 2)
here, rho = torch.tensor([0.0, 1.0]), 0.1
measured = fv.sharpness(two, here[None], radius=rho, k=2).sam[0]
fv.expect(measured, rho + rho**2 / 2, by="the formula")
angle = torch.linspace(0, 6.2832, 2001)

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
around = here + rho * torch.stack([angle.cos(), angle.sin()], 1)
worst = max(two(w) for w in around) - two(here)
print(f"SAM-sharpness {measured:.4f}, true worst case {worst:.4f}")

# %% [markdown]
# **3.** From which radius on is the hole less sharp than the valley with the steep walls, in the worst case? Write the
# equation, and solve it numerically.
#
# <details><summary>Solution</summary>
#
# $\rho^4 = 1 - e^{-\rho^2/2s^2}$. At $\rho = 1$ the right side is a little below 1, so the solution is just below 1.
#
# </details>

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
rho = torch.linspace(0.1, 1.5, 14001)
gap = rho**4 - (1 - torch.exp(-(rho**2) / (2 * width**2)))
crossing = float(rho[(gap > 0).nonzero()[0]])
fv.expect(crossing, 0.995, atol=0.005)  # for a hole of width 0.35
print(f"from {crossing:.3f} on")

# %% [markdown]
# **4.** Show that $\sum_d w_d^2 H_{dd}$ does not change under $w' = Tw$ with a diagonal $T$.
#
# <details><summary>Solution</summary>
#
# $w'_d = T_d w_d$ and $H'_{dd} = H_{dd} / T_d^2$, so each term $w_d'^2 H'_{dd} = w_d^2 H_{dd}$.
#
# </details>

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
weighted = orbit.measures["weighted"]
fv.expect(weighted.max() / weighted.min(), 1, rtol=0.01)

# %% [markdown]
# ## References
#
# - Dinh, Pascanu, Bengio, Bengio: Sharp minima can generalize for deep nets, 2017, [arXiv 1703.04933](https://arxiv.org/abs/1703.04933).
# - Foret, Kleiner, Mobahi, Neyshabur: Sharpness-aware minimization, 2021,
#   [arXiv 2010.01412](https://arxiv.org/abs/2010.01412).
# - Kwon, Kim, Park, Choi: ASAM, 2021, [arXiv 2102.11600](https://arxiv.org/abs/2102.11600),
#   [code](https://github.com/SamsungLabs/ASAM).
# - Petzka et al.: Relative flatness and generalization, 2021, [arXiv 2001.00939](https://arxiv.org/abs/2001.00939).
# - Li et al.: filter normalisation, 2018, [arXiv 1712.09913](https://arxiv.org/abs/1712.09913).
# - Lim et al.: Flat posterior does matter for Bayesian model averaging,
#   [arXiv 2406.15664](https://arxiv.org/abs/2406.15664).
#
# **Next**: [chapter 05](05_swag.ipynb) makes the first posterior: SWAG.
