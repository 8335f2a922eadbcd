"""Work recorded once as a CUDA graph and replayed.

A replay is one launch in place of hundreds, which dominate the time of a small network on a GPU.  A
recording is used only where it gives the results of the plain work; it is dropped with the memory
that it reads.
"""

import os
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any, NamedTuple

import torch
from torch import Tensor

from flatviz.core import Product
from flatviz.engine.determinism import same_to_rounding

WARM_UP = 3  # runs on a side stream before the recording, as torch asks for
# Multiply-adds of a pass below which a GPU waits for the launches of its kernels
LAUNCH_BOUND = 10**9
SWITCH = "FLATVIZ_GRAPHS"  # 0 in the environment: no recording at all
NOT_REPLAYED = "steps are launched one operation at a time, not replayed"
Action = Callable[[], object]
Vectors = tuple[Tensor, ...]
Step = Callable[[NamedTuple, Tensor | None, Vectors], tuple[NamedTuple, NamedTuple]]
Recorder = Callable[[Action, Action], Action]


def cuda_graph(warm: Action, step: Action) -> Action:
    """Record `step()` as a graph, after `warm()`, which does its work without writing results."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(WARM_UP):
            warm()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    # by default other threads' calls that wait for the card fail meanwhile
    with torch.cuda.graph(graph, capture_error_mode="thread_local"):
        step()
    return graph.replay


RECORDERS: dict[str, Recorder] = {"cuda": cuda_graph}  # by type of device


def recorder_for(device: torch.device) -> Recorder | None:
    """Return the recorder of a device; None where it has none, or with FLATVIZ_GRAPHS=0."""
    return None if os.environ.get(SWITCH) == "0" else RECORDERS.get(device.type)


class Recording(NamedTuple):
    """A recorded step, the buffers of its arguments, and its record, a list that `step` fills."""

    run: Action
    inputs: list[Tensor]
    records: list[Any]


class Replay:
    """A step that is recorded at its first minibatch of each size.

    A step that cannot be recorded, or whose replay gives other results, runs plainly, and a note
    says why.

    Args:
        step: The step to record.
        record: Recorder of the device.
        notes: List to which notes are added.
        reads: Tensors that the step reads beside its arguments. Recordings keep their memory, and
            are dropped where one has moved.
    """

    def __init__(
        self,
        step: Step,
        record: Recorder,
        notes: list[str],
        reads: Sequence[Tensor] = (),
    ) -> None:
        self.step = step
        self.record = record
        self.notes = notes
        self.reads = reads
        self.layout: object = None  # kinds of state and reads, and where the reads lie
        self.kept: list[Tensor] = []  # the reads, so that no other tensor takes their addresses
        self.recordings: dict[object, Recording] = {}
        self.state: NamedTuple | None = None  # buffers of all recordings

    def __call__(
        self,
        state: NamedTuple,
        batch: Tensor | None,
        noise: Vectors,
        plain: Step | None = None,
    ) -> tuple[NamedTuple, NamedTuple]:
        """Compute the next state, which the next call overwrites, and the record of the step.

        plain: a function with the same results, with which the first replay is compared, and which
            runs where there is no recording; None: the step itself.
        """
        plain = plain or self.step
        if self.notes:
            return plain(state, batch, noise)
        addresses = [t.data_ptr() for t in self.reads]
        layout = _kinds(state), addresses, _kinds(self.reads)
        if layout != self.layout:
            self._drop()
            self.layout = layout
        key = _kinds((batch, *noise))
        if key not in self.recordings:
            state = _clone(state)  # a copy, as it may lie in the buffers
            try:
                recording = self._recorded(state, batch, noise)
                self.recordings[key] = recording
                new = plain(state, batch, noise)
                now = self._replayed(recording, state, batch, noise)
                trouble = "" if _same(now, new, state) else "a replayed step gives another result"
            except Exception as error:
                first_line, *_ = str(error).strip().split("\n")
                trouble = first_line or type(error).__name__
            if trouble:
                self._drop()
                self.notes.append(f"{NOT_REPLAYED}: {trouble}")
                return plain(state, batch, noise)
        return self._replayed(self.recordings[key], state, batch, noise)

    def _drop(self) -> None:
        self.recordings.clear()
        self.state = None
        self.kept = [t.detach() for t in self.reads]

    def _replayed(
        self, recording: Recording, state: NamedTuple, batch: Tensor | None, noise: Vectors
    ) -> tuple[NamedTuple, NamedTuple]:
        _copy(recording.inputs, _tensors((*state, batch, *noise)))
        recording.run()
        values = []  # of the new state: its tensors are in the buffers
        for buffer, value in zip(self.state or (), state):
            values.append(buffer if isinstance(buffer, Tensor) else value)
        return state._make(values), _clone(recording.records[0])

    def _recorded(
        self,
        state: NamedTuple,
        batch: Tensor | None,
        noise: Vectors,
    ) -> Recording:
        if self.state is None:
            self.state = state._make(v.clone() if isinstance(v, Tensor) else () for v in state)
        buffers = self.state
        batch = None if batch is None else batch.clone()
        noise = tuple(z.clone() for z in noise)
        records: list[NamedTuple] = []

        def step() -> None:
            new, record = self.step(buffers, batch, noise)
            _copy(_tensors(buffers), _tensors(new))
            records[:] = [record]

        run = self.record(lambda: self.step(buffers, batch, noise), step)
        return Recording(run, _tensors((*buffers, batch, *noise)), records)


Result = tuple[NamedTuple, NamedTuple]


def _same(replayed: Result, plain: Result, start: NamedTuple) -> bool:
    """Tell whether states (in their change since `start`) and records are equal to rounding."""
    state, record = map(_tensors, replayed)
    want, want_record = map(_tensors, plain)
    for a, b, before in zip(state, want, _tensors(start)):
        moved = a.is_floating_point() and same_to_rounding(a - before, b - before)
        if not moved and not torch.equal(a, b):
            return False
    return all(map(same_to_rounding, record, want_record))


def _tensors(values: Sequence[object]) -> list[Tensor]:
    return [value for value in values if isinstance(value, Tensor)]


def _kinds(values: Sequence[object]) -> tuple:
    return tuple((t.shape, t.dtype, t.device) for t in _tensors(values))


def _clone(values: NamedTuple) -> NamedTuple:
    return values._make(v.clone() if isinstance(v, Tensor) else v for v in values)


def _copy(buffers: list[Tensor], values: list[Tensor]) -> None:
    for buffer, value in zip(buffers, values):
        if buffer is not value:
            buffer.copy_(value)


class Single(NamedTuple):
    """One tensor, as the state or the record of a step."""

    value: Tensor


class ReplayedProduct:
    """Products H(w) v at any w, (D,) each, by one graph.

    Its first result is compared with the plain product's.  The products are the plain ones on a
    device without graphs, after a failed recording, and where the first results differ.
    """

    def __init__(self) -> None:
        self.replay: Replay | None = None
        self.lock = Lock()  # as all threads share its buffers

    def __reduce__(self) -> tuple:
        return ReplayedProduct, ()  # in another process the graph is recorded again

    def __call__(
        self,
        hvp: Callable[[Tensor, Tensor], Tensor],
        plain: Product,
        reads: Callable[[], Sequence[Tensor]],
        w: Tensor,
        v: Tensor,
    ) -> Tensor:
        """Compute `plain(v)` = H(w) v by a replay of `hvp(w, v)`.

        hvp computes it from its arguments and `reads()` alone; both are those of the first call.
        """
        recorder = recorder_for(w.device)
        if recorder is None:
            return plain(v)

        def step(at: NamedTuple, _: Tensor | None, given: Vectors) -> tuple[NamedTuple, Single]:
            return at, Single(hvp(at[0], *given))

        def launched(at: NamedTuple, _: Tensor | None, given: Vectors) -> tuple[NamedTuple, Single]:
            return at, Single(plain(*given))

        with self.lock:
            self.replay = self.replay or Replay(step, recorder, [], reads())
            _, product = self.replay(Single(w), None, (v,), launched)
            return product[0]
