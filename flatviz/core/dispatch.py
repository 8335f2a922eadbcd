"""What sees every operation that reaches torch."""

from __future__ import annotations

from torch.utils._python_dispatch import TorchDispatchMode


class Dispatch(TorchDispatchMode):
    """A `TorchDispatchMode` that loads no compiler."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # else torch imports its compiler, with sympy: 1.5 s and 150 MB
