"""The boundary of every public verb.

Its arguments are checked by their annotations before anything is computed.

A type says what a value must be: `Annotated[float, check_radius]` by the checks beside it, `int |
None`, `Sequence[Spectrum]` and the rest by themselves.  The verb itself checks the rest: that a
prior covers the net's weights, say.
"""

import functools
import inspect
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any, ParamSpec, TypeVar, get_type_hints

import numpy as np
import torch
from torch import Tensor

from flatviz.checks import Check, each, usable
from flatviz.core.arithmetic import PER_NUMBER, arithmetic, threads
from flatviz.core.data import Data
from flatviz.core.net import Net
from flatviz.noun import check_of, many
from flatviz.results import FOR_READERS, for_readers, placed, rebuilt

P = ParamSpec("P")  # a line each: type checkers read no tuple of them
R = TypeVar("R")
KNOWN = {"Net": Net, "Data": Data}  # in annotations of layers that do not import them


def public(verb: Callable[P, R]) -> Callable[P, R]:
    """Check every argument of `verb` by its annotation before it runs.

    None also passes where it is the default.

    Weights, posteriors and results that come from elsewhere are moved to where the network lies;
    what the verb returns for readers lies on the CPU.  The verb runs in IEEE float32; its steps of
    training, in `advance`, in what the user has set. It runs on as many threads as pay for the
    largest that it is given (`threads`); gradients, products and predictions choose for themselves.
    Its signature, as `help` shows it, has the types without their checks.
    """
    signature = inspect.signature(verb)
    checks: dict[str, Check] = {}

    @functools.wraps(verb)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            given = signature.bind(*args, **kwargs).arguments
        except TypeError as error:
            raise TypeError(_called_so(verb.__name__, signature, kwargs, error)) from None
        if not checks:  # at the first call: most verbs of a session are never called
            checks.update(argument_checks(verb))
        for name, value in given.items():
            checks[name](value, name)
        device, work = _where((args, kwargs))
        args, kwargs = placed(_usable((args, kwargs)), device)
        gradients = (
            torch.is_grad_enabled()
        )  # not in inference mode, whose tensors no later verb could use
        with (
            arithmetic(),
            torch.inference_mode(False),
            torch.set_grad_enabled(gradients),
            threads(work),
        ):
            return for_readers(verb(*args, **kwargs))

    hints = get_type_hints(verb, KNOWN | inspect.unwrap(verb).__globals__)
    shown = [
        p.replace(annotation=hints.get(p.name, p.annotation)) for p in signature.parameters.values()
    ]
    vars(checked).update(
        __signature__=signature.replace(parameters=shown, return_annotation=hints.get("return"))
    )
    return checked


def argument_checks(verb: Callable) -> dict[str, Check]:
    """List the check of each argument of a verb."""
    raw = inspect.unwrap(verb)
    hints = get_type_hints(raw, KNOWN | raw.__globals__, include_extras=True)
    return {
        name: _of_parameter(p, hints.get(name, Any))
        for name, p in inspect.signature(verb).parameters.items()
    }


def _of_parameter(parameter: inspect.Parameter, hint: Any) -> Check:
    if parameter.kind is parameter.VAR_POSITIONAL:
        return each(check_of(hint), many(hint), least=0)
    return check_of(hint | None if parameter.default is None else hint)


def _called_so(
    name: str, signature: inspect.Signature, kwargs: dict[str, Any], error: TypeError
) -> str:
    """The reason, the keyword nearest to one that is unknown, and the arguments that there are."""
    plain = [p.replace(annotation=p.empty) for p in signature.parameters.values()]
    reason = str(error)
    for unknown in [key for key in kwargs if key not in signature.parameters][:1]:
        near = get_close_matches(unknown, signature.parameters, 1)
        reason = f"got an unexpected keyword argument {unknown!r}" + (
            f", did you mean {near[0]!r}?" if near else ""
        )
    return f"{name}: {reason}: it takes {inspect.Signature(plain)}"


def _usable(value: Any) -> Any:
    """`value` with Python's numbers for NumPy's, and copies that autograd takes of tensors from `torch.inference_mode`."""
    if isinstance(value, np.number):  # torch and random take Python's numbers only
        return value.item()
    return usable(value) if isinstance(value, Tensor) else rebuilt(value, _usable)


def _where(given: Any) -> tuple[torch.device, float]:
    """Find the device that a verb computes on, and the multiply-adds of an operation on the largest weights among its arguments.

    It computes where its network lies; without one, on the first card that weights or a posterior
    lie on.
    """
    nets: list[torch.device] = []
    others: list[torch.device] = []
    work = [0.0]

    def look(value: Any) -> Any:
        if isinstance(value, (Tensor, Net)):
            (nets if isinstance(value, Net) else others).append(value.device)
            work.append(PER_NUMBER * (value.dim if isinstance(value, Net) else value.numel()))
        elif isinstance(value, Data):  # it passes in batches
            others.append(value.x.device)
        elif not isinstance(value, FOR_READERS):
            rebuilt(value, look)
        return value

    look(given)
    return next(iter(nets + [d for d in others if d.type != "cpu"]), torch.device("cpu")), max(work)
