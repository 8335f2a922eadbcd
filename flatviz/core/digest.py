"""What a network's values depend on besides the weights, as a hash."""

from __future__ import annotations

import inspect

from flatviz.core.cache import tensor_digest
from flatviz.core.net import Net


def net_digest(net: Net) -> str:
    """A hash of all a network's outputs depend on: modules and their code, which weights are treated, the rest."""
    treated = {b.name for b in net.blocks}
    rest = [p for n, p in net.module.named_parameters() if n not in treated]
    kinds = sorted({type(m) for m in net.module.modules()}, key=lambda kind: kind.__qualname__)
    text = f"{net.module} {[tuple(b) for b in net.blocks]} {[_source(kind) for kind in kinds]}"
    return tensor_digest(*rest, *net.buffers().values(), text=text)


def _source(kind: type) -> str:
    """The code of a module's class; torch's own is known by its version, which every key holds."""
    name = f"{kind.__module__}.{kind.__qualname__}"
    if kind.__module__.startswith("torch."):
        return name
    try:
        return name + inspect.getsource(kind)
    except (OSError, TypeError):  # written in a prompt: its source is not to be had
        return name
