"""The places of a module's tensors, where a block puts other weights and buffers."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any
from weakref import WeakSet

from torch import Tensor, nn
from torch.nn.modules.conv import _ConvNd
from torch.nn.utils import parametrize

from flatviz.core.derivatives import Unfused
from flatviz.private import at_fork

ATTENDING = (nn.MultiheadAttention, nn.TransformerEncoder, nn.TransformerEncoderLayer)


class Slots:
    """Places of some parameters and of all buffers in a module; a tied tensor has several.

    Args:
        module: The module, which computes with other tensors in the blocks of `filled`.
        names: Its parameters that are replaced, in the order of the parts.
        buffers: Values of buffers, by name, in place of the module's.
        lock: Shared by all slots of one module, and taken while tensors are replaced.
    """

    def __init__(
        self,
        module: nn.Module,
        names: Sequence[str],
        buffers: Mapping[str, Tensor],
        lock: threading.RLock | None = None,
    ) -> None:
        self.lock = threading.RLock() if lock is None else lock
        modules = list(module.modules())
        places: dict[int, list[tuple[dict, str]]] = {}
        for part in modules:
            for key, parameter in part._parameters.items():
                places.setdefault(id(parameter), []).append((part._parameters, key))
        self.parameters = list(map(module.get_parameter, names))
        self._weights = [places[id(parameter)] for parameter in self.parameters]
        factors = {id(m.weight) for m in modules if isinstance(m, (nn.Linear, _ConvNd))}
        # Whether a parameter is the factor of a product and nothing else
        self.products = []
        for parameter, where in zip(self.parameters, self._weights):
            self.products.append(id(parameter) in factors and len(where) == 1)
        treated = set(map(id, self.parameters))
        # An RNN keeps a list of its weights beside them
        self._listed = []
        for part in modules:
            if isinstance(part, nn.RNNBase):
                for key, parameter in part._parameters.items():
                    if id(parameter) in treated:
                        self._listed.append((part, key, parameter))
        self._attends = any(isinstance(m, ATTENDING) for m in modules)
        of_module = {id(b): name for name, b in module.named_buffers()}
        self._buffers: list[tuple[dict[str, Any], str, Tensor, Tensor]] = []
        for part in modules:
            for key, buffer in part._buffers.items():
                if buffer is not None:
                    value = buffers.get(of_module[id(buffer)], buffer)
                    self._buffers.append((part._buffers, key, buffer, value))
        _ALL.add(self)

    @contextmanager
    def filled(self, parts: Sequence[Tensor], *, copies: bool = False) -> Iterator[None]:
        """Put these weights and the buffers in the module for the length of the block.

        One thread at a time.

        copies: put copies of the buffers there.
        """
        with self.lock, Unfused() if self._attends else nullcontext():
            try:
                self._place(parts, copies=copies)
                yield
            finally:
                self.empty()

    def empty(self) -> None:
        """Put the module's tensors back."""
        self._place(None)

    def _place(self, parts: Sequence[Tensor] | None, *, copies: bool = False) -> None:
        parametrize._cache.clear()  # of weights computed from others, under `parametrize.cached()`
        values = self.parameters if parts is None else parts
        for places, weight in zip(self._weights, values):
            for holder, key in places:
                holder[key] = weight
        for holder, key, buffer, value in self._buffers:
            if parts is None:
                value = buffer
            elif copies:
                value = value.clone()
            holder[key] = value
        if parts is None:
            for rnn, key, original in self._listed:
                setattr(rnn, key, original)  # restores the list of weights that a pass replaced

    def buffers_in_place(self) -> list[Tensor]:
        """List the buffers with which the module computes now."""
        return [holder[key] for holder, key, *_ in self._buffers]

    def __getstate__(self) -> dict[str, object]:
        state = dict(vars(self))
        del state["lock"]
        return state

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state, lock=threading.RLock())
        _ALL.add(self)


def _after_fork() -> None:
    """Unlock and empty all slots in a forked process, as another thread may have filled some."""
    fresh = {id(slots.lock): threading.RLock() for slots in _ALL}  # one for each module
    for slots in list(_ALL):
        slots.lock = fresh[id(slots.lock)]
        slots.empty()


_ALL: WeakSet[Slots] = WeakSet()
at_fork(after_in_child=_after_fork)
