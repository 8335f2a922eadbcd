"""The local learning coefficient: how fast the volume of weights with nearly the loss at w shrinks; flatter is smaller.

    lambda(w) = n beta (E f(w') - f(w)),   w' ~ exp(-n beta f(w')) localised at w,   beta = 1 / log n

Of a quadratic minimum in D dimensions it is D / 2 whatever the curvature, of f = w^4 it is 1 / 4.
"""

from __future__ import annotations

import math

from flatviz.checks import Count, Positive, Vector, Vectors, check_count, check_many_weights
from flatviz.core.boundary import public
from flatviz.core.objective import ObjectiveLike, as_objective


@public
def learning_coefficient(f: ObjectiveLike, w: Vector, draws: Vectors, *, n: Count, beta: Positive | None = None) -> float:
    """Estimate n beta (mean of f over `draws` - f(w)) of the local learning coefficient at `w` (D,).

    The estimate is as good as the draws: chains that have not mixed, or a finite step, give another number.  Where `w` is no
    local minimum of f it can be negative.  Where a Gaussian keeps the draws near `w`, directions in which f is flatter than that
    Gaussian add nothing.

    Args:
        f: Mean loss of n examples, say `nll(net, task.train)`.
        w: Where: a minimum of f.
        draws: (S, D) from exp(-n beta f) localised at `w`, by any sampler.
        n: Number of examples, at least 2.
        beta: Inverse temperature that `draws` were sampled at; None: 1 / log n.

    Raises:
        ValueError: For another shape, or n below 2.

    Source: Lau, Furman, Wang, Murfet & Wei 2023, The local learning coefficient (arXiv 2308.12108), definition of the estimator.

    Example:
        >>> import torch, flatviz as fv
        >>> draws = torch.tensor([[-1.0], [1.0]]) / 10  # two points with the variance 1 / (n beta) of a quadratic minimum
        >>> round(fv.metrics.learning_coefficient(lambda w: 0.5 * w.square().sum(), torch.zeros(1), draws, n=100, beta=1.0), 3)
        0.5
    """
    f, n = as_objective(f), check_count(n, "n", least=2)
    check_many_weights(draws, len(w), "draws")
    beta = 1 / math.log(n) if beta is None else beta
    return n * beta * float((f.many(draws) - f(w).detach()).double().mean())
