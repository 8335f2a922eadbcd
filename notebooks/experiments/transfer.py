# %% [markdown]
# # Experiment: few shots of other classes, on images
#
# **Question.** A network learned some classes of images. Each method then gets a few images of *other* classes and treats norm
# layers and head. Which method predicts best on clean test images, on corrupted ones, and which knows that images of classes
# left out are none of those it learned? Does SA-BMA help, against VI and against SGD with SAM, **at equal gradients**?
#
# **Grid.** One pre-trained network; each seed draws the few shots and all noise. A method of two gradients a step takes half the
# steps; SWAG's snapshots count as steps, and each draw of VI and SA-BMA as a gradient.
#
# **Stored table.** ResNet-20 of width 8 on CIFAR-10: four classes to pre-train on, four to learn with ten images each, two left
# out; eight seeds, 300 gradients a fit. Each method had six trials at as many gradients; the trial with the lowest validation NLL on two
# other seeds was used. We did not measure whether the fits have converged. With your own images:
# `flatviz run transfer -p data=image-folder:PATH -p model=resnet18 --device auto`, PATH a folder of class folders.

# %% tags=["parameters"]
RUN = False  # True computes everything, False reads the stored table
TABLE = "transfer"  # stored table, or path of a CSV file
SAVE = ""  # path of a CSV file to write the table to
SEEDS = 8
METHODS = "sgd,f-sgd,swag,f-swag,vi,sabma"  # names of `fv.METHODS`; f-sgd is SGD with SAM
DEVICE = "cpu"
WORKERS = 1  # more than 1: so many processes
# images
DATA = "image-folder:PATH"  # a folder of class folders; or mnist:ROOT, cifar10:ROOT, ... as torchvision leaves it in ROOT
SIZE = 0  # pixels to which the images of a folder are scaled; 0: as they are
SOURCE = ""  # other images to pre-train on, as DATA; "": those of SOURCE_CLASSES
TEST = ""  # other images to be judged on, as DATA ("official": the test split of DATA); "": what the shots leave
SOURCE_CLASSES = ""  # names with commas between, "all" or "none"; "": drawn from those that the others do not name
TARGET_CLASSES = ""
LEFT_OUT = ""
SHOTS = 10  # training images a class
TEST_IMAGES = 200  # to be judged on; 0: all
OUT_IMAGES = 200  # of the classes left out
OOD = ""  # more images that the network should not be sure of: as DATA, with commas between
CORRUPTIONS = "gaussian_noise,defocus_blur,fog,pixelate"
SEVERITIES = "1,3,5"
CORRUPTED = ""  # a folder of CIFAR-10-C's or CIFAR-100-C's files, kind.npy and labels.npy, in place of corruptions made here
# network
MODEL = "resnet20"  # resnet20, resnet20-group, vit (four layers, 8 × 8 patches), or one of torchvision's, such as resnet18
WIDTH = 8  # channels of resnet20's first stage, of vit an eighth of the features of a patch
SIDE = 0  # pixels to which torchvision's networks enlarge images; 0: as they are
WEIGHTS = ""  # a file (.pth, .safetensors), or torchvision's name of published weights, in place of pre-training
SOURCE_IMAGES = 500  # a class to pre-train on
EPOCHS = 10  # of pre-training
SOURCE_LR = 0.1
SNAPSHOTS = 5  # epochs of SWAG on the source
SWAG_LR = 0.0  # 0: a twentieth of SOURCE_LR
# posterior
PRIOR = "swag"  # swag (on the source), moped, or downstream (SWAG on the few shots)
TREATED = "norm+head"
HEAD_STD = 0.3  # of the prior on the head
HEAD_START = "zero"
SCALE = 1.0  # of the prior's covariance
TRUNK = "fixed"  # weights that are not treated: fixed, or sampled from the prior with every draw
BATCHNORM = "frozen"  # statistics that predict: frozen, or refresh, on the few shots for each draw
GRADIENTS = 300  # of each fit
BATCH = 0  # training images of a gradient; 0: all
PRECISION = ""  # "bfloat16": products of training in that type
MC_SAMPLES = 1  # draws a step of VI and SA-BMA; each costs a gradient
DRAWS = 8  # averaged
SPECTRA = 1  # draws whose λ1 is computed
TRIALS = 0  # settings tried for each method on validation splits of seeds 1000 and 1001; 0: those of the record
CHOICES = ""  # a JSON file that the chosen settings are written to, and read from where it is there

# %%
import json
import math
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import plotly.express as px
import torch
from torchvision.models import VisionTransformer

# %%
import flatviz as fv
from flatviz.core.arithmetic import pick
from flatviz.core.seeds import generator, saved_rng
from flatviz.datasets.given import in_memory
from flatviz.datasets.images import PUBLIC, image_folder, images_like, public_images
from flatviz.experiments import judged, read_table, run, write_table
from flatviz.experiments.statistics import mean_zero
from flatviz.families.members import Choice, Fitting, read_choices, unless_diverged
from flatviz.families.standing import check_learned
from flatviz.families.tune import tried
from flatviz.models.public import load_weights
from flatviz.results import interval
from flatviz.storage.cache import cached

# %% [markdown]
# ## Images and classes


# %%
def stamps(path):
    """Size and time of a file, or of the files of a folder: what a kept result depends on beside the path."""
    files = sorted(Path(path).glob("*")) if Path(path).is_dir() else [Path(path)]
    return [(f.name, f.stat().st_size, f.stat().st_mtime_ns) for f in files if path and f.is_file()]


# %%
def read_images(spec, per_class, train=True, size=SIZE):
    """Images by name, at most so many of each class; a folder larger than memory is read batch by batch."""
    kind, _, path = spec.partition(":")
    if kind == "image-folder":
        return image_folder(path, size=size or None, per_class=per_class)
    if kind not in PUBLIC:
        raise ValueError(
            f"DATA must be image-folder:PATH or NAME:ROOT with one of {', '.join(PUBLIC)}, got {spec!r}: name one"
        )
    there = dict(root=path, download=False) if path else {}
    return public_images(kind, train=train, per_class=per_class, **there)


def split_classes(names, given=(SOURCE_CLASSES, TARGET_CLASSES, LEFT_OUT)):
    """Numbers of the classes to pre-train on, to learn, and left out: those named, all, none, or drawn by seed 0 from the others."""
    numbers = [numbers_of(part, names) for part in given]
    taken = {c for part in numbers for c in part or ()}
    order = [
        c for c in torch.randperm(len(names), generator=generator(0)).tolist() if c not in taken
    ]
    n_out = max(1, len(order) // 5) if numbers[2] is None else 0
    n_left = len(order) - n_out
    n_source = 0 if numbers[0] is not None else n_left // 2 if numbers[1] is None else n_left
    drawn = order[:n_source], order[n_source:n_left], order[n_left:]
    source, target, out = (
        sorted(some) if part is None else part for part, some in zip(numbers, drawn)
    )
    if len(target) < 2 or (given[0] != "none" and not SOURCE and len(source) < 2):
        raise ValueError(f"data must have two classes to pre-train on and two to learn, got {len(source)} and {len(target)} of "
                         f"{len(names)}: name them, or give SOURCE_CLASSES='none' with WEIGHTS or SOURCE")  # fmt: skip
    return source, target, out


def numbers_of(part, names):
    """The classes that a parameter names; None where they are drawn."""
    named = {"": None, "none": [], "all": list(range(len(names)))}
    chosen = [name.strip() for name in part.split(",")]
    if part not in named and (unknown := set(chosen) - set(names)):
        raise ValueError(
            f"classes must be of {', '.join(names)}, got {', '.join(sorted(unknown))}: correct the names"
        )
    return named[part] if part in named else [names.index(name) for name in chosen]


# %%
def source_parts(images, classes):
    """Images of the source classes to train on, and a fifth as many others to see whether that worked."""
    every = images if SOURCE else fv.datasets.pick_classes(images, classes)
    classes = range(int(every.y.max()) + 1)
    order, n_check = torch.randperm(len(every), generator=generator(0)), max(1, SOURCE_IMAGES // 5)
    per_class = [order[every.y[order] == c] for c in range(len(classes))]
    if (smallest := min(map(len, per_class))) < SOURCE_IMAGES + n_check:
        raise ValueError(
            f"source classes must have {SOURCE_IMAGES + n_check} images, got {smallest}: lower SOURCE_IMAGES"
        )
    train = torch.cat([index[:SOURCE_IMAGES] for index in per_class])
    check = torch.cat([index[SOURCE_IMAGES : SOURCE_IMAGES + n_check] for index in per_class])
    return every.subset(train), every.subset(check)


def read_outside(specs, like):
    """Name -> other images, OUT_IMAGES of each set, scaled to the shape of the data."""
    outside = {}
    for spec in filter(None, map(str.strip, specs.split(","))):
        images = read_images(spec, OUT_IMAGES, train=False, size=like.x.shape[-1])
        order = torch.randperm(len(images), generator=generator(0))[:OUT_IMAGES]
        outside[Path(spec).name] = images_like(in_memory(images.subset(order)), like.x.shape[1:])
    return outside


# %% [markdown]
# ## The source network
#
# Pre-trained on the source classes, then SWAG on the same images makes the prior. Weights from a file leave nothing to pre-train;
# SWAG then starts from them, and needs images of the classes that they know: SOURCE. Without such images PRIOR is moped or downstream.


# %%
def network(task):
    """The module for a task."""
    if MODEL == "vit":
        side = task.input_shape[-1]
        with saved_rng(0):
            vit = VisionTransformer(
                side, side // 8, 4, 4, 8 * WIDTH, 16 * WIDTH, num_classes=task.n_classes
            )
        return (
            load_weights(vit, WEIGHTS, new_head=True, example=torch.zeros(1, *task.input_shape))
            if WEIGHTS
            else vit
        )
    if not MODEL.startswith("resnet20"):
        return fv.models.torchvision_model(task, MODEL, weights=WEIGHTS or None, side=SIDE or None)
    module = fv.models.resnet20(task, norm=MODEL.partition("-")[2] or "batch", width=WIDTH)
    return load_weights(module, WEIGHTS, new_head=True, head="head") if WEIGHTS else module


def with_its_head(module):
    """The module with the head of WEIGHTS too, where that is of as many classes."""
    named = MODEL.startswith("resnet20")
    try:
        whole = load_weights(module if named else module.network, WEIGHTS)
    except ValueError:
        return module  # a head of other classes: SWAG's epochs train a new one
    if named:
        return whole
    module.network = whole
    return module


def pretrain_source(source, check, device):
    """State of the source network, prior over all its weights, accuracy on other images of its classes."""
    task = fv.Task(source, source, source, int(source.y.max()) + 1)
    module = with_its_head(network(task)) if Path(WEIGHTS).is_file() else network(task)
    net, prior, source = (
        fv.Net.from_module(module.eval(), example=source.x[:2]).to(device),
        None,
        source.to(device),
    )
    if not WEIGHTS:
        net = fv.pretrain(
            net, source, seed=0, epochs=EPOCHS, lr=SOURCE_LR, last_lr=0.05 * SOURCE_LR
        )
    if PRIOR == "swag":
        prior = fv.fit(
            net, source, fv.SWAG(snapshots=SNAPSHOTS, lr=SWAG_LR or 0.05 * SOURCE_LR), seed=0
        )
        check_learned(net, prior.mean, source, "SWAG", "lower SWAG_LR")
    accuracy = fv.predict(
        net, net.w[None], check.to(device), 1, seed=0, batchnorm=frozen(net)
    ).scores["accuracy"][-1]
    return net.to_module().state_dict(), prior, float(accuracy)


def frozen(net):
    """The statistics by which a net with BatchNorm predicts."""
    return "frozen" if net.has_batchnorm else None


# %%
def source_network(images, classes, device):
    """A net with all weights treated and the prior over them, from the cache or computed; ValueError where nothing was learned."""
    if WEIGHTS and PRIOR != "swag":
        few = images.subset(torch.arange(2))
        net = fv.Net.from_module(
            network(fv.Task(few, few, few, int(few.y.max()) + 1)).eval(), example=few.x[:2]
        )
        return net, fv.posteriors.moped_prior(net)
    source, check = source_parts(images, classes)
    n_classes = int(source.y.max()) + 1
    about = dict(
        what=pretrain_source, source=source, check=check, device=str(device), file=stamps(WEIGHTS)
    )
    (state, prior, accuracy), _ = cached(
        "transfer",
        lambda: pretrain_source(source, check, device),
        label="source",
        say=print,
        **about,
    )
    print(
        f"source network: accuracy {100 * accuracy:.1f} % on {len(check)} other images, chance {100 / n_classes:.2g} %"
    )
    if not WEIGHTS and accuracy < 1.5 / n_classes:
        raise ValueError(
            f"pre-training must learn its classes, got accuracy {accuracy:.2f}: raise EPOCHS or change SOURCE_LR"
        )
    module = network(fv.Task(source, source, source, n_classes)).eval()
    module.load_state_dict(state)
    net = fv.Net.from_module(module, example=source.x[:2])
    return net, fv.posteriors.moped_prior(net) if PRIOR == "moped" or prior is None else prior


# %% [markdown]
# ## One seed
#
# Its few shots, its net with a new head, its prior. Where the head alone is treated, the activations before it are the same for
# every draw and are computed once.


# %%
def prepared(seed, device):
    """Task, net and prior of one seed."""
    images = setup.images
    target = fv.datasets.pick_classes(images, setup.classes[1])
    left_out = torch.isin(images.y, torch.tensor(setup.classes[2])).nonzero().flatten()[:OUT_IMAGES]
    task = fv.datasets.transfer_task(target, target, shots=SHOTS, seed=seed, test=setup.test)
    test = some_of(task.test, seed)
    train, test, validation = (in_memory(part) for part in (task.train, test, task.validation))
    task = fv.Task(train, train, test, task.n_classes, validation=validation).to(device)
    outside = ({"": in_memory(images.subset(left_out))} if len(left_out) else {}) | setup.outside
    outside = {name: fv.Data(o.x, torch.zeros_like(o.y)).to(device) for name, o in outside.items()}
    net, prior = new_head(task, seed, device)
    return SimpleNamespace(
        net=net,
        task=task,
        prior=prior,
        outside=outside,
        seed=seed,
    )


def some_of(images, seed):
    """TEST_IMAGES of the images, drawn by the seed."""
    return images.subset(
        torch.randperm(len(images), generator=generator(seed))[: TEST_IMAGES or None]
    )


def corrupted(case):
    """(kind, severity, images): of the official files, five blocks of one length each, or the test images corrupted here."""
    severities = [int(s) for s in str(SEVERITIES).split(",")]
    kinds = [k.strip() for k in CORRUPTIONS.split(",") if k.strip()]
    if not CORRUPTED:
        yield from (
            (k, s, fv.datasets.corrupt(case.task.test, k, s, seed=case.seed))
            for k in kinds
            for s in severities
        )
        return
    files = {p.stem: p for p in sorted(Path(CORRUPTED).glob("*.npy"))}
    if "labels" not in files or set(kinds) - files.keys():
        raise ValueError(
            f"CORRUPTED must be a folder with labels.npy and {', '.join(kinds) or 'kind.npy'}, got {CORRUPTED!r}"
        )
    y = torch.from_numpy(np.load(files.pop("labels")).astype(np.int64))
    n = len(y) // 5
    for kind in kinds or files:
        pixels = np.load(files[kind], mmap_mode="r")  # (5 n, H, W, 3) bytes
        if len(pixels) != len(y):
            raise ValueError(
                f"{kind}.npy must hold as many images as labels.npy, {len(y)}, got {len(pixels)}: download it again"
            )
        for severity in severities:
            block = slice((severity - 1) * n, severity * n)
            images = fv.Data(
                torch.from_numpy(np.array(pixels[block])).permute(0, 3, 1, 2).contiguous(), y[block]
            )
            yield (
                kind,
                severity,
                some_of(fv.datasets.pick_classes(images, setup.classes[1]), case.seed).to(
                    case.net.device
                ),
            )


def new_head(task, seed, device):
    """Net and prior over the treated weights."""
    given = dict(treated=TREATED, head_std=HEAD_STD, head_start=HEAD_START, scale=SCALE)
    source, prior = setup.source.to(device), moved(setup.prior, device)
    net, narrow = fv.transfer(
        source, prior, n_classes=task.n_classes, trunk=TRUNK, seed=seed, **given
    )
    if PRIOR == "downstream":
        start = net.at(
            fv.fit(net, task.train, fv.SGD(lr=0.05), seed=seed, batchnorm="frozen").center
        )
        swag = fv.fit(start, task.train, fv.SWAG(lr=0.05), seed=seed, batch_size=10)
        net, narrow = fv.transfer(start, swag, treated=TREATED, keep_head=True, scale=SCALE)
    return net, narrow


def moved(prior, device):
    """A Gaussian on a device."""
    return replace(
        prior,
        mean=prior.mean.to(device),
        log_std=prior.log_std.to(device),
        factor=prior.factor.to(device),
    )


# %%
def steps_of(method, net, choice):
    """The length at which a fit takes GRADIENTS gradients; SWAG's snapshots are epochs, so they count.

    Of a chain half of them pass before its first draw.
    """
    settings = {**method.tuned(net).settings, **choice.settings}
    inner = settings.get("settings", settings)  # of a composed method
    steps = {"mc_samples": MC_SAMPLES} if "mc_samples" in settings else {}
    n = max(
        1,
        round(
            GRADIENTS / (method.gradients * settings.get("members", 1) * steps.get("mc_samples", 1))
        ),
    )
    if "cycle_steps" in inner:
        steps["cycle_steps"] = max(
            5 * -(-inner["n_draws"] // inner["cycles"]), n // inner["cycles"]
        )
    elif "burn_in" in inner:
        steps |= {"burn_in": n // 2, "thin": max(1, n // 2 // inner["n_draws"])}
    steps["steps"] = max(1, n - settings.get("snapshots", 0) * method.warm_start)
    steps |= {"batch_size": BATCH} if BATCH and "snapshots" not in settings else {}
    return (
        steps
        if inner is settings
        else {"settings": {**inner, **{k: v for k, v in steps.items() if k in inner}}}
    )


def fit(cells, device):
    """Every method of one seed; None for one that diverged."""
    case = prepared(cells[0]["seed"], device)
    for cell in cells:
        method, started = fv.METHODS[cell["method"]], time.perf_counter()
        choice = setup.choices.get(method.name, Choice())
        length = steps_of(method, case.net, choice)
        how = dict(seed=case.seed, fit=length, tuned={method.name: choice})
        how |= {"training": fv.Training(precision=PRECISION)} if PRECISION else {}
        q = unless_diverged(Fitting(case.net, case.task, case.prior, **how).member, method.name)
        yield cell, (case, method, q, time.perf_counter() - started)


# %% [markdown]
# ## What is measured
#
# Accuracy, NLL and ECE on clean and on corrupted test images; how well the entropy of the averaged prediction tells the test
# images from others (AUROC, AUPR, FPR95); the area under the risk-coverage curve; λ1, and λ1/λ5, of the training loss over the treated
# weights.


# %%
def predicted(case, method, q, data):
    """The average of the draws on `data`."""
    net, n_draws = case.net, min(DRAWS, len(q.W)) if isinstance(q, fv.Draws) else DRAWS
    if method.linearised:
        return fv.metrics.predict_linearised(
            net, q, data, link="mc", n_draws=n_draws, seed=case.seed + 1
        )
    refreshed = BATCHNORM == "refresh" and net.has_batchnorm
    return fv.predict(
        net,
        q,
        data,
        n_draws,
        seed=case.seed + 1,
        batchnorm=case.task.train if refreshed else frozen(net),
    )


def curvature(case, q):
    """Mean over draws of the largest Hessian eigenvalue, and of its ratio to the fifth."""
    f, n = (
        fv.nll(case.net, case.task.train),
        1 if isinstance(q, fv.Draws) and len(q.W) == 1 else SPECTRA,
    )
    k = min(5, case.net.dim)
    values = torch.stack(
        [
            fv.top_eigenpairs(f, w, k, iters=30, seed=0).values
            for w in q.sample(n, seed=case.seed + 1)
        ]
    )
    return {"lambda1": values[:, 0].mean(), "ratio": (values[:, 0] / values[:, -1]).mean()}


# %%
def measure(fitted, cell):
    """All quantities of one method and seed; none of a fit that diverged."""
    case, method, q, seconds = fitted
    if q is None:
        return {}
    predict = lambda data: predicted(case, method, q, data)
    clean = predict(case.task.test)
    values = {score: clean.scores[score][-1] for score in SCORES}
    shifted = {
        (kind, severity): predict(images).scores for kind, severity, images in corrupted(case)
    }
    means = {
        f"shifted_{score}": torch.stack([of[score][-1] for of in shifted.values()]).mean()
        for score in SCORES
        if shifted
    }
    values |= (
        means
        | curvature(case, q)
        | {"seconds": seconds, "aurc": fv.metrics.risk_coverage(clean).mean()}
    )
    for name, images in case.outside.items():
        ood = fv.metrics.ood_scores(
            fv.metrics.predictive_entropy(clean), fv.metrics.predictive_entropy(predict(images))
        )
        values |= {
            f"{score} {name}".strip(): ood[score] for score in ("auroc", "aupr_out", "fpr95_out")
        }
    return values | {
        f"{score}, {kind} {s}": of[score][-1]
        for (kind, s), of in shifted.items()
        for score in SCORES
    }


SCORES = ("accuracy", "nll", "ece")

# %% [markdown]
# ## Settings
#
# With TRIALS settings are tried for every method at equal gradients, those of its record first, and the one with the lowest
# validation NLL is used. The validation split is as small as the shots.


# %%
def choices_of(methods, trials, device, seeds=(1000, 1001)):
    """Method -> settings with the lowest mean validation NLL; CHOICES keeps them, so that a run that was stopped goes on."""
    chosen = read_choices(CHOICES) if CHOICES and Path(CHOICES).exists() else {}
    missing = [name for name in methods if trials and name not in chosen]
    cases = [prepared(seed, device) for seed in seeds if missing]
    for name in missing:
        method, net = fv.METHODS[name], cases[0].net
        fixed = steps_of(method, net, Choice())
        fixed |= (
            {"snapshots": method.tuned(net).settings.get("snapshots", 0)}
            if method.warm_start
            else {}
        )
        given = [(c.net, c.task, c.task.validation, c.prior) for c in cases]
        rows = tried(method, given, seeds, trials, fixed=fixed, head_std=HEAD_STD)
        chosen[name] = min(rows, key=lambda row: sum(row[1]))[0]
        print(f"{name}: {chosen[name]}")
        if CHOICES:
            entries = {
                n: {"settings": dict(c.settings), "radius": c.radius, "head_std": c.head_std}
                for n, c in chosen.items()
            }
            Path(CHOICES).write_text(json.dumps({"methods": entries}, indent=1), encoding="utf-8")
    return chosen


# %%
def study(name, **how):
    """Everything, from images to the long table."""
    global setup
    device, why = pick(DEVICE)
    print(f"on {device} ({why})")
    n_source = SOURCE_IMAGES + max(1, SOURCE_IMAGES // 5)
    most = None if TEST else max(0 if SOURCE else n_source, 2 * SHOTS + TEST_IMAGES, OUT_IMAGES)
    images = read_images(DATA, most)
    classes = split_classes(
        list(images.class_names) or [str(i) for i in range(int(images.y.max()) + 1)]
    )
    others = read_images(SOURCE, n_source) if SOURCE else images
    source, prior = source_network(others, classes[0], device)
    test = (
        read_images(
            DATA if TEST == "official" else TEST, None, train=False, size=images.x.shape[-1]
        )
        if TEST
        else None
    )
    setup = SimpleNamespace(images=images, classes=classes, source=source, prior=prior, outside=read_outside(OOD, images),
                            test=test and fv.datasets.pick_classes(test, classes[1]), corrupted=stamps(CORRUPTED), choices={})  # fmt: skip
    methods = [name.strip() for name in METHODS.split(",")]
    setup.choices = choices_of(methods, TRIALS, device)
    grid = [dict(setting=MODEL, method=m, seed=s) for s in range(SEEDS) for m in methods]
    return run(grid, fit, measure, name=name, device=str(device), workers=WORKERS, **how)


# %% [markdown]
# ## Run, or read

# %%
table = study("transfer") if RUN else read_table(TABLE)
if SAVE:
    write_table(table, SAVE)

# %%
wide = table.pivot_table(index=["method", "seed"], columns="quantity", values="value", sort=False)
LABELS = {m: fv.METHODS[m].label for m in dict.fromkeys(table.method)}


def of(method, quantity):
    """Values of a quantity, one a seed; a method that diverged in a seed lacks it."""
    return wide.loc[method, quantity].dropna()


def three(value):
    """Three digits, zeros at the end included."""
    return f"{value:#.3g}".rstrip(".")


def shown(values, factor=1):
    """Mean, and half of its 95 % interval."""
    mean, half = interval(torch.tensor(factor * values.to_numpy()))
    return three(mean) + ("" if math.isnan(half) else f" ± {half:.2g}")


# %% [markdown]
# ## Scores
#
# Mean over seeds ± half of its 95 % interval; *shifted*: mean over corruptions and severities.

# %%
HEADS = {"accuracy": "accuracy %", "nll": "NLL", "ece": "ECE", "shifted_accuracy": "shifted acc. %", "shifted_nll": "shifted NLL",
         "shifted_ece": "shifted ECE", "auroc": "AUROC", "lambda1": "λ1", "seconds": "seconds"}  # fmt: skip
percent = lambda q: 100 if "accuracy" in q else 1
pd.DataFrame(
    {
        label: {head: shown(of(m, q), percent(q)) for q, head in HEADS.items()}
        for m, label in LABELS.items()
    }
).T

# %% [markdown]
# ### By severity of the corruption
#
# Accuracy / NLL / ECE, means over corruptions and seeds; severity 0: clean images.

# %%
parts = table.quantity.str.extract(
    r"^(?P<score>accuracy|nll|ece)(?:, (?P<corruption>\w+) (?P<severity>\d))?$"
)
long = pd.concat([table, parts], axis=1).dropna(subset="score").fillna({"severity": "0"})
mean = long.groupby(["method", "severity", "score"], sort=False).value.mean()
cell = lambda m, s: "{:.1f} % / {:.3f} / {:.3f}".format(
    100 * mean[m, s, "accuracy"], mean[m, s, "nll"], mean[m, s, "ece"]
)
pd.DataFrame(
    {label: {s: cell(m, s) for s in sorted(set(long.severity))} for m, label in LABELS.items()}
).T

# %%
px.line(mean.reset_index(), x="severity", y="value", color="method", facet_col="score", markers=True, facet_col_spacing=0.08,
        color_discrete_map={m: fv.METHODS[m].look.color for m in LABELS}, title="Scores by severity of the corruption"
        ).update_yaxes(matches=None, showticklabels=True)  # fmt: skip

# %% [markdown]
# *Figure: accuracy, NLL and ECE over the severity of the corruption, a line for each method, means over corruptions and seeds.*

# %%
points = wide.groupby("method", sort=False)[["lambda1", "nll"]].mean().reset_index()
px.scatter(points, x="lambda1", y="nll", text=points.method.map(LABELS), log_x=True, labels=dict(lambda1="λ1", nll="test NLL"),
           title="Score and curvature of the methods, means over seeds").update_traces(textposition="top center")  # fmt: skip

# %% [markdown]
# *Figure: test NLL over λ1 of the training loss, a point for each method.*
#
# ### Images from outside

# %%
others = [q for q in wide if q.startswith(("auroc", "aupr_out", "fpr95_out"))]
pd.DataFrame({label: {q: shown(of(m, q)) for q in others} for m, label in LABELS.items()}).T

# %% [markdown]
# ## Verdicts: does SA-BMA help?
#
# Differences to VI and to SGD with SAM, paired by seed; of λ1 the ratio. A gain **holds** or **does not hold** where its *p*
# (Student's *t*), corrected by Holm for all rows together, is below 0.05; else it is **inconclusive**.

# %%
NAMES = {"nll": "NLL", "accuracy": "accuracy (points)", "ece": "ECE", "shifted_nll": "NLL under shift",
         "shifted_accuracy": "accuracy under shift (points)", "shifted_ece": "ECE under shift", "lambda1": "λ1"}  # fmt: skip


def difference(baseline, quantity):
    """SA-BMA less the baseline, seed by seed; of lambda1 the logarithm of the ratio."""
    if {"sabma", baseline} - set(LABELS):
        return pd.Series(dtype=float)
    mine, theirs = of("sabma", quantity), of(baseline, quantity)
    return (np.log(mine / theirs) if quantity == "lambda1" else mine - theirs).dropna()


pairs = {(b, q): d for b in ("vi", "f-sgd") for q in NAMES if len(d := difference(b, q))}
tests = [
    dict(baseline=b, quantity=q, **mean_zero(d, 1 if "accuracy" in q else -1))
    for (b, q), d in pairs.items()
]
verdicts = (
    judged(pd.DataFrame(tests), family="transfer") if tests else pd.DataFrame(columns=["baseline"])
)


# %%
def row_of(v):
    """A comparison as text."""
    low, high = v.mean - v.half, v.mean + v.half
    if v.quantity == "lambda1":
        amount = f"{math.exp(v.mean):.2f} times" + (
            "" if math.isnan(v.half) else f" ({math.exp(low):.2f} to {math.exp(high):.2f})"
        )
    else:
        amount = f"{percent(v.quantity) * v.mean:+.3g}" + (
            "" if math.isnan(v.half) else f" ± {percent(v.quantity) * v.half:.2g}"
        )
    p = "-" if math.isnan(v.corrected) else f"{v.corrected:.2g}"
    cells = [
        f"SA-BMA less {LABELS[v.baseline]}",
        NAMES[v.quantity],
        amount,
        f"{v.gains} of {v.n} seeds",
        p,
        v.verdict,
    ]
    return dict(
        zip(("compared", "quantity", "difference", "better in", "p (Holm)", "verdict"), cells)
    )


pd.DataFrame(map(row_of, verdicts.itertuples(index=False)))


# %% tags=["finding"]
def against(baseline, rows):
    """What the verdicts on one baseline amount to."""
    names = {
        word: [NAMES[q] for q in rows.quantity[rows.verdict == word]]
        for word in ("holds", "does not hold", "inconclusive")
    }
    if len(names["inconclusive"]) == len(rows):
        return f"against {LABELS[baseline]} inconclusive in all {len(rows)} quantities"
    words = dict(zip(names, ("better in", "worse in", "inconclusive in")))
    return f"against {LABELS[baseline]} " + "; ".join(
        f"{words[w]} {', '.join(n)}" for w, n in names.items() if n
    )


said = ", and ".join(against(b, rows) for b, rows in verdicts.groupby("baseline", sort=False))
answer = "SA-BMA was not compared: the study needs it together with VI or SAM."
if said:
    n = int(verdicts.n.max())
    few = "  With fewer than 10 seeds this describes these runs and no more." if n < 10 else ""
    answer = f"SA-BMA at equal gradients over {n} paired seeds: {said}.{few}"
print(answer)

# %% [markdown]
# ## What would change our mind
#
# VI at the training loss of SA-BMA, which was not fitted here: a difference at equal gradients may be that of a temperature
# ([frontier](frontier.ipynb)). More seeds, longer fits, and a network that learned more: where about half of the images of four classes are
# right, the differences between methods are small beside those between few-shot splits.
