"""The loop that every fit runs: a state changed step by step, saved on the way so that a stopped run resumes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from flatviz.core.arithmetic import users_arithmetic
from flatviz.core.progress import track
from flatviz.storage.files import State, load_state, save_state
from flatviz.training.run import Run
from flatviz.training.stopping import EarlyStopping

Update = Callable[[int, Tensor | None], None]  # (step, index of the minibatch): changes the state in place
SAVE_EVERY = 30.0  # seconds


@users_arithmetic()
def advance(
    state: State,
    update: Update,
    batches: Iterator[Tensor | None],
    steps: int,
    run: Run,
    stopping: EarlyStopping | None = None,
    *,
    examples: int | None = None,
) -> None:
    """Call `update(step, next(batches))` for each step.  `state` is everything that `update` changes, in place.

    With `run.checkpoint` the state is saved twice a minute, at the end, and when `run.progress` cancels; if the file
    exists, the run resumes from it and ends as if it had never stopped.  Of several processes the first saves, and all resume.
    stopping: looks at the state after each step, may end the run, and puts the best state back.  examples: in a step, for the
    bar, which then counts images/s.
    Steps compute in the float32 arithmetic that the user has set in torch (TF32 or not).

    Raises:
        ValueError: Where the file is of another run.
        RuntimeError: What a step raises.
        MemoryError: For a step that finds no memory, with the bytes that torch asked for.
    """
    about = f"{run.label} of {steps} steps, arguments {run.arguments}"
    if stopping is not None:
        state = {**state, **stopping.state}
    done = 0 if run.checkpoint is None else load_state(state, run.checkpoint, about)
    checkpoint = run.checkpoint if run.training.leads else None
    for _ in range(done):
        next(batches)
    saved, consistent = time.monotonic(), True
    device = next((v.device for v in state.values() if isinstance(v, Tensor)), torch.device("cpu"))
    try:
        for step in track(range(done, steps), run.label, run.progress if run.training.leads else False, examples=examples):
            if stopping is not None and run.training.agreed(stopping.over, device):
                break
            index, consistent = next(batches), False
            try:
                update(step, index)
            except RuntimeError as error:
                if isinstance(error, torch.OutOfMemoryError) or "DefaultCPUAllocator" in str(error):
                    raise MemoryError(_out_of_memory(run.label, index, error)) from error
                raise
            if stopping is not None:
                stopping.look(step)
            done, consistent = step + 1, True
            if checkpoint is not None and time.monotonic() - saved > SAVE_EVERY:
                save_state(state, done, checkpoint, about)
                saved = time.monotonic()
    finally:
        if checkpoint is not None and consistent:  # interrupted mid-update: inconsistent, not saved
            save_state(state, done, checkpoint, about)
    if stopping is not None:
        stopping.restore()


def _out_of_memory(label: str, index: Tensor | None, error: RuntimeError) -> str:
    """The error's text: torch's own says how many bytes were asked for."""
    batch = "all examples at once" if index is None else f"{index.shape[-1]} examples a step"
    return (
        f"{label} must fit into memory, got a step with {batch} of which torch says: {error}: lower batch_size, or give "
        "training=fv.Training(accumulate=2, precision='bfloat16'): half the examples at a time, of half the size"
    )
