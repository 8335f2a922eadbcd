"""A network with its data and a likelihood, checked once; what was learnt is passed on."""

import warnings
from typing import NamedTuple

import torch

from flatviz.core import Data, Net, looked_at
from flatviz.core.inputs import warn_of_bytes
from flatviz.engine.cost import Work
from flatviz.engine.determinism import check_function, check_logits
from flatviz.likelihood import AnyLikelihood, Likelihood, as_likelihood


class Problem(NamedTuple):
    """A network, data and likelihood that belong together, and the cost of an example."""

    net: Net
    data: Data
    likelihood: Likelihood
    work: Work

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
