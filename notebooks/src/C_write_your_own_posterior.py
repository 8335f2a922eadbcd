# %% [markdown]
# # C · How do I write my own posterior?
#
# **You will learn** to
#
# - turn an update equation into a `fit` function that every picture and table of flatviz understands;
# - test it on a Gaussian whose answer is known, before it sees a network;
# - keep the promises that all methods keep: the seed, the user's network, the global random state;
# - enter it into the table of methods, with its flat-seeking version for nothing.
#
# **Takes** 25 minutes to read and half a minute to run on a CPU.
#
# **Number to expect**: on a Gaussian target the new method's variance is within a tenth of the exact one. A cell below
# asserts it.
#
# **Needs** chapters 01 and 07.

# %% tags=["parameters"]
FAST = False  # True shrinks the run: tests and a first look

# %%
import math

import ipywidgets
import plotly.graph_objects as go
import torch

# %%
import flatviz as fv
from flatviz.studies.tour import prepare

torch.set_num_threads(1)

# %% [markdown]
# ## A story: the new player
#
# An orchestra has a hundred rules for a new player, but the conductor cares about four: come in on the beat, play what is
# written, leave the stands of the others alone, and stop when I stop. A posterior in flatviz has four rules as well. This
# notebook takes the oldest sampler there is, random-walk Metropolis, and teaches it the four.

# %% [markdown]
# ## The method
#
# Target: $\pi(w) \propto \exp(-N L(w)/T)\, p(w)$ with a Gaussian prior $p$. One step from $w$:
#
# 1. propose $w' = w + \epsilon z$, $z \sim N(0, I)$;
# 2. accept with probability $\min\{1, \pi(w')/\pi(w)\}$, else stay.
#
# **Why it samples $\pi$.** Let $k(w \to w')$ be the density of moving. The proposal is symmetric, so for $w \ne w'$
#
# $$ \pi(w)\, k(w \to w') = q(w' \mid w) \min\{\pi(w), \pi(w')\} = \pi(w')\, k(w' \to w) . $$
#
# Integrate over $w$: $\int \pi(w)\, k(w \to w')\, dw = \pi(w')$. The distribution $\pi$ stays as it is.


# %%
def log_target(f, prior, n, temperature):
    """w -> log pi(w), up to a constant."""
    return lambda w: float(prior.log_prob(w)) - n / temperature * float(f(w))


# %%
def moved(log_pi, w, here, epsilon, generator):
    """One step: the next state and its log pi."""
    proposal = w + epsilon * torch.randn(w.shape, generator=generator, dtype=w.dtype)
    there, u = log_pi(proposal), torch.rand((), generator=generator)
    return (proposal, there) if math.log(u) < there - here else (w, here)


# %%
def walk(log_pi, w, steps, epsilon, generator):
    """Yields the state after each step."""
    here = log_pi(w)
    for _ in range(steps):
        w, here = moved(log_pi, w, here, epsilon, generator)
        yield w


# %% [markdown]
# ## Rule 0: first a Gaussian
#
# A sampler that is wrong on a network looks like any other. On $L(w) = \tfrac12 h w^2$ with $N/T = 50$ and a wide prior
# the exact variance is $1/(50 h)$.

# %%
h = torch.tensor([4.0, 1.0])
wide = fv.Gaussian(torch.zeros(2), torch.full((2,), 4.0))
log_pi = log_target(lambda w: 0.5 * (h * w * w).sum(), wide, n=50, temperature=1.0)
chain = torch.stack(list(walk(log_pi, torch.zeros(2), 6000 if FAST else 40000, 0.15, torch.Generator().manual_seed(0))))
variance, exact = chain[500:].var(0), 1 / (50 * h)

# %%
print("chain", variance.tolist(), "exact", exact.tolist())
assert torch.allclose(variance, exact, rtol=0.3 if FAST else 0.1)

# %% [markdown]
# ## Live: the step size
#
# **Move $\epsilon$.** Too small: nearly every proposal is accepted and the chain crawls. Too large: it stays where it is.


# %%
def trace(epsilon):
    return torch.stack(list(walk(log_pi, torch.ones(2), 400, epsilon, torch.Generator().manual_seed(1))))[:, 0]


# %%
fig = go.FigureWidget(layout=dict(height=380, xaxis_title="step", yaxis_title="first weight"))
fig.add_scatter(y=trace(0.15), mode="lines", line_color="#0072B2", name="chain")
slider = ipywidgets.SelectionSlider(options=[0.01, 0.03, 0.15, 0.5, 2.0], value=0.15, description="ε")
slider.observe(lambda change: fig.data[0].update(y=trace(change["new"])), "value")
ipywidgets.VBox([slider, fig])

# %% [markdown]
# *Figure: the first weight over 400 steps. At ε = 0.15 it moves quickly around 0; at 0.01 it drifts slowly from 1; at 2 it is
# a staircase with few steps.*
#
# ## The fit function
#
# Four rules:
#
# 1. `fit(net, data, ..., *, seed, checkpoint=None, progress=False)` returns something with `center` and `sample(n, seed=)`;
#    for draws that is `fv.Draws`;
# 2. all noise comes from one generator made of `seed`: the same seed gives the same bits;
# 3. the user's net, data and the global random state stay as they were;
# 4. every setting that a study may change is a keyword.


# %%
def draws_of(net, data, prior, seed, steps, epsilon, thin, temperature):
    generator = torch.Generator().manual_seed(seed)
    log_pi = log_target(fv.nll(net, data), prior, len(data), temperature)
    with torch.no_grad():
        states = list(walk(log_pi, net.w, steps, epsilon * prior.std, generator))  # wide where the prior is
    return torch.stack(states[steps // 2 :: thin])


# %%
def fit_metropolis(
    net, data, prior, *, seed, steps=2000, epsilon=0.01, thin=10, temperature=0.03, checkpoint=None, progress=False
):
    """Random-walk Metropolis from where the net stands; the second half of the walk, every `thin`-th state."""
    return fv.Draws(draws_of(net, data, prior, seed, steps, epsilon, thin, temperature))


# %% [markdown]
# ## The promises, checked
#
# These are the checks of the project's conformance tests, on the digits:

# %%
net, task, prior = prepare(epochs=5 if FAST else 60)
start = fv.fit_vi(net, task.train, prior, seed=0, **fv.METHODS["vi"].plain.settings)
warm = net.at(start.center)  # a walk from a good place
short = dict(steps=200, thin=10)

# %%
random_state, w = torch.random.get_rng_state(), warm.w.clone()
q = fit_metropolis(warm, task.train, prior, seed=0, **short)
assert isinstance(q, fv.Posterior) and q.center.shape == (net.dim,)
assert torch.equal(fit_metropolis(warm, task.train, prior, seed=0, **short).W, q.W)  # the same seed
assert not torch.equal(fit_metropolis(warm, task.train, prior, seed=1, **short).W, q.W)  # another seed

# %%
assert torch.equal(torch.random.get_rng_state(), random_state) and torch.equal(warm.w, w)  # nothing was touched
W = q.sample(3, seed=1)
assert W.shape == (3, net.dim) and torch.equal(W[:2], q.sample(2, seed=1))

# %% [markdown]
# ## In the table of methods
#
# One frozen record says how the method is called, drawn and run. Tour, compare, evidence, the lab's menu and all figures read
# it. In a clone the record stands in `flatviz/posteriors/metropolis.py`, and one line in the table names it; here we enter it
# by hand.

# %%
from flatviz.posteriors.method import Method, Tuned

settings = dict(steps=400 if FAST else 4000, epsilon=0.01, thin=10, temperature=0.03)
look = dict(label="Metropolis", color="#8c564b", symbol="diamond")
METHOD = Method(name="metropolis", fit=fit_metropolis, plain=Tuned(settings), needs_prior=True, warm_start=True, **look)
fv.METHODS["metropolis"] = METHOD

# %%
from flatviz.studies.members import fit_member

mine = fit_member(net, task, prior, "metropolis", seed=0)
predictions = {"vi": fv.predict(net, start, task.test, 20, seed=1)}
predictions["metropolis"] = fv.predict(net, mine, task.test, min(20, len(mine.W)), seed=1)

# %%
fv.plot_metrics(predictions)

# %% [markdown]
# *Figure: accuracy, NLL and ECE over the number of draws, for VI and for Metropolis, in the colours of their records.*
#
# In 906 dimensions a random walk explores next to nothing: its draws are neighbours, and thirty of them predict like one.
# That is what gradients are for (chapter 07), and what `diagnose_chains` would tell you.

# %%
spread = mine.W.std(0).mean() / start.std.mean()
print(f"width of the walk over VI's: {spread:.2f}")
assert spread < 1

# %% [markdown]
# ## A flat-seeking version
#
# A method that takes gradients gets its F- version from one argument: call `gradient(loss, w, index, ascent)` where it takes
# its gradient, set `takes_ascent=True`, and the table holds `f-<name>` as well. Metropolis takes no gradient, so it has none.
# `flatviz/posteriors/sgld.py` is the shortest example that does.

# %%
flat = [name for name in fv.METHODS if name.startswith("f-")]
print(len(flat), "flat-seeking versions:", ", ".join(flat))
assert "f-sgld" in flat and "f-metropolis" not in flat

# %% [markdown]
# ## Summary
#
# - A posterior is anything with `center` and `sample(n, seed=)`; `Gaussian`, `Draws` and `Mixture` are at hand.
# - Test it on a Gaussian first, on the promises second, on a network last.
# - One record enters it everywhere. `CONTRIBUTING.md` counts the files that a new method touches.
#
# ## Exercises
#
# **1.** The proposals for the network are scaled by the prior's widths, $\epsilon \cdot \mathrm{std}_i$. Why not one width for all
# weights? And how does the share of accepted steps depend on $\epsilon$?
#
# <details><summary>Solution</summary>
#
# Widths of the prior differ by orders of magnitude: a step that is short for the head would leave a narrow prior at once, and
# never be accepted. The larger $\epsilon$, the fewer steps are accepted.
#
# </details>

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
accepted = lambda chain: float((chain[1:] != chain[:-1]).any(1).float().mean())
small, large = (torch.stack(list(walk(log_pi, torch.zeros(2), 500, e, torch.Generator().manual_seed(0)))) for e in (0.05, 1.0))
assert accepted(small) > accepted(large)

# %% [markdown]
# **2.** Why is the *second half* of the walk kept?
#
# <details><summary>Solution</summary>
#
# The start is not a draw from $\pi$. The chain forgets it only after a while; until then states are biased towards it.
#
# </details>

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
far = torch.stack(list(walk(log_pi, torch.full((2,), 5.0), 2000, 0.15, torch.Generator().manual_seed(0))))
assert far[:50].mean() > far[1000:].mean() + 1

# %% [markdown]
# **3.** Remove the prior from `log_target`. Which check of this notebook would notice?
#
# <details><summary>Solution</summary>
#
# Not the Gaussian one: its prior was wide on purpose. Use a narrow prior there, with exact precision $50 h + 1/s^2$.
#
# </details>

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
narrow = fv.Gaussian(torch.zeros(2), torch.full((2,), 0.05).log())
log_narrow = log_target(lambda w: 0.5 * (h * w * w).sum(), narrow, n=50, temperature=1.0)
states = torch.stack(list(walk(log_narrow, torch.zeros(2), 20000, 0.06, torch.Generator().manual_seed(0))))
assert torch.allclose(states[500:].var(0), 1 / (50 * h + 400), rtol=0.2)

# %%
del fv.METHODS["metropolis"]  # leave the table as it was

# %% [markdown]
# ## References
#
# - Metropolis, Rosenbluth, Rosenbluth, Teller, Teller: Equation of state calculations by fast computing machines, 1953.
# - [posteriors](https://github.com/normal-computing/posteriors): a library in which one method is one file.
