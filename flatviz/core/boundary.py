"""The boundary of every public verb: each argument is checked by its name, before anything is computed.

`ARGUMENTS` says once what an argument of a name must be; `@public` applies it.  What only a verb itself can know (that a
prior covers the net's weights, which words it takes) is checked inside the verb, and nothing is checked twice.
A layer above that brings a noun of its own adds its name: `ARGUMENTS["units"] = arg.noun(Units, ...)`.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from numbers import Real
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from flatviz.checks import check_lr, check_momentum, check_radius, usable
from flatviz.core import arguments as arg
from flatviz.core.data import Data, Task
from flatviz.core.likelihood import check_likelihood
from flatviz.core.net import Net
from flatviz.core.precision import arithmetic
from flatviz.gaussian import Gaussian
from flatviz.results import (
    FOR_READERS,
    Curve,
    Family,
    Mechanism,
    Persistence,
    Plane,
    Prediction,
    Projection,
    Sharpness,
    Shift,
    Spectrum,
    Surface,
    for_readers,
    placed,
    rebuilt,
)

P, R = ParamSpec("P"), TypeVar("R")


def public(verb: Callable[P, R]) -> Callable[P, R]:
    """`verb` with every argument checked by `ARGUMENTS` before it runs; None passes where the signature allows it.

    A check named "verb.argument" goes before that of the argument's name alone.

    Weights, posteriors and results that come from elsewhere are moved to where the network lies; what the verb returns for
    readers lies on the CPU.  The verb runs in IEEE float32; its steps of training, in `advance`, in what the user has set.
    """
    signature = inspect.signature(verb)
    checks = {name: ARGUMENTS.get(f"{verb.__name__}.{name}") or ARGUMENTS[name] for name in signature.parameters}
    optional = {n for n, p in signature.parameters.items() if p.default is None or "None" in str(p.annotation).split(" | ")}

    @functools.wraps(verb)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            given = signature.bind(*args, **kwargs).arguments
        except TypeError as error:
            raise TypeError(f"{verb.__name__}{signature} cannot be called so: {error}") from None
        for name, value in given.items():
            if value is not None or name not in optional:
                checks[name](value, name)
        args, kwargs = placed(_usable((args, kwargs)), _where((args, kwargs)))
        with arithmetic(), inference_off():
            return for_readers(verb(*args, **kwargs))

    return checked


@contextmanager
def inference_off() -> Iterator[None]:
    """No inference mode, but no gradients where it was on: what is made is then of use to the next verb, in any mode."""
    if not torch.is_inference_mode_enabled():
        yield
        return
    with torch.inference_mode(False), torch.no_grad():
        yield


def _usable(value: Any) -> Any:
    """`value` with Python's numbers for NumPy's, and copies that autograd takes of tensors made under `torch.inference_mode`."""
    if isinstance(value, np.number):  # torch and random take Python's numbers only
        return value.item()
    return usable(value) if isinstance(value, Tensor) else rebuilt(value, _usable)


def _where(given: Any) -> torch.device:
    """Where a verb computes: where its network lies; without one, on the first card that weights or a posterior lie on."""
    nets, others = [], []

    def look(value: Any) -> None:
        if isinstance(value, (Tensor, Net)):
            (nets if isinstance(value, Net) else others).append(value.device)
        elif type(value) in (dict, list, tuple):
            for item in value.values() if isinstance(value, dict) else value:
                look(item)
        elif dataclasses.is_dataclass(value) and not isinstance(value, (type, *FOR_READERS)):
            for f in dataclasses.fields(value):
                look(getattr(value, f.name))

    look(given)
    return next(iter(nets + [d for d in others if d.type != "cpu"]), torch.device("cpu"))


_TABLE: dict[str, arg.Check] = {
    # networks, data, objectives
    "net": arg.net,
    "pretrain.net": arg.kind((Net, nn.Module), "a Net or a torch.nn.Module", "fv.models has some"),
    "lab.module": arg.kind((Net, nn.Module), "a torch.nn.Module", "a classifier: inputs (N, ...) -> logits (N, C)"),
    "train lab.test": arg.anything,
    "module": arg.kind(nn.Module, "a torch.nn.Module", "the one that is trained"),
    "data source transfer_task.target test validation": arg.noun(Data, "make one, fv.Data(x, y)"),
    "pick_classes.classes": arg.each(arg.whole(0), "class numbers"),
    "digits_transfer.validation": arg.whole(0),
    "task": arg.noun(Task, "fv.datasets has some"),
    "x": arg.kind(Tensor, "a tensor of inputs (N, ...)"),
    "predict.x": arg.kind((Tensor, Data), "a tensor of inputs (N, ...), or fv.Data(x, y)"),
    "y": arg.labels,
    "f": arg.objective,
    "what": arg.either((str, arg.anything), (Callable, arg.function), wanted="a name or a function of outputs and y"),
    "treated": arg.either(
        (str, arg.anything),
        (Callable, arg.function),
        wanted="'all', 'norm+head', 'head', 'authors' or a function of the parameter's name",
    ),
    "likelihood": arg.either(
        ((str, Real), lambda value, name: check_likelihood(value)), wanted="'categorical' or a standard deviation > 0"
    ),
    "batchnorm": arg.word("frozen", "train"),
    "validation": arg.noun(Data, "task.validation is one"),
    "accumulate patience": arg.whole(1),
    "parallel": arg.flag,
    "predict.batchnorm quantity.batchnorm shifted_scores.batchnorm": arg.either(
        (str, arg.word("frozen")), (Data, arg.anything), wanted="'frozen' or a Data that re-estimates the statistics"
    ),
    # weight vectors and directions
    "w a b c u v center other inside outside t": arg.tensor(1),
    "more": arg.each(arg.tensor(1), "directions", least=0),
    "W draws": arg.draws,
    "project.W": arg.either((Tensor, arg.tensor(1, 2)), (object, arg.draws), wanted=""),
    "target": arg.tensor(2),
    "information measures": arg.values(arg.tensor(1), "numbers"),
    "difference": arg.tensor(1),
    "sets": arg.values(arg.tensor(2), "weight vectors (S, D)"),
    "layers mmd.runs": arg.values(arg.kind(Tensor, "a tensor of whole numbers"), "tensors of whole numbers"),
    "sign factor": arg.tensor(),
    "order": arg.kind(Tensor, "whole numbers, one for each unit"),
    "grad noise": arg.each(arg.tensor(empty=True), "tensors"),  # empty: that of a factor of rank 0
    "part": arg.kind((slice, Tensor), "a slice, an index or a mask of the weights", "a layer's is net.blocks[i].slice"),
    # posteriors
    "q prior": arg.noun(Gaussian, "fv.transfer and fv.fit_swag return one"),
    "posterior": arg.posterior,
    "start": arg.kind((str, Gaussian), "a word or a Gaussian, as the verb's help says"),
    "ascent preview of": arg.function,
    "settings fit_family.fit repeat_family.fit convergence_gap.fit lab.fit tuned": arg.values(arg.anything, "settings"),
    # counts
    "n predict_gap.steps most_steps max_sweeps block starts": arg.whole(1),
    "resamples permutations bends fit_laplace.steps": arg.whole(0),
    "at": arg.each(arg.whole(0), "numbers of steps", least=2),
    "drops": arg.each(arg.whole(0), "epochs", least=0),
    "steps times trials epochs n_draws members chains cycles cycle_steps thin mc_samples rank": arg.whole(1),
    "n_bins k n_spectra runs probes products most parts batch_size iters shots size per_class severity": arg.whole(1),
    "n_classes": arg.whole(1),
    "memory": arg.positive,
    "snapshots resolution around_resolution dims basis": arg.whole(2),
    "record_path.most": arg.whole(2),
    "burn_in moment image": arg.whole(0),
    "every": arg.whole(1),
    "ranks": arg.each(arg.whole(0), "ranks"),
    "explore_path.steps": arg.each(arg.whole(0), "steps"),
    "seed": arg.seed,
    "seeds": arg.each(arg.seed, "seeds"),
    # numbers
    "lr last_lr": arg.real(check_lr),
    "time minutes norm tolerance window reach level": arg.positive,
    "std memory": arg.nonnegative,
    "momentum": arg.real(check_momentum),
    "radius adaptive_radius": arg.real(check_radius),
    "radii": arg.each(arg.real(check_radius), "radii"),
    "fit_family.radii lab.radii": arg.values(arg.each(arg.real(check_radius), "radii"), "radii"),
    "weight_decay kl_weight lr_power temperature scale floor eta damping tol degrees moons_transfer.noise": arg.nonnegative,
    "head_std prior_std first_std first_precision moped width lr_delay": arg.positive,
    "share": arg.positive,
    "start_scale fit_swag.scale scale_temperature.temperature": arg.positive,
    "accept b1 b2 noisy_share friction rate": arg.share,
    "fit_laplace.temperature": arg.positive,
    "laplace_evidence.prior_precision": arg.either(
        (Real, arg.positive), (Mapping, arg.values(arg.positive, "numbers > 0")), wanted="a number > 0, or layer -> number"
    ),
    "prior_precision": arg.either(
        (str, arg.anything),
        (Real, arg.positive),
        (Mapping, arg.values(arg.positive, "numbers > 0")),
        wanted="a number > 0, a word, or layer -> number",
    ),
    "extent": arg.either(
        (Real, arg.number),
        (str, arg.anything),
        ((tuple, list, Tensor), arg.anything),
        wanted="'auto', a number > 0, (lo, hi), or a pair for each axis",
    ),
    "color_range": arg.each(arg.number, "two numbers"),
    # words, names, switches
    "head_start trunk": arg.text,
    "keep_head": arg.flag,
    "phase": arg.text,
    "mode blocks kind space structure link curvature normalize convention which precision method measure head key rule view": arg.text,
    "name title label x_label": arg.text,
    "labels": arg.each(arg.text, "texts"),
    "switches": arg.each(arg.text, "texts", least=0),
    "worlds": arg.each(arg.word("weights", "step", "network"), "words"),
    "hmc exact per_layer joint local orthonormal log barrier color_bar keep_epochs plot_surface.path plot_surface_3d.path": arg.flag,
    # how a verb is run
    "progress": arg.either(
        ((bool, type(None)), arg.anything),
        (Callable, arg.function),
        wanted="True, False, None or a function(done, total, label)",
    ),
    "checkpoint": arg.file,
    "fit_family.checkpoint": arg.path,  # a folder of them
    "path root": arg.path,
    "cache": arg.either((bool, arg.anything), ((str, Path), arg.path), wanted="True, False, None or a folder"),
    "engine result": arg.anything,
    "fig dataset inference": arg.anything,  # of packages that may be absent: each verb looks itself
    "save_figure.width height": arg.whole(1),
    "zoom": arg.positive,
    # results
    "plane": arg.noun(Plane, "fv.plane_pca, fv.plane_random and fv.plane_through make one"),
    "surface": arg.noun(Surface, "fv.slice_plane makes one"),
    "projection": arg.noun(Projection, "fv.project makes one"),
    "curve": arg.one_or_more(Curve, "fv.slice_line makes one"),
    "points_on.curve": arg.noun(Curve, "fv.landscape.connect makes one"),
    "step": arg.one_or_more(Mechanism, "fv.families.mechanism makes one"),
    "spectrum": arg.one_or_more(Spectrum, "fv.top_eigenpairs makes one"),
    "plane_eigen.spectrum": arg.noun(Spectrum, "fv.top_eigenpairs makes one"),
    "plot_density.spectrum": arg.noun(Spectrum, "fv.spectral_density makes one"),
    "persistence": arg.noun(Persistence, "fv.landscape.persistence makes one"),
    "explore_draws.draws": arg.kind(
        (Projection, Prediction), "a Projection or a Prediction", "fv.project and fv.predict make them"
    ),
    "prediction": arg.noun(Prediction, "fv.predict makes one"),
    "predictions": arg.one_or_named(Prediction, "fv.predict makes one"),
    "measured": arg.one_or_named(Sharpness, "fv.sharpness makes one"),
    "projections": arg.one_or_more(Projection, "fv.project makes one"),
    "family": arg.noun(Family, "fv.families.fit_family makes one"),
    "plot_surface.reference": arg.values(arg.noun(Projection, "fv.project makes one"), "Projections"),
    "plot_metrics.reference": arg.values(arg.noun(Prediction, "fv.predict makes one"), "Predictions"),
    "plot_spectrum.reference": arg.values(
        arg.each(arg.noun(Spectrum, "fv.top_eigenpairs makes one"), "Spectrum"), "lists of Spectrum"
    ),
    "align.reference": arg.tensor(1),
    "shifts": arg.values(arg.one_or_more(Shift, "fv.families.shifted_scores makes one"), "Shifts, one or one a seed"),
    "risks": arg.values(arg.tensor(1, 2), "risks (N,), or (seeds, N)"),
    "kinds": arg.each(arg.text, "kinds of fv.datasets.CORRUPTIONS"),
    "severities": arg.each(arg.whole(1), "severities from 1 to 5"),
    "reference agreement.prediction total_variation.prediction": arg.kind(
        (Prediction, Tensor), "a Prediction, or averaged probabilities (N, C)"
    ),
    "gains confirmed": arg.values(
        arg.values(arg.values(arg.each(arg.number, "mean and half interval"), "(mean, half interval)"), "settings"), "baselines"
    ),
    "rows": arg.values(
        arg.values(arg.values(arg.each(arg.number, "mean and half interval"), "(mean, half interval)"), "quantities"), "methods"
    ),
    "plot_closeness.floor": arg.values(arg.number, "numbers"),
    "table": arg.values(arg.values(arg.each(arg.number, "mean and half interval"), "(mean, half interval)"), "rows"),
}
ARGUMENTS: dict[str, arg.Check] = {name: check for names, check in _TABLE.items() for name in names.split()}
