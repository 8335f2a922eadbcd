"""A family's `stages`: one step of SA-BMA at several moments of one training."""

from __future__ import annotations

from collections.abc import Mapping

from flatviz.core.data import Task
from flatviz.core.net import Net
from flatviz.core.progress import Progress
from flatviz.families.choice import Choices, choice_of
from flatviz.families.members import chosen
from flatviz.families.one_step import mechanism_in_training
from flatviz.posteriors import METHODS
from flatviz.results import Family, Gaussian, Mechanism

METHOD = "sabma"


def family_stages(
    net: Net,
    task: Task,
    prior: Gaussian,
    family: Family,
    *,
    seed: int,
    resolution: int = 31,
    fit: Mapping | None = None,
    tuned: Choices | None = None,
    progress: Progress = False,
) -> tuple[Mechanism, ...]:
    """What `mechanism_in_training` returns for the member of SA-BMA whose radius is nearest to the one the method has by itself.

    One fit more, with the settings that this member had: fit, tuned and seed as in `fit_family`.  () for a family without
    SA-BMA above radius 0, and for a net with BatchNorm, whose convolutions would take minutes.
    """
    if METHOD not in family.methods or net.has_batchnorm:
        return ()
    record, radius = METHODS[METHOD].tuned(net), choice_of(tuned, METHOD).radius
    radius = family[family.index(METHOD, record.radius if radius is None else radius)].radius
    if radius == 0:
        return ()
    prior, asked = chosen(net, prior, METHOD, fit, tuned)
    settings = {name: value for name, value in asked.items() if name in record.settings}
    about = dict(radius=radius, seed=seed, settings=settings, resolution=resolution, progress=progress)
    return tuple(mechanism_in_training(net, task.train, prior, **about))
