# %% [markdown]
# # 14 · What if one laptop is not enough?
#
# A kitchen that cooks for a thousand does not have a bigger pot for every dish. It has two things that are done a thousand
# times, cutting and boiling, and tools for those two. In this course everything slow is one of two things as well:
#
# 1. **run $S$ weight vectors over $N$ examples**: surfaces, predictions, ensembles;
# 2. **multiply the Hessian with a vector**: eigenvalues, traces, densities.
#
# **You will learn** to
#
# - say what costs time in this course, and which of two primitives it is;
# - stop a run at any moment and go on to the same bits;
# - share fits among processes, here or on a cluster, with values equal to the local ones;
# - use a GPU and lower precision, and know which checks guard the result.
#
# **Takes** 20 minutes to read and a minute to run on a CPU.
#
# **Needs** chapters [02](02_slicing_a_loss_surface.ipynb) and [08](08_from_sam_to_sabma.ipynb).

# %% tags=["parameters"]
FAST = False  # True shrinks the run: tests and a first look

# %%
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import ipywidgets
import torch

# %%
import flatviz as fv
from flatviz.families.tour import prepare
from flatviz.plots.theme import figure

torch.set_num_threads(1)
folder = Path(tempfile.mkdtemp())

# %% [markdown]
# **Number to expect**: a resumed fit differs from a whole one by exactly 0. A cell below checks it.

# %% [markdown]
# ## What a picture costs
#
# A surface of $U \times V$ points over $N$ examples costs $U V N$ forward passes of one example, each of which takes a time
# $t_1$. Twice as fine means four times as long:
#
# $$ \text{time} \approx U \cdot V \cdot N \cdot t_1 . $$
#
# `prepare` makes the network of chapters 01 to 10 (source turned by 90 degrees, ten digits a class); `SGD` trains it on its 100 examples, and `slice_plane`
# ([chapter 02](02_slicing_a_loss_surface.ipynb)) evaluates the loss on a plane through the result.

# %%
net, task, prior = prepare(task=fv.datasets.digits_transfer(), epochs=5 if FAST else 60)
f = fv.nll(net, task.train)
w = fv.fit(net, task.train, fv.SGD(), seed=0).center
plane = fv.plane_random(net, w, seed=0)


# %%
def seconds(resolution):
    begin = time.perf_counter()
    fv.slice_plane(f, plane, resolution=resolution)
    return time.perf_counter() - begin


# %%
seconds(5)  # a first run prepares the plan
sizes = [11, 21] if FAST else [11, 21, 41, 81]
times = [seconds(size) for size in sizes]
for size, t in zip(sizes, times):
    print(f"{size:3d} x {size:<3d} {1e3 * t:7.1f} ms, {1e6 * t / size**2:6.1f} µs a point")

# %% [markdown]
# The milliseconds grow with the number of points. The time *a point* falls at first: preparing a picture costs the same for a
# small one and a large one, and many points run together. So the formula holds for large pictures.
#
# **Live.** Move the number of examples, in powers of ten; the line is the formula, with the time of one point as it was
# measured above on 100 examples. **Predict first**: where will the line be for 1000?

# %%
per_point = times[-1] / sizes[-1] ** 2
sides = list(range(11, 202, 10))


# %%
def predicted(log10_examples):
    n = 10**log10_examples
    seconds = [per_point * n / len(task.train) * s * s for s in sides]
    alt = f"Predicted seconds for {n:.0f} examples: {seconds[0]:.2g} at 11 points a side, {seconds[-1]:.2g} at 201"
    fig = figure(
        f"A surface over {n:.0f} examples",
        alt,
        xaxis_title="points a side",
        yaxis_title="seconds",
        height=400,
    )
    return fig.add_scatter(x=sides, y=seconds, mode="lines").update_yaxes(type="log", range=[-3, 5])


# %%
slider = ipywidgets.FloatSlider(value=2.0, min=2.0, max=5.0, step=0.5, description="log10 N")
_ = ipywidgets.interact(predicted, log10_examples=slider)

# %% [markdown]
# *Figure: predicted seconds against the number of points on a side, a rising curve on a logarithmic axis. Ten times the
# examples move the whole curve up by one power of ten.*
#
# ## Fast is only good if it is right
#
# flatviz runs many weight vectors at once, as one product of stacked matrices. Before it does, it computes some points one by
# one and compares; after the run it does so for a sample of the points. `exact=True` takes the points one by one throughout:

# %%
fast = fv.slice_plane(f, plane, resolution=11)
plain = fv.slice_plane(f, plane, resolution=11, exact=True)
gap = (fast.values - plain.values).abs().max() / plain.values.max()
fv.expect(gap < 1e-4, "the same picture, to a ten-thousandth")
print(f"largest difference {gap:.1e} of the largest value")

# %% [markdown]
# ## Stop, and go on
#
# Every fit takes `checkpoint=`: a file with weights, optimiser and random state. A run that was stopped, or killed, goes on
# from there **to the same bits**. Here a fit is stopped in the middle. `progress=` takes a function that hears of each step;
# this one raises what Ctrl-C raises:

# %%
whole = fv.fit(net, task.train, fv.VI(prior), seed=0, steps=60)
path = folder / "run.safetensors"


# %%
def stop_in_the_middle(done, total, label):
    if done == total // 2:
        raise KeyboardInterrupt


# %%
try:
    fv.fit(
        net,
        task.train,
        fv.VI(prior),
        seed=0,
        steps=60,
        checkpoint=path,
        progress=stop_in_the_middle,
    )
except KeyboardInterrupt:
    print("stopped;", round(path.stat().st_size / 1000), "kB kept")
resumed = fv.fit(net, task.train, fv.VI(prior), seed=0, steps=60, checkpoint=path)

# %%
difference = (resumed.mean - whole.mean).abs().max()
same = difference == 0 and torch.equal(resumed.factor, whole.factor)
fv.expect(same, "resumed is whole, bit for bit")
print(f"largest difference of the means: {difference}")

# %% [markdown]
# **Why the random state?** Step $k$ draws noise $z_k$. If a resumed run began its noise anew, it would be another run, and
# "the same seed, the same numbers" would be false for everybody whose machine ever stopped.
#
# Surfaces go on as well: with `cache=` each finished block of points is kept.

# %%
kept = fv.slice_plane(f, plane, resolution=11, cache=folder)
again = fv.slice_plane(f, plane, resolution=11, cache=folder)
fv.expect(torch.equal(kept.values, again.values), "read from the folder, bit for bit")

# %% [markdown]
# ## Many processes
#
# `engine=` takes an executor: anything with the interface of Python's `concurrent.futures`. A task is one fit, or one unit of
# an experiment; values equal the local ones to rounding. On your machine:
#
# ```python
# from concurrent.futures import ProcessPoolExecutor
#
# with ProcessPoolExecutor(2) as pool:                # two processes; in a file, below: if __name__ == "__main__":
#     family = fv.families.fit_family(net, task, prior, seed=0, engine=pool)
# ```
#
# On a cluster [Dask](https://distributed.dask.org) gives one, `distributed.Client("tcp://scheduler:8786").get_executor()`. `flatviz
# tour --workers 2` starts processes here. Where a process is lost, the run ends with an error;
# an experiment has kept the units that ended, so the same call goes on. A surface is computed in one process.
#
# The cell below uses two threads, so that it needs nothing else:


# %%
how = dict(radii={"vi": (0.0,), "sabma": (0.5,)}, seed=0, fit={"steps": 20})
with ThreadPoolExecutor(2) as pool:
    shared = fv.families.fit_family(net, task, prior, engine=pool, **how)

# %%
local = fv.families.fit_family(net, task, prior, **how)
difference = max(
    float((a.center - b.center).abs().max()) for a, b in zip(shared.posterior, local.posterior)
)
fv.expect(difference < 1e-5, "the same fits, wherever they ran")
print(f"largest difference from the local means {difference:.1e}")

# %% [markdown]
# ## A GPU, lower precision
#
# ```python
# net, task = net.to("cuda"), task.to("cuda")   # everything else stays as it is
# fv.slice_plane(f, plane, precision="bfloat16").error   # how far off, in nats
# ```
#
# bfloat16 has 8 bits of mantissa where float32 has 24. Lower precision is faster on a GPU; on a CPU it need not be.
# `Surface.error` says what it costs in accuracy, from a sample of points:

# %%
rough = fv.slice_plane(f, plane, resolution=11, precision="bfloat16")
truth = (rough.values.double() - plain.values.double()).abs().max()
print(f"stated error {rough.error:.3g} nats, largest error here {truth:.3g} nats")
fv.expect(bool(0 < truth < 3 * rough.error), "the stated error is of the right size")

# %% [markdown]
# `training=fv.Training(precision="bfloat16", accumulate=2)` says how every fit goes through its minibatches.
#
# ## Summary
#
# - Two primitives cost the time: forward passes of many weight vectors, and Hessian products.
# - The fast path is checked against the plain one, before and after.
# - A stopped run goes on to the same bits; finished points are kept.
# - `engine=` shares fits among processes and machines.
#
# ## Exercises
#
# **1.** A surface of 41 × 41 points over 100 examples takes 0.1 s. How long does one of 201 × 201 over 50,000 take, on one
# core? On 100 cores, if nothing is lost? (Start from the formula: which of its factors change?)
#
# <details><summary>Solution</summary>
#
# $(201/41)^2 \cdot 500 \cdot 0.1\,\mathrm{s} \approx 1200\,\mathrm{s}$, 20 minutes; 12 seconds.
#
# </details>

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
alone = (201 / 41) ** 2 * 500 * 0.1
fv.expect(alone, 1200, rtol=0.01)

# %% [markdown]
# **2.** Try to resume the checkpoint above with another seed. What happens, and why is that right?
#
# <details><summary>Solution</summary>
#
# It is refused: a checkpoint belongs to one run. Continued with another seed, it would give a result that no seed reproduces.
#
# </details>

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
try:
    fv.fit(net, task.train, fv.VI(prior), seed=1, steps=60, checkpoint=path)
    raise AssertionError("another seed must be refused")
except ValueError as error:
    print(error)

# %% [markdown]
# **3.** Sum the numbers 1e8, 1, and −1e8 in float32, in two orders. Why can a cluster not promise the same *bits* as a laptop?
#
# <details><summary>Solution</summary>
#
# Addition of floating-point numbers is not associative: blocks of another size add in another order. flatviz promises equal
# bits for one machine, library and number of threads, and a stated tolerance for everything else.
#
# </details>

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
big, one = torch.tensor(1e8), torch.tensor(1.0)
fv.expect((big + one) - big != (big - big) + one, "two orders, two sums")

# %% [markdown]
# ## References
#
# - [Dask distributed](https://distributed.dask.org): tasks over processes and machines.
# - [concurrent.futures](https://docs.python.org/3/library/concurrent.futures.html): the interface that `engine=` takes.
#
# **Next**: [chapter C](C_write_your_own_posterior.ipynb) writes a new posterior; or back to the
# [table of contents](contents.ipynb).
