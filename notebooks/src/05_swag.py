# %% [markdown]
# # 05 · Can the wandering of SGD be a posterior?
#
# Tie a dog to a post with an elastic leash. It never lies still. Note every minute where it is, and after an hour you have
# a map of the garden: along the fence it went far, towards the thorns hardly at all. The centre of the notes is the post;
# their spread is the shape of the garden.
#
# SGD with a constant learning rate is this dog. The pull of the leash is the gradient, the restlessness is the noise of
# the minibatches, and the notes are snapshots of the weights. **SWAG** reads them as a Gaussian posterior.
#
# **You will learn** to
#
# - derive how far SGD wanders at a constant rate, and why it wanders farther in flat directions;
# - make SWAG by hand: a mean, a variance and a few deviations of SGD's iterates;
# - draw from a low-rank Gaussian without ever building its covariance;
# - average predictions, and say what the width of the Gaussian does to them.
#
# **Takes** 35 minutes to read and half a minute to run on a CPU.
#
# **Needs** chapters [01](01_network_is_a_vector.ipynb) and [03](03_curvature.ipynb).

# %% tags=["parameters"]
FAST = False  # True shrinks the run: tests and a first look

# %%
import math

import ipywidgets
import torch

# %%
import flatviz as fv
from flatviz.families.tour import prepare
from flatviz.plots.theme import figure
from flatviz.training.streams import minibatches

torch.set_num_threads(1)
generator = torch.Generator().manual_seed(0)

# %% [markdown]
# ## The dog in a tub
#
# Two weights in a bowl that is steep one way and shallow the other, a tub: curvatures 8 and 1. 500 dogs start at the bottom.
# Each takes 200 steps of SGD, whose gradient is the bowl's plus a random kick, of size 1 along either axis. Where are they then?
#
# **Predict first, then move the slider**: which way is the cloud longer? If the rate doubles, which way does it grow faster?
# What happens at 0.25?

# %%
tub = torch.tensor([8.0, 1.0])  # curvatures
kicks = torch.randn(200, 500, 2, generator=torch.Generator().manual_seed(1))
across, along = torch.linspace(-2, 2, 61), torch.linspace(-2, 2, 61)
height = 0.5 * (tub[0] * across[:, None] ** 2 + tub[1] * along**2)  # the loss, (across, along)


# %%
def dogs(rate):
    """Where 500 walkers stand after 200 steps of SGD from the bottom, (500, 2)."""
    place = torch.zeros(500, 2)
    for kick in kicks:
        place = place - rate * (tub * place + kick)
    return place


# %%
def cloud(rate):
    place = dogs(rate)
    wide = "spread {:.2f} across, {:.2f} along".format(*place.std(0))
    fig = figure(f"rate {rate:g}: {wide}", f"A cloud of walkers in a tub: {wide}")
    fig.add_contour(x=along, y=across, z=height, showscale=False, contours_coloring="lines")
    fig.add_scatter(x=place[:, 1], y=place[:, 0], mode="markers", marker_size=4, name="walkers")
    return fig.update_layout(xaxis_range=[-2, 2], yaxis=dict(range=[-2, 2], scaleanchor="x"))


# %%
_ = ipywidgets.interact(cloud, rate=(0.02, 0.24, 0.02))

# %% [markdown]
# *Figure: contours of a loss, ellipses that are longer along the horizontal axis, and 500 dots around their centre. At small
# rates the cloud is an ellipse of that kind, too; near the right end of the slider it is a tall one.*
#
# **Try** a rate beyond the slider, `dogs(0.26).std(0)`; a round bowl, `tub = torch.tensor([3.0, 3.0])`; kicks four times as long,
# `kicks = 4 * kicks`.
#
# <details><summary>What one sees</summary>
#
# At 0.02 the cloud is longer along the flat axis, as wide there as the valley lets it. At twice the rate it is about $\sqrt 2$ times
# as wide in both. Beyond a rate of about 0.22 the steep axis overtakes: each step jumps over the floor and lands nearly as high
# on the other side. At $0.25 = 2/8$ it lands as high, and the dogs are lost. The next section has all three in one formula.
#
# </details>
#
# **Number to expect**: in a bowl of curvature 2, SGD at rate 0.1 with gradient noise of variance 1 wanders with variance
# 0.0278. A cell below checks the formula.

# %% [markdown]
# ## How far does SGD wander?
#
# Take one weight in a bowl, $L(w) = \tfrac12 h w^2$. A minibatch gradient is $h w + \xi$, with noise of mean 0 and
# variance $c$. At a constant rate $\eta$
#
# $$ w_{t+1} = w_t - \eta (h w_t + \xi_t) = (1 - \eta h)\, w_t - \eta\, \xi_t . $$
#
# **Step 1.** $\xi_t$ is independent of $w_t$. Variances add:
#
# $$ V_{t+1} = (1 - \eta h)^2\, V_t + \eta^2 c . $$
#
# **Step 2.** Where $\lvert 1 - \eta h \rvert < 1$, that is for $0 < \eta h < 2$, the old variance is forgotten step by step, and in
# the long run $V_{t+1} = V_t = V$. (At $\eta h \ge 2$ the variance grows without end, and there is no $V$: the edge of
# [chapter 03](03_curvature.ipynb) once more.) So $V \big(1 - (1 - \eta h)^2\big) = \eta^2 c$. Multiply out:
#
# $$ V = \frac{\eta\, c}{h\, (2 - \eta h)} \approx \frac{\eta\, c}{2 h} \quad \text{for } \eta h \ll 1 . $$
#
# **Read it**: SGD does not stop. At small rates a flat direction (small $h$) is wandered through widely, a sharp one hardly;
# near $\eta h = 2$ the sharp one is the widest. The *mean* of the iterates is the minimum.

# %%
eta, h, c, walkers = 0.1, 2.0, 1.0, 20_000
V = eta * c / (h * (2 - eta * h))
fv.expect(V, 0.0278)  # the number to expect, at these four values

# %%
w = torch.zeros(walkers)
for _ in range(100):
    w = w - eta * (h * w + c**0.5 * torch.randn(walkers, generator=generator))
fv.expect(w.var(), V, rtol=0.05, by="the formula")  # 20,000 walkers know a variance to 1 %

# %%
fv.expect(dogs(0.1).var(0), 0.1 / (tub * (2 - 0.1 * tub)), rtol=0.15, by="the formula, in the tub")

# %% [markdown]
# **Try** `eta = 0.3`, `h = 0.5` or `c = 4.0`: the first line then says another number, the second still agrees with the formula.
# With `eta = 1.1` neither does, since $\eta h > 2$.

# %% [markdown]
# ## SWAG in three lines of mathematics
#
# Let $w_1, \dots, w_T$ be snapshots, one at the end of each epoch, with $\bar w_t$ the mean of the first $t$.
#
# $$ \mu = \bar w_T, \qquad v = \frac1T \sum_t (w_t - \mu)^2 \;\text{(weight by weight)}, \qquad
#    R = \big(w_t - \bar w_t\big)_{t = T-K+1, \dots, T} \in \mathbb{R}^{K \times D} . $$
#
# The covariance is half a diagonal, half the spread of the last $K$ deviations:
#
# $$ \Sigma = \frac12 \Big( \operatorname{diag}(v) + \frac{R^\top R}{K - 1} \Big) . $$
#
# Why halves? Each part alone is an estimate of the variance of every weight. The diagonal knows all snapshots and no
# correlation; the deviations know correlations and only $K$ directions. SWAG takes the mean of the two.
#
# ### By hand
#
# First the walk: SGD with momentum, from the solution of the ten-digits task. The settings are the course's, for every
# chapter: $T$ `snapshots`, $K$ = `rank`, ten digits a batch.

# %%
net, task, prior = prepare(task=fv.datasets.digits_transfer(), epochs=5 if FAST else 60)
L = fv.nll(net, task.train)
solution = fv.fit(net, task.train, fv.SGD(), seed=0).center
net = net.at(solution)
settings = fv.METHODS["swag"].keywords(net)
print(settings)

# %%
T, K, batch = settings["snapshots"], settings["rank"], settings["batch_size"]
batches = minibatches(len(task.train), batch, 0, net.device)  # indices, shuffled every epoch
loss, epoch = (
    fv.training.training_loss(net, task.train),
    len(task.train) // batch,
)  # steps in a pass over the data
constant = {name: settings[name] for name in ("lr", "momentum", "weight_decay")}
sgd = fv.SGD(**constant)  # by hand its rate is constant

# %% [markdown]
# `sgd.update` is one step, $v \leftarrow m v + g + \mathrm{wd}\, w$ and $w \leftarrow w - \eta v$, from one state to the next:

# %%
state, snapshots = sgd.init(solution), []
for step in range(T * epoch):
    state, record = sgd.update(state, loss, next(batches))
    if (step + 1) % epoch == 0:
        snapshots.append(state.w)
W = torch.stack(snapshots).double()  # (T, D)

# %% [markdown]
# Then the three formulas, each a line:

# %%
mean = W.mean(0)
variance = (W - mean).square().mean(0).clamp_min(1e-12)  # a weight may stand still
running = W.cumsum(0) / torch.arange(1, T + 1)[:, None]  # the mean of the first t
deviations = (W - running)[-K:]
by_hand = fv.Gaussian(
    mean, 0.5 * (variance / 2).log(), deviations / (2 * (K - 1)) ** 0.5
)  # mean, log std, factor

# %% [markdown]
# **Check**: `SWAG` does the same walk with the same seed, and must give the same Gaussian. The cell prints by how much
# mean, standard deviation and factor differ, relative to their length.

# %%
q = fv.fit(net, task.train, fv.SWAG(), seed=0, batch_size=10)
off = lambda ours, theirs: float((ours - theirs).norm() / theirs.norm())
gaps = off(q.mean, mean), off(q.std, by_hand.std), off(q.factor, by_hand.factor)
print("off by", *(f"{gap:.0e}" for gap in gaps))
fv.expect(max(gaps) < 0.01, "one Gaussian, to a hundredth of each length")
q

# %% [markdown]
# ## The garden
#
# The walk on the plane in which it varies most: first the path of SGD, then an ellipse that holds 95 % of the draws of SWAG.

# %%
walk = W.float()
plane = fv.plane_pca(walk, name="plane of the walk")
size = 15 if FAST else 41
surface = fv.slice_plane(L, plane, resolution=size)
path = fv.project(walk, plane, L, name="path of SGD")
fv.plot_surface(surface, path, title="SGD at a constant rate")

# %% [markdown]
# *Figure: contours of the training loss; small markers joined by a line lead from the start, on a slope, down into the
# valley, where they are close together.*
#
# **Try** a walk at another rate (`settings["lr"] / 4` for `settings["lr"]`), with smaller batches (`batch = 5`), or of more epochs
# (`T = 40`), from the cell of the settings on; the check above then says that `SWAG` has taken another walk.
#
# **Look**: is this a restless dog? It is a dog on its way. The first half of the walk comes down a slope, and only its end is
# in the valley.

# %%
fv.plot_surface(surface, fv.project(q, plane, L), title="SWAG: the walk as a Gaussian")

# %% [markdown]
# *Figure: the same contours with one marker at SWAG's mean and a long narrow ellipse around it, along the walk.*
#
# **Try** the draws, `q.sample(200, seed=0)` for `q`; the half of SWAG without correlations, `fv.Gaussian(q.mean, q.log_std)`; a wider one,
# `fv.Gaussian(q.mean, q.log_std + 1, 3 * q.factor)`.
#
# ### Is five enough?
#
# How many directions does the walk have? The singular values of the deviations say it: the share of the squared length
# that the first 1, 2, ... directions hold.

# %%
singular = torch.linalg.svdvals(W - mean)
share = singular.square().cumsum(0) / singular.square().sum()
print("share held by 1, 2, ... directions:", [round(float(s), 2) for s in share[:8]])
fv.expect(bool(share[0] > 0.5), "the first direction holds more than half: mostly drift")

# %% [markdown]
# If the first direction holds nearly everything, SGD does not wander: it *drifts*. That happens when the walk begins before
# SGD has come to rest, when the training loss is almost 0, or when a batch is all of the data. Here the first direction
# holds most: a good part of this SWAG is drift. Such a spread may still help predictions, as below, but it is not the shape
# of the valley. Look at this number before you read a SWAG as a posterior; exercise 4 goes on with it.

# %% [markdown]
# ## Draws without a covariance
#
# $\Sigma$ has 820,836 entries. A draw needs none of them. Let $z_1 \sim \mathcal{N}(0, I_D)$ and
# $z_2 \sim \mathcal{N}(0, I_K)$ be independent:
#
# $$ w = \mu + \tfrac{1}{\sqrt 2} \Big( \sqrt v \odot z_1 + \tfrac{1}{\sqrt{K-1}}\, R^\top z_2 \Big) . $$
#
# **Its covariance** is the sum of the two parts: $\tfrac12 \operatorname{diag}(\sqrt v)\, I \operatorname{diag}(\sqrt v) =
# \tfrac12 \operatorname{diag}(v)$, and $\tfrac{1}{2(K-1)} R^\top \mathbb{E}[z_2 z_2^\top] R = \tfrac{1}{2(K-1)} R^\top R$.
#
# In flatviz the scales are folded in: `std` is $\sqrt{v/2}$, `factor` is $R / \sqrt{2(K-1)}$.

# %%
z1, z2 = q.noise(3, seed=1)
fv.expect(q.sample(3, seed=1), q.mean + q.std * z1 + z2 @ q.factor, atol=1e-6, by="the formula")
small = fv.Gaussian(torch.zeros(4), torch.zeros(4), factor=torch.tensor([[1.0, 2.0, 0.0, -1.0]]))
draws = small.sample(10_000, seed=0)
exact = torch.eye(4) + small.factor.T @ small.factor
fv.expect(draws.T.cov(), exact, atol=0.2, by="the formula")  # 10,000 draws: the largest to 0.07

# %% [markdown]
# Two slips that public code makes here, each invisible in a test of shapes:
#
# - one $z_2$ **for each layer** instead of one for all: every variance stays right, all covariances between layers are lost
#   (exercise 3);
# - `scale` where $\sqrt{\text{scale}}$ belongs: a scale of 0.5 then gives a quarter of the variance.

# %% [markdown]
# ## What it is worth
#
# The prediction is the average of the probabilities of $M$ draws, the **Bayesian model average**:
#
# $$ \bar p(y \mid x) = \frac1M \sum_{m=1}^M p(y \mid x, w_m), \qquad w_m \sim q . $$
#
# Beside SWAG: SGD's one point, and SWA, the mean of the walk without a spread. They are judged on test digits by their
# accuracy; by the NLL, the loss of the averaged probabilities; and by the ECE, the expected calibration error: the mean gap
# between how sure the answers are and how often they are right.

# %%
swa = fv.fit(net, task.train, fv.SWA(), seed=0, batch_size=10)
members = dict(sgd=solution[None], swa=swa, swag=q)
n = dict(sgd=1, swa=1, swag=30)
predictions = {k: fv.predict(net, p, task.test, n[k], seed=2) for k, p in members.items()}
fv.plot_metrics(predictions)

# %% [markdown]
# *Figure: three panels, one below the other, against the number of draws averaged: accuracy, NLL and ECE on the test
# digits. SGD and SWA are one network each, horizontal lines; SWAG's curve starts at a single draw and becomes level. Bands
# around the accuracies show the sampling noise of a test set of this size.*
#
# **Try** other draws (`seed=3`); a hundred of them (`swag=100`); training data for `task.test`: which of the three looks best on
# what it has seen?

# %%
for name, p in predictions.items():
    accuracy, nll, ece = (float(p.scores[k][-1]) for k in ("accuracy", "nll", "ece"))
    print(f"{name:5s} accuracy {accuracy:.3f}  NLL {nll:.3f}  ECE {ece:.3f}")
    fv.expect(accuracy > (0.2 if FAST else 0.6), "far more digits right than by guessing")

# %% [markdown]
# One seed of one task: an example, not evidence. `flatviz run compare` repeats it over seeds, with intervals.
#
# ## Live: the width
#
# Multiply the covariance by `scale`, from a hundredth, which is nearly SWA, to a hundred; the paper's value is 1. The slider
# is the logarithm: 0 is scale 1, and 2 is scale 100. **Predict first**: where is the NLL lowest? And what happens at 100?


# %%
def widened(log10_scale):
    grow = 10 ** (log10_scale / 2)  # of the standard deviations
    wide = fv.Gaussian(q.mean, q.log_std + math.log(grow), q.factor * grow)
    scores = fv.predict(net, wide, task.test, 30, seed=2)
    both = {"swag": scores, "sgd": predictions["sgd"]}
    return fv.plot_metrics(both, title=f"scale {grow**2:.2g}")


# %%
_ = ipywidgets.interact(widened, log10_scale=(-2.0, 2.0, 0.25))

# %% [markdown]
# *Figure: the three panels again, for SWAG at the scale of the slider, and SGD's horizontal line. At large scales one draw
# is bad, and the average of many recovers part of it.*
#
# **Try** the diagonal alone (`0 * q.factor`), the factor alone (`q.log_std - 9`), ten draws for 30.
#
# <details><summary>What one sees</summary>
#
# On this task the NLL of 30 draws is lowest at about scale 3 (slider at 0.5), wider than the paper's 1, although a single
# draw is better the narrower the Gaussian is: what is gained comes from averaging. At 100 the draws have left the valley,
# and the average of all is worse than SGD's one point. A width is chosen on validation data, not on these test digits.
#
# </details>
#
# ## Summary
#
# - At a constant rate SGD wanders with variance $\eta c / h(2 - \eta h)$: wide where the loss is flat.
# - SWAG: mean, variance and last $K$ deviations of the snapshots, in halves.
# - A draw costs $O(DK)$; nothing $D \times D$ is built.
# - Its width is that of SGD's noise, not of Bayes' rule: rate, batch size and scale are part of the model.
#
# ## Exercises
#
# **1.** With momentum $m$ the walk $v \leftarrow m v + h w + \xi$, $w \leftarrow w - \eta v$ has variance
# $V = \frac{\eta c\, (1 + m)}{h (1 - m)\, (2 (1 + m) - \eta h)}$. How much wider is it than without, for small $\eta$?
# Check the formula by simulation.
#
# <details><summary>Solution</summary>
#
# For small $\eta$, $V \approx \eta c / (2 h (1 - m))$: ten times the variance for $m = 0.9$. So noise of the right size for
# plain SGD, added to SGD with momentum, gives a variance ten times too large. (The formula holds for $\eta h < 2 (1 + m)$:
# momentum bears a larger rate.)
#
# </details>

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
w, v, m = torch.zeros(walkers), torch.zeros(walkers), 0.9
for _ in range(300):
    v = m * v + h * w + torch.randn(walkers, generator=generator)
    w = w - eta * v
V = eta * c * (1 + m) / (h * (1 - m) * (2 * (1 + m) - eta * h))
fv.expect(w.var(), V, rtol=0.05, by="the formula")

# %% [markdown]
# **2.** (SWA is that mean.) What is the variance of the *mean* of $T$ independent positions of the walk? Why is SWA better than a single
# iterate, and why does it need fewer epochs if snapshots lie farther apart?
#
# <details><summary>Solution</summary>
#
# $V/T$ for independent positions. Neighbouring positions are correlated by $1 - \eta h$ a step, so they count for less than
# $T$ independent ones; snapshots an epoch apart are nearly independent in sharp directions, and not in flat ones.
#
# </details>

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
positions = V**0.5 * torch.randn(walkers, 20, generator=generator)
fv.expect(positions.mean(1).var(), V / 20, rtol=0.05, by="the formula")

# %% [markdown]
# **3.** Two layers with the same deviations, $R = (r, r)$: what is the correlation of their draws when they share $z_2$,
# and when each has a $z_2$ of its own? Take the low-rank part alone.
#
# <details><summary>Solution</summary>
#
# Shared: both are $r z_2$, correlation 1. Of their own: $r z_2$ and $r z_2'$, correlation 0. With the diagonal half of SWAG
# added, 1 becomes one half.
#
# </details>

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
z, other, noise = torch.randn(3, 10_000, generator=generator)
shared, own = torch.stack([z, z]).corrcoef()[0, 1], torch.stack([z, other]).corrcoef()[0, 1]
tied = fv.Gaussian(torch.zeros(2), torch.zeros(2), factor=torch.ones(1, 2)).sample(10_000, seed=0)
fv.expect(torch.stack([shared, own]), torch.tensor([1.0, 0.0]), atol=0.05)
fv.expect(tied.T.corrcoef()[0, 1], 0.5, rtol=0.1)

# %% [markdown]
# **4.** Two more walks: one that begins where the walk above ended, and one with all the data in each batch. How wide is the
# spread of the deviations, and how much of it does the first direction hold?
#
# <details><summary>Solution</summary>
#
# The later walk has come down the slope before it is noted: its spread is much smaller. It still drifts, for weights that
# fit 100 digits perfectly go on growing; and as deviations are taken from the running mean, which lags behind, all of them
# point along the drift. Without minibatches there is no noise at all: the walk is a line.
#
# </details>

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
later = fv.fit(net.at(snapshots[-1]), task.train, fv.SWAG(), seed=1, batch_size=10)
calm = fv.fit(net, task.train, fv.SWAG(), seed=0, batch_size=len(task.train))
for name, g in dict(first=q, later=later, calm=calm).items():
    values = torch.linalg.svdvals(g.factor).square()
    print(
        f"{name:6s} spread {values.sum().sqrt():.3f}, first direction {values[0] / values.sum():.3f}"
    )
fv.expect(bool(later.factor.norm() < q.factor.norm()), "the later walk spreads less")

# %% [markdown]
# ## References
#
# - Mandt, Hoffman, Blei: Stochastic gradient descent as approximate Bayesian inference, 2017,
#   [arXiv 1704.04289](https://arxiv.org/abs/1704.04289). How far SGD wanders.
# - Izmailov et al.: Averaging weights leads to wider optima and better generalization, 2018,
#   [arXiv 1803.05407](https://arxiv.org/abs/1803.05407). SWA.
# - Maddox, Garipov, Izmailov, Vetrov, Wilson: A simple baseline for Bayesian uncertainty in deep learning, 2019,
#   [arXiv 1902.02476](https://arxiv.org/abs/1902.02476), [code](https://github.com/wjmaddox/swa_gaussian).
# - [understandingbdl](https://github.com/izmailovpavel/understandingbdl): MultiSWAG, several SWAGs averaged.
# - Nguyen et al.: Flat seeking Bayesian neural networks, [arXiv 2302.02713](https://arxiv.org/abs/2302.02713).
#
# **Next**: [chapter 06](06_vi_and_laplace.ipynb) asks for the Gaussian that Bayes' rule wants.
