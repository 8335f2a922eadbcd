# %% [markdown]
# # 10 · Does flatness matter when draws are averaged?
#
# **You will learn** to
#
# - average draws in the right place, and say how much an ensemble gains and when more members stop to help;
# - prove how the sharpness of an average depends on the sharpness of its members (Weyl's inequalities);
# - order the draws of one posterior from sharp to flat, and test whether the flat ones predict better;
# - read a table of verdicts that was corrected for the number of its claims.
#
# **Takes** 30 minutes to read and a minute to run on a CPU.
#
# **Number to expect**: the middle of Weyl's three numbers lies between the others, for every set of draws. Cells below
# assert it.
#
# **Needs** chapters 03, 04 and 08.

# %% tags=["parameters"]
FAST = False  # True shrinks the run: tests and a first look

# %%
import json

import ipywidgets
import plotly.graph_objects as go
import torch

# %%
import flatviz as fv
from flatviz.metrics.sharpness import ordered
from flatviz.storage.committed import committed
from flatviz.studies.tour import prepare

torch.set_num_threads(1)
generator = torch.Generator().manual_seed(0)

# %% [markdown]
# ## A story: the panel of judges
#
# Ten judges score a dive. Their average is a better score than most single ones, and it gains most where judges err in
# *different* ways. If you could invite only five of the ten, would you take the calm ones, whose score hardly changes
# when they sit a metre further left? "Flat is better" says yes. This chapter tests it.

# %% [markdown]
# ## What is averaged
#
# A Bayesian network answers with the average of the **probabilities** of its draws,
#
# $$ \bar p(y \mid x) = \frac1M \sum_{m=1}^M p(y \mid x, w_m), \qquad w_m \sim q . $$
#
# **Why it cannot hurt on average.** $-\log$ is convex, so by Jensen, for each example,
#
# $$ -\log \bar p \;\le\; \frac1M \sum_m -\log p(y \mid x, w_m) . $$
#
# The NLL of the average is at most the average NLL of its members. The gap is the gain of the ensemble.

# %%
net, task, prior = prepare(epochs=5 if FAST else 60)
settings = dict(fv.METHODS["sabma"].plain.settings) | (dict(steps=20) if FAST else {})
vi = fv.fit_vi(net, task.train, prior, seed=0, **settings)
flat = fv.fit_sabma(net, task.train, prior, radius=2.0, seed=0, **settings)

# %%
n_draws = 10 if FAST else 30
W = vi.sample(n_draws, seed=1)
log_p = net(W[0], task.test.x).log_softmax(1)  # of one draw, by hand
every = torch.stack([net(w, task.test.x).log_softmax(1) for w in W])
y = task.test.y

# %%
members = -every.gather(2, y.expand(n_draws, -1)[..., None]).mean((1, 2))  # NLL of each draw
average = -every.exp().mean(0).log().gather(1, y[:, None]).mean()
assert average <= members.mean() + 1e-6  # Jensen
library = fv.predict(net, W, task.test, n_draws, seed=0).scores["nll"][-1]
assert torch.isclose(average, library.to(average), rtol=1e-4)

# %%
print(f"members {members.mean():.3f} on average, best {members.min():.3f}; the ensemble {average:.3f}")

# %% [markdown]
# ## How many draws?
#
# **Predict first**: by how much do the second, the tenth, the thirtieth draw lower the NLL?

# %%
predictions = {"vi": fv.predict(net, vi, task.test, n_draws, seed=2)}
predictions["sabma"] = fv.predict(net, flat, task.test, n_draws, seed=2)
fv.plot_metrics(predictions)

# %% [markdown]
# *Figure: accuracy, NLL and ECE against the number of averaged draws, for VI and SA-BMA. NLL falls steeply over the first
# draws and is level after about ten.*
#
# ### Why it falls like 1/M
#
# Let $p_m$ be the probability of the right label by draw $m$, with mean $\mu$ and variance $v$ over draws. The average of
# $M$ of them has mean $\mu$ and variance $v/M$. Expand $-\log$ around $\mu$:
#
# $$ \mathbb{E}[-\log \bar p] \approx -\log \mu + \frac{v}{2 M \mu^2} . $$
#
# The part that an ensemble can remove halves with every doubling. Check with numbers that are not from a network:

# %%
p = 0.5 + 0.1 * (torch.rand(200_000, 8, generator=generator) - 0.5)  # mean 0.5, variance 0.01 / 12
gain = {M: float(-p[:, :M].mean(1).log().mean() + torch.log(torch.tensor(0.5))) for M in (1, 2, 4)}
exact = {M: 0.01 / 12 / (2 * M * 0.25) for M in gain}
assert all(abs(gain[M] / exact[M] - 1) < 0.2 for M in gain)

# %% [markdown]
# ## The sharpness of an average: Weyl
#
# Let $H_m$ be the Hessian of the loss at draw $m$, and $\bar H = \frac1M \sum_m H_m$. Write $\lambda_{\max}$ for the
# largest eigenvalue, $\lambda_{\min}$ for the smallest. Weyl's inequalities for symmetric $A$, $B$:
#
# $$ \lambda_{\max}(A) + \lambda_{\min}(B) \;\le\; \lambda_{\max}(A + B) \;\le\; \lambda_{\max}(A) + \lambda_{\max}(B) . $$
#
# **Proof.** $\lambda_{\max}(A+B) = \max_{\lVert v \rVert = 1} (v^\top A v + v^\top B v)$. Upper bound: each part is at
# most its own maximum. Lower bound: take for $v$ the top eigenvector of $A$; then $v^\top B v \ge \lambda_{\min}(B)$.
#
# Use it $M - 1$ times:
#
# $$ \frac1M \max_j \Big[ \lambda_{\max}(H_j) + \sum_{m \ne j} \lambda_{\min}(H_m) \Big]
#    \;\le\; \lambda_{\max}(\bar H) \;\le\; \frac1M \sum_m \lambda_{\max}(H_m) . $$
#
# **Read it**: flat members make a flat average. The other way round it is weak: sharp members whose sharp directions
# differ have a flat average, too.


# %%
def weyl(H):
    """Lower bound, largest eigenvalue of the mean, upper bound, for symmetric H (M, n, n)."""
    values = torch.linalg.eigvalsh(H)
    low, high = values[:, 0], values[:, -1]
    lower = (high + low.sum() - low).max() / len(H)
    return lower, torch.linalg.eigvalsh(H.mean(0))[-1], high.mean()


# %%
H = torch.randn(6, 30, 30, generator=generator)
lower, middle, upper = weyl(H + H.mT)
assert lower <= middle <= upper
print(f"random matrices: {lower:.2f} <= {middle:.2f} <= {upper:.2f}")

# %% [markdown]
# And for five draws of each posterior, the eigenvalues by Lanczos:

# %%
L = fv.nll(net, task.train)
for name, q in (("VI", vi), ("SA-BMA", flat)):
    lower, middle, upper = fv.weyl_bounds(L, q.sample(3 if FAST else 5, seed=1))
    assert lower <= 1.01 * middle and middle <= 1.01 * upper
    print(f"{name:7s} {lower:6.2f} <= {middle:6.2f} <= {upper:6.2f}")

# %% [markdown]
# Two cautions. $\bar H$ is the Hessian of the *average loss*, not of the loss of the averaged prediction. And it is not
# the Hessian at the average weights.

# %% [markdown]
# ## Flat members or sharp members?
#
# Now the test of the story. Take the draws of *one* posterior, measure $\lambda_1$ of each, and order them: flat first,
# sharp first, at random. All orders end in the same ensemble of all draws; they differ on the way.

# %%
sharpness = torch.stack([fv.top_eigenpairs(L, w, 1).values[0] for w in W])
orders = {order: ordered(W, sharpness, order) for order in ("sharp", "random", "flat")}
curves = {o: fv.predict(net, V, task.test, n_draws, seed=0).scores["nll"] for o, V in orders.items()}
assert abs(curves["flat"][-1] - curves["sharp"][-1]) < 1e-4  # the same ensemble in the end

# %%
fig = go.Figure(layout=dict(xaxis_title="draws averaged", yaxis_title="test NLL (nats)", height=420))
looks = dict(sharp=("#D55E00", "dot"), random=("#777777", "dash"), flat=("#009E73", "solid"))
for order, (color, dash) in looks.items():
    fig.add_scatter(x=list(range(1, n_draws + 1)), y=curves[order], name=order, line=dict(color=color, dash=dash))
fig

# %% [markdown]
# *Figure: three curves of the NLL over the number of draws, sharp first, random, flat first. They start apart and end in
# the same point.*
#
# On one seed one of the three is always lowest. Is that more than chance?

# %% [markdown]
# ## The answer over ten seeds
#
# `flatviz averaging --seeds 10` asks this of ten seeds, with VI and SA-BMA, and corrects for the number of its claims
# (Holm). Its result comes with flatviz. **Choose a topic**:

# %%
held = json.loads(committed("averaging_digits.json").read_text(encoding="utf-8"))
topics = {"flat or sharp ensembles": "flattest", "λ1 and scores over draws": "over draws", "rank of SA-BMA": "rank"}
menu = ipywidgets.Dropdown(options=list(topics), description="topic")
lines = ipywidgets.HTML()


# %%
def show(change=None):
    chosen = [line for line in held["verdicts"] if topics[menu.value] in line]
    lines.value = "<ul>" + "".join(f"<li>{line}</li>" for line in chosen) + "</ul>"


menu.observe(show, "value")

# %%
show()
ipywidgets.VBox([menu, lines])

# %%
words = [line.rsplit(": ", 1)[1] for line in held["verdicts"]]
counts = {word: words.count(word) for word in ("holds", "does not hold", "cannot tell")}
assert sum(counts.values()) == len(words)
print(f"{len(words)} claims on seeds {held['seeds'][0]} to {held['seeds'][-1]}:", counts)

# %% [markdown]
# **Cannot tell** is an answer: an effect, if there is one, is smaller than ten seeds can show. Look at the intervals to
# see how large it could still be.
#
# Why correct? At a level of 5 %, one of twenty true "no effect" claims looks like an effect by chance. Holm's rule: sort
# the $p$-values, multiply the smallest by the number of claims $m$, the next by $m - 1$, and so on, never letting one fall
# below the one before. By hand:

# %%
p_values = torch.tensor([0.001, 0.04, 0.03, 0.2])
factors = torch.arange(4, 0, -1)
sorted_p, place = p_values.sort()
corrected = torch.empty(4)
corrected[place] = (sorted_p * factors).clamp(max=1).cummax(0).values

# %%
from flatviz.studies.claims import holm

assert torch.allclose(corrected, torch.tensor(holm(p_values.tolist())))
print(corrected.tolist())

# %% [markdown]
# ## Summary
#
# - Probabilities are averaged, never weights; by Jensen the ensemble is at least as good as its members on average.
# - The gain of $M$ draws grows like $1 - 1/M$: ten draws give most of it.
# - Flat members make a flat average loss (Weyl); the reverse need not hold.
# - Whether flat draws make better ensembles is an empirical question. Read the verdicts above before you repeat a slogan.
#
# ## Exercises
#
# **1.** Construct two symmetric matrices with $\lambda_{\max} = 10$ whose average has $\lambda_{\max} = 5$.
#
# <details><summary>Solution</summary>
#
# $\operatorname{diag}(10, 0)$ and $\operatorname{diag}(0, 10)$: sharp in different directions.
#
# </details>

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
pair = torch.stack([torch.diag(torch.tensor([10.0, 0.0])), torch.diag(torch.tensor([0.0, 10.0]))])
assert weyl(pair)[1] == 5 and weyl(pair)[2] == 10

# %% [markdown]
# **2.** Show with numbers that averaging *weights* of the draws of VI is another thing than averaging probabilities.
#
# <details><summary>Solution</summary>
#
# The average of the weights is close to the mean of $q$: one network, without the gain of the ensemble.
#
# </details>

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
one = fv.predict(net, W.mean(0)[None], task.test, 1, seed=0).scores["nll"][-1]
print(f"averaged weights {one:.3f}, averaged probabilities {average:.3f}")
assert abs(one - average) > 1e-4

# %% [markdown]
# **3.** How many of 26 claims without any effect would you expect to call effects at a level of 5 %, uncorrected? What is
# the chance of at least one, if they are independent?
#
# <details><summary>Solution</summary>
#
# $26 \cdot 0.05 = 1.3$, and $1 - 0.95^{26} \approx 0.74$.
#
# </details>

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
p = torch.rand(20_000, 26, generator=generator)
assert abs(float((p < 0.05).any(1).float().mean()) - (1 - 0.95**26)) < 0.02
assert abs(float((26 * p.min(1).values < 0.05).float().mean()) - 0.05) < 0.01  # corrected: 5 %

# %% [markdown]
# **4.** Is $\lambda_1$ of a draw related to its own test NLL, over the draws above? Compute Spearman's correlation.
#
# <details><summary>Solution</summary>
#
# Rank both and correlate the ranks. With 30 draws a correlation within ±0.36 is no more than chance (5 %).
#
# </details>

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
ranks = torch.stack([sharpness.argsort().argsort(), members.argsort().argsort()]).double()
spearman = torch.corrcoef(ranks)[0, 1]
assert -1 <= spearman <= 1 and print(f"Spearman {spearman:.2f}") is None

# %% [markdown]
# ## References
#
# - Lim et al.: Flat posterior does matter for Bayesian model averaging, 2024,
#   [arXiv 2406.15664](https://arxiv.org/abs/2406.15664). Weyl's bounds for averaged Hessians.
# - Horn, Johnson: Matrix Analysis, ch. 4. Weyl's inequalities.
# - Holm: A simple sequentially rejective multiple test procedure, 1979.
#
# **Next**: chapter 11 asks what all this is worth with few examples and shifted images.
