# %% [markdown]
# # 01 · How can a network be a vector?
#
# A sound engineer sits at a desk with 9,226 sliders. A photograph of the desk is a complete record of the sound: anybody
# who sets the sliders to the same places hears the same song.
#
# A network is such a desk. The sliders are its weights, the song is the function that it computes. One setting of all
# sliders is one **point** in a space with 9,226 axes, and that point is a **vector**.
#
# Once that is said, words from geometry have a meaning for networks: distance, angle, line, plane, ball. This course
# needs no more than these to say what a *flat* minimum is.
#
# **You will learn** to
#
# - read a network as one function of one flat vector $w$ of all its weights;
# - measure how far apart two networks are, and at what angle;
# - walk on the straight line between two networks, and see the barrier on it;
# - say what a *loss surface* is: the graph of one function over weight space.
#
# **Takes** 25 minutes to read and half a minute to run on a CPU.
#
# **Needs** matrix products and the chain rule. Symbols are listed in [chapter A](A_notation.ipynb).

# %% tags=["parameters"]
FAST = False  # True shrinks the run: tests and a first look

# %%
import ipywidgets
import torch

import flatviz as fv
from flatviz.plots.theme import figure

torch.set_num_threads(1)  # a second thread costs networks this small more than it brings

# %% [markdown]
# **Numbers to expect**: the digits network has 9,226 weights, of which this course treats 906. Cells below check both.

# %% [markdown]
# ## One layer by hand
#
# A linear layer with 3 inputs and 2 outputs computes
#
# $$ y = A x + b, \qquad A \in \mathbb{R}^{2 \times 3},\; b \in \mathbb{R}^2 . $$
#
# **Step 1.** Write the rows of $A$ one after the other, then $b$:
#
# $$ w = (A_{11}, A_{12}, A_{13}, A_{21}, A_{22}, A_{23}, b_1, b_2) \in \mathbb{R}^D . $$
#
# **Step 2.** Count: $D = 2 \cdot 3 + 2 = 8$. A layer with $n$ inputs and $m$ outputs has $m(n+1)$ weights.

# %%
layer = torch.nn.Linear(3, 2)  # any weights will do
small = fv.Net.from_module(layer)  # reads the module as a function of one vector
w_by_hand = torch.cat([layer.weight.flatten(), layer.bias])
fv.expect(small.w, w_by_hand, rtol=0, by="the two tensors, flattened")
fv.expect(small.dim, 8)

# %% [markdown]
# **Step 3.** Go back: cut the vector and fold the pieces. The layer is now a function $f(w, x)$ of *two* arguments, and
# we are free to put in any $w$, not only the one that training found.

# %%
w, x = torch.arange(8.0), torch.tensor([[1.0, 0.0, 2.0]])
A, b = w[:6].view(2, 3), w[6:]
fv.expect(small(w, x), x @ A.T + b, by="the formula")
small(w, x)

# %% [markdown]
# ## A network by machine
#
# The network of this course reads scanned digits of 8 × 8 points. It has two hidden layers of 64 units. `pretrain`
# trains all weights on 700 scans, and returns a `Net`: the function $f(w, x)$, with the $w$ that was found as `.w`. We
# train three, from three random starts.

# %%
task = fv.datasets.digits_transfer(shots=10, seed=0)
models = [fv.models.mlp(task, seed=s) for s in range(3)]
epochs = 5 if FAST else 60
nets = [fv.pretrain(m, task.source, seed=s, epochs=epochs) for s, m in enumerate(models)]
nets[0]

# %% [markdown]
# `blocks` says which weights of the vector belong to which tensor. Layers 1, 4 and 7 are linear; 2 and 5 normalise, with
# a gain ("weight") and a shift ("bias") for each unit. Add them up: that is the 9,226.

# %%
for block in nets[0].blocks:
    print(f"w[{block.start}:{block.stop}]  {block.name:9s} {block.shape}")
fv.expect(nets[0].dim, 9226, rtol=0)  # 64 * 65 + 128 + 64 * 65 + 128 + 10 * 65

# %% [markdown]
# This is a photograph of the desk: a small square for each weight but the last ten, 64 in a column. The first 64 columns
# are the matrix of the first layer, a column for each unit and a row for each point of the scan.

# %%
picture = nets[0].w[:9216].view(144, 64).T.numpy()
colors = dict(zmin=-0.5, zmax=0.5, colorscale="RdBu", colorbar_title="weight")
alt = "The weights of two layers as coloured squares, most of them pale, that is small"
fig = figure("A network is 9,226 numbers", alt, xaxis_title="column")
fig.add_heatmap(z=picture, **colors)
fig.update_yaxes(autorange="reversed", title="row", scaleanchor="x", constrain="domain")

# %% [markdown]
# *Figure: a grid of small squares, red for negative and blue for positive weights. The first layer, in the left half, is
# pale at the top and the bottom: the rim of the scans holds little ink. Two dark blue columns are the gains of the
# normalisation layers, near 1; the last ten columns, strongly coloured, are the head.*
#
# **Try** the second network, `nets[1].w`; the network before training, `fv.Net.from_module(models[0]).w`; or what training added,
# `nets[0].w - fv.Net.from_module(models[0]).w`.

# %% [markdown]
# ## The loss is one number for each vector
#
# Training data are $N$ pairs $(x_n, y_n)$. The network answers each $x_n$ with scores ("logits") $f(w, x_n)$, of which
# softmax makes probabilities. The **loss** is how surprised the network is by the right labels, on average, in **nats**
# (the unit of a natural logarithm; guessing among ten digits costs $\log 10 \approx 2.3$ nats):
#
# $$ L(w) = -\frac{1}{N} \sum_{n=1}^{N} \log \operatorname{softmax}\big(f(w, x_n)\big)_{y_n} . $$
#
# The data are fixed. So $L$ is a function from $\mathbb{R}^D$ to $\mathbb{R}$, and nothing else. Its graph is the
# **loss surface**. Below, first the formula itself, then the library's version of it.

# %%
net, data = nets[0], task.source
log_probs = net(net.w, data.x).log_softmax(dim=1)
loss_by_hand = -log_probs[torch.arange(len(data)), data.y].mean()
L = fv.nll(net, data)
fv.expect(L(net.w), loss_by_hand, by="the formula")

# %% [markdown]
# ## Distance and angle
#
# For two networks $a, b \in \mathbb{R}^D$ of the same architecture
#
# $$ \lVert a - b \rVert = \sqrt{\textstyle\sum_i (a_i - b_i)^2}, \qquad
#    \cos \angle(a, b) = \frac{a \cdot b}{\lVert a \rVert \lVert b \rVert} . $$
#
# **Predict first**: two networks that learned the same digits from different random starts. Are they close? Do they
# point the same way?

# %%
a, b, c = (n.w for n in nets)
distance, cosine = (a - b).norm(), a @ b / (a.norm() * b.norm())
print(f"|a| = {a.norm():.1f}, |b| = {b.norm():.1f}, |a - b| = {distance:.1f}, cos = {cosine:.2f}")

# %% [markdown]
# They are about as far from each other as from zero. To judge the angle we need to know what chance gives.
#
# ### Random directions are nearly orthogonal
#
# Let $u$ be a random direction: a vector of length 1, all directions equally likely. What is $\cos \angle(u, v)$ for a
# fixed $v$ of length 1?
#
# **Step 1.** Turn the axes so that $v = (1, 0, \dots, 0)$. Then $\cos = u \cdot v = u_1$.
#
# **Step 2.** By symmetry all $\mathbb{E}[u_i^2]$ are equal, and they add up to $\mathbb{E}\lVert u \rVert^2 = 1$. So
#
# $$ \mathbb{E}[\cos^2] = \mathbb{E}[u_1^2] = \frac{1}{D} . $$
#
# **Step 3.** The typical cosine is $1/\sqrt{D}$: for 9,226 weights about one hundredth. In a space with many axes,
# *nearly every direction is at a right angle to yours*. A picture along two random directions shows two of thousands.

# %%
D, generator = net.dim, torch.Generator().manual_seed(0)
u = torch.nn.functional.normalize(torch.randn(2000, D, generator=generator), dim=1)
cosines = u @ (a / a.norm())
fv.expect(D * cosines.square().mean(), 1, rtol=0.15)  # E[cos^2] = 1 / D; 2,000 draws: 3 %
print(f"chance {cosines.square().mean().sqrt():.4f}, 1 / sqrt(D) {D**-0.5:.4f}, pair {cosine:.4f}")

# %% [markdown]
# The two trained networks are closer than two random vectors, since both have gains near 1 in their normalisation layers. The
# rest of their weights hardly know of each other:

# %%
rest = torch.cat([torch.arange(s.start, s.stop) for s in net.blocks if s.kind != "norm"])
cosine = a[rest] @ b[rest] / (a[rest].norm() * b[rest].norm())
print(f"without the normalisation layers: cosine {cosine:.4f}, chance {len(rest) ** -0.5:.4f}")

# %% [markdown]
# ## A line between two networks
#
# Mix two settings of the desk, slider by slider:
#
# $$ w(t) = (1 - t)\, a + t\, b, \qquad t \in [0, 1] . $$
#
# Each $w(t)$ is a network. `slice_line` computes $L(w(t))$.
#
# ### What the answer would be on a bowl
#
# A quadratic loss $L(w) = \tfrac12 w^\top H w$, with a symmetric matrix $H$ that has no negative eigenvalue, is called a
# **bowl** in this course. Let $d = b - a$. Put $w(t) = a + t d$ in:
#
# $$ L(w(t)) = L(a) + t\, a^\top H d + \tfrac12 t^2\, d^\top H d . $$
#
# At $t = 1$ this is $L(b)$, which gives $a^\top H d = L(b) - L(a) - \tfrac12 d^\top H d$. Insert that:
#
# $$ L(w(t)) = (1-t) L(a) + t L(b) - \tfrac12\, t (1-t)\, d^\top H d . $$
#
# In a bowl $d^\top H d \ge 0$: the curve hangs *below* the straight line between its ends. How far a curve rises *above*
# that line at most is its **barrier**, 0 if it does not. The check against `slice_line`, for a bowl of three weights:

# %%
h, p, q = torch.tensor([[9.0, 4.0, 1.0], [1.0, 2.0, 3.0], [-2.0, 0.5, 1.0]])  # H = diag(h)
bowl = lambda w: 0.5 * (h * w * w).sum()
curve = fv.slice_line(bowl, p, q, resolution=21)
t, d = curve.t, q - p
exact = (1 - t) * bowl(p) + t * bowl(q) - 0.5 * t * (1 - t) * (h * d * d).sum()
fv.expect(curve.values, exact, atol=1e-5, by="the formula")

# %% [markdown]
# ### What it is on a network
#
# **Predict first**: will the loss between two trained networks be low as well?

# %%
line = fv.slice_line(L, a, b, resolution=41)
fv.plot_curve(line, title="Loss on the line between two trained networks")

# %% [markdown]
# *Figure: the loss is close to zero at both ends and rises to a hill between them. A dotted upright line marks the
# barrier, the highest rise above the straight line between the ends. Of the bowl above, `curve.barrier` is 0.*
#
# **Try** the other pairs, `a, c` and `b, c`; beyond the ends, `2 * a - b, 2 * b - a`; towards nothing learned, `a, 0 * a`.
#
# So $L$ is no bowl. Two good networks, and the loss at their average is many times theirs. Note what follows for Bayes:
# **averaging weights is not averaging predictions.** This course averages predictions.

# %%
ends = max(line.values[0], line.values[-1])
fv.expect(bool(line.barrier > 0), "there is a barrier: no bowl")
fv.expect(bool(line.values.max() > (1 if FAST else 20) * ends), "many times the loss at the ends")
print(f"ends {line.values[0]:.3f}, {line.values[-1]:.3f}, barrier {line.barrier:.2f} nats")

# %% [markdown]
# ## A plane through three networks, live
#
# Three points span a plane: $w(\alpha, \beta) = o + \alpha e_1 + \beta e_2$, with $e_1, e_2$ of length 1 and at a right
# angle. On it $L$ is a landscape that we can look at. Each dot is one of the three trained networks, coloured by its
# loss.
#
# **Predict first**: how wide are the valleys, compared with the distance of the networks? Then **move the slider**: let the
# colours end at a `share` of the way from the lowest loss to the highest, with and without the logarithm.

# %%
plane = fv.plane_through(a, b, c)
surface = fv.slice_plane(L, plane, resolution=15 if FAST else 41)
corners = fv.project(torch.stack([a, b, c]), plane, L)
low, high = float(surface.values.min()), float(surface.values.max())


# %%
def colored(share, log):
    """The plane, its colours ending at a share of the way from the lowest loss to the highest."""
    top = low * (high / low) ** share if log else low + share * (high - low)
    return fv.plot_surface(surface, corners, color_range=(low, top), log=log)


# %%
_ = ipywidgets.interact(colored, share=(0.05, 1.0, 0.05), log=[False, True])

# %% [markdown]
# *Figure: contours of the loss over a plane, with three markers in three separate valleys and higher ground between.*
#
# **Try** a plane through two networks and zero, `fv.plane_through(a, b, 0 * a)`; a loss of other data,
# `L = fv.nll(net, task.test)`; more of the plane, `fv.slice_plane(L, plane, extent=30, resolution=41)`.
#
# <details><summary>What one sees</summary>
#
# Without the logarithm and with the share at 0.05 (a loss of 0.03) there are three dark valleys, each reaching some five
# units from its network towards the middle; the networks are about 17 apart. The valleys do not meet: between them is
# the barrier of the line above. Outwards they go on beyond the picture, and the logarithm shows that the loss is even
# lower there than at the networks.
#
# </details>
#
# The three networks lie in the plane, so nothing about them is hidden. That is rare:
# [chapter 02](02_slicing_a_loss_surface.ipynb) shows what pictures hide.

# %%
fv.expect(corners.distance.max(), 0, atol=1e-3)  # three points always lie in their plane

# %% [markdown]
# ## Fewer sliders: the weights that are treated
#
# A Bayesian neural network needs a distribution over $w$. With few labels it is common to *treat* only some weights and to fix
# the others where pre-training left them. This course treats the normalisation layers and the last layer, the head.
#
# The network is then a function of 906 numbers: the gains and shifts of two normalisation layers of 64 units, and the
# head's 65 for each of ten digits. Nearly all the rest of the course happens in $\mathbb{R}^{906}$.

# %%
treated = nets[0].restrict("norm+head")
fv.expect(treated.dim, 906, rtol=0)  # 4 * 64 + 10 * (64 + 1)
same = treated(treated.w, data.x) - net(net.w, data.x)
fv.expect(same.abs().max(), 0, atol=1e-4)  # the same function
treated

# %% [markdown]
# ## Many vectors, one function
#
# A last warning. Swap two hidden units: swap two rows of one matrix, and the same two columns of the next. The vector
# moves, the function stays. So a distance in weight space is not a distance between functions. The cell does it with
# all units of both hidden layers, in a random order.
# [Chapter 12](12_symmetries.ipynb) is about this.

# %%
units = fv.symmetry.units_of(net)
other = fv.symmetry.permute(units, a[None], fv.symmetry.random_order(units, 1, seed=0))[0]
fv.expect(net(other, data.x), net(a, data.x), atol=1e-4, by="the network before")
print(f"the same function, |a - other| = {(a - other).norm():.1f}")

# %% [markdown]
# ## Summary
#
# - A network is a function $f(w, x)$ of a flat vector $w \in \mathbb{R}^D$; `Net` is that function.
# - With the data fixed, the loss $L(w)$ is a function on $\mathbb{R}^D$. Its graph is the loss surface.
# - Two random directions in $\mathbb{R}^D$ have a cosine of about $1/\sqrt{D}$: nearly a right angle.
# - On the line between two trained networks there is a barrier: the loss is no bowl.
# - Different vectors can be the same function.
#
# ## Exercises
#
# **1.** How many weights has the same network with hidden layers of 32 and 16 units? Count on paper, then check.
#
# <details><summary>Solution</summary>
#
# Each hidden layer of $m$ units after $n$ has $m(n+1)$ weights and $2m$ gains and shifts; the head has $10 (n+1)$.
# So $32 \cdot 65 + 64 + 16 \cdot 33 + 32 + 10 \cdot 17 = 2874$.
#
# </details>

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
narrow = fv.Net.from_module(fv.models.mlp(task, hidden=(32, 16)))
fv.expect(narrow.dim, 2874, rtol=0)  # 32 * 65 + 64 + 16 * 33 + 32 + 10 * 17

# %% [markdown]
# **2.** How far does training move a network? Compare $\lVert w_\text{trained} - w_\text{start} \rVert$ with
# $\lVert w_\text{start} \rVert$, and the angle of that step with the angle that chance gives.
#
# <details><summary>Solution</summary>
#
# The start is the module before `pretrain`. The step is nearly as long as the start itself, and its cosine with the start
# is many times that of chance. It is negative: weight decay shortens what training does not need. (In the small run, with
# `FAST = True`, it has not come to that.)
#
# </details>

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
start = fv.Net.from_module(fv.models.mlp(task, seed=0)).w
step = a - start
ratio, angle = step.norm() / start.norm(), step @ start / step.norm() / start.norm()
print(f"|step| / |start| = {ratio:.2f}, cos {angle:.3f}, chance {D**-0.5:.3f}")
fv.expect(bool(ratio < 2 and abs(angle) > D**-0.5), "no longer than twice the start, and no chance")

# %% [markdown]
# **3.** Compare the loss of three answers to the source digits: the network at $(a + b)/2$; the network $a$ alone; the
# average of the *probabilities* of $a$ and $b$.
#
# <details><summary>Solution</summary>
#
# Averaging weights lands on the barrier; averaging probabilities does not. By Jensen's inequality the loss of the averaged
# probabilities is never above the average of the two losses: $-\log \tfrac{p+q}{2} \le -\tfrac12 \log p - \tfrac12 \log q$.
#
# </details>

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
prediction = fv.predict(net, torch.stack([a, b]), data, 2, seed=0)
both = float(prediction.scores["nll"][-1])
print(f"averaged: weights {L((a + b) / 2):.3f}, probabilities {both:.4f}; a alone {L(a):.4f}")
fv.expect(bool(both <= (L(a) + L(b)) / 2 + 1e-6 < L((a + b) / 2)), "averaged probabilities win")

# %% [markdown]
# **4.** A vector of $D$ independent standard normal numbers has a length close to $\sqrt{D}$. Show it: what are the mean
# and the variance of its squared length? Check with 2,000 draws.
#
# <details><summary>Solution</summary>
#
# $\lVert z \rVert^2 = \sum_i z_i^2$ with $\mathbb{E} z_i^2 = 1$ and $\operatorname{Var} z_i^2 = 2$. So the mean is $D$ and
# the variance $2D$: relative to the mean, the spread is $\sqrt{2/D}$, which goes to 0. A Gaussian in many dimensions is
# a *shell*, not a ball: its draws all lie at nearly the same distance from its centre.
#
# </details>

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
squared = torch.randn(2000, 906, generator=generator).square().sum(1)
fv.expect(squared.mean(), 906, rtol=0.01)
fv.expect(squared.var(), 2 * 906, rtol=0.2)

# %% [markdown]
# ## References
#
# - Li, Xu, Taylor, Studer, Goldstein: Visualizing the loss landscape of neural nets, 2018,
#   [arXiv 1712.09913](https://arxiv.org/abs/1712.09913). Planes through networks.
# - [dnn-mode-connectivity](https://github.com/timgaripov/dnn-mode-connectivity): curved paths around the barrier.
# - [git-re-basin](https://github.com/samuela/git-re-basin): permutations that remove much of the barrier.
#
# **Next**: [chapter 02](02_slicing_a_loss_surface.ipynb) cuts pictures out of the loss surface, and shows how such
# pictures go wrong.
