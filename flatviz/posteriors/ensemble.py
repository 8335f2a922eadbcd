"""Deep ensembles: several networks, each trained alone, whose probabilities are averaged (Lakshminarayanan et al. 2017).

    W = (w_1, ..., w_M),  w_m = SGD from a start of its own, in an order of its own

The members are trained together, a row each, which is faster and changes nothing.
"""

from __future__ import annotations

from flatviz.checks import check_count
from flatviz.core.data import Data
from flatviz.core.likelihood import Likelihood
from flatviz.core.net import Net
from flatviz.core.progress import Progress
from flatviz.posteriors.method import Method, Tuned
from flatviz.results import Draws, History
from flatviz.storage.digest import arguments_digest
from flatviz.training.gradient import Ascent
from flatviz.training.loop import Checkpoint
from flatviz.training.starts import train_members


def fit_ensemble(
    net: Net,
    data: Data,
    *,
    seed: int,
    members: int = 5,
    start: str = "auto",
    steps: int = 150,
    lr: float = 0.05,
    momentum: float = 0.9,
    weight_decay: float = 5e-4,
    batch_size: int | None = 64,
    likelihood: Likelihood = "categorical",
    batchnorm: str = "frozen",
    ascent: Ascent | None = None,
    checkpoint: Checkpoint = None,
    progress: Progress = False,
) -> Draws:
    """Train `members` networks over the treated weights; (members, D).

    start: "fresh" draws all treated weights anew for each member, "head" the head alone, "here" none; "auto" is fresh
    where all weights are treated, else head.  With batchnorm="train" each member had statistics of its own, which are
    not kept: predict with `batchnorm=data`.
    ascent: `SAM(radius)` and the like make it a flat-seeking ensemble, whose members differ less: look at `disagreement`.
    checkpoint: a file from which a stopped run goes on.  Raises ValueError on bad data or divergence.
    """
    run = arguments_digest(locals())
    seeds = [seed + 1000 * member for member in range(check_count(members, "members"))]
    W, history = train_members(
        net,
        data,
        seeds,
        start,
        steps=steps,
        lr=lr,
        likelihood=likelihood,
        batchnorm=batchnorm,
        batch_size=batch_size,
        momentum=momentum,
        weight_decay=weight_decay,
        ascent=ascent,
        checkpoint=checkpoint,
        run=run,
        progress=progress,
        label="ensemble",
    )
    sharpness = None if history.sharpness is None else history.sharpness.mean(1)
    return Draws(W, History(history.loss.mean(1), sharpness=sharpness))


METHOD = Method(
    name="ensemble",
    label="deep ensemble",
    color="#4d5b66",
    symbol="bowtie",
    fit=fit_ensemble,
    plain=Tuned(dict(members=5, steps=300, lr=0.05, momentum=0.9, weight_decay=5e-4, batch_size=None)),
    takes_ascent=True,
)
