# %% [markdown]
# # Tour: from a pre-trained network to a flat posterior
#
# **You will** turn a trained network into a Bayesian one, fit a flat posterior to it with SA-BMA, and see on the loss
# surface what the perturbation radius and the ensemble size do.
#
# **Needs** nothing before it: the data ship with scikit-learn. **Takes** about ten minutes to read, a minute to run
# on a CPU.

# %% tags=["parameters"]
FAST = False  # True: a small run, whose numbers mean nothing

# %%
import torch

import flatviz as fv

torch.set_num_threads(1)  # a second thread costs networks this small more than it brings

# %% [markdown]
# ## A task that must be learned from ten examples a class
#
# The source task is plentiful: 700 scans of handwritten digits, all lying on their side. The target task has ten
# upright digits of each class. Everything else is for testing.

# %%
task = fv.datasets.digits_transfer(shots=10, seed=0)
len(task.source), len(task.train), len(task.test)

# %% [markdown]
# ## A network is a vector
#
# `pretrain` trains all weights on the source. The result is a `Net`: a function of one flat weight vector `w`.

# %%
source = fv.pretrain(fv.models.mlp(task), task.source, seed=0, epochs=8 if FAST else 60)
source

# %% [markdown]
# ## From a network to a posterior
#
# SWAG follows SGD around its solution and remembers where it went: a Gaussian over the weights. `transfer` keeps the
# normalisation layers and a fresh head, freezes the rest, and returns the network as a function of those few weights,
# with the prior that the source task left on them. `scale` widens that prior, for a narrow one hides what we want to see.

# %%
swag = fv.fit_swag(source, task.source, rank=5, seed=0)
net, prior = fv.transfer(source, swag, treated="norm+head", head_std=0.3, scale=64)
net

# %% [markdown]
# ## Two posteriors: VI, and SA-BMA
#
# Variational inference looks for a Gaussian that is good on average. SA-BMA asks for more: good even at the worst
# Gaussian within `radius` of it, a distance of √(2 KL). A radius of 0 is VI, bit for bit.

# %%
settings = dict(fv.METHODS["vi"].plain.settings, seed=0) | (dict(steps=20) if FAST else {})  # those of the tour
vi = fv.fit_vi(net, task.train, prior, **settings)
flat = fv.fit_sabma(net, task.train, prior, radius=2.0, **settings)

# %% [markdown]
# ## The surface under the samples
#
# The plane is the one in which draws of both posteriors vary most, and its axes say how much of that they show. A
# marker's place is the draw's shadow on the plane; its colour is the draw's own loss, for most of it lies outside.

# %%
plane = fv.plane_pca(torch.cat([vi.sample(30, seed=1), flat.sample(30, seed=1)]))
f = fv.nll(net, task.train)
surface = fv.slice_plane(f, plane, resolution=41)
fv.plot_surface(surface, fv.project(flat.sample(30, seed=1), plane, f))

# %% [markdown]
# ## How sharp is it?
#
# The largest eigenvalues of the Hessian say how fast the loss rises around a draw. Here they are for five draws of the
# flat posterior, with VI's mean beside them.

# %%
sharpness = {name: [fv.top_eigenpairs(f, w, k=5) for w in q.sample(5, seed=1)] for name, q in [("vi", vi), ("sabma", flat)]}
fv.plot_spectrum(sharpness["sabma"], method="sabma", reference={"vi": sharpness["vi"]})

# %% [markdown]
# ## What it is worth
#
# A Bayesian network answers with the average of several draws. On the test digits:

# %%
predictions = {name: fv.predict(net, q, task.test, 30, seed=2) for name, q in [("vi", vi), ("sabma", flat)]}
fv.plot_metrics(predictions)

# %% [markdown]
# ## Now you: the laboratory
#
# Predict first, then move a slider. Does a larger radius always give flatter ground? Does flatter ground always give
# better scores? How many draws until more of them change nothing? A radius that nobody fitted yet is fitted while you wait.

# %%
lab = fv.FlatnessLab(net, task, prior, fit=dict(steps=20) if FAST else None)
lab

# %% [markdown]
# ## Exercises
#
# 1. Fit `mode="sam_mu"` with `radius=0.2`: SAM on the mean, a Euclidean radius. Is its largest eigenvalue lower than VI's?
# 2. Fit `mode="authors_code"`, what the released code of the paper does: along the score of the draw, not the gradient
#    of the loss. Where do its eigenvalues lie?
#
# <details><summary>Solution</summary>
#
# ```python
# for mode, radius in [("sam_mu", 0.2), ("authors_code", 0.5)]:
#     q = fv.fit_sabma(net, task.train, prior, radius=radius, mode=mode, **settings)
#     print(mode, [float(fv.top_eigenpairs(f, w, k=1).values[0]) for w in q.sample(5, seed=1)])
# ```
#
# `flatviz evidence` does this for several seeds and prints intervals: read it before you believe one seed.
#
# </details>
