"""xarray: results as data sets with named dimensions, and back; chains as what ArviZ reads."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import torch
from torch import Tensor

from flatviz.checks import check_is
from flatviz.core.boundary import public
from flatviz.results import Curve, Draws, Prediction, Projection, Spectrum, Surface
from flatviz.storage.open_formats import TEXT, joined, split

if TYPE_CHECKING:
    import arviz
    import xarray

PLANE = {"plane.origin": ("weight",), "plane.axes": ("axis", "weight")}
DIMENSIONS: dict[type, dict[str, tuple[str, ...]]] = {
    Surface: {"a": ("a",), "b": ("b",), "values": ("a", "b"), **PLANE},
    Curve: {"t": ("t",), "values": ("t",), "W": ("vector", "weight")},
    Spectrum: {"values": ("pair",), "vectors": ("pair", "weight"), "residual": ("pair",)},
    Projection: {"coords": ("draw", "axis"), "distance": ("draw",), "values": ("draw",), **PLANE},
    Prediction: {
        "outputs": ("draw", "input", "class"),
        "y": ("input",),
        "bins": ("ensemble_size", "bin", "column"),
        **{f"scores.{name}": ("ensemble_size",) for name in ("accuracy", "nll", "ece", "brier")},
    },
    Draws: {"W": ("draw", "weight")},
}


@public
def to_xarray(result: object) -> xarray.Dataset:
    """A result as a data set: its tensors as variables with named dimensions, all else in `attrs`.

    A Surface has the coordinates a and b, a Curve t; a field inside another has a name with a dot, "plane.axes".
    `from_xarray` gives the result back, to the bit.

    Args:
        result: Surface, Curve, Spectrum, Projection, Prediction or Draws.

    Raises:
        TypeError: For anything else.
        ImportError: Without xarray.

    Example:
        >>> import torch, flatviz as fv
        >>> plane = fv.plane_through(torch.zeros(3), torch.eye(3)[0], torch.eye(3)[1])
        >>> surface = fv.slice_plane(lambda w: (w ** 2).sum(), plane, resolution=5)
        >>> fv.bridges.to_xarray(surface)["values"].dims  # doctest: +SKIP
        ('a', 'b')
    """
    xarray = _xarray("to_xarray")
    if type(result) not in DIMENSIONS:
        names = ", ".join(kind.__name__ for kind in DIMENSIONS)
        raise TypeError(f"result must be one of {names}, got {type(result).__name__}: fv.save writes every noun")
    tensors, text = split(result)
    named = DIMENSIONS[type(result)]
    variables = {name: (_dimensions(name, t, named), t.numpy()) for name, t in tensors.items()}
    return xarray.Dataset(variables, attrs={TEXT: text, "noun": type(result).__name__})


@public
def from_xarray(dataset: Annotated[Any, "xarray.Dataset"]) -> object:
    """The result that `to_xarray` wrote, also after the data set was written to a file and read.

    Raises:
        TypeError: For anything but a data set.
        ValueError: For one that `to_xarray` did not make.

    Example:
        >>> import torch, flatviz as fv
        >>> q = fv.Draws(torch.ones(4, 2), chains=2)
        >>> fv.bridges.from_xarray(fv.bridges.to_xarray(q))  # doctest: +SKIP
        Draws(W (4, 2), chains=2)
    """
    check_is(dataset, _xarray("from_xarray").Dataset, "dataset", "use what fv.bridges.to_xarray returned")
    if TEXT not in dataset.attrs:
        raise ValueError(
            f"dataset must be one that fv.bridges.to_xarray made, got attrs {sorted(dataset.attrs)}: use fv.bridges.to_xarray"
        )
    return joined({str(name): torch.tensor(dataset[name].values) for name in dataset.variables}, dataset.attrs[TEXT])


@public
def to_arviz(draws: Draws, of: Callable[[Tensor], Tensor] | None = None) -> arviz.InferenceData:
    """Chains as ArviZ's InferenceData, for `az.summary`, `az.plot_trace` and all else that it has.

    The group `posterior` holds `w` with dimensions chain, draw, weight.  `from_arviz` gives the draws back.

    Args:
        draws: of one or several chains, as `fit_hmc(..., chains=4)` returns.
        of: W (S, D) -> (S, P) or (S,), functions of the draws to keep in place of all D weights; their name is `value`.

    Raises:
        TypeError: For anything but Draws.
        ImportError: Without ArviZ.

    Example:
        >>> import torch, flatviz as fv
        >>> q = fv.Draws(torch.randn(40, 3, generator=torch.Generator().manual_seed(0)), chains=4)
        >>> fv.bridges.to_arviz(q).posterior["w"].sizes  # doctest: +SKIP
        Frozen({'chain': 4, 'draw': 10, 'weight': 3})
    """
    arviz = _arviz("to_arviz")
    values = draws.W if of is None else of(draws.W)
    if not isinstance(values, Tensor) or len(values) != len(draws.W):
        raise TypeError(f"of(W) must return a tensor of {len(draws.W)} rows, one a draw, got {type(values).__name__}")
    values = values.detach().cpu().reshape(draws.chains, len(draws.W) // draws.chains, -1)
    name, dim = ("w", "weight") if of is None else ("value", "function")
    return arviz.from_dict(posterior={name: values.numpy()}, dims={name: [dim]})


@public
def from_arviz(inference: Annotated[Any, "arviz.InferenceData"]) -> Draws:
    """The draws in the group `posterior` of ArviZ's InferenceData, its variables one after the other as a weight vector.

    Raises:
        TypeError: For anything but an InferenceData.
        ValueError: For one without that group.

    Example:
        >>> import torch, flatviz as fv
        >>> q = fv.Draws(torch.ones(6, 3), chains=2)
        >>> fv.bridges.from_arviz(fv.bridges.to_arviz(q))  # doctest: +SKIP
        Draws(W (6, 3), chains=2)
    """
    check_is(inference, _arviz("from_arviz").InferenceData, "inference", "use what fv.bridges.to_arviz or a sampler returned")
    if "posterior" not in inference.groups():
        raise ValueError(f"inference must have a group posterior, got {inference.groups()}: ask the sampler for draws")
    posterior = inference.posterior.transpose("chain", "draw", ...)
    arrays = [torch.tensor(posterior[name].values) for name in posterior.data_vars]
    parts = [a.flatten(2) if a.ndim > 2 else a.unsqueeze(2) for a in arrays]
    values = torch.cat(parts, dim=2)
    return Draws(values.flatten(0, 1), chains=len(values))


def _dimensions(name: str, tensor: Tensor, named: dict[str, tuple[str, ...]]) -> tuple[str, ...]:
    wanted = named.get(name, ())
    return wanted if len(wanted) == tensor.ndim else tuple(f"{name}_{i}" for i in range(tensor.ndim))


def _xarray(verb: str) -> Any:
    try:
        import xarray  # optional: comes with ArviZ
    except ImportError as error:
        raise ImportError(f'{verb} needs xarray: pip install "flatviz[arviz]"') from error
    return xarray


def _arviz(verb: str) -> Any:
    try:
        import arviz  # optional
    except ImportError as error:
        raise ImportError(f'{verb} needs arviz: pip install "flatviz[arviz]"') from error
    return arviz
