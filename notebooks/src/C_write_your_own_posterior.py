# %% [markdown]
# # C · How do I write my own posterior?
#
# An orchestra has a hundred rules for a new player, but the conductor cares about four: come in on the beat, play what is
# written, leave the stands of the others alone, and stop when I stop. A posterior in flatviz has four rules as well. This
# notebook takes the oldest sampler there is, random-walk Metropolis, and teaches it the four.
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
# **Needs** chapters [01](01_network_is_a_vector.ipynb) and [07](07_sgld_dropout_ensembles.ipynb).

# %% tags=["parameters"]
FAST = False  # True shrinks the run: tests and a first look

# %%
import contextlib
import tempfile
from pathlib import Path
from typing import NamedTuple

# %%
import ipywidgets
import torch

import flatviz as fv
from flatviz.families.tour import prepare
from flatviz.plots.theme import figure

torch.set_num_threads(1)

# %% [markdown]
# ## The method
#
# Target: the tempered posterior of [chapter 06](06_vi_and_laplace.ipynb), $\pi(w) \propto \exp(-N L(w)/T)\, p(w)$, with $N$
# examples, temperature $T$ and a Gaussian prior $p$. One step from $w$:
#
# 1. propose $w' = w + \epsilon z$, $z \sim N(0, I)$;
# 2. accept with probability $\min\{1, \pi(w')/\pi(w)\}$, else stay.
#
# **Why it samples $\pi$.** Let $k(w \to w')$ be the density of moving from $w$ to $w'$: that of proposing it, $g(w' - w)$ with the
# symmetric density $g$ of $\epsilon z$, times the probability of accepting it. For $w \ne w'$
#
# $$ \pi(w)\, k(w \to w') = g(w' - w) \min\{\pi(w), \pi(w')\} = \pi(w')\, k(w' \to w) , $$
#
# since the middle does not change when $w$ and $w'$ change places: as much probability flows there as back. So if the states of
# a crowd of walkers are distributed as $\pi$, they still are after a step.
#
# In flatviz a method is a value: a class of numbers with `init`, `update` and `result` (`fv.training.Stepped`). `update` takes a
# state, a function `gradient(w, batch) -> (loss, gradient)`, a minibatch and noise, all tensors, and gives the next state. It draws
# nothing and changes nothing itself, so that a test, a chapter and a driver can step it. Metropolis looks at the loss alone. It works
# with $\log \pi$, which does not overflow, and accepts where $\log u < \log \pi(w') - \log \pi(w)$ for a uniform $u$:

# %%
from flatviz.checks import Count, Positive
from flatviz.training.driver import drive
from flatviz.training.streams import Noise


class Walk(NamedTuple):
    w: torch.Tensor
    log_pi: torch.Tensor  # there


# %%
class Settings(fv.training.Stepped):
    label = "Metropolis"
    prior: fv.Gaussian | None = None
    n: int | None = None  # N, the examples behind the mean loss; `fit` fills it
    epsilon: Positive = 0.01
    temperature: Positive = 1.0
    thin: Count = 10


# %%
class Target(Settings):
    widths = 1.0  # of a proposal, in which directions it is longer

    def log_target(self, gradient, w, batch=None):  # log pi(w), up to a constant
        loss, _ = gradient(w, batch)
        return self.prior.log_prob(w) - self.n / self.temperature * loss

    def init(self, w, gradient):
        return Walk(w, self.log_target(gradient, w))


# %%
def moved(state, w, log_pi, taken):  # there where the proposal is taken, else where the walk was
    return Walk(torch.where(taken, w, state.w), torch.where(taken, log_pi, state.log_pi))


# %%
class Metropolis(Target):
    def update(self, state, gradient, batch, noise):
        proposal = state.w + self.epsilon * self.widths * noise[0]
        log_pi = self.log_target(gradient, proposal, batch)
        state = moved(state, proposal, log_pi, noise[1] < log_pi - state.log_pi)
        return state, fv.training.Record(loss=-state.log_pi / self.n)


# %% [markdown]
# The noise comes from outside, from one generator made of a seed:


# %%
class Proposals(Noise):  # z ~ N(0, I) and log u of each step
    def __init__(self, seed, like):
        self.like, self.generators = like, [torch.Generator().manual_seed(seed)]

    def at(self, step):
        how = dict(generator=self.generators[0])
        return torch.randn(self.like.shape, dtype=self.like.dtype, **how), torch.rand(
            (), **how
        ).log()


# %%
def walk(method, gradient, w, steps, seed):
    """Yields the weights after each step."""
    state, noise = method.init(w, gradient), Proposals(seed, w)
    for step in range(steps):
        state, _ = method.update(state, gradient, None, noise.at(step))
        yield state.w


# %% [markdown]
# ## Rule 0: first a Gaussian
#
# A sampler that is wrong on a network looks like any other. So first a target whose answer is known: on
# $L(w) = \tfrac12 \sum_i h_i w_i^2$ with $N/T = 50$ and a wide prior $\pi$ is a Gaussian with the variances $1/(50 h_i)$.

# %%
h = torch.tensor([4.0, 1.0])
wide = fv.Gaussian(torch.zeros(2), torch.full((2,), 4.0))


def bowl(w, batch):  # L(w) and its gradient
    return 0.5 * (h * w * w).sum(), h * w


# %%
chain = torch.stack(
    list(
        walk(
            Metropolis(prior=wide, n=50, epsilon=0.15),
            bowl,
            torch.zeros(2),
            6000 if FAST else 40000,
            seed=0,
        )
    )
)
variance, exact = chain[500:].var(0), 1 / (50 * h)

# %%
print("variances of the chain", variance.numpy().round(5), "exact", exact.numpy().round(5))
fv.expect(variance, exact, rtol=0.3 if FAST else 0.1, by="the exact posterior")

# %% [markdown]
# ## Live: the step size
#
# **Move $\epsilon$** (in powers of ten). **Predict first**: which share of the proposals is accepted for a tiny step, which for a
# huge one, and in which case does the chain visit most of the target?


# %%
def accepted(chain):
    """The share of steps that moved."""
    return float((chain[1:] != chain[:-1]).any(1).float().mean())


# %%
def trace(log10_epsilon):
    method = Metropolis(prior=wide, n=50, epsilon=10**log10_epsilon)
    chain = torch.stack(list(walk(method, bowl, torch.ones(2), 400, seed=1)))
    title = f"ε = {10**log10_epsilon:.3g}: {accepted(chain):.0%} of the proposals accepted"
    fig = figure(
        title,
        f"First weight over 400 steps, {title}",
        xaxis_title="step",
        yaxis_title="first weight",
        height=400,
    )
    return fig.add_scatter(y=chain[:, 0].numpy(), mode="lines", line_color="#0072B2").update_yaxes(
        range=[-0.6, 1.2]
    )


# %%
slider = ipywidgets.FloatSlider(value=-0.75, min=-2.5, max=0.5, step=0.25, description="log10 ε")
_ = ipywidgets.interact(trace, log10_epsilon=slider)

# %% [markdown]
# *Figure: the first weight over 400 steps, from 1. At ε = 0.18 it falls to 0 and moves quickly around it; at 0.003 it drifts
# slowly; at 3 it is a staircase with few steps.*
#
# Too small: nearly every proposal is accepted and the chain crawls. Too large: it stays where it is.
#
# ## The fit function
#
# The four rules of the story:
#
# 1. **play what is written**: `fitted(problem, run)` returns something with `center` and `sample(n, seed=)`; for draws that is
#    `fv.Draws`. `fv.fit` calls it, with all fields filled; every number that a study may change is a field;
# 2. **come in on the beat**: all noise comes from one generator made of `seed`, so the same seed gives the same bits;
# 3. **leave the stands alone**: the user's net, data and the global random state stay as they were;
# 4. **stop when I stop**: the steps run in `drive`, which shows progress, saves the state to `checkpoint`, and goes on from there.
#
# `drive` asks the method for its noise, keeps the weights after the steps in `keep`, and hands both ends to `result`:


# %%
class Driven(Metropolis):
    def noise(self, state, seeds, steps):
        return Proposals(seeds[0], state.w)

    def result(self, state, history=None, kept=()):
        return fv.Draws(torch.stack(tuple(kept)), history)


# %% [markdown]
# `training_loss(net, data)` is such a `gradient`, of a minibatch or of all examples; `net.w` are the present weights. The proposal is
# scaled by the prior's widths, and the second half of the walk is kept, every `thin`-th state:


# %%
class OfNetwork(Driven):
    """Random-walk Metropolis from where the net stands; the second half of the walk, every `thin`-th state."""

    @property
    def widths(self):
        return self.prior.std

    def fitted(self, problem, run):
        gradient = fv.training.training_loss(problem.net, problem.data)
        keep = range(run.steps // 2, run.steps, self.thin)
        start = self.init(problem.net.w, gradient)
        return self.result(*drive(self, start, gradient, run, steps=run.steps, keep=keep))


# %%
def metropolis(net, prior, *, steps=2000, thin=10, **run):
    """The walk on the digits."""
    method = OfNetwork(prior=prior, thin=thin, temperature=0.03)
    return fv.fit(net, task.train, method, steps=steps, **run)


# %% [markdown]
# ## The promises, checked
#
# These are the checks of the project's conformance tests, on the digits. The walk begins at the centre of a VI posterior
# (`net.at(w)` is the net standing at `w`):

# %%
net, task, prior = prepare(task=fv.datasets.digits_transfer(), epochs=5 if FAST else 60)
start = fv.fit(net, task.train, fv.VI(prior), seed=0)
warm = net.at(start.center)  # a walk from a good place
short = dict(steps=200, thin=10)

# %%
random_state, w = torch.random.get_rng_state(), warm.w.clone()
q = metropolis(warm, prior, seed=0, **short)
fv.expect(isinstance(q, fv.Posterior) and q.center.shape == (net.dim,), "it is a posterior")
again, another = (metropolis(warm, prior, seed=s, **short).W for s in (0, 1))
fv.expect(torch.equal(again, q.W) and not torch.equal(another, q.W), "the seed fixes the draws")

# %%
same = torch.equal(torch.random.get_rng_state(), random_state) and torch.equal(warm.w, w)
fv.expect(same, "nothing was touched")
W = q.sample(3, seed=1)
fv.expect(W.shape == (3, net.dim) and torch.equal(W[:2], q.sample(2, seed=1)), "draws go on")


# %%
def stop(done, total, label):  # as Ctrl-C in the middle
    if done == total // 2:
        raise KeyboardInterrupt


# %%
path = Path(tempfile.mkdtemp()) / "walk.safetensors"
with contextlib.suppress(KeyboardInterrupt):
    metropolis(warm, prior, seed=0, checkpoint=path, progress=stop, **short)
fv.expect(path.exists(), "the walk was saved")
resumed = metropolis(warm, prior, seed=0, checkpoint=path, **short)
fv.expect(torch.equal(resumed.W, q.W), "stopped and resumed: the same bits")

# %% [markdown]
# ## In the table of methods
#
# One line of the catalog says what the method is called and how it is drawn; one entry says how it is run:
# `plain` are its settings (`Tuned`) for networks without BatchNorm, `needs_prior` hands the prior to its fit,
# `warm_start` starts it at SGD's solution. The lab's menu and all figures read them; radii in `Tuned(..., tour=,
# lab=)` put it in the tour and the lab's first fits. In a clone the entry is in `flatviz/posteriors/entries.py`,
# and the line is in `flatviz/catalog.toml`; here we enter both by hand.

# %%
from flatviz.catalog import LOOKS, Look
from flatviz.posteriors.entries import Entry, Tuned, table

settings = dict(steps=400 if FAST else 4000, epsilon=0.01, thin=10, temperature=0.03)
entry = Entry(OfNetwork, Tuned(settings), needs_prior=True, warm_start=True)
LOOKS["metropolis"] = Look("metropolis", "Metropolis", "#8c564b", "solid", "diamond")
fv.METHODS.update(table([LOOKS["metropolis"]], {"metropolis": entry}))

# %%
from flatviz.families.members import Fitting

mine = Fitting(net, task, prior, seed=0).member("metropolis")
predictions = {"vi": fv.predict(net, start, task.test, 20, seed=1)}
predictions["metropolis"] = fv.predict(net, mine, task.test, 20, seed=1)

# %%
fv.plot_metrics(predictions)

# %% [markdown]
# *Figure: accuracy, NLL and ECE over the number of draws, for VI and for Metropolis, in the colours of the catalog.*
#
# In 906 dimensions a random walk explores little: its draws are neighbours, and twenty of them predict like one. That is what
# gradients are for ([chapter 07](07_sgld_dropout_ensembles.ipynb)), and what `diagnose_chains` would tell you.

# %%
gain = {name: float(p.scores["nll"][0] - p.scores["nll"][-1]) for name, p in predictions.items()}
print(f"NLL gained by averaging: VI {gain['vi']:.3f}, Metropolis {gain['metropolis']:.3f}")
spread = mine.W.std(0).mean() / start.std.mean()
print(f"width of the walk over VI's: {spread:.2f}")
fv.expect(spread < 1, "the walk is narrower than VI")

# %% [markdown]
# ## Your density, their methods
#
# A step asks for a gradient, not for a network. So the methods of flatviz run on any density $p$: `gradient_of` makes the gradient
# of $-\log p$ by autograd. Here $p$ is a banana, $w_1 \sim \mathcal{N}(0, 1)$ and $w_2 \sim \mathcal{N}(w_1^2, 1)$, with
# $E[w_2] = 1$. SGLD, four lines, with 2,000 chains side by side:

# %%
minus_log_p = lambda w: w[0] ** 2 / 2 + (w[1] - w[0] ** 2) ** 2 / 2
gradient = fv.training.gradient_of(minus_log_p)
source = torch.Generator().manual_seed(0)

# %%
sgld = fv.SGLD(lr=0.01, weight_decay=0)  # the density has its prior inside
state = sgld.init(torch.zeros(2000, 2))
for _ in range(1000):
    state, _ = sgld.update(state, gradient, None, (torch.randn(2000, 2, generator=source),))

# %%
print("means", state.w.mean(0).numpy().round(2), "exact 0 and 1")
fv.expect(state.w.mean(0), torch.tensor([0.0, 1.0]), atol=0.15)  # finite steps miss the tails

# %% [markdown]
# SA-BMA, six lines: the Gaussian of lowest loss even at the worst Gaussian within a ball of KL divergence.

# %%
around = fv.Gaussian(torch.zeros(2), torch.zeros(2))  # the prior
sabma = fv.SABMA(around, radius=0.5, lr=0.2, kl_weight=1.0)
state = sabma.init(around)
for step in range(300):
    state, record = sabma.update(state, gradient, None, around.noise(8, seed=step))

# %%
print(f"mean {state.mean.numpy().round(2)}, the ascent gains {record.sharpness:.2f} nats")
fv.expect(record.sharpness > 0, "the ascent raises the loss")

# %% [markdown]
# ## A flat-seeking version
#
# A method that takes gradients gets its F- version from one argument: call `ascended(gradient, w, batch, ascent)` where it takes
# its gradient, set `flat=True` in its line of the catalog, and the table has `f-<name>` as well. Metropolis takes no gradient,
# so it has none. `flatviz/posteriors/sgld.py` is the shortest example that does.

# %%
flat = [name for name in fv.METHODS if name.startswith("f-")]
print(len(flat), "flat-seeking versions:", ", ".join(flat))
fv.expect("f-sgld" in flat and "f-metropolis" not in flat, "SGLD has one, Metropolis has none")

# %% [markdown]
# ## From an empty file to green tests
#
# In a clone of flatviz (`pip install -e ".[test]"`):
#
# 1. put the class into `flatviz/posteriors/metropolis.py`, with a docstring that has a line for each field and a runnable example;
# 2. add its line to `flatviz/catalog.toml` and its entry to `flatviz/posteriors/entries.py`, as above;
# 3. say what each field must be: `epsilon: Positive`, a type of `flatviz/checks.py`;
# 4. name it in `flatviz/posteriors/__init__.pyi`, `from .metropolis import Metropolis as Metropolis`; say how far it is from an exact
#    posterior in `CASES` of `tests/every_method.py`;
# 5. run `python -m pytest tests/posteriors tests/test_touches_nothing.py`.
#
# The steps were carried out once in a copy: all conformance tests of the method are green. It is then in the
# lab's menu, in the reference, and in `flatviz run compare -p methods=metropolis`.
#
# ## Summary
#
# - A posterior is anything with `center` and `sample(n, seed=)`; `Gaussian`, `Draws` and `Mixture` are at hand.
# - Test it on a Gaussian first, on the promises second, on a network last.
# - One entry puts it everywhere. `CONTRIBUTING.md` counts the files that a new method touches.
#
# ## Exercises
#
# **1.** The proposals for the network are scaled by the prior's widths, $\epsilon \cdot \mathrm{std}_i$. Why not one width for all
# weights? And how does the share of accepted steps (`accepted` above) depend on $\epsilon$?
#
# <details><summary>Solution</summary>
#
# Widths of the prior differ by orders of magnitude: a step that is short for the head would leave a narrow prior at once, and
# never be accepted. The larger $\epsilon$, the fewer steps are accepted.
#
# </details>

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
walks = (
    walk(Metropolis(prior=wide, n=50, epsilon=e), bowl, torch.zeros(2), 500, seed=0)
    for e in (0.05, 1.0)
)
small, large = (torch.stack(list(states)) for states in walks)
fv.expect(accepted(small) > accepted(large), "short steps are accepted more often")

# %% [markdown]
# **2.** Why is the *second half* of the walk kept?
#
# <details><summary>Solution</summary>
#
# The start is not a draw from $\pi$. The chain forgets it only after a while; until then states are biased towards it.
#
# </details>

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
far = torch.stack(
    list(
        walk(Metropolis(prior=wide, n=50, epsilon=0.15), bowl, torch.full((2,), 5.0), 2000, seed=0)
    )
)
fv.expect(far[:50].mean() > far[1000:].mean() + 1, "the walk comes from far away")

# %% [markdown]
# **3.** Remove the prior from `log_target`. Which check of this notebook would notice, and how would you improve the check?
#
# <details><summary>Solution</summary>
#
# Not the Gaussian one: its prior was wide on purpose. Use a narrow prior there, with exact precision $50 h + 1/s^2$.
#
# </details>

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
narrow = fv.Gaussian(torch.zeros(2), torch.full((2,), 0.05).log())
states = torch.stack(
    list(walk(Metropolis(prior=narrow, n=50, epsilon=0.06), bowl, torch.zeros(2), 20000, seed=0))
)
fv.expect(states[500:].var(0), 1 / (50 * h + 400), rtol=0.2, by="the formula")

# %%
del fv.METHODS["metropolis"]  # leave the table as it was

# %% [markdown]
# ## References
#
# - Metropolis, Rosenbluth, Rosenbluth, Teller, Teller: Equation of state calculations by fast computing machines, Journal of
#   Chemical Physics 21, 1953, [doi 10.1063/1.1699114](https://doi.org/10.1063/1.1699114).
# - [posteriors](https://github.com/normal-computing/posteriors): a library in which one method is one file.
#
# **Back to** the [table of contents](contents.ipynb).
