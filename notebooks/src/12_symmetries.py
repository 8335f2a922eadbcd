# %% [markdown]
# # 12 · How many networks are the same network?
#
# Swap two violinists, with their chairs and their music: nobody hears a difference. Let one play half as loud and turn
# her microphone up by two: no difference either. A photograph of the stage changes, the concert does not.
#
# Hidden units are such players. So the "true posterior" over *weights* has each function many times over, and a picture
# of weight space is mostly a picture of seating plans.
#
# **You will learn** to
#
# - count the symmetries of a network: permutations of units, rescaling of ReLU layers, sign flips of odd ones;
# - show that some measures of sharpness change under them though the function does not;
# - choose one network of each class: unit norm, sorted units, least mass;
# - compare two posteriors by their draws (MMD), before and after symmetries are removed.
#
# **Takes** 35 minutes to read and half a minute to run on a CPU; the large study is loaded, not run.
#
# **Needs** chapters [01](01_network_is_a_vector.ipynb) and [04](04_what_flat_means.ipynb).

# %% tags=["parameters"]
FAST = False  # True shrinks the run: tests and a first look

# %%
import math

import ipywidgets
import plotly.express as px
import torch

# %%
import flatviz as fv
from flatviz.experiments import at, paired, read_table
from flatviz.plots.theme import figure, in_house_style

torch.set_num_threads(1)
generator = torch.Generator().manual_seed(0)

# %% [markdown]
# **Number to expect**: rescaled networks of the same function differ in $\lambda_1$ by more than a factor of 3. A cell
# below checks it.

# %% [markdown]
# ## Symmetry 1: permutations
#
# A hidden layer computes $h = \phi(A x + b)$, the next $B h$. Renumber its units by a permutation matrix $P$: the rows of $A$
# and $b$, and in the same way the columns of $B$. Since $\phi$ acts on each unit by itself, $\phi(P a) = P \phi(a)$, and
# $P^\top P = I$:
#
# $$ (B P^\top)\, \phi(P A x + P b) = B P^\top P \,\phi(A x + b) = B h . $$
#
# A layer of $n$ units has $n!$ orders, and layers multiply. Two hidden layers of 16 units:

# %%
task = fv.datasets.digits_transfer(shots=10, seed=0)


def network():
    layers = (
        torch.nn.Linear(64, 16),
        torch.nn.ReLU(),
        torch.nn.Linear(16, 16),
        torch.nn.ReLU(),
        torch.nn.Linear(16, 10),
    )
    return torch.nn.Sequential(torch.nn.Flatten(), *layers)


# %%
torch.manual_seed(0)
net = fv.pretrain(network(), task.source, seed=0, epochs=5 if FAST else 40)
units = fv.symmetry.units_of(net)  # the hidden units, and which weights go in and out of each
digits = 2 * math.log10(math.factorial(16))
print(f"{net!r}\npermutations: a number with {digits:.0f} digits")

# %% [markdown]
# `permute` renumbers the units of every layer at random:

# %%
x, w = task.test.x, net.w[None]
moved = fv.symmetry.permute(units, w, fv.symmetry.random_order(units, 1, seed=1))
fv.expect(net(moved[0], x), net(net.w, x), atol=1e-4, by="the function before")
print(f"distance in weight space {(moved - w).norm():.1f}, length of w {w.norm():.1f}")

# %% [markdown]
# ## Symmetry 2: rescaling
#
# ReLU is positively homogeneous: $\phi(c\,a) = c\,\phi(a)$ for $c > 0$. Multiply what comes into a unit by $c$ and divide
# what goes out by $c$: the function stays. That is a *continuous* symmetry, one free number for each hidden unit. So a
# minimum is never a point: it lies in a valley of 32 dimensions, one for each of the 2 × 16 units, whose floor is exactly level.

# %%
factor = torch.exp(torch.randn(1, 32, generator=generator))  # c of each unit
scaled = fv.symmetry.rescale(units, w, factor)
fv.expect(net(scaled[0], x), net(net.w, x), atol=1e-3, by="the function before")
L = fv.nll(net, task.source)
print(f"loss {L(net.w):.5f} and {L(scaled[0]):.5f}")

# %% [markdown]
# ### What rescaling does to sharpness
#
# One weight in, one out: $f(x) = v\,\phi(u x)$, which is $uv\,x$ where the unit is on. So the loss depends on the product
# $p = uv$ alone, with slope $g = dL/dp$ and curvature $h = d^2L/dp^2$. By the chain rule
#
# $$ \frac{\partial^2 L}{\partial u^2} = h v^2, \qquad \frac{\partial^2 L}{\partial u\, \partial v} = h uv + g, \qquad
#    \frac{\partial^2 L}{\partial v^2} = h u^2 . $$
#
# At a minimum $g = 0$, so the Hessian is $h$ times the vector $(v, u)$ times itself transposed: rank one, with eigenvalue
#
# $$ \nabla^2 L = h \begin{pmatrix} v^2 & uv \\ uv & u^2 \end{pmatrix}, \qquad \lambda_1 = h\,(u^2 + v^2) . $$
#
# Rescale to $(cu, v/c)$: the product stays, $\lambda_1 = h (c^2 u^2 + v^2/c^2)$ can be made as large as you like. **The
# same function, as sharp as you please.** (Dinh et al. 2017.) The derivative in $c^2$ vanishes at $c^2 = |v/u|$, where what
# comes in is as large as what goes out; there $\lambda_1 = 2h|uv|$.

# %%
u, v = 2.0, 0.5
c = (v / u) ** 0.5 * torch.linspace(0.4, 10, 400)  # around the smallest
sharp = (c * u) ** 2 + (v / c) ** 2  # lambda_1 for h = 1
fv.expect(c[sharp.argmin()], (v / u) ** 0.5, rtol=0.04, by="the formula")
fv.expect(sharp.min(), 2 * u * v, rtol=0.01, by="the formula")

# %% [markdown]
# Now the trained network. Half of its units are multiplied by $e^t$, the others by $e^{-t}$: a path of networks that all
# compute the same function. Along it seven measures of [chapter 04](04_what_flat_means.ipynb)'s kind, each divided by its
# value at $t = 0$:
#
# - `lambda1`, `trace`: of the Hessian; `sam`: the rise of the loss over a step of SAM;
# - `filter`: curvature along directions scaled filter by filter;
# - `asam`: the rise over a step measured in proportion to each weight; `relative`, `weighted`: curvature weighted by the
#   squared weights.
#
# **Predict first**: which of the seven see the rescaling, and which do not?

# %%
orbit = fv.symmetry.rescaled_orbit(net, task.source, net.w, reach=2.0, resolution=3 if FAST else 9)
fv.plot_curve(orbit.curves, barrier=False, log=True, title="The same function at other weights")

# %% [markdown]
# *Figure: measures of sharpness along a path of rescaled networks that all compute the same function. Some measures rise by
# orders of magnitude away from the middle, others stay constant.*

# %%
blind = {
    name
    for name, values in orbit.measures.items()
    if (values / values[len(values) // 2] - 1).abs().max() < 0.01
}
print("do not see it:", ", ".join(sorted(blind)))
fv.expect(sorted(blind), ["asam", "relative", "weighted"])
fv.expect(orbit.difference.max() < 1e-2 * orbit.scale, "no logit has moved")

# %% [markdown]
# And over *random* rescalings, by which factor does $\lambda_1$ vary?

# %%
spread = fv.symmetry.rescale(
    units, w.expand(8, -1), torch.exp(0.7 * torch.randn(8, 32, generator=generator))
)
lam = torch.stack(
    [fv.top_eigenpairs(L, v, 1, iters=30).values[0] for v in spread[: 3 if FAST else 8]]
)
base = fv.top_eigenpairs(L, net.w, 1, iters=30).values[0]
print(f"λ1 as trained {base:.1f}; rescaled {lam.min():.1f} to {lam.max():.1f}")
if not FAST:
    fv.expect(lam.max() / base > 3, "more than a factor of 3")

# %% [markdown]
# So "flat" is only a statement about weights *as they are parametrised*. Three ways out: measure what does not change
# (ASAM, relative sharpness); compare networks that were trained alike; or choose one member of each class.

# %% [markdown]
# ## One member of each class
#
# **Unit norm, sorted.** Scale each unit to an incoming norm of 1, then sort the units of a layer by their largest weight.
# Networks that differ by a symmetry become *equal*:

# %%
twin = fv.symmetry.rescale(units, moved, factor)  # permuted and rescaled
a, b = fv.symmetry.canonical(units, w), fv.symmetry.canonical(units, twin)
fv.expect(a, b, atol=1e-3, by="the other twin")
print(f"distance {(twin - w).norm():.1f} before, {(a - b).norm():.4f} after")

# %% [markdown]
# **Least mass.** Among all rescalings choose the one with the smallest $\sum_i w_i^2$. In the logarithms of the factors
# this is a convex problem: for one unit, $\min_s\; e^{2s} \lVert \text{in} \rVert^2 + e^{-2s} \lVert \text{out} \rVert^2$.
# Set the derivative $2 e^{2s} \lVert \text{in} \rVert^2 - 2 e^{-2s} \lVert \text{out} \rVert^2$ to 0:
#
# $$ e^{2s} = \frac{\lVert \text{out} \rVert}{\lVert \text{in} \rVert} . $$
#
# Weight decay pulls towards it, since it is the prior's favourite member of the class. (The solver calls these sums the
# *mass*.)

# %%
incoming, outgoing = 3.0, 0.5
s = torch.linspace(-3, 3, 6001)
total = (2 * s).exp() * incoming**2 + (-2 * s).exp() * outgoing**2
fv.expect((2 * s[total.argmin()]).exp(), outgoing / incoming, atol=1e-3, by="the formula")

# %%
least = fv.symmetry.min_mass(units, scaled)
again = fv.symmetry.min_mass(units, w)
fv.expect(least.W, again.W, atol=1e-2, by="another start")  # one point for the whole orbit
squares = {"rescaled": scaled, "as trained": w, "least": least.W}
print("sum of squares:", ", ".join(f"{name} {v.square().sum():.1f}" for name, v in squares.items()))

# %% [markdown]
# ## Comparing two posteriors
#
# Draws of two posteriors, $X$ and $Y$. Are they from the same distribution? The **maximum mean discrepancy** with a
# kernel $k$ is
#
# $$ \mathrm{MMD}^2 = \mathbb{E}\,k(x, x') + \mathbb{E}\,k(y, y') - 2\, \mathbb{E}\,k(x, y), $$
#
# with independent draws $x, x'$ of one and $y, y'$ of the other: how alike are two draws of the same, less how alike are
# draws of different ones? With the Gaussian kernel $k(x, y) = e^{-\lVert x - y \rVert^2 / 2 s^2}$ of a width $s$ it is 0 if and
# only if the distributions are equal. The unbiased estimate leaves out the pairs of a draw with itself. By hand:


# %%
def mmd2(X, Y, width):
    k = lambda A, B: (-torch.cdist(A, B).square() / (2 * width**2)).exp()
    n = len(X)
    within = sum((k(A, A).sum() - n) / (n * (n - 1)) for A in (X, Y))  # k(x, x) = 1 is left out
    return within - 2 * k(X, Y).mean()


# %%
X, Y, Z = torch.randn(3, 300, 2, generator=generator)
same, other = mmd2(X, Y, 1.0), mmd2(X, Z + torch.tensor([1.0, 0.0]), 1.0)
fv.expect(bool(abs(same) < 0.02 < other), "0 for the same density, above it for another")
print(f"same {same:.4f}, shifted {other:.4f}")

# %% [markdown]
# **Live.** Move the second cloud. **Predict first**: MMD² for two clouds that lie far apart. (Which of its three terms vanishes?)


# %%
def shifted(shift):
    moved = {"A": X, "B": Y + torch.tensor([shift, 0.0])}
    distance = f"MMD² = {mmd2(*moved.values(), 1.0):.4f}"
    axes = dict(
        xaxis=dict(title="first weight", range=[-4, 10]),
        yaxis=dict(title="second weight", scaleanchor="x"),
    )
    fig = figure(distance, f"Two clouds of 300 points, {shift:.1f} apart: {distance}", **axes)
    return with_clouds(fig, moved)


# %%
def with_clouds(fig, moved):
    for (name, points), color, symbol in zip(
        moved.items(), ("#0072B2", "#D55E00"), ("circle", "x")
    ):
        marker = dict(color=color, symbol=symbol, size=5)
        fig.add_scatter(
            x=points[:, 0], y=points[:, 1], mode="markers", marker=marker, name=f"posterior {name}"
        )
    return fig


# %%
_ = ipywidgets.interact(shifted, shift=(0.0, 6.0, 0.5))

# %% [markdown]
# *Figure: two clouds of points, blue circles and orange crosses. The title gives the squared MMD: about 0 where the clouds
# overlap, growing as the second moves away, until no two points are near each other; from there on it no longer depends on
# the distance.*
#
# ## The study: what removal changes
#
# The experiment [symmetry](experiments/symmetry.ipynb), `flatviz run symmetry`, trains about 4,700 networks of the size above,
# takes an ensemble of them as target, and measures how far each method's draws are from it, as trained and with symmetries
# removed. A **mode** is one training run: a method draws 100 weight vectors around one of them, or ten around each of ten. That is
# repeated with forty sets of starting networks. The table comes with flatviz:

# %%
table = read_table("symmetry").query("task == 'digits'")
mmd = table[(table.quantity == "mmd") & table.method.str.contains("/")]
removed = dict(raw="as trained", max="unit norm, sorted", aligned="aligned")
mean = mmd.groupby(["setting", "method"], sort=False).value.mean().loc[list(removed)]

# %%
rows = mean.rename(index=removed).reset_index()
modes = {"/one": ", one mode", "/multi": ", ten modes"}
rows["method"] = rows.method.replace(modes, regex=True)
names = dict(value="100 MMD² to the ensemble", method="", setting="")
look = dict(title="Distance to the ensemble", symbol="setting", height=480, labels=names)
in_house_style(px.scatter(rows, x="value", y="method", color="setting", **look))

# %% [markdown]
# *Figure: for each method, with one mode and with ten, the distance to the ensemble: of the networks as trained, of
# networks with unit norm and sorted units, and of networks aligned to a reference.*
#
# **Read it**: as trained, ten modes are far nearer than one. Part of that is a matter of seating plans: where symmetries are
# removed, one mode comes nearer, by how much depends on the method and on the way. But in no way does it come as near as ten.
# `mfvi`, mean-field VI, is an exception: it approximates a posterior at $T = 1$, whose draws do not minimise a loss as the target's
# networks do. As trained or aligned, its ten modes stay farther away than those of the other methods.

# %%
methods = ("swag", "dropout", "laplace", "sgld", "sghmc", "mfvi")
others = [m for m in methods if m != "mfvi"]
nearer = all(mean["raw", f"{m}/one"] > 3 * mean["raw", f"{m}/multi"] for m in others)
fv.expect(nearer, "as trained, ten modes are three times nearer than one")

# %%
pairs = [(kind, m) for kind in ("raw", "aligned") for m in others]
far = all(mean[kind, "mfvi/multi"] > mean[kind, f"{m}/multi"] for kind, m in pairs)
fv.expect(far, "mean-field VI stays farther away")
near = all(mean[kind, f"{m}/one"] > mean[kind, f"{m}/multi"] for kind in removed for m in methods)
fv.expect(near, "ten modes are nearer however symmetries are removed")

# %% [markdown]
# The experiment also tests by rule what Laurent et al. (2024) saw on large networks, on test images and on images whose pixels were
# shuffled; its page has the verdicts.
#
# ### Do conclusions on flatness survive?
#
# The claims "this method is flatter than VI" of [chapter 08](08_from_sam_to_sabma.ipynb), once more after each network was moved
# to least mass. The ratio of a measure to VI's is averaged over five seeds as its logarithm, paired by seed. Below 1 the method is
# flatter; where the 95 % interval holds 1 the claim is *open*:


# %%
def sides(setting, method):
    """Each measure: below (-1) or above (1) VI, or open (0)."""
    mine, vi = (at(table, experiment="flatness", setting=setting, method=m) for m in (method, "vi"))
    ratio = paired(mine, vi, dict.fromkeys(mine, -1), logs=list(mine)).set_index("quantity")
    return (ratio["mean"] > ratio["half"]).astype(int) - (ratio["mean"] < -ratio["half"])


# %%
def survives(setting, method, measure):
    drawn, least = sides(setting, method)[[measure, f"{measure} at least mass"]]
    changed = "reversed" if least else "no longer shown"
    return "open" if not drawn else "survives" if drawn == least else changed


# %%
measures = ["lambda1", "trace", "sam", "adaptive"]
for setting in ("no KL", "T 0.03"):
    for method in ("sam_mu", "sabma", "authors_code"):
        words = ", ".join(f"{measure} {survives(setting, method, measure)}" for measure in measures)
        print(f"{fv.METHODS[method].label:20} {setting:9} {words}")

# %% [markdown]
# ## Summary
#
# - Permutations ($n!$ a layer) and rescalings (one number a unit) change weights and keep the function.
# - Rescaling changes $\lambda_1$ and SAM's sharpness at will; measures in proportion to the weights do not change.
# - A canonical form (unit norm and sorted units, or least mass) makes equal networks equal vectors.
# - MMD compares posteriors by draws; of most methods ten modes are far nearer to an ensemble than one, with or without symmetries.
#
# ## Exercises
#
# **1.** For tanh units there is a sign symmetry. Write it down (how do $\tanh(a)$ and $\tanh(-a)$ differ?), and count it for 16
# units.
#
# <details><summary>Solution</summary>
#
# $\tanh(-a) = -\tanh(a)$: flip the sign of everything into a unit and of everything out of it. $2^{16} = 65{,}536$.
#
# </details>

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
odd = fv.Net.from_module(
    torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.Tanh(), torch.nn.Linear(16, 2))
)
flipped = fv.symmetry.flip(fv.symmetry.units_of(odd), odd.w[None], -torch.ones(16))
inputs = torch.randn(5, 4, generator=generator)
fv.expect(odd(flipped[0], inputs), odd(odd.w, inputs), atol=1e-5, by="the function before")
fv.expect(2**16, 65536, rtol=0)

# %% [markdown]
# **2.** LayerNorm networks, as in the other chapters: does rescaling what comes into a unit *before* a LayerNorm keep the
# function?
#
# <details><summary>Solution</summary>
#
# Not for one unit, since the norm is taken over all units of a layer. For the whole layer at once it does: LayerNorm
# divides a common factor out. So there the symmetry is one number a layer, not one a unit.
#
# </details>

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
norm = torch.nn.LayerNorm(8, eps=0.0)
rows = torch.randn(5, 8, generator=generator)
fv.expect(norm(3 * rows), norm(rows), atol=1e-5, by="the rows before")
uneven = norm(rows * torch.tensor([3.0] + 7 * [1.0]))
fv.expect(not torch.allclose(uneven, norm(rows), atol=1e-2), "a single input is not free")

# %% [markdown]
# **3.** Show that the least mass of a network with one hidden unit is $2 \lVert \text{in} \rVert \lVert \text{out} \rVert$.
#
# <details><summary>Solution</summary>
#
# Put $e^{2s} = \lVert \text{out} \rVert / \lVert \text{in} \rVert$ into the sum: both terms become
# $\lVert \text{in} \rVert \lVert \text{out} \rVert$.
#
# </details>

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
fv.expect(total.min(), 2 * incoming * outgoing, by="the formula")

# %% [markdown]
# **4.** Two independently trained networks: how much does alignment lower the barrier (the highest rise of the loss) on the line
# between them? The table has the loss along such lines, in the settings that begin with "line".
#
# <details><summary>Solution</summary>
#
# It lowers it, often by a large part; small networks keep a barrier. The cell below prints the figures, in nats.
#
# </details>

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
lines = (
    table[table.setting.str.startswith("line, ")].groupby("setting", sort=False).value.apply(list)
)
barriers = {
    name: (torch.tensor(v) - torch.linspace(v[0], v[-1], len(v))).max().item()
    for name, v in lines.items()
}
print(
    ", ".join(f"{name.removeprefix('line, ')} {barrier:.2f}" for name, barrier in barriers.items())
)
lower = barriers["line, least mass, aligned"] < barriers["line, as trained"]
fv.expect(lower, "the barrier is lower once aligned")

# %% [markdown]
# ## References
#
# - Dinh, Pascanu, Bengio, Bengio: Sharp minima can generalize for deep nets, 2017,
#   [arXiv 1703.04933](https://arxiv.org/abs/1703.04933).
# - Laurent, Aldea, Franchi: A symmetry-aware exploration of Bayesian neural network posteriors, 2024,
#   [arXiv 2310.08287](https://arxiv.org/abs/2310.08287).
# - Gretton et al.: A kernel two-sample test, Journal of Machine Learning Research 13, 2012,
#   [jmlr.org](https://www.jmlr.org/papers/v13/gretton12a.html).
# - [git-re-basin](https://github.com/samuela/git-re-basin): alignment of networks.
#
# **Next**: [chapter 13](13_your_own_network.ipynb) brings your own network.
