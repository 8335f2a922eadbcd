"""Settings of the transfer study: sizes, scheme, which classes, which network, how long each method is fitted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import nn

from flatviz.checks import check_choice
from flatviz.core.data import Task
from flatviz.core.net import Net
from flatviz.core.seeds import generator
from flatviz.core.treated import Treated
from flatviz.families.choice import Choice
from flatviz.families.shift import KINDS, SEVERITIES
from flatviz.models.public import torchvision_model
from flatviz.models.resnet import resnet20
from flatviz.models.weights import load_weights
from flatviz.posteriors import METHODS
from flatviz.posteriors.method import Method

ALIASES = {"sam": "f-sgd"}  # what is said for SGD with SAM
PRIORS = ("swag", "moped", "downstream")
Make = Callable[[Task], nn.Module]


@dataclass(frozen=True)
class Sizes:
    """What the study costs.  The defaults take about half an hour on two quiet CPU cores.

    n_source: images a class to pre-train on; epochs and source_lr of that, which falls to a twentieth; snapshots: epochs of
    SWAG on the source; swag_lr: its rate (None: where pre-training ended).
    shots: training images a class, as many for validation; n_test, n_out: test images, images of the left-out classes.
    gradients: of each fit, on all training images; n_draws: ensemble size; n_spectra: draws whose lambda1 is computed.
    """

    n_source: int = 1000
    epochs: int = 12
    source_lr: float = 0.1
    snapshots: int = 8
    shots: int = 10
    n_test: int = 500
    n_out: int = 500
    kinds: tuple[str, ...] = KINDS
    severities: tuple[int, ...] = SEVERITIES
    gradients: int = 300
    n_draws: int = 10
    n_spectra: int = 3
    swag_lr: float | None = None

    @property
    def swag_rate(self) -> float:
        """The rate of SWAG on the source."""
        return 0.05 * self.source_lr if self.swag_lr is None else self.swag_lr

    def __str__(self) -> str:
        """The sizes as text."""
        shifted = (
            f"{len(self.kinds)} corruptions x {len(self.severities)} severities x {self.n_test} images x {self.n_draws} draws"
        )
        return (
            f"{self.epochs} epochs on {self.n_source} images a source class, SWAG of {self.snapshots} more; {self.shots} shots, "
            f"{self.gradients} gradients a fit; {shifted}; {self.n_out} left-out images; λ1 of {self.n_spectra} draws"
        )


@dataclass(frozen=True)
class Scheme:
    """How the network is made Bayesian: its prior, what is treated, the head's prior, which BatchNorm statistics predict.

    prior: "swag" (on the source), "moped", or "downstream" (SWAG on the few shots).  scale: of the prior's covariance.
    batchnorm: "frozen", the source's statistics, or "refresh", re-estimated on the few shots for each draw.
    trunk: "fixed", or "sampled" from the prior with every pass and every draw, as the released code does.
    """

    prior: str = "swag"
    treated: Treated = "norm+head"
    head_std: float = 0.3
    head_start: str = "zero"
    scale: float = 1.0
    batchnorm: str = "frozen"
    trunk: str = "fixed"

    def __post_init__(self) -> None:
        check_choice(self.prior, PRIORS, "prior")
        check_choice(self.batchnorm, ("frozen", "refresh"), "batchnorm")
        check_choice(self.trunk, ("fixed", "sampled"), "trunk")
        if self.trunk == "sampled" and self.prior == "downstream":
            raise ValueError("a sampled trunk needs a prior over it, got prior='downstream': use 'swag' or 'moped'")

    @property
    def keeps_trunk(self) -> bool:
        """Whether the trunk's activations are computed once: they are the same for every draw, and most of the work."""
        return (self.treated, self.batchnorm, self.trunk) == ("head", "frozen", "fixed")


@dataclass(frozen=True)
class Classes:
    """Which classes are pre-trained on, learned, left out: their numbers in the data, and the names of all."""

    source: tuple[int, ...]
    target: tuple[int, ...]
    out: tuple[int, ...]
    names: tuple[str, ...]

    def text(self, part: str) -> str:
        """Names of one of the three."""
        return ", ".join(self.names[i] for i in getattr(self, part))


def method_of(name: str) -> str:
    """The method's name in `METHODS`.  Raises ValueError for an unknown one."""
    return check_choice(ALIASES.get(name, name), tuple(METHODS), "method")


def split_classes(names: Sequence[str], *, seed: int = 0) -> Classes:
    """Source, target and left-out classes, drawn by `seed`: a fifth is left out, of the rest half is the source."""
    n = len(names)
    if n < 5:
        raise ValueError(
            f"data must have at least 5 classes, two to pre-train on, two to learn, one left out, got {n}: {list(names)}"
        )
    order = torch.randperm(n, generator=generator(seed)).tolist()
    n_out = max(1, n // 5)
    n_source = (n - n_out) // 2
    parts = order[:n_source], order[n_source : n - n_out], order[n - n_out :]
    return Classes(*(tuple(sorted(p)) for p in parts), names=tuple(names))


def network(name: str, *, width: int = 16, weights: str | None = None, side: int | None = None, seed: int = 0) -> Make:
    """task -> module: "resnet20" with batch, "resnet20-group" or "resnet20-frn" norm, or one of torchvision's.

    weights: a file, or torchvision's name of published ones; the head is always new.
    """
    if not name.startswith("resnet20"):
        return lambda task: torchvision_model(task, name, weights=weights, side=side, seed=seed)
    norm = check_choice(
        name.removeprefix("resnet20").removeprefix("-") or "batch", ("batch", "group", "frn"), "norm of resnet20"
    )

    def make(task: Task) -> nn.Module:
        module = resnet20(task, norm=norm, width=width, seed=seed)
        if weights is None:
            return module
        return load_weights(module, weights, new_head=True, head="head")

    return make


def steps_of(method: Method, net: Net, gradients: int, choice: Choice | None = None) -> dict[str, int]:
    """Steps at which a fit takes so many gradients of all training images; SWAG's snapshots are epochs, so they count."""
    settings = {**method.tuned(net).settings, **(choice.settings if choice is not None else {})}
    each = method.gradients * settings.get("members", 1)
    return {"steps": max(1, round(gradients / each) - settings.get("snapshots", 0) * method.warm_start)}
