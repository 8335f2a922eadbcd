# %% [markdown]
# # Experiment: is it the radius, or the temperature?
#
# **Question.** The radius of SA-BMA and the temperature *T* of variational inference (VI) both decide how closely a posterior fits its
# training data. What does the radius change that a lower *T* does not?
#
# **Grid.** An MLP of which the norm layers and the head are treated; each seed draws its split, network, prior and noise, and all fits
# of a seed share them. VI along *T*; VI at one *T* with its covariance scaled after the fit; SA-BMA over radius and *T*, in four modes of
# its ascent; SAM on the mean; SGD, SWAG, F-SWAG, MultiSWAG, a deep ensemble and last-layer Laplace, each along a knob of its record.
# *digits-near* (source turned by 15 degrees, 2 shots a class) is the task of tour and lab; *digits* (90 degrees, 10 shots) has two
# restarts, fits with other noise on the same split, for its loss has several optima; *moons* is of two dimensions. *moons-gap* is a
# regression: where along its moon does a point lie? Training points leave the middle third out, and *shifted* scores are those there.
# *cifar10* is a folder of images: a conv net, the source five classes, the target five others, 10 shots. On all but *digits-near* the
# grid is smaller. Each step averages eight draws, the default; on *cifar10*, whose network is large, it took one draw, the default of then:
# the experiment `draws` varies that number.
#
# **Comparison.** At equal *T*; at equal training loss and at equal KL to the prior: VI's values are interpolated along the curve of the
# same seed, where it brackets. *T\** is the temperature at which VI has the training loss of the other fit.
#
# **Claims.** They stand in `frontier.toml`, those on the last two tasks in `frontier_moons-gap.toml` and `frontier_cifar10.toml`. Each
# file was committed before its seeds were used, and designed on other seeds.

# %% tags=["parameters"]
RUN = False  # True computes everything, False reads the stored table
TABLE = "frontier"  # stored table, or path of a CSV file
SAVE = ""  # path of a CSV file to write the table to
FIRST = 10000  # the first seed
SEEDS = 40
TASKS = "digits-near,moons,digits"
EPOCHS = 60  # of pre-training
STEPS = 0  # of each fit of a Gaussian from the prior; 0: those of the method
FEW = 5  # seeds of the longer fits
DRAWS = 30  # averaged for a prediction
SPECTRA = 5  # draws of which the curvature is measured
WORKERS = 1  # more than 1: so many processes
DEVICE = "cpu"

# %%
import hashlib
import math
import tomllib
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from IPython.display import display

# %%
import flatviz as fv
from flatviz.datasets.corruptions import corrupt
from flatviz.experiments import at, equivalent, judged, read_table, run, write_table
from flatviz.experiments.statistics import HOLDS, NOT, mean_zero
from flatviz.families.members import Fitting, unless_diverged
from flatviz.families.preparation import task_for
from flatviz.families.tour import prepare
from flatviz.families.tune import scored
from flatviz.metrics.averaging import averaged
from flatviz.plots.theme import figure, style
from flatviz.prediction import log_density

# %% [markdown]
# ## The grid

# %%
root = Path(fv.__file__).resolve().parent
FOLDER = (
    next(f for f in (root.parent / "notebooks", root / "_notebooks") if f.is_dir()) / "experiments"
)
SHIFTS = ("gaussian_noise", "translate", "rotate", "contrast", "gaussian_blur")
SEVERITY = 3  # of each
DIALS = {  # of each task: temperatures of VI, and (radii, temperatures) of SA-BMA
    "digits-near": (
        (0.003, 0.006, 0.01, 0.015, 0.02, 0.03, 0.05, 0.075, 0.1, 0.2, 0.25, 0.3, 0.6, 0.9, 1.0),
        [((0.5, 1.0, 2.0), (0.03, 0.3)), ((1.0,), (0.1, 1.0))],
    ),
    "moons": ((0.003, 0.01, 0.015, 0.02, 0.03, 0.06, 0.1, 0.2, 0.3, 1.0), [((1.0, 2.0), (0.03, 0.3))]),
    "digits": ((0.01, 0.015, 0.02, 0.03, 0.06, 0.1, 0.2, 0.3, 1.0), [((1.0,), (0.03, 0.3))]),
    "moons-gap": ((0.006, 0.01, 0.02, 0.03, 0.06, 0.1, 0.2, 0.3, 0.6), [((1.0,), (0.03, 0.3))]),
    "cifar10": ((0.01, 0.03, 0.06, 0.1, 0.3, 0.6), [((1.0,), (0.03, 0.3))]),
}  # fmt: skip


def short(task):
    """The name of a task in the table: of image-folder:PATH that of the folder."""
    return task.rpartition("/")[2]


def dials(task):
    """Temperatures and blocks of a task; of a folder with another name those of cifar10."""
    return DIALS.get(short(task), DIALS["cifar10"])


RESTARTS = {"digits": (0, 1)}
MODES = {
    "rank1_pinv": 1.0,
    "rank1_damped": 1.0,
    "authors_code": 0.5,
    "sam_mu": 0.1,
}  # on digits-near at T = 0.03, at its usual radius
SCALES = (0.5, 0.7, 0.85)  # of VI's covariance after the fit, there
KNOBS = {  # setting of the record and its values
    "sgd": ("steps", (75, 300)), "swag": ("scale", (1.0, 4.0)), "f-swag": ("radius", (0.1,)), "multiswag": ("members", (3,)),
    "ensemble": ("members", (5,)), "laplace": ("temperature", (0.1, 1.0)),
}  # fmt: skip
OTHERS = ("sgd", "f-swag", "multiswag")  # of these on digits


# %%
def cells_of(task, seed):
    """The cells of one seed: `T`, the temperature; `knob`, the covariance's scale after the fit or the value of a record's setting."""
    Ts, blocks = dials(task)
    cells = [dict(method="vi", T=T) for T in Ts]
    cells += [
        dict(method="sabma", radius=r, T=T) for radii, some in blocks for r in radii for T in some
    ]
    cells = [dict(cell, restart=r) for r in RESTARTS.get(task, (0,)) for cell in cells]
    if task == "digits-near":
        cells += [dict(method=m, radius=r, T=0.03) for m, r in MODES.items()]
        cells += [dict(method="vi", T=0.03, knob=scale) for scale in SCALES]
    others = {"digits-near": KNOBS, "digits": OTHERS}.get(task, ())
    cells += [dict(method=m, knob=v) for m in others for v in KNOBS[m][1]]
    usual = dict(setting=task, radius=0.0, T=np.nan, knob=1.0, restart=0, seed=seed)
    return [usual | cell for cell in cells]


grid = [
    cell
    for task in TASKS.split(",")
    for seed in range(FIRST, FIRST + SEEDS)
    for cell in cells_of(task, seed)
]


# %% [markdown]
# ## Fit and measure


# %%
NOISE, TESTED = (
    0.3,
    500,
)  # standard deviation of the regression's targets; images of a folder that are scored


def moons_gap(seed):
    """Inputs on two moons; target, the place along the moon from -1 to 1, plus noise; the test set is that outside of the gap."""
    source, turn = torch.Generator().manual_seed(seed), math.pi / 6

    def points(n, low, high):
        t = math.pi * (low + (high - low) * torch.rand(n, generator=source))
        first, second = (
            torch.stack([t.cos(), t.sin()], 1),
            torch.stack([1 - t.cos(), 0.5 - t.sin()], 1),
        )
        x = torch.where(torch.rand(n, 1, generator=source) < 0.5, first, second)
        noise = torch.randn(n, 3, generator=source)
        return x + 0.05 * noise[:, :2], (2 / math.pi * t - 1)[:, None] + NOISE * noise[:, 2:]

    def ends(n):
        return fv.Data(*map(torch.cat, zip(points(n // 2, 0, 1 / 3), points(n // 2, 2 / 3, 1))))

    x, y = points(200, 0, 1)
    turned = x @ torch.tensor([[math.cos(turn), math.sin(turn)], [-math.sin(turn), math.cos(turn)]])
    task = fv.Task(fv.Data(turned, y), ends(40), ends(400), 1, "moons with a gap", likelihood=NOISE)
    return task, fv.Data(*points(200, 1 / 3, 2 / 3))


# %%
def prepared(name, seed, device):
    """Net, task and prior of a seed."""
    if name != "moons-gap":
        net, task, prior = prepare(
            "mlp" if name in DIALS else "conv",
            task=task_for(name, seed),
            seed=seed,
            epochs=EPOCHS,
            device=device,
        )
        some = torch.linspace(
            0, len(task.test) - 1, min(len(task.test), math.inf if name in DIALS else TESTED)
        ).long()
        return net, task if name in DIALS else replace(task, test=task.test.subset(some)), prior
    task = moons_gap(seed)[0].to(
        device
    )  # squared errors at the usual rate, then the same rate under the noise
    source = fv.pretrain(
        fv.models.mlp(task, seed=seed), task.source, epochs=EPOCHS, seed=seed, likelihood=1.0
    )
    swag = fv.fit(
        source, task.source, fv.SWAG(rank=5, lr=0.05 * NOISE**2), seed=seed, likelihood=NOISE
    )
    return (lambda net, prior: (net, task, prior))(
        *fv.transfer(source, swag, head_std=0.3, scale=64.0)
    )


# %%
def fit(cells, device):
    """Posteriors of one task and seed; None for a fit that diverged."""
    name, seed = cells[0]["setting"], cells[0]["seed"]
    net, task, prior = prepared(name, seed, device)
    about, gaussians = (net, task, prior, conditions(net, task, seed)), {}
    for restart in RESTARTS.get(name, (0,)):
        for method, radii, Ts in trained_together(name):
            fits = gaussians_of(net, task, prior, method, radii, Ts, seed + 5000 * restart)
            gaussians |= {(method, restart, *key): q for key, q in fits.items()}
    for cell in cells:
        q = gaussians.get((cell["method"], cell["restart"], cell["radius"], cell["T"]))
        if cell["method"] in KNOBS:
            q = with_knob(net, task, prior, cell["method"], cell["knob"], seed)
        elif cell["knob"] != 1 and q is not None:
            q = narrowed(q, cell["knob"] ** 0.5)
        yield cell, (*about, q)


# %%
def trained_together(task):
    """(method, radii, temperatures) of the fits of a Gaussian from the prior."""
    Ts, blocks = dials(task)
    modes = (
        [(mode, (radius,), (0.03,)) for mode, radius in MODES.items()]
        if task == "digits-near"
        else []
    )
    return [("vi", (0.0,), Ts), *[("sabma", *block) for block in blocks], *modes]


def gaussians_of(net, task, prior, method, radii, Ts, seed):
    """(radius, T) -> posterior."""
    way = fv.Perturbation(method if method in MODES else "kl_exact")
    how = {"steps": STEPS} if STEPS else {}
    numbers = fv.METHODS["sabma"].keywords(net)
    of_all = dict(perturbation=way, lr=numbers["lr"], start_scale=numbers["start_scale"])
    how |= {} if task.one_label else {"likelihood": task.likelihood}
    found = {}
    for T in Ts:
        family = [fv.SABMA(prior, radius=r, kl_weight=T, **of_all) for r in radii]
        fits = unless_diverged(fv.fit_many, net, task.train, family, seeds=[seed], **how) or {}
        found |= {(radii[i], T): q for (i, _), q in fits.items()}
    return found


def narrowed(q, scale):
    """A Gaussian with all standard deviations times `scale`."""
    return replace(q, log_std=q.log_std + np.log(scale), factor=scale * q.factor)


def with_knob(net, task, prior, method, value, seed):
    """A fit of another method at one value of its knob."""
    name, _ = KNOBS[method]
    if name == "radius":
        return unless_diverged(Fitting(net, task, prior, seed=seed).member, method, value)
    if method in ("swag", "laplace"):  # a factor on the covariance
        return narrowed(Fitting(net, task, prior, seed=seed).member(method), value**0.5)
    return unless_diverged(Fitting(net, task, prior, seed=seed, fit={name: value}).member, method)


# %% [markdown]
# Are the fits long enough for a *difference*? On the first seeds, at T = 0.03, VI and SA-BMA of radius 1 are fitted again by eight
# times the steps; on digits-near by another optimiser too, Adam, on the same objective: gradients of eight draws, four of them mirrored.

# %%
LONGER = {
    f"{m}, {how}": (r, how)
    for m, r in (("vi", 0.0), ("sabma", 1.0))
    for how in ("8 × the steps", "Adam")
}
first = range(FIRST, FIRST + FEW)
tasks = [task for task in TASKS.split(",") if task != "moons"]
longer = [
    dict(setting=t, method=m, radius=r, T=0.03, knob=1.0, restart=0, seed=s)
    for t in tasks
    for s in first
    for m, (r, how) in LONGER.items()
    if how != "Adam" or t == "digits-near"
]


def fit_longer(cells, device):
    """Posteriors of one task and seed after longer fits."""
    name, seed = cells[0]["setting"], cells[0]["seed"]
    net, task, prior = prepared(name, seed, device)
    about, usual = (
        (net, task, prior, conditions(net, task, seed)),
        STEPS or fv.METHODS["vi"].keywords(net)["steps"],
    )
    for cell in cells:
        if LONGER[cell["method"]][1] == "Adam":
            q = by_adam(net, task.train, prior, cell["radius"], cell["T"], seed, 5 * usual)
        else:
            how = dict(steps=8 * usual, seed=seed, likelihood=task.likelihood)
            tuned = fv.METHODS["sabma"].keywords(net)
            fields = dict(radius=cell["radius"], kl_weight=cell["T"])
            fields |= {name: tuned[name] for name in ("lr", "start_scale")}
            q = fv.fit(net, task.train, fv.SABMA(prior, **fields), **how)
        yield cell, (*about, q)


# %%
def by_adam(net, data, prior, radius, T, seed, steps):
    """The objective of VI, or at a radius that of SA-BMA, by Adam with a rate that falls to 0 along half a cosine."""
    start, f = narrowed(prior, 0.3), fv.nll(net, data)
    theta = [part.clone().requires_grad_() for part in (start.mean, start.log_std, start.factor)]
    adam = torch.optim.Adam(theta, lr=0.01)
    rate = torch.optim.lr_scheduler.CosineAnnealingLR(adam, steps)
    source, (x, y) = torch.Generator().manual_seed(seed), f.data.batch(None)
    many = torch.func.vmap(lambda w: torch.nn.functional.cross_entropy(net(w, x), y))
    for _ in range(steps):
        z1, z2 = (torch.randn(4, n, generator=source) for n in (start.dim, start.rank))
        z1, z2 = torch.cat((z1, -z1)), torch.cat((z2, -z2))
        mean = lambda m, r, factor, z1=z1, z2=z2: many(m + r.exp() * z1 + z2 @ factor).mean()
        g = torch.autograd.grad(mean(*theta), theta)
        if radius:
            here = fv.Gaussian(*(part.detach() for part in theta))
            moved = [
                (a.detach() + b).requires_grad_()
                for a, b in zip(theta, fv.perturb(here, g, radius=radius))
            ]
            g = torch.autograd.grad(mean(*moved), moved)
        pull = torch.autograd.grad(fv.Gaussian.unchecked(*theta).kl(prior), theta)
        for part, one, other in zip(theta, g, pull):
            part.grad = one + T / len(data) * other
        adam.step(), rate.step()
    return fv.Gaussian(*(part.detach() for part in theta))


# %% [markdown]
# λ1: mean over draws of the largest eigenvalue of the training loss's Hessian over the treated weights, and of the mean of these
# Hessians, which by Jensen's inequality is lower. *train*: mean training loss of the draws, E_q[L]; *train of the average*: of their
# averaged probabilities; of the regression, what these are above the NLL of a perfect fit. Shifted: five corruptions at severity 3, on
# every fourth test image each; of the regression, its gap. *overconfidence*: mean confidence minus accuracy. *coverage*: share of
# targets in the central 90 % interval of the prediction.


# %%
def conditions(net, task, seed):
    """Data under which a posterior is scored: training set, test set, shifted parts of it; as one, with the places of each."""
    parts = {"train": task.train, "test": task.test}
    if len(task.input_shape) == 3:
        part = task.test.subset(np.arange(0, len(task.test), 4).tolist())
        parts |= {kind: corrupt(part, kind, SEVERITY, seed=seed) for kind in SHIFTS}
    if not task.one_label:
        parts["gap"] = moons_gap(seed)[1]
    ends = np.cumsum([0] + [len(data) for data in parts.values()])
    whole = fv.Data(
        torch.cat([data.x[:] for data in parts.values()]),
        torch.cat([data.y for data in parts.values()]),
    )
    return whole, {name: slice(a, b) for name, a, b in zip(parts, ends, ends[1:])}


# %%
SCORES = {
    True: ("nll", "accuracy", "ece", "overconfidence"),
    False: ("nll", "rmse", "coverage"),
}  # of classes, of numbers


def measure(fitted, cell, n_draws=DRAWS, n_spectra=SPECTRA):
    net, task, prior, (data, places), q = fitted
    shifted, names = (
        [name for name in places if name not in ("train", "test")],
        SCORES[task.one_label],
    )
    if q is None:
        names = ["lambda1", "lambda1_of_mean", "trace", "train", "train_avg", "kl", *names]
        return dict.fromkeys(
            [*names, *(f"shifted_{name}" for name in SCORES[task.one_label] if shifted)], np.nan
        )
    method, how = (
        fv.METHODS.get(cell["method"], fv.METHODS["sabma"]),
        dict(seed=cell["seed"] + 1, n_draws=n_draws),
    )
    prediction = scored(net, method, q, data, likelihood=task.likelihood, **how)
    scores = {name: scores_of(prediction, part) for name, part in places.items()}
    values = curvature_of(net, task, q, cell["seed"], n_spectra)
    values |= dict(train=scores["train"]["of_draws"], train_avg=scores["train"]["of_average"])
    values["kl"] = (
        float(q.kl(prior)) if isinstance(q, fv.Gaussian) and cell["method"] not in KNOBS else np.nan
    )
    values |= {name: scores["test"][name] for name in names}
    return values | {
        f"shifted_{name}": np.mean([scores[kind][name] for kind in shifted])
        for name in names
        if shifted
    }


# %%
def scores_of(prediction, part):
    """Scores of the averaged draws on a part of the data, and the mean loss of the draws."""
    one = replace(
        prediction, outputs=prediction.outputs[:, part], y=prediction.y[part], scores={}, bins=None
    )
    if not prediction.has_classes:
        log_p, inside = (
            log_density(one, one.y),
            (one.y > one.quantile(0.05)) & (one.y < one.quantile(0.95)),
        )
        nll, rmse = (
            math.log(len(log_p)) - log_p.logsumexp(0).mean(),
            (one.mean - one.y).square().mean().sqrt(),
        )
        least = (
            math.log(NOISE) + math.log(2 * math.pi) / 2
        )  # of the NLL: what is above it is a squared error
        found = dict(
            nll=nll,
            rmse=rmse,
            coverage=inside.double().mean(),
            of_draws=-log_p.mean() - least,
            of_average=nll - least,
        )
        return {name: float(value) for name, value in found.items()}
    whole = averaged(one)
    found = {name: float(whole.scores[name][-1]) for name in ("nll", "accuracy", "ece")}
    found["of_average"] = found["nll"]
    found["overconfidence"] = float(whole.probs[0].max(-1).values.mean()) - found["accuracy"]
    return found | {
        "of_draws": float(
            -one.log_probs.gather(-1, one.y.expand(len(one.outputs), -1)[..., None]).mean()
        )
    }


def curvature_of(net, task, q, seed, n_spectra):
    f = fv.nll(net, task.train, likelihood=task.likelihood)
    W = q.sample(min(n_spectra, len(q.W)) if isinstance(q, fv.Draws) else n_spectra, seed=seed + 1)
    W = W[:1] if bool((W == W[0]).all()) else W
    moved = lambda w: torch.stack(
        [f(w + (row - W[0])) for row in W]
    ).mean()  # its Hessian at W[0] is the mean of theirs
    sharp = [float(fv.top_eigenpairs(f, w, 1, iters=30, tol=1e-3, seed=seed).values[0]) for w in W]
    mean = (
        float(fv.top_eigenpairs(moved, W[0], 1, iters=30, tol=1e-3, seed=seed).values[0])
        if len(W) > 1
        else sharp[0]
    )
    return dict(
        lambda1=np.mean(sharp),
        lambda1_of_mean=mean,
        trace=fv.hessian_trace(moved, W[0], products=12, seed=seed)[0],
    )


# %%
LOGS = ("lambda1", "lambda1_of_mean", "trace", "train", "train_avg", "kl", "T")
ALONG = {"equal training loss": "train", "equal KL": "kl"}


def logged(frame):
    return frame.assign(**{q: np.log(frame[q]) for q in frame if q in LOGS})


def on_curve(mine, vi, by):
    """VI, rows (T, seed), where its `by` is that of `mine`, seed by seed; NaN beyond its temperatures.  Both with logs."""
    rows = {}
    for seed, row in mine.iterrows():
        line = vi.loc[[seed]].sort_values(by)
        x = line[by].to_numpy()
        rows[seed] = [
            np.interp(row[by], x, y, left=np.nan, right=np.nan) for y in line.to_numpy(float).T
        ]
    return pd.DataFrame.from_dict(rows, orient="index", columns=vi.columns)


# %% [markdown]
# ## Run, or read
#
# The claims were committed before the seeds were used; the hash of their file stands in the table, fit by fit.

# %%
FILES = sorted(FOLDER.glob("frontier*.toml"))
CLAIMS = {file.name: tomllib.loads(file.read_text(encoding="utf-8")) for file in FILES}
HASHES = {file.name: hashlib.sha256(file.read_bytes()).hexdigest()[:12] for file in FILES}
file_of = {claim["task"]: name for name, claims in CLAIMS.items() for claim in claims["claim"]}
if RUN:
    how = dict(group=("setting", "seed"), device=DEVICE, workers=WORKERS)
    parts = [
        run(cells, fits, measure, name=name, **how)
        for name, cells, fits in (("frontier", grid, fit), ("frontier, longer", longer, fit_longer))
        if cells
    ]
    table = pd.concat(parts, ignore_index=True).assign(experiment="frontier")
    table["setting"] = table.setting.map(short)
    table.insert(1, "claims", table.setting.map(file_of).map(HASHES))
else:
    table = read_table(TABLE)
if SAVE:
    write_table(table, SAVE, digits=5, wide=True)
table = table[
    table.groupby(["setting", "quantity"]).value.transform("count") > 0
]  # of each task the quantities that it has
for name, digest in HASHES.items():
    stored = table[table.setting.map(file_of) == name].claims.unique()
    print(f"the claims, {name}: {digest}; those of the table: {', '.join(stored)}")


# %% [markdown]
# ## Equal temperature, equal training loss, equal KL
#
# *Equal training loss* and *equal KL*: VI's values between its two nearest temperatures, linear in the logarithm of loss or KL; λ1,
# trace and *T* in logarithms. A seed whose curve does not bracket the fit is left out and counted. With two restarts a seed's difference
# is the mean of both.


# %%
@cache
def cell(task, restart=0, **fit):
    """(seeds, quantities) of one fit, as the claims name it, with its T."""
    of = dict(radius=0.0, knob=1.0) | fit
    return at(table, setting=task, restart=restart, **of).assign(T=of.get("T", np.nan))


def seeds_of(task):
    return table[table.setting == task].seed.nunique()


def temperatures(task):
    return sorted(table.query("setting == @task and method == 'vi'")["T"].unique())


# %%
def differences(task, mine, against, control):
    """(seeds, quantities): the first fit less the second under a control, means over restarts; of `LOGS` log ratios."""
    parts, gaussian = [], mine["method"] in ("vi", "sabma")
    for restart in range(
        1 + int(table[table.setting == task].restart.max())
        if gaussian and task in set(table.setting)
        else 1
    ):
        left = logged(cell(task, restart, **mine))
        if control == "equal T":
            right = logged(cell(task, restart, **against))
        else:
            vi = pd.concat([cell(task, restart, method="vi", T=T) for T in temperatures(task)])
            right = on_curve(left, logged(vi), ALONG[control])
        parts.append(left - right)
    return sum(parts) / len(parts)


# %%
SHOWN = {"lambda1": "λ1", "nll": "NLL", "ece": "ECE", "accuracy": "accuracy", "shifted_nll": "shifted NLL", "shifted_ece": "shifted ECE",
         "rmse": "RMSE", "coverage": "coverage", "shifted_coverage": "shifted coverage", "train": "training loss",
         "kl": "KL", "T": "T / T*", "trace": "trace", "lambda1_of_mean": "λ1(E H)"}  # fmt: skip


def text(values, q):
    """Ratio with its interval, or difference ± half."""
    test = mean_zero(values.dropna())
    if q in LOGS:
        middle, low, high = np.exp(test["mean"] + test["half"] * np.array([0, -1, 1]))
        return f"{middle:.2f} ({low:.2f} to {high:.2f})"
    return f"{test['mean']:+.3f} ± {test['half']:.3f}"


# %% [markdown]
# SA-BMA at radius 1 less VI: ratios of λ1, training loss, KL and trace, differences of the others; means over seeds with 95 % intervals.

# %%
TEMPERATURES = (0.03, 0.1, 0.3, 1.0)
FLAT = dict(method="sabma", radius=1.0)


def against(task, T, mine=FLAT):
    """One line for each control."""
    lines = {f"VI at T = {T:g}": ("equal T", dict(method="vi", T=T))} | {
        f"VI of {control}": (control, None) for control in ALONG
    }
    if (task, T) == ("digits-near", 0.03) and mine == FLAT:
        lines |= {
            f"VI at T = 0.03, covariance × {s:g} after the fit": (
                "equal T",
                dict(method="vi", T=T, knob=s),
            )
            for s in SCALES
        }
    rows = {}
    for name, (control, other) in lines.items():
        found = differences(task, {**mine, "T": T}, other, control)
        rows[name] = {
            label: text(found[q], q)
            for q, label in SHOWN.items()
            if q in found and found[q].notna().sum() > 1
        }
        rows[name]["seeds"] = f"{found.train.notna().sum()} of {len(found)}"
    return pd.DataFrame(rows).T.fillna("").rename_axis("less").reset_index()


# %%
for task in dict.fromkeys(table.setting):
    for T in TEMPERATURES:
        if T in set(table.query("setting == @task and method == 'sabma' and radius == 1")["T"]):
            print(f"{task}: SA-BMA at radius 1, T = {T:g}")
            print(against(task, T).to_string(index=False), end="\n\n")

# %% [markdown]
# ### The temperature that a radius is worth
#
# *T\**: VI's temperature at the training loss of the fit, the geometric mean over seeds, and its relation to *T*.

# %%
fits = (
    table.query("method != 'vi' and T == T and method not in @LONGER")[
        ["setting", "method", "radius", "T"]
    ]
    .drop_duplicates()
    .sort_values("radius")
)
for fit_of in fits.to_dict("records"):
    task, mine = fit_of.pop("setting"), fit_of
    log = -differences(task, mine, None, "equal training loss")["T"].dropna()
    middle, low, high = mine["T"] * np.exp(
        mean_zero(log)["mean"] + mean_zero(log)["half"] * np.array([0, -1, 1])
    )
    print(
        f"{task}, {mine['method']} at radius {mine['radius']:g}, T = {mine['T']:g}: T* = {middle:.3g} ({low:.3g} to {high:.3g})"
    )

# %% [markdown]
# ### The frontier
#
# Means over seeds, of training loss and λ1 geometric ones, up to T = 0.3.

# %%
ROWS = {
    "lambda1": "λ1",
    "nll": "NLL (nats)",
    "ece": "ECE",
    "rmse": "RMSE",
}  # those that the task has
WIDE = ("cifar10",)  # drawn up to T = 0.6, for there the radius raises the training loss
NAMED = {"rank1_pinv": "SA-BMA, rank1_pinv", "rank1_damped": "SA-BMA, rank1_damped"}


def means(task, cells):
    """A row a cell, in their order: means over seeds and restarts."""
    rows = [logged(cell(task, r, **c)).mean() for c in cells for r in (0,)]
    return pd.DataFrame(rows).assign(
        **{q: lambda d, q=q: np.exp(d[q]) for q in LOGS},
        at=[c.get("radius") or c.get("T") for c in cells],
    )


# %%
def lines_of(task, warmest=0.3):
    """(name, method, cells) of each line and mark; Laplace, whose linearised draws have losses beyond the axis, is left out."""
    flat = (
        table.query("setting == @task and method == 'sabma' and T <= @warmest")[["radius", "T"]]
        .drop_duplicates()
        .to_dict("records")
    )
    lines = [
        ("VI over T", "vi", [dict(method="vi", T=T) for T in temperatures(task) if T <= warmest])
    ]
    for T in sorted({c["T"] for c in flat}):
        some = sorted((c for c in flat if c["T"] == T), key=lambda c: c["radius"])
        line = [dict(method="vi", T=T), *(dict(method="sabma", **c) for c in some)]
        lines.append(("SA-BMA over its radius", "sabma", line))
    marks = table[(table.setting == task) & ~table.method.isin(["vi", "sabma", "laplace", *LONGER])]
    marks = marks[["method", "radius", "T", "knob"]].drop_duplicates("method", keep="last")
    for c in marks.to_dict("records"):
        name = NAMED.get(c["method"], style(c["method"]).label)
        lines.append((name, c["method"], [{k: v for k, v in c.items() if v == v}]))
    return lines


# %%
def frontier(task, lines):
    rows = {
        q: label for q, label in ROWS.items() if q in set(table[table.setting == task].quantity)
    }
    alt = f"{task}: {', '.join(rows.values())} against training loss for " + ", ".join(
        dict.fromkeys(name for name, *_ in lines)
    )
    grid = dict(rows=len(rows), columns=1, pattern="coupled", ygap=0.08)
    fig = figure(
        f"Radius or temperature? {task}, {seeds_of(task)} seeds", alt, height=680, grid=grid
    )
    known = set()
    for name, method, cells in lines:
        found, look = (
            means(task, cells),
            dict(color=style(method).color, symbol=style(method).symbol, size=8),
        )
        drawn = "lines+markers" if len(cells) > 1 else "markers"
        hover = f"{name}, at %{{text:.3g}}: training loss %{{x:.3g}}, %{{y:.3g}}"
        for i, q in enumerate(rows):
            on = dict(
                yaxis=f"y{i + 1}" if i else "y",
                showlegend=i == 0 and name not in known,
                legendgroup=name,
            )
            fig.add_scatter(x=found.train, y=found[q], text=found["at"], mode=drawn, name=name, marker=look, line_dash=style(method).dash,
                            hovertemplate=hover, **on)  # fmt: skip
        known.add(name)
    for i, label in enumerate(rows.values()):
        fig.update_layout({f"yaxis{i + 1 if i else ''}": dict(title=label)})
    ticks = dict(tickvals=[0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0])
    fig.update_xaxes(
        type="log", title="training loss (nats), mean over draws", **ticks
    ).update_layout(yaxis=dict(type="log", tickvals=[0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200]))
    return fig.update_layout(
        legend=dict(y=-0.14, yanchor="top", font=dict(size=11)), margin=dict(t=56, b=130)
    )


# %%
for task in dict.fromkeys(table.setting):
    display(frontier(task, lines_of(task, 0.6 if task in WIDE else 0.3)))

# %% [markdown]
# *Figure: a panel each for λ1, NLL and ECE (of the regression RMSE) over the training loss, λ1 and the loss on logarithmic axes. A dashed
# line is VI over T. The lines of SA-BMA over its radius begin on it at several T; on digits-near they go to the left and stay close to
# it, on cifar10, after short fits, they go to the right: λ1 along the line of VI at T = 0.03, and at 0.3 to half of it.*
#
# ### λ1 of the mean Hessian
#
# E λ1(H) is at least λ1(E H), by Jensen's inequality: draws have their sharpest directions in different places.

# %%
for task in dict.fromkeys(table.setting):
    for T in sorted({0.03, 0.3} & set(temperatures(task))):
        vi = cell(task, method="vi", T=T)
        print(
            f"{task}, VI at T = {T:g}: E λ1(H) {vi.lambda1.mean():.3g}, λ1(E H) {vi.lambda1_of_mean.mean():.3g}"
        )

# %% [markdown]
# ### Does the difference depend on the length of the fits?
#
# SA-BMA at radius 1 less VI at T = 0.03, on the seeds with longer fits. *Converged*: the difference at the default length lies within the
# interval of that at eight times the steps.

# %%
HOW = {"the default steps": "{}"} | {
    how: f"{{}}, {how}" for how in dict.fromkeys(how for _, how in LONGER.values())
}
for task in dict.fromkeys(table.setting):
    if not table[table.setting == task].method.isin(LONGER).any():
        print(f"{task}: nothing was fitted with more steps, so convergence is not shown")
        continue
    few, apart = (
        sorted(table[(table.setting == task) & table.method.isin(LONGER)].seed.unique()),
        {},
    )
    for how, name in HOW.items():
        if name.format("vi") not in set(table[table.setting == task].method):
            continue
        flat, plain = (
            cell(task, method=name.format(m), radius=r, T=0.03)
            for m, r in (("sabma", 1.0), ("vi", 0.0))
        )
        apart[how] = (logged(flat) - logged(plain)).loc[few]
    shown = {
        how: {SHOWN[q]: text(d[q], q) for q in SHOWN if q in d and q != "T"}
        for how, d in apart.items()
    }
    print(f"{task}, {len(few)} seeds", pd.DataFrame(shown).to_string(), sep="\n")
    for q in [q for q in ("lambda1", "nll", "ece", "rmse", "train") if q in apart["8 × the steps"]]:
        test, here = mean_zero(apart["8 × the steps"][q]), apart["the default steps"][q].mean()
        print(
            f"{SHOWN[q]}: {'converged' if abs(here - test['mean']) < test['half'] else 'not shown to have converged'}"
        )

# %% [markdown]
# ## Claims
#
# One family of Holm for each file. *lower*, *higher*: Student's *t*, two-sided. *same*: two one-sided *t* tests that the difference
# lies within the margin; it does not hold where the difference is shown to lie beyond it (*t*, two-sided). A claim with fewer than
# three quarters of its seeds bracketed is not comparable, nor one with fewer seeds than its file asks for. Two things came after seeds
# had been looked at: four of the ten of cifar10, and the rule by which a claim of *same* does not hold (before, it was inconclusive).


# %%
def row_of(claim, least=2, share=0.75):
    """A claim of the file as a row for `judged`."""
    q, better = claim["quantity"], {"lower": -1, "higher": 1, "same": 1}[claim["direction"]]
    about = {k: claim[k] for k in ("id", "task", "control", "direction", "quantity")}
    about |= dict(
        claim=claim["words"],
        against="VI"
        if claim["control"] != "equal T" or claim["against"]["method"] == "vi"
        else "SA-BMA",
    )
    try:
        of = differences(claim["task"], claim["mine"], claim.get("against"), claim["control"])[q]
    except ValueError:  # no row of these fits
        of = pd.Series(dtype=float)
    enough = of.notna().sum() > max(least - 1, share * len(of))
    values = of.dropna() if enough else pd.Series([np.nan, np.nan])
    row = mean_zero(values, better) | dict(
        ratio=q in LOGS, median=values.median(), left_out=of.isna().sum()
    )
    if claim["direction"] == "same" and row["mean"] == row["mean"]:
        margin = np.log1p(claim["margin"]) if q in LOGS else claim["margin"]
        p, inside = equivalent(row, margin), abs(row["mean"]) < margin
        row |= (
            dict(p=p, gain=1.0) if inside else dict(p=2 * (1 - p), gain=-1.0)
        )  # 1 - p: one-sided, of a mean beyond it
    return about | row


# %%
rows = [
    row_of(claim, of.get("least", 2)) | {"file": name}
    for name, of in CLAIMS.items()
    for claim in of["claim"]
]
verdicts = judged(pd.DataFrame(rows), family=["file"])


def said(row):
    """The estimate of a claim: mean with its interval, and the median."""
    if row.ratio:
        return "{:.2f} ({:.2f} to {:.2f}), median {:.2f}".format(
            *np.exp([row.mean, row.mean - row.half, row.mean + row.half, row.median])
        )
    return f"{row.mean:+.4f} ± {row.half:.4f}, median {row.median:+.4f}"


for task, rows in verdicts.groupby("task", sort=False):
    print(f"{task}, {seeds_of(task)} seeds; corrected by Holm for {rows.claims.iloc[0]} claims")
    for row in rows.itertuples():
        out = f", seeds without VI of that loss: {row.left_out}" if row.left_out else ""
        print(
            f"  {row.claim}: {said(row) if row.mean == row.mean else 'no values'}{out}: {row.verdict}"
        )

# %% [markdown]
# ## What holds
#
# In full, and in the four sentences of README. Made by rule: a claim that does not hold is said to be inconclusive, or not to hold.

# %%
OF = {row.id: row for row in verdicts.itertuples()}


def figures(*ids):
    """The estimates of claims, with what is not shown said so."""

    def one(row):
        amount = f"{np.exp(row.mean):.2f}" if row.ratio else f"{row.mean:+.3f}"
        word = "not the same" if (row.direction, row.verdict) == ("same", NOT) else row.verdict
        return amount + ("" if row.verdict == HOLDS else f" ({word})")

    return ", ".join(one(OF[name]) for name in ids)


def interval_of(name):
    row = OF[name]
    return "{:.2f} to {:.2f}".format(*np.exp([row.mean - row.half, row.mean + row.half]))


# %%
def t_star(name, T):
    row = OF[name]
    return "{:.3g} ({:.3g} to {:.3g})".format(
        *(T / np.exp([row.mean, row.mean + row.half, row.mean - row.half]))
    )


def of(control, quantity, *Ts, task="near"):
    """The estimates of claims on SA-BMA at radius 1, at these T."""
    return figures(*(f"{task}-sabma-1-{T}-{control}-{quantity}" for T in Ts or ("0.03",)))


# %%
def with_seeds(task, name, text):
    """A sentence on a task; where it has fewer seeds than its claims ask for, that alone."""
    seeds, least = seeds_of(task), CLAIMS[file_of[task]].get("least", 2)
    few = f"{seeds} seeds ended in the time of the run, fewer than the {least} that its claims ask for: inconclusive."
    return f"**{name}** ({seeds} seeds) {text}" if seeds >= least else f"**{name}**: {few}"


def both(control, quantity, task):
    """The estimates of claims at T = 0.03 and 0.3."""
    return of(control, quantity, "0.03", "0.3", task=task)


# %%
OTHERS_NEAR, WARM = ("sgd", "swag", "f-swag", "multiswag", "ensemble"), ("0.1", "0.3", "1")
WHAT_HOLDS = [
    f"**At equal *T*** = 0.03 λ1 is {of('T', 'lambda1-lower')} of VI's ({interval_of('near-sabma-1-0.03-T-lambda1-lower')}), ECE "
    f"{of('T', 'ece-lower')}, NLL the same within 0.01 ({of('T', 'nll-same')}); on corrupted images NLL and ECE are higher "
    f"({of('T', 'shifted-nll-higher')}, {of('T', 'shifted-ece-higher')}).",
    f"**At equal training loss**, VI's at *T* = {t_star('near-sabma-1-0.03-loss-T-higher', 0.03)}, λ1 is "
    f"{of('loss', 'lambda1-same')} of VI's, the same within 10 %; NLL, ECE and NLL on corrupted images are the same within "
    f"0.02, 0.01 and 0.02 "
    f"({of('loss', 'nll-same')}, {of('loss', 'ece-same')}, {of('loss', 'shifted-nll-same')}); at equal KL λ1 is "
    f"{of('kl', 'lambda1-same')}, NLL {of('kl', 'nll-same')}.",
    f"**At *T* = 0.1, 0.3 and 1** λ1 is {of('T', 'lambda1-lower', *WARM)} at equal *T*, "
    f"{of('loss', 'lambda1-same', *WARM)} at equal training loss; NLL differs by {of('T', 'nll-lower', *WARM)}, and by "
    f"{of('loss', 'nll-same', *WARM)}. On two moons (*T* = 0.03, 0.3) λ1 is "
    f"{of('T', 'lambda1-lower', '0.03', '0.3', task='moons')} and {of('loss', 'lambda1-same', '0.03', '0.3', task='moons')}.",
    f"**Flatter** at equal *T* and NLL (within 0.01) is VI with its covariance × 0.7 after the fit: SA-BMA's λ1 is "
    f"{figures('near-sabma-scaled-lambda1')} of its; flatter with a higher NLL are SGD, SWAG, F-SWAG, MultiSWAG and ensembles: λ1 "
    f"{figures(*(f'near-{m}-lambda1' for m in OTHERS_NEAR))} of SA-BMA's, NLL {figures(*(f'near-{m}-nll' for m in OTHERS_NEAR))}.",
    f"**On *digits*** (90 degrees, 10 shots, *T* = 0.03) F-SWAG and MultiSWAG beat SA-BMA: λ1 "
    f"{figures('digits-f-swag-lambda1', 'digits-multiswag-lambda1')} of its, NLL "
    f"{figures('digits-f-swag-nll', 'digits-multiswag-nll')}; its λ1 is "
    f"{of('loss', 'lambda1-same', '0.03', '0.3', task='digits')} of VI's at equal training loss (*T* = 0.03, 0.3).",
    with_seeds(
        "moons-gap",
        "On moons-gap, a regression",
        f"at *T* = 0.03, 0.3, λ1 is {both('T', 'lambda1-lower', 'gap')} of VI's at equal *T*, {both('loss', 'lambda1-same', 'gap')} at "
        f"equal training loss; there NLL, RMSE, coverage and NLL in the gap differ by {both('loss', 'nll-same', 'gap')}; "
        f"{both('loss', 'rmse-same', 'gap')}; {both('loss', 'coverage-same', 'gap')}; {both('loss', 'shifted-nll-same', 'gap')}.",
    ),
    with_seeds(
        "cifar10",
        "On cifar10, images",
        f"at *T* = 0.03, 0.3, the training loss is {both('T', 'train-higher', 'cifar')} of VI's at equal *T*, λ1 "
        f"{both('T', 'lambda1-lower', 'cifar')}; at equal training loss λ1 is {both('loss', 'lambda1-same', 'cifar')}, NLL and ECE "
        f"differ by {both('loss', 'nll-same', 'cifar')}; {both('loss', 'ece-same', 'cifar')}.",
    ),
]  # fmt: skip
print(*WHAT_HOLDS, sep="\n")

# %% tags=["finding"]
README = [
    f"**At equal *T*** (0.03) SA-BMA's λ1 is {of('T', 'lambda1-lower')} of VI's, ECE lower ({of('T', 'ece-lower')}), NLL the same within 0.01 "
    f"({of('T', 'nll-same')}), on corrupted images higher ({of('T', 'shifted-nll-higher')}).",
    f"**At equal training loss**, VI's at *T* = {t_star('near-sabma-1-0.03-loss-T-higher', 0.03).split()[0]}, λ1 is "
    f"{of('loss', 'lambda1-same')} of VI's ({interval_of('near-sabma-1-0.03-loss-lambda1-same')}), of the mean Hessian "
    f"{text(differences('digits-near', dict(FLAT, T=0.03), None, 'equal training loss')['lambda1_of_mean'], 'lambda1_of_mean')}; NLL "
    f"{of('loss', 'nll-same')}, ECE {of('loss', 'ece-same')}.",
    f"**Flatter still**: VI's covariance × 0.7 (SA-BMA's λ1 is {figures('near-sabma-scaled-lambda1')} of its); on *digits* SWAG trained by SAM "
    f"({figures('digits-f-swag-lambda1')} of SA-BMA's, NLL {figures('digits-f-swag-nll')}). At *T* = 0.3 there SA-BMA's λ1 is "
    f"{of('T', 'lambda1-lower', '0.3', task='digits')} of VI's.",
]  # fmt: skip
print(*(f"- {sentence}" for sentence in README), sep="\n")

# %% [markdown]
# ## What would change our mind
#
# Another network, data set or length of fits on which, at equal training loss, λ1 or NLL differ by more than the margins. Networks of
# a few hundred treated weights are no ResNet. The ascent that we take is to first order; a many-step one was not tried.
