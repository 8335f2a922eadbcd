"""Transfer on images: pre-train on some classes, learn a few shots of others, judge clean, shifted and left-out images.

One network is pre-trained; the seeds draw the few shots and all noise.  Every method takes the same number of gradients: a
method of two gradients a step gets half the steps, and SWAG's snapshots count as steps.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
from torch import Tensor

from flatviz.checks import check_count
from flatviz.core.data import Data, Task
from flatviz.core.net import Net
from flatviz.core.progress import Progress, track
from flatviz.core.seeds import generator
from flatviz.datasets.few_shot import pick_classes, transfer_task
from flatviz.engine.trunk import cache_trunk
from flatviz.gaussian import Gaussian
from flatviz.landscape.lanczos import top_eigenpairs
from flatviz.metrics.linearised import predict_linearised
from flatviz.metrics.ood import ood_scores
from flatviz.metrics.predict import predict
from flatviz.metrics.selective import risk_coverage
from flatviz.metrics.uncertainty import predictive_entropy
from flatviz.objectives.nll import nll
from flatviz.posteriors import METHODS
from flatviz.posteriors.method import Method
from flatviz.posteriors.swag import fit_swag
from flatviz.posteriors.transfer import moped_prior, transfer
from flatviz.results import Draws, FunctionPosterior, Posterior, Prediction, Shift
from flatviz.storage.cache import cached
from flatviz.studies.members import fit_member
from flatviz.studies.shift import shift_of
from flatviz.studies.transfer_setting import Classes, Make, Scheme, Sizes, method_of, steps_of
from flatviz.training.pretrain import pretrain

QUANTITIES = ("accuracy", "nll", "ece", "shifted_accuracy", "shifted_nll", "shifted_ece", "auroc", "lambda1", "seconds")


@dataclass(frozen=True)
class Row:
    """One method and seed: values of `QUANTITIES`, the shift, the risk at each coverage; values are NaN where it diverged."""

    values: dict[str, float]
    shift: Shift | None
    risk: Tensor | None


@dataclass(frozen=True)
class TransferStudy:
    """What `study_transfer` found: method -> a row a seed, and how it was made."""

    rows: dict[str, tuple[Row, ...]]
    classes: Classes
    sizes: Sizes
    scheme: Scheme
    source_accuracy: float
    description: str

    def of(self, method: str, quantity: str) -> Tensor:
        """One quantity of a method, (seeds,)."""
        return torch.tensor([row.values[quantity] for row in self.rows[method]], dtype=torch.float64)

    def shifts(self) -> dict[str, list[Shift]]:
        """Method -> shifts of the seeds that did not diverge."""
        kept = {m: [r.shift for r in rows if r.shift is not None] for m, rows in self.rows.items()}
        return {m: shifts for m, shifts in kept.items() if shifts}

    def risks(self) -> dict[str, Tensor]:
        """Method -> risks (seeds, N) of those."""
        kept = {m: [r.risk for r in rows if r.risk is not None] for m, rows in self.rows.items()}
        return {m: torch.stack(risks) for m, risks in kept.items() if risks}


def study_transfer(
    data: Data,
    classes: Classes,
    make: Make,
    *,
    methods: Sequence[str],
    seeds: int,
    pretrained: bool = False,
    sizes: Sizes | None = None,
    scheme: Scheme | None = None,
    description: str = "",
    progress: Progress = False,
    say: Callable[[str], None] = lambda text: None,
) -> TransferStudy:
    """Pre-train on the source classes, fit each method on few shots of the target classes for seeds 0..seeds-1, measure.

    data: images of all classes; make: task -> module; pretrained: `make` loads weights, so that nothing is pre-trained, which
    leaves the priors "moped" and "downstream".
    The pre-trained network, and each method of each seed, are kept in the cache folder: a stopped study resumes there.
    """
    sizes, scheme = sizes or Sizes(), scheme or Scheme()
    check_count(seeds, "seeds"), check_count(sizes.gradients, "gradients", least=2)
    if scheme.prior == "swag" and not pretrained:
        check_count(sizes.snapshots, "snapshots", least=5)  # the rank of SWAG
    names = [method_of(m) for m in methods]
    if pretrained and scheme.prior == "swag":
        raise ValueError("prior='swag' needs a source to train on, got weights from a file: use prior='moped' or 'downstream'")
    source, held_out = _source(data, classes, sizes)
    shared = dict(classes=classes, pretrained=pretrained, data=data.x, y=data.y, make=make)
    cost = (sizes.n_source, sizes.epochs, sizes.source_lr, sizes.snapshots, scheme.prior)
    start = partial(_pretrained, source, held_out, classes, make, pretrained, sizes, scheme, progress)
    (state, prior, accuracy), _ = cached("transfer", start, label="pre-trained network", say=say, cost=cost, **shared)
    if not pretrained:
        check_learned(accuracy, held_out, len(classes.source), say)
    about = dict(sizes=sizes, scheme=scheme, **shared)
    rows: dict[str, list[Row]] = {name: [] for name in names}
    for seed in range(seeds):
        prepared: list[_Seed] = []  # made once, and not where every method is in the cache

        def row(method: Method, seed: int = seed, prepared: list[_Seed] = prepared) -> dict[str, Any]:
            if not prepared:
                net = _restored(make, state, source, classes)
                prepared.append(_Seed.of(data, classes, net, prior, sizes, scheme, seed))
            return prepared[0].row(method, say)

        for name in track(names, f"seed {seed}", progress):
            compute = partial(row, METHODS[name])
            found, _ = cached("transfer", compute, say=say, seed=seed, method=METHODS[name], **about)
            rows[name].append(Row(**found))
            say(f"seed {seed}: {METHODS[name].label}: " + ", ".join(f"{q} {found['values'][q]:.3g}" for q in QUANTITIES))
    return TransferStudy({m: tuple(r) for m, r in rows.items()}, classes, sizes, scheme, accuracy, description)


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
        lr = 0.05 * sizes.source_lr  # where pre-training ended
        prior = fit_swag(net, source, seed=0, snapshots=sizes.snapshots, lr=lr, progress=progress)
    elif scheme.prior == "moped":
        prior = moped_prior(net)
    statistics = "frozen" if net.has_batchnorm else None
    scores = predict(net, net.w[None], held_out, 1, seed=0, batchnorm=statistics).scores
    return net.to_module().state_dict(), prior, float(scores["accuracy"][-1])


def _restored(make: Make, state: Mapping[str, Tensor], source: Data, classes: Classes) -> Net:
    module = make(_for_source(source, classes)).eval()
    module.load_state_dict(state)
    return Net.from_module(module, example=source.x[:2])


@dataclass(frozen=True)
class _Seed:
    """One seed's task, and the net and prior that its methods share; `late` and `train`: what fits see, see `keeps_trunk`."""

    net: Net
    late: Net
    train: Data
    prior: Gaussian
    task: Task
    outside: Tensor
    sizes: Sizes
    scheme: Scheme
    seed: int

    @classmethod
    def of(
        cls, data: Data, classes: Classes, source: Net, prior: Gaussian | None, sizes: Sizes, scheme: Scheme, seed: int
    ) -> _Seed:
        """Split the target classes, give the network its new head, make its prior."""
        target = pick_classes(data, list(classes.target))
        out = data.x[torch.isin(data.y, torch.tensor(classes.out))][: sizes.n_out]
        task = transfer_task(target, target, shots=sizes.shots, seed=seed)
        order = torch.randperm(len(task.test), generator=generator(seed))
        task = Task(task.train, task.train, task.test.subset(order[: sizes.n_test]), task.n_classes, validation=task.validation)
        given = dict(treated=scheme.treated, head_std=scheme.head_std, head_start=scheme.head_start, scale=scheme.scale)
        first = moped_prior(source) if prior is None else prior
        net, narrow = transfer(source, first, n_classes=len(classes.target), trunk=scheme.trunk, seed=seed, **given)
        if scheme.prior == "downstream":
            start = net.at(METHODS["sgd"].fit(net, task.train, seed=seed, **METHODS["sgd"].keywords(net)).center)
            downstream = fit_swag(start, task.train, seed=seed, **METHODS["swag"].keywords(net))
            net, narrow = transfer(start, downstream, treated=scheme.treated, keep_head=True, scale=scheme.scale)
        late, train = cache_trunk(net, task.train) if scheme.keeps_trunk else (net, task.train)
        return cls(net, late, train, narrow, task, out, sizes, scheme, seed)

    def row(self, method: Method, say: Callable[[str], None]) -> dict[str, Any]:
        """Fit one method and measure it: the fields of a `Row`."""
        started = time.perf_counter()
        try:
            steps = steps_of(method, self.net, self.sizes.gradients)
            q = fit_member(self.late, replace(self.task, train=self.train), self.prior, method.name, seed=self.seed, fit=steps)
        except ValueError as error:
            if "finite" not in str(error):
                raise
            say(f"seed {self.seed}: {method.name} diverged: {error}")
            return dict(values=dict.fromkeys(QUANTITIES, float("nan")), shift=None, risk=None)
        return self._measured(method, q, time.perf_counter() - started)

    def _measured(self, method: Method, q: Posterior, seconds: float) -> dict[str, Any]:
        predictor = partial(self._predict, method, q)
        clean = predictor(self.task.test)
        shift = shift_of(predictor, self.task.test, self.sizes.kinds, self.sizes.severities, seed=self.seed, clean=clean)
        outside = predictor(Data(self.outside, torch.zeros(len(self.outside)).long()))  # its labels are not looked at
        auroc = ood_scores(predictive_entropy(clean), predictive_entropy(outside))["auroc"]
        values = {name: float(clean.scores[name][-1]) for name in ("accuracy", "nll", "ece")}
        values |= {f"shifted_{name}": float(shift.mean(name)[1:].mean()) for name in ("accuracy", "nll", "ece")}
        values |= {"auroc": auroc, "lambda1": self._lambda1(q), "seconds": seconds}
        return dict(values=values, shift=shift, risk=risk_coverage(clean))

    def _lambda1(self, q: Posterior) -> float:
        """Mean over draws of the largest eigenvalue of the training loss's Hessian over the treated weights; NaN of functions."""
        if isinstance(q, FunctionPosterior):
            return float("nan")
        f, n = nll(self.late, self.train), 1 if _is_point(q) else self.sizes.n_spectra
        return float(
            torch.stack([top_eigenpairs(f, w, 1, iters=20, seed=0).values[0] for w in q.sample(n, seed=self.seed + 1)]).mean()
        )

    def _predict(self, method: Method, q: Posterior, data: Data) -> Prediction:
        """Scores of the average of the draws on `data`, and by which BatchNorm statistics."""
        net = self.net
        if self.scheme.keeps_trunk:
            net, data = cache_trunk(net, data)
        n_draws = min(self.sizes.n_draws, len(q.W)) if isinstance(q, Draws) else self.sizes.n_draws
        if method.linearised:
            prediction = predict_linearised(net, q, data, link="mc", n_draws=n_draws, seed=self.seed + 1)
        else:
            refreshed = self.scheme.batchnorm == "refresh" and not isinstance(q, FunctionPosterior)
            statistics = None if not net.has_batchnorm else self.task.train if refreshed else "frozen"
            prediction = predict(net, q, data, n_draws, seed=self.seed + 1, batchnorm=statistics)
        named = "frozen" if self.net.has_batchnorm and prediction.batchnorm is None else prediction.batchnorm  # the trunk's
        return replace(prediction, batchnorm=named)


def _is_point(q: Posterior) -> bool:
    return isinstance(q, Draws) and len(q.W) == 1
