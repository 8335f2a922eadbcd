# %% [markdown]
# # 06 · Which Gaussian comes closest to Bayes' rule?
#
# A mountain is to be covered with a bell-shaped tent. The first tailor climbs to the summit, measures how sharply it
# falls off *there*, and cuts the tent from that: Laplace. The second never climbs. He tries tents, pushes and stretches
# them, and keeps the one that stands *on the mountain* as much as it can and over thin air as little as it can: VI.
#
# For a mountain that is a bell itself both bring the same tent. For all others they do not.
#
# **You will learn** to
#
# - write Bayes' rule for the weights of a network, and say why it has to be approximated;
# - derive variational inference (VI) from one inequality, and its gradients from one substitution;
# - derive Laplace's approximation from one Taylor series, with its evidence;
# - predict with the *linearised* network, and say why Laplace needs that;
# - compare both with an exact posterior.
#
# **Takes** 45 minutes to read and a minute to run on a CPU.
#
# **Needs** chapters [03](03_curvature.ipynb) and [05](05_swag.ipynb).

# %% tags=["parameters"]
FAST = False  # True shrinks the run: tests and a first look

# %%
import math
import warnings

import ipywidgets
import pandas as pd
import torch
from torch.nn.functional import softplus

# %%
import flatviz as fv
from flatviz import experiments
from flatviz.families.tour import prepare

torch.set_num_threads(1)
warnings.filterwarnings("ignore", ".*torch.jit.script")  # by a package that laplace-torch imports
generator = torch.Generator().manual_seed(0)

# %% [markdown]
# ## Pitch the tent yourself
#
# The mountain is the posterior of one weight, exact: two labels of a class that a weight of any size would explain, and one
# that contradicts (Bayes' rule below says how it is made). The tent is a Gaussian.
#
# **Predict first**: which tent covers best, with its summit on the mountain's, or beside it? Then move the sliders until the number in the
# title is as small as you can make it. (It is the divergence that the second tailor minimises; 0 would be a perfect fit.)

# %%
x = torch.tensor([0.5, 1.0, 1.5, 2.0, -1.0, -0.3])
y = torch.tensor([1.0, 1.0, 1.0, 1.0, -1.0, 1.0])  # one label contradicts the rest
energy = lambda w: softplus(-y * x * w[..., None]).sum(-1) + w**2 / (2 * 3.0**2)

# %%
w = torch.linspace(-3, 13, 3201)
dw = w[1] - w[0]
Z = torch.exp(-energy(w)).sum() * dw  # the integral, on a grid
exact = torch.exp(-energy(w)) / Z
divergence = lambda q: float((q * (q.clamp_min(1e-30).log() + energy(w) + Z.log())).sum() * dw)
fv.expect(exact.sum() * dw, 1)


# %%
def pitch(mean, width):
    """The exact posterior and a tent, with the divergence of the tent in the title."""
    tent = torch.distributions.Normal(mean, width).log_prob(w).exp()
    both = [
        fv.Curve(w[::40], p[::40], "w", "density", k)
        for k, p in (("mountain", exact), ("tent", tent))
    ]
    return fv.plot_curve(both, barrier=False, title=f"divergence {divergence(tent):.3f}")


# %%
_ = ipywidgets.interact(pitch, mean=(0.0, 6.0, 0.25), width=(0.5, 3.0, 0.25))

# %% [markdown]
# *Figure: two densities over one weight: the mountain, steep at the left with a long tail to the right, and a bell.*
#
# **Try** a label more that contradicts (`1.0, -1.0, 1.0` to `1.0, -1.0, -1.0` at the end of `y`); ten times the data
# (`energy` with `10 * softplus`); a narrower prior (`3.0**2` to `0.5**2`): when does the bell fit?
#
# <details><summary>What one sees</summary>
#
# The summit is at 2.1, and a tent with its own there is not the best: at a mean of 2.75 and a width of 1.25 the divergence is
# smallest, 0.06, to the right of the summit, where most of the mass is.
#
# </details>
#
# **Number to expect**: for linear regression Laplace is exact, and mean-field VI is narrower than the exact posterior, by
# a factor of about 0.7 for two inputs that go together. Cells below check both.

# %% [markdown]
# ## Bayes' rule for weights
#
# Before the data, the weights have a prior $p(w)$. The data have the likelihood $\prod_n p(y_n \mid x_n, w)$, and its
# logarithm is $-N L(w)$ with our loss $L$. Bayes' rule:
#
# $$ p(w \mid \mathcal{D}) = \frac{1}{Z}\, e^{-N L(w)}\, p(w), \qquad Z = \int e^{-N L(w)}\, p(w)\, dw . $$
#
# The formula is short. The integral $Z$ runs over 906 dimensions, and nobody can do it. With *one* weight we can: take
# logistic regression with a single weight and a prior $\mathcal{N}(0, 3^2)$. Labels are $y = \pm 1$, and
# $-\log p(y \mid x, w) = \log(1 + e^{-y x w})$, which is called softplus. The **energy** $E(w)$ is $-\log$ of the numerator,
# without the constant of the prior, which $Z$ takes up. That is the mountain of the first picture; $Z$ is its volume, a
# sum over the grid.

# %% [markdown]
# ## Tailor 1: Laplace
#
# **Step 1.** Find the summit $w_*$ of the posterior, the lowest energy $E$. **Step 2.** Taylor, with $E'(w_*) = 0$:
#
# $$ E(w) \approx E(w_*) + \tfrac12 (w - w_*)^\top A\, (w - w_*), \qquad A = \nabla^2 E(w_*) = N H + \delta I . $$
#
# $H$ is the Hessian of $L$, $\delta$ the prior's precision. **Step 3.** $e^{-E}$ is then a Gaussian:
#
# $$ q = \mathcal{N}\big(w_*,\; A^{-1}\big) . $$

# %%
summit = w[energy(w).argmin()]
A = fv.hvp(lambda v: energy(v).sum(), summit[None], torch.ones(1))
laplace = torch.distributions.Normal(summit, A.item() ** -0.5)

# %% [markdown]
# ## Tailor 2: variational inference
#
# Which Gaussian $q$ is closest to $p(w \mid \mathcal{D})$? "Close" is the Kullback-Leibler divergence: of any densities $a$
# and $b$ it is $\mathrm{KL}(a \Vert b) = \mathbb{E}_a \log \frac{a}{b}$, never negative, and 0 if $a = b$ alone. Insert Bayes'
# rule; $\mathrm{KL}(q \Vert p)$ is then the divergence from the *prior* $p(w)$:
#
# $$ \mathrm{KL}\big(q \,\Vert\, p(\cdot \mid \mathcal{D})\big) = \mathbb{E}_q[\log q(w) + N L(w) - \log p(w)] + \log Z
#    = N\, \mathbb{E}_q[L(w)] + \mathrm{KL}(q \Vert p) + \log Z . $$
#
# $\log Z$ does not depend on $q$. So it need not be known, and the closest $q$ minimises
#
# $$ \mathbb{E}_q[L(w)] + \tfrac1N\, \mathrm{KL}(q \Vert p) : $$
#
# fit the data on average, and stay near the prior. And as a KL is never negative, $\log Z \ge$ minus $N$ times this sum:
# the **evidence lower bound**.
#
# With one weight we simply try all tents: 161 means, 120 widths. The first form of the KL above reads, with the energy,
#
# $$ \mathrm{KL} = \mathbb{E}_q[E(w)] - \log \sigma - \tfrac12 \log 2 \pi e + \log Z , $$
#
# for $-\mathbb{E}_q \log q$, the entropy of a Gaussian of width $\sigma$, is $\log \sigma + \tfrac12 \log 2 \pi e$. The
# expectation is a sum over 101 points of $z$, with $w = \mu + \sigma z$.

# %%
mean, width = torch.linspace(0, 4, 161), torch.linspace(0.2, 3, 120)
z = torch.linspace(-5, 5, 101)
share = torch.exp(-(z**2) / 2) / torch.exp(-(z**2) / 2).sum()
average = (energy(mean[:, None, None] + width[:, None] * z) * share).sum(-1)  # E_q of the energy
kl = average - width.log() - 0.5 * math.log(2 * math.pi * math.e) + Z.log()

# %%
best = kl.argmin()
vi = torch.distributions.Normal(mean[best // 120], width[best % 120])
print(f"Laplace: mean {laplace.mean:.2f}, width {laplace.stddev:.2f}")
print(f"VI:      mean {vi.mean:.2f}, width {vi.stddev:.2f}")
print(f"KL(q || exact) of VI {kl.min():.4f}")
fv.expect(kl.min() > 0, "no Gaussian is the mountain itself")

# %%
tents = {"exact": exact, "Laplace": laplace.log_prob(w).exp(), "VI": vi.log_prob(w).exp()}
every = slice(None, None, 40)
outlines = [fv.Curve(w[every], p[every], "w", "density", k) for k, p in tents.items()]
fv.plot_curve(outlines, barrier=False, title="One mountain, two tents")

# %% [markdown]
# *Figure: three densities over one weight. The exact posterior is skewed, with a long right tail. Laplace's bell is centred
# on its mode, too far left; VI's bell is farther right, where most of the mass is.*
#
# **Try** the three changes of the first picture again, and run from there: Laplace, VI and the mountain become one bell with ten times
# the data or the narrow prior.
#
# The check: KL by summation on the grid. No tent of the family may beat VI's.

# %%
fv.expect(divergence(tents["VI"]), kl.min(), rtol=0, atol=0.01, by="the search")
fv.expect(divergence(tents["VI"]) <= divergence(tents["Laplace"]), "VI covers better than Laplace")

# %% [markdown]
# ## VI with gradients
#
# With 906 weights we cannot try all tents. We walk downhill in $\theta = (\mu, s)$ with $\sigma = e^s$. The obstacle: the
# expectation is over $q_\theta$, which moves. **Reparameterise**: draw $z \sim \mathcal{N}(0, I)$ first, then
# $w = \mu + \sigma \odot z$. Now the noise does not depend on $\theta$, and the gradient goes inside:
#
# $$ \nabla_\mu \mathbb{E}_q[L] = \mathbb{E}_z[\nabla L(w)], \qquad
#    \nabla_s \mathbb{E}_q[L] = \mathbb{E}_z[\nabla L(w) \odot \sigma \odot z] . $$
#
# One draw of $z$ a step is enough: the gradient is noisy, and right on average. Check, in a bowl, where
# $\mathbb{E}_q[L] = \tfrac12 \sum_i h_i (\mu_i^2 + \sigma_i^2)$ is known:

# %%
h, mu, sigma = torch.tensor([[4.0, 0.2], [1.0, -1.0], [0.5, 2.0]])
z = torch.randn(400_000, 2, generator=generator)
gradient = h * (mu + sigma * z)  # of L at each draw
by_mean, by_log_std = gradient.mean(0), (gradient * sigma * z).mean(0)
fv.expect(by_mean, h * mu, atol=0.02, by="the formula")
fv.expect(by_log_std, h * sigma**2, atol=0.02, by="the formula")

# %% [markdown]
# ## The exact answer: linear regression
#
# Let $y = Xw + \text{noise}$, noise of standard deviation $\tau$, prior $\mathcal{N}(0, I/\delta)$. The energy is a bowl:
#
# $$ E(w) = \frac{\lVert y - X w \rVert^2}{2\tau^2} + \frac{\delta}{2} \lVert w \rVert^2, \qquad
#    A = \frac{X^\top X}{\tau^2} + \delta I, \qquad p(w \mid \mathcal{D}) = \mathcal{N}\Big(A^{-1} \frac{X^\top y}{\tau^2},\;
#    A^{-1}\Big) . $$
#
# The posterior *is* a Gaussian. Two of the three inputs go together, so their weights are correlated.

# %%
tau, delta, n = 0.5, 2.0, 40
X = torch.randn(n, 3, generator=generator)
X[:, 1] += X[:, 0]
Y = X @ torch.tensor([[1.0], [-0.5], [0.2]]) + tau * torch.randn(n, 1, generator=generator)
A = X.T @ X / tau**2 + delta * torch.eye(3)
cov, center = torch.linalg.inv(A), (torch.linalg.solve(A, X.T @ Y) / tau**2)[:, 0]

# %%
linear = fv.Net.from_module(torch.nn.Sequential(torch.nn.Linear(3, 1, bias=False)))
data, fields = fv.Data(X, Y), dict(weight_decay=delta / n, prior_precision=None)
full = fv.Laplace(structure="full", **fields)  # the prior: delta = N weight_decay
la = fv.fit(linear, data, full, likelihood=tau, steps=200, seed=0)
fv.expect(la.mean, center, atol=1e-3, by="the exact posterior")
fv.expect(la.cov_mul(torch.eye(3)), cov, rtol=1e-2, atol=1e-5, by="the exact posterior")

# %% [markdown]
# Laplace is exact here. **Mean-field** VI, with a diagonal covariance, cannot be. What is its best $\sigma_i$? The part of
# the objective that depends on it is $\tfrac12 A_{ii} \sigma_i^2 - \log \sigma_i$; set the derivative to 0:
#
# $$ A_{ii}\, \sigma_i = \frac{1}{\sigma_i} \quad \Longrightarrow \quad \sigma_i^2 = \frac{1}{A_{ii}} \;\le\; (A^{-1})_{ii} . $$
#
# It is the width of the posterior *given all other weights*: too narrow whenever weights are correlated.

# %%
settings = dict(steps=1500, mc_samples=4, likelihood=tau, seed=0)
mf = fv.fit(
    linear,
    data,
    fv.MeanFieldVI(prior_std=delta**-0.5, first_std=0.2, mc_samples=4),
    steps=1500,
    likelihood=tau,
    seed=0,
)
fv.expect(mf.std, A.diagonal() ** -0.5, rtol=0.15, by="the formula")
ratio = mf.std / cov.diagonal().sqrt()
print("mean-field width over exact width:", [round(float(r), 2) for r in ratio])
fv.expect(ratio[:2].max() < 0.85 and ratio[2] > 0.8, "too narrow for the two that go together")

# %% [markdown]
# A covariance with a factor, as [chapter 05](05_swag.ipynb)'s, can follow the correlation. `VI` has one:

# %%
prior = fv.Gaussian(torch.zeros(3), torch.full((3,), -0.5 * math.log(delta)), 1e-3 * torch.eye(3))
q = fv.fit(
    linear,
    data,
    fv.VI(prior, kl_weight=1.0, start_scale=1.0, mc_samples=4),
    steps=1500,
    likelihood=tau,
    seed=0,
)
wide = q.variance.sqrt() / cov.diagonal().sqrt()
print("low-rank width over exact width: ", [round(float(r), 2) for r in wide])
fv.expect(wide.min() > ratio.min(), "the factor follows the correlation")

# %% [markdown]
# A step of `VI` is its `update`: it takes a state and the noise of a draw, and returns the next state. You
# can take the steps yourself, here at a rate that falls to 0. Where $q$ is the posterior, the gradient is 0 for *every* draw, so the
# random draws leave no error in the result.

# %%
loss = fv.training.training_loss(linear, data, tau)
method = fv.VI(prior, lr=2.0, kl_weight=1.0, n=n)
state, rates = method.init(prior), torch.linspace(1.0, 0.0, 600)

# %%
for step in range(600):
    noise = prior.noise(1, seed=step)
    state, record = method.update(state, loss, None, noise, rate=rates[step])

# %%
fv.expect(state.mean, center, atol=1e-3, by="the exact posterior")
fv.expect(state.q.variance, cov.diagonal(), rtol=1e-2, by="the exact posterior")

# %% [markdown]
# ## Laplace's evidence
#
# Integrate the Gaussian of step 3 over all $w$, and Laplace also gives $Z$. With $D$ weights
#
# $$ \log Z \approx -N L(w_*) - \tfrac12 \Big( \delta \lVert w_* \rVert^2 + \log\det A - D \log \delta \Big) . $$
#
# $Z$ is the probability of the data before any weight was chosen. It rewards a good fit (first term) and a *flat* one:
# $\log \det A$ is small where the curvature is. So it can choose $\delta$ without a validation set.
#
# For linear regression $y$ is itself Gaussian, $\mathcal{N}(0, \tau^2 I + XX^\top/\delta)$: an exact check.

# %%
S = tau**2 * torch.eye(n) + X @ X.T / delta
logZ = torch.distributions.MultivariateNormal(torch.zeros(n), S).log_prob(Y[:, 0])
full = dict(structure="full", likelihood=tau)
ours = fv.posteriors.laplace_evidence(linear.at(center), data, prior_precision=delta, **full)
fv.expect(ours, logZ, rtol=0.01, by="the exact evidence")
print(f"log evidence: exact {logZ:.3f}, Laplace {ours:.3f}")

# %% [markdown]
# ## A network: predict with the linearised one
#
# For a network, $H$ is replaced by the Gauss-Newton matrix ([chapter 03](03_curvature.ipynb)): no eigenvalue is negative.
# Gauss-Newton is the *exact* Hessian of another model: the network linearised at $w_*$,
#
# $$ f_\text{lin}(w, x) = f(w_*, x) + J(x)\, (w - w_*), $$
#
# with $J(x)$ the derivatives of the logits in the weights at $w_*$. So Laplace's Gaussian belongs to $f_\text{lin}$: with
# Gaussian noise on the outputs it is the posterior of $f_\text{lin}$ exactly, with a softmax, whose log likelihood is no
# parabola, Laplace's approximation of it. The logits of $f_\text{lin}$ are linear in $w$, so they are Gaussian, without drawing
# any weights:
#
# $$ f \mid x \sim \mathcal{N}\big(f(w_*, x),\; V(x)\big), \qquad V(x) = J(x)\, \Sigma\, J(x)^\top . $$
#
# To make probabilities of it, shrink the logits where they are uncertain (the **probit** approximation):
#
# $$ \bar p \approx \operatorname{softmax} \left( \frac{f}{\sqrt{1 + \tfrac{\pi}{8} \operatorname{diag} V}} \right) . $$
#
# How good is it? For two classes the exact average of a sigmoid under $\mathcal{N}(m, v)$ is a one-dimensional integral:

# %%
z = torch.linspace(-8, 8, 4001)
density = torch.exp(-(z**2) / 2) / torch.exp(-(z**2) / 2).sum()
for m, v in [(1.0, 0.5), (2.0, 4.0), (-1.0, 9.0)]:
    integral = (torch.sigmoid(m + v**0.5 * z) * density).sum()
    probit = torch.sigmoid(torch.tensor(m / (1 + math.pi / 8 * v) ** 0.5))
    fv.expect(probit, integral, rtol=0, atol=0.02, by="the integral")

# %% [markdown]
# Now the network of the course. Its Laplace is over the weights of the head alone (`structure="last_layer"`, the default),
# and $\delta$ is the one of largest evidence (`"marginal"`).

# %%
net, task, prior = prepare(task=fv.datasets.digits_transfer(), epochs=5 if FAST else 60)
L = fv.nll(net, task.train)
keywords = fv.METHODS["laplace"].keywords(net) | (dict(steps=60) if FAST else {})
la = fv.fit(net, task.train, fv.Laplace(), seed=0, **dict(steps=60) if FAST else {})
print(keywords)

# %%
linearised = fv.metrics.predict_linearised(net, la, task.test)
drawn = fv.predict(net, la, task.test, 30, seed=2, linearised=False)
point = fv.predict(net, la.center[None], task.test, 1, seed=2)
for name, p in {"point": point, "linearised": linearised, "weights drawn": drawn}.items():
    print(f"{name:13s} accuracy {p.scores['accuracy'][-1]:.3f}  NLL {p.scores['nll'][-1]:.3f}")

# %% [markdown]
# With draws of *weights* the same Gaussian meets the true network. In the weights of the head alone the network *is* linear,
# so both ways give the logits the same distribution. The NLLs above still differ: 30 draws are few for a Gaussian this wide,
# and the probit formula, good to 0.02 for two classes, is rougher for ten. With more layers the network is not linear out
# there, and draws can be far worse (exercise 4).
#
# The check, on the head: $V(x)$ by the formula is the variance of the drawn logits.

# %%
from flatviz.metrics.prediction import linearised as logits_of

few = fv.Data(task.test.x[:5], task.test.y[:5])
f, V = logits_of(net, la, few)
logits = fv.predict(net, la, few, 4000, seed=3).outputs  # (S, N, C)
fv.expect(logits.var(0), V.diagonal(dim1=1, dim2=2), rtol=0.15, by="the formula")  # 4,000 draws

# %% [markdown]
# ### What else may be kept of the curvature
#
# laplace-torch (`pip install 'flatviz[laplace]'`) keeps other structures: Kronecker factors for each layer, the largest eigenpairs
# of the exact Hessian, or a Gaussian process of the outputs, which has no draws of weights. `prior_precision="layerwise"` gives each
# tensor of weights its own $\delta$. What `Laplace` returns then predicts, and enters page and lab, as any other posterior.

# %%
trained = net.at(la.center).restrict("head")
for structure in ("last_layer", "kron", "lowrank", "functional"):
    other = fv.fit(
        trained, task.train, fv.Laplace(structure=structure, prior_precision=10.0), seed=0, steps=0
    )
    scores = fv.metrics.predict_linearised(trained, other, task.test).scores
    print(f"{structure:10s} accuracy {scores['accuracy'][-1]:.3f}  NLL {scores['nll'][-1]:.3f}")

# %% [markdown]
# ## A network: VI
#
# The same walk as in the bowl, over 906 means, log widths and a factor of rank 5, from the prior that the source task left.
# The KL term has a weight, `kl_weight`: a **temperature** $T$. The best $q$ of all is then the posterior of a **tempered likelihood**
#
# $$ p_T(w) \propto e^{-N L(w) / T}\, p(w) . $$
#
# $T = 1$ is Bayes; $T < 1$ trusts the data more, as if there were $N/T$ of them. The course's default is 0.03, chosen on validation
# splits (`flatviz run tasks`); `flatviz run frontier` has VI along $T$. The prior is *not* tempered. That is another posterior, and
# has another name: the **cold posterior** $p(w \mid \mathcal{D})^{1/T}$ raises likelihood *and* prior to the power $1/T$; it is what a
# chain at a temperature draws from ([chapter 07](07_sgld_dropout_ensembles.ipynb)). In a bowl, with $N = 10$ examples whose best
# weight is 1, $h = 1$, and a prior of width 0.5 around 0, all of them are Gaussians: precision and mean add up.
#
# **Predict first**: as $T$ falls, both get narrower. Where do their means go?


# %%
def two_temperatures(log10_T):
    """Prior, Bayes' posterior, tempered likelihood and cold posterior of one weight."""
    T, at = 10.0**log10_T, torch.linspace(-1, 2, 301)
    likelihood, of_prior = (
        10.0,
        1 / 0.5**2,
    )  # precisions; the likelihood has its mean at 1, the prior at 0
    cases = {"prior": (0, of_prior), "Bayes": (likelihood, of_prior)}
    cases |= {
        "tempered likelihood": (likelihood / T, of_prior),
        "cold": (likelihood / T, of_prior / T),
    }
    return drawn_bells(at, cases, f"T = {T:.2g}")


# %%
def drawn_bells(at, cases, title):
    bells = []
    for name, (of_data, of_prior) in cases.items():
        mean, width = of_data / (of_data + of_prior), (of_data + of_prior) ** -0.5
        density = torch.distributions.Normal(mean, width).log_prob(at).exp()
        bells.append(fv.Curve(at, density, "w", "density", f"{name}: mean {mean:.3f}"))
    return fv.plot_curve(bells, barrier=False, title=title)


# %%
_ = ipywidgets.interact(two_temperatures, log10_T=(-2.0, 0.0, 0.25))

# %% [markdown]
# *Figure: four bells over one weight. The prior is widest, at 0; Bayes' posterior is at 0.714; the cold posterior has the same mean
# and is narrower; the tempered likelihood is as narrow, and has moved towards 1.*
#
# **Try** a prior as sure as the data (`0.5**2` to `0.1`), twenty times less sure (`0.5**2` to `5`), a hundred examples
# (`likelihood` of 100): where do the two temperatures differ?
#
# <details><summary>What one sees</summary>
#
# A cold posterior keeps Bayes' mean; a tempered likelihood leaves the prior behind. At $T = 0.1$ the means are 0.714 and 0.962. So
# "VI at $T = 0.1$" and "SGLD at $T = 0.1$" aim at two posteriors, and the difference is large where the prior matters.
#
# </details>
#
# What VI finds at $T = 0.1$, as a network of one weight:

# %%
ten = fv.Data(torch.ones(10, 1), torch.ones(10, 1))
half_wide = fv.Gaussian(torch.zeros(1), torch.full((1,), 0.5).log())
one = fv.Net.from_module(torch.nn.Linear(1, 1, bias=False))
of_ten = dict(likelihood=1.0, steps=800)
of_ten_fields = dict(kl_weight=0.1, mc_samples=8)
fv.expect(
    fv.fit(one, ten, fv.VI(half_wide, **of_ten_fields), seed=0, **of_ten).mean, 0.962, rtol=0.01
)

# %%
settings = fv.METHODS["vi"].keywords(net) | (dict(steps=60) if FAST else {})
q = fv.fit(net, task.train, fv.VI(prior), seed=0, **dict(steps=60) if FAST else {})
steps = torch.arange(len(q.history.loss), dtype=torch.float32)
falling = fv.Curve(steps, q.history.loss, "step", "loss of a draw (nats)")
fv.plot_curve(falling, barrier=False, log=True, title="VI: the loss of one draw a step")

# %% [markdown]
# *Figure: the loss of one draw at each step, on a logarithmic axis. It falls from about 2.3 nats, the loss of guessing among
# ten classes, and stays noisy to the end, because every step uses another draw.*
#
# **Try** `settings | dict(mc_samples=32)`: less noise; `dict(lr=0.2)`: not there after 600 steps; `dict(kl_weight=1.0)`: a higher
# end, for draws of a wider Gaussian.
#
# Has the fit converged? A level curve does not show it. A longer fit does: `convergence_gap` fits $q$ again with four times the
# steps and compares the objectives, the loss plus the KL term. It also compares each variance with the value at which its
# gradient is zero, its *fixed point*.

# %%
gap = fv.families.convergence_gap(
    net, task, prior, q, "vi", seed=0, fit=settings, n_draws=20 if FAST else 200
)
print(gap)

# %% [markdown]
# After ± is the error of the gap, which is measured with draws of $q$. `flatviz run gaps` prints the gap of all default fits.

# %%
predictions = dict(sgd=point, laplace=linearised, vi=fv.predict(net, q, task.test, 30, seed=2))
fv.plot_metrics(predictions)

# %% [markdown]
# *Figure: accuracy, NLL and ECE against the number of draws averaged. SGD and linearised Laplace make one prediction each:
# horizontal lines. VI's curve falls in NLL as draws are averaged.*
#
# **Try** other draws (`seed=3`); Laplace with its weights drawn, `laplace=drawn`; the training digits for the test digits.
#
# Read the ECE too: SGD is surer than it is right, and linearised Laplace, with its shrunken logits, less sure than it is
# right. Both have a gap; NLL and accuracy do not tell which.
#
# One seed, one task: an example. For differences with intervals: `flatviz run compare` and `flatviz run frontier`.
#
# ## Live: the temperature
#
# **Predict first**: what happens to the width of $q$, and to the NLL of a single draw, as $T$ goes to 1? The slider is
# $\log_{10} T$: 0 is Bayes, −1.5 about the course's default. The fit runs again at each move, in a second or two.


# %%
def tempered(log10_T):
    """VI at a temperature, beside SGD."""
    method = fv.VI(prior, kl_weight=10.0**log10_T)
    other = fv.fit(net, task.train, method, steps=settings["steps"], seed=0)
    scores = fv.predict(net, other, task.test, 30, seed=2)
    title = f"T = {10.0**log10_T:.3f}: mean width {other.std.mean():.3f}"
    return fv.plot_metrics({"vi": scores, "sgd": point}, title=title)


# %%
_ = ipywidgets.interact(tempered, log10_T=(-3.0, 0.0, 0.5))

# %% [markdown]
# *Figure: scores of VI at the slider's temperature, beside SGD's horizontal line; the title says how wide the Gaussian is.
# At T = 1 single draws are poor, and averaging many of them recovers part of the score.*
#
# **Try** `start_scale=1.0` beside `kl_weight`: does the end depend on the start? 100 draws; twice the `steps`.
#
# <details><summary>What one sees</summary>
#
# The KL term pulls the width towards the prior's at every $T$: weights that the data do not determine take the prior's width
# however cold the posterior is. The fit begins at a mean width of 0.07 and ends at twice that for $T = 0.001$, at three times for
# $T = 1$. There its draws are much worse: the NLL of 30 is above that of SGD's one point. The NLL is lowest in between, at
# $T = 0.1$; at the course's default, $T = 0.03$, it is only a little higher.
#
# </details>
#
# ## Do the intervals of a regression hold?
#
# A 90 % interval should hold nine new targets of ten. The experiment `coverage` (`flatviz run coverage`) counts that on diabetes: 442
# patients, a perceptron of eight units with a learned noise, ten splits into training and test. HMC is the reference for the
# exact posterior of the same network; BayesianRidge is the exact linear model. *Scaled* multiplies the deviations by the factor
# that 60 validation patients ask for.

# %%
table = experiments.read_table("coverage")
tailors = dict(ridge="BayesianRidge", hmc="HMC", sgd="SGD (MAP)", swag="SWAG", vi="VI")
tailors |= dict(
    laplace="Laplace, linearised", sampled="Laplace, weights drawn", sabma="SA-BMA, radius 1"
)
asked = ["coverage 90", "width 90", "CRPS", "coverage 90, scaled"]

# %%
rows = []
for method, label in tailors.items():
    radius = 1.0 if method == "sabma" else 0.0
    values = experiments.at(table, setting="one noise", method=method, radius=radius)
    cells = {name: experiments.shown(values[name]) for name in asked}
    rows.append({"posterior": label, "splits": len(values)} | cells)
pd.DataFrame(rows).style.hide()

# %% [markdown]
# *Table: mean over the splits ± half of its 95 % interval; widths and CRPS in standard deviations of the target.*
#
# The intervals are of *targets*: noise and draws of the network together. Those of the function alone, over draws without noise, are
# far narrower, and nobody promises them a share of targets. Where the noise is given, not learned, it decides nearly everything: a
# noise of 0.3 beside errors of 0.8 on new patients lets a 95 % interval hold six of ten, whatever the posterior.
#
# Drawn weights of Laplace cover more than they promise and have the widest intervals; the point estimate covers less. Scaling brings
# all of them near 90 %, so a validation split mends most of what the choice of a posterior spoils here.
#
# **How far this goes.** The table is exploratory: it was stopped after 13 of 20 planned units (a unit is one split with one kind of
# noise), and its claims were not frozen before its seeds were used. It is one data set and one small network. Take it as a reason
# to count on your data (`fv.metrics.coverage`), not as a ranking.

# %%
one_noise = table[(table.setting == "one noise") & (table.quantity == "coverage 90")]
covered = one_noise.groupby("method").value.mean()
fv.expect(covered.idxmin(), "sgd")
fv.expect(covered.idxmax(), "sampled")

# %% [markdown]
# ## Summary
#
# - Laplace: a Gaussian at the summit, precision $NH + \delta I$. It also gives the evidence.
# - VI: the Gaussian with the smallest KL from the posterior, found by gradients through $w = \mu + \sigma z$.
# - For a Gaussian posterior, Laplace is exact; mean-field VI is too narrow where weights are correlated.
# - Gauss-Newton Laplace belongs to the linearised network. Predict with it.
# - `kl_weight` is a temperature of the likelihood; a cold posterior tempers the prior too.
#
# ## Exercises
#
# **1.** Prove $1/A_{ii} \le (A^{-1})_{ii}$ for a symmetric $A$ whose eigenvalues are all positive. (Way in: Cauchy and
# Schwarz, for $A^{1/2} e_i$ and $A^{-1/2} e_i$.)
#
# <details><summary>Solution</summary>
#
# Cauchy-Schwarz with $u = A^{1/2} e_i$, $v = A^{-1/2} e_i$: $1 = (e_i^\top e_i)^2 = (u^\top v)^2 \le \lVert u \rVert^2
# \lVert v \rVert^2 = A_{ii} (A^{-1})_{ii}$. Equality if $e_i$ is an eigenvector: no correlation.
#
# </details>

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
M = torch.randn(50, 4, 4, generator=generator)
M = M @ M.mT + 0.1 * torch.eye(4)
own, inverse = (m.diagonal(dim1=1, dim2=2) for m in (M, torch.linalg.inv(M)))
fv.expect((1 / own <= 1.001 * inverse).all(), "the inequality holds 200 times")

# %% [markdown]
# **2.** Let $p$ be the posterior. VI minimises $\mathrm{KL}(q \Vert p)$. What would minimising $\mathrm{KL}(p \Vert q)$ over
# diagonal Gaussians give for the regression above?
#
# <details><summary>Solution</summary>
#
# $\mathrm{KL}(p \Vert q) = -\mathbb{E}_p \log q + \text{const}$: the maximum likelihood fit of $q$ to draws of $p$. Its
# variances are those of $p$, $(A^{-1})_{ii}$: wider, covering all of $p$, at the price of much thin air.
#
# </details>

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
p = fv.Gaussian(center, torch.full((3,), -20.0), torch.linalg.cholesky(cov).T)  # exact
diagonal = lambda std: fv.Gaussian(center, std.log())
covering, inside = diagonal(cov.diagonal().sqrt()), diagonal(A.diagonal() ** -0.5)
draws = p.sample(2000, seed=0)
fv.expect(covering.log_prob(draws).mean() > inside.log_prob(draws).mean(), "the wider one covers")

# %% [markdown]
# **3.** Choose $\delta$ by the evidence for the regression: try 0.1 to 100, with `laplace_evidence` at the center that
# belongs to each $\delta$. Where is the largest, and what is it near?
#
# <details><summary>Solution</summary>
#
# It lies near $\delta \approx P / \lVert w_* \rVert^2$ with $P$ the number of weights that the data determine: the prior
# whose width is the size that the weights turn out to have.
#
# </details>

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
trial = [10 ** (k / 4) for k in range(-4, 9)]
at = lambda d: torch.linalg.solve(X.T @ X / tau**2 + d * torch.eye(3), X.T @ Y / tau**2)[:, 0]
values = [
    fv.posteriors.laplace_evidence(linear.at(at(d)), data, prior_precision=d, **full) for d in trial
]
chosen = trial[max(range(len(trial)), key=values.__getitem__)]
print(f"largest evidence at {chosen:.2f}, 3 / |w|^2 = {3 / center.square().sum():.2f}")
fv.expect(0.3 < chosen * float(center.square().sum()) / 3 < 3, "near, to a factor of three")

# %% [markdown]
# **4.** Take Laplace over *all* 906 weights (`structure="full"`), with the precision of the training
# (`prior_precision=None`), and compare draws of weights with the linearised prediction.
#
# <details><summary>Solution</summary>
#
# Most of the 906 directions have almost no curvature, so only the small $\delta$ holds them: the Gaussian is wide, and its
# draws leave the region where the network is linear. The linearised prediction does not care, for along such directions
# its logits do not move.
#
# </details>

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
training = dict(steps=60) if FAST else {}
whole = fv.Laplace(structure="full", prior_precision=None)
wide = fv.fit(net, task.train, whole, seed=0, **training)

# %%
lin = fv.metrics.predict_linearised(net, wide, task.test).scores["nll"][-1]
raw = fv.predict(net, wide, task.test, 30, seed=2, linearised=False).scores["nll"][-1]
print(f"NLL: linearised {lin:.3f}, weights drawn {raw:.3f}")
fv.expect(lin < raw, "the linearised prediction is the better one")

# %% [markdown]
# ## References
#
# - MacKay: A practical Bayesian framework for backpropagation networks, 1992. Laplace and the evidence.
# - Daxberger et al.: Laplace redux, 2021, [arXiv 2106.14806](https://arxiv.org/abs/2106.14806),
#   [code](https://github.com/aleximmer/Laplace).
# - Immer, Korzepa, Bauer: Improving predictions of Bayesian neural nets via local linearization, 2021,
#   [arXiv 2008.08400](https://arxiv.org/abs/2008.08400).
# - Kingma and Welling: Auto-encoding variational Bayes, 2014, [arXiv 1312.6114](https://arxiv.org/abs/1312.6114).
#   Reparameterised gradients.
# - Wenzel et al.: How good is the Bayes posterior in deep neural networks really?, 2020,
#   [arXiv 2002.02405](https://arxiv.org/abs/2002.02405). Cold posteriors.
#
# **Next**: [chapter 07](07_sgld_dropout_ensembles.ipynb) draws from the posterior without any Gaussian.
