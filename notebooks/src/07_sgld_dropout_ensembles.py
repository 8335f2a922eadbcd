# %% [markdown]
# # 07 · Can we draw from the posterior without a Gaussian?
#
# You want not one opinion but a hundred, in fair proportion. *One walker* visits experts all over the country, staying
# longer where many live: a Markov chain. *One expert* answers a hundred times, each time with some random books missing
# from his shelf: dropout. *Five students*, trained apart, vote: an ensemble.
#
# Only the first is built to draw from Bayes' posterior. The other two are cheap and often good, and it is worth knowing
# what they draw from instead.
#
# **You will learn** to
#
# - derive Langevin dynamics, and the error that its step makes;
# - see why a chain stays in one valley, and test whether chains agree;
# - read dropout as draws of weight vectors, and say what their width depends on;
# - say what an ensemble gains, by one inequality;
# - split uncertainty into what more data would remove and what it would not.
#
# **Takes** 40 minutes to read and a minute to run on a CPU.
#
# **Needs** chapters [05](05_swag.ipynb) and [06](06_vi_and_laplace.ipynb).

# %% tags=["parameters"]
FAST = False  # True shrinks the run: tests and a first look

# %%
import ipywidgets
import torch

import flatviz as fv
from flatviz import experiments
from flatviz.families.tour import prepare

# %%
torch.set_num_threads(1)
generator = torch.Generator().manual_seed(0)
noise = lambda *shape: torch.randn(*shape, generator=generator)

# %% [markdown]
# ## A walker between two valleys
#
# Each step goes a little downhill and is then kicked at random. The ground is a double well, $L(w) = (w^2 - 1)^2 - 0.05\,w$,
# with the right valley a little lower; $\beta$ says how high the barrier between them is for the walker.
#
# **Predict first**: how long will one walker take to find the second valley, at $\beta = 2$, at $\beta = 12$?

# %%
slope = lambda w: 4 * w * (w**2 - 1) - 0.05  # of L
grid = torch.linspace(-2, 2, 401)
well = (grid**2 - 1) ** 2 - 0.05 * grid
density = lambda beta: torch.softmax(-beta * well, 0) / 0.01  # exact, on the grid


# %%
def walk(beta, steps, w, step=0.02):
    path = []
    for _ in range(steps):
        w = w - step * slope(w) + (2 * step / beta) ** 0.5 * noise(len(w))
        path.append(w)
    return torch.stack(path)  # (steps, walkers)


# %%
steps = 1000 if FAST else 4000
paths = {f"β = {s}": walk(float(s), steps, -torch.ones(1))[:, 0] for s in (2, 12)}
t = torch.arange(0, steps, 10, dtype=torch.float32)
traces = [fv.Curve(t, p[::10], "step", "w", name) for name, p in paths.items()]
fv.plot_curve(traces, barrier=False, title="One chain in a double well")

# %% [markdown]
# *Figure: two traces of w against the step, both starting at the left valley, w = −1. With the low barrier the trace jumps to
# the right valley at +1 and back, several times; with the high barrier it stays at the left throughout.*
#
# **Try** a barrier between the two (`(2, 12)` to `(2, 4, 6, 12)`); twice the time (`4000` to `8000`); a step ten times as short,
# `walk(float(s), steps, -torch.ones(1), 0.002)`.
#
# <details><summary>What one sees</summary>
#
# With the low barrier the second valley is found within some hundred steps, and the walker comes and goes. With the high one it
# is not found in 4,000. What the kicks must be like, so that the time spent in each valley is its probability, is next.
#
# </details>
#
# **Number to expect**: SGLD on a Gaussian of variance 0.00625 gives 0.00646 at the step of the example. A cell below checks
# the formula.

# %% [markdown]
# ## Langevin dynamics
#
# Let $U(w) = N L(w) - \log p(w)$, so that the posterior is $e^{-U}/Z$. Walk downhill, and be kicked:
#
# $$ w_{t+1} = w_t - \epsilon\, \nabla U(w_t) + \sqrt{2 \epsilon}\; \xi_t, \qquad \xi_t \sim \mathcal{N}(0, I) . $$
#
# **Why this noise?** Let $p_t(w)$ be the density of many walkers. In one small step probability flows by the drift,
# $-U' p$, and by diffusion, $-p'$: kicks carry more walkers out of crowded places than in, and kicks of variance
# $2 \epsilon$ spread a crowd with the diffusion constant $\epsilon$. Both in units of $\epsilon$, the flow at $w$ is
#
# $$ j = -U'(w)\, p(w) - p'(w) . $$
#
# The crowd is at rest where $j = 0$: $p'/p = -U'$, so $\log p = -U + \text{const}$, and
#
# $$ p(w) \propto e^{-U(w)} : $$
#
# **the crowd at rest is the posterior.** With a kick of another size it would be another density.
#
# ### The error of a finite step
#
# Take a Gaussian, $U = \tfrac12 a w^2$, whose variance is $1/a$. As in [chapter 05](05_swag.ipynb),
# with $c = 1 - \epsilon a$:
#
# $$ V = c^2 V + 2 \epsilon \quad \Longrightarrow \quad V = \frac{2 \epsilon}{1 - (1 - \epsilon a)^2}
#    = \frac{1}{a}\; \frac{1}{1 - \epsilon a / 2} . $$
#
# A little too wide, and right as $\epsilon \to 0$. Compare SGD: its kicks have size $\epsilon$, not $\sqrt{2\epsilon}$, so its
# variance *vanishes* with the step. SGD's width is an accident; Langevin's is not.
#
# ### In the units of training
#
# Learning rates belong to the *mean* loss. With a Gaussian prior $-\log p(w) = \tfrac12 N\, \text{wd}\, \lVert w \rVert^2$,
# where wd is the weight decay, $\nabla U = N (\nabla L + \text{wd}\, w)$ and $\epsilon = \eta / N$. With a temperature $T$
# ([chapter 06](06_vi_and_laplace.ipynb); 1 is Bayes) **SGLD** is
#
# $$ w \leftarrow w - \eta\, (\nabla L + \text{wd}\, w) + \sqrt{2 \eta T / N}\; \xi . $$

# %%
N, h, wd, lr = 50, 3.0, 0.2, 0.02
a = N * (h + wd)  # precision of the posterior
V = 1 / (a * (1 - lr * (h + wd) / 2))
fv.expect(1 / a, 0.00625)
fv.expect(V, 0.00646)  # the numbers to expect, at these four values


# %%
def bowl(w, batch):  # L(w) = h w^2 / 2 of each walker, and its gradient
    return 0.5 * h * w.square().sum(-1), h * w


# %% [markdown]
# `fv.SGLD` holds the settings; its `update` is the line above, from one state to the next, by noise that you give it:

# %%
method = fv.SGLD(lr=lr, weight_decay=wd, n=N)
state = method.init(torch.zeros(20_000, 1))
for _ in range(300):
    state, record = method.update(state, bowl, None, noise=(noise(20_000, 1),))
fv.expect(state.w.var(), V, rtol=0.05, by="the formula")  # 20,000 walkers know a variance to 1 %

# %% [markdown]
# **Try** `lr = 0.2` (half as large a variance again), `wd = 5.0` (narrower, for a strong prior), `N = 500` (more data); the second line follows the
# formula as long as $\eta (h + \text{wd}) < 2$ (exercise 1).
#
# ### Two things are called temperature
#
# The chain above divides the *whole* energy by $T$, data and prior together: it draws from the **cold posterior**
# $p(w \mid \mathcal{D})^{1/T}$. VI's `kl_weight` and HMC's temper the likelihood alone: their target is the **tempered
# likelihood** $e^{-N L / T}\, p(w)$ ([chapter 06](06_vi_and_laplace.ipynb) draws both). At $T = 1$ they are one, below it they are not.
# A chain can have either: with the weight decay times $T$ the $T$ of the prior cancels. In a bowl with its floor at 1, ten
# examples, a prior of width 0.5 around 0 ($\text{wd} = 4/10$) and $T = 0.1$, the means are $h/(h + \text{wd})$ and
# $h/(h + T\,\text{wd})$:

# %%
around_one = lambda w, batch: (0.5 * (w - 1).square().sum(-1), w - 1)  # L and its gradient, h = 1
for decay, mean in (0.4, 0.714), (0.1 * 0.4, 0.962):
    cold = fv.SGLD(lr=0.02, n=10, weight_decay=decay, temperature=0.1)
    at_rest = cold.init(torch.zeros(20_000, 1))
    for _ in range(600):
        at_rest, _ = cold.update(at_rest, around_one, None, noise=(noise(20_000, 1),))
    fv.expect(at_rest.w.mean(), mean, rtol=5e-3)

# %% [markdown]
# `SGLD` takes these steps on a network. The check is linear regression, whose posterior
# [chapter 06](06_vi_and_laplace.ipynb) gives exactly:

# %%
tau, delta, n = 0.5, 2.0, 40
X = noise(n, 3)
Y = X @ torch.tensor([[1.0], [-0.5], [0.2]]) + tau * noise(n, 1)
cov = torch.linalg.inv(X.T @ X / tau**2 + delta * torch.eye(3))
linear = fv.Net.from_module(torch.nn.Sequential(torch.nn.Linear(3, 1, bias=False)))

# %%
data, decay = fv.Data(X, Y), delta / n
chains = dict(n_draws=2000, chains=100, burn_in=150, thin=10, lr=0.02)
sgld = fv.fit(linear, data, fv.SGLD(weight_decay=decay, **chains), likelihood=tau, seed=0)
ratio = sgld.W.std(0) / cov.diagonal().sqrt()
print("width over exact width:", [round(float(r), 2) for r in ratio])
fv.expect(ratio, 1, rtol=0.15)

# %% [markdown]
# ## One chain, two valleys
#
# The double well of the first picture is a posterior with two modes: $U = \beta L$, and the density is $e^{-\beta L}/Z$. $\beta$
# is an inverse temperature (as $N/T$ is for a network): the larger it is, the higher the barrier between the valleys. The exact
# density is a sum on a grid. `walk` is the line above with $\epsilon = $ `step` $/ \beta$.
#
# The chain with the high barrier looks perfectly calm. Nothing in it says that it has missed more than half of the mass.

# %%
crowd = walk(2.0, 1000, -torch.ones(500 if FAST else 5000))[-1]
left = float((crowd < 0).float().mean())
exact = float(density(2.0)[grid < 0].sum() * 0.01)
print(f"mass of the left valley: {left:.2f} of the walkers, exact {exact:.2f}")
fv.expect(left, exact, rtol=0, atol=0.12 if FAST else 0.04, by="the sum")  # 5,000 walkers: 0.01

# %% [markdown]
# ### Do chains agree?
#
# Start several chains at different places. Compare the variance *within* chains, called $W$ here as in the literature, with
# that of all draws together. If chains of length $n$ have met the same density, both are the same:
#
# $$ \hat R = \sqrt{ \frac{ \frac{n-1}{n} W + \frac1n B }{ W } }, \qquad
#    \tfrac1n B = \text{variance of the chain means} . $$
#
# $\hat R$ near 1 is good; 1.01 is the usual bound. It sees what one chain cannot.


# %%
def r_hat(chains):
    """R-hat of draws (n, chains)."""
    n, within = len(chains), chains.var(0).mean()
    return float((((n - 1) / n * within + chains.mean(0).var()) / within).sqrt())


# %%
starts = torch.tensor([1.0, -1.0] * 4)  # half of them in the right valley
values = {s: r_hat(walk(float(s), steps, starts)[steps // 2 :]) for s in (2, 12)}
print({f"β = {s}": round(r, 3) for s, r in values.items()})
fv.expect(values[12] > 1.5 and values[12] > values[2], "the high barrier is seen")

# %% [markdown]
# The high barrier is seen at once. Read the other number too: chains that cross the low barrier only a few times are above
# 1.01 as well. They need a longer walk.
#
# ## Live: temperature and step
#
# 2,000 walkers start in the left valley. One line is the histogram of where they are after 500 steps, the other the exact
# density. **Predict first**: what does a large step do to the width? What does a large $\beta$ do to the right valley?


# %%
middle = torch.linspace(-1.95, 1.95, 40)  # of the histogram's bins


# %%
def crowd_at(beta, step):
    last = walk(beta, 500, -torch.ones(2000), step)[-1]
    count = torch.histc(last, 40, -2, 2) / (len(last) * 0.1)
    both = [(middle, count, "walkers"), (grid[::5], density(beta)[::5], "exact")]
    curves = [fv.Curve(t, p, "w", "density", k) for t, p, k in both]
    return fv.plot_curve(curves, barrier=False, title=f"β = {beta:g}, step {step:g}")


# %%
_ = ipywidgets.interact(crowd_at, beta=(1.0, 16.0, 1.0), step=(0.01, 0.1, 0.01))

# %% [markdown]
# *Figure: two curves over w, the walkers' and the exact density. At small β they nearly agree, with two humps; at large β
# all walkers are still at the left.*
#
# **Try** walkers that start on the right (`torch.ones(2000)`), in the middle (`torch.zeros(2000)`), or walk for 5,000 steps.
#
# <details><summary>What one sees</summary>
#
# $\beta = 2$, step 0.05: two humps, as they should be. $\beta = 16$: all walkers are at the left, where a sixth of the mass
# is, and more steps would not help soon. From step 0.01 to 0.1 their hump gets wider and lower: the error of a finite step.
# At $\beta = 1$ and step 0.1 about one walker in eight is kicked so far out that the next step downhill throws it farther
# still: it runs off to infinity and is not drawn, so the curve is too low.
#
# </details>

# %% [markdown]
# ## On the network
#
# The same line of code on 906 weights, from SGD's solution, with the course's settings.

# %%
net, task, prior = prepare(task=fv.datasets.digits_transfer(), epochs=5 if FAST else 60)
solution = fv.fit(net, task.train, fv.SGD(), seed=0).center
net = net.at(solution)
short = dict(burn_in=50, thin=5) if FAST else {}
keywords = fv.METHODS["sgld"].keywords(net) | short
chain = fv.fit(net, task.train, fv.SGLD(**short), seed=0)

# %%
fit = chain.history.loss
t = torch.arange(len(fit), dtype=torch.float32)
fv.plot_curve(fv.Curve(t, fit, "step", "training loss (nats)"), barrier=False, title="SGLD")

# %% [markdown]
# *Figure: the training loss against the step. It rises from the low value of the solution to a plateau and fluctuates there.*
#
# **Try** `keywords | dict(temperature=0.1)`: where is the plateau? Or `dict(lr=0.1)`: it comes sooner. Or `dict(batch_size=10)`:
# the noise of the batches comes on top.
#
# **It rises!** At temperature 1 the posterior of 906 weights and 100 digits is not at the bottom of the valley. Along each
# direction that the data determine a draw has an energy of one half on average ($\tfrac12 a w^2$ with
# $\mathbb{E} w^2 = 1/a$), so
#
# $$ \mathbb{E}[U] - U_{\min} \approx \tfrac12\, (\text{number of weights}) $$
#
# in a bowl: for 906 weights 453 nats of energy, data and prior together. The figure shows the data's part of it alone, and
# for one digit: a rise by about a quarter of a nat, or some 25 nats for 100 digits, as of 50 directions. The others are held
# by the prior. Bayes' posterior is wide. That is why colder ones are popular, and why the temperature must be reported.
#
# The check is a bowl of 906 weights with precisions from 1 to 100:

# %%
bowl = noise(20_000, 906) / torch.linspace(1, 10, 906)  # draws; each has the width 1 / sqrt(a)
energy = 0.5 * (bowl * torch.linspace(1, 10, 906)).square().sum(1)
fv.expect(energy.mean(), 453, rtol=0.01)

# %% [markdown]
# ## Dropout
#
# Drop each input $j$ of a layer with probability $r$, and divide the others by $1 - r$:
#
# $$ A\, (m \odot x), \qquad m_j = \frac{b_j}{1 - r}, \quad b_j \sim \text{Bernoulli}(1 - r) . $$
#
# **A draw is a weight vector.** $A (m \odot x) = (A \operatorname{diag} m)\, x$: column $j$ of the weights is multiplied by
# $m_j$. One mask for all inputs is one network, and all of this course applies to it.
#
# **Mean and variance.** $\mathbb{E} m_j = 1$, and $\operatorname{Var} m_j = \frac{(1-r)}{(1-r)^2} - 1 = \frac{r}{1-r}$. So
#
# $$ \mathbb{E}[A(m \odot x)] = A x, \qquad \operatorname{Var}\big[(A (m \odot x))_i\big] =
#    \frac{r}{1-r} \sum_j A_{ij}^2 x_j^2 . $$

# %%
A, x, r = noise(4, 6), noise(6), 0.2
m = (torch.rand(200_000, 6, generator=generator) > r) / (1 - r)
outputs = (m * x) @ A.T
fv.expect(outputs.mean(0), A @ x, atol=0.05, by="the formula")
fv.expect(outputs.var(0), r / (1 - r) * (A**2 @ x**2), rtol=0.05, by="the formula")

# %% [markdown]
# **Read the variance**: it depends on the weights and on the rate. It does *not* depend on the number of data. A
# posterior narrows as data come in; dropout's width does not, unless training shrinks the weights. It is a useful way to
# get diverse networks; it is a Bayesian posterior only of a model built for it (Gal and Ghahramani).
#
# Here on the network: a draw should have a fifth of its head's columns at 0.

# %%
keywords = fv.METHODS["dropout"].keywords(net) | dict(rate=0.2) | (dict(steps=60) if FAST else {})
dropped = fv.fit(net, task.train, fv.Dropout(rate=0.2), seed=0, **dict(steps=60) if FAST else {})

# %%
head = next(b for b in net.blocks if b.kind == "head")
columns = dropped.W[:, head.slice].view(-1, *head.shape)  # (S, 10, 64): the head of each draw
zero = (columns.abs().sum(1) == 0).float().mean()
print(f"{100 * zero:.0f} % of the head's columns are 0")
fv.expect(zero, 0.2, atol=0.1, rtol=0)

# %% [markdown]
# ## Ensembles
#
# Train $M$ networks from different starts, and average their *probabilities*. What is gained? Jensen's inequality for the
# convex function $-\log$:
#
# $$ -\log \bar p_y = -\log \frac1M \sum_m p_m(y) \;\le\; \frac1M \sum_m -\log p_m(y) . $$
#
# **The loss of the average is never above the average of the losses.** The gap is how much members disagree: it is 0 if
# and only if all give the same $p_m(y)$.

# %%
keywords = fv.METHODS["ensemble"].keywords(net) | (dict(steps=60) if FAST else {})
ensemble = fv.fit(net, task.train, fv.Ensemble(), seed=0, **dict(steps=60) if FAST else {})
members = fv.predict(net, ensemble, task.test, len(ensemble.W), seed=2)
single = -members.log_probs[:, torch.arange(len(task.test)), task.test.y].mean(1)  # NLL of each
together = members.scores["nll"][-1]
fv.expect(together <= single.mean() + 1e-6, "Jensen: the average is no worse")

# %%
print(f"mean NLL of a member {single.mean():.3f}, of the average {together:.3f}")
print(
    f"share of test digits on which two members differ: at most {fv.metrics.disagreement(members).max():.3f}"
)

# %% [markdown]
# Members that share a pre-trained trunk, as here, differ little: they see the same features. Members trained apart from
# scratch stand in different valleys ([chapter 01](01_network_is_a_vector.ipynb)), which no chain would have visited.
#
# **Members that know of each other**: give each pair a repulsion, the gradient of a kernel $k(w, w')$, and share the
# gradients through the same kernel (Stein variational gradient descent). In the limit of many members, those at rest are draws
# of the posterior; a finite number is a set of points near it, and their width is to be checked:
#
# $$ w_i \leftarrow w_i + \frac{\eta}{S} \sum_j \Big[ \underbrace{-k(w_j, w_i)\, \nabla U(w_j)}_{\text{downhill}} +
#    \underbrace{\nabla_{w_j} k(w_j, w_i)}_{\text{apart}} \Big] . $$
#
# Without the second term they all meet at the mode. On the regression above:

# %%
for T in (1.0, 0.0):  # with repulsion, and without
    svgd = fv.SVGD(n_draws=100, lr=0.5, temperature=T, weight_decay=decay)
    particles = fv.fit(linear, data, svgd, likelihood=tau, steps=500, seed=0).W
    ratio = particles.std(0) / cov.diagonal().sqrt()
    print(f"temperature {T:g}: width over exact width", [round(float(r), 2) for r in ratio])

# %% [markdown]
# ## All together
#
# The predictions of the three, beside VI of [chapter 06](06_vi_and_laplace.ipynb). **Which posterior is each of them after?** The
# SGLD above drew from that of its weight decay, at $T = 1$. VI has the prior of the source and $T = 0.03$ on the likelihood: another
# target, so that the two curves below do not compare methods. What does is a chain for VI's *own* target. SGLD cannot be it: the
# narrowest weight of that prior has a standard deviation of 0.0002, and by exercise 1 the step for it would be so short that the
# wide ones never move. **HMC** can: it learns a scale for each weight, and accepts or rejects what it proposes, so that no error of
# the step is left. `HMC` takes VI's prior and $T$ as `kl_weight`; sixty draws are few, and the next cell looks up what
# eight long chains found (`flatviz run reference`).

# %%
short_chain = (
    dict(chains=1, n_draws=6, burn_in=4) if FAST else dict(chains=1, n_draws=60, burn_in=60)
)
hmc = fv.fit(net, task.train, fv.HMC(prior=prior, kl_weight=0.03, **short_chain), seed=0)
settings = fv.METHODS["vi"].keywords(net) | (dict(steps=60) if FAST else {})
vi = fv.fit(net, task.train, fv.VI(prior), seed=0, **dict(steps=60) if FAST else {})

# %%
draws = dict(sgld=chain, dropout=dropped, vi=vi, hmc=hmc)
n = min(30, len(hmc.W))
predictions = {k: fv.predict(net, q, task.test, n, seed=2) for k, q in draws.items()}
predictions["ensemble"] = members
fv.plot_metrics(predictions)

# %% [markdown]
# *Figure: accuracy, NLL and ECE against the number of draws averaged, one curve for each method. The ensemble's ends at its
# number of members; the others run to 30. In NLL HMC's and VI's curves end close together; SGLD's ends highest.*
#
# **Try** SGLD at VI's temperature, `keywords = fv.METHODS["sgld"].keywords(net) | dict(temperature=0.03)`: single draws get better,
# their average hardly. Or VI at `kl_weight=0.1`, and HMC too. Or five times the members, `members=25`.

# %%
gold = experiments.at(experiments.read_table("reference"), method="hmc")["nll"].iloc[0]
ours = {k: float(predictions[k].scores["nll"][-1]) for k in ("hmc", "vi", "sgld")}
print(f"HMC, 3,200 draws {gold:.3f}; here", {k: round(v, 3) for k, v in ours.items()})
if not FAST:
    fv.expect(ours["hmc"], gold, rtol=0.05, by="eight long chains")
    fv.expect(gold < ours["vi"] < gold + 0.1, "VI is within a tenth of a nat of its target")

# %% [markdown]
# SGLD ends last, and that says nothing of Langevin: it is right about *another* posterior, whose prior knows nothing of the source
# and which trusts the data thirty times less. Dropout and the ensemble have no target at all; that dropout's NLL is even a little
# below HMC's shows that to be near a posterior and to predict well on one task are two things.
#
# One seed of one task: an example, not evidence. `flatviz run compare` repeats it over seeds, with intervals.
#
# ### Two kinds of doubt
#
# The entropy of the average splits exactly into two parts:
#
# $$ \underbrace{H\Big[\tfrac1M \sum_m p_m\Big]}_{\text{total}} =
#    \underbrace{\tfrac1M \sum_m H[p_m]}_{\text{each draw is unsure}} +
#    \underbrace{\tfrac1M \sum_m \mathrm{KL}(p_m \Vert \bar p)}_{\text{the draws differ}} . $$
#
# $H[p] = -\sum_y p(y) \log p(y)$ is the entropy of probabilities, and $\bar p$ their average over draws. The last term is
# the **mutual information** of label and weights: what knowing the weights would tell. More data reduce it. The term before
# it stays: some digits are unreadable.
#
# *Proof*: $\mathrm{KL}(p_m \Vert \bar p) = -H[p_m] - \sum_y p_m(y) \log \bar p(y)$. Average over $m$: the last sum becomes
# $H[\bar p]$.

# %%
for name, p in predictions.items():
    total, own = fv.metrics.predictive_entropy(p), fv.metrics.aleatoric_entropy(p)
    differ = (p.probs * (p.log_probs - p.bma().log())).sum(-1).mean(0)  # mean KL(p_m || average)
    fv.expect(total, own + differ, atol=1e-4, by="the sum of the parts")
    total, own, differ = (float(e.mean()) for e in (total, own, differ))
    print(f"{name:9s} total {total:.3f} = unsure {own:.3f} + differ {differ:.3f}")

# %% [markdown]
# ## Summary
#
# - Langevin: downhill with kicks of size $\sqrt{2\epsilon}$; its crowd at rest is $e^{-U}$, too wide by
#   $1/(1 - \epsilon a/2)$.
# - A chain does not say that it has missed a valley. Several chains and $\hat R$ do.
# - Dropout draws weight vectors whose width comes from weights and rate, not from the data.
# - An ensemble's average is never worse, in NLL, than its members are on average. The gap is their disagreement.
# - Doubt = what each draw is unsure of + what the draws differ in.
#
# ## Exercises
#
# **1.** For which learning rates does SGLD diverge in a bowl with curvature $h$? Relate it to
# [chapter 03](03_curvature.ipynb).
#
# <details><summary>Solution</summary>
#
# $V$ is finite for $\epsilon a < 2$: $\eta (h + \text{wd}) < 2$, the same bound as for gradient descent. The sharpest
# direction sets the step of the whole chain, and the flattest one then needs the longest walk.
#
# </details>

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
w = torch.ones(100)
for _ in range(200):
    w = w - 0.7 * (h * w + wd * w) + (2 * 0.7 / N) ** 0.5 * noise(100)  # 0.7 * 3.2 > 2
fv.expect(not w.abs().max() < 1e6, "it diverges")

# %% [markdown]
# **2.** Somebody adds SGLD's noise to the gradient of SGD with momentum $m = 0.9$. By how much is the variance wrong?
#
# <details><summary>Solution</summary>
#
# By exercise 1 of [chapter 05](05_swag.ipynb) the variance of a walk with momentum is about $1/(1-m) = 10$ times that
# without. (This slip is found in public code.) The right way is SGHMC: noise matched to the friction $1 - m$.
#
# </details>

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
w, v = torch.zeros(5000), torch.zeros(5000)
for _ in range(600):
    v = 0.9 * v + (h + wd) * w + (2 / (lr * N)) ** 0.5 * noise(5000)
    w = w - lr * v
print(f"variance {w.var() / V:.1f} times that of SGLD")
fv.expect(w.var() / V, 10, rtol=0.2)

# %% [markdown]
# **3.** Give linear regression four times the data. What happens to the width of the posterior, and of dropout?
#
# <details><summary>Solution</summary>
#
# The posterior's standard deviation halves, as $A \approx X^\top X / \tau^2$ grows fourfold (the prior apart). Dropout's
# is $\lvert w \rvert \sqrt{r/(1-r)}$, and stays.
#
# </details>

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
more = torch.cat([X] * 4)  # the same inputs four times: X^T X is four times as large
narrow = torch.linalg.inv(more.T @ more / tau**2 + delta * torch.eye(3))
halved = (narrow.diagonal() / cov.diagonal()).sqrt()
fv.expect(halved, 0.5, atol=0.02)

# %% [markdown]
# **4.** Two members: the first gives the right class the probability 0.9, the second 0.1. Compute both sides of Jensen's
# inequality. Is a third, equal to the first, worth adding?
#
# <details><summary>Solution</summary>
#
# Average of the losses: $-\tfrac12 (\log 0.9 + \log 0.1) = 1.20$; loss of the average: $-\log 0.5 = 0.69$. With the third:
# $-\log 0.633 = 0.46$: better here, since it outvotes the bad one, although it adds nothing new.
#
# </details>

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
p = torch.tensor([0.9, 0.1])
fv.expect(-p.log().mean(), 1.20, atol=0.01)
fv.expect(-p.mean().log(), 0.69, atol=0.01)
fv.expect(-torch.tensor([0.9, 0.1, 0.9]).mean().log(), 0.46, atol=0.01)

# %% [markdown]
# **5.** How many independent draws is a chain worth? For a chain with correlation $c^k$ at lag $k$, the variance of the mean
# of $n$ draws is that of $n (1 - c)/(1 + c)$ independent ones. Check it for the Gaussian chain above, with
# $c = 1 - \eta(h + \text{wd})$.
#
# <details><summary>Solution</summary>
#
# $\operatorname{Var}[\bar w] \approx \frac{V}{n} \big(1 + 2 \sum_k c^k\big) = \frac{V}{n} \frac{1 + c}{1 - c}$. With
# $c = 0.936$ thirty steps are worth about one draw: that is what `thin` is for.
#
# </details>

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
c, n, w, total = 1 - lr * (h + wd), 600, V**0.5 * noise(5000), torch.zeros(5000)
for _ in range(n):
    w = c * w + (2 * lr / N) ** 0.5 * noise(5000)
    total += w / n
worth = V / total.var()
print(f"{n} steps are worth {worth:.0f} draws, predicted {n * (1 - c) / (1 + c):.0f}")

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
fv.expect(worth, n * (1 - c) / (1 + c), rtol=0.25, by="the formula")

# %% [markdown]
# ## References
#
# - Welling and Teh: Bayesian learning via stochastic gradient Langevin dynamics, ICML 2011.
# - Zhang et al.: Cyclical stochastic gradient MCMC, 2020, [arXiv 1902.03932](https://arxiv.org/abs/1902.03932),
#   [code](https://github.com/ruqizhang/csgmcmc).
# - Vehtari et al.: R-hat, 2021, [arXiv 1903.08008](https://arxiv.org/abs/1903.08008).
# - Gal and Ghahramani: Dropout as a Bayesian approximation, 2016, [arXiv 1506.02142](https://arxiv.org/abs/1506.02142).
# - Lakshminarayanan, Pritzel, Blundell: Simple and scalable predictive uncertainty estimation using deep ensembles, 2017,
#   [arXiv 1612.01474](https://arxiv.org/abs/1612.01474).
# - Liu and Wang: Stein variational gradient descent, 2016, [arXiv 1608.04471](https://arxiv.org/abs/1608.04471).
# - Deep ensembles in [uncertainty-baselines](https://github.com/google/uncertainty-baselines).
#
# **Next**: [chapter 08](08_from_sam_to_sabma.ipynb) makes all of this flat-seeking.
