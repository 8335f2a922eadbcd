# %% [markdown]
# # Experiment: how many draws does a step take?
#
# **Question.** A step of variational inference (VI) or SA-BMA estimates its gradient from S draws of the posterior. Does the effect
# of SA-BMA's radius depend on S?
#
# **Theory.** With S draws the ascent sees g_S = grad l + e. Its length in the metric of the Fisher matrix F of q is
# s_S = sqrt(g_S . F^-1 g_S), and E s_S^2 = s^2 + c / S with c = tr(F^-1 Cov e), the covariance of one draw's gradient. SA-BMA
# minimises l + radius s_S, so the noise c / S is a second penalty, on curvature, that is largest at S = 1. Along the
# gradient of the loss the penalty acts as a lower temperature: if grad s_S has the part phi grad l along grad l, SA-BMA's
# stationary point is that of VI at *T\** = *T* / (1 + radius phi). The part across grad l is what no temperature gives.
#
# **Grid.** S x radius x *T*, VI along *T* at the *same S*. *digits-near* and *moons-gap* are those of the experiment
# `frontier`; *cifar16* is its *cifar10* at 16 x 16 pixels. Each seed draws its split, network, prior and noise; all fits of a seed and
# an S share them. All fits take the same rate, 1, whatever S is. *split*: as many draws as examples, each draw sees one example, so
# that a step costs one pass over the data. *mirrored*: two draws with opposite noise.
#
# **Comparison.** At equal training loss, estimated with 512 draws: VI's values are interpolated along the curve of the same
# seed and the same S. *T\** is the temperature at which VI has the training loss of the other fit.
#
# **Claims.** They stand in `draws.toml`, which was committed before its seeds were used.

# %% tags=["parameters"]
RUN = False  # True computes everything, False reads the stored table
TABLE = "draws"  # stored table, or path of a CSV file
SAVE = ""  # path of a CSV file to write the table to
FIRST = 30000  # the first seed
SEEDS = 40
TASKS = "digits-near,moons-gap"  # also image-folder:PATH, the folder of class folders, scaled to 16 x 16
DRAWS = "1,2,4,8,32,128"  # S
FEW = 10  # seeds of the longer fits and of the fits with 512 draws
STEPS = 600
TOGETHER = 1  # seeds fitted in one batch: 40 on a GPU
PREPARED = ""  # folder of prepared networks, read where it has the seed and written where not
DEVICE = "cpu"

# %%
import hashlib
import math
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import torch

# %%
import flatviz as fv
from flatviz.experiments import at, judged, read_table, write_table
from flatviz.experiments.statistics import HOLDS, NOT, OPEN, mean_zero
from flatviz.families.preparation import BATCHNORM, task_for
from flatviz.families.tour import prepare
from flatviz.metrics.averaging import ace_of

# %% [markdown]
# ## The grid

# %%
root = Path(fv.__file__).resolve().parent
FOLDER = (
    next(f for f in (root.parent / "notebooks", root / "_notebooks") if f.is_dir()) / "experiments"
)
TEMPERATURES = {
    "digits-near": (
        0.003, 0.005, 0.0075, 0.01, 0.0125, 0.015, 0.0175, 0.02, 0.0225, 0.025, 0.03, 0.04, 0.07,
        0.1, 0.15, 0.2, 0.25, 0.3,
    ),
    "moons-gap": (0.003, 0.006, 0.01, 0.015, 0.02, 0.025, 0.03, 0.06, 0.1, 0.2, 0.3),
    "cifar16": (0.01, 0.03, 0.1, 0.2, 0.3, 0.45, 0.6),
}  # fmt: skip
FLAT = {  # (radius, T) of SA-BMA
    "digits-near": ((0.5, 0.03), (1.0, 0.03), (2.0, 0.03), (1.0, 0.3)),
    "moons-gap": ((1.0, 0.03), (2.0, 0.03)),
    "cifar16": ((1.0, 0.03), (1.0, 0.3)),
}
SCORED = 512  # draws behind training loss and objective
CURVED = 8  # draws of which the Hessian is measured
AVERAGED = 30  # draws of a prediction
NOISE = 0.3  # standard deviation of the targets of moons-gap
TESTED = 500  # test images of a folder


def short(task):
    """Name of a task in the table."""
    return "cifar16" if task.startswith("image-folder") else task


# %% [markdown]
# ## Networks of several seeds as one function


# %%
def moons_gap(seed):
    """Inputs on two moons, and as target the place along the moon from -1 to 1 plus noise.

    Training points leave the middle third out; the test set is in it.
    """
    source = torch.Generator().manual_seed(seed)
    turn = math.pi / 6

    def points(n, low, high):
        t = math.pi * (low + (high - low) * torch.rand(n, generator=source))
        first = torch.stack([t.cos(), t.sin()], 1)
        second = torch.stack([1 - t.cos(), 0.5 - t.sin()], 1)
        x = torch.where(torch.rand(n, 1, generator=source) < 0.5, first, second)
        noise = torch.randn(n, 3, generator=source)
        return x + 0.05 * noise[:, :2], (2 / math.pi * t - 1)[:, None] + NOISE * noise[:, 2:]

    def ends(n):
        return fv.Data(*map(torch.cat, zip(points(n // 2, 0, 1 / 3), points(n // 2, 2 / 3, 1))))

    x, y = points(200, 0, 1)
    turned = x @ torch.tensor([[math.cos(turn), math.sin(turn)], [-math.sin(turn), math.cos(turn)]])
    train = ends(40)
    test = fv.Data(*points(200, 1 / 3, 2 / 3))
    return fv.Task(fv.Data(turned, y), train, test, 1, "moons with a gap", likelihood=NOISE)


# %%
def prepared(name, seed):
    """Net, task and prior of a seed, on the CPU."""
    if name == "digits-near":
        return prepare("mlp", task=task_for(name, seed), seed=seed, epochs=60)
    if name != "moons-gap":
        task = fv.datasets.named_task(name, seed=seed, size=16)
        recipe = replace(BATCHNORM, epochs=10, swag_lr=0.01)
        net, task, prior = prepare("conv", task=task, seed=seed, recipe=recipe)
        some = torch.linspace(0, len(task.test) - 1, min(len(task.test), TESTED)).long()
        return net, fv.Task(task.source, task.train, task.test.subset(some), task.n_classes), prior
    task = moons_gap(seed)  # squared errors at the usual rate, then the same rate under the noise
    module = fv.models.mlp(task, seed=seed)
    source = fv.pretrain(module, task.source, epochs=60, seed=seed, likelihood=1.0)
    rate = 0.05 * NOISE**2
    swag = fv.fit_swag(source, task.source, rank=5, lr=rate, seed=seed, likelihood=NOISE)
    net, prior = fv.transfer(source, swag, head_std=0.3, scale=64.0)
    return net, task, prior


def parts_of(name, seed):
    """Tensors of a prepared seed: frozen parameters, prior, training and test set."""
    net, task, prior = prepared(name, seed)
    module = net.to_module()
    state = dict(module.named_parameters()) | dict(module.named_buffers())
    treated = {block.name for block in net.blocks}
    frozen = {key: t.detach().float() for key, t in state.items() if key not in treated}
    x, y = task.train.batch(None)
    test_x, test_y = task.test.batch(None)
    tensors = dict(x=x, y=y, test_x=test_x, test_y=test_y)
    tensors |= dict(mean=prior.mean, log_std=prior.log_std, factor=prior.factor)
    return {"frozen": frozen, **tensors}


def load(name, seed):
    """`parts_of`, from the folder of prepared networks where it is there."""
    if not PREPARED:
        return parts_of(name, seed)
    path = Path(PREPARED) / f"{short(name)}-{seed}.pt"
    if not path.exists():
        torch.save(parts_of(name, seed), path)
    return torch.load(path)


# %%
class Stack:
    """Networks of B seeds of one architecture, as functions of their treated weights (B, R, D)."""

    def __init__(self, name, seeds, device):
        parts = [load(name, seed) for seed in seeds]
        task = moons_gap(0) if name == "moons-gap" else fv.Task(*[fv.Data(parts[0]["x"], parts[0]["y"])] * 3, TARGETS[short(name)])
        module = (fv.models.convnet if short(name) == "cifar16" else fv.models.mlp)(task)
        net = fv.Net.from_module(module.eval(), "norm+head")
        self.module = net.to_module().to(device).eval()
        self.shapes = {block.name: block.shape for block in net.blocks}
        self.sizes = [math.prod(shape) for shape in self.shapes.values()]
        self.name = short(name)
        self.seeds = list(seeds)
        self.device = device
        self.regression = name == "moons-gap"
        keys = ("x", "y", "test_x", "test_y", "mean", "log_std", "factor")
        for key in keys:
            setattr(self, key, torch.stack([part[key] for part in parts]).to(device))
        self.frozen = {
            key: torch.stack([part["frozen"][key] for part in parts]).to(device)
            for key in parts[0]["frozen"]
        }

    @property
    def n(self):
        return self.x.shape[1]

    def one(self, frozen, w, x):
        """Outputs (n, C) of one network."""
        treated = zip(self.shapes.items(), w.split(self.sizes))
        named = {name: part.view(shape) for (name, shape), part in treated}
        return torch.func.functional_call(self.module, frozen | named, (x,))

    def outputs(self, W, x, split=False):
        """Outputs (B, R, n, C) of weights (B, R, D) on x (B, n, ...); split: (B, R, n, ...)."""
        rows = torch.func.vmap(self.one, (None, 0, 0 if split else None))
        if len(W) == 1:  # convolutions share their weights
            frozen = {key: t[0] for key, t in self.frozen.items()}
            return rows(frozen, W[0], x[0])[None]
        return torch.func.vmap(rows)(self.frozen, W, x)

    def nll(self, outputs, y):
        """NLL of each example, (B, R, n), y (B, R, n) or (B, R, n, 1)."""
        if self.regression:
            return (outputs - y).square().squeeze(-1) / (2 * NOISE**2)
        return -outputs.log_softmax(-1).gather(-1, y[..., None]).squeeze(-1)

    def losses(self, W, kind="common"):
        """Mean NLL (B, R) of weights (B, R, D); with "split" each draw has its own example."""
        B, R, _ = W.shape
        if kind != "split":
            y = self.y[:, None].expand(-1, R, *self.y.shape[1:])
            return self.nll(self.outputs(W, self.x), y).mean(-1)
        cells = R // self.n
        x = self.x[:, None, :, None].expand(-1, cells, -1, -1, *self.x.shape[2:]).flatten(1, 2)
        y = self.y[:, None, :, None].expand(-1, cells, -1, -1, *self.y.shape[2:]).flatten(1, 2)
        return self.nll(self.outputs(W, x, split=True), y).mean(-1)

    def prior(self, cells):
        """Priors of B x cells members, (B cells, D)."""
        parts = (self.mean, self.log_std, self.factor)
        return fv.Gaussian.unchecked(*(t.repeat_interleave(cells, 0) for t in parts))


TARGETS = {"digits-near": 10, "cifar16": 5}


# %% [markdown]
# ## Fit
#
# A member's loss divided by its *T*, with KL weight 1, is the objective at that *T*: members of all seeds and temperatures take one
# step together, `SABMA.update` of flatviz.


# %%
class Losses(fv.training.TrainingLoss):
    """Losses of B x cells members with S draws each, (B cells S, D) -> (B cells S,), over T."""

    def __init__(self, stack, T, kind):
        self.stack = stack
        self.T = T
        self.kind = kind

    def __call__(self, w, index):
        B = len(self.stack.seeds)
        values = self.stack.losses(w.view(B, -1, w.shape[-1]), self.kind)
        cells = len(self.T)
        return (values.view(B, cells, -1) / self.T[:, None]).flatten()


# %%
class Streams:
    """Noise of each step: z (B, S, D + K), on the CPU from a generator a seed.

    A step of odd number has the negative noise of the step before.
    """

    def __init__(self, stack, S, mirrored, more=0):
        self.generators = [torch.Generator().manual_seed(seed + more) for seed in stack.seeds]
        self.z = torch.empty(len(stack.seeds), S, stack.mean.shape[1] + stack.factor.shape[1])
        self.device = stack.device
        self.mirrored = mirrored
        self.pool = ThreadPoolExecutor(8)

    def draw(self):
        drawn = self.pool.map(lambda z, g: z.normal_(generator=g), self.z, self.generators)
        list(drawn)
        half = self.z.shape[1] // 2
        if self.mirrored:
            self.z[:, half:] = -self.z[:, :half]
        return self.z.to(self.device)

    def __iter__(self):
        while True:
            z = self.draw()
            yield z
            yield -z


# %%
def fit_many(stack, cells, S, steps, kind="common", rate=1.0):
    """Gaussians (B cells, D) of the cells (radius, T), all with S draws a step."""
    radius = torch.tensor([r for r, _ in cells], device=stack.device)
    T = torch.tensor([T for _, T in cells], device=stack.device)
    B = len(stack.seeds)
    D = stack.mean.shape[1]
    prior = stack.prior(len(cells))
    scale = START.get(stack.name, 0.3)
    start = fv.Gaussian.unchecked(prior.mean, prior.log_std + math.log(scale), scale * prior.factor)
    rates = torch.tensor([rate * (1 + math.cos(math.pi * t / steps)) / 2 for t in range(steps)])
    descent = fv.training.Descent(prior, stack.n, rates.double().to(stack.device))
    flat = radius.repeat(B) if bool((radius > 0).any()) else None
    method = fv.posteriors.SABMA(descent, S, flat)
    state = method.init(start)
    loss = Losses(stack, T, kind)
    for z, _ in zip(Streams(stack, S, kind == "mirrored"), range(steps)):
        z = z.repeat_interleave(len(cells), 0)
        state, record = method.update(state, loss, None, (z[..., :D], z[..., D:]))
    return state.q


START = {"cifar16": 0.01}  # widths at the start over those of the prior, the defaults of `fit_vi`


# %% [markdown]
# ## Measure


# %%
def sampled(stack, q, n, more):
    """n draws (B, cells n, D) of each member, the same noise for all members of a seed."""
    B = len(stack.seeds)
    D = q.dim
    z = Streams(stack, n, False, more).draw().repeat_interleave(len(q.mean) // B, 0)
    return q.at(z[..., :D], z[..., D:]).view(B, -1, D)


def top_eigenvalue(product, like, steps=40):
    """Largest eigenvalues (M,) of M operators v -> H v, (M, D), by Lanczos with full orthogonalisation."""
    v = torch.randn(like.shape, generator=torch.Generator().manual_seed(1)).to(like)
    v = v / v.norm(dim=-1, keepdim=True)
    basis = []
    diagonal = []
    beside = []
    for _ in range(min(steps, like.shape[-1])):
        basis.append(v)
        Q = torch.stack(basis, 1)
        u = product(v)
        diagonal.append(torch.linalg.vecdot(u, v))
        for _ in range(2):
            u = u - torch.einsum("mkd,mk->md", Q, torch.einsum("mkd,md->mk", Q, u))
        beside.append(u.norm(dim=-1))
        v = u / beside[-1].clamp_min(1e-30)[:, None]
    off = torch.diag_embed(torch.stack(beside[:-1], 1), 1)
    matrix = torch.diag_embed(torch.stack(diagonal, 1)) + off + off.mT
    return torch.linalg.eigvalsh(matrix.double())[:, -1]


def curvature(stack, W, members):
    """Mean over draws of the largest eigenvalue, and that of the mean Hessian, (B cells,) each."""
    B, R, D = W.shape
    draws = R // (members // B)

    def products(v):
        W_ = W.detach().requires_grad_()
        (g,) = torch.autograd.grad(stack.losses(W_).sum(), W_, create_graph=True)
        (h,) = torch.autograd.grad((g * v).sum(), W_)
        return h.detach()

    def each(v):
        return products(v.view(B, R, D)).view(-1, D)

    def averaged(v):
        spread = v.view(B, -1, 1, D).expand(-1, -1, draws, -1).reshape(B, R, D)
        return products(spread).view(members, draws, D).mean(1)

    sharp = top_eigenvalue(each, W.reshape(-1, D)).view(members, draws).mean(1)
    return sharp, top_eigenvalue(averaged, W.reshape(members, draws, D)[:, 0])


# %%
def scores(stack, W, members):
    """NLL, accuracy and ECE (of a regression RMSE) of the averaged prediction, (B cells,) each."""
    B = len(W)
    with torch.no_grad():
        out = stack.outputs(W, stack.test_x)
    out = out.view(members, -1, *out.shape[2:])
    y = stack.test_y.repeat_interleave(members // B, 0)
    if stack.regression:
        log_p = -(out - y[:, None]).square().squeeze(-1) / (2 * NOISE**2)
        log_p = log_p - math.log(NOISE * math.sqrt(2 * math.pi))
        nll = (math.log(out.shape[1]) - log_p.logsumexp(1)).mean(-1)
        rmse = (out.mean(1) - y).square().mean((-2, -1)).sqrt()
        return {"nll": nll, "rmse": rmse}
    log_bma = out.log_softmax(-1).logsumexp(1) - math.log(out.shape[1])
    p, guess = log_bma.exp().max(-1)
    right = (guess == y).double()
    nll = -log_bma.gather(-1, y[..., None]).squeeze(-1).mean(-1)
    bins = (p * 15).long().clamp(max=14)
    gaps = torch.zeros(members, 15, dtype=torch.float64, device=p.device)
    gaps.scatter_add_(1, bins, right - p.double())
    return {"nll": nll, "accuracy": right.mean(-1), "ece": gaps.abs().sum(-1) / y.shape[-1]}


def measure(stack, q, cells):
    """Rows of values, one a member."""
    members = len(q.mean)
    W = sampled(stack, q, SCORED, 1)
    with torch.no_grad():
        parts = W.view(len(W), len(cells), SCORED, -1).split(1, 1)
        train = torch.cat([stack.losses(part.flatten(1, 2)).mean(-1, keepdim=True) for part in parts], 1).flatten()
    sharp, of_mean = curvature(stack, sampled(stack, q, CURVED, 1), members)
    values = {"train": train, "kl": q.kl(stack.prior(len(cells))), "lambda1": sharp}
    values |= {"lambda1_of_mean": of_mean}
    values |= scores(stack, sampled(stack, q, AVERAGED, 1), members)
    columns = {name: t.double().cpu().numpy() for name, t in values.items()}
    rows = pd.DataFrame(columns)
    rows.insert(0, "T", [T for _, T in cells] * len(stack.seeds))
    rows.insert(0, "radius", [r for r, _ in cells] * len(stack.seeds))
    rows.insert(0, "seed", np.repeat(stack.seeds, len(cells)))
    return rows


# %% [markdown]
# ## The theory at one and the same q
#
# At VI's solution with 128 draws and *T* = 0.03, from 2,048 draws with their own noise, in groups of S: the length s_S of the ascent's
# gradient in the metric of F (mean and log_std, as `fit_sabma` moves them), beside sqrt(s^2 + c / S) with s^2 and c estimated
# without bias; the gain of the ascent; and the mean of (g' - g) / radius over groups, which is grad s_S: its angle with grad l, and its
# part phi along grad l, all in the metric of F^-1. *T\** is predicted as T / (1 + radius phi).


# %%
GROUPED = 2048


def moments(stack, q, z, D):
    """Gradient in (mean, log_std) of each draw, (members, R, 2 D), and its loss."""
    members = len(q.mean)
    B = len(stack.seeds)
    wide = q.std.unsqueeze(-2) * z[..., :D]
    W = q.mean.unsqueeze(-2) + wide + z[..., D:] @ q.factor
    W = W.reshape(B, -1, D).detach().requires_grad_()
    losses = stack.losses(W)
    (g,) = torch.autograd.grad(losses.sum(), W)
    g = g.view(members, -1, D)
    return torch.cat((g, g * wide), -1), losses.detach().view(members, -1)


def solved(q, g):
    """F^-1 g for rows g (members, R, 2 D)."""
    D = q.dim
    leverage = q.leverage.clamp_min(0.1).unsqueeze(-2)
    return torch.cat((q.cov_mul(g[..., :D]), g[..., D:] / (2 * leverage.square())), -1)


def theory(stack, q, T, sizes, radii):
    """Rows of values: one for each seed, S and radius; one member a seed."""
    D = q.dim
    z = Streams(stack, GROUPED, False, 7).draw()
    g, losses = moments(stack, q, z, D)
    mean = g.double().mean(1, keepdim=True).float()
    natural = solved(q, mean)
    squared = (natural * mean).sum(-1).squeeze(1)
    each = (solved(q, g) * g).sum(-1).mean(1)
    c = (each - squared) * GROUPED / (GROUPED - 1)
    s2 = squared - c / GROUPED
    rows = []
    for S in sizes:
        group = g.view(len(g), -1, S, 2 * D).mean(2)
        step = solved(q, group)
        length = (step * group).sum(-1).sqrt()
        for radius in radii:
            delta = radius * step / length[..., None]
            moved = fv.Gaussian.unchecked(
                (q.mean[:, None] + delta[..., :D]).flatten(0, 1),
                (q.log_std[:, None] + delta[..., D:]).flatten(0, 1),
                q.factor.repeat_interleave(delta.shape[1], 0),
            )
            parts = z.view(-1, S, z.shape[-1])
            there, losses_there = moments(stack, moved, parts, D)
            there = there.view(len(g), -1, S, 2 * D).double().mean((1, 2))
            across = there[:, None].float() / radius - mean / radius
            phi = (solved(q, across) * mean).sum(-1).squeeze(1) / squared
            length_across = (solved(q, across) * across).sum(-1).squeeze(1).sqrt()
            rows.append(
                pd.DataFrame(
                    {
                        "seed": stack.seeds,
                        "radius": radius,
                        "T": T,
                        "S": S,
                        "length": length.mean(1).cpu().double(),
                        "theory_length": (s2 + c / S).clamp_min(0).sqrt().cpu().double(),
                        "s": s2.clamp_min(0).sqrt().cpu().double(),
                        "noise": c.cpu().double(),
                        "gain": (losses_there.view(len(g), -1).mean(1) - losses.mean(1)).cpu().double(),
                        "phi": phi.cpu().double(),
                        "cos": (phi * squared.sqrt() / length_across).cpu().double(),
                        "predicted": (T / (1 + radius * phi)).cpu().double(),
                    }
                )
            )
    return pd.concat(rows)
