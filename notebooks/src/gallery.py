# %% [markdown]
# # Gallery: every picture, and the lines that draw it
#
# **You will** find a picture and copy its lines. **Needs** [chapter 01](01_network_is_a_vector.ipynb). **Takes** ten minutes to
# look through, half a minute to run on a CPU.
#
# The pictures show the digits network of the course with two posteriors, VI and SA-BMA at radius 1. A plot takes one result,
# or results by method; the cell above it computes the result.
# `fig.layout.meta["alt"]` describes each figure in words, for readers who cannot see it.

# %% tags=["parameters"]
FAST = False  # True shrinks the run: tests and a first look

# %%
import torch

import flatviz as fv
from flatviz.families.tour import prepare

torch.set_num_threads(1)

# %%
net, task, prior = prepare(task=fv.datasets.digits_transfer(), epochs=8 if FAST else 60)
f, side = fv.nll(net, task.train), 11 if FAST else 41
steps = dict(steps=20) if FAST else {}

# %%
vi = fv.fit(net, task.train, fv.VI(prior), seed=0, **steps)
flat = fv.fit(net, task.train, fv.SABMA(prior, radius=1.0), seed=0, **steps)
W = flat.sample(10, seed=1)

# %% [markdown]
# ## plot_surface
#
# The loss on a plane, and draws on it.

# %%
plane = fv.plane_pca(W)
surface = fv.slice_plane(f, plane, resolution=side)
projection = fv.project(W, plane, f)
fv.plot_surface(surface, projection)

# %% [markdown]
# ## plot_surface_3d
#
# The same as a relief.

# %%
fv.plots.plot_surface_3d(surface, projection)

# %% [markdown]
# ## plot_basin
#
# The rise of the loss above the centre, on a separate scale.

# %%
around = fv.plane_random(net, flat.center, seed=0)
fv.plots.plot_basin(fv.slice_plane(f, around, resolution=side))

# %% [markdown]
# ## plot_projection
#
# How far draws lie in a plane and off it.

# %%
fv.plot_projection(projection)

# %% [markdown]
# ## plot_curve
#
# The loss on the straight line from VI's centre to SA-BMA's.

# %%
fv.plot_curve(fv.slice_line(f, vi.center, flat.center, resolution=side))

# %% [markdown]
# ## plot_spectrum
#
# The largest eigenvalues of the Hessian, at draws of two posteriors.

# %%
spectra = {
    name: [fv.top_eigenpairs(f, w, k=5) for w in q.sample(3, seed=1)]
    for name, q in [("vi", vi), ("sabma", flat)]
}
fv.plot_spectrum(spectra["sabma"], method="sabma", reference={"vi": spectra["vi"]})

# %% [markdown]
# ## plot_density
#
# The whole spectrum of the Hessian as a density.

# %%
density = fv.spectral_density(f, flat.center, runs=2, steps=20 if FAST else 60, k=2)
fv.plot_density(density)

# %% [markdown]
# ## plot_sharpness
#
# Several measures of sharpness at once, relative to the first method.

# %%
sharp = {
    name: fv.sharpness(f, q.sample(3 if FAST else 10, seed=1), iters=10)
    for name, q in [("vi", vi), ("sabma", flat)]
}
fv.plots.plot_sharpness(sharp)

# %% [markdown]
# ## plot_metrics
#
# Scores against ensemble size.

# %%
predictions = {
    name: fv.predict(net, q, task.test, 10, seed=2) for name, q in [("vi", vi), ("sabma", flat)]
}
fv.plot_metrics(predictions)

# %% [markdown]
# ## plot_reliability
#
# How often predictions of a given confidence are right; of several, `plot_reliability(predictions)` draws a line each.

# %%
fv.plots.plot_reliability(predictions["sabma"], method="sabma")

# %% [markdown]
# ## plot_predictive
#
# A regression: its mean, the draws' means, and where the next target is expected.

# %%
x = torch.linspace(-2, 2, 60)[:, None]
wave = fv.Data(x[::3], torch.sin(2 * x[::3]))
torch.manual_seed(0)
line = fv.Net.from_module(
    torch.nn.Sequential(torch.nn.Linear(1, 24), torch.nn.Tanh(), torch.nn.Linear(24, 1))
)
members = fv.fit(line, wave, fv.Ensemble(members=5, lr=0.01), seed=0, likelihood=0.2, **steps)
fv.plots.plot_predictive(fv.predict(line, members, 1.5 * x, 5, seed=0, likelihood=0.2), 1.5 * x)

# %% [markdown]
# ## plot_calibration
#
# A regression: the share of targets below each predicted quantile.

# %%
targets = fv.Data(x, torch.sin(2 * x) + 0.2 * torch.randn(60, 1))
scored = fv.predict(line, members, targets, 5, seed=0, likelihood=0.2)
fv.plots.plot_calibration(scored)

# %% [markdown]
# ## plot_severity
#
# Scores on corrupted images, by severity.

# %%
noisy = dict(kinds=["gaussian_noise"], n_draws=5, seed=3)
shifts = {
    name: fv.families.shifted_scores(net, q, task.test, **noisy)
    for name, q in [("vi", vi), ("sabma", flat)]
}
fv.plots.plot_severity(shifts)

# %% [markdown]
# ## plot_risk_coverage
#
# The share of errors among the inputs on which the network is most confident.

# %%
fv.plots.plot_risk_coverage({name: fv.metrics.risk_coverage(p) for name, p in predictions.items()})

# %% [markdown]
# ## plot_radius
#
# Flatness and scores of a measured family against its radii.

# %%
radii = {"vi": (0.0,), "vi_t": (0.01, 0.1), "sabma": (0.0, 0.5, 1.0, 2.0)}
family = fv.families.fit_family(net, task, prior, radii=radii, seed=0, fit=steps)
measured = fv.families.measure(
    net, task, family, seed=1, n_draws=10, n_spectra=2, k=2, resolution=5, around_resolution=5
)
fv.plots.plot_radius(measured)

# %% [markdown]
# ## plot_frontier
#
# The same against the training loss: what does the radius do beyond a lower temperature of VI?

# %%
fv.plots.plot_frontier(measured, method="sabma", radius=1.0)

# %% [markdown]
# ## plot_view
#
# One picture of the laboratory, chosen by name, for a given state of the controls.

# %%
fv.widgets.plot_view(measured, "surface", method="sabma", radius=1.0, n_draws=5)

# %% [markdown]
# ## plot_history
#
# Loss, KL to the prior and gain of the ascent at each step of a fit.

# %%
fv.plots.plot_history(flat.history)
