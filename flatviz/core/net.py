"""A network as a function of a flat vector, one class (hence its length)."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from flatviz.checks import check_dense, check_device, check_weights, from_numpy
from flatviz.core.data import batch_of
from flatviz.core.derivatives import differentiable
from flatviz.core.inputs import Fields, run, tensors_of
from flatviz.core.modules import (
    Watch,
    check_unchanged,
    copied,
    eager,
    memory_of,
    memory_of_originals,
    transformed,
    with_dense_gradients,
)
from flatviz.core.seeds import saved_rng
from flatviz.core.slots import Slots
from flatviz.core.streams import Inputs
from flatviz.core.treated import RandomTrunk, Treated, choose, refuse_dropout, tied
from flatviz.words import no_attribute

Batch = Tensor | Inputs | Mapping[str, Tensor] | tuple[Tensor, ...]  # inputs as a user writes them
PASSED = {
    "View",
    "UnsafeView",
    "ReshapeAlias",
    "Squeeze",
    "Unsqueeze",
    "Transpose",
    "Permute",
    "T",
    "Clone",
    "ToCopy",
    "Clamp",
}


# What a module has, and how it is done with a net
HABITS = dict.fromkeys(("cuda", "cpu", "half", "float", "double"), "net.to(device, dtype)") | {
    "parameters": "net.w, one vector, or net.to_module().parameters()",
    "named_parameters": "net.unflatten(net.w), or net.to_module().named_parameters()",
    "state_dict": "net.to_module().state_dict()",
    "load_state_dict": "load it into the module, then fv.Net.from_module(module)",
    "forward": "net(net.w, x)",
    "eval": "net(net.w, x), which is always in evaluation mode",
    "train": "net(net.w, x), which is always in evaluation mode, or fit with batchnorm='train'",
    "predict": "net(net.w, x), or fv.predict(net, posterior, x, n_draws, seed=0)",
    "save": "torch.save(net.to_module().state_dict(), path)",
    "weights": "net.w",
}


class Block(NamedTuple):
    """One treated parameter tensor: weights start..stop of the vector, reshaped to `shape`."""

    name: str
    start: int
    stop: int
    shape: tuple[int, ...]
    kind: str  # norm, head, or other

    @property
    def layer(self) -> str:
        """Name of the module that holds the tensor."""
        return self.name.rpartition(".")[0]

    @property
    def slice(self) -> slice:
        """Place of the tensor in `w`."""
        return slice(self.start, self.stop)


class Effects(NamedTuple):
    """Side effects of a module's forward pass, beside computing outputs from weights and one batch.

    Args:
        writes: It writes into inputs, weights or buffers (ReLU(inplace=True) first, a clamp, a
            counter of calls).
        again: It runs layers again in the backward pass, when other weights are installed
            (activation checkpointing, adjoint and reversible networks).
        draws: It draws random numbers.
        ends: The operation that computes the outputs, "Softmax" or "Sigmoid", where they are
            probabilities.
    """

    writes: bool
    again: bool = False
    draws: bool = False
    ends: str = ""


class Net:
    """A `torch.nn.Module` as a function of the flat vector `w` (D,) of its treated parameters.

    net(w, x) -> (N, C).  `Net.from_module(module)` makes one, or `Net(module)`.  It works on a copy
    in evaluation mode: the user's module is never changed, BatchNorm uses the running statistics
    stored in the net, and so the net *is* a function of `w`: verbs refuse one whose outputs depend
    on random numbers.  A module that draws some of Python's `random` or of NumPy beside its outputs
    moves those generators, which belong to all threads, with each pass; those of torch stay as they
    are.

    Attributes:
        w: Current values of the treated weights.
        blocks: Which tensor is where in `w`, in the order of `named_parameters()`.
        frozen: Names of the parameters that do not require gradients in the user's module; they are
            treated only where they are asked for.
        trunk: None, or the distribution from which training and prediction draw the other weights
            (`transfer(trunk="sampled")`).  Calls of the net itself, and so objectives and figures,
            keep them at their values.

    Example:
        >>> import torch, flatviz as fv
        >>> nn = torch.nn
        >>> net = fv.Net.from_module(nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 3)))
        >>> net.dim, net(net.w, torch.zeros(5, 2)).shape
        (27, torch.Size([5, 3]))
    """

    made_by = "fv.Net.from_module(module) makes one"

    def __init__(
        self,
        module: nn.Module,
        treated: Treated = "trainable",
        *,
        head: str | None = None,
        example: Batch | None = None,
    ) -> None:
        made = Net.from_module(module, treated, head=head, example=example)
        vars(self).update(vars(made))

    @classmethod
    def of_parts(
        cls,
        module: nn.Module,
        kinds: dict[str, str],
        example: Tensor | Fields | None,
        frozen: frozenset[str],
    ) -> Net:
        """Return a net of this module itself, with its treated parameters and their kinds."""
        net = object.__new__(cls)
        net._fill(module, kinds, example, frozen)
        return net

    def _fill(
        self,
        module: nn.Module,
        kinds: dict[str, str],
        example: Tensor | Fields | None,
        frozen: frozenset[str],
    ) -> None:
        self.module = module
        self.example = example
        self.frozen = frozen
        self._names = list(kinds)
        blocks = []
        stop = 0
        for name, kind in kinds.items():
            shape = module.get_parameter(name).shape
            start = stop
            stop += shape.numel()
            blocks.append(Block(name, start, stop, tuple(shape), kind))
        self.blocks = tuple(blocks)
        self._sizes = [block.stop - block.start for block in blocks]
        values = {name: p.detach() for name, p in module.named_parameters()}
        self.w = self.flatten(values)
        self._buffers: dict[str, Tensor] = {}
        self.trunk: RandomTrunk | None = None
        self._looked: Effects | None = None
        self._sparse = with_dense_gradients(module)  # as parts of a vector have dense gradients
        self._slots = Slots(module, self._names, self._buffers)

    @classmethod
    def from_module(
        cls,
        module: nn.Module,
        treated: Treated = "trainable",
        *,
        head: str | None = None,
        example: Batch | None = None,
    ) -> Net:
        """Read `module` as a function of its treated parameters.

        treated: "trainable" (all but those frozen by `requires_grad_(False)`); "norm+head" (every
            normalisation layer, by type, and the head), "head", or "authors" (by parts of the name,
            as SA-BMA's released code chooses), each of the trainable ones; "all"; or a function of
            the parameter's name.
        head: name of the head module; without it, the last `nn.Linear` in execution order, found by
            one forward pass.
        example: a batch of inputs for that pass, also a dict, a tuple or a `Data`; without it,
            zeros of a shape guessed from the first layer.

        Raises:
            TypeError: If `module` is no module.
            ValueError: For a module with active dropout, NaN weights, treated weights of several
                dtypes, no normalisation layers, no head, or no treated parameters, as where all are
                frozen.
        """
        if not isinstance(module, nn.Module):
            raise TypeError(f"module must be a torch.nn.Module, got {type(module).__name__}")
        refuse_dropout(module)
        example = None if example is None else batch_of(example, "example")
        with torch.inference_mode(False):
            duplicate = copied(module).eval()
            check_unchanged(module, duplicate)
            return cls._from_copy(duplicate, treated, head, example)

    @classmethod
    def _from_copy(
        cls,
        duplicate: nn.Module,
        treated: Treated,
        head: str | None,
        example: Tensor | Fields | None,
    ) -> Net:
        parameters = dict(duplicate.named_parameters())
        frozen = frozenset(name for name, p in parameters.items() if not p.requires_grad)
        duplicate.requires_grad_(False)
        for name, value in parameters.items():
            check_dense(value, f"weight {name}")
            if not bool(torch.isfinite(value).all()):
                raise ValueError(
                    f"weights must be finite, got NaN or inf in {name}: load a checkpoint that did"
                    " not diverge"
                )
        kinds = choose(duplicate, treated, head, example, frozen)
        return cls.of_parts(duplicate, kinds, example, frozen)

    def __getattr__(self, name: str) -> object:
        raise AttributeError(no_attribute(self, name, HABITS))

    def __call__(self, w: Tensor, x: Batch | None = None) -> Tensor:
        """Compute outputs (N, C) for inputs `x` (N, ...), or a dict or tuple of them, at `w` (D,).

        Neither is written into.

        Raises:
            TypeError: For inputs alone.
            ValueError: For weights of another shape, and a module that cannot run at them.
            RuntimeError: What the module raises, as for dtypes and devices that differ.
        """
        if x is None:
            raise TypeError("a net takes weights and inputs, got one of them: net(net.w, x)")
        w = from_numpy(w)
        x = x if isinstance(x, (Tensor, Fields)) else batch_of(x)
        if w.shape != self.w.shape:
            check_weights(w, self.dim)
        writes, again, *_ = self.look(x)
        if again:
            differentiated = any(t.requires_grad for t in (w, *tensors_of(x)))
            if transformed() or torch.is_grad_enabled() and differentiated:
                self.check_runs_once()
        with self.installed(w, copies=writes):
            try:
                return run(self.module, x.clone() if writes else x)
            except RuntimeError as error:
                self._check_dtypes(w, x, error)
                raise

    def _check_dtypes(self, w: Tensor, x: Tensor | Fields, error: RuntimeError) -> None:
        """Explain an error of a pass whose weights and inputs have several dtypes."""
        floating = [t for t in (self.w, w, *tensors_of(x)) if t.is_floating_point()]
        dtypes = sorted({str(t.dtype) for t in floating})
        if len(dtypes) > 1 and not torch.is_autocast_enabled(w.device.type):
            raise ValueError(
                f"net, w and x must have one dtype, got {' and '.join(dtypes)}:"
                " net.to(dtype=...) or w.to(...)"
            ) from error

    def look(self, x: Tensor | Inputs) -> Effects:
        """Observe one pass over two examples of `x`; the result is kept.

        Inside a function transform, where nothing can be observed, it reports `writes`.

        Raises:
            ValueError: For a module that reads weights elsewhere than where they are installed.
        """
        if self._looked is None:
            if transformed():
                return Effects(writes=True)
            self._looked = self._look(x)
        return self._looked

    def _look(self, x: Tensor | Inputs) -> Effects:
        with differentiable(), saved_rng(), self._slots.lock:
            few = x[:2].clone()
            w = self.w.clone().requires_grad_(True)
            foreign = memory_of(*self._slots.parameters) | memory_of_originals(self.module)
            try:
                with self.installed(w, copies=True) as parts, eager():
                    buffers = self._slots.buffers_in_place()
                    with Watch([*tensors_of(few), *parts, *buffers], foreign) as watch:
                        out = run(self.module, few)
                    after = self._slots.buffers_in_place()
                    replaced = any(a is not b for a, b in zip(after, buffers))
            except Exception:  # the caller's pass raises it again, with its text
                return Effects(writes=True)
            if watch.read:
                raise ValueError(
                    "the module must read its weights where they are parameters, got"
                    f" {type(self.module).__name__}, of which a forward, hook or list reads others:"
                    " those of the module that was copied (a closure, a wrapped or compiled"
                    " forward: use a subclass, or types.MethodType(function, module)), or a second"
                    " reference to a parameter"
                )
            wrote = watch.wrote or replaced
            return Effects(wrote, self._runs_again(out), watch.drew, _ending(out))

    def _runs_again(self, out: Tensor) -> bool:
        """Tell whether a backward pass fails once the weights are removed."""
        nothing = [torch.empty_like(p, device="meta") for p in self._slots.parameters]
        try:
            with self._slots.filled(nothing):
                if out.requires_grad:
                    out.sum().backward()
        except Exception:  # of the module's backward pass, which may raise anything
            return True
        return False

    def check_runs_once(self) -> None:
        """Refuse a module that runs its layers again in the backward pass, at other weights."""
        if self._looked is not None and self._looked.again:
            raise ValueError(
                f"a gradient needs a module that runs once, got {type(self.module).__name__}, which"
                " runs layers again in the backward pass (checkpointing, an adjoint): turn that"
                " off; values need no change"
            )

    @contextmanager
    def installed(
        self, w: Tensor, *, copies: bool = False, statistics: bool | None = None
    ) -> Iterator[list[Tensor]]:
        """Put `w` (D,) and the net's buffers in the module for the length of the block.

        One thread at a time.  The effect is that of `functional_call` at a fraction of its
        overhead, which is a third of a small network's gradient.

        copies: install copies of the weights.
        statistics: install copies of the buffers; None: as for the weights.

        Yields:
            The tensors in place.
        """
        parts = []
        for part, block in zip(self._split(w), self.blocks):
            part = part.clone() if copies else part
            parts.append(part.view(block.shape))
        statistics = copies if statistics is None else statistics
        with self._slots.filled(parts, copies=statistics):
            yield parts

    def __repr__(self) -> str:
        counts: dict[str, int] = dict.fromkeys(("norm", "head", "other"), 0)
        for block, size in zip(self.blocks, self._sizes):
            counts[block.kind] += size
        parts = ", ".join(f"{n} {kind}" for kind, n in counts.items() if n)
        left = [p for name, p in self.module.named_parameters() if name in self._untreated_frozen]
        if left:
            parts += f"; {sum(map(Tensor.numel, left))} frozen"
        for name, others in list(self.tied.items())[:3]:
            parts += f"; {name} is {others[0]}"
        return f"Net({type(self.module).__name__}, dim={self.dim}: {parts})"

    @property
    def _untreated_frozen(self) -> frozenset[str]:
        return self.frozen.difference(self._names)

    @property
    def tied(self) -> dict[str, list[str]]:
        """Name of each treated parameter that stands at several places -> its other names."""
        all_tied = tied(self.module)
        return {name: all_tied[name] for name in self._names if name in all_tied}

    @property
    def dim(self) -> int:
        """Number of treated weights D."""
        return self.w.numel()

    @property
    def device(self) -> torch.device:
        """Device of the weights."""
        return self.w.device

    @property
    def has_batchnorm(self) -> bool:
        """Whether a layer holds running statistics that other weights make stale.

        Those of a frozen layer never change.
        """
        return any(m.track_running_stats for m in self.norms().values())

    def norms(self) -> dict[str, _BatchNorm]:
        """BatchNorm layers by name, without those whose weights, and so statistics, are frozen."""
        norms = {}
        for name, layer in self.module.named_modules():
            if isinstance(layer, _BatchNorm):
                weights = {f"{name}.{key}" for key, _ in layer.named_parameters()}
                if not weights or not weights <= self._untreated_frozen:
                    norms[name] = layer
        return norms

    @property
    def treats_all(self) -> bool:
        """Whether every parameter that is not frozen is treated."""
        names = {name for name, _ in self.module.named_parameters()}
        return names - self.frozen <= set(self._names)

    def unflatten(self, w: Tensor) -> dict[str, Tensor]:
        """Split `w` into named tensors, at once.

        In the backward pass, a slice for each tensor would cost a (D,) buffer each.
        """
        if not isinstance(w, Tensor) or w.shape != self.w.shape:
            check_weights(w, self.dim)
        parts = zip(self.blocks, self._split(w))
        return {block.name: part.view(block.shape) for block, part in parts}

    def _split(self, w: Tensor) -> Sequence[Tensor]:
        """Split `w` into its parts, cast once under autocast.

        Autocast would otherwise cast each part that enters a product by itself.
        """
        check_dense(w, "w")
        parts = w.split(self._sizes)
        kind = w.device.type
        if w.dtype != torch.float32 or not torch.is_autocast_enabled(kind):
            return parts
        cast = w.to(torch.get_autocast_dtype(kind)).split(self._sizes)
        pairs = zip(parts, cast, self._slots.products)
        return [narrow if product else part for part, narrow, product in pairs]

    def flatten(self, named: dict[str, Tensor]) -> Tensor:
        """Join named tensors of the treated parameters to one vector (D,)."""
        return torch.cat([named[name].reshape(-1) for name in self._names])

    def to_module(self, w: Tensor | None = None) -> nn.Module:
        """Build a new module of the user's class with weights `w` (default: the net's).

        It has the net's statistics.  Its parameters require gradients where those of the user's
        module do.
        """
        module = self._duplicate()
        w = self.w if w is None else check_weights(w, self.dim)
        state = self.unflatten(w) | self._buffers
        with torch.no_grad():
            for name, tensor in (*module.named_parameters(), *module.named_buffers()):
                if name in state:
                    tensor.copy_(state[name])
        for name, value in module.named_parameters():
            value.requires_grad_(name not in self.frozen)
        for table in self._sparse:
            vars(module.get_submodule(table))["sparse"] = True
        return module

    def _duplicate(self) -> nn.Module:
        with self._slots.lock:  # no other thread has weights installed
            return copied(self.module)

    def at(self, w: Tensor) -> Net:
        """Return the same net at other weights."""
        return self._like(w=check_weights(w, self.dim).detach().clone())

    def restrict(self, treated: Treated, *, head: str | None = None) -> Net:
        """Return the same network and weights as a function of fewer (or other) parameters."""
        module = self.to_module().eval()
        return Net._from_copy(module, treated, head, self.example)

    def with_example(self, x: Tensor | Inputs) -> Net:
        """Return the same net with an example input, which shows where the head is."""
        return self._like(example=x[:2].detach().clone())

    def with_buffers(self, buffers: dict[str, Tensor]) -> Net:
        """Return the same net with other BatchNorm statistics."""
        return self._like(_buffers=dict(buffers))

    def with_trunk(self, trunk: RandomTrunk | None) -> Net:
        """Return the same net with a distribution of its untreated weights; None: they are fixed.

        Training and prediction draw from it.
        """
        return self._like(trunk=trunk)

    def buffers(self) -> dict[str, Tensor]:
        """BatchNorm statistics by name."""
        return dict(self.module.named_buffers()) | self._buffers

    def copy(self) -> Net:
        """Copy the net so that nothing is shared, for use in another thread."""
        module = self._duplicate()
        buffers = {name: buffer.clone() for name, buffer in self._buffers.items()}
        return self._like(module=module, w=self.w.clone(), _buffers=buffers)

    def to(self, device: torch.device | str | None = None, dtype: torch.dtype | None = None) -> Net:
        """Move the net to a device, or cast it to a dtype.

        Raises RuntimeError for a GPU that is not there.
        """
        check_device(device)

        def move(t: Tensor) -> Tensor:
            return t.to(device, dtype if t.is_floating_point() else None)

        example = self.example
        if isinstance(example, Tensor):
            example = move(example)
        elif example is not None:
            example = example.to(device, dtype)
        return self._like(
            module=self._duplicate().to(device=device, dtype=dtype),
            w=self.w.to(device, dtype),
            trunk=None if self.trunk is None else self.trunk.to(device, dtype),
            _buffers={name: move(buffer) for name, buffer in self._buffers.items()},
            example=example,
        )

    def _like(self, **changes: object) -> Net:
        other = copy.copy(self)
        vars(other).update(changes)
        if "module" in changes or "_buffers" in changes:
            lock = None if "module" in changes else self._slots.lock
            other._slots = Slots(other.module, other._names, other._buffers, lock)
        return other


def _ending(out: Tensor) -> str:
    """Name the last operation where it gives probabilities, skipping views and clamps."""
    node = out.grad_fn
    name = ""
    while node is not None:
        name = node.name().partition("Backward")[0]
        if name not in PASSED:
            break
        node = node.next_functions[0][0]
    return name if name in ("Softmax", "Sigmoid") else ""
