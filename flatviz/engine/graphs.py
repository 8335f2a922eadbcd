"""Steps recorded once as a CUDA graph and replayed.

A replay is one launch in place of hundreds, which dominate the time of a small network on a GPU.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor

from flatviz.core import Product
from flatviz.engine.determinism import same_to_rounding

WARM_UP = 3  # runs on a side stream before the recording, as torch asks for
# Multiply-adds of a pass below which a GPU waits for the launches of its kernels
LAUNCHES = 10**9
Recorder = Callable[[Callable[[], Any], Callable[[], None]], Callable[[], None]]


def cuda_graph(warm: Callable[[], Any], step: Callable[[], None]) -> Callable[[], None]:
    """Record `step()` as a graph, after `warm()`, which does the same work without effect."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(WARM_UP):
            warm()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph.replay


RECORDERS: dict[str, Recorder] = {"cuda": cuda_graph}  # by type of device

NOT_REPLAYED = "steps are launched one operation at a time, not replayed"
Step = Callable[[Any, Tensor | None, tuple[Tensor, ...]], tuple[Any, Any]]


class Replay:
    """A step that is recorded at its first minibatch of each size.

    A step that cannot be recorded runs plainly, and a note says why.
    """

    def __init__(self, plain: Step, record: Recorder, notes: list[str]) -> None:
        self.plain = plain
        self.record = record
        self.notes = notes
        self.graphs: dict[Any, tuple[Callable[[], None], list[Tensor], list[Any]]] = {}
        self.state: Any = None  # buffers of all graphs

    def __call__(
        self, state: Any, batch: Tensor | None, noise: tuple[Tensor, ...]
    ) -> tuple[Any, Any]:
        """Compute the next state, which the next call overwrites, and the record of the step."""
        size = None if batch is None else batch.shape
        if size not in self.graphs and not self.notes:
            try:
                self.graphs[size] = self._recorded(state, batch, noise)
            except RuntimeError as error:
                if isinstance(error, torch.OutOfMemoryError):
                    raise
                self.notes.append(f"{NOT_REPLAYED}: {error}")
        if size not in self.graphs:
            return self.plain(state, batch, noise)
        run, inputs, outputs = self.graphs[size]
        _copy(inputs, _tensors(state, batch, noise))
        run()
        now = type(state)(*(b if isinstance(b, Tensor) else v for b, v in zip(self.state, state)))
        return now, type(outputs[0])(
            *(value if value is None else value.clone() for value in outputs[0])
        )

    def _recorded(self, state: Any, batch: Tensor | None, noise: tuple[Tensor, ...]) -> tuple:
        if self.state is None:
            self.state = type(state)(*(v.clone() if isinstance(v, Tensor) else () for v in state))
        batch = None if batch is None else batch.clone()
        noise = tuple(z.clone() for z in noise)
        outputs: list[Any] = []

        def step() -> None:
            new, record = self.plain(self.state, batch, noise)
            _copy(_tensors(self.state), _tensors(new))
            outputs[:] = [record]

        run = self.record(lambda: self.plain(self.state, batch, noise), step)
        return run, _tensors(self.state, batch, noise), outputs


def _tensors(
    state: Any, batch: Tensor | None = None, noise: tuple[Tensor, ...] = ()
) -> list[Tensor]:
    return [value for value in (*state, batch, *noise) if isinstance(value, Tensor)]


def _copy(buffers: list[Tensor], values: list[Tensor]) -> None:
    for buffer, value in zip(buffers, values):
        if buffer is not value:
            buffer.copy_(value)


class Only(NamedTuple):
    """One tensor, as the state or the record of a step."""

    value: Tensor


class ReplayedProduct:
    """Products H(w) v at any w, (D,) each, by one graph.

    Its first result is compared with the plain product's.  The products are the plain ones on a
    device without graphs, after a failed recording, and if the first results differ.
    """

    replay: Replay | None = None

    def __reduce__(self) -> tuple:
        return ReplayedProduct, ()  # in another process the graph is recorded again

    def __call__(
        self, hvp: Callable[[Tensor, Tensor], Tensor], plain: Product, w: Tensor, v: Tensor
    ) -> Tensor:
        """Compute `plain(v)` = H(w) v by a replay of `hvp(w, v)`, which uses tensors alone."""
        record = RECORDERS.get(w.device.type)
        if record is None or self.replay is not None and self.replay.notes:
            return plain(v)
        first = self.replay is None
        self.replay = self.replay or Replay(
            lambda at, _, given: (at, Only(hvp(at.value, *given))), record, []
        )
        result = self.replay(Only(w), None, (v,))[1].value
        if first and not same_to_rounding(result, want := plain(v)):
            self.replay.notes.append(f"{NOT_REPLAYED}: the graph gives another product")
            return want
        return result
