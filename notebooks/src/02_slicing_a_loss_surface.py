# %% [markdown]
# # 02 · Can a picture of a loss surface lie?
#
# You stand in a valley of a country with 906 directions. You may take home one photograph: a slice through where you
# stand, two directions wide. Which two? The photographer who walks along the river brings home a plain, the one who
# walks across it brings home a gorge. Both photographs are true.
#
# So a picture of a loss surface is a *choice*, and it must say which. Four things can go wrong: the directions, their
# length, the points that lie off the plane, and the grid.
#
# **You will learn** to
#
# - cut a line or a plane out of a loss surface, and say in symbols what the picture shows;
# - compute what a random plane shows of the curvature, and what it hides;
# - use filter normalisation, and know which lie it prevents;
# - check the grid of any tool that draws such pictures, and find the errors of a widely used one.
#
# **Takes** 30 minutes to read and half a minute to run on a CPU.
#
# **Needs** [chapter 01](01_network_is_a_vector.ipynb).

# %% tags=["parameters"]
FAST = False  # True shrinks the run: tests and a first look

# %%
from dataclasses import replace
from importlib.metadata import version

import ipywidgets
import torch

# %%
import flatviz as fv
from flatviz.families.tour import prepare
from flatviz.plots.theme import figure

torch.set_num_threads(1)
size = 11 if FAST else 31  # points along each side of a plane

# %% [markdown]
# **Number to expect**: a random plane of this network shows 2/906, about 0.2 %, of what a random draw does. A cell below
# checks it.

# %% [markdown]
# ## What a slice is
#
# Let $L: \mathbb{R}^D \to \mathbb{R}$ be the loss and $w$ a trained network. A **line** and a **plane** through $w$ are
#
# $$ \ell(a) = L(w + a\,u), \qquad s(a, b) = L(w + a\,u + b\,v) . $$
#
# $u, v \in \mathbb{R}^D$ are the directions. Now the numbers: the network of this course, fitted to ten digits a class.
# `prepare` does steps 1 to 3 of [chapter 00](00_tour.ipynb) in one call; `SGD` then trains the 906 treated weights,
# with the course's settings for it from `METHODS`.

# %%
net, task, prior = prepare(task=fv.datasets.digits_transfer(), epochs=5 if FAST else 60)
L = fv.nll(net, task.train)  # the loss of the 100 training digits
w = fv.fit(net, task.train, fv.SGD(), seed=0).center
generator = torch.Generator().manual_seed(0)
z = torch.randn(2, net.dim, generator=generator)
plane = fv.plane_along(w, *z, orthonormal=True, name="random plane")

# %% [markdown]
# `slice_plane` computes $s(a, b)$ on a grid. By hand it is a loop over $a$ and $b$:

# %%
surface = fv.slice_plane(L, plane, extent=((-1, 1), (-1, 1)), resolution=size)
u, v = plane.axes
i, j = 2, size - 1
by_hand = L(w + surface.a[i] * u + surface.b[j] * v)
fv.expect(surface.values[i, j], by_hand, by="the loss at that point")

# %% [markdown]
# ## Lie 1: the directions
#
# Here is the same point $w$ twice. Both planes have directions of length 1 at a right angle, both go from −1 to 1, both
# have the same colours. The first has two random directions; the second the two in which the loss curves most.

# %%
top = fv.top_eigenpairs(L, w, 2)
gorge = fv.slice_plane(L, fv.plane_eigen(w, top), extent=((-1, 1), (-1, 1)), resolution=size)
colors = (float(gorge.values.min()), float(gorge.values.max()))
fv.plot_surface(surface, color_range=colors, log=True, title="Two random directions")

# %% [markdown]
# *Figure: contours of the loss over two random directions. Nearly one colour everywhere: a plain.*
#
# **Try** another plane (`seed=1`), ten times more of it (`extent=((-10, 10), (-10, 10))`), and the loss on test digits.

# %%
fv.plot_surface(gorge, color_range=colors, log=True, title="The two sharpest directions")

# %% [markdown]
# *Figure: contours over the two leading eigenvectors of the Hessian, on the colours of the figure before. The loss rises
# steeply from a small valley in the middle: a gorge.*
#
# ### What a random plane shows: the derivation
#
# **Step 1.** Near $w$ the loss is a bowl: $L(w + \delta) \approx L(w) + g^\top \delta + \tfrac12 \delta^\top H \delta$,
# with gradient $g$ and Hessian $H$, the matrix of second derivatives. Along $u$ of length 1 its curvature, the second
# derivative of $L(w + a u)$ in $a$, is $u^\top H u$.
#
# **Step 2.** Let $u$ be a random direction. By symmetry $\mathbb{E}[u_i u_j] = 0$ for $i \ne j$, and
# $\mathbb{E}[u_i^2] = 1/D$ ([chapter 01](01_network_is_a_vector.ipynb)). So
#
# $$ \mathbb{E}[u^\top H u] = \sum_{ij} H_{ij}\, \mathbb{E}[u_i u_j] = \frac{1}{D} \sum_i H_{ii}
#    = \frac{\operatorname{tr} H}{D} . $$
#
# **In words**: a random slice shows the *average* eigenvalue. The sharpest ones, which decide whether a minimum is
# sharp, are a few among hundreds of small ones; the average does not see them.
#
# **Check** with a bowl whose $H$ we know: 10 sharp directions among 906.

# %%
h = torch.cat([torch.full((10,), 20.0), torch.full((896,), 0.01)])  # the eigenvalues: H = diag(h)
u = torch.nn.functional.normalize(torch.randn(4000, 906, generator=generator), dim=1)
seen = (u * u * h).sum(1)  # u^T H u for 4,000 random directions
fv.expect(seen.mean(), h.sum() / 906, rtol=0.05, by="the formula")
print(f"sharpest 20, tr H / D {h.sum() / 906:.3f}, mean seen {seen.mean():.3f}")

# %% [markdown]
# And on the network, with all eigenvalues' sum from 906 products with the Hessian:

# %%
trace, _ = fv.hessian_trace(L, w, products=60 if FAST else net.dim)
print(f"largest eigenvalue {top.values[0]:.2f}, average eigenvalue {trace / net.dim:.3f}")
fv.expect(top.values[0] > 20 * trace / net.dim, "the largest is twenty times the average, or more")

# %% [markdown]
# ## Lie 2: the length of the directions
#
# A layer that is followed by a normalisation layer has a scale that does not matter: with $c > 0$ the weights $cw$ of that
# layer compute the same function as $w$. Cut along a *fixed* direction $d$:
#
# $$ L(c\,w + a\,d) = L\big(c\,(w + \tfrac{a}{c} d)\big) = L\big(w + \tfrac{a}{c}\, d\big) . $$
#
# The picture of $cw$ is that of $w$, pulled wide by $c$. **The same function, and as flat as you like.** Here with
# $c = 3$, on the first layer (its weights are `v`, the line runs from `v - d` to `v + d` and from `3 v - d` to `3 v + d`):

# %%
first = net.at(w).restrict(lambda name: name.startswith("1."))  # the first layer alone
f, v, c = fv.nll(first, task.train), first.w, 3.0
d = fv.plane_random(first, v, normalize="none", seed=0).axes[0] / 2
plain = [fv.slice_line(f, k * v - d, k * v + d) for k in (1.0, c)]
plain = [replace(p, name=name) for p, name in zip(plain, ("w", "3 w, the same function"))]
fv.plot_curve(plain, barrier=False, title="A fixed direction: one function, two widths")

# %% [markdown]
# *Figure: the loss on a line, t from 0 to 1 with the network at 0.5. The solid curve of w rises steeply to both sides, the
# dashed one of 3 w is a wide and shallow valley.*
#
# The cure is **filter normalisation** (Li et al. 2018). Give each filter of the direction (each row of a weight matrix)
# the length of the same filter of the weights:
#
# $$ d_i \leftarrow \frac{d_i}{\lVert d_i \rVert}\, \lVert w_i \rVert . $$
#
# The direction of $cw$ is then $c$ times that of $w$, and the $c$ in the formula above cancels. First by hand:

# %%
block, raw = first.blocks[0], fv.plane_random(first, v, normalize="none", seed=0).axes[0]
rows, filters = raw[block.slice].view(block.shape), v[block.slice].view(block.shape)
by_hand = rows / rows.norm(dim=1, keepdim=True) * filters.norm(dim=1, keepdim=True)
d = fv.plane_random(first, v, normalize="filter", seed=0).axes[0]
fv.expect(d[block.slice].view(block.shape), by_hand, atol=1e-6, by="the formula")

# %%
norm = [k * fv.plane_random(first, v, normalize="filter", seed=0).axes[0] for k in (1.0, c)]
normed = [fv.slice_line(f, k * v - d, k * v + d) for k, d in zip((1.0, c), norm)]
normed = [replace(p, name=name) for p, name in zip(normed, ("w", "3 w, the same function"))]
gap = lambda one, two: (one.values - two.values).abs().max() / one.values.max()
fv.expect(gap(*normed) < 0.02 < gap(*plain), "now they lie on each other")
fv.plot_curve(normed, barrier=False, title="Filter-normalised: one function, one picture")

# %% [markdown]
# *Figure: the two curves of the figure before, now along filter-normalised directions: they lie on each other.*
#
# "Filter normalisation" is not one thing: tools differ in what they do with shifts and gains, and `plane_random` offers
# their readings as `convention=`. Say which you used.

# %% [markdown]
# ## Lie 3: what lies off the plane
#
# Draws of a posterior $q$, a distribution over weights, are often drawn as dots on a surface. A dot is the **shadow** of a
# draw: the nearest point of the plane. How much of a random draw $z \sim \mathcal{N}(0, I)$ is in its shadow?
#
# The plane has orthonormal axes $u, v$. The shadow is $(u^\top z)\,u + (v^\top z)\,v$, its squared length
# $(u^\top z)^2 + (v^\top z)^2$. Each term has mean $1$, and $\lVert z \rVert^2$ has mean $D$. So the share is
#
# $$ \frac{\mathbb{E}\lVert \text{shadow} \rVert^2}{\mathbb{E}\lVert z \rVert^2} = \frac{2}{D} . $$

# %%
z = w + torch.randn(4000, net.dim, generator=torch.Generator().manual_seed(1))
shadow = fv.project(z, plane)
share = shadow.coords.square().sum(1).mean() / (z - w).square().sum(1).mean()
fv.expect(share, 2 / net.dim, rtol=0.1, by="the formula")  # 4,000 draws know it to 2 %
print(f"share in the plane {share:.5f}, 2 / D {2 / net.dim:.5f}")

# %% [markdown]
# So choose the plane by the draws (`plane_pca`), and draw what it hides. `plot_surface` makes a dot larger the farther off
# the plane its draw lies, and colours it by the loss of the draw itself, not of its shadow. `plot_projection` shows the
# two distances:

# %%
q = fv.fit(net, task.train, fv.VI(prior), seed=0)
draws = q.sample(30, seed=1)
pca = fv.plane_pca(draws)
fv.plot_projection(fv.project(draws, pca, L))

# %% [markdown]
# *Figure: one dot for each of 30 draws; horizontal: its distance from the centre within the plane; vertical: its distance
# from the plane. Nearly all dots are above the dashed diagonal: even the plane in which draws vary most hides more of a draw
# than it shows.*

# %% [markdown]
# ## Lie 4: the grid
#
# The last lie is a bug of a tool. Below, the package loss-landscapes draws a random plane, and a hook records, at every
# evaluation, at which weights the network *really* ran. Then two questions have an answer:
#
# - does `distance` set how far the picture reaches?
# - are the trained weights on the grid, and are the rows straight?
#
# First: three distances are asked for. How far does the farthest point lie, counted in lengths of $w$?

# %%
import loss_landscapes
import loss_landscapes.metrics

# %%
tool = "loss-landscapes " + version("loss-landscapes")
full, data = net.at(w).restrict("all"), task.train
flat = torch.nn.utils.parameters_to_vector
metric = loss_landscapes.metrics.Loss(torch.nn.CrossEntropyLoss(), data.x, data.y)


# %%
def walked(distance, steps):
    """The weights at which the tool ran the network, (steps^2, D), and its values there."""
    module, visited, values = full.to_module().eval(), [], []
    module.register_forward_pre_hook(lambda m, x: visited.append(flat(m.parameters()).detach()))
    torch.manual_seed(0)
    loss_landscapes.random_plane(
        module, lambda net: values.append(metric(net)) or values[-1], distance=distance, steps=steps
    )
    return torch.stack(visited), torch.tensor(values)


# %%
reach = {}
for distance in (10.0, 1.0, 0.1):
    W, _ = walked(distance, steps=6)
    reach[distance] = float((W - full.w).norm(dim=1).max() / full.w.norm())
    print(f"{tool}: asked for distance {distance:4}, went {reach[distance]:.2f} |w|")

# %% [markdown]
# Release 3.0.6 *divides* by `distance` where it should multiply: a request for a wide picture gives a narrow one. A
# reader who then says "my minimum is flat" has measured the tool. The cell below checks this of that release, and says
# what the installed one does.

# %%
upside_down = reach[10.0] < reach[0.1]
fv.expect(upside_down or tool != "loss-landscapes 3.0.6", "release 3.0.6 divides")
print(tool, "divides by distance" if upside_down else "multiplies by distance")

# %% [markdown]
# Now the places. A grid of 7 × 7 points should have the trained weights in its middle, and straight rows.

# %%
W, values = walked(distance=1.0, steps=7)
step = W[1] - W[0]
nearest = float((W - full.w).norm(dim=1).min() / step.norm())
fv.expect(nearest > 0.5 or tool != "loss-landscapes 3.0.6", "release 3.0.6 misses them")
print(f"{tool}: the trained weights are {nearest:.2f} steps from the nearest point")

# %% [markdown]
# Its values are right, at the points where it really was: our loss at the same weights agrees.

# %%
f = fv.nll(full, data)
fv.expect(torch.stack([f(v) for v in W]), values, by="the tool")

# %%
path = dict(mode="lines+markers", line_color="#6b7780", marker_color="#0072B2", name="evaluated")
star = dict(mode="markers", marker=dict(symbol="star", size=16), name="trained weights")
theirs = fv.plane_along(full.w, step, W[7] - W[6], orthonormal=True, name="its plane")
a, b = fv.project(W, theirs).coords.T.numpy()

# %%
alt = f"49 points on a plane, the trained weights {nearest:.2f} steps from the nearest of them"
fig = figure(f"Where {tool} evaluates", alt)
fig.add_scatter(x=a, y=b, **path).add_scatter(x=[0], y=[0], **star)
fig.update_xaxes(title="distance along axis 1").update_yaxes(
    title="distance along axis 2", scaleanchor="x"
)

# %% [markdown]
# *Figure: the points at which the tool evaluated the loss, joined in their order. With release 3.0.6 the walk goes to and
# fro, every other row is shifted by one step, the rows are not at a right angle to the columns, and the star of the
# trained weights lies between the points.*
#
# The tool returns values without coordinates. Drawn as a square grid they look like a comb: neighbouring rows
# disagree by one step. flatviz returns the coordinates with the values, and its grids hold the centre:

# %%
mine = fv.slice_plane(f, fv.plane_random(full, full.w, seed=0), resolution=7)
fv.expect(0.0 in mine.a.tolist() and 0.0 in mine.b.tolist(), "an odd grid holds the centre")
fv.expect(mine.values[3, 3], f(full.w), by="the loss there")

# %% [markdown]
# ## Live: one network, many pictures
#
# All pictures below are of the same $w$, on the colours of lie 1. The direction is Gaussian; "filter", "layer" and "model"
# give each filter, each tensor, or the whole of it the length of the same part of $w$; "weight" gives each weight its own
# size; "none" leaves it. **Predict first**, then choose: which normalisation makes the valley look narrowest? Does another
# seed change the impression? What does the logarithm do?


# %%
def look(normalize, seed, log):
    """The surface around w over a random plane."""
    chosen = fv.plane_random(net, w, normalize=normalize, seed=seed)
    return fv.plot_surface(fv.slice_plane(L, chosen, resolution=size), log=log, color_range=colors)


# %%
ways = ["filter", "layer", "model", "weight", "none"]
_ = ipywidgets.interact(look, normalize=ways, seed=(0, 5), log=[True, False])
# %% [markdown]
# *Figure: contours of the loss over a random plane through the network, low in the middle. A line of text below the axes
# gives their lengths.*
#
# <details><summary>What one sees</summary>
#
# "None" looks narrowest: a unit of its axes is about $\sqrt{906} \approx 30$ long, twice the length of $w$, which the others
# have. "Filter", "layer" and "model" differ little on this network. Other seeds turn and stretch the valley. The logarithm
# shows its bottom; without it the floor looks wide and level. Each picture is right, and none is *the* picture.
#
# </details>

# %% [markdown]
# ## Summary
#
# - A slice shows $L(w + a u + b v)$: name $u$, $v$, their lengths, the data, and the range of the colours.
# - A random direction shows the average curvature $\operatorname{tr} H / D$, not the largest.
# - Without normalisation the same function can look sharp or flat; filter normalisation removes that freedom.
# - A plane holds $2/D$ of a random draw. Draw what it hides.
# - Test a tool on a function whose surface you know, and ask it for its coordinates.
#
# ## Exercises
#
# **1.** In the bowl above 10 of 906 directions have curvature 20. How large a part of the sharpest curvature does a
# random direction show at most, in 4,000 trials? How many trials would it take to see half of it? Guess, then look.
#
# <details><summary>Solution</summary>
#
# $u^\top H u \approx 20 \cdot \lVert u_{1..10} \rVert^2$, and $\lVert u_{1..10} \rVert^2$ has mean $10/906$ with a small
# spread: even the best of 4,000 shows a few per cent. Half of it is out of reach: for independent normal numbers the
# chance that 10 of 906 carry half of the length is below $10^{-100}$.
#
# </details>

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
print(f"the best of 4,000 shows {100 * seen.max() / 20:.1f} % of the sharpest curvature")
fv.expect(seen.max() < 0.1 * 20, "less than a tenth")

# %% [markdown]
# **2.** Prove that the two axes of a plane of random directions are nearly at a right angle, and that the axes of
# `convention="loss-landscapes"`, drawn uniformly between 0 and 1 before normalisation, are not. (Way in: what is the mean
# of $u_i v_i$?)
#
# <details><summary>Solution</summary>
#
# For independent entries with mean $m$ and second moment $s$: $\cos \approx D m^2 / (D s) = m^2/s$. Normal numbers have
# $m = 0$. Uniform ones have $m = 1/2$, $s = 1/3$, so $\cos \approx 3/4$: 41 degrees, before normalisation. The cell prints
# the angles after it, when parts with few weights have been scaled up or down as a whole.
#
# </details>

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
ours, theirs = (
    fv.plane_random(net, w, seed=0, convention=c).angle for c in ("flatviz", "loss-landscapes")
)
print(f"angle between the axes: {ours:.0f} and {theirs:.0f} degrees")
fv.expect(abs(ours - 90) < 10 and theirs < 60, "ours is nearly a right angle, theirs is not")

# %% [markdown]
# **3.** A bowl is exact: slice $L(w) = \tfrac12 w^\top H w$ along eigenvectors of $H$ with eigenvalues 9 and 4. What are
# the values at $(a, b)$? Check all of them.
#
# <details><summary>Solution</summary>
#
# $L(a e_1 + b e_2) = \tfrac12 (9 a^2 + 4 b^2)$: ellipses, with axes as $1/\sqrt{9}$ to $1/\sqrt{4}$. The sharper the
# direction, the shorter the axis.
#
# </details>

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
h, e = torch.tensor([9.0, 4.0, 1.0]), torch.eye(3)
plane3 = fv.plane_along(0 * h, e[0], e[1])
bowl = fv.slice_plane(lambda w: 0.5 * (h * w * w).sum(), plane3, resolution=9)
a, b = torch.meshgrid(bowl.a, bowl.b, indexing="ij")
fv.expect(bowl.values, 0.5 * (9 * a**2 + 4 * b**2), atol=1e-5, by="the formula")

# %% [markdown]
# **4.** The loss has a narrow gorge, 0.05 wide, and the grid has 11 points from −1 to 1. What does the picture show? What
# resolution would you ask for?
#
# <details><summary>Solution</summary>
#
# The points are 0.2 apart. The gorge shows only if a point falls into it, and then as one cell of width 0.2, four times
# too wide. Half its width between points, so at least 81, is the least; doubling the resolution until the picture stays
# is the practical test.
#
# </details>

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
narrow = lambda w: 1 - torch.exp(-((w[0] - 0.1) ** 2) / (2 * 0.025**2))
views = [fv.slice_line(narrow, -e[0], e[0], resolution=r).values.min() for r in (11, 81, 161)]
print("lowest value seen with 11, 81, 161 points:", [round(float(v), 2) for v in views])
fv.expect(bool(views[0] > 0.9 and views[2] < 0.1), "missed by the first, seen by the last")

# %% [markdown]
# ## References
#
# - Li, Xu, Taylor, Studer, Goldstein: Visualizing the loss landscape of neural nets, 2018,
#   [arXiv 1712.09913](https://arxiv.org/abs/1712.09913), and [their code](https://github.com/tomgoldstein/loss-landscape).
# - [loss-landscapes on PyPI](https://pypi.org/project/loss-landscapes/): the findings above are measured when this page is
#   made, on the release that is named in them. Newer releases than 3.0.6 announce other behaviour.
#
# **Next**: [chapter 03](03_curvature.ipynb) computes the curvature itself, instead of looking for it.
