# %% [markdown]
# # 00 · Does it pay to look for flat ground?
#
# You pitch a tent at night, by feel. One place is a narrow hollow: where you stand it is the lowest spot around, but a step
# aside you are on a slope. The other is a meadow, a little higher, and level for many steps. You cannot know exactly where
# the pegs will end up. Where do you sleep better?
#
# **You will learn** to
#
# - turn a trained network into a Bayesian one, with a prior that its former task left on the weights;
# - fit two posteriors to two examples a class: one that is good on average, one that is good even at its worst neighbour;
# - read three pictures: the loss surface under the draws, the sharpest curvatures, the scores of an ensemble;
# - ask the laboratory the question of the title, and doubt the answer of one seed.
#
# **Takes** ten minutes to read and a minute to run on a CPU.
#
# **Needs** nothing before it: the data ship with scikit-learn. Symbols are listed in [chapter A](A_notation.ipynb).

# %% tags=["parameters"]
FAST = False  # True shrinks the run: tests and a first look

# %%
import torch

import flatviz as fv
from flatviz.families.preparation import at_solution, without_source, worth_of_transfer

torch.set_num_threads(1)  # a second thread costs networks this small more than it brings

# %% [markdown]
# **Number to expect**: at radius 0 the flat posterior *is* the plain one, bit for bit. A cell below checks it.

# %%
place = torch.linspace(-6, 6, 241)
hollow, meadow = torch.exp(-(((place + 3) / 0.4) ** 2)), torch.exp(-(((place - 2) / 2.2) ** 4))
ground = fv.Curve(place, 1 - hollow - 0.85 * meadow, "place", "height")
fv.plot_curve(ground, barrier=False, title="Two places for a tent")

# %% [markdown]
# *Figure: a line of ground with two valleys. The left one is narrow and reaches height 0; the right one is wide and level,
# at height 0.15.*
#
# **Try** the meadow as deep as the hollow (`0.85` to `1`); a hollow ten times as wide (`0.4` to `4`); a hollow that nobody
# would find by feel (`0.4` to `0.02`, narrower than the points drawn are apart).
#
# The ground is the training loss $L(w)$, the place of the tent the weights $w$, the uncertainty about the pegs a
# **posterior** $q(w)$. Flat ground is a promise: where the weights are not known exactly, the loss is low all the same.
# Whether the promise is kept on data that nobody trained on is the question of this course.
#
# ## Step 1: a task with two examples a class
#
# The source task is plentiful: scans of handwritten digits, turned by 15 degrees. The target task has two upright digits
# of each class. Nearly everything else is for testing. The cell counts them: source, target ("train"), test.

# %%
task = fv.datasets.digits_transfer(shots=2, degrees=15, seed=0)
len(task.source), len(task.train), len(task.test)

# %% [markdown]
# ## Step 2: a network is a vector
#
# `pretrain` trains all weights on the source. The result is a `Net`: a function of one flat weight vector `w`. Its line
# says how many weights there are (`dim`) and of which kind: those of normalisation layers ("norm") and the others.

# %%
source = fv.pretrain(fv.models.mlp(task), task.source, seed=0, epochs=8 if FAST else 60)
source

# %% [markdown]
# ## Step 3: what the source task leaves behind
#
# SWAG follows SGD around its solution and remembers where it went: a Gaussian over the weights
# ([chapter 05](05_swag.ipynb)). `transfer` keeps the normalisation layers and a fresh head, freezes the rest, and
# returns the network as a function of those few weights, with the Gaussian as their **prior** $p(w)$. `scale` widens
# it: a narrow prior hides what we want to see. `head_std` is the prior's standard deviation for the fresh head, of which
# the source task knows nothing.

# %%
swag = fv.fit(source, task.source, fv.SWAG(rank=5), seed=0)
net, prior = fv.transfer(source, swag, treated="norm+head", head_std=0.3, scale=64)
net

# %% [markdown]
# ## Step 4: two posteriors
#
# Variational inference looks for the Gaussian $q$ that is good on average and not far from the prior:
#
# $$ \min_q \; \mathbb{E}_{w \sim q}[L(w)] + \frac{T}{N}\, \mathrm{KL}(q \,\|\, p). $$
#
# SA-BMA asks for more: good even at the worst Gaussian $q'$ within a radius $\gamma$ of it,
#
# $$ \min_q \max_{\mathrm{KL}(q' \| q) \le \gamma^2/2} \; \mathbb{E}_{w \sim q'}[L(w)] + \frac{T}{N}\, \mathrm{KL}(q \,\|\, p). $$
#
# Here $N = 20$ is the number of target examples, and $\mathrm{KL}(q \,\|\, p) = \mathbb{E}_q \log \frac{q}{p}$, the
# Kullback-Leibler divergence, says how far $q$ is from $p$: it is 0 for $q = p$ alone. Of two Gaussians of the same shape
# it is half their squared distance, counted in standard deviations; so the ball $\mathrm{KL} \le \gamma^2 / 2$ holds all
# whose means are no farther than $\gamma$.
#
# In code $T$ is `kl_weight`, $\gamma$ is `radius`. What a call leaves out (steps, rates, $T$) has the course's setting for a
# network of this kind, the same in every chapter. [Chapter 06](06_vi_and_laplace.ipynb) derives the first,
# [chapter 08](08_from_sam_to_sabma.ipynb) the second.

# %%
settings = dict(steps=20) if FAST else {}
vi = fv.fit(net, task.train, fv.VI(prior), seed=0, **settings)
flat = fv.fit(net, task.train, fv.SABMA(prior, radius=2.0), seed=0, **settings)

# %% [markdown]
# **An exact answer to check against.** In a ball of radius 0 there is one Gaussian, $q$ itself: the second line is then the
# first. Not nearly: every bit is the same.

# %%
zero = fv.fit(net, task.train, fv.SABMA(prior, radius=0.0), seed=0, **settings)
same = torch.equal(zero.mean, vi.mean) and torch.equal(zero.log_std, vi.log_std)
fv.expect(same, "radius 0 is VI, bit for bit")

# %% [markdown]
# ## Step 5: the ground under the draws
#
# A draw from $q$ is a network. The plane is the one in which draws of both posteriors vary most; its axes say how much of
# that they show. A marker's place is the draw's **shadow** on the plane: the point of the plane that is nearest to it.
# **Predict first**: are the shadows of a posterior with hundreds of weights near their networks? The answer is folded below
# the figure.

# %%
plane = fv.plane_pca(torch.cat([vi.sample(30, seed=1), flat.sample(30, seed=1)]))
f = fv.nll(net, task.train)
surface = fv.slice_plane(f, plane, resolution=11 if FAST else 41)
shadows = {
    name: fv.project(q.sample(30, seed=1), plane, f) for name, q in [("vi", vi), ("sabma", flat)]
}
fv.plot_surface(surface, shadows["sabma"], method="sabma", reference={"vi": shadows["vi"]})

# %% [markdown]
# *Figure: contours of the training loss over the plane. Round markers are draws of SA-BMA, crosses are draws of VI, beside
# them. The ring around a marker shows the loss of the draw itself; a larger marker is farther from the plane.*
#
# **Try**, in step 4, `radius=4.0` or `radius=0.5`, then the cells from there to here; or another plane: the draws of VI alone,
# `fv.plane_pca(vi.sample(30, seed=1))`.
#
# <details><summary>What one sees</summary>
#
# They are not: a draw is mostly off the plane, and its loss (the ring) differs from the loss of the plane beneath it.
# Every plane through many dimensions hides more than it shows. [Chapter 02](02_slicing_a_loss_surface.ipynb) is about
# that.
#
# </details>
#
# ## Step 6: how sharp is it?
#
# The Hessian is the matrix of the loss's second derivatives. Its largest eigenvalues
# ([chapter 03](03_curvature.ipynb)) say how fast the loss rises around a draw in the steepest directions. Lower is
# flatter. Here they are for five draws of each posterior.

# %%
spectra = {
    name: [fv.top_eigenpairs(f, w, k=5) for w in q.sample(5, seed=1)]
    for name, q in [("vi", vi), ("sabma", flat)]
}
mean = {name: sum(s.values for s in found) / len(found) for name, found in spectra.items()}
if not FAST:
    fv.expect(bool((mean["vi"] > mean["sabma"]).all()), "SA-BMA is lower in all five")
fv.plot_spectrum(spectra["sabma"], method="sabma", reference={"vi": spectra["vi"]})

# %% [markdown]
# *Figure: five columns, the largest eigenvalue at the left. A marker for each draw of SA-BMA and a solid line through
# their means; a dashed line through the means of VI lies above it.*
#
# **Try** `radius=0.5`: the lines come closer, and need not keep their order. Or other draws, `q.sample(5, seed=2)`; or ten
# eigenvalues, `k=10`.
#
# ## Step 7: what is it worth?
#
# A Bayesian network answers with the average of the probabilities of several draws. It is judged on test digits by the
# **accuracy**; by the **NLL**, the mean of $-\log$ of the probability that it gave to the right digit, in nats, lower is
# better; and by the **ECE**, the expected calibration error: of answers given with 80 % confidence 80 % should be right,
# and ECE is the mean gap between the two. Against the number of draws that are averaged:

# %%
predictions = {
    name: fv.predict(net, q, task.test, 30, seed=2) for name, q in [("vi", vi), ("sabma", flat)]
}
fv.plot_metrics(predictions)

# %% [markdown]
# *Figure: accuracy, NLL and ECE, one below the other, against the number of draws averaged; a dashed line for VI, a solid
# one for SA-BMA. The bands around the accuracies show the sampling noise of a test set of this size: they overlap.*
#
# **Try** other draws (`seed=2` to `seed=3`): how far do the curves move by chance alone? Or a hundred of them (`30` to `100`).
#
# Flatter by the eigenvalues, and yet not better by the scores. Is that so at every radius?
#
# **And the source, was it worth anything?** Two predictors that never saw it: logistic regression on the 64 pixels, and the
# same network trained on the twenty upright digits from a random start. The sentence below is made by a rule, from the
# difference in accuracy on the test digits and its interval.

# %%
alone = {
    name: at_solution(other, task.test) for name, other in without_source(task, seed=0).items()
}
for name, p in ({"VI after transfer": predictions["vi"]} | alone).items():
    print(
        f"{name:20} accuracy {float(p.scores['accuracy'][-1]):.3f}, NLL {float(p.scores['nll'][-1]):.3f}"
    )
print(worth_of_transfer(predictions["vi"], alone))

# %% [markdown]
# Of nine such tasks this is the one on which the experiment `flatviz run tasks` found the source of most use. A source can also
# stand in the way: of digits that lie on their side, turned by 90 degrees, a network learns features for lying digits. The next
# chapters use that task, with ten digits a class: its loss has more structure to look at
# ([chapter 11](11_transfer_and_shift.ipynb) compares the two).
#
# ## Now you: the laboratory
#
# The pictures above, and more, for three methods and several radii. A rough picture stands there after some seconds, the
# whole after some 20, and a bar says what is being fitted and how long it takes. **Predict first**, then move a slider.
#
# 1. Does a larger **radius** always give flatter ground?
# 2. Does flatter ground always give better scores?
# 3. How large must the **ensemble** be until more draws change nothing?
#
# Choose the method SA-BMA for the first two, and the tabs *Flatness* and *Scores*. A radius that nobody has fitted yet
# is fitted while you wait; until then you see a preview of a few steps.

# %%
lab = fv.lab(net, task, prior=prior, fit=dict(steps=20) if FAST else None)
lab

# %% [markdown]
# <details><summary>What one sees</summary>
#
# 1. Here, yes. The largest eigenvalue is about 1.8 at radius 0, 1.3 at radius 1 and 0.6 at radius 4, a mean over five draws of one
#    fit. Over forty seeds it is lower too; most of that a lower temperature of VI does as well ([frontier](experiments/frontier.ipynb)).
# 2. No. Up to radius 4 the NLL of thirty draws moves by less than a hundredth, and the accuracy stays within a point: the ground
#    gets flatter, the answers do not get better.
# 3. About five: from there on the curves move less than the band around them is wide.
#
# </details>
#
# ## Summary
#
# - A network is a vector; a Bayesian network is a distribution over vectors, and predicts with the average of draws.
# - SA-BMA minimises the loss at the worst posterior in a KL ball; radius 0 is variational inference, bit for bit.
# - Flatness (eigenvalues on the training loss) and worth (scores on test data) are two questions with two answers.
# - One seed is an anecdote. `flatviz run frontier` repeats the comparison over many seeds and says what differs by more than noise.
#
# ## Exercises
#
# Each has a solution in words, folded behind the triangle, and one in code, folded behind the three dots below it.
#
# **1.** How far apart are two draws of the same posterior, compared with their distance from its mean? (Way in: what is
# the covariance of the difference of two independent draws?)
#
# <details><summary>Solution</summary>
#
# Two independent draws differ by a Gaussian of twice the covariance, so their squared distance is on average twice that
# of a draw from the mean: they are $\sqrt 2$ times as far apart. In many dimensions the ratio hardly varies.
#
# </details>

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
W = vi.sample(400, seed=3)
from_mean, apart = (W - vi.mean).norm(dim=1), (W[:200] - W[200:]).norm(dim=1)
fv.expect(apart.square().mean() / from_mean.square().mean(), 2, rtol=0.1)  # 200 pairs

# %% [markdown]
# **2.** Does averaging ever hurt the NLL, compared with the average NLL of single draws?
#
# <details><summary>Solution</summary>
#
# Never: $-\log$ is convex, so by Jensen's inequality $-\log \frac1M \sum_m p_m \le \frac1M \sum_m -\log p_m$ for every
# input, and so for their mean. Accuracy and ECE have no such law.
#
# </details>

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
p = predictions["sabma"]
single = torch.nn.functional.cross_entropy(p.outputs.flatten(0, 1), p.y.repeat(len(p.outputs)))
fv.expect(bool(p.scores["nll"][-1] <= single + 1e-6), "the average of draws has the lower NLL")

# %% [markdown]
# **3.** Fit `mode="sam_mu"`, `radius=0.2`: SAM on the mean, a Euclidean radius. Where do its eigenvalues lie beside VI's? And those of
# `mode="authors_code"`, what the released code of the paper does?
#
# <details><summary>Solution</summary>
#
# Run the cell and read its lines; then look at what many seeds say in [chapter B](B_expected_numbers.ipynb) before you
# believe one seed. The released code's perturbation follows the score of the draw, not the gradient of the loss
# ([chapter 08](08_from_sam_to_sabma.ipynb)).
#
# </details>

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
for mode, radius in [("sam_mu", 0.2), ("authors_code", 0.5)]:
    other = fv.fit(
        net,
        task.train,
        fv.SABMA(prior, radius=radius, perturbation=fv.Perturbation(mode)),
        seed=0,
        **settings,
    )
    print(
        mode,
        [round(float(fv.top_eigenpairs(f, w, k=1).values[0]), 2) for w in other.sample(3, seed=1)],
    )

# %% [markdown]
# ## References
#
# - Lim et al.: Flat posterior does matter for Bayesian model averaging, 2024, [arXiv 2406.15664](https://arxiv.org/abs/2406.15664).
# - Maddox et al.: A simple baseline for Bayesian uncertainty in deep learning, 2019, [arXiv 1902.02476](https://arxiv.org/abs/1902.02476).
#
# **Next**: [chapter 01](01_network_is_a_vector.ipynb) takes the word "vector" seriously.
