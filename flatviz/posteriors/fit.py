"""`fit`: one verb that runs every method, and `fit_many`, several at once."""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any, cast

from flatviz.checks import Count, Seed, Statistics, Whole
from flatviz.core import Data, Likelihood, Net, Progress, public
from flatviz.objectives.problem import Problem, examined
from flatviz.training.augment import Augment
from flatviz.training.driver import Diverged
from flatviz.training.gradient import PLAIN, Training
from flatviz.training.method import Method, Q, fit_problem
from flatviz.training.settings import Checkpoint, Run
from flatviz.training.variational import Variational, fit_gaussians


def check_method(value: object, name: str) -> None:
    """Check for the value of a method."""
    if isinstance(value, Method):
        return
    if isinstance(value, type) and issubclass(value, Method):
        came, call = f"the class {value.__name__}", f"fv.{value.__name__}(...)"
    else:
        came, call = f"{value!r}"[:60], "fv.SABMA(prior)"
    raise TypeError(f"{name} must be a value, as {call}, got {came}: call the class")


Value = Annotated[Method[Q], check_method]
AnyValue = Annotated[Method[Any], check_method]


@public
def fit(
    net: Net,
    data: Data,
    method: Value[Q],
    *,
    seed: Seed,
    steps: Whole | None = None,
    batch_size: Count | None = None,
    likelihood: Likelihood = "categorical",
    training: Training = PLAIN,
    batchnorm: Statistics | None = None,
    augment: Augment | None = None,
    checkpoint: Checkpoint = None,
    progress: Progress = None,
) -> Q:
    """Fit one posterior over the net's treated weights by a method, as `fv.SABMA(prior, radius=2)`.

    What stands in the method's equation is a field of its value; what belongs to every run is an
    argument here.  The posterior keeps the method, with all its fields filled: `q.method`.

    Args:
        net: The network over whose D treated weights the posterior is.
        data: The N training examples.
        method: A value: `fv.VI(prior)`, `fv.SWAG(rank=5)`, `fv.SGD()`, ...
        seed: Fixes noise and minibatches, on one device.
        steps: Number of minibatches; None: the method's usual, 300 or 600.  Chains and SWAG count
            draws and snapshots in fields, from which their steps follow.
        batch_size: Examples a minibatch; None: the method's usual, for most all of them;
            `len(data)` takes all for any.
        likelihood: As in `nll`: of classes, labels of 0 or 1, targets with noise.
        training: `Training(...)`: precision, accumulation, early stopping.
        batchnorm: "frozen" uses the net's BatchNorm statistics; "train" those of each batch, and
            leaves statistics of the data at each draw (of SGD, VI and SA-BMA: those collected in
            training) in `q.buffers`, which `predict` uses.  None: the method's usual.
        augment: Varies the inputs of a minibatch once a step, for both gradients and all draws: a
            transform of one example, as of torchvision.transforms.v2, or f(x, generator) of all
            (n, ...), on their device.  Images stored as bytes come from 0 to 1.  None: data as it
            is, as it also is for surfaces, scores and validation.
        checkpoint: Path to save to and resume from.
        progress: None shows a bar where a terminal or a notebook watches; True, False, or a
            function(done, total, label).

    Raises:
        ValueError: On bad data, settings out of range, or an argument that the method has no use
            for.
        Diverged: If the loss or the posterior becomes NaN or inf.
        MemoryError: With the bytes of a step that finds no memory.

    Example:
        >>> import flatviz as fv
        >>> task = fv.datasets.moons_transfer(seed=0)
        >>> net = fv.Net.from_module(fv.models.mlp(task, hidden=(8,), seed=0))
        >>> solution = fv.fit(net, task.train, fv.SGD(), seed=0)
        >>> float(solution.history.loss[-1]) < float(solution.history.loss[0])
        True
        >>> solution.method
        SGD(lr=0.05)
    """
    run = run_of(
        net, method, seed, steps, batch_size, training, batchnorm, augment, checkpoint, progress
    )
    return fit_problem(examined(net, data, likelihood), method, run)


def run_of(
    net: Net,
    method: Method,
    seed: int,
    steps: int | None,
    batch_size: int | None,
    training: Training,
    batchnorm: Statistics | None,
    augment: Augment | None,
    checkpoint: Checkpoint,
    progress: Progress,
) -> Run:
    """Build the run of a method, with its usual values where None is given.

    Raises:
        ValueError: For an argument that the method has no use for, and for no steps.
    """
    given = {
        "steps": steps,
        "batch_size": batch_size,
        "batchnorm": batchnorm,
        "training": None if training is PLAIN else training,
        "augment": augment,
    }
    for name, value in given.items():
        if value is not None and name not in method.takes:
            raise ValueError(f"{name} must be None for {method!r}, got {value!r}: {ADVICE[name]}")
    usual = method.usual_for(net)
    steps = usual.steps if steps is None else steps
    if steps == 0 and method.label != "Laplace":
        raise ValueError("steps must be a whole number >= 1, got 0")
    return Run(
        method.label,
        seed,
        checkpoint,
        progress,
        usual.batch_size if batch_size is None else batch_size,
        training,
        steps,
        batchnorm or usual.batchnorm,
        augment=augment,
    )


ADVICE = {
    "steps": "its steps follow from its draws, a field",
    "batch_size": "each of its steps takes all examples",
    "batchnorm": "it keeps the net's statistics",
    "training": "each of its steps takes all examples in float32",
    "augment": "its loss is that of the data as they are",
}


@public
def fit_many(
    net: Net,
    data: Data,
    methods: Sequence[AnyValue],
    *,
    seeds: Sequence[Seed],
    steps: Whole | None = None,
    batch_size: Count | None = None,
    likelihood: Likelihood = "categorical",
    training: Training = PLAIN,
    batchnorm: Statistics | None = None,
    augment: Augment | None = None,
    checkpoint: Checkpoint = None,
    progress: Progress = None,
) -> dict[tuple[int, int], Any]:
    """Fit every method with every seed: (number of the method, seed) -> posterior.

    Methods that differ in radius and kl_weight alone are trained at once with all seeds: chains of
    small layers, and any network on a GPU, run all members in one pass.  Each equals its single fit
    to rounding; a radius or kl_weight of 0 is fitted alone.  A warning names members that diverge,
    which are left out.

    Args:
        net: As in `fit`.
        data: The N training examples.
        methods: Values, as `[fv.SABMA(prior, radius=r) for r in radii]`.
        seeds: Of noise and minibatches, each.
        steps: As in `fit`, of each.
        batch_size: As in `fit`.
        likelihood: As in `fit`.
        training: As in `fit`.
        batchnorm: As in `fit`.
        augment: As in `fit`.
        checkpoint: Path; those of several groups end with their number.
        progress: As in `fit`.

    Raises:
        ValueError: As `fit`, before the first fit.
        Diverged: If each member diverges.

    Example:
        >>> import torch, flatviz as fv
        >>> net = fv.Net.from_module(torch.nn.Linear(2, 3))
        >>> data = fv.Data(torch.randn(12, 2), torch.arange(12) % 3)
        >>> prior = fv.Gaussian(net.w, torch.full_like(net.w, -1.0))
        >>> family = [fv.SABMA(prior, radius=r) for r in (0.5, 1.0)]
        >>> list(fv.fit_many(net, data, family, seeds=[0, 1], steps=5))
        [(0, 0), (0, 1), (1, 0), (1, 1)]
    """
    problem = examined(net, data, likelihood)
    runs = [
        run_of(
            net, m, seeds[0], steps, batch_size, training, batchnorm, augment, checkpoint, progress
        )
        for m in methods
    ]
    ready = [m.completed(problem, run) for m, run in zip(methods, runs)]
    runs = [replace(run, notes=r.remarks(m)) for m, r, run in zip(methods, ready, runs)]
    groups = groups_of(ready)
    found: dict[tuple[int, int], Any] = {}
    failed: dict[tuple[int, int], Diverged] = {}
    for number, group in enumerate(groups):
        run = runs[group[0]]
        if checkpoint is not None and len(groups) * len(seeds) > 1:
            run = replace(run, checkpoint=f"{checkpoint}.{number}")
        members = [(i, seed) for i in group for seed in seeds]
        if len(members) > 1 and isinstance(ready[group[0]], Variational):
            run = replace(run, label=f"{len(members)} members of {run.label}")
            fits = fit_gaussians(stacked(ready, members), problem, run, [s for _, s in members])
        else:
            fits = [_alone(problem, ready[i], run, seed, len(members)) for i, seed in members]
        for (i, seed), q in zip(members, fits):
            if isinstance(q, Diverged):
                failed[i, seed] = q
            else:
                found[i, seed] = replace(q, method=ready[i])
    if failed:
        names = ", ".join(f"{ready[i]!r} with seed {seed}" for i, seed in failed)
        if not found:
            first = next(iter(failed.values()))
            raise Diverged(f"all {len(failed)} members diverged, {names}: {first}")
        total = len(failed) + len(found)
        warnings.warn(
            f"{len(failed)} of {total} members diverged and are left out: {names}", stacklevel=3
        )
    order = [(i, seed) for i in range(len(methods)) for seed in seeds]
    return {key: found[key] for key in order if key in found}


def _alone(problem: Problem, method: Method, run: Run, seed: int, members: int) -> Any:
    """Fit one member by itself; its `Diverged`, where it diverges."""
    if run.checkpoint is not None and members > 1:
        run = replace(run, checkpoint=f"{run.checkpoint}.{seed}")
    try:
        return method.fitted(problem, replace(run, seed=seed))
    except Diverged as error:
        return error


def groups_of(methods: Sequence[Method]) -> list[list[int]]:
    """List the numbers of completed methods that can be trained at once."""
    groups: list[list[int]] = []
    for i, method in enumerate(methods):
        positive = all(vars(method)[name] > 0 for name in method.together)
        for group in groups:
            first = methods[group[0]]
            same = type(first) is type(method) and method.together
            both_positive = positive and all(vars(first)[name] > 0 for name in first.together)
            if same and both_positive and _differ_in(first, method) <= set(method.together):
                group.append(i)
                break
        else:
            groups.append([i])
    return groups


def _differ_in(a: Method, b: Method) -> set[str]:
    """Return the names of the fields in which two methods of one class differ."""
    return {name for name in vars(a) if replace(a, **{name: vars(b)[name]}) != a}


def stacked(methods: Sequence[Method], members: Sequence[tuple[int, int]]) -> Variational:
    """Return one value for several completed ones, whose fields of `together` are tensors (B,).

    It is not checked, and never handed out.
    """
    of_members = [cast(Variational, methods[i]) for i, _ in members]
    first = of_members[0]
    whole = object.__new__(type(first))
    vars(whole).update(vars(first))
    for name in first.together:
        values = [vars(m)[name] for m in of_members]
        if len(set(values)) > 1:
            vars(whole)[name] = first.prior.mean.new_tensor(values)
    return whole
