"""A network with its data and a likelihood, checked once; what was learnt is passed on."""

from __future__ import annotations

import operator
import warnings
from threading import RLock
from typing import NamedTuple

import torch

from flatviz.core import Data, Net, looked_at
from flatviz.core.inputs import warn_of_bytes
from flatviz.core.modules import transformed
from flatviz.engine.cost import Work
from flatviz.engine.determinism import check_function, check_logits
from flatviz.engine.trunk import SWITCH, Cut, cut_of, cut_or_reason, fits, kept, source_of
from flatviz.likelihood import AnyLikelihood, Likelihood, as_likelihood


class Problem(NamedTuple):
    """A network, data and likelihood that belong together, and the cost of an example."""

    net: Net
    data: Data
    likelihood: Likelihood
    work: Work

    def late(self) -> Problem:
        """Return the problem on kept activations of a fixed trunk, or itself where there is none.

        Rows come from the store of recent ones.
        """
        return Late().of(self)

    def warn_of_unlabelled(self) -> None:
        """Warn of examples none of whose labels count, as a posterior's N counts them."""
        mask = self.likelihood.mask(self.data.y)
        if mask is None:
            return
        labelled = mask.reshape(len(mask), -1).any(1)
        n = int((~labelled).sum())
        if n:
            warnings.warn(
                f"{n} of {len(mask)} examples have no label that counts, and N, the number of"
                " examples of a posterior, counts them: leave them out, data.subset(...)",
                stacklevel=2,
            )


class Late:
    """A problem on kept activations of its fixed trunk: the same numbers to rounding.

    Its holder keeps the rows.  Copies and pickles are empty.

    precision: In which rows are computed, as `Training.precision`.
    """

    def __init__(self, precision: str | None = None) -> None:
        self.precision = precision
        self._lock = RLock()
        self._made: tuple[tuple, Problem] | None = None

    def __reduce__(self) -> tuple:
        return Late, (self.precision,)

    def cut(self, problem: Problem) -> Cut | None:
        """Return where the network is cut; None where it is to run in full."""
        net, data, _, work = problem
        found = cut_of(net, data.x, self.precision, work=work)
        return found if found is not None and fits(found, net, len(data)) else None

    def work(self, problem: Problem) -> Work:
        """Return the cost of an example on kept activations, or of the whole network."""
        found = self.cut(problem)
        if found is None:
            return problem.work
        return found.work

    def notes(self, problem: Problem) -> tuple[str, ...]:
        """Say what is kept, for a fit's history; () of a network that runs in full."""
        found = self.cut(problem)
        if found is None:
            why = cut_or_reason(problem.net, problem.data.x, self.precision, work=problem.work)
            if isinstance(why, Cut):
                why = f"{len(problem.data) * why.bytes / 2**20:,.0f} MiB are beyond {SWITCH}"
            return (f"activations are not kept: {why}",) if why else ()
        size = len(problem.data) * found.bytes / 2**20
        return (
            f"activations before {found.before} are kept, {found.floats:,} numbers an example,"
            f" {size:.1f} MiB in all",
        )

    def of(self, problem: Problem, fill: bool = True) -> Problem:
        """Return the problem from its cut on, or itself where there is none.

        fill: Compute rows where there are none yet.
        """
        found = self.cut(problem)
        if found is None:
            return problem
        net, data, likelihood, work = problem
        source = source_of(data.x)
        now = (found, data.x, None if source is None else source._version)
        with self._lock:
            if self._made is not None and all(map(operator.is_, self._made[0], now)):
                return self._made[1]
            if not fill or transformed():
                return problem
            x = kept(found, net, data.x, work)
            if x is None:
                return problem
            rows = Data(x, data.y, data.class_names)
            late = Problem(found.tail.at(net.w), rows, likelihood, found.work)
            self._made = (now, late)
            return late


def examined(net: Net, data: Data, likelihood: AnyLikelihood) -> Problem:
    """Check once that the net runs on `data`, and measure the cost of an example.

    Errors are those of `nll`.
    """
    x = looked_at(data.x)
    net, work = check_function(net, x)
    warn_of_bytes(x)
    p = as_likelihood(likelihood)
    if p.name in ("categorical", "bernoulli"):
        check_logits(net, x[:2])
    with torch.no_grad():
        p.check(data.y, net(net.w, x[:4]))
    return Problem(net, data, p, work)
