# %% [markdown]
# # 09 · Can any Bayesian method be made flat-seeking?
#
# A golf course has two holes. One is deep and as wide as a hand. The other is a little less deep and as wide as a table. If the
# ball lies where you put it, the deep hole is the better place. If the greenkeeper moves every ball by a finger's width, in the
# worst direction, the narrow hole is a bad place: the ball is on the rim.
#
# A flat-seeking posterior is what remains of a posterior once the greenkeeper has been round. This course writes **F-** before
# the name of a method for its flat-seeking version: F-SWAG, F-VI.
#
# **You will learn** to
#
# - prove that minimising a loss plus a KL term gives a Gibbs posterior, and put SAM's loss into that proof;
# - compute the *sharpness-aware posterior* on a grid, exactly, and watch probability leave a narrow well;
# - turn SWAG, VI, SGLD, dropout and ensembles into F- versions by exchanging one gradient;
# - say what the F- version of VI does to the width of a posterior, and why it is not what the name suggests.
#
# **Takes** 30 minutes to read and half a minute to run on a CPU.
#
# **Needs** chapters [05](05_swag.ipynb) to [08](08_from_sam_to_sabma.ipynb).

# %% tags=["parameters"]
FAST = False  # True shrinks the run: tests and a first look

# %%
import ipywidgets
import torch

import flatviz as fv
from flatviz.families.tour import prepare
from flatviz.plots.theme import figure

torch.set_num_threads(1)

# %% [markdown]
# ## Two holes, one radius
#
# The grey curve is the golf course, a loss of one weight; the narrow hole at $-2$ is the deeper one. The filled curve is the posterior
# of a uniform prior, $\propto e^{-\lambda \cdot \text{loss}}$: many data are a large $\lambda$ (`lam`). The greenkeeper moves each ball
# to the worst place within `rho`; the dashed curve is the loss there, and with a `rho` above 0 the posterior is made from *that*.
#
# **Predict first**: at $\lambda = 20$ the narrow hole holds more than a third of the probability. How much is left at a radius of
# 0.06, well inside it (its width is 0.15)? And which hole wins at $\lambda = 60$, at radius 0 and at radius 0.1?

# %%
w = torch.linspace(-4, 4, 4001, dtype=torch.float64)
narrow, wide = -((w + 2) ** 2) / (2 * 0.15**2), -((w - 2) ** 2) / (2 * 0.8**2)
L = 1 - narrow.exp() - 0.93 * wide.exp()
log_prior = torch.zeros_like(w).log_softmax(0)  # uniform on the grid


# %%
def gibbs(loss, lam):
    """The posterior on the grid, and log Z."""
    log_joint = log_prior - lam * loss
    return log_joint.softmax(0), log_joint.logsumexp(0)


# %%
cell = float(w[1] - w[0])


def worst(loss, rho):
    """Running maximum over windows of half-width rho."""
    half = round(rho / cell)
    return torch.nn.functional.max_pool1d(loss[None, None], 2 * half + 1, stride=1, padding=half)[
        0, 0
    ]


# %%
thinned = w[::20]
right = dict(overlaying="y", side="right", title="density of the posterior")
right |= dict(rangemode="tozero", showgrid=False, tickmode="auto")
margin = dict(l=60, r=60, t=76, b=52)


# %%
def wells(rho, lam):
    Q, _ = gibbs(worst(L, rho), lam)
    at_left = float(Q[w < 0.3].sum())
    title = f"{at_left:.0%} of the probability in the narrow well"
    alt = f"Loss with two wells, worst loss within {rho:g}, and its posterior: {title}"
    axes = dict(xaxis_title="w", yaxis_title="loss", yaxis2=right, margin=margin)
    return curves(figure(title, alt, **axes), rho, Q)


# %%
def curves(fig, rho, Q):
    fig.add_scatter(x=thinned, y=L[::20], name="loss", line_color="#6b7780")
    fig.add_scatter(
        x=thinned,
        y=worst(L, rho)[::20],
        name="worst loss nearby",
        line=dict(color="#D55E00", dash="dash"),
    )
    filled = dict(fill="tozeroy", line_color="#0072B2", yaxis="y2")
    return fig.add_scatter(x=thinned, y=Q[::20] / cell, name="posterior", **filled)


# %%
sliders = dict(rho=ipywidgets.FloatSlider(value=0.0, max=0.4, step=0.02))
_ = ipywidgets.interact(
    wells, **sliders, lam=ipywidgets.FloatSlider(value=20.0, max=60.0, step=5.0)
)

# %% [markdown]
# *Figure: a loss with a narrow well at −2 and a wide one at 2. The dashed curve, the worst loss nearby, fills the narrow
# well first. The filled curve, the posterior, has a tall thin peak at −2 that vanishes as the radius grows.*
#
# **Try** a narrow hole ten times narrower (`0.15` to `0.015`), as deep as the wide one (`narrow.exp()` to `0.93 * narrow.exp()`), or a
# wide one nearly as deep (`0.93` to `0.99`).
#
# <details><summary>What one sees</summary>
#
# At $\lambda = 20$ the share of the narrow hole falls from 0.42 to 0.08 at a radius of 0.06, and to less than 0.01 at 0.1. At
# $\lambda = 60$ the deep hole wins at radius 0, with 0.92 of the probability, and has nothing at radius 0.1: more data favour the
# deeper hole, a radius the wider one.
#
# </details>
#
# **Number to expect**: at radius 0.1 the narrow well of the example keeps less than a tenth of its probability. A cell
# below checks it.

# %% [markdown]
# ## Step 1: a posterior is the solution of an optimisation problem
#
# Let $p$ be a prior, $L$ a loss, $\lambda > 0$ (for $N$ examples at temperature $T$: $\lambda = N/T$). Over all
# distributions $Q$, which minimises
#
# $$ \mathcal{F}(Q) = \lambda\, \mathbb{E}_{w \sim Q}[L(w)] + \mathrm{KL}(Q \Vert p)\;? $$
#
# Write $Z = \int e^{-\lambda L(w)} p(w)\, dw$ and $Q^\star(w) = e^{-\lambda L(w)} p(w) / Z$. Then
#
# $$ \mathrm{KL}(Q \Vert Q^\star) = \mathbb{E}_Q\!\left[\log \frac{Q}{p}\right] + \lambda\, \mathbb{E}_Q[L] + \log Z
#    = \mathcal{F}(Q) + \log Z . $$
#
# $\log Z$ does not depend on $Q$, and a KL divergence is never negative and 0 only for equal distributions. So
# $Q^\star$, **the posterior**, is the one minimiser, and the minimum is $-\log Z$.
#
# On a grid everything is a sum, and the proof can be checked with numbers: on the two wells above, a narrow one of width 0.15 at
# $-2$, whose floor is at 0, and a wide one of width 0.8 at 2, whose floor is at 0.07. The prior is uniform.


# %%
def objective(Q, loss, lam):
    return lam * (Q * loss).sum() + (Q * (Q.clamp_min(1e-300).log() - log_prior)).sum()


# %%
lam = 20.0
Q, log_Z = gibbs(L, lam)
fv.expect(objective(Q, L, lam), -log_Z, by="the formula")  # the minimum is -log Z
other = gibbs(L, 0.7 * lam)[0]
fv.expect(objective(other, L, lam) > objective(Q, L, lam), "another distribution is worse")

# %% [markdown]
# ## Step 2: put the worst loss nearby into the same proof
#
# SAM replaces $L(w)$ by the worst loss within $\rho$,
#
# $$ L_\rho(w) = \max_{|e| \le \rho} L(w + e) . $$
#
# Step 1 asked nothing of $L$ but that integrals exist. So the minimiser of
# $\lambda\, \mathbb{E}_Q[L_\rho] + \mathrm{KL}(Q \Vert p)$ is
#
# $$ Q_\rho(w) \propto e^{-\lambda L_\rho(w)}\, p(w), $$
#
# the **sharpness-aware posterior** (Nguyen et al. 2023). On a grid $L_\rho$ is a running maximum, which torch knows as max
# pooling: `worst` in the first cells.

# %% [markdown]
# **Predict first**: the narrow well is the deeper one, the wide one has more room. How much of the posterior lies in the narrow
# well, and how much is left at a radius of 0.05, a third of the well's width?

# %%
share = {}
for rho in (0.0, 0.05, 0.1):
    Q_rho, _ = gibbs(worst(L, rho), lam)
    share[rho] = float(Q_rho[w < 0.3].sum())
    print(f"radius {rho:<5g} share of the narrow well {share[rho]:.3f}")

# %%
fv.expect(share[0.0] > 0.3 and share[0.1] < 0.1 * share[0.0], "less than a tenth is left")

# %% [markdown]
# ## What it says about new data
#
# The paper bounds the loss $L_D$ on new data by the worst training loss nearby. How strong can that be? PAC-Bayes (McAllester
# 1999, Maurer 2004): for a loss between 0 and 1 and $N$ independent examples, with probability $1 - \delta$, for all $Q$ at once,
#
# $$ \mathbb{E}_Q[L_D] \le \mathbb{E}_Q[L] + B(Q), \qquad
#    B(Q) = \sqrt{\frac{\mathrm{KL}(Q \Vert p) + \ln(2 \sqrt N / \delta)}{2 N}} . $$
#
# $L \le L_\rho$, so $\mathbb{E}_Q[L_D] \le \mathbb{E}_Q[L_\rho] + B(Q)$: a **sharpness-aware certificate**. For the same
# $Q$ it is never below the plain one. Which of $Q^\star$ and $Q_\rho$ has the lower one? Here $\lambda = N$.


# %%
def certificate(Q, loss, n, delta=0.05):
    kl = (Q * (Q.clamp_min(1e-300).log() - log_prior)).sum()
    return float(
        (Q * loss).sum() + ((kl + torch.tensor(2 * n**0.5 / delta).log()) / (2 * n)).sqrt()
    )


# %%
sharp = worst(L, 0.1)
for n in (20, 200, 2000):
    plain, flat = gibbs(L, float(n))[0], gibbs(sharp, float(n))[0]
    both = certificate(plain, L, n), certificate(flat, L, n), certificate(flat, sharp, n)
    print("N = {}: plain {:.3f}; flat {:.3f}, and sharpness-aware {:.3f}".format(n, *both))
    fv.expect(both[0] < both[1] < both[2], "the plain posterior has the lower certificate")

# %% [markdown]
# On this loss, at these three $N$, the certificate is no reason to seek flatness: the plain posterior has the lower one. (One
# loss proves nothing about others.) An assumption about the *data* is a reason: if the loss surface of new data is the training
# surface, shifted by at most $\rho$, then $L_D \le L_\rho$ at every $w$. So $\mathbb{E}_Q[L_D] \le \mathbb{E}_Q[L_\rho]$, a bound
# without $N$, and $Q_\rho$ minimises it with the KL term.
# Shift the surface by 0.1 and compare:

# %%
moved = torch.nn.functional.pad(
    L[round(0.1 / cell) :], (0, round(0.1 / cell)), value=float(L[-1])
)  # by 0.1 to the left
plain, flat = gibbs(L, lam)[0], gibbs(sharp, lam)[0]
after = {name: float((Q * moved).sum()) for name, Q in [("plain", plain), ("flat", flat)]}
bound = float((flat * sharp).sum())
print(f"shifted loss: plain {after['plain']:.3f}, flat {after['flat']:.3f} (bound {bound:.3f})")

# %%
fv.expect((moved <= sharp + 1e-12).all(), "the shifted loss is nowhere above the worst one")
fv.expect(after["flat"] < after["plain"] and after["flat"] <= bound, "flat is the better one")

# %% [markdown]
# For the networks of this course, with 20 to 100 examples, the certificate of VI, SAM and SA-BMA alike is *vacuous*: it is not
# below 0.9, the error of guessing (`flatviz run along` prints it).
#
# ### The theorem, where it says something
#
# Theorem 3.2 of Nguyen et al. is, with probability $1 - \delta$ and for all $Q$ at once, with an increasing $f$ that is not named,
#
# $$ \mathbb{E}_Q[L_D] \le \mathbb{E}_{w \sim Q}\Big[\max_{|e| \le \rho} L(w + e)\Big] + f\Big(\max_w \lVert w \rVert^2 / N\Big) . $$
#
# `flat_bound` writes $f$ out as SAM's authors do. Blur $Q$ by $\mathcal{N}(0, s^2 I)$, with $s$ so small that a blur is longer
# than $\rho$ only once in $\sqrt N$ times: the blurred loss is at most the worst loss plus $1/\sqrt N$. Of the blurred $Q$ take
# the PAC-Bayes bound; its KL exists even where $Q$ is a *point*. (As in SAM's theorem one assumes that a blur does not lower
# $L_D$; without that the bound is one of the blurred $Q$.)
#
# Three things keep it below the error of guessing, here one half: few treated weights, a prior from data that are not counted
# again, many examples. So one half of 2,000 points trains a small network, and its head is the prior's mean; the other
# half trains the posterior of the 18 weights of the head.

# %%
moons = fv.datasets.moons_transfer(shots=1000)
first, second = (moons.train.subset(torch.arange(i, i + 1000)) for i in (0, 1000))
module = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))
trunk = fv.pretrain(fv.Net.from_module(module), first, seed=0, epochs=100, lr=0.5)

# %%
head = fv.Net.from_module(trunk.to_module().eval(), "head")
head_prior = fv.Gaussian(head.w, torch.full_like(head.w, 0.3).log())
q = fv.fit(head, second, fv.VI(head_prior, kl_weight=1.0), seed=0)
features = trunk.to_module()[:2].requires_grad_(False)

# %% [markdown]
# The worst error within $\rho$ needs no search here. A step $e$ of a linear head changes the margin of an input, $o_y$ less the
# other output, by at most $\sqrt 2\, \lVert (\varphi, 1) \rVert \lVert e \rVert$, $\varphi$ the features. So an input *can* be wrong
# where its margin is smaller than that, and the share of those is at least the worst error.


# %%
def worst_error(W, data, rho=0.0):
    out = torch.stack([head(w, data.x) for w in W])
    margin = (out[..., 0] - out[..., 1]) * (1 - 2 * data.y)
    longest = (2 * (features(data.x).square().sum(1) + 1)).sqrt()
    return float((margin <= rho * longest).double().mean())


# %%
for name, W, kl in (
    ("VI", q.sample(200, seed=1), float(q.kl(head_prior))),
    ("its center", q.center[None], 1e9),
):
    nearby = worst_error(W, second, 0.3)
    plain_bound = fv.metrics.pac_bayes_bound(worst_error(W, second), kl, 1000)
    flat_bound = fv.metrics.flat_bound(nearby, W, head.w, radius=0.3, prior_std=0.3, n=1000)
    error = worst_error(W, moons.test)
    print(f"{name}: error {error:.3f}; PAC-Bayes {plain_bound:.3f}; theorem 3.2 {flat_bound:.3f}")
    fv.expect(error < flat_bound < 0.3, "a bound, and below one half")

# %%
e = torch.randn(500, head.dim, generator=torch.Generator().manual_seed(0))
near = q.center + 0.3 * e / e.norm(dim=1, keepdim=True)  # steps of length 0.3
tried, bounded = (
    max(worst_error(v[None], second) for v in near),
    worst_error(q.center[None], second, 0.3),
)
fv.expect(tried <= bounded, "no step tried is worse than the share says")

# %% [markdown]
# Both bounds say something, the flat one also of a single network. For VI the plain one is the lower: the theorem pays $1/\sqrt N$
# and the KL of a blur that knows nothing of the widths of $Q$. A larger $\rho$ makes that KL smaller and the worst error larger.
#
# ## The shape inside a well
#
# Back to the sliders. Look at the *shape* of the posterior inside the wide well, too: it does not get wider. It gets **narrower**, for the worst loss
# nearby rises at once on both sides of the floor. Flat means "lives where the loss is flat", never "is a flat density". In
# numbers:

# %%
Q0, Q1 = (gibbs(worst(L, rho), lam)[0] * (w > 0.3) for rho in (0.0, 0.2))
spread = [float(((q / q.sum()) * (w - 2) ** 2).sum().sqrt()) for q in (Q0, Q1)]
fv.expect(spread[1] < spread[0], "narrower inside the well")
print(f"spread in the wide well: {spread[0]:.3f} at radius 0, {spread[1]:.3f} at radius 0.2")

# %% [markdown]
# ## Step 3: from the formula to an algorithm
#
# For a network no grid exists. The F- methods take four short cuts, all of them at once:
#
# 1. the worst point is found by **one** ascent step: $s(w) = w + \rho\, g / \lVert g \rVert$, $g = \nabla L(w)$;
# 2. its derivative is taken to be the identity: $\nabla_w L(s(w)) \approx (\nabla L)(s(w))$;
# 3. both gradients use the same minibatch, and the same noise;
# 4. prior and weight decay act at $w$, not at $s(w)$.
#
# In words: **take the gradient elsewhere, apply it here.** That is one argument of every fit in flatviz.

# %%
net, task, prior = prepare(task=fv.datasets.digits_transfer(), epochs=5 if FAST else 60)
loss = fv.nll(net, task.train)  # mean loss of the 100 training digits, as a function of the weights
value, g = loss.value_and_grad(net.w)

# %%
there = net.w + fv.SAM(0.1)(net.w, g)  # s(w)
value_there, flat_gradient = loss.value_and_grad(there)
fv.expect(value_there > value, "an ascent")
alike = torch.cosine_similarity(g, flat_gradient, dim=0)
print(f"loss {value:.3f} here, {value_there:.3f} there; cosine of the two gradients {alike:.3f}")

# %% [markdown]
# | method | what stays | what changes |
# |---|---|---|
# | SWAG | moments of the *unperturbed* path | each step of SGD takes the gradient at $s(w)$ |
# | VI | KL term, noise | each draw's gradient is taken at $s(w)$ |
# | SGLD | the injected noise | the drift is $\nabla L(s(w))$ |
# | dropout | the mask, in both passes | the step of SGD |
# | ensemble | seeds and averaging | each member is trained by SAM |
#
# In code, each of them is the `update` of its method, with an `ascent` or without. One step of VI and one of F-VI, with the same noise:

# %%
training, noise = fv.training.training_loss(net, task.train), prior.noise(1, seed=0)
for name, ascent in (("VI", None), ("F-VI", fv.SAM(0.1))):
    method = fv.VI(prior, lr=0.5, kl_weight=1.0, n=len(task.train), ascent=ascent)
    state, record = method.update(method.init(prior), training, None, noise)
    higher = float(record.sharpness or 0)
    print(f"{name}: loss {float(record.loss):.3f}, {higher:.3f} higher after the ascent")

# %% [markdown]
# One keyword makes each of them: `ascent=fv.SAM(radius)`. In the next cell `a` says whether it is given: SWAG and VI, each plain
# and flat-seeking.

# %%
steps = dict(steps=20) if FAST else {}
radius = 0.2
swag = {
    a: fv.fit(net, task.train, fv.SWAG(rank=5, ascent=fv.SAM(radius) if a else None), seed=0)
    for a in (False, True)
}
vi = {
    a: fv.fit(net, task.train, fv.VI(prior, ascent=fv.SAM(radius) if a else None), seed=0, **steps)
    for a in (False, True)
}

# %% [markdown]
# **Check**: at radius 0 the flat-seeking method is the plain one, bit for bit.

# %%
zero = fv.fit(net, task.train, fv.VI(prior, ascent=fv.SAM(0.0)), seed=0, **steps)
fv.expect(torch.equal(zero.mean, vi[False].mean), "radius 0 is the plain one, bit for bit")

# %% [markdown]
# ## Does it work?
#
# The largest Hessian eigenvalue $\lambda_1$, mean over three draws, plain and flat-seeking:


# %%
def sharpness(q):
    return float(
        torch.stack([fv.top_eigenpairs(loss, u, 1).values[0] for u in q.sample(3, seed=1)]).mean()
    )


# %%
lam1 = {
    name: {a: sharpness(q) for a, q in pair.items()} for name, pair in (("SWAG", swag), ("VI", vi))
}
for name, pair in lam1.items():
    print(f"{name:5s} plain {pair[False]:6.2f}   flat-seeking {pair[True]:6.2f}")

# %%
alt = "; ".join(
    f"{name} {pair[False]:.1f} plain, {pair[True]:.1f} flat-seeking" for name, pair in lam1.items()
)
fig = figure(
    "Largest eigenvalue, plain and flat-seeking", alt, yaxis_title="λ1", height=400, barmode="group"
)
for flat, label, color in ((False, "plain", "#6b7780"), (True, "F- version", "#009E73")):
    fig.add_bar(
        x=list(lam1), y=[pair[flat] for pair in lam1.values()], name=label, marker_color=color
    )
fig

# %% [markdown]
# *Figure: pairs of bars, plain in grey and flat-seeking in green, for SWAG and VI; the green ones are lower.*
#
# **Try** `radius = 0.05`, `radius = 1.0`, and another seed in the fits: are the green bars still the lower ones?
#
# One seed, so an anecdote. `flatviz run compare` runs every method beside its F- version over seeds, with verdicts and
# intervals.

# %%
if not FAST:
    fv.expect(all(pair[True] < pair[False] for pair in lam1.values()), "flatter, both of them")

# %% [markdown]
# ## What F-VI does to the width
#
# Take a bowl $L(w) = \tfrac12 (h_1 w_1^2 + h_2 w_2^2)$ with $h = (4, 0.2)$, $\lambda = 50$, and a prior so wide that it drops
# out. The posterior is proportional to $e^{-\lambda L}$: a Gaussian with standard deviations $1/\sqrt{\lambda h_i}$. VI should
# find it; what does F-VI find?
#
# **Predict first**: wider or narrower than VI's, and in which direction more?
#
# To hand the bowl to `VI` as a network: a linear one with two weights, Gaussian noise of standard deviation 1
# (`likelihood=1.0`), and two examples with target 0 whose squared errors make $L$. `VI` minimises
# $\mathbb{E}[L] + \tfrac{\texttt{kl\_weight}}{N} \mathrm{KL}$; with $N = 2$ that is $\lambda = 50$ for a weight of $2/50$.

# %%
h = torch.tensor([4.0, 0.2])
x = torch.diag(h.sqrt()) * 2**0.5  # mean over two rows of (x_n w)^2 / 2 is the bowl
bowl = fv.Net.from_module(torch.nn.Linear(2, 1, bias=False))
data = fv.Data(x, torch.zeros(2, 1))
broad = fv.Gaussian(torch.zeros(2), torch.full((2,), 3.0))


# %%
def widths(ascent):
    run = dict(seed=0, likelihood=1.0, steps=800 if FAST else 1600)
    fields = dict(kl_weight=2 / 50, lr=0.1, mc_samples=4)
    start = fv.Gaussian(torch.zeros(2), torch.full((2,), -2.0))
    return fv.fit(
        bowl, data, fv.VI(broad, start=start, start_scale=1.0, ascent=ascent, **fields), **run
    ).std


# %%
plain, flat = widths(None), widths(fv.SAM(0.1))
exact = (50 * h).rsqrt()
for name, std in (("exact", exact), ("VI", plain), ("F-VI", flat)):
    print(f"{name:6s} standard deviation: sharp axis {std[0]:.3f}, flat axis {std[1]:.3f}")
fv.expect(plain, exact, rtol=0.15, by="the formula")
fv.expect(flat[0] < 0.8 * plain[0], "F-VI is narrower along the sharp axis")

# %% [markdown]
# In the sharp direction F-VI is *narrower*. Along one axis the worst loss within $\rho$ is
#
# $$ \tfrac12 h (|w| + \rho)^2 = \tfrac12 h w^2 + h \rho\, |w| + \text{const} , $$
#
# the bowl and a V whose slope is $h\rho$: it holds the posterior closer, twenty times as much along the axis with the
# twentyfold curvature. Between wells the sharp one loses its probability; within a well the posterior shrinks.
#
# ## Since then: samplers and certificates
#
# - **fSGLD** (Bruno et al. 2025) takes the gradient of SGLD at weights that isotropic Gaussian noise has moved, in place of the ascent above, so
#   a step costs one gradient. Its theory couples the noise with the temperature: the target is near a Gibbs distribution that
#   favours flat basins. In flatviz: not there. F-SGLD (`SGLD(ascent=fv.SAM(rho))`) and `EMCMC` are its neighbours.
# - **From global to local** (2025) compares samplers on local posteriors with degenerate minima, and finds SGLD
#   preconditioned as in RMSprop the most faithful to the local geometry. In flatviz: `fv.PSGLD` is that sampler, and
#   [learning](experiments/learning.ipynb) measures the local learning coefficient by HMC and by plain SGLD on a small network, where HMC is
#   the reference. The two are not joined yet: pSGLD's coefficient beside HMC's is open.
# - **On cold posteriors** (Zhang 2024) joins the temperature with PAC-Bayes: a way to learn cold posteriors with tight
#   generalisation guarantees. In flatviz: the certificate above, and `flatviz run along` prints it for VI, SAM and SA-BMA; with the few examples
#   of this course it is vacuous.
#
# ## Summary
#
# - The posterior minimises $\lambda\, \mathbb{E}_Q[L] + \mathrm{KL}(Q \Vert p)$; the proof is three lines.
# - With the worst loss nearby in its place the same proof gives the sharpness-aware posterior.
# - Narrow wells lose their probability; inside a well the density gets narrower, not wider.
# - Algorithms take one ascent step and treat it as a constant: take the gradient elsewhere, apply it here.
# - One keyword, `ascent=`, makes any method flat-seeking; radius 0 is the plain method.
#
# ## Exercises
#
# **1.** In step 1, what is the minimiser if the KL term is weighted by $T$, that is
# $\mathbb{E}_Q[L] + T\, \mathrm{KL}(Q\Vert p)$?
#
# <details><summary>Solution</summary>
#
# Divide by $T$: the same problem with $\lambda = 1/T$. So a KL weight is a temperature: below 1 the posterior is colder.
#
# </details>

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
T = 0.1
cold = gibbs(L, 1 / T)[0]
tempered = lambda Q: objective(Q, L, 1 / T) * T
least = all(tempered(cold) <= tempered(gibbs(L, at)[0]) + 1e-12 for at in (5.0, 9.0, 11.0, 20.0))
fv.expect(least, "no other λ does better than 1 / T")

# %% [markdown]
# **2.** At which radius do the two wells have equal probability, at $\lambda = 60$? Find it to 0.002.
#
# <details><summary>Solution</summary>
#
# The share of the narrow well falls with the radius, so bisection works: halve the interval, keep the half in which the share
# crosses one half. See the cell below.
#
# </details>

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
lo, hi = 0.0, 0.2
while hi - lo > 0.002:
    middle = (lo + hi) / 2
    larger = gibbs(worst(L, middle), 60.0)[0][w < 0.3].sum() > 0.5
    lo, hi = (middle, hi) if larger else (lo, middle)
fv.expect(0.0 < lo < 0.1, "they are equal at a radius below 0.1")
print(f"between {lo:.3f} and {hi:.3f}")

# %% [markdown]
# **3.** Short cut 1 takes one gradient step for the worst point. In one dimension, where does it fail to find the worst
# point of the interval? Try the rough loss $\sin(20 w)$ at radius 0.1.
#
# <details><summary>Solution</summary>
#
# Near a hilltop that is closer than $\rho$: the step runs over it and ends on the other side, below the top. Near the
# bottom of a well: the step climbs the side on which the point is, though the other rim may be higher; at the bottom
# itself $g = 0$, and there is no step at all. On a smooth slope longer than $\rho$ it is exact.
#
# </details>

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
rough = torch.sin(20 * w)
inside = torch.arange(60, 3940)  # away from the ends of the grid
step = (50 * torch.cos(20 * w[inside]).sign()).long()  # 0.1 is 50 cells, uphill
gap = worst(rough, 0.1)[inside] - rough[inside + step]
fv.expect(gap.min() > -1e-9 and gap.max() > 0.3, "never above the maximum, far below near hilltops")

# %% [markdown]
# **4.** Make an F-ensemble of three members and compare its test NLL with a plain one.
#
# <details><summary>Solution</summary>
#
# `fv.Ensemble(ascent=fv.SAM(0.2))`. Which of the two is better on one seed says little; run it for several.
#
# </details>

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
members = dict(seed=0, steps=20 if FAST else 150)
members_fields = dict(members=2 if FAST else 3)
pair = {
    a: fv.fit(
        net, task.train, fv.Ensemble(ascent=fv.SAM(0.2) if a else None, **members_fields), **members
    )
    for a in (False, True)
}
for a, q in pair.items():
    score = fv.predict(net, q, task.test, len(q.W), seed=0).scores["nll"][-1]
    print(f"{'F-ensemble' if a else 'ensemble':10} test NLL {score:.3f}")

# %% [markdown]
# ## References
#
# - Nguyen, Vuong, Phan, Do, Phung, Le: Flat seeking Bayesian neural networks, 2023,
#   [arXiv 2302.02713](https://arxiv.org/abs/2302.02713).
# - Foret et al.: Sharpness-aware minimization, 2021, [arXiv 2010.01412](https://arxiv.org/abs/2010.01412).
# - Bruno et al.: Flatness-aware stochastic gradient Langevin dynamics, 2025, [arXiv 2510.02174](https://arxiv.org/abs/2510.02174).
# - From global to local: a scalable benchmark for local posterior sampling, 2025, [arXiv 2507.21449](https://arxiv.org/abs/2507.21449).
# - Zhang: On cold posteriors of probabilistic neural networks, 2024, [arXiv 2410.15310](https://arxiv.org/abs/2410.15310).
#
# **Next**: [chapter 10](10_flatness_and_averaging.ipynb) asks whether flatness matters when draws are averaged.
