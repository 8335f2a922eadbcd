"""The lab for a network of one's own, in one cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from torch import nn

from flatviz.checks import Count, Radius, Seed
from flatviz.core.boundary import public
from flatviz.core.net import Net
from flatviz.core.progress import Progress
from flatviz.families.own import Examples, prepare_own
from flatviz.widgets.lab import FlatnessLab


@public
def lab(
    module: nn.Module | Net,
    train: Examples,
    test: Examples,
    *,
    trials: Count = 6,
    radii: Mapping[str, Sequence[Radius]] | None = None,
    seed: Seed = 0,
    progress: Progress = None,
) -> FlatnessLab:
    """`FlatnessLab` of any classifier: it trains what has not learned, finds rates and settings, and checks accuracy each time.

    The stochastic weights are the normalisation layers and the head, of a module without normalisation layers the head.
    Their prior is SWAG's on `train` for the former, wide and about 0 for the head.  The first 2,000 examples of `train` in
    random order are used: a fifth to choose settings, at which every variational method of the lab is then fitted, the rest
    to fit.  What was done stands in `lab.made`, a line a step.

    Args:
        module: inputs (N, ...) -> logits (N, C); trained or not; its dropout is off, and it is not changed.
        train, test: (inputs, labels) as arrays or tensors, a Dataset or a DataLoader of such pairs, or a Data.
        trials: settings that are tried.
        radii: method -> radii of the first family, as FlatnessLab takes them.

    Raises:
        ValueError: Where a step leaves a network that is no better than its largest class: it says which, and what
            to do.

    Example:
        >>> data = fv.datasets.moons_transfer(seed=0)
        >>> module = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))
        >>> train, test = (data.source.x, data.source.y), (data.test.x, data.test.y)
        >>> view = fv.lab(module, train, test, trials=1, radii={"vi": (0.0,)}, progress=False)
        >>> view.made[2]
        'treated: head, 18 weights'
        >>> view.close()
    """
    own = prepare_own(module, train, test, trials=trials, seed=seed, progress=progress)
    view = FlatnessLab(own.net, own.task, own.prior, radii=radii, fit=own.fit, seed=seed)
    view.made = own.steps
    return view
