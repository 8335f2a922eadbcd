"""The inputs of a step: read once and varied once, whatever the number of its gradients and draws.

Inside a step all gradients work on places in what was read.  It lies in fixed buffers where steps
are recorded, as a recording reads them, and they are filled outside of it.
"""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from itertools import islice

import torch
from torch import Tensor

from flatviz.checks import shown
from flatviz.core import Data, Fields, Inputs, Stream, random_state
from flatviz.core.streams import AT_ONCE
from flatviz.engine.graphs import recorder_for
from flatviz.training.augment import Augment, augmented, check_private, name_of, seed_of
from flatviz.training.gradient import Batch


@dataclass(frozen=True, eq=False)
class Given:
    """Examples of a step, as it sees them: inputs (M, ...) and labels (M,).

    index: the step's minibatch in the data.
    places: the same in x and y.
    """

    index: Batch
    x: Tensor
    y: Tensor
    places: Tensor

    def batch(self, index: Tensor | None) -> tuple[Tensor, Tensor]:
        """Return inputs and labels at these places, as `Data.batch` does."""
        return (self.x, self.y) if index is None else (self.x[index], self.y[index])

    def stands_for(self, batch: Batch) -> bool:
        """Tell whether this is the step's minibatch, or what a recorded step has in its place."""
        if batch is None or self.index is None or batch is self.index:
            return batch is self.index
        if batch.is_cuda and torch.cuda.is_current_stream_capturing():
            return batch.shape == self.index.shape
        return torch.equal(batch, self.index)


class StepInputs:
    """The examples that a loss sees in each step.

    Args:
        data: The examples.
        parts: Parts of a minibatch that pass one after another.
        augment: What varies the inputs, where no run says it.
    """

    def __init__(self, data: Data, parts: int = 1, augment: Augment | None = None) -> None:
        self.data = data
        self.parts = parts
        self.built_with = augment
        self.read = not data.in_memory and not isinstance(data.x, Fields)
        self.prepare(None, 1, (0,))

    def prepare(
        self,
        augment: Augment | None,
        batch_size: int | None,
        seeds: Sequence[int],
    ) -> None:
        """Prepare for the steps of a run, with one seed for each member's minibatches."""
        self.augment = augment or self.built_with
        self.seeds = seeds
        # All examples of a stream that pass in parts are read part by part, as they may be many
        whole = batch_size is None or batch_size >= len(self.data)
        self.held = self.augment is not None or self.read and not (whole and self.parts > 1)
        self._private = False  # whether `augment` was seen to draw by torch alone
        self._finite: Tensor | None = None  # whether all that it returned was finite
        self._given: Given | None = None
        self._buffers: dict[tuple, Given] = {}  # by shape of the minibatch
        self._ahead: tuple[Batch, Tensor] | None = None  # a minibatch, and its inputs as read

    @contextmanager
    def ahead(self, batches: Iterator[Batch]) -> Iterator[Iterator[Batch]]:
        """Yield the minibatches of a run, those of a stream as workers have read them.

        The workers end with the block.
        """
        x = self.data.x
        if not self.held or not isinstance(x, Stream):
            yield batches
            return
        asked = deque[tuple[Batch, int]]()  # minibatches that are being read, and their pieces

        def numbers() -> Iterator[Tensor]:
            for batch in batches:
                index = slice(None) if batch is None else batch.flatten().cpu()
                parts = x.index[index].split(AT_ONCE)
                asked.append((batch, len(parts)))
                yield from parts

        with closing(x.pieces(numbers())) as pieces:
            yield self._as_read(pieces, asked)

    def _as_read(
        self, pieces: Iterator[Tensor], asked: deque[tuple[Batch, int]]
    ) -> Iterator[Batch]:
        """Yield each minibatch after its last piece."""
        for piece in pieces:
            batch, n = asked.popleft()
            rows = [piece, *islice(pieces, n - 1)]
            self._ahead = batch, rows[0] if n == 1 else torch.cat(rows)
            yield batch

    def begin(self, step: int | None, batch: Batch) -> None:
        """Read and vary the inputs of a step; None: of a step without a number nothing is read."""
        self._given = None
        if self.held and step is not None:
            self._given = self._fixed(self._made(step, batch))

    def of(self, batch: Batch) -> tuple[Data | Given, Batch]:
        """Return the examples that hold a minibatch, and where it lies in them.

        Raises:
            ValueError: For another minibatch than that of the step, whose inputs are varied.
        """
        given = self._given
        if given is not None and given.stands_for(batch):
            return given, given.places
        if self.augment is not None:
            raise ValueError(
                "batch must be that of the step, of which augment makes the inputs, got another or"
                " no step: call loss.begin(step, batch) first"
            )
        return self.data, batch

    def finish(self) -> str:
        """End the run; return what went wrong where `augment` gave NaN or inf in any step."""
        augment = self.augment
        finite = self._finite
        self.prepare(None, 1, (0,))
        if augment is None or finite is None or finite:
            return ""
        return (
            f"augment must return finite numbers, got NaN or inf from {name_of(augment)}: mend it,"
            " for instance by clamping x before a logarithm or a power"
        )

    @property
    def about(self) -> Mapping[str, object]:
        """Return what varies the inputs, where something does."""
        return {} if self.augment is None else {"augment": self.augment}

    def _made(self, step: int, batch: Batch) -> Given:
        """Read the examples of a step, and vary their inputs.

        Raises:
            ValueError: For several inputs an example, and a minibatch out of range.
            IndexError: As the data set raises it.
        """
        data = self.data
        index = torch.arange(len(data)) if batch is None else batch
        check_batch(index, index.shape[:-1])
        flat = index.flatten()
        try:
            y = data.y[flat.to(data.y.device)]
            if self._ahead is not None and self._ahead[0] is batch:
                assert isinstance(data.x, Stream)
                x: Tensor | Inputs = data.x.placed(self._ahead[1])
                self._ahead = None
            else:
                x = data.x[flat]
        except IndexError as error:
            check_in_range(index, len(data), error)
            raise
        if not isinstance(x, Tensor):  # streams have no other
            raise ValueError(
                f"augment takes one tensor of inputs, got {data.x.describe()}: leave it out, or"  # type: ignore[union-attr]
                " vary them in the module"
            )
        members = len(self.seeds)
        if self.augment is not None:
            if batch is None and members > 1:  # each sees its own of all examples
                index = index.expand(members, -1)
                x = torch.cat([x] * members)
                y = torch.cat([y] * members)
            x = self._varied(self.augment, x, step, index.shape)
        places = torch.arange(len(y), device=y.device).view(index.shape)
        return Given(batch, x, y, places)

    def _varied(
        self,
        augment: Augment,
        x: Tensor,
        step: int,
        shape: torch.Size,
    ) -> Tensor:
        """Return what `augment` makes of inputs (M, ...) of minibatches (n,) or (B, n), by parts.

        Each member has its seed, each part of `accumulate` its numbers.

        Raises:
            ValueError: For numbers that no seed fixes.
        """
        before = () if self._private else random_state()
        n = shape[-1]
        parts = min(self.parts, n)
        rows = x.split(n)
        seeds = self.seeds
        if len(seeds) != len(rows):  # by hand
            seeds = [seed_of(seeds[0], row) for row in range(len(rows))]
        made = []
        for seed, row in zip(seeds, rows):
            for part, some in enumerate(row.tensor_split(parts)):
                made.append(augmented(augment, some, seed_of(seed, step, part)))
        if not self._private:
            check_private(augment, before)
            self._private = True
        x = torch.cat(made)
        if x.is_floating_point():
            finite = x.isfinite().all()
            self._finite = finite if self._finite is None else self._finite & finite
        return x

    def _fixed(self, given: Given) -> Given:
        """Write a step's examples into the buffers of its size, which recorded steps read."""
        if recorder_for(given.x.device) is None:
            return given
        shape = given.places.shape
        if shape not in self._buffers:
            self._buffers[shape] = given
        kept = self._buffers[shape]
        kept.x.copy_(given.x)
        kept.y.copy_(given.y)
        return replace(kept, index=given.index)


def check_batch(batch: Batch, lead: tuple[int, ...]) -> None:
    """Check the kind and shape of the index of a minibatch for members `lead`; reads no value."""
    if batch is None:
        return
    whole = isinstance(batch, Tensor) and batch.dtype in (torch.int64, torch.int32)
    if not whole:
        raise TypeError(
            f"batch must be an int64 tensor of numbers of examples, got {shown(batch)}: use"
            " torch.as_tensor, and mask.nonzero()[:, 0] of a mask"
        )
    members = batch.shape[:-1]
    if batch.numel() == 0 or batch.ndim == 0 or members != lead[: len(members)]:
        raise ValueError(
            f"batch must name at least one example, in shape (n,), or {(*lead, 'n')} with a row for"
            f" each member, got {tuple(batch.shape)}"
        )


def check_in_range(index: Tensor | None, examples: int, error: IndexError) -> None:
    """Explain an `IndexError` of a minibatch that names examples which are not there."""
    if index is None:
        return
    low, high = map(int, index.aminmax())
    if low < 0 or high >= examples:
        raise ValueError(
            f"batch must name examples from 0 to {examples - 1}, got {low} to {high}: number the"
            " rows of the loss's data"
        ) from error


def row_for_each(batch: Tensor, lead: tuple[int, ...]) -> Tensor:
    """Repeat a batch (n,) or (B, n) for all weights of leading dimensions `lead`, (R, n)."""
    *members, n = batch.shape
    ones = [1] * (len(lead) - len(members))
    rows = batch.reshape(*members, *ones, n).expand(*lead, n)
    return rows.reshape(-1, n)
