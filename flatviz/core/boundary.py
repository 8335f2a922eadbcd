"""`public`: checks the arguments of a public function (a verb), and sets how it computes.

Arguments are checked by their annotations, before anything is computed: `Annotated[float,
check_radius]` names a check, and `int | None` or `Sequence[Spectrum]` state a type.  A verb itself
checks what involves several arguments, for instance that a prior covers the net's weights.
"""

import dataclasses
import functools
import inspect
from collections.abc import Callable, Iterator
from difflib import get_close_matches
from typing import Any, ParamSpec, TypeVar, get_type_hints

import numpy as np
import torch
from torch import Tensor

from flatviz.annotations import check_of, takes_tensors
from flatviz.checks import Check, from_numpy, shown
from flatviz.core.arithmetic import PER_NUMBER, arithmetic, threads
from flatviz.core.data import Data
from flatviz.core.net import Net
from flatviz.results import FOR_READERS, for_readers, placed
from flatviz.words import foreign

P = ParamSpec("P")
R = TypeVar("R")
# Where to get an argument that newcomers leave out
ORIGINS = {
    "prior": "fv.transfer returns one, and fv.posteriors.moped_prior(net)",
    "seed": "a whole number, which fixes all noise",
}
NAMES = {"Net": Net, "Data": Data}  # in annotations of layers that do not import them


def public(verb: Callable[P, R]) -> Callable[P, R]:
    """Check every argument of `verb` by its annotation before it runs.

    None also passes where it is the default.  Weights, posteriors and results are moved to the
    network's device, and arrays of NumPy become tensors; results that people read (`FOR_READERS`:
    surfaces, spectra, scores) are returned on the CPU.  The verb computes in IEEE float32, but its
    training steps (in `advance`) in the arithmetic that the user has set.  The size of its largest
    argument sets the number of threads (`threads`); gradients, products and predictions choose
    theirs themselves.  Its signature in `help` shows the types without their checks.
    """
    signature = inspect.signature(verb)
    checks: dict[str, Check] = {}
    of_tensors: list[str] = []  # arguments that may be tensors, and so arrays

    @functools.wraps(verb)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(_wrong_call(verb.__name__, signature, kwargs, error)) from None
        if not checks:  # at the first call, as most verbs are never called in a session
            checks.update(argument_checks(verb))
            of_tensors.extend(_of_tensors(verb))
        for name in of_tensors:
            if isinstance(bound.arguments.get(name), np.ndarray):
                bound.arguments[name] = _as_tensor(bound.arguments[name], (args, kwargs))
                args, kwargs = bound.args, bound.kwargs  # type: ignore[assignment]
        for name, value in bound.arguments.items():
            checks[name](value, name)
        device, work = _device_and_work((args, kwargs))
        args, kwargs = placed((args, kwargs), device)
        has_gradients = torch.is_grad_enabled()
        with (
            arithmetic(),
            # No later verb could use the tensors of inference mode; leaving it enables gradients
            torch.inference_mode(False),
            torch.set_grad_enabled(has_gradients),
            threads(work),
        ):
            return for_readers(verb(*args, **kwargs))

    hints = get_type_hints(verb, NAMES | inspect.unwrap(verb).__globals__)
    parameters = []
    for parameter in signature.parameters.values():
        hint = hints.get(parameter.name, parameter.annotation)
        parameters.append(parameter.replace(annotation=hint))
    without_checks = signature.replace(
        parameters=parameters,
        return_annotation=hints.get("return"),
    )
    vars(checked)["__signature__"] = without_checks
    return checked


def argument_checks(verb: Callable) -> dict[str, Check]:
    """List the check of each argument of a verb."""
    raw = inspect.unwrap(verb)
    hints = get_type_hints(raw, NAMES | raw.__globals__, include_extras=True)
    checks = {}
    for name, parameter in inspect.signature(verb).parameters.items():
        hint: Any = hints.get(name, object)
        if parameter.kind is parameter.VAR_POSITIONAL:
            hint = tuple[hint, ...]  # type: ignore[valid-type]
        elif parameter.default is None:
            hint = hint | None
        checks[name] = check_of(hint)
    return checks


def _of_tensors(verb: Callable) -> list[str]:
    """List the arguments of a verb that may be tensors."""
    raw = inspect.unwrap(verb)
    hints = get_type_hints(raw, NAMES | raw.__globals__, include_extras=True)
    return [name for name in inspect.signature(verb).parameters if takes_tensors(hints[name])]


def _as_tensor(array: np.ndarray, given: object) -> object:
    """Copy an array to a tensor, floats in the dtype of the network that is `given` beside it."""
    value = from_numpy(array)
    nets = [one for one in _leaves(given) if isinstance(one, Net)]
    if nets and isinstance(value, Tensor) and value.is_floating_point():
        return value.to(nets[0].w.dtype)
    return value


def _wrong_call(
    name: str, signature: inspect.Signature, kwargs: dict[str, object], error: TypeError
) -> str:
    """Explain a call with wrong arguments: the reason, the nearest keyword, the valid arguments."""
    plain = [p.replace(annotation=p.empty) for p in signature.parameters.values()]
    reason = str(error)
    for missing, origin in ORIGINS.items():
        is_itself = name in origin  # `transfer` without a prior: not "call fv.transfer"
        if reason.endswith(repr(missing)) and not is_itself:
            reason += f" ({origin})"
    unknown = [key for key in kwargs if key not in signature.parameters]
    if unknown:
        reason = f"got an unexpected keyword argument {shown(unknown[0])}"
        if name in ("fit", "fit_many") and not foreign(unknown[0], signature.parameters):
            field = unknown[0]
            meant = foreign(field, ["radius", "lr", "mc_samples", "prior"])
            way = meant or f"fv.SABMA({field}=...)"
            return f"{name}: {reason}: a field of a method is given to the method, {way}"
        if meant := foreign(unknown[0], signature.parameters):
            reason += f", {meant}"
        elif near := get_close_matches(unknown[0], signature.parameters, 1):
            reason += f", did you mean {near[0]!r}?"
    return f"{name}: {reason}: it takes {inspect.Signature(plain)}"


def _device_and_work(given: object) -> tuple[torch.device, float]:
    """Find the device that a verb computes on, and the multiply-adds of its largest argument.

    The device is that of its network, or without one the first that is not the CPU.  Each number of
    an argument counts as PER_NUMBER multiply-adds.
    """
    of_nets: list[torch.device] = []
    others: list[torch.device] = []
    largest = 0
    for value in _leaves(given):
        if isinstance(value, Net):
            of_nets.append(value.device)
            largest = max(largest, value.dim)
        elif isinstance(value, Data):  # its size says nothing, as it passes in batches
            others.append(value.x.device)
        else:
            others.append(value.device)
            largest = max(largest, value.numel())
    gpus = [device for device in others if device.type != "cpu"]
    device = [*of_nets, *gpus, torch.device("cpu")][0]
    return device, float(PER_NUMBER * largest)


def _leaves(value: Any) -> Iterator[Net | Tensor | Data]:
    """Yield the networks, tensors and data inside lists, tuples, dicts and dataclasses."""
    if isinstance(value, (Net, Tensor, Data)):
        yield value
    elif type(value) in (list, tuple, dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _leaves(item)
    elif dataclasses.is_dataclass(value) and not isinstance(value, (type, *FOR_READERS)):
        for field in dataclasses.fields(value):
            yield from _leaves(vars(value).get(field.name))
