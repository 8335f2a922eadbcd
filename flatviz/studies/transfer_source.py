"""The source network of the transfer study: pre-trained on the source classes, or loaded, with the prior that it leaves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor

from flatviz.checks import check_count
from flatviz.core.data import Data, Task
from flatviz.core.net import Net
from flatviz.core.progress import Progress
from flatviz.core.seeds import generator
from flatviz.datasets.few_shot import pick_classes
from flatviz.families import preparation
from flatviz.gaussian import Gaussian
from flatviz.metrics.predict import predict
from flatviz.posteriors.swag import fit_swag
from flatviz.posteriors.transfer import moped_prior
from flatviz.storage.cache import cached
from flatviz.studies.transfer_setting import Classes, Make, Scheme, Sizes
from flatviz.training.pretrain import pretrain


@dataclass(frozen=True)
class SourceNetwork:
    """A net with all weights treated, the prior over them (None: it is fitted on the few shots), its accuracy on other images.

    about: what it was made of, for keys of the cache.
    """

    net: Net
    prior: Gaussian | None
    accuracy: float
    about: Mapping[str, Any]


def source_network(
    data: Data,
    classes: Classes,
    make: Make,
    *,
    pretrained: bool,
    sizes: Sizes,
    scheme: Scheme,
    progress: Progress = False,
    say: Callable[[str], None] = lambda text: None,
) -> SourceNetwork:
    """Pre-train on the source classes and make the prior, or take both from the cache folder.

    pretrained: `make` loads weights, nothing is trained.  Raises ValueError where pre-training learned nothing, for too few
    images or snapshots, and for prior="swag" with loaded weights, which have no source to train on.
    """
    if scheme.prior == "swag" and not pretrained:
        check_count(sizes.snapshots, "snapshots", least=5)  # the rank of SWAG
    if pretrained and scheme.prior == "swag":
        raise ValueError("prior='swag' needs a source to train on, got weights from a file: use prior='moped' or 'downstream'")
    source, held_out = _source(data, classes, sizes)
    shared = dict(classes=classes, pretrained=pretrained, data=data.x, y=data.y, make=make)
    cost = (sizes.n_source, sizes.epochs, sizes.source_lr, sizes.swag_rate, sizes.snapshots, scheme.prior)
    start = partial(_pretrained, source, held_out, classes, make, pretrained, sizes, scheme, progress)
    (state, prior, accuracy), _ = cached("transfer", start, label="pre-trained network", say=say, cost=cost, **shared)
    if not pretrained:
        check_learned(accuracy, held_out, len(classes.source), say)
    module = make(_for_source(source, classes)).eval()
    module.load_state_dict(state)
    return SourceNetwork(Net.from_module(module, example=source.x[:2]), prior, accuracy, shared | dict(cost=cost))


def check_learned(accuracy: float, held_out: Data, n_classes: int, say: Callable[[str], None]) -> None:
    """Say how well pre-training went; ValueError where it learned nothing that could be transferred."""
    chance = 100 / n_classes
    say(
        f"pre-trained: accuracy {100 * accuracy:.1f} % on {len(held_out)} other images of the source classes, chance {chance:.0f} %"
    )
    if 100 * accuracy < 1.5 * chance:
        raise ValueError(
            f"pre-training must learn its {n_classes} classes, got accuracy {100 * accuracy:.0f} % where chance is {chance:.0f} %: "
            "give more epochs, more images, or another rate"
        )


def _source(data: Data, classes: Classes, sizes: Sizes) -> tuple[Data, Data]:
    """Images of the source classes to train on, and a fifth as many others to see whether that worked."""
    every = pick_classes(data, list(classes.source))
    n_check = max(1, sizes.n_source // 5)
    order = torch.randperm(len(every), generator=generator(0))
    per_class = [order[every.y[order] == c] for c in range(len(classes.source))]
    smallest = min(map(len, per_class))
    if smallest < sizes.n_source + n_check:
        raise ValueError(
            f"each source class must have {sizes.n_source} images to train on and {n_check} to check, got {smallest}: lower --source-images"
        )
    train = torch.cat([index[: sizes.n_source] for index in per_class])
    check = torch.cat([index[sizes.n_source : sizes.n_source + n_check] for index in per_class])
    return every.subset(train), every.subset(check)


def _for_source(source: Data, classes: Classes) -> Task:
    return Task(source, source, source, len(classes.source))


def _pretrained(
    source: Data,
    held_out: Data,
    classes: Classes,
    make: Make,
    pretrained: bool,
    sizes: Sizes,
    scheme: Scheme,
    progress: Progress,
) -> tuple[dict[str, Tensor], Gaussian | None, float]:
    """State of the source network, the prior over all its weights (None: it is fitted on the few shots), its accuracy."""
    net = Net.from_module(make(_for_source(source, classes)).eval(), example=source.x[:2])
    if not pretrained:
        net = pretrain(
            net, source, seed=0, epochs=sizes.epochs, lr=sizes.source_lr, last_lr=0.05 * sizes.source_lr, progress=progress
        )
    prior = None
    if scheme.prior == "swag":
        prior = fit_swag(net, source, seed=0, snapshots=sizes.snapshots, lr=sizes.swag_rate, progress=progress)
        preparation.check_learned(net, prior.mean, source, "SWAG", "lower its rate, or give --recipe trials")
    elif scheme.prior == "moped":
        prior = moped_prior(net)
    statistics = "frozen" if net.has_batchnorm else None
    scores = predict(net, net.w[None], held_out, 1, seed=0, batchnorm=statistics).scores
    return net.to_module().state_dict(), prior, float(scores["accuracy"][-1])
