# %% [markdown]
# # 12 · How many networks are the same network?
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
# **Number to expect**: rescaled networks of the same function differ in $\lambda_1$ by more than a factor of 3. A cell
# below asserts it.
#
# **Needs** chapters 01 and 04.

# %% tags=["parameters"]
FAST = False  # True shrinks the run: tests and a first look

# %%
import json
import math

import ipywidgets
import plotly.graph_objects as go
import torch

# %%
import flatviz as fv
from flatviz.storage.committed import committed

torch.set_num_threads(1)
generator = torch.Generator().manual_seed(0)

# %% [markdown]
# ## A story: the orchestra
#
# Swap two violinists, with their chairs and their music: nobody hears a difference. Let one play half as loud and turn
# her microphone up by two: no difference either. A photograph of the stage changes, the concert does not.
#
# Hidden units are such players. So the "true posterior" over *weights* has each function many times over, and a picture
# of weight space is mostly a picture of seating plans.

# %% [markdown]
# ## Symmetry 1: permutations
#
# A hidden layer computes $h = \phi(A x + b)$, the next $B h$. For a permutation matrix $P$, since $\phi$ acts on each unit
# by itself,
#
# $$ B P^\top \phi(P A x + P b) = B P^\top P \,\phi(A x + b) = B h . $$
#
# A layer of $n$ units has $n!$ orders, and layers multiply. Two hidden layers of 16 units:

# %%
task = fv.datasets.digits_transfer(shots=10, seed=0)


def network():
    layers = torch.nn.Linear(64, 16), torch.nn.ReLU(), torch.nn.Linear(16, 16), torch.nn.ReLU(), torch.nn.Linear(16, 10)
    return torch.nn.Sequential(torch.nn.Flatten(), *layers)


# %%
torch.manual_seed(0)
net = fv.pretrain(network(), task.source, seed=0, epochs=5 if FAST else 40)
units = fv.units_of(net)
digits = 2 * math.log10(math.factorial(16))
print(f"{net!r}\npermutations: a number with {digits:.0f} digits")

# %%
x, w = task.test.x, net.w[None]
moved = fv.permute(units, w, fv.random_order(units, 1, seed=1))
assert torch.allclose(net(moved[0], x), net(net.w, x), atol=1e-4)  # the same function
print(f"distance in weight space {(moved - w).norm():.1f}, length of w {w.norm():.1f}")

# %% [markdown]
# ## Symmetry 2: rescaling
#
# ReLU is positively homogeneous: $\phi(c\,a) = c\,\phi(a)$ for $c > 0$. Multiply what comes into a unit by $c$ and divide
# what goes out by $c$: the function stays. That is a *continuous* symmetry, one free number for each hidden unit. So a
# minimum is never a point: it lies in a valley of 32 dimensions whose floor is exactly level.

# %%
factor = torch.exp(torch.randn(1, 32, generator=generator))
scaled = fv.rescale(units, w, factor)
assert torch.allclose(net(scaled[0], x), net(net.w, x), atol=1e-3)
L = fv.nll(net, task.source)
print(f"loss {L(net.w):.5f} and {L(scaled[0]):.5f}")

# %% [markdown]
# ### What rescaling does to sharpness
#
# One weight in, one out: $f(x) = v\,\phi(u x)$. Let $g = \partial L / \partial (uv)$ and $h$ the curvature of $L$ in the
# product $uv$. At a minimum $g = 0$, and
#
# $$ \nabla^2 L = h \begin{pmatrix} v^2 & uv \\ uv & u^2 \end{pmatrix}, \qquad \lambda_1 = h\,(u^2 + v^2) . $$
#
# Rescale to $(cu, v/c)$: the product stays, $\lambda_1 = h (c^2 u^2 + v^2/c^2)$ can be made as large as you like. **The
# same function, as sharp as you please.** (Dinh et al. 2017.) The smallest value is reached for $c^2 = |v/u|$, where
# what comes in is as large as what goes out.

# %%
c = torch.linspace(0.2, 5, 400)
u, v = 2.0, 0.5
sharp = (c * u) ** 2 + (v / c) ** 2
assert abs(float(c[sharp.argmin()]) - (v / u) ** 0.5) < 0.02 and abs(float(sharp.min()) - 2 * u * v) < 0.01

# %% [markdown]
# **Predict first**: over random rescalings of the trained network, by which factor does $\lambda_1$ vary? And
# ASAM's sharpness, which measures steps in proportion to each weight?

# %%
orbit = fv.rescaled_orbit(net, task.train, net.w, reach=2.0, resolution=3 if FAST else 7)
fv.plot_orbit(orbit.t, orbit.measures, orbit.difference)

# %% [markdown]
# *Figure: measures of sharpness along a path of rescaled networks, all of one function. Some rise by orders of magnitude,
# others stay.*

# %%
spread = fv.rescale(units, w.expand(8, -1), torch.exp(0.7 * torch.randn(8, 32, generator=generator)))
lam = torch.stack([fv.top_eigenpairs(L, v, 1, iters=30).values[0] for v in spread[: 3 if FAST else 8]])
base = fv.top_eigenpairs(L, net.w, 1, iters=30).values[0]
print(f"as trained {base:.1f}; rescaled {lam.min():.1f} to {lam.max():.1f}")
assert FAST or lam.max() / base > 3

# %% [markdown]
# So "flat" is only a statement about weights *as they are parametrised*. Three ways out: measure what does not change
# (ASAM, relative sharpness); compare networks that were trained alike; or choose one member of each class.

# %% [markdown]
# ## One member of each class
#
# **Unit norm, sorted.** Scale each unit to an incoming norm of 1, then sort the units of a layer by their largest weight.
# Networks that differ by a symmetry become *equal*:

# %%
twin = fv.rescale(units, moved, factor)  # permuted and rescaled
a, b = fv.canonical(units, w), fv.canonical(units, twin)
assert torch.allclose(a, b, atol=1e-3)
print(f"distance {(twin - w).norm():.1f} before, {(a - b).norm():.4f} after")

# %% [markdown]
# **Least mass.** Among all rescalings choose the one with the smallest $\sum_i w_i^2$. In the logarithms of the factors
# this is a convex problem: for one unit, $\min_s\; e^{2s} \lVert \text{in} \rVert^2 + e^{-2s} \lVert \text{out} \rVert^2$.
# Set the derivative to 0:
#
# $$ e^{2s} = \frac{\lVert \text{out} \rVert}{\lVert \text{in} \rVert} . $$
#
# Weight decay pulls towards it, since it is the prior's favourite member of the class. (The solver calls these sums the
# *mass*.)

# %%
incoming, outgoing = 3.0, 0.5
s = torch.linspace(-3, 3, 6001)
total = (2 * s).exp() * incoming**2 + (-2 * s).exp() * outgoing**2
assert abs(float((2 * s[total.argmin()]).exp()) - outgoing / incoming) < 1e-3

# %%
least = fv.min_mass(units, scaled)
again = fv.min_mass(units, w)
assert torch.allclose(least.W, again.W, atol=1e-2)  # the least is one point for the whole orbit
print(
    f"sum of squares: rescaled {scaled.square().sum():.0f}, as trained {w.square().sum():.1f}, least {least.W.square().sum():.1f}"
)

# %% [markdown]
# ## Comparing two posteriors
#
# Draws of two posteriors, $X$ and $Y$. Are they from the same distribution? The **maximum mean discrepancy** with a
# kernel $k$ is
#
# $$ \mathrm{MMD}^2 = \mathbb{E}\,k(x, x') + \mathbb{E}\,k(y, y') - 2\, \mathbb{E}\,k(x, y) . $$
#
# It is 0 if and only if the distributions are equal (for a Gaussian kernel). The unbiased estimate leaves out the pairs
# of a draw with itself. By hand:


# %%
def mmd2(X, Y, width):
    k = lambda A, B: (-torch.cdist(A, B).square() / (2 * width**2)).exp()
    n = len(X)
    within = sum((k(A, A).sum() - n) / (n * (n - 1)) for A in (X, Y))
    return within - 2 * k(X, Y).mean()


# %%
X, Y, Z = torch.randn(300, 2, generator=generator), torch.randn(300, 2, generator=generator), None
Z = torch.randn(300, 2, generator=generator) + torch.tensor([1.0, 0.0])
same, other = mmd2(X, Y, 1.0), mmd2(X, Z, 1.0)
assert abs(same) < 0.02 < other
print(f"same {same:.4f}, shifted {other:.4f}")

# %% [markdown]
# **Move the shift.** The two clouds and their distance:

# %%
fig = go.FigureWidget(layout=dict(height=420, xaxis_range=[-4, 7], yaxis=dict(scaleanchor="x")))
fig.add_scatter(x=X[:, 0], y=X[:, 1], mode="markers", name="posterior A", marker_color="#0072B2")
fig.add_scatter(x=Y[:, 0], y=Y[:, 1], mode="markers", name="posterior B", marker=dict(color="#D55E00", symbol="x"))


# %%
def shift(by):
    moved = Y + torch.tensor([by, 0.0])
    with fig.batch_update():
        fig.data[1].x, fig.layout.title.text = moved[:, 0], f"MMD² = {mmd2(X, moved, 1.0):.4f}"


# %%
slider = ipywidgets.FloatSlider(value=0.0, max=3.0, step=0.1, description="shift")
ipywidgets.interactive_output(shift, {"by": slider})
ipywidgets.VBox([slider, fig])

# %% [markdown]
# *Figure: two clouds of points, blue circles and orange crosses. The title holds the squared MMD, about 0 where they lie
# on each other, growing as the second is moved away.*

# %% [markdown]
# ## The study: what removal changes
#
# `flatviz symmetry --task digits` trains several hundred networks, takes an ensemble of them as target, and measures how
# far each method's draws are from it, as trained and with symmetries removed. Its result comes with flatviz:

# %%
held = json.loads(committed("symmetry_digits.json").read_text(encoding="utf-8"))
print(held["made"]["networks"])
for trend in held["trends"]:
    print(f"{trend['']} {trend['claim']}: {trend['verdict']}")

# %%
kinds = ["raw", "max", "aligned"]
names = [n for n in held["mmd"]["raw"] if "/" in n]
fig = go.Figure(layout=dict(yaxis_title="MMD² to the ensemble, times 100", yaxis_type="log", height=460, barmode="group"))
for kind, color in zip(kinds, ("#777777", "#56B4E9", "#009E73")):
    fig.add_bar(x=names, y=[held["mmd"][kind][n][0] for n in names], name=kind, marker_color=color)
fig

# %% [markdown]
# *Figure: for each method with one mode and with ten, three bars on a logarithmic axis: the distance to the ensemble as
# trained (raw), with unit norm and sorted units (max), and aligned.*
#
# **Read it**: ten modes are far nearer than one, before and after. Removing symmetries lowers distances without making
# one mode as good as ten: most of what one mode misses is *not* a matter of seating plans.

# %%
one = {m: held["mmd"]["raw"][f"{m}/one"][0] for m in ("swag", "dropout", "laplace", "sgld")}
ten = {m: held["mmd"]["raw"][f"{m}/multi"][0] for m in one}
assert all(one[m] > 3 * ten[m] for m in one)

# %% [markdown]
# ### Do conclusions on flatness survive?
#
# The claims "method A is flatter than VI" of chapter 08, once more after each network was moved to least mass:

# %%
rows = held["evidence at least mass"]
for row in rows:
    print(f"{row['method']}, {row['measure']}: {row['as drawn']} -> {row['at least mass']}: {row['then']}")
survived = sum(row["then"] == "survives" for row in rows)
print(f"{survived} of {len(rows)} survive")

# %% [markdown]
# ## Summary
#
# - Permutations ($n!$ a layer) and rescalings (one number a unit) change weights and keep the function.
# - Rescaling changes $\lambda_1$ and SAM's sharpness at will; adaptive measures do not change.
# - A canonical form (unit norm and sorted units, or least mass) makes equal networks equal vectors.
# - MMD compares posteriors by draws; ten modes are far nearer to an ensemble than one, with or without symmetries.
#
# ## Exercises
#
# **1.** For tanh units there is a sign symmetry. Write it down, and count it for 16 units.
#
# <details><summary>Solution</summary>
#
# $\tanh(-a) = -\tanh(a)$: flip the sign of everything into a unit and of everything out of it. $2^{16} = 65{,}536$.
#
# </details>

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
odd = fv.Net.from_module(torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.Tanh(), torch.nn.Linear(16, 2)))
flipped = fv.flip(fv.units_of(odd), odd.w[None], -torch.ones(16))
inputs = torch.randn(5, 4, generator=generator)
assert torch.allclose(odd(flipped[0], inputs), odd(odd.w, inputs), atol=1e-5) and 2**16 == 65536

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
assert torch.allclose(norm(3 * rows), norm(rows), atol=1e-5)
assert not torch.allclose(norm(rows * torch.tensor([3.0] + 7 * [1.0])), norm(rows), atol=1e-2)

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
assert abs(float(total.min()) - 2 * incoming * outgoing) < 1e-4

# %% [markdown]
# **4.** Two independently trained networks: how much does alignment lower the barrier on the line between them?
#
# <details><summary>Solution</summary>
#
# It lowers it, often by a large part; small networks keep a barrier. The study's figures are in `held["barrier"]`.
#
# </details>

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
print(held["barrier"])
assert held["barrier"]["least mass, aligned"] < held["barrier"]["as trained"]

# %% [markdown]
# ## References
#
# - Dinh, Pascanu, Bengio, Bengio: Sharp minima can generalize for deep nets, 2017,
#   [arXiv 1703.04933](https://arxiv.org/abs/1703.04933).
# - Laurent, Aldea, Franchi: A symmetry-aware exploration of Bayesian neural network posteriors, 2024,
#   [arXiv 2310.08287](https://arxiv.org/abs/2310.08287).
# - Gretton et al.: A kernel two-sample test, 2012.
# - [git-re-basin](https://github.com/samuela/git-re-basin): alignment of networks.
#
# **Next**: chapter 13 brings your own network.
