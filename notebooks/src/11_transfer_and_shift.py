# %% [markdown]
# # 11 · What is a posterior worth with ten examples, on images nobody trained on?
#
# Who speaks four languages learns the fifth from a few pages. Not because those pages say more to her, but because she expects
# the right things: verbs, cases, word order. What she expects is a *prior*, and it was learned on other languages.
#
# And the first thick accent that she hears is a *shift*: the language is the same, the sound is not. A good listener knows when
# she did not understand.
#
# **You will learn** to
#
# - carry a network and a prior from a source task to a target task with few examples;
# - show that a prior is worth examples, with a closed formula and with a network;
# - measure accuracy, NLL and calibration on corrupted images, and draw them by severity;
# - read a comparison that is paired, matched in cost and corrected, and say what it does not show.
#
# **Takes** 40 minutes to read and a minute to run on a CPU; results over many seeds are loaded.
#
# **Needs** chapters [05](05_swag.ipynb), [06](06_vi_and_laplace.ipynb) and [08](08_from_sam_to_sabma.ipynb).

# %% tags=["parameters"]
FAST = False  # True shrinks the run: tests and a first look

# %%
import ipywidgets
import torch

# %%
import flatviz as fv
from flatviz.experiments import at, read_table
from flatviz.families.preparation import at_solution, without_source, worth_of_transfer
from flatviz.families.tour import prepare
from flatviz.plots.theme import figure
from flatviz.results import interval

# %%
torch.set_num_threads(1)
generator = torch.Generator().manual_seed(0)

# %% [markdown]
# **Number to expect**: in a linear model, a prior that is as sure as $k$ examples is worth $k$ examples, exactly. A cell below
# checks it.

# %% [markdown]
# ## A prior is worth examples
#
# One weight, $y = w + \text{noise}$, noise of variance $\sigma^2$, prior $w \sim N(w_0, \tau^2)$. After $n$ examples with mean
# $\bar y$ the negative logarithm of the posterior is, up to a constant,
#
# $$ E(w) = \frac{n}{2\sigma^2}(w - \bar y)^2 + \frac{1}{2\tau^2}(w - w_0)^2 . $$
#
# It is quadratic in $w$, so the posterior is Gaussian. Its precision (one over the variance) is the second derivative, its
# mean is where the first one vanishes:
#
# $$ E'' = \frac{n}{\sigma^2} + \frac{1}{\tau^2}, \qquad E' = 0 \text{ at }
#    w = \frac{n \bar y + k\, w_0}{n + k}, \qquad k = \frac{\sigma^2}{\tau^2} . $$
#
# **Read it**: the prior acts like $k$ more examples, all of them at $w_0$. A prior that is right is worth $k$ examples; one
# that is wrong costs as many to forget.

# With $\sigma = 1$ and $\tau = 0.5$ that is $k = 4$. In code, once with the examples and the prior on a grid of $w$, and once as
# the plain mean of five examples and four copies of $w_0$:

# %%
sigma, tau, w0, n = 1.0, 0.5, 0.8, 5
y = 1.0 + sigma * torch.randn(n, generator=generator)
k = sigma**2 / tau**2
as_examples = torch.cat([y, torch.full((int(k),), w0)])  # k = 4 examples at w0

# %%
log_posterior = lambda w: -0.5 * ((y - w) ** 2).sum() / sigma**2 - 0.5 * (w - w0) ** 2 / tau**2
grid = torch.linspace(-2, 3, 5001)

# %%
mean = (torch.stack([log_posterior(w) for w in grid]).softmax(0) * grid).sum()
fv.expect(mean, as_examples.mean(), atol=1e-3, by="the plain mean")
fv.expect(mean, (n * y.mean() + k * w0) / (n + k), atol=1e-3, by="the formula")
print(
    f"posterior mean {mean:.4f}, mean of {n} examples and {k:.0f} at the prior {as_examples.mean():.4f}"
)

# %% [markdown]
# ## The course's transfer task
#
# The **source**: 700 digits that lie on their side. The **target**: ten upright digits a class. A network learns the source,
# SWAG ([chapter 05](05_swag.ipynb)) says where its weights wandered, and `transfer` keeps, of network and prior, what the target
# shall learn: normalisation layers and a fresh head. `prepare` does the three steps.

# %%
net, task, prior = prepare(task=fv.datasets.digits_transfer(), epochs=5 if FAST else 60)
print(task)
print(net)


# %%
def in_a_row(images):
    """Digits (n, 64) beside each other, a blank column behind each: (8, 9 n)."""
    return torch.cat(
        [torch.nn.functional.pad(image, (0, 1)) for image in images.reshape(-1, 8, 8)], 1
    )


# %%
def pictures(rows, title, alt, height=220):
    fig = figure(title, alt, height=height, margin=dict(l=10, r=10, t=50, b=10))
    fig.add_heatmap(z=rows.flip(0), colorscale="Greys", showscale=False, hoverinfo="skip")
    fig.update_xaxes(visible=False, constrain="domain")
    return fig.update_yaxes(visible=False, constrain="domain", scaleanchor="x")


# %%
upright = task.train.x[::10][:5]  # ten of each class stand one behind the other
rows = torch.cat([in_a_row(task.source.x[:5]), torch.zeros(2, 45), in_a_row(upright)])
pictures(
    rows,
    "Source above, target below",
    "Five digits on their side above, upright 0, 1, 2, 3 and 4 below",
    height=300,
)

# %% [markdown]
# *Figure: five digits on their side in the upper row; an upright 0, 1, 2, 3 and 4 in the lower.*
#
# ## Is the source worth anything?
#
# **Predict first**: ten examples a class, the same 906 weights treated. How much accuracy does pre-training bring over a
# network with random weights? (`restrict` chooses the treated weights of a network, as `transfer` does.)

# %%
settings = dict(steps=20) if FAST else {}
blank = fv.Net.from_module(fv.models.mlp(task, seed=0)).restrict("norm+head")
blank_prior = fv.Gaussian(blank.w, prior.log_std)  # as wide, but around random weights


# %%
def accuracy(net, q):
    return float(fv.predict(net, q, task.test, 30, seed=1).scores["accuracy"][-1])


# %%
vi = fv.fit(net, task.train, fv.VI(prior), seed=0, **settings)
without = fv.fit(blank, task.train, fv.VI(blank_prior), seed=0, **settings)
with_source, from_nothing = accuracy(net, vi), accuracy(blank, without)
print(f"with the source {with_source:.3f}, without {from_nothing:.3f}")

# %% [markdown]
# Were you surprised? Random features that are *not* tuned to lying digits can serve upright ones as well as learned features
# do, or better. The fair opponents are stronger still: logistic regression on the 64 pixels, and the network with *all* its
# weights trained on the hundred upright digits.

# %%
alone = {
    name: at_solution(other, task.test) for name, other in without_source(task, seed=0).items()
}
print(worth_of_transfer(fv.predict(net, vi, task.test, 30, seed=1), alone))

# %% [markdown]
# ### Where a source helps
#
# On one seed and one task nothing is proved. The experiment `flatviz run tasks` has twenty seeds of nine tasks: the source turned
# by 15, 30 or 90 degrees, and 2, 5 or 10 digits a class. VI after transfer against the more accurate of the two without the
# source, seed by seed; **helps** or **harms** where the 95 % interval of the difference is on one side of 0:

# %%
results = read_table("tasks")


def worth(name):
    """VI's accuracy less that of the better one without the source: mean, half of its interval, and the name of that one."""
    right = {
        m: at(results, setting=name, method=m)["accuracy"] for m in ("vi", "logistic", "scratch")
    }
    best = max(("logistic", "scratch"), key=lambda m: right[m].mean())
    return *interval(100 * torch.tensor((right["vi"] - right[best]).to_numpy())), best


# %%
for name in results.setting[~results.setting.str.contains(", T ")].unique():
    gain, half, best = worth(name)
    word = "helps" if gain > half else "harms" if -gain > half else "makes no clear difference"
    print(f"{name:21} transfer {word}: {gain:+.1f} ± {half:.1f} points against {best}")

# %% [markdown]
# A prior is worth examples where it is right, and costs examples where it is wrong: the story of the formula above, with a
# network. `fv.datasets.named_task("digits-near")` is the task with 15 degrees and 2 digits a class.

# %% [markdown]
# ### The loss surface before and after
#
# SA-BMA starts at the prior that the source left. **Predict first**: where do draws lie on the target's training loss before, and
# where after it was fitted? The plane is the one in which draws of both vary most; both pictures share it and its colours.

# %%
flat = fv.fit(net, task.train, fv.SABMA(prior, radius=2.0), seed=0, **settings)
draws = {
    "Before: draws of the prior": prior.sample(30, seed=1),
    "After: draws of SA-BMA, radius 2": flat.sample(30, seed=1),
}
plane, L = fv.plane_pca(torch.cat(list(draws.values()))), fv.nll(net, task.train)
surface = fv.slice_plane(L, plane, resolution=11 if FAST else 41)

# %%
before, after = (
    fv.plot_surface(surface, fv.project(W, plane, L), title=title) for title, W in draws.items()
)
before

# %%
after

# %%
for name, W in draws.items():
    sharp = torch.stack([fv.top_eigenpairs(L, w, 1, seed=0).values[0] for w in W[:5]])
    print(
        f"{name:34} training loss {L.many(W).mean():.2f}, λ1 {sharp.mean():.2f} (mean over draws, of λ1 over five)"
    )

# %% [markdown]
# *Figure: contours of the target's training loss; markers are thirty draws, above of the prior, below of SA-BMA's posterior on it. A ring
# shows a draw's own loss: where it differs from the ground below it, the draw lies off the plane.*

# %% [markdown]
# ## Shift: images that nobody trained on
#
# `corrupt` has ten corruptions of noise, blur, weather, contrast and place, at severities 1 to 5. **Live.** Choose a
# corruption, move the severity, and look at what the network must read. **Predict first**: which one will you read worst?

# %%
kinds = sorted(fv.datasets.CORRUPTIONS)


# %%
def corrupted(kind, severity):
    ten = fv.datasets.corrupt(task.test.subset(torch.arange(10)), kind, severity, seed=0)
    title = f"{kind.replace('_', ' ')}, severity {severity}"
    return pictures(in_a_row(ten.x), title, f"Ten digits in a row after {title}")


# %%
_ = ipywidgets.interact(corrupted, kind=kinds, severity=(1, 5))

# %% [markdown]
# *Figure: ten digits in a row, changed by the chosen corruption.*
#
# ### Scores by severity
#
# Mean over four corruptions, one of each family, at severities 1, 3 and 5; a line a method: SGD's single network, VI, and SA-BMA
# at radius 2.

# %%
sgd = fv.fit(net, task.train, fv.SGD(), seed=0)
posteriors = {"sgd": (sgd, 1), "vi": (vi, 30), "sabma": (flat, 30)}
few = dict(kinds=["gaussian_noise", "fog"], severities=[3]) if FAST else {}

# %%
shifts = {
    m: fv.families.shifted_scores(net, q, task.test, seed=1, n_draws=n, **few)
    for m, (q, n) in posteriors.items()
}
fv.plots.plot_severity(shifts)

# %% [markdown]
# *Figure: accuracy, NLL and ECE over the severity of the corruption, a line for each method. NLL rises with severity, at first more
# slowly for the averages; at severity 5 their lines cross SGD's.*
#
# **The averages are not the better ones everywhere.** At severity 5 VI and SA-BMA have an NLL of about 5.6, the single network one of
# 4.3, at nearly the same accuracy. The next cell shows where that comes from: on noise and blur VI is still the better one, but of
# coarse pixels its NLL is twice SGD's. There its draws have larger outputs than SGD's network, and they agree: none of them gives the
# right class a chance, and an average cannot repair what all its members share.

# %%
for k, kind in enumerate(next(iter(shifts.values())).kinds):
    worst_of = {m: float(s.scores["nll"][k, -1]) for m, s in shifts.items()}
    print(f"{kind:15}", ", ".join(f"{m} {v:.2f}" for m, v in worst_of.items()))
if not FAST:
    fv.expect(worst_of["vi"] > 1.5 * worst_of["sgd"], "of coarse pixels VI is far worse than SGD")

# %% [markdown]
# **Try** `severities=[5]` with `kinds=["translate", "fog", "gaussian_noise"]`; the draws of the prior for a posterior; VI at a
# warmer `kl_weight=0.3`: does it know more often that it does not know?
#
# ## Knowing when one is wrong
#
# Sort the test images by confidence (the largest probability) and answer only the surest share, the *coverage*. The share of
# mistakes among those answered, the *risk*, over the coverage is the **risk-coverage** curve.

# %%
risks = {
    m: fv.metrics.risk_coverage(fv.predict(net, q, task.test, n, seed=1))
    for m, (q, n) in posteriors.items()
}
fv.plots.plot_risk_coverage(risks)

# %% [markdown]
# *Figure: the share of mistakes over the share of images answered; each curve rises from near 0 to the error rate.*
#
# At coverage 1 everything is answered, so the curve must end at the error rate:

# %%
for method, (q, n) in posteriors.items():
    right = fv.predict(net, q, task.test, n, seed=1).scores["accuracy"][-1]
    fv.expect(risks[method][-1], 1 - right, atol=1e-4, by="the error rate")
    print(
        f"{fv.METHODS[method].label:10} error rate {1 - right:.3f}, area under the curve {risks[method].mean():.3f}"
    )

# %% [markdown]
# Compare the two pictures: a method can have the better NLL and calibration on corrupted images, and still the worse curve
# here, where only the *order* of the confidences counts, and the number of mistakes.
#
# ## Many seeds: what holds?
#
# One seed is an anecdote. The experiment `flatviz run frontier` repeated split, network, prior and noise for many seeds. Its values come
# with flatviz; here they are compared by hand, paired seed by seed, on the task of this chapter at its temperature, 0.03.
# `lambda1` is the largest Hessian eigenvalue of the training loss, `shifted_nll` the NLL on corrupted digits; of all but the
# accuracy less is better.

# %%
table = read_table("frontier")  # one row a fit and quantity


# %%
def of(method, radius, T, quantity):
    """A value a seed."""
    cell = at(table, setting="digits", method=method, radius=radius, T=T, knob=1.0, restart=0)
    return torch.tensor(cell[quantity].to_numpy())


# %%
for quantity in ("train", "lambda1", "nll", "accuracy", "ece", "shifted_nll"):
    difference = of("sabma", 1.0, 0.03, quantity) - of("vi", 0.0, 0.03, quantity)
    mean, half = interval(difference)
    print(f"SA-BMA (radius 1) less VI, T = 0.03, {quantity:11s} {mean:+.4f} ± {half:.4f}")

# %% [markdown]
# A lower training loss alone changes scores, and a lower temperature of VI gives one. So compare with a **colder** VI too:

# %%
for quantity in ("train", "lambda1", "nll", "accuracy", "ece", "shifted_nll"):
    difference = of("sabma", 1.0, 0.03, quantity) - of("vi", 0.0, 0.02, quantity)
    mean, half = interval(difference)
    print(
        f"SA-BMA (radius 1, T = 0.03) less VI at T = 0.02, {quantity:11s} {mean:+.4f} ± {half:.4f}"
    )

# %% [markdown]
# An interval that contains 0 leaves the question open. Which of your sentences from the single seed above survive?
#
# Many intervals are many chances to be wrong ([chapter 10](10_flatness_and_averaging.ipynb)): `flatviz run frontier` prints the full
# table, at equal training loss and equal KL too, with verdicts corrected for the number of claims. `flatviz run transfer` asks the
# same of a ResNet on real images: pre-train on some classes, ten images a class of the others, corrupted test images.
#
# **Why paired?** A hard split is hard for both methods. In the difference, seed by seed, what the seeds share drops out:

# %%
sabma, vi_nll = of("sabma", 1.0, 0.03, "nll"), of("vi", 0.0, 0.03, "nll")
paired, unpaired = sabma - vi_nll, (sabma.var() + vi_nll.var()).sqrt()
fv.expect(paired.std() < unpaired, "pairing removes what seeds share")
print(
    f"standard deviation of the difference: paired {paired.std():.4f}, as if unpaired {unpaired:.4f}"
)

# %% [markdown]
# ## Summary
#
# - A prior acts like $\sigma^2/\tau^2$ more examples; a source task makes one.
# - `transfer` keeps of network and prior what the target shall learn.
# - Corrupted images show what clean ones hide; risk-coverage shows whether a method knows when it is wrong.
# - Differences are paired, at equal temperature *and* at equal training loss, with intervals.
#
# ## Exercises
#
# **1.** In the linear model, how many examples does it take until a wrong prior ($w_0 = 0.8$ where the truth is 1, $k = 4$) costs
# less than 0.01 in the mean, for noise-free examples? (Put $\bar y = 1$ into the formula for the mean.)
#
# <details><summary>Solution</summary>
#
# The mean is $(n + 4 \cdot 0.8)/(n + 4)$; its error $0.8/(n+4) < 0.01$ needs $n > 76$.
#
# </details>

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
error = lambda n: abs((n * 1.0 + 4 * 0.8) / (n + 4) - 1)
fv.expect(error(76) >= 0.01 - 1e-12 > error(77), "more than 76")

# %% [markdown]
# **2.** Which of the ten corruptions hurts VI's NLL most at severity 3? (`shifted_scores` takes `kinds=` and `severities=`.)
#
# <details><summary>Solution</summary>
#
# Call `shifted_scores` once with all kinds and look for the largest NLL; see the cell. On 8 × 8 digits it is one of those that
# move ink or cover it.
#
# </details>

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
some = kinds[:3] if FAST else kinds
hurt = fv.families.shifted_scores(
    net, vi, task.test, seed=1, kinds=some, severities=[3], n_draws=10
).scores["nll"][:, -1]
worst = some[int(hurt.argmax())]
print(worst, f"{hurt.max():.2f} nats")

# %% [markdown]
# **3.** Why is the validation split of this course as small as the training split?
#
# <details><summary>Solution</summary>
#
# Who has ten labelled images a class has no five thousand to choose settings on. With a large validation split a comparison of
# few-shot methods is one of methods that saw many labels.
#
# </details>

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
fv.expect(len(task.validation), len(task.train), rtol=0, by="the training split")

# %% [markdown]
# **4.** `digits_transfer(degrees=...)` turns the source by another angle. Compare 0 degrees with the 90 of this chapter.
#
# <details><summary>Solution</summary>
#
# The nearer the source, the more it is worth: at 0 degrees the target is more of the same task.
#
# </details>

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
near_net, near_task, near_prior = prepare(
    task=fv.datasets.digits_transfer(degrees=0.0), epochs=5 if FAST else 60
)
near = fv.fit(near_net, near_task.train, fv.VI(near_prior), seed=0, **settings)
scores = fv.predict(near_net, near, near_task.test, 30, seed=1).scores
print(
    f"source at 0 degrees {float(scores['accuracy'][-1]):.3f}, at 90 {with_source:.3f}, none {from_nothing:.3f}"
)
if not FAST:
    fv.expect(scores["accuracy"][-1] > with_source, "the nearer source is worth more")

# %% [markdown]
# ## References
#
# - Lim et al.: Flat posterior does matter for Bayesian model averaging, 2024, [arXiv 2406.15664](https://arxiv.org/abs/2406.15664).
# - Hendrycks, Dietterich: Benchmarking neural network robustness to common corruptions and perturbations, 2019,
#   [arXiv 1903.12261](https://arxiv.org/abs/1903.12261).
# - Krishnan, Subedar, Tickoo: Specifying weight priors in Bayesian deep neural networks with empirical Bayes, 2020,
#   [arXiv 1906.05323](https://arxiv.org/abs/1906.05323). MOPED.
#
# **Next**: [chapter 12](12_symmetries.ipynb) asks how many networks are the same network.
