"""The contract of an objective f(w): values, derivatives and properties, with plain defaults."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Annotated, Literal

import torch
from torch import Tensor

from flatviz.checks import check_weights, function, shown, tensor
from flatviz.core.arithmetic import arithmetic, threads, users_device
from flatviz.core.boundary import public
from flatviz.core.derivatives import Product, differentiable, symmetric, twice
from flatviz.core.progress import Progress, track
from flatviz.core.seeds import saved_rng

if TYPE_CHECKING:  # at run time a verb sees objectives alone
    from flatviz.core.net import Net

Curvature = Literal["hessian", "ggn", "fisher"]


class Objective:
    """A scalar function of the weights, f(w: (D,)) -> (), with all that verbs ask of one.

    A plain function of w serves wherever an objective is taken.  A subclass gives `__call__`, and
    overrides a default only where it has a better way.

    Attributes:
        net: The network whose weights w are, or None.
        dim: Their number D, None where any will do.
        n: Number of examples in the mean.
        batchnorm: BatchNorm statistics in use, "frozen", "re-estimated" or None.
        label: Name of the values, for axes and messages.
        differentiable: Whether `__call__` has gradients.
        together: Whether `many` computes several points faster than one by one.
        work: multiply-adds of one operation, by which the number of threads is chosen.

    Example:
        >>> class Bowl(Objective):
        ...     label = "half the squared distance from 0"
        ...     def __call__(self, w):
        ...         return w.square().sum() / 2
        >>> bowl = Bowl()
        >>> bowl.many(torch.eye(2)).tolist()
        [0.5, 0.5]
        >>> bowl.hvp(torch.ones(2), torch.tensor([3.0, 4.0])).tolist()
        [3.0, 4.0]
    """

    net: Net | None = None
    dim: int | None = None
    n: int | None = None
    batchnorm: str | None = None
    label: str = "f(w)"
    differentiable: bool = True
    together: bool = False
    work: float = 0.0

    @property
    def key(self) -> str:
        """Hash of all that values depend on besides w; empty: values are not cached on disk."""
        return ""

    def __call__(self, w: Tensor) -> Tensor:
        """Compute the value at `w` (D,), a scalar."""
        raise NotImplementedError(
            f"{type(self).__name__} needs a __call__(w): the value at one weight vector"
        )

    def many(self, W: Tensor, *, progress: Progress = False) -> Tensor:
        """Compute values (S,) at the rows of `W` (S, D), without gradients."""
        with threads(self.work):
            values = [self._at(w).to(W) for w in track(W, self.label, progress)]
            return torch.stack(values)

    def _at(self, w: Tensor) -> Tensor:
        """Compute the value at `w` without a graph.

        The function itself may differentiate inside, as the loss of a PINN does.
        """
        w = w.clone().detach()  # into which the function may write
        with differentiable():
            return _number(self(w), self.label).detach()

    @arithmetic()
    def value_and_grad(self, w: Tensor) -> tuple[Tensor, Tensor]:
        """Compute f(w), (), and its gradient (D,); a ValueError where f has none."""
        with threads(self.work):
            _, value, gradient = _differentiate(self, w, create_graph=False)
        return value, gradient

    @arithmetic()
    def hvp(self, w: Tensor, v: Tensor) -> Tensor:
        """Compute H v with H = grad^2 f(w) (D, D); `w`, `v` and the result are (D,)."""
        check_weights(v, w.numel(), "v")
        with torch.inference_mode(False):
            return self.products(w)(v.clone() if v.is_inference() else v)

    def products(self, w: Tensor, curvature: str = "hessian") -> Product:
        """Return `operator` with a check of its first product for symmetry, u.Hv = v.Hu.

        Raises ValueError where they differ, in float64 too where `in_float64` has that.
        """

        def wide() -> Product | None:
            f = self.in_float64()
            return None if f is None else f.operator(w.double(), curvature)

        blocks = () if self.net is None else self.net.blocks
        return symmetric(self.operator(w, curvature), self.label, blocks, wide)

    def in_float64(self) -> Objective | None:
        """Return the same objective computed in float64, None where it cannot be."""
        return None

    def operator(self, w: Tensor, curvature: str = "hessian") -> Product:
        """Return the function v -> H v at one `w`, by double backward.

        The gradient's graph is kept, so each product is one pass through it.

        Raises:
            ValueError: For a curvature that only a network's mean loss has ("ggn", "fisher"), for
                an f without gradients, and for one that gives two values at one w.
        """
        if curvature != "hessian":
            raise ValueError(
                f"curvature={shown(curvature)} needs an objective of a network, as nll makes, got"
                f" {self.label}"
            )
        with saved_rng():
            first = self._at(w)
            second = self._at(w)
        if not torch.equal(first, second) and bool(torch.isfinite(first)):
            raise ValueError(
                f"f must be a function of w, got {float(first):g} and {float(second):g} at w: turn"
                " dropout off"
            )
        return hessian_operator(self, w)

    def over(
        self,
        origin: Tensor,
        axes: Tensor,
        *,
        exact: bool = False,
        precision: str | None = None,
        coords: Tensor | None = None,
    ) -> PointEvaluator:
        """Return an evaluator of values at origin + coords @ axes, here by `many`.

        origin: (D,).
        axes: (K, D).
        exact: reuse no work between points.
        precision: a faster, reduced one.
        coords: points that will be asked for, (P, K).

        Raises:
            ValueError: For a precision where f is no network's loss.
        """
        if precision is not None:
            raise ValueError(
                f"precision={precision!r} needs an objective of one network with frozen BatchNorm"
                f" statistics on data in memory, as nll makes, got {self.label}: leave it out"
            )
        return PointEvaluator(self, origin, axes, together=self.together and not exact)

    def batches(self, size: int) -> list[Objective]:
        """Return the mean loss of each minibatch of `size` examples; a ValueError without data."""
        raise ValueError(f"batches need an objective of data, as nll makes, got {self.label}")

    def whose_statistics(self, a: Tensor, b: Tensor) -> str:
        """Name the frozen BatchNorm statistics in use between `a` (t = 0) and `b` (t = 1).

        Without frozen statistics, return "".
        """
        if self.net is None or self.batchnorm != "frozen":
            return ""
        owner = "a net that is neither end"
        for t, end in ((1, b), (0, a)):
            if torch.equal(self.net.w.to(end), end):
                owner = f"the net at t = {t}"
        return f" with the BatchNorm statistics of {owner}"


@dataclass(eq=False)
class PointEvaluator:
    """Evaluator of values (S,) at origin + coords @ axes for coords (S, K), here by `f.many`.

    `Objective.over` returns one.  reuses: points share work, so that a comparison of values with
    plain ones is worthwhile.
    """

    f: Objective
    origin: Tensor
    axes: Tensor
    together: bool = False
    reuses: bool = False

    def __call__(self, coords: Tensor) -> Tensor:
        """Values (S,) at coords (S, K)."""
        W = [self.origin + row @ self.axes for row in coords.to(self.axes)]
        if self.together:
            return self.f.many(torch.stack(W))
        # One at a time, so that a value's rounding does not depend on the other points
        return torch.cat([self.f.many(w[None]) for w in W])


class FunctionObjective(Objective):
    """A plain function of w as an objective; `as_objective` makes one."""

    def __init__(self, function: Callable[[Tensor], Tensor]) -> None:
        self.function = function

    def __call__(self, w: Tensor) -> Tensor:
        """Return the function's value at `w` (D,)."""
        with users_device():
            return self.function(w)


check_objective = function("an objective, w (D,) -> ()", "fv.nll(net, data) makes one")
ObjectiveLike = Annotated[Objective | Callable[[Tensor], Tensor], check_objective]


def as_objective(f: ObjectiveLike) -> Objective:
    """Wrap a plain function as an objective; return an objective as it is.

    Each public verb calls it once.

    Example:
        >>> as_objective(lambda w: w.sum()).many(torch.ones(3, 2)).tolist()
        [2.0, 2.0, 2.0]
    """
    return f if isinstance(f, Objective) else FunctionObjective(f)


class Reshaped(FunctionObjective):
    """A plain function of a tensor of another shape, as an objective of its flat vector."""

    def __init__(self, function: Callable[[Tensor], Tensor], shape: torch.Size) -> None:
        super().__init__(function)
        self.shape = shape
        self.dim = shape.numel()

    def __call__(self, w: Tensor) -> Tensor:
        """Return the function's value at `w` (D,) in its shape."""
        return super().__call__(w.view(self.shape))


Point = Annotated[Tensor, tensor()]  # (D,), or of the shape that a plain function takes


def flattened(f: ObjectiveLike, w: Tensor) -> tuple[Objective, Tensor]:
    """Return an objective of a vector, and `w` as that vector.

    A plain function may take `w` of any shape, as activations (n, d).
    """
    objective = as_objective(f)
    if w.ndim == 1 or isinstance(f, Objective):
        return objective, check_weights(w, objective.dim)
    return Reshaped(f, w.shape), w.flatten()


@public
def hvp(f: ObjectiveLike, w: Point, v: Point) -> Tensor:
    """Compute H v with H = grad^2 f(w) (D, D), by double backward or by the objective's `hvp`.

    Args:
        f: Objective, w (D,) -> (), or a plain function of a `w` of any shape.
        w: Weights (D,), or activations, as (n, d).
        v: Direction, of the shape of w.

    Returns:
        H v, of the shape of w.

    Raises:
        ValueError: If shapes differ, or f has no gradient.

    Example:
        >>> import torch, flatviz as fv
        >>> w = torch.tensor([1.0, 2.0])
        >>> fv.hvp(lambda w: (w**3).sum(), w, torch.ones(2)).tolist()  # H = diag(6 w)
        [6.0, 12.0]
    """
    f, flat = flattened(f, w)
    if v.shape != w.shape:
        raise ValueError(f"v must have shape {tuple(w.shape)} as w, got {tuple(v.shape)}")
    return f.hvp(flat, v.flatten()).view_as(v)


def hessian_operator(f: ObjectiveLike, w: Tensor) -> Product:
    """Return the function v -> H v at one `w`, without checking that f is a function of w."""
    point, _, gradient = _differentiate(as_objective(f), w, create_graph=True)
    if not gradient.requires_grad:  # linear in w
        return torch.zeros_like

    def product(v: Tensor) -> Tensor:
        with torch.enable_grad():
            # A number: for a vector with weights v autograd would import sympy first, for seconds
            slope = gradient @ v
        (out,) = torch.autograd.grad(slope, point, retain_graph=True, allow_unused=True)
        return torch.zeros_like(v) if out is None else out

    return product


def _differentiate(
    f: Objective,
    w: Tensor,
    *,
    create_graph: bool,
) -> tuple[Tensor, Tensor, Tensor]:
    """Compute a leaf at `w`, the value there, and the gradient; refuse a value without one."""
    gradient = None
    with differentiable(), twice() if create_graph else nullcontext():
        point = check_weights(w, f.dim).detach().clone().requires_grad_(True)
        value = _number(f(point), f.label) if f.differentiable else None
        if value is not None and value.requires_grad:
            (gradient,) = torch.autograd.grad(
                value, point, create_graph=create_graph, allow_unused=True
            )
    if value is None or gradient is None:
        raise ValueError(
            f"a derivative needs an objective that torch can differentiate in w, got {f.label}: "
            "use nll(net, data), or a function that computes with torch only, without detach()"
        )
    if not bool(value.isfinite()):
        raise ValueError(
            f"{f.label} must be finite to have derivatives, got {float(value.detach()):g}: w is"
            " where f diverged"
        )
    return point, value.detach(), gradient


def _number(value: Tensor | float, label: str) -> Tensor:
    """Return a value as a tensor, which must be one real number."""
    if not isinstance(value, (Tensor, Real)):
        raise TypeError(
            f"an objective must return one number, got {type(value).__name__} from {label}"
        )
    value = torch.as_tensor(value)
    if value.ndim != 0:
        raise ValueError(
            f"an objective must return one number, got shape {tuple(value.shape)} from {label}:"
            " take its mean"
        )
    if value.is_complex():
        raise TypeError(
            f"an objective must return a real number, got {value.dtype} from {label}: take its"
            " abs() or real part"
        )
    return value
