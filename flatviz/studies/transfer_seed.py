"""One seed of the transfer study: its few shots, its net and prior; each method fitted on them and judged."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import torch
from torch import Tensor

from flatviz.core.data import Data, Task
from flatviz.core.net import Net
from flatviz.core.seeds import generator
from flatviz.datasets.few_shot import pick_classes, transfer_task
from flatviz.datasets.stream import held
from flatviz.engine.trunk import cache_trunk
from flatviz.families.choice import Choice
from flatviz.families.members import fit_member
from flatviz.families.shift import shift_of
from flatviz.gaussian import Gaussian
from flatviz.landscape.lanczos import top_eigenpairs
from flatviz.metrics.averaging import for_sizes, labels_of
from flatviz.metrics.linearised import predict_linearised
from flatviz.metrics.ood import ood_scores
from flatviz.metrics.predict import predict
from flatviz.metrics.selective import risk_coverage, risk_of
from flatviz.metrics.uncertainty import predictive_entropy
from flatviz.objectives.nll import nll
from flatviz.posteriors import METHODS
from flatviz.posteriors.method import Method
from flatviz.posteriors.swag import fit_swag
from flatviz.posteriors.transfer import moped_prior, transfer
from flatviz.results import Draws, FunctionPosterior, Posterior, Prediction, Shift
from flatviz.studies.transfer_setting import Classes, Scheme, Sizes, steps_of

QUANTITIES = ("accuracy", "nll", "ece", "shifted_accuracy", "shifted_nll", "shifted_ece", "auroc", "lambda1", "seconds")
LEFT_OUT = "left-out classes"  # the set of `outside` that every study has


@dataclass(frozen=True)
class Row:
    """One method and seed: values of `QUANTITIES`, the shift, the risk at each coverage; values are NaN where it diverged.

    ood: name of a set of images outside -> what `ood_scores` gives of it, by entropy.  risks: name of such a set -> the risk
    at each coverage of the test images and these together, (N + M,), where an answer to one of these is a mistake.
    """

    values: dict[str, float]
    shift: Shift | None
    risk: Tensor | None
    ood: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    risks: Mapping[str, Tensor] = field(default_factory=dict)


def risk_with_outside(clean: Prediction, outside: Prediction) -> Tensor:
    """The risk at each coverage of labelled and outside inputs together, (N + M,): every answer to the latter is wrong."""
    log_bma = [for_sizes(p, p.log_probs, p.n_draws, lambda log_mean: log_mean) for p in (clean, outside)]
    y = labels_of(clean, None)
    return risk_of(torch.cat(log_bma), torch.cat([y, y.new_full((len(log_bma[1]),), -1)]))


@dataclass(frozen=True)
class TargetSeed:
    """One seed's task, and the net and prior that its methods share; `late` and `train`: what fits see, see `keeps_trunk`.

    outside: by name, images of which the network should be unsure; their labels are not looked at.
    """

    net: Net
    late: Net
    train: Data
    prior: Gaussian
    task: Task
    outside: Mapping[str, Data]
    sizes: Sizes
    scheme: Scheme
    seed: int

    @classmethod
    def of(
        cls,
        data: Data,
        classes: Classes,
        source: Net,
        prior: Gaussian | None,
        sizes: Sizes,
        scheme: Scheme,
        seed: int,
        outside: Mapping[str, Data] | None = None,
    ) -> TargetSeed:
        """Split the target classes, give the network its new head, make its prior."""
        target = pick_classes(data, list(classes.target))
        left_out = torch.isin(data.y, torch.tensor(classes.out)).nonzero().flatten()
        given = {LEFT_OUT: held(data.subset(left_out[: sizes.n_out])), **(outside or {})}
        outside = {name: Data(images.x, torch.zeros_like(images.y)) for name, images in given.items()}
        task = transfer_task(target, target, shots=sizes.shots, seed=seed)
        order = torch.randperm(len(task.test), generator=generator(seed))
        parts = task.train, task.test.subset(order[: sizes.n_test]), task.validation
        train, test, validation = (held(part) for part in parts)
        task = Task(train, train, test, task.n_classes, validation=validation)
        given = dict(treated=scheme.treated, head_std=scheme.head_std, head_start=scheme.head_start, scale=scheme.scale)
        first = moped_prior(source) if prior is None else prior
        net, narrow = transfer(source, first, n_classes=len(classes.target), trunk=scheme.trunk, seed=seed, **given)
        if scheme.prior == "downstream":
            start = net.at(METHODS["sgd"].fit(net, task.train, seed=seed, **METHODS["sgd"].keywords(net)).center)
            downstream = fit_swag(start, task.train, seed=seed, **METHODS["swag"].keywords(net))
            net, narrow = transfer(start, downstream, treated=scheme.treated, keep_head=True, scale=scheme.scale)
        late, train = cache_trunk(net, task.train) if scheme.keeps_trunk else (net, task.train)
        return cls(net, late, train, narrow, task, outside, sizes, scheme, seed)

    def row(self, method: Method, say: Callable[[str], None], choice: Choice | None = None) -> dict[str, Any]:
        """Fit one method, with what `choice` sets otherwise than its record, and measure it: the fields of a `Row`."""
        started = time.perf_counter()
        try:
            how = dict(seed=self.seed, tuned=None if choice is None else {method.name: choice})
            how["fit"] = steps_of(method, self.net, self.sizes.gradients, choice)
            q = fit_member(self.late, replace(self.task, train=self.train), self.prior, method.name, **how)
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
        outside = {name: predictor(data) for name, data in self.outside.items()}
        ood = {name: ood_scores(predictive_entropy(clean), predictive_entropy(p)) for name, p in outside.items()}
        risks = {name: risk_with_outside(clean, p) for name, p in outside.items()}
        values = {name: float(clean.scores[name][-1]) for name in ("accuracy", "nll", "ece")}
        values |= {f"shifted_{name}": float(shift.mean(name)[1:].mean()) for name in ("accuracy", "nll", "ece")}
        values |= {"auroc": ood[LEFT_OUT]["auroc"], "lambda1": self._lambda1(q), "seconds": seconds}
        return dict(values=values, shift=shift, risk=risk_coverage(clean), ood=ood, risks=risks)

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
