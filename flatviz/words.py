"""Words that commands and verbs take, and the nearest one to a misspelt word.

This file imports no torch, so that a command checks its words before it loads anything.
"""

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from numbers import Real
from types import NoneType
from typing import TypeVar

Word = TypeVar("Word", bound=str | None)

NETWORKS = ("mlp", "conv", "resnet20")
OFFLINE = ("digits", "digits-near", "moons")  # tasks that need no files
DEFAULT_TASK = "digits-near"  # task of tour, lab and course
IMAGE_FOLDER = "image-folder"
# name -> torchvision's class
PUBLIC = dict(
    mnist="MNIST", fashion_mnist="FashionMNIST", cifar10="CIFAR10", cifar100="CIFAR100", svhn="SVHN"
)
WITH_FOLDER = {IMAGE_FOLDER: "PATH"} | {name.replace("_", "-"): "ROOT" for name in PUBLIC}
TASKS = (*OFFLINE, *(f"{name}:{place}" for name, place in WITH_FOLDER.items()))
DEVICES = ("auto", "cpu", "cuda", "mps", "xpu")
MAX_SHOWN = 200  # characters of a value in an error


def quoted(value: object) -> str:
    """Write a value as in code, cut where it is long."""
    text = repr(value)
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}... of {len(text)} characters"


def first_few(names: Sequence[str]) -> str:
    """List three names at most, with dots for more: "a, b, c, ..."."""
    texts = [*names[:3], "..."] if len(names) > 3 else names
    return ", ".join(texts)


def brief(error: Exception) -> str:
    """Return an error's first line, cut where it is long, for an error raised from it."""
    line = str(error).partition("\n")[0]
    return line if len(line) <= 2 * MAX_SHOWN else f"{line[: 2 * MAX_SHOWN]} ..."


def did_you_mean(given: object, choices: Iterable[str | None]) -> str:
    """Name the nearest choice, ": did you mean 'digits'?"; an empty text where none is near."""
    words = [word for word in choices if word is not None]
    near = get_close_matches(str(given), words, 1)
    return f": did you mean {near[0]!r}?" if near else ""


# Verbs of other libraries -> what is to be done
HABITS = {
    "fit_map": ": it is fv.fit(net, data, fv.SGD(), seed=0), with weight_decay as the prior",
    "fit_sam": ": it is fv.fit(net, data, fv.SGD(ascent=fv.SAM(radius)), seed=0)",
    "resnet18": ": it is fv.models.torchvision_model(task, 'resnet18')",
}
# Methods by their names before they were values
FITS = dict(
    fit_sgd="SGD()",
    fit_ensemble="Ensemble()",
    fit_swa="SWA()",
    fit_swag="SWAG()",
    fit_swag_diag="SWAGDiagonal()",
    fit_vi="VI(prior)",
    fit_mfvi="MeanFieldVI()",
    fit_sabma="SABMA(prior, radius=1)",
    fit_bsam="BSAM()",
    fit_ivon="IVON()",
    fit_laplace="Laplace()",
    fit_sgld="SGLD()",
    fit_sghmc="SGHMC()",
    fit_csgld="CSGLD()",
    fit_psgld="PSGLD()",
    fit_sgnht="SGNHT()",
    fit_hmc="HMC(prior)",
    fit_emcmc="EMCMC()",
    fit_svgd="SVGD()",
    fit_dropout="Dropout()",
    fit_multi="Multi(fv.SWAG())",
    fit_ptl="PTL(prior, fv.CSGLD())",
)
GRIDS = {"fit_sabma_grid": "SABMA(prior, radius=r)", "fit_vi_grid": "VI(prior, kl_weight=r)"}
# Arguments of other libraries -> ours
FOREIGN = {
    "rho": ("radius",),
    "gamma": ("radius",),
    "epochs": ("steps",),
    "n_epochs": ("steps",),
    "num_epochs": ("steps",),
    "n_steps": ("steps",),
    "iters": ("steps",),
    "n_samples": ("n_draws", "draws", "n"),
    "num_samples": ("n_draws", "draws", "n"),
    "samples": ("n_draws", "draws", "n"),
    "learning_rate": ("lr",),
    "std": ("log_std",),
    "sigma": ("log_std", "noise"),
    "scale": ("log_std", "noise"),
    "loc": ("mean",),
    "random_state": ("seed",),
    "dataloader": ("data",),
    "train_loader": ("data",),
    "model": ("net",),
    "prior_std": ("prior",),
}
# What more the one or the other needs
REMARKS = {
    "log_std": "the logarithm of the standard deviations, std.log()",
    "steps": "minibatches; an epoch has N / batch_size of them",
}


def habit(name: str) -> str:
    """Say what a verb's name of another library, or of an older flatviz, is now; else nothing."""
    if name in FITS:
        return f": it is fv.fit(net, data, fv.{FITS[name]}, seed=0)"
    if name in GRIDS:
        return f": it is fv.fit_many(net, data, [fv.{GRIDS[name]} for r in radii], seeds=[0])"
    return HABITS.get(name, "")


def foreign(name: str, taken: Iterable[str]) -> str:
    """Say which of the arguments `taken` is meant by another library's name: "here radius="."""
    names = set(taken)
    for word in FOREIGN.get(name, ()):
        if word in names:
            remark = f", {REMARKS[word]}" if word in REMARKS else ""
            return f"here {word}={remark}"
    return ""


def no_attribute(value: object, name: str, habits: Mapping[str, str]) -> str:
    """Write the error of an attribute that is not there; `habits` say what is there instead."""
    kind = type(value).__name__
    way = f": use {habits[name]}" if name in habits else ""
    return f"{kind!r} object has no attribute {name!r}{way}"


def check_choice(value: Word, choices: tuple[str | None, ...], name: str) -> Word:
    """Check that a value is one of the given words, and return it."""
    if not isinstance(value, (str, NoneType)) or value not in choices:
        plain = isinstance(value, (str, bool, Real, NoneType))
        got = quoted(value) if plain else f"a {type(value).__name__}"
        listed = ", ".join(map(repr, choices))
        raise ValueError(f"{name} must be one of {listed}, got {got}{did_you_mean(value, choices)}")
    return value


def check_task(name: str) -> str:
    """Check the name of a task: of `OFFLINE`, or of `WITH_FOLDER` with a colon and a folder."""
    kind, _, place = name.partition(":")
    if name in OFFLINE or (kind in WITH_FOLDER and place):
        return name
    if kind in WITH_FOLDER:
        raise ValueError(
            f"data must be {kind}:{WITH_FOLDER[kind]}, got {quoted(name)}:"
            " give the folder after the colon"
        )
    near = did_you_mean(kind, [*OFFLINE, *WITH_FOLDER])
    raise ValueError(f"data must be one of {', '.join(TASKS)}, got {quoted(name)}{near}")


def check_device_word(name: str) -> str:
    """Check the name of a kind of device, "cuda" or "cuda:1"; it may not exist on this machine."""
    kind, colon, number = name.partition(":")
    if kind not in DEVICES or (colon and not number.isdecimal()):
        known = ", ".join(DEVICES)
        raise ValueError(f"device must be one of {known} or cuda:N, got {quoted(name)}")
    return name
