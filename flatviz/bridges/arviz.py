"""Diagnostics of chains by ArviZ: convergence and effective sample size."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from flatviz.core import public
from flatviz.results import Draws


@dataclass(frozen=True, eq=False)
class ChainDiagnostics:
    """R-hat, bulk and tail effective sample size of P functions of the draws, each (P,).

    R-hat is 1 where chains agree; below 1.01 is good.
    """

    rhat: Tensor
    bulk: Tensor
    tail: Tensor

    def __str__(self) -> str:
        """Return the worst of each, and the median bulk size."""
        worst = (
            f"R-hat at most {float(self.rhat.max()):.3f}, bulk ESS at least"
            f" {float(self.bulk.min()):.0f}"
        )
        return (
            f"{worst} (median {float(self.bulk.median()):.0f}), tail ESS at least"
            f" {float(self.tail.min()):.0f}"
        )


@public
def diagnose_chains(draws: Draws, of: Callable[[Tensor], Tensor] | None = None) -> ChainDiagnostics:
    """Compute R-hat and effective sample sizes of functions of the draws, each chain in its order.

    They are the rank-normalised split R-hat and ESS of Vehtari et al. 2021 (arXiv 1903.08008).  A
    constant function gets an R-hat of NaN.

    Args:
        draws: Draws of several chains, as `HMC(chains=4)` returns; at least four draws of
            each.
        of: W (S, D) -> (S, P) or (S,), such as the probabilities of the true classes; None: every
            weight.  Predictions may agree where weights do not: a network has symmetries.

    Raises:
        TypeError: For anything but `Draws`.
        ValueError: For fewer than two chains or four draws of each.
        ImportError: Without ArviZ.

    Example:
        >>> import torch, flatviz as fv
        >>> q = fv.Draws(torch.randn(400, 2, generator=torch.Generator().manual_seed(0)), chains=4)
        >>> diagnosis = fv.bridges.diagnose_chains(q)  # doctest: +SKIP
        >>> diagnosis.rhat.shape, bool((diagnosis.rhat < 1.02).all())  # doctest: +SKIP
        (torch.Size([2]), True)
    """
    try:
        import arviz  # optional: only these diagnostics need it
    except ImportError as error:
        raise ImportError("diagnose_chains needs arviz: pip install 'flatviz[arviz]'") from error
    length = len(draws.W) // draws.chains
    if draws.chains < 2 or length < 4:
        raise ValueError(
            f"draws must be of at least 2 chains of 4 draws, got {draws.chains} of {length}: fit"
            " with chains=4, more n_draws"
        )
    values = draws.W if of is None else of(draws.W)
    if not isinstance(values, Tensor) or len(values) != len(draws.W):
        raise TypeError(
            f"of(W) must return a tensor of {len(draws.W)} rows, one a draw, got"
            f" {type(values).__name__}"
        )
    by_chain = values.detach().double().cpu().reshape(draws.chains, length, -1)
    data = arviz.convert_to_dataset({"value": by_chain.numpy()})
    r_hat = arviz.rhat(data)
    bulk = arviz.ess(data, method="bulk")
    tail = arviz.ess(data, method="tail")
    parts = [torch.as_tensor(part["value"].values.copy()) for part in (r_hat, bulk, tail)]
    return ChainDiagnostics(*parts)
