"""The loop of every fit: a method is `init`, `update` and `result`, the driver does the rest.

    state = algorithm.init(...)
    state, record = algorithm.update(state, gradient, batch, noise)     once a step
    posterior = algorithm.result(state, history)

A state is a NamedTuple of tensors, with members of a family as their leading dimension; `update`
reads nothing back to the host, so that a step can be recorded on a GPU and replayed.  The driver
provides minibatches and noise, keeps draws and history, saves checkpoints, stops early, reports
progress and detects divergence.
"""

import math
import time
import warnings
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import islice
from typing import Any, Generic, NamedTuple, Protocol, TypeVar, cast

import torch
from torch import Tensor

from flatviz.core import track, users_arithmetic
from flatviz.results import History, Posterior
from flatviz.storage.digest import arguments_digest
from flatviz.storage.files import State, load_state, save_state
from flatviz.training.gradient import Batch, Gradient, Noises, TrainingLoss
from flatviz.training.loop import EarlyStopping, replayed
from flatviz.training.settings import Run
from flatviz.training.streams import Noise, factors, minibatches

SAVE_EVERY = 30.0  # seconds
# Nats an example, beside ten times the first loss; a wide posterior at T = 1 raises it by less
FAR = 10.0
TRAINED = 20
ABOVE = 0.05  # nats an example, beside as much of the loss: a network that has learned nothing yet


class LossRose(UserWarning):
    """Warning of a fit whose loss ends far above its start, or above the best constant outputs'."""


class Diverged(ValueError):
    """Error of a fit whose loss or parameters became NaN or inf: lower its lr or radius.

    Bad input is a plain `ValueError`.

    Example:
        >>> import flatviz as fv
        >>> task = fv.datasets.moons_transfer(seed=0)
        >>> net = fv.Net.from_module(fv.models.mlp(task, hidden=(8,), seed=0))
        >>> try:
        ...     _ = fv.fit(net, task.train, fv.SGD(lr=1e30), seed=0)
        ... except fv.Diverged as error:
        ...     print(error)
        the loss must stay finite, got NaN or inf at step 1 of 300: lower lr or radius
    """


Ahead = Callable[[Iterator[Batch]], AbstractContextManager[Iterator[Batch]]]


class Record(NamedTuple):
    """Entries of one step in the history, () each or (B,) of members.

    They are the loss, the KL to the prior, the loss gained by an ascent, and its length.
    """

    loss: Tensor
    kl: Tensor | None = None
    sharpness: Tensor | None = None
    reach: Tensor | None = None


S = TypeVar("S", bound=NamedTuple)  # of tensors; the first is where early stopping looks


class Algorithm(Protocol[S]):
    """A method: a frozen record of settings with `init`, `update` and `result`.

    `noise` and `collect` have defaults: no noise, and the first tensor of the state, its weights.
    """

    def init(self, *start: Any) -> S:
        """Return the state at weights, or at a Gaussian."""

    def update(self, *given: Any, **rate: Any) -> tuple[S, Record]:
        """Take one step, `update(state, gradient, batch, noise)`: the next state, and its record.

        It does not change the given state, draws nothing, and reads nothing back to the host.  A
        method with a `schedule` also takes `rate`, the factor on its lr in this step.
        """

    def result(
        self,
        state: S,
        history: History | None = None,
        kept: Sequence[Tensor] = (),
    ) -> Posterior:
        """Return the posterior of the last state and of the collected tensors."""

    def noise(self, state: S, seeds: Sequence[int], steps: int) -> Noise:
        """Draw the noise of all steps, with one seed for each member."""
        return Noise()

    def schedule(self, step: int, steps: int) -> float | None:
        """Return the factor on lr in a step, which `update` then gets as `rate`; None, none."""
        return None

    def collect(self, kept: Sequence[Tensor], state: S) -> Sequence[Tensor]:
        """Add what is kept of this state to what was kept before."""
        return (*kept, state[0].clone())


class Driven(NamedTuple, Generic[S]):
    """Result of `drive`: last state, history (T,) or (T, B) each, and collected tensors.

    `algorithm.result(*driven)` is the posterior.
    """

    state: S
    history: History
    kept: Sequence[Tensor]


@dataclass(eq=False)
class Running(Generic[S]):
    """State, draws, history and noise of a run: all that its steps change."""

    algorithm: Algorithm[S]
    state: S
    loss: TrainingLoss
    noise: Noise
    keep: Container[int]
    rates: Tensor | None = None  # factors on lr, (T,)

    def __post_init__(self) -> None:
        self.kept: list[Tensor] = []
        self.rows: dict[str, list[Tensor]] = {name: [] for name in Record._fields}
        update = self.algorithm.update if self.rates is None else self._at_rate
        self.step, self.notes = replayed(update, self.state, self.loss)

    def _at_rate(
        self, state: S, gradient: Gradient, batch: Batch, noise: Noises
    ) -> tuple[S, Record]:
        """Take a step whose rate is the last tensor of its noise, as an input of a recording."""
        *drawn, rate = noise
        return self.algorithm.update(state, gradient, batch, tuple(drawn), rate=rate)

    def update(self, at: int, batch: Batch) -> None:
        """Take step number `at`."""
        self.loss.begin(at, batch)
        noise = self.noise.at(at)
        if self.rates is not None:
            noise = (*noise, self.rates[at])
        state, record = self.step(self.state, batch, noise)
        # A prior of weights that have gradients brings in a graph, which would grow with the steps
        plain = (value.detach() if value.requires_grad else value for value in state)
        self.state = cast(S, state._make(plain))
        if at in self.keep:
            self.kept[:] = self.algorithm.collect(self.kept, self.state)
        for name, value in record._asdict().items():
            if value is not None:
                self.rows[name].append(value.detach())

    def moved(self) -> list[Tensor]:
        """Return the tensors of the state except counts."""
        return [value for value in self.state if value.ndim]

    def saved(self) -> State:
        """Return everything by name, for a checkpoint."""
        saved: State = dict(zip(self.state._fields, self.state))
        saved |= {f"history {name}": rows for name, rows in self.rows.items()}
        saved |= {f"noise {i}": source for i, source in enumerate(self.noise.generators)}
        return saved | {"kept": self.kept} | self.loss.state


def drive(
    algorithm: Algorithm[S],
    state: S,
    gradient: Gradient,
    run: Run = Run(),  # noqa: B008  frozen
    *,
    steps: int,
    seeds: Sequence[int] | None = None,
    shuffle: int | Sequence[int] | None = None,
    keep: Container[int] = (),
    check: bool = True,
    schedule: Callable[[int, int], float | None] | None = None,
) -> Driven[S]:
    """Take `steps` steps from `state`.

    Args:
        algorithm: The method.
        state: Start of the run; it is not changed.
        gradient: (w, batch) -> mean loss, gradient; `training_loss` makes a network's.
        run: Seed, minibatches, precision, checkpoint, progress.
        steps: Number of steps.
        seeds: Seed of the noise of each member; None, that of the run.
        shuffle: Seed of the minibatches, or one for each member; None, that of the run.
        keep: Steps, 0 the first, after which `collect` takes in the state.
        check: Raise on divergence, and warn of a loss that rose far.
        schedule: Factor on lr, (step, steps) -> factor, in place of the method's own.

    Raises:
        ValueError: For validation data, where weights are collected: early stopping would not take
            them back.
        Diverged: If the loss or a tensor of the state becomes NaN or inf, with `check`; if
            `run.augment` gives such numbers.
    """
    if any(step in keep for step in range(steps)):
        run.check_no_validation(
            "weights that it collects on the way all count, and it has no best place to stop at"
        )
    loss = gradient if isinstance(gradient, TrainingLoss) else TrainingLoss(gradient)
    seeds = [run.seed] if seeds is None else seeds
    shuffle = run.seed if shuffle is None else shuffle
    one_each = [shuffle] if isinstance(shuffle, int) else shuffle
    loss.prepare(run.augment, run.batch_size, one_each)
    about = {
        **vars(algorithm),
        **loss.about,
        "start": tuple(state),
        "seed": (seeds, shuffle),
        "batch_size": run.batch_size,
        "training": run.training,
        "keep": keep,
        "schedule": schedule,
    }
    title = titled(run, steps, about)
    noise = algorithm.noise(state, seeds, steps)
    loss.keep(steps * min(run.batch_size or loss.examples, loss.examples))
    if run.checkpoint is not None:  # which is read into these tensors
        state = state._make(value.clone() for value in state)
    device = state[0].device
    rates = factors(schedule or algorithm.schedule, steps, device)
    running = Running(algorithm, state, loss, noise, keep, rates)
    n = max(loss.examples, 1)
    device = torch.device("cpu") if loss.reads else device  # workers read numbers
    batches = minibatches(n, run.batch_size, shuffle, device)
    validation = run.training.validation
    stopping = None
    if validation is not None:
        stopping = EarlyStopping(
            validation,
            loss,
            running.moved,
            lambda: running.state[0],
            run,
            steps,
        )
    del state, about  # a large network's take much memory
    examples = min(run.batch_size or n, n) if loss.examples else None
    advance(
        running.saved,
        running.update,
        batches,
        steps,
        run,
        title,
        stopping,
        examples=examples,
        ahead=loss.ahead,
    )
    notes = [*running.notes, *run.notes, *loss.notes]
    if fault := loss.finish():
        raise Diverged(fault)
    losses = torch.stack(running.rows["loss"])
    checks = None if stopping is None else torch.stack(stopping.losses)
    if check:
        floating = [value for value in running.moved() if value.is_floating_point()]
        check_converged(losses, *floating)
        notes = [*notes, *risen(losses, checks)]
    records = {name: torch.stack(rows) for name, rows in running.rows.items() if rows}
    history = History(**records, validation=checks, notes=tuple(notes))
    return Driven(running.state, history, tuple(running.kept))


def titled(run: Run, steps: int, about: Mapping[str, object]) -> str:
    """Build a title that no other run has: label, steps, and with a checkpoint a hash of `about`.

    `about` is, by name, all that the run depends on.
    """
    digest = arguments_digest({**about, "checkpoint": run.checkpoint})
    return f"{run.label} of {steps} steps, arguments {digest}"


@users_arithmetic()
def advance(
    saved: Callable[[], State],
    update: Callable[[int, Tensor | None], None],
    batches: Iterator[Tensor | None],
    steps: int,
    run: Run,
    title: str,
    stopping: EarlyStopping | None = None,
    *,
    examples: int | None = None,
    ahead: Ahead = nullcontext,
) -> None:
    """Call `update(step, next(batches))` for each step.

    Steps compute in the float32 arithmetic that the user has set in torch (TF32 or not).  With
    `run.checkpoint` the state is saved twice a minute, at the end, and when `run.progress` cancels;
    if the file exists, the run resumes from it and ends as if it had never stopped.

    saved: returns everything that `update` changes.
    title: title of the run, by `titled`; a file of a run of another title is refused.
    stopping: looks at the state after each step, may end the run, and restores the best state.
    examples: number of examples in a step, for the bar, which then counts images/s.
    ahead: reads the minibatches of the steps to come, in a block.

    Raises:
        ValueError: If the file is of another run.
        RuntimeError: As a step raises it.
        MemoryError: For a step that finds no memory, with the bytes that torch asked for.
    """

    def state() -> State:
        return saved() if stopping is None else saved() | stopping.state

    done = 0 if run.checkpoint is None else load_state(state(), run.checkpoint, title)
    reading = ExitStack()
    batches = reading.enter_context(ahead(islice(batches, done, steps)))
    last = time.monotonic()
    consistent = True
    try:
        for step in track(range(done, steps), run.label, run.progress, examples=examples):
            if stopping is not None and stopping.over:
                break
            index = next(batches)
            consistent = False
            try:
                update(step, index)
            except RuntimeError as error:
                if isinstance(error, torch.OutOfMemoryError) or "DefaultCPUAllocator" in str(error):
                    size = "all" if index is None else index.shape[-1]
                    raise MemoryError(
                        f"{run.label} must fit into memory, got a step with {size} examples of"
                        f" which torch says: {error}: lower batch_size, or give"
                        " training=fv.Training(accumulate=2, precision='bfloat16'): half the"
                        " examples at a time, of half the size"
                    ) from error
                raise
            if stopping is not None:
                stopping.look(step)
            done = step + 1
            consistent = True
            if run.checkpoint is not None and time.monotonic() - last > SAVE_EVERY:
                save_state(state(), done, run.checkpoint, title)
                last = time.monotonic()
    finally:
        reading.close()
        # Interrupted mid-update: inconsistent, not saved
        if run.checkpoint is not None and consistent:
            save_state(state(), done, run.checkpoint, title)
    if stopping is not None:
        stopping.restore()


def check_converged(losses: Tensor, *parameters: Tensor) -> None:
    """Raise `Diverged` for a run whose loss or parameters became NaN or inf."""
    if all(bool(values.isfinite().all()) for values in (losses, *parameters)):
        return
    finite = losses.isfinite().reshape(len(losses), -1)
    bad = ~finite.all(1)
    at = f"at step {int(bad.nonzero()[0])}" if bad.any() else "at its last step"
    raise Diverged(
        f"the loss must stay finite, got NaN or inf {at} of {len(losses)}: lower lr or radius"
    )


def risen(
    losses: Tensor,
    validation: Tensor | None,
    before: Callable[[], Tensor] | None = None,
) -> tuple[str, ...]:
    """Warn, and return a note, where a loss ends far above its start; otherwise return ().

    Losses (T,) or (T, B) may end FAR (1 + |first loss|) above the first.  The end is the mean of
    the last tenth of the steps; with validation data it is their smallest loss, whose parameters
    are returned.  `before`, computed only where the end is large, returns the loss at the start of
    the fit, as draws of a wide start have a larger one.
    """
    last = _at_end(losses) if validation is None else validation.amin(0)
    if before is not None and (last > FAR).any():
        losses = losses[:1].clamp(max=before())
    first = losses[0]
    far = last - first > FAR * (1 + first.abs())
    if not far.any():
        return ()
    began = float(first[far][0])
    end = float(last[far][0])
    note = (
        f"the loss ends far above where it began, {end:.3g} after {began:.3g} nats an example:"
        " lower lr or radius, or start narrower"
    )
    return _noted(note)


def _at_end(losses: Tensor) -> Tensor:
    """Compute the mean of the last tenth of the steps."""
    n = math.ceil(len(losses) / 10)
    return losses[-n:].mean(0)


def beside_constant(losses: Tensor, constant: float) -> tuple[str, ...]:
    """Warn, and return a note, where a loss ends above that of the best constant outputs; else ().

    A run of less than `TRAINED` steps is not judged.
    """
    end = float(_at_end(losses).max())
    above = end - constant
    if len(losses) < TRAINED or not above > ABOVE * (1 + abs(constant)):
        return ()
    note = (
        f"the loss ends at {end:.3g} nats an example, above the {constant:.3g} of the best constant"
        " outputs: train longer, or lower lr"
    )
    return _noted(note)


def _noted(note: str) -> tuple[str, ...]:
    if not _JUDGED.get():
        warnings.warn(note, LossRose, stacklevel=3)
    return (note,)


_JUDGED = ContextVar("judged", default=False)


@contextmanager
def judged_by_score() -> Iterator[None]:
    """Suppress warnings of risen losses in this thread, for callers that compare scores."""
    token = _JUDGED.set(True)
    try:
        yield
    finally:
        _JUDGED.reset(token)
