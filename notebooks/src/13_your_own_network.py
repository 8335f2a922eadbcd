# %% [markdown]
# # 13 · What does your own network look like?
#
# A doctor who meets a new patient does not start with the rarest test. She looks, counts the pulse, asks what was done
# before, and stops if something is plainly wrong. This chapter examines a network flatviz has never seen.
#
# **You will learn** to
#
# - hand any PyTorch network to flatviz, with arrays, frames, a `Dataset` or a `DataLoader`, and another likelihood;
# - read what it did on the way, and why it stops at a dead network;
# - do the same by hand in ten lines, choosing what is treated, the prior and the radius;
# - draw the path of your own training loop with one line around it;
# - treat a classifier of text like any other network.
#
# **Takes** 25 minutes to read and a minute to run on a CPU.
#
# **Needs** [chapter 00](00_tour.ipynb). To understand what you see: chapters [05](05_swag.ipynb) to
# [08](08_from_sam_to_sabma.ipynb).

# %% tags=["parameters"]
FAST = False  # True shrinks the run: tests and a first look

# %%
import numpy as np
import torch
from torch import nn

import flatviz as fv

torch.set_num_threads(1)

# %% [markdown]
# **Number to expect**: the network of this chapter is right about more than nine of ten new points. A cell below checks it.

# %% [markdown]
# ## A network and its data
#
# Nothing here is from flatviz: points in three arms of a spiral, as numpy arrays, and a network with BatchNorm.


# %%
def spiral(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    r = rng.uniform(0.1, 1.0, n)
    angle = 4 * r + 2 * np.pi * y / 3 + 0.15 * rng.normal(size=n)
    return np.stack([r * np.cos(angle), r * np.sin(angle)], 1).astype("float32"), y


# %%
train, test = spiral(600, seed=0), spiral(600, seed=1)
torch.manual_seed(0)
hidden = 32
first = [nn.Linear(2, hidden), nn.BatchNorm1d(hidden), nn.ReLU()]
module = nn.Sequential(
    *first, nn.Linear(hidden, hidden), nn.BatchNorm1d(hidden), nn.ReLU(), nn.Linear(hidden, 3)
)

# %% [markdown]
# ## One cell
#
# `fv.lab` trains what has not learned, makes a prior, checks the accuracy after each step, and opens the laboratory. It says
# what it did, last of all how accurate VI is beside the trained network on the test data; `lab.made` keeps these lines. By default
# the lab is quick: one setting, few members, coarse pictures. `effort="full"` tries six settings and leaves nothing out, which
# takes minutes.

# %%
how = dict(radii={"vi": (0.0,)}) if FAST else {}
lab = fv.lab(module, train, test, seed=0, **how)

# %% [markdown]
# Read the lines: *treated* are the weights that get a posterior, here normalisation layers and head; all others stay as
# trained. `kl_weight` is the temperature of [chapter 06](06_vi_and_laplace.ipynb).

# %%
lab

# %% [markdown]
# *Figure: the laboratory: controls for method, radius and ensemble size, and pictures of the loss surface with draws, the
# eigenvalues, the scores and the reliability of your network.*
#
# It fits a first family of posteriors behind the page: a rough picture after some seconds, the whole within a minute, and a bar
# with the time left. The next cell waits for it and prints what the pictures show.
#
# **Try**: choose SA-BMA and move the radius. Does the largest eigenvalue fall? Does accuracy leave the band around its line?

# A notebook outlives its kernel. This is what it shows of a lab then:
#
# | the notebook is | a reader sees | tried |
# |---|---|---|
# | open in JupyterLab, its kernel running | the live lab, also while a later cell runs | JupyterLab 4.6, a test |
# | saved after that and opened again in JupyterLab, no cell run | the last pictures that the page drew, their line of scores, and *Run the cell again for the live one* | JupyterLab 4.6, a test |
# | saved after that and exported by `jupyter nbconvert --to html` | the same pictures and lines | nbconvert 7.17, a test |
# | run by papermill | a sentence that says how to see the lab, no picture | papermill 2.7, a test |
# | run by `jupyter nbconvert --execute` | the same sentence | nbconvert 7.17, by hand |
# | written by `lab.to_html("lab.html")` | all pictures and controls, without Python | Chromium, a test |
# | on GitHub | as saved, as far as GitHub shows pictures in HTML | not tried |
# | open in Notebook 7, VS Code or Colab | the live lab where the editor has ipywidgets and anywidget | not tried |

# %%
lab.wait(600)
family = lab.family
for method, radius, predicted in zip(family.method, family.radius, family.prediction):
    accuracy, nll = (float(predicted.scores[name][-1]) for name in ("accuracy", "nll"))
    name = f"{fv.METHODS[method].label}, {predicted.n_draws} draws"
    print(f"{name:28} radius {radius:<5g} accuracy {accuracy:.3f} NLL {nll:.3f}")

# %%
accuracy = float(family[0].prediction.scores["accuracy"][-1])  # of VI's draws
if not FAST:
    fv.expect(accuracy > 0.9, "more than nine of ten are right")

# %% [markdown]
# ## When it stops
#
# Labels without any relation to the inputs, and a network too small to learn them by heart: nothing is learned, and a
# picture of its posterior would be a picture of noise. flatviz says so instead.

# %%
rng = np.random.default_rng(0)
noise = rng.normal(size=(200, 2)).astype("float32"), rng.integers(0, 3, 200)

# %%
try:
    fv.lab(nn.Linear(2, 3), noise, noise, progress=False)
except ValueError as error:
    print(error)
else:
    fv.expect(False, "a network that cannot learn is refused")

# %% [markdown]
# ## The same by hand
#
# Each step of the one cell is a verb. Do this when you want another prior, other treated weights, or another method.
#
# **1. Read the module as a function of a vector**, and train it:

# %%
data = fv.Data(torch.tensor(train[0]), torch.tensor(train[1]))
held_out = fv.Data(torch.tensor(test[0]), torch.tensor(test[1]))
net = fv.pretrain(module, data, seed=0, epochs=10 if FAST else 60, lr=0.05)
answers = net(net.w, held_out.x).argmax(1)
print(f"accuracy {(answers == held_out.y).float().mean():.3f}")

# %% [markdown]
# **2. A prior.** SWAG ([chapter 05](05_swag.ipynb)) records where SGD wanders after training: a Gaussian with a factor of
# rank 5.
#
# **3. What is treated.** `transfer` keeps normalisation layers and head. `scale` widens SWAG's narrow covariance sixteenfold;
# the head begins anew, at mean 0 with standard deviation `head_std`.

# %%
swag = fv.fit(net, data, fv.SWAG(rank=5, lr=0.01), seed=0)
small, prior = fv.transfer(net, swag, treated="norm+head", head_std=0.3, scale=16)
print(small)

# %% [markdown]
# **4. A posterior**, and its scores on new points. `kl_weight` is the temperature; the fit begins at 0.3 of the prior's
# widths (`start_scale`).
# `batchnorm="frozen"` keeps the running statistics as they are, so that a draw is a function of its weights alone.

# %%
settings = dict(steps=20 if FAST else 600)
fields = dict(kl_weight=0.03, start_scale=0.3)
q = fv.fit(small, data, fv.SABMA(prior, radius=0.5, **fields), seed=0, **settings)
scores = fv.predict(small, q, held_out, 30, seed=1, batchnorm="frozen").scores

# %%
for name, values in scores.items():  # by the number of draws averaged
    print(f"{name:8} one draw {float(values[0]):.3f}, thirty {float(values[-1]):.3f}")
if not FAST:
    fv.expect(scores["accuracy"][-1] > 0.9, "more than nine of ten are right")

# %% [markdown]
# Here one draw has a lower NLL than the average of thirty. Jensen's inequality ([chapter 07](07_sgld_dropout_ensembles.ipynb))
# does not forbid that: the average beats its members *on average*, not each of them, and the first one drawn is a good one. These
# points have no noise to be unsure of; where there is nothing to doubt, averaging has nothing to give.
#
# **5. The pictures.** Any of them takes a result, and nothing else.

# %%
W, f = q.sample(20, seed=1), fv.nll(small, data)
plane = fv.plane_pca(W)
surface = fv.slice_plane(f, plane, extent="auto", resolution=11 if FAST else 31)
fv.explore(surface, fv.project(W, plane, f))

# %% [markdown]
# *Figure: contours of the loss on the plane in which the draws vary most, with a marker for each draw; they gather in the
# valley. Sliders set how many draws are shown and the top of the colour scale.* Of 227 dimensions two are shown: the axes say
# how much of the draws' variance they hold, and it is little.
#
# ## Which settings?
#
# | question | look at | then |
# |---|---|---|
# | does it learn at all? | `q.history.loss` | lower `lr` if it grows, more `steps` if it still falls |
# | has it converged? | `lab.convergence()`, by hand `fv.families.convergence_gap`: a fit of four times the steps | more `steps` |
# | is the prior too narrow? | one draw and thirty score alike | raise `head_std` or `scale` |
# | is it a posterior? | `q.history.kl` | raise `kl_weight` (1 is Bayes), see [chapter 06](06_vi_and_laplace.ipynb) |
# | is the radius too large? | accuracy falls | halve it |
#
# `flatviz run tune` does this by equal trials for every method, on validation data.

# %%
loss = q.history.loss
fv.expect(loss[-10:].mean() < loss[:10].mean(), "it learned")
print(f"loss {loss[:10].mean():.3f} -> {loss[-10:].mean():.3f}, KL {q.history.kl[-1]:.0f} nats")

# %% [markdown]
# ## The path of your own training loop
#
# Keep your loop. One line around it, `record_path`, keeps the weights of every fifth step in `path.W`. The plane is the one
# that holds most of the path (PCA of its points):

# %%
model = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
with fv.record_path(model, every=5) as path:
    for _ in range(50 if FAST else 200):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(data.x), data.y).backward(), optimizer.step()

# %%
whole = fv.Net.from_module(model)
view = fv.plane_pca(path.W)
ground = fv.slice_plane(fv.nll(whole, data), view, extent="auto", resolution=11 if FAST else 31)
fv.plot_surface(ground, fv.project(path.W, view), path=True, title="Where my training loop went")

# %% [markdown]
# *Figure: a path over the contours of the loss, from the random start at a high loss to its end on the side of a valley,
# where it still descends.*

# %%
first_loss, last_loss = fv.nll(whole, data)(path.W[0]), fv.nll(whole, data)(path.W[-1])
fv.expect(last_loss < first_loss, "the loss is lower at the end")
print(f"loss {first_loss:.2f} at the start, {last_loss:.2f} after {5 * (len(path.W) - 1)} steps")

# %% [markdown]
# A `Trainer` is such a loop too. For Lightning:
#
# ```python
# log = lambda name, value, step: trainer.logger.log_metrics({name: value}, step)
# with fv.record_path(module, data=data, log=log) as path:
#     trainer.fit(module, loader)
# ```
#
# For Hugging Face `trainer.train()` in place of the last line, and `log=lambda name, value, step: trainer.log({name: value})`.
# `fv.plot(path.history)` draws λ₁ over the steps.
#
# ## A classifier of text
#
# Inputs may be words. A sentence is five of them, as *the cat sees a dog*; the class says whether the animal that acts is the larger
# one. The network has an embedding, one layer of a transformer's encoder, and a head.


# %%
def sentences(n, seed):
    """Places of the words in the list *the a sees hears bites ant mouse cat dog horse whale*, and the classes."""
    g = np.random.default_rng(seed)
    pairs = np.stack([g.permutation(6)[:2] for _ in range(n)])  # two animals, the smallest is 0
    columns = (
        g.integers(0, 2, n),
        5 + pairs[:, 0],
        g.integers(2, 5, n),
        g.integers(0, 2, n),
        5 + pairs[:, 1],
    )
    return fv.datasets.data_from((np.stack(columns, 1), (pairs[:, 0] > pairs[:, 1]).astype(int)))


# %%
texts, new_texts = sentences(100, seed=0), sentences(400, seed=1)
torch.manual_seed(0)
encoder = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)
reader = nn.Sequential(nn.Embedding(11, 16), encoder, nn.Flatten(), nn.Linear(5 * 16, 2))
reader = fv.pretrain(reader, texts, seed=0, epochs=5 if FAST else 20, lr=0.02)
late, wide = fv.transfer(
    reader, fv.fit(reader, texts, fv.SWAG(rank=5, lr=0.01), seed=0), head_std=0.3, scale=16
)

# %% [markdown]
# `late` treats normalisation layers and head. Words in any order are no sentences: the entropy of the averaged prediction tells
# them from sentences better than chance (AUROC 0.5).

# %%
q_text = fv.fit(
    late, texts, fv.VI(wide, **fields), seed=0, **settings | dict(steps=20 if FAST else 200)
)
read = fv.predict(late, q_text, new_texts, 30, seed=1)
shuffled = torch.rand(400, 5, generator=torch.Generator().manual_seed(2)).argsort(1)
apart = fv.predict(late, q_text, new_texts.x.gather(1, shuffled), 30, seed=1)
auroc = fv.metrics.ood_scores(*(fv.metrics.predictive_entropy(p) for p in (read, apart)))["auroc"]
print(
    late,
    f"accuracy {read.scores['accuracy'][-1]:.3f}, NLL {read.scores['nll'][-1]:.3f}, AUROC {auroc:.2f}",
    sep="\n",
)

# %%
if not FAST:
    fv.expect(bool(read.scores["accuracy"][-1] > 0.9) and auroc > 0.55, "it reads, and doubts")

# %% [markdown]
# ## What you can bring
#
# Each row was run to write this table (`python tests/brought.py`); its names are those of small examples there. The loops took
# twenty steps.
#
# | you bring | you write | you get |
# |---|---|---|
# | arrays | `fv.datasets.data_from((x.numpy(), y.numpy()))` | Data(12 examples, x (12, 3) float32, classes 0..1) |
# | a pandas `DataFrame` and `Series` | `fv.datasets.data_from((frame, series))` | Data(12 examples, x (12, 3) float32, classes 0..1) |
# | class names as labels | `fv.datasets.data_from((x, ["cat", "dog"] * 6)).class_names` | ('cat', 'dog') |
# | one-hot labels | `fv.datasets.data_from((x, F.one_hot(y)))` | Data(12 examples, x (12, 3) float32, classes 0..1) |
# | a `Dataset` | `fv.datasets.data_from(pairs)` | Data(12 examples, x (12, 3) float32, classes 0..1) |
# | a `DataLoader` | `fv.datasets.data_from(DataLoader(pairs, batch_size=5))` | Data(12 examples, x (12, 3) float32, classes 0..1) |
# | an `IterableDataset` | `fv.datasets.data_from(endless, 7)` | Data(7 examples, x (7, 3) float32, classes 0..1) |
# | tokenized text (Hugging Face) | `fv.datasets.data_from(rows)` | 12 examples of input_ids, attention_mask |
# | a classifier of text | `fv.Net.from_module(reader, example=rows_as_data)` | Net(Reader, dim=218: 16 norm, 202 other) |
# | its posterior | `fv.fit(reads, rows_as_data, fv.Ensemble(members=3), steps=9, seed=0)` | Draws(W (3, 10), history: History, method: Ensemble) |
# | two inputs | `fv.Data((x, x), y)` | Data(12 examples, x0 (12, 3) float32, x1 (12, 3) float32, classes 0..1) |
# | a class folder | `fv.datasets.image_folder(folder)` | Data(2 examples, x (2, 3, 8, 8) uint8, classes 0..1) |
# | data beyond memory | `fv.datasets.stream(pairs)` | Data(12 examples, x (12, 3) float32, streamed, classes 0..1) |
# | a checkpoint of Lightning | `fv.models.load_weights(module, lightning)` | a copy with its weights |
# | a checkpoint of DataParallel or `torch.compile` | `fv.models.load_weights(module, compiled)` | a copy with its weights |
# | frozen layers | `fv.Net.from_module(frozen)` | Net(Sequential, dim=18: 18 other; 32 frozen) |
# | a part by name (an adapter, LoRA) | `fv.Net.from_module(frozen, lambda name: name.startswith("2."))` | Net(Sequential, dim=18: 18 other; 32 frozen) |
# | a head of many classes (a language model) | `fv.fit(tagger, fv.Data(words, tags), fv.Laplace(structure="diagonal"), seed=0, steps=9)` | Gaussian(dim=12, rank=0, by Laplace) |
# | an LSTM | `fv.fit(fv.Net.from_module(lstm), sequences, fv.Ensemble(members=2), steps=2, seed=0)` | Draws(W (2, 154), history: History, method: Ensemble) |
# | unequal classes | `fv.nll(net, data, likelihood=fv.Likelihood.categorical(weight=torch.tensor([1.0, 3.0])))` | 0.796 nats |
# | label smoothing | `fv.nll(net, data, likelihood=fv.Likelihood.categorical(label_smoothing=0.1))` | 0.752 nats |
# | segmentation, (N, C, H, W) | `fv.nll(pixels, fv.Data(images, masks))` | 0.803 nats |
# | tokens, (N, T, C), with -100 | `fv.nll(tagger, fv.Data(words, tags))` | 0.903 nats |
# | one logit | `fv.nll(line, data, likelihood="bernoulli")` | 0.664 nats |
# | several labels an example | `fv.nll(net, fv.Data(x, many), likelihood="bernoulli")` | 1.454 nats |
# | a regression of known noise | `fv.nll(line, fv.Data(x, t), likelihood=0.5)` | 2.596 nats |
# | mean and variance as outputs | `fv.nll(net, fv.Data(x, t), likelihood="gaussian")` | 2.061 nats |
# | a noise to be learned | `fv.Net.from_module(fv.models.learned_noise(nn.Linear(3, 1)))` | Net(WithNoise, dim=5: 5 other) |
# | another distribution | `fv.nll(line, fv.Data(x, counts), likelihood=fv.Likelihood(lambda o: Poisson(o[:, 0].exp())))` | 7.038 nats |
# | a module that ends in `Softmax` | `fv.nll(soft, data)` | the net must return logits, got probabilities from Softmax |
# | outputs of another library | `fv.Prediction(logits, y)` | accuracy, nll, ece, brier |
# | predictions of two models | `fv.plots.plot_reliability({"A": mine, "B": theirs})` | A, ECE 0.361 and B, ECE 0.375 |
# | weights that you sampled | `fv.predict(net, W, data, 3, seed=0)` | accuracy, nll, ece, brier |
# | two models | `fv.slice_line(fv.nll(net, data), W[0], W[1], resolution=5).barrier` | 0 |
# | a plain loss function | `fv.top_eigenpairs(lambda w: (w**4).sum(), torch.ones(3), 1)` | λ₁ = 12.000 |
# | an image or a row to vary | `fv.top_eigenpairs(fv.input_nll(net, data), x.flatten(), 1)` | λ₁ = 0.021 in the inputs |
# | activations (n, d) | `fv.top_eigenpairs(lambda h: F.cross_entropy(h, y), logits[0], 1)` | λ₁ = 0.042 |
# | a solver of scipy | `eigsh(fv.landscape.curvature_operator(fv.nll(net, data), net.w), 1)[0]` | λ₁ = 0.792 |
# | minibatches | `fv.landscape.batch_eigenvalues(fv.nll(net, data), net.w, batch_size=4)` | λ₁ = 1.049, 0.901, 1.316 of three batches |
# | derivatives inside the loss (PINN) | `fv.hessian_trace(physics, torch.ones(4), products=6)` | trace 11.393 |
# | a training loop | `fv.record_path(module, every=5)` | RecordedPath(5 points, dim=8, steps [0] to [20]) |
# | a logger | `fv.record_path(module, data=data, log=writer.add_scalar)` | λ₁ 0.753 at step 0, 0.722 at step 20 |
# | two networks to compare | `fv.compare(net, net.at(W[0]), data)` | B is flatter: its λ1 is 0.457, 1.74 times less than the 0.792 of A, but after filter normalisation A is flatter |
#
# Other likelihoods go into each `fit_*`, `predict` and `nll`; a regression's `Prediction` has `mean`, `quantile(0.05)` and `sample`.

# %% [markdown]
# ## Summary
#
# - `fv.lab(module, train, test)` is one cell for any classifier; `made` says what was done.
# - By hand: `pretrain`, `SWAG`, `transfer`, a fit, `predict`, then pictures.
# - A network that did not learn stops the work, with the reason.
# - `record_path` draws any training loop.
#
# ## Exercises
#
# **1.** Treat the head alone (`treated="head"`). How many weights are left, and is the NLL worse?
#
# <details><summary>Solution</summary>
#
# $3 \cdot (32 + 1) = 99$ weights: `transfer` with `treated="head"`, then a fit and `predict` as above; the cell below prints
# both values of the NLL. Whether it is worse depends on the data: compare over seeds.
#
# </details>

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
head, head_prior = fv.transfer(net, swag, treated="head", head_std=0.3, scale=16)
fv.expect(head.dim, 99, rtol=0)
only = fv.fit(head, data, fv.VI(head_prior, **fields), seed=0, **settings)
alone = fv.predict(head, only, held_out, 30, seed=1, batchnorm="frozen").scores["nll"]
print(f"NLL with the head alone {alone[-1]:.3f}, with normalisation layers {scores['nll'][-1]:.3f}")

# %% [markdown]
# **2.** Give the same points as a `DataLoader` of batches of 64. Is the `Data` the same?
#
# <details><summary>Solution</summary>
#
# `fv.datasets.data_from` reads loaders and data sets; in order, it holds the same points.
#
# </details>

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
pairs = torch.utils.data.TensorDataset(data.x, data.y)
loaded = fv.datasets.data_from(torch.utils.data.DataLoader(pairs, batch_size=64))
fv.expect(torch.equal(loaded.x, data.x) and torch.equal(loaded.y, data.y), "the same points")

# %% [markdown]
# **3.** Why does the lab set dropout and BatchNorm to evaluation mode before it draws a loss surface?
#
# <details><summary>Solution</summary>
#
# A loss surface is the graph of *one function* of the weights. With dropout active each call has another mask, and with
# batch statistics the loss of an example depends on its neighbours: two calls at the same weights differ.
#
# </details>

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
noisy = nn.Sequential(nn.Linear(2, 8), nn.Dropout(0.5), nn.Linear(8, 3)).train()
fv.expect(not torch.equal(noisy(data.x), noisy(data.x)), "two calls differ")
quiet = fv.Net.from_module(noisy.eval())
fv.expect(torch.equal(quiet(quiet.w, data.x), quiet(quiet.w, data.x)), "two calls agree")

# %% [markdown]
# ## References
#
# - [loss-landscapes](https://github.com/marcellodebernardi/loss-landscapes): slices of any PyTorch model; its metrics run on
#   flatviz planes.
#
# **Next**: [chapter 14](14_beyond_one_machine.ipynb) uses more than one machine.
