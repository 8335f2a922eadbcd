# %% [markdown]
# # A · What do the symbols mean?
#
# **You will find** every symbol of the course, what it is in code, and its shape. Nothing to learn by heart: look things up.
#
# **Takes** 5 minutes to read and a few seconds to run on a CPU.
#
# **Number to expect**: all shapes below are checked by the cells that follow them.

# %% tags=["parameters"]
FAST = False  # True shrinks the run: tests and a first look

# %%
import ipywidgets
import torch

import flatviz as fv
from flatviz.families.tour import prepare

# %% [markdown]
# ## Sizes
#
# One capital letter for each size, the same in every chapter and in every docstring.
#
# - $D$ weights that are treated
# - $N$ examples, $C$ classes
# - $S$ draws; $M$ of them averaged: the ensemble size
# - $K$ rank of a covariance, or number of eigenpairs
# - $U, V$ sides of a grid
#
# ## Weights and data
#
# - $w \in \mathbb{R}^D$: one weight vector, `w`; $W$ (S, D): several, a row each, `W`
# - $x, y$: inputs and labels, `data.x`, `data.y`
# - $f(w, x)$: the network's logits, `net(w, x)`, (N, C)
# - $p = \operatorname{softmax}(f)$: class probabilities
# - $L(w)$: mean negative log likelihood in nats, `fv.nll(net, data)`

# %%
net, task, prior = prepare(task=fv.datasets.digits_transfer(), epochs=5 if FAST else 60)
w, x, y = net.w, task.train.x, task.train.y
D, N, C = net.dim, len(task.train), 10
fv.expect((w.shape, y.shape, net(w, x).shape), ((D,), (N,), (N, C)))
fv.expect(fv.nll(net, task.train)(w).shape, ())  # a number

# %% [markdown]
# ## Derivatives
#
# - $g = \nabla L(w)$: gradient, (D,)
# - $H = \nabla^2 L(w)$: Hessian, (D, D), never built; $Hv$: `fv.hvp(L, w, v)`
# - $\lambda_1 \ge \lambda_2 \ge \dots$: its eigenvalues; $v_1, v_2, \dots$: eigenvectors; `fv.top_eigenpairs`
# - $J$: Jacobian of the logits in the weights, (N, C, D)
# - $\Lambda = \operatorname{diag}(p) - p p^\top$: second derivative of the loss in the logits, (C, C)

# %%
L = fv.nll(net, task.train)
top = fv.top_eigenpairs(L, w, 3)
fv.expect(fv.hvp(L, w, torch.ones(D)).shape, (D,))
fv.expect((top.values.shape, top.vectors.shape), ((3,), (3, D)))

# %% [markdown]
# ## Distributions over weights
#
# - $p(w)$: prior; $p(w \mid \mathcal{D})$: the exact posterior; $q(w)$ or $q_\theta$: an approximate one
# - $\mathcal{N}(\mu, \Sigma)$ with $\mu$ `mean` (D,), and
#   $\Sigma = \operatorname{diag}(d) + B^\top B$, $d = e^{2s}$, $s$ `log_std` (D,), $B$ `factor` (K, D)
# - $\theta = (\mu, s, B)$: what a fit changes
# - $\mathrm{KL}(q \Vert p) = \mathbb{E}_q \log \frac{q}{p}$, in nats: `q.kl(p)`
# - $z$: standard normal noise; $w = \mu + e^{s} \odot z_1 + B^\top z_2$: a draw, `q.sample(n, seed=)`
#
# In code a draw is a row, so $B^\top z_2$ is written `z2 @ B`. The check: a covariance built by hand.

# %%
sigma = torch.diag((2 * prior.log_std).exp()) + prior.factor.T @ prior.factor
fv.expect((prior.mean.shape, prior.factor.shape), ((D,), (5, D)))
v = torch.randn(D, generator=torch.Generator().manual_seed(0))
fv.expect(prior.cov_mul(v), sigma @ v, atol=1e-5, by="the formula")
fv.expect(prior.sample(7, seed=0).shape, (7, D))

# %% [markdown]
# **Live**: a Gaussian over two weights, with $\Sigma = \operatorname{diag}(0.1, 0.1) + B^\top B$ and $B = (a, b)$. Which
# $a$ and $b$ make a long ellipse at 45 degrees?


# %%
def ellipse(a, b):
    """Draws of the Gaussian, with the ellipse that holds 95 % of them."""
    q = fv.Gaussian(torch.zeros(2), torch.full((2,), 0.1).log() / 2, torch.tensor([[a, b]]))
    plane = fv.plane_along(torch.zeros(2), *torch.eye(2), orthonormal=True, name="plane")
    surface = fv.slice_plane(lambda w: -q.log_prob(w), plane, extent=3.0, resolution=25)
    return fv.plot_surface(surface, fv.project(q, plane), title="-log q, and the 95 % ellipse")


# %%
_ = ipywidgets.interact(ellipse, a=(-1.0, 1.0, 0.1), b=(-1.0, 1.0, 0.1))

# %% [markdown]
# *Figure: contours of the negative log density over two weights, a marker at the mean, and an ellipse around it. With
# a = b the ellipse lies at 45 degrees; with a = b = 0 it is a circle.*
#
# ## Predictions
#
# - $\bar p(y \mid x) = \frac1M \sum_{m=1}^{M} p(y \mid x, w_m)$: Bayesian model average, BMA; `prediction.bma()`
# - accuracy; **NLL** of $\bar p$, in nats; **ECE**: expected calibration error, 15 bins; **Brier** score

# %%
prediction = fv.predict(net, prior, task.test, 5, seed=0)
fv.expect(prediction.probs.shape, (5, len(task.test), C))
fv.expect(prediction.bma(), prediction.probs.mean(0), atol=1e-6, by="the formula")

# %% [markdown]
# ## Radius and temperature
#
# - $\gamma$, `radius`: how far the adversary may move. For SA-BMA it is $\sqrt{2\,\mathrm{KL}}$ between posteriors; for SAM
#   ($\rho$) it is Euclidean. **0 is always VI**, or the plain method.
# - $T$, temperature; 1 is Bayes. There are two, equal at 1 alone ([chapter 06](06_vi_and_laplace.ipynb) draws both). `kl_weight` (VI,
#   SA-BMA, HMC) is that of the **tempered likelihood**: its target is $e^{-N L(w) / T}\, p(w)$, and of VI's objective it multiplies the
#   KL term. `temperature` (chains of SGLD's kind) is that of the **cold posterior** $p(w \mid \mathcal{D})^{1/T}$, prior included. A chain
#   with `temperature=T` and `weight_decay=T * wd` has the target of the first.
# - $\delta$: prior precision, $N$ times weight decay.
#
# ## Letters of one chapter
#
# - $\rho$ radius of SAM, $\sigma$ width of random steps, $T$ the diagonal of a rescaling: [chapter 04](04_what_flat_means.ipynb)
# - $\eta$ learning rate, $m$ momentum, $T$ snapshots, $R$ (K, D) their deviations: [chapter 05](05_swag.ipynb)
# - $E$ or $U$ energy, $-\log$ of the unnormalised posterior; $A$ its Hessian; $Z$ evidence:
#   chapters [06](06_vi_and_laplace.ipynb) and [07](07_sgld_dropout_ensembles.ipynb)
# - $\epsilon$ Langevin's step, $\beta$ inverse temperature, $\hat R$: [chapter 07](07_sgld_dropout_ensembles.ipynb)
# - $\Delta^\star$ the worst step of a posterior, $F$ the Fisher matrix: [chapter 08](08_from_sam_to_sabma.ipynb)
#
# ## Words
#
# - **treated**: the weights that have a distribution; all others stay at their source value
# - **nat**: the unit of a natural logarithm; $\log 10 \approx 2.3$ nats is the loss of guessing among ten classes
# - **bowl**: a quadratic loss, $\tfrac12 w^\top H w$ with no negative eigenvalue
# - **draw**: one weight vector of a posterior (not "sample", which is many things)
# - **objective**: a function $\mathbb{R}^D \to \mathbb{R}$; a loss is one
# - **flat-seeking**, F-: the same method, with every gradient taken at a perturbed point
#
# ## The sources, system by system
#
# Each system that the papers and slides describe: where it is in flatviz, the command that runs it, the test that checks it.
# Rows whose place is `not in flatviz` name systems that are absent.

# %%
import pandas as pd

from flatviz.storage.cache import committed

pd.read_csv(committed("sources.csv")).style.hide()

# %% [markdown]
# ## Summary
#
# One alphabet: $D, N, C, S, K$ for sizes, $w$ for weights, $L$ for the loss, $q$ for a posterior, $\gamma$ for a radius.
#
# ## Exercises
#
# **1.** How many numbers describe a Gaussian over $D = 906$ weights with $K = 5$? How many would a full covariance need?
#
# <details><summary>Solution</summary>
#
# $D (2 + K) = 6342$; a full one needs $D + D (D+1)/2 = 411{,}777$.
#
# </details>

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
fv.expect((D * (2 + 5), D + D * (D + 1) // 2), (6342, 411_777))

# %% [markdown]
# **2.** Why is $\Sigma = \operatorname{diag}(d) + B^\top B$ always a covariance?
#
# <details><summary>Solution</summary>
#
# $u^\top \Sigma u = \sum_i d_i u_i^2 + \lVert B u \rVert^2 > 0$ for every $u \ne 0$, as all $d_i = e^{2 s_i} > 0$.
#
# </details>

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
fv.expect(torch.linalg.eigvalsh(sigma.double()).min() > 0, "no eigenvalue is 0 or below")

# %% [markdown]
# **3.** What is $\mathrm{KL}(q \Vert p)$ of two Gaussians with the same covariance $\sigma^2 I$ and means $r$ apart?
#
# <details><summary>Solution</summary>
#
# $r^2 / (2\sigma^2)$: so $\sqrt{2\,\mathrm{KL}} = r/\sigma$, the distance in standard deviations. That is the unit of
# SA-BMA's radius.
#
# </details>

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
a = fv.Gaussian(torch.zeros(3), torch.full((3,), 0.5).log())
b = fv.Gaussian(torch.tensor([0.3, 0.4, 0.0]), torch.full((3,), 0.5).log())
fv.expect((2 * a.kl(b)).sqrt(), 0.5 / 0.5)

# %% [markdown]
# ## References
#
# - The same alphabet is at the top of `flatviz/weight_space.py`; every docstring uses it.
# - The symbols of the paper: Lim et al., [arXiv 2406.15664](https://arxiv.org/abs/2406.15664).
