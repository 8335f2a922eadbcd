"""The loop that every fit runs: a state changed step by step, saved on the way so that a stopped run resumes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from torch import Tensor

from flatviz.core.progress import track
from flatviz.storage.checkpoints import State, load_state, save_state
from flatviz.training.run import Run

Update = Callable[[int, Tensor | None], None]  # (step, index of the minibatch): changes the state in place
SAVE_EVERY = 30.0  # seconds


def advance(
    state: State,
    update: Update,
    batches: Iterator[Tensor | None],
    steps: int,
    run: Run,
) -> None:
    """Call `update(step, next(batches))` for each step.  `state` is everything that `update` changes, in place.

    With `run.checkpoint` the state is saved twice a minute, at the end, and when `run.progress` cancels; if the file
    exists, the run resumes from it and ends as if it had never stopped.  ValueError where the file is of another run.
    """
    checkpoint = run.checkpoint
    about = f"{run.label} of {steps} steps, arguments {run.arguments}"
    done = 0 if checkpoint is None else load_state(state, checkpoint, about)
    for _ in range(done):
        next(batches)
    saved, consistent = time.monotonic(), True
    try:
        for step in track(range(done, steps), run.label, run.progress):
            index, consistent = next(batches), False
            update(step, index)
            done, consistent = step + 1, True
            if checkpoint is not None and time.monotonic() - saved > SAVE_EVERY:
                save_state(state, done, checkpoint, about)
                saved = time.monotonic()
    finally:
        if checkpoint is not None and consistent:  # interrupted mid-update: inconsistent, not saved
            save_state(state, done, checkpoint, about)
