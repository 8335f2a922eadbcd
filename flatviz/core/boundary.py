"""The boundary of every public verb: each argument is checked by its name, before anything is computed.

`ARGUMENTS` says once what an argument of a name must be; `@public` applies it.  What only a verb itself can know (that a
prior covers the net's weights, which words it takes) is checked inside the verb.
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from numbers import Integral, Real
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from torch import Tensor, nn

from flatviz.checks import check_count, check_finite, check_lr, check_momentum, check_nonnegative, check_radius
from flatviz.core.data import Data, Task
from flatviz.core.likelihood import check_likelihood
from flatviz.core.net import Net
from flatviz.results import (
    Curve,
    Draws,
    Family,
    Gaussian,
    KroneckerGaussian,
    Persistence,
    Plane,
    Prediction,
    Projection,
    Sharpness,
    Spectrum,
    Surface,
)

P, R = ParamSpec("P"), TypeVar("R")
Check = Callable[[Any, str], object]


def public(verb: Callable[P, R]) -> Callable[P, R]:
    """`verb` with every argument checked by `ARGUMENTS` before it runs; None passes where the signature allows it.

    A check named "verb.argument" goes before that of the argument's name alone.
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
        return verb(*args, **kwargs)

    return checked


def _kind(kinds: type | tuple[type, ...], wanted: str, do: str = "") -> Check:
    """A value of these types; `wanted` and `do` are words for the error."""

    def check(value: Any, name: str) -> None:
        if not isinstance(value, kinds):
            raise TypeError(f"{name} must be {wanted}, got {_shown(value)}{do and ': '}{do}")

    return check


def _shown(value: Any) -> str:
    """A value as an error names it: small plain ones by themselves, others by their type."""
    if isinstance(value, Tensor):
        return f"a {str(value.dtype).removeprefix('torch.')} tensor of shape {tuple(value.shape)}"
    return repr(value) if isinstance(value, (str, bool, Real)) or value is None else f"a {type(value).__name__}"


def _net(value: Any, name: str) -> None:
    if isinstance(value, nn.Module):
        raise TypeError(f"{name} must be a Net, got the module {type(value).__name__}: fv.Net.from_module(module) makes one")
    _kind(Net, "a Net", "fv.Net.from_module(module) makes one")(value, name)


def _whole(least: int) -> Check:
    """A whole number of at least `least`."""
    return lambda value, name: check_count(value, name, least=least)


def _seed(value: Any, name: str) -> None:
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(f"{name} must be an int, got {_shown(value)}: any whole number from 0 to 2**63 - 1 will do")
    if not 0 <= value < 2**63:
        raise ValueError(f"{name} must be from 0 to 2**63 - 1, got {value}: any of them will do")


def _positive(value: Any, name: str) -> None:
    _number(value, name)
    if not (math.isfinite(value) and value > 0):
        raise ValueError(f"{name} must be a finite number > 0, got {value!r}")


def _number(value: Any, name: str) -> None:
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"{name} must be a number, got {_shown(value)}")


def _nonnegative(value: Any, name: str) -> None:
    _number(value, name)
    check_nonnegative(value, name)


def _labels(value: Any, name: str) -> None:
    _kind(Tensor, "a tensor of labels (N,)")(value, name)
    if value.ndim == 0:
        raise ValueError(f"{name} must have shape (N,), got a single number")


def _share(value: Any, name: str) -> None:
    """A number from 0 to 1."""
    _number(value, name)
    if not 0 <= value <= 1:
        raise ValueError(f"{name} must be from 0 to 1, got {value!r}")


def _real(check: Callable[[Any], object]) -> Check:
    """A check of one number that names its argument itself."""

    def checked(value: Any, name: str) -> None:
        _number(value, name)
        check(value)

    return checked


def _tensor(*sides: int) -> Check:
    """A real floating tensor without NaN or inf, of one of these numbers of sides (any where none is given)."""

    def check(value: Any, name: str) -> None:
        if not isinstance(value, Tensor) or not value.is_floating_point():
            raise TypeError(f"{name} must be a floating-point torch.Tensor, got {_shown(value)}: use torch.as_tensor")
        if sides and value.ndim not in sides:
            shapes = " or ".join({1: "(D,)", 2: "(S, D)"}[n] for n in sides)
            raise ValueError(f"{name} must have shape {shapes}, got {tuple(value.shape)}")
        if value.numel() == 0:
            raise ValueError(f"{name} must hold at least one number, got shape {tuple(value.shape)}")
        check_finite(value, name)

    return check


def _noun(kind: type, do: str) -> Check:
    return _kind(kind, f"a {kind.__name__}", do)


def _either(*checks: tuple[type | tuple[type, ...], Check], wanted: str) -> Check:
    """The check of the first type that the value has."""

    def check(value: Any, name: str) -> None:
        for kinds, of_kind in checks:
            if isinstance(value, kinds):
                of_kind(value, name)
                return
        raise TypeError(f"{name} must be {wanted}, got {_shown(value)}")

    return check


def _each(of_one: Check, wanted: str) -> Check:
    """A list or tuple of at least one, each of which passes `of_one`."""

    def check(value: Any, name: str) -> None:
        if isinstance(value, (str, bytes)) or not isinstance(value, (Sequence, range)):
            raise TypeError(f"{name} must be a list of {wanted}, got {_shown(value)}")
        if not len(value):
            raise ValueError(f"{name} must hold at least one of {wanted}, got none")
        for i, item in enumerate(value):
            of_one(item, f"{name}[{i}]")

    return check


def _values(of_one: Check, wanted: str) -> Check:
    """A dict from names to what passes `of_one`."""

    def check(value: Any, name: str) -> None:
        if not isinstance(value, Mapping):
            raise TypeError(f"{name} must be a dict from names to {wanted}, got {_shown(value)}")
        for key, item in value.items():
            _text(key, f"a key of {name}")
            of_one(item, f"{name}[{key!r}]")

    return check


def _objective(value: Any, name: str) -> None:
    if isinstance(value, (nn.Module, Net, type)) or not callable(value):
        raise TypeError(f"{name} must be an objective, w (D,) -> (), got {_shown(value)}: fv.nll(net, data) makes one")


def _function(value: Any, name: str) -> None:
    """A function or another callable; a class or a module is callable too, and never what is meant."""
    if not callable(value) or isinstance(value, (type, nn.Module, Net)):
        raise TypeError(f"{name} must be a function, got {_shown(value)}")


def _path(value: Any, name: str) -> None:
    _kind((str, Path), "a path")(value, name)
    if str(value) in ("", "."):
        raise ValueError(f"{name} must name a file, got {str(value)!r}")


def _posterior(value: Any, name: str) -> None:
    if isinstance(value, Tensor):
        _tensor(2)(value, name)
    elif not (hasattr(value, "center") and hasattr(value, "sample")):  # any class with these two is one
        raise TypeError(f"{name} must be a posterior (center, sample) or draws (S, D), got {_shown(value)}: fv.fit_* make one")


def _anything(value: Any, name: str) -> None:
    """No check: what it must be, the verb itself knows best."""


def _draws(value: Any, name: str) -> None:
    """Weight vectors (S, D), or a posterior of a kind that the verb names itself."""
    if not isinstance(value, (Draws, Gaussian, KroneckerGaussian)):
        _tensor(2)(value, name)


def _one_or_more(kind: type, do: str) -> Check:
    one = _noun(kind, do)
    wanted = f"a {kind.__name__}, or a list of them"
    return _either((kind, _anything), ((list, tuple), _each(one, f"{kind.__name__}s")), wanted=f"{wanted} ({do})")


def _one_or_named(kind: type, do: str) -> Check:
    one = _noun(kind, do)
    return _either(
        (kind, _anything), (Mapping, _values(one, kind.__name__)), wanted=f"a {kind.__name__}, or a dict of them ({do})"
    )


_text, _flag = _kind(str, "a text"), _kind(bool, "True or False")


_TABLE: dict[str, Check] = {
    # networks, data, objectives
    "net": _net,
    "pretrain.net": _kind((Net, nn.Module), "a Net or a torch.nn.Module", "fv.models has some"),
    "data": _noun(Data, "make one, fv.Data(x, y)"),
    "task": _noun(Task, "fv.datasets has some"),
    "x": _kind((Tensor, Data), "a tensor of inputs (N, ...), or fv.Data(x, y)"),
    "y": _labels,
    "f": _objective,
    "what": _either((str, _anything), (Callable, _function), wanted="a name or a function of outputs and y"),
    "treated": _either(
        (str, _anything), (Callable, _function), wanted="'all', 'norm+head' or a function of the parameter's name"
    ),
    "likelihood": _either(
        ((str, Real), lambda value, name: check_likelihood(value)), wanted="'categorical' or a standard deviation > 0"
    ),
    "batchnorm": _kind(str, "'frozen' or 'train', as the verb's help says"),
    "predict.batchnorm quantity.batchnorm": _kind((str, Data), "'frozen' or a Data that re-estimates the statistics"),
    # weight vectors and directions
    "w a b c u v center other more inside outside t": _tensor(1),
    "W draws": _draws,
    "grad noise": _each(_tensor(), "tensors"),
    "part": _kind((slice, Tensor), "a slice, an index or a mask of the weights", "a layer's is net.blocks[i].slice"),
    # posteriors
    "q prior": _noun(Gaussian, "fv.transfer and fv.fit_swag return one"),
    "posterior": _posterior,
    "start": _kind((str, Gaussian), "a word or a Gaussian, as the verb's help says"),
    "fit ascent preview": _function,
    "fit_family.fit": _values(_anything, "settings"),
    # counts
    "steps epochs n_draws members chains cycles cycle_steps thin mc_samples rank bends": _whole(1),
    "n_bins k n_spectra runs probes products most parts batch_size iters shots": _whole(1),
    "snapshots resolution around_resolution dims basis": _whole(2),
    "burn_in": _whole(0),
    "ranks": _each(_whole(0), "ranks"),
    "seed": _seed,
    "seeds": _each(_seed, "seeds"),
    # numbers
    "lr last_lr": _real(check_lr),
    "momentum": _real(check_momentum),
    "radius adaptive_radius": _real(check_radius),
    "radii": _each(_real(check_radius), "radii"),
    "fit_family.radii": _values(_each(_real(check_radius), "radii"), "radii"),
    "weight_decay kl_weight temperature scale floor eta damping tol moons_transfer.noise": _nonnegative,
    "head_std prior_std first_std first_precision moped width scale_temperature.temperature": _positive,
    "b1 b2 noisy_share friction rate": _share,
    "prior_precision": _either((str, _anything), (Real, _positive), wanted="a number > 0, or a word"),
    "extent": _either(
        (Real, _positive), ((tuple, list, Tensor), _anything), wanted="a number > 0, (lo, hi), or a pair for each axis"
    ),
    "color_range": _each(_number, "two numbers"),
    # words, names, switches
    "mode blocks kind space structure link curvature normalize convention which precision method measure head key": _text,
    "name title label x_label plot_comparison.x plot_comparison.y": _text,
    "labels switches": _each(_text, "texts"),
    "exact joint orthonormal log barrier color_bar plot_surface.path plot_surface_3d.path": _flag,
    # how a verb is run
    "progress": _either((bool, _anything), (Callable, _function), wanted="True, False, None or a function(done, total, label)"),
    "checkpoint path": _path,
    "cache": _either((bool, _anything), ((str, Path), _path), wanted="True, False, None or a folder"),
    "engine result": _anything,
    # results
    "plane": _noun(Plane, "fv.plane_pca, fv.plane_random and fv.plane_through make one"),
    "surface": _noun(Surface, "fv.slice_plane makes one"),
    "projection": _noun(Projection, "fv.project makes one"),
    "curve": _one_or_more(Curve, "fv.slice_line makes one"),
    "points_on.curve": _noun(Curve, "fv.connect makes one"),
    "spectrum": _one_or_more(Spectrum, "fv.top_eigenpairs makes one"),
    "plane_eigen.spectrum": _noun(Spectrum, "fv.top_eigenpairs makes one"),
    "plot_density.spectrum": _noun(Spectrum, "fv.spectral_density makes one"),
    "persistence": _noun(Persistence, "fv.persistence makes one"),
    "prediction": _noun(Prediction, "fv.predict makes one"),
    "predictions": _one_or_named(Prediction, "fv.predict makes one"),
    "measured": _one_or_named(Sharpness, "fv.sharpness makes one"),
    "projections": _one_or_more(Projection, "fv.project makes one"),
    "family": _noun(Family, "fv.fit_family makes one"),
    "reference": _values(
        _either((Projection, _anything), ((list, tuple), _each(_noun(Spectrum, ""), "Spectrum")), wanted="a result"), "results"
    ),
    "table": _values(_values(_each(_number, "mean and half interval"), "(mean, half interval)"), "rows"),
}
ARGUMENTS: dict[str, Check] = {name: check for names, check in _TABLE.items() for name in names.split()}
