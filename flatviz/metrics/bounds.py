"""PAC-Bayes bounds on the mean loss of a posterior's draws on new data.

Every loss lies between 0 and 1.  With probability 1 - delta over n independent examples, for all Q
at once, with P fixed before the examples are seen (Maurer 2004):

    kl(E_Q L, E_Q L_new) <= (KL(Q || P) + ln(2 sqrt(n) / delta)) / n

where kl is that of two Bernoulli variables.
"""

import math

from scipy.optimize import brentq
from scipy.special import rel_entr
from scipy.stats import chi2

from flatviz.checks import (
    Count,
    NonNegative,
    Positive,
    Several,
    Share,
    Vector,
    Vectors,
    check_weights,
)
from flatviz.core import public


@public
def pac_bayes_bound(
    loss: Share,
    kl: NonNegative,
    n: Count,
    *,
    delta: Share = 0.05,
) -> float:
    """Bound the mean loss on new data, given a mean training loss, with probability 1 - delta.

    Args:
        loss: E_Q L, mean training loss of Q's draws, between 0 and 1; of a finite number of draws
            it is an estimate.
        kl: KL(Q || P) in nats, of a prior P that has not seen the examples.
        n: Independent examples.
        delta: Probability that the bound fails.

    Raises:
        ValueError: For a loss or delta outside 0 to 1.

    Source: Maurer 2004, arXiv cs/0411099.

    Example:
        >>> import flatviz as fv
        >>> round(fv.metrics.pac_bayes_bound(0.02, kl=3.0, n=1000), 3)
        0.047
    """
    budget = math.inf
    if delta:
        budget = (kl + math.log(2 * math.sqrt(n) / delta)) / n
    upper = 1 - 1e-12

    def excess(e: float) -> float:
        return rel_entr(loss, e) + rel_entr(1 - loss, 1 - e) - budget

    if loss >= upper or excess(upper) <= 0:
        return 1.0
    return float(brentq(excess, loss, upper))


@public
def flat_bound(
    worst: Share,
    W: Vectors,
    center: Vector,
    *,
    radius: Positive,
    prior_std: Positive,
    n: Several,
    delta: Share = 0.05,
) -> float:
    """Bound the mean loss on new data by the worst training loss near each draw.

    This is theorem 3.2 of Flat Seeking BNNs,

        E_Q L_new <= E_{w ~ Q} max_{|e| <= radius} L(w + e) + f(largest |w|^2 / n)

    The paper says of f only that it increases.  Here it follows SAM's argument: the bound
    `pac_bayes_bound` of Q blurred by N(0, s^2 I), with s such that a blur is longer than `radius`
    with probability 1 / sqrt(n), which is added to the worst loss.  Q may be anything, also a point
    or an ensemble, as the KL is at most the mean of KL(N(w, s^2 I) || N(center, prior_std^2 I)).
    As in SAM's theorem, the bound holds for the blurred Q, and for Q where blurring does not lower
    the loss on new data.

    Args:
        worst: Mean over draws of the largest training loss within `radius`, between 0 and 1; an
            ascent gives less than it.
        W: (S, D), draws of Q.
        center: (D,), mean of the prior, chosen before the n examples were seen, as are `prior_std`
            and `radius`.
        radius: Radius of the ball, Euclidean.
        prior_std: Width of the prior.
        n: Independent examples.
        delta: Probability that the bound fails.

    Raises:
        ValueError: For vectors of different lengths, or a loss or delta outside 0 to 1.

    Source: Nguyen et al. 2023, arXiv 2302.02713; Foret et al. 2021, arXiv 2010.01412.

    Example:
        >>> import torch, flatviz as fv
        >>> center, W = torch.zeros(3), 0.1 * torch.ones(5, 3)
        >>> round(fv.metrics.flat_bound(0.03, W, center, radius=0.3, prior_std=0.5, n=1000), 3)
        0.103
    """
    check_weights(center, W.shape[1], "center")
    d = W.shape[1]
    outside = 1 / math.sqrt(n)  # probability of a blur longer than the radius
    square = float(chi2.isf(outside, d))
    ratio = (radius / prior_std) ** 2 / square
    squares = (W - center).double().square().sum(1)
    of_means = float(squares.mean()) / prior_std**2
    kl = 0.5 * (of_means + d * (ratio - 1 - math.log(ratio)))
    loss = min(1.0, worst + outside)
    return pac_bayes_bound(loss, kl, n, delta=delta)
