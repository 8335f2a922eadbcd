"""SWAG-diagonal: mean and variance of the tail of SGD, no covariance (Maddox et al. 2019).

    mean = average of T iterates,  v = their variance,  Sigma = diag(v)

The whole v, where SWAG takes half of it and lets the deviations carry the other half.
"""

from __future__ import annotations

from flatviz.core.data import Data
from flatviz.core.likelihood import Likelihood
from flatviz.core.net import Net
from flatviz.core.progress import Progress
from flatviz.posteriors.method import Method, Tuned
from flatviz.results import Gaussian
from flatviz.training.gradient import Ascent
from flatviz.training.loop import Checkpoint
from flatviz.training.snapshots import collect


def fit_swag_diag(
    net: Net,
    data: Data,
    *,
    seed: int,
    snapshots: int = 20,
    lr: float = 0.05,
    momentum: float = 0.9,
    weight_decay: float = 5e-4,
    batch_size: int | None = 64,
    likelihood: Likelihood = "categorical",
    batchnorm: str = "frozen",
    ascent: Ascent | None = None,
    checkpoint: Checkpoint = None,
    progress: Progress = False,
) -> Gaussian:
    """Run SGD at a constant rate from where the net stands, collecting one snapshot an epoch; rank 0.

    snapshots: epochs T >= 2.  ascent: `SAM(radius)` and the like make it F-SWAG-diagonal; checkpoint: a file from
    which a stopped run goes on.  Raises ValueError on bad data or divergence.
    """
    moments, history = collect(
        net,
        data,
        seed=seed,
        rank=0,
        snapshots=snapshots,
        lr=lr,
        momentum=momentum,
        weight_decay=weight_decay,
        batch_size=batch_size,
        likelihood=likelihood,
        batchnorm=batchnorm,
        ascent=ascent,
        checkpoint=checkpoint,
        progress=progress,
        label="SWAG-diagonal",
    )
    log_std = 0.5 * moments.variance.log()
    return Gaussian(moments.mean.to(net.w.dtype), log_std.to(net.w.dtype), history=history)


METHOD = Method(
    name="swag_diag",
    label="SWAG-diagonal",
    color="#a07c00",
    dash="dash",
    symbol="star-square",
    fit=fit_swag_diag,
    # minibatches of 10: with all hundred examples of the task in each, SGD has no noise for its tail to show
    plain=Tuned(dict(snapshots=20, lr=0.05, momentum=0.9, weight_decay=5e-4, batch_size=10)),
    takes_ascent=True,
    warm_start=True,
)
