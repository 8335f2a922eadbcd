"""Work recorded once as a CUDA graph and replayed.

A replay is one launch in place of hundreds, which dominate the time of a small network on a GPU.  A
recording is used only where it gives the results of the plain work and is faster; it is dropped
with the memory that it reads.
"""

import os
import time
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any, NamedTuple

import torch
from torch import Tensor

from flatviz.core import Product
from flatviz.engine.determinism import same_to_rounding

WARM_UP = 3  # runs on a side stream before the recording, as torch asks for
TIMED = 3  # runs of either way, of which the fastest counts
# Multiply-adds of a pass below which a GPU waits for the launches of its kernels
LAUNCHES = 10**9
SWITCH = "FLATVIZ_GRAPHS"  # 0 in the environment: no recording at all
NOT_REPLAYED = "steps are launched one operation at a time, not replayed"
Action = Callable[[], object]
Vectors = tuple[Tensor, ...]
Step = Callable[[NamedTuple, Tensor | None, Vectors], tuple[NamedTuple, NamedTuple]]


def seconds(run: Action) -> float:
    """Time a run on the current GPU, the shortest of a few."""
    times = []
    for _ in range(TIMED):
        torch.cuda.synchronize()
        start = time.perf_counter()
        run()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    return min(times)


def cuda_graph(warm: Action, step: Action) -> Action:
    """Record `step()` as a graph, after `warm()`, which does the same work without effect."""
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


class Recorder(NamedTuple):
    """A device's way to record work, and its clock, by which a replay has to be faster."""

    record: Callable[[Action, Action], Action]
    seconds: Callable[[Action], float]


RECORDERS: dict[str, Recorder] = {"cuda": Recorder(cuda_graph, seconds)}  # by type of device


def recorder_for(device: torch.device) -> Recorder | None:
    """Return the recorder of a device; None where it has none, or with FLATVIZ_GRAPHS=0."""
    return None if os.environ.get(SWITCH) == "0" else RECORDERS.get(device.type)


class Recording(NamedTuple):
    """A recorded step, the buffers of its arguments, and a list of its one record."""

    run: Action
    inputs: list[Tensor]
    records: list[Any]


class Replay:
    """A step that is recorded at its first minibatch of each size.

    A step that cannot be recorded, or whose replay gives other results or takes longer, runs
    plainly, and a note says why.

    Args:
        step: The step to record.
        recorder: Of the device.
        notes: List to which notes are added.
        reads: Tensors that the step reads beside its arguments. Recordings keep their memory, and
            are dropped where one has moved.
    """

    def __init__(
        self, step: Step, recorder: Recorder, notes: list[str], reads: Sequence[Tensor] = ()
    ) -> None:
        self.step = step
        self.recorder = recorder
        self.notes = notes
        self.reads = reads
        self.place: object = None  # device of state and reads
        self.kept: list[Tensor] = []
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

        plain: another way to them, with which the replay is compared; None: the step itself.
        """
        plain = plain or self.step
        if self.notes:
            return plain(state, batch, noise)
        place = _kinds(_tensors(state)), [t.data_ptr() for t in self.reads], _kinds(self.reads)
        if place != self.place:
            self._drop()
            self.place = place
        key = _kinds(_tensors((), batch, noise))
        if key not in self.recordings:
            state = _clone(state)  # a copy, as it may lie in the buffers
            try:
                self.recordings[key] = self._recorded(state, batch, noise)
                trouble = self._trouble(self.recordings[key], plain, state, batch, noise)
            except Exception as error:
                trouble = str(error).strip().partition("\n")[0] or type(error).__name__
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
        self,
        recording: Recording,
        state: NamedTuple,
        batch: Tensor | None,
        noise: Vectors,
    ) -> tuple[NamedTuple, NamedTuple]:
        _copy(recording.inputs, _tensors(state, batch, noise))
        recording.run()
        pairs = zip(self.state or (), state)
        now = state._make(b if isinstance(b, Tensor) else v for b, v in pairs)
        return now, _clone(recording.records[0])

    def _recorded(self, state: NamedTuple, batch: Tensor | None, noise: Vectors) -> Recording:
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

        run = self.recorder.record(lambda: self.step(buffers, batch, noise), step)
        return Recording(run, _tensors(buffers, batch, noise), records)

    def _trouble(
        self,
        recording: Recording,
        plain: Step,
        state: NamedTuple,
        batch: Tensor | None,
        noise: Vectors,
    ) -> str:
        """Return the reason not to replay: other results than the plain ones, or more time."""
        new, record = map(_tensors, plain(state, batch, noise))
        now, again = self._replayed(recording, state, batch, noise)
        starts = _tensors(state)
        same = map(_same, _tensors(now), new, starts), map(_same, _tensors(again), record)
        if not all(map(all, same)):
            return "a replayed step gives another result"
        launched = self.recorder.seconds(lambda: plain(state, batch, noise))
        replayed = self.recorder.seconds(lambda: self._replayed(recording, now, batch, noise))
        if replayed > launched:
            return f"replayed they take {1e3 * replayed:.2g} ms, launched {1e3 * launched:.2g} ms"
        return ""


def _same(new: Tensor, want: Tensor, start: Tensor | None = None) -> bool:
    """Tell whether two results are equal to rounding, of the change since `start` where given."""
    if torch.equal(new, want) or start is None:
        return same_to_rounding(new, want)
    return new.is_floating_point() and same_to_rounding(new - start, want - start)


def _kinds(tensors: Sequence[Tensor]) -> tuple:
    return tuple((t.shape, t.dtype, t.device) for t in tensors)


def _clone(values: NamedTuple) -> NamedTuple:
    return values._make(v.clone() if isinstance(v, Tensor) else v for v in values)


def _tensors(values: tuple, batch: Tensor | None = None, noise: Vectors = ()) -> list[Tensor]:
    return [value for value in (*values, batch, *noise) if isinstance(value, Tensor)]


def _copy(buffers: list[Tensor], values: list[Tensor]) -> None:
    for buffer, value in zip(buffers, values):
        if buffer is not value:
            buffer.copy_(value)


class Only(NamedTuple):
    """One tensor, as the state or the record of a step."""

    value: Tensor


class ReplayedProduct:
    """Products H(w) v at any w, (D,) each, by one graph.

    Its first result and time are compared with the plain product's.  The products are the plain
    ones on a device without graphs, after a failed recording, and where the first results differ.
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

        hvp computes it from its arguments and `reads()` alone.
        """
        recorder = recorder_for(w.device)
        if recorder is None:
            return plain(v)

        def step(at: NamedTuple, _: Tensor | None, given: Vectors) -> tuple[NamedTuple, Only]:
            return at, Only(hvp(at[0], *given))

        def launched(at: NamedTuple, _: Tensor | None, given: Vectors) -> tuple[NamedTuple, Only]:
            return at, Only(plain(*given))

        with self.lock:
            self.replay = self.replay or Replay(step, recorder, [], reads())
            return self.replay(Only(w), None, (v,), launched)[1][0]
