"""A step recorded once as a CUDA graph and replayed: one launch in place of hundreds, which is what a small network's step costs.

Recorded is `update` of a method, tensors only: state, minibatch and noise are copied into buffers that stay, the graph computes the
next state from them and writes it over the last.  Each size of minibatch has its graph.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from flatviz.training.gradient import TrainingLoss

NOT_REPLAYED = "steps are launched one operation at a time, not replayed"
WARM_UP = 3  # steps on a side stream before the recording, as torch asks for
Step = Callable[[Any, Tensor | None, tuple[Tensor, ...]], tuple[Any, Any]]
Recorder = Callable[[Callable[[], Any], Callable[[], None]], Callable[[], None]]


def cuda_graph(warm: Callable[[], Any], step: Callable[[], None]) -> Callable[[], None]:
    """`step()` as a graph; `warm()` is the same without effect, run before it."""
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


def replayed(update: Callable[..., tuple[Any, Any]], state: Any, loss: TrainingLoss) -> tuple[Step, list[str]]:
    """`update` with its loss, replayed where the state's device records; and the notes of the history, which grow at its first steps."""

    def plain(state: Any, batch: Tensor | None, noise: tuple[Tensor, ...]) -> tuple[Any, Any]:
        return update(state, loss, batch, noise)

    record = RECORDERS.get(state[0].device.type)
    if record is None:
        return plain, []
    notes = [f"{NOT_REPLAYED}: {why}"] if (why := in_the_way(loss)) else []
    return plain if notes else Replay(plain, record, notes), notes


def in_the_way(loss: TrainingLoss) -> str:
    """Why a step of this loss cannot be replayed; empty where nothing is known to stand in the way."""
    if loss.state:
        return "the loss changes something at each call, statistics of BatchNorm or a generator"
    if loss.data is not None and not loss.data.is_held:
        return "examples come from a stream"
    return ""


class Replay:
    """A step that is recorded at its first minibatch of each size.  What cannot be recorded runs plainly, and a note says why."""

    def __init__(self, plain: Step, record: Recorder, notes: list[str]) -> None:
        self.plain, self.record, self.notes = plain, record, notes
        self.graphs: dict[Any, tuple[Callable[[], None], list[Tensor], list[Any]]] = {}
        self.state: Any = None  # buffers of all graphs

    def __call__(self, state: Any, batch: Tensor | None, noise: tuple[Tensor, ...]) -> tuple[Any, Any]:
        """The next state, in buffers that the next call writes over, and the record of the step."""
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
        return now, type(outputs[0])(*(value if value is None else value.clone() for value in outputs[0]))

    def _recorded(self, state: Any, batch: Tensor | None, noise: tuple[Tensor, ...]) -> tuple:
        if self.state is None:
            self.state = type(state)(*(v.clone() if isinstance(v, Tensor) else () for v in state))
        batch, noise = None if batch is None else batch.clone(), tuple(z.clone() for z in noise)
        outputs: list[Any] = []

        def step() -> None:
            new, record = self.plain(self.state, batch, noise)
            _copy(_tensors(self.state), _tensors(new))
            outputs[:] = [record]

        run = self.record(lambda: self.plain(self.state, batch, noise), step)
        return run, _tensors(self.state, batch, noise), outputs


def _tensors(state: Any, batch: Tensor | None = None, noise: tuple[Tensor, ...] = ()) -> list[Tensor]:
    return [value for value in (*state, batch, *noise) if isinstance(value, Tensor)]


def _copy(buffers: list[Tensor], values: list[Tensor]) -> None:
    for buffer, value in zip(buffers, values):
        if buffer is not value:
            buffer.copy_(value)
