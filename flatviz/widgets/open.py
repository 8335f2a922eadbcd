"""`lab`: the laboratory in one call, of a network with its prior, or of any classifier and its data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from torch import nn

from flatviz.checks import Count, Positive, Radius, Seed, anything
from flatviz.core.boundary import public
from flatviz.core.data import Task
from flatviz.core.net import Net
from flatviz.core.progress import Progress
from flatviz.families.choice import Choices
from flatviz.families.own import Given, prepare_own
from flatviz.results import Family, Gaussian
from flatviz.widgets.lab import Lab
from flatviz.widgets.members import coarse_radii

COARSE = dict(n_draws=10, n_spectra=2, k=2, resolution=21, around_resolution=13)  # figures of a first family when time is short


@public
def lab(
    module: nn.Module | Net,
    train: Annotated[Given | Task, anything],
    test: Annotated[Given | Gaussian, anything],
    *,
    radii: Mapping[str, Sequence[Radius]] | None = None,
    family: Family | None = None,
    fit: Mapping[str, Any] | None = None,
    tuned: Choices | None = None,
    trials: Count = 6,
    minutes: Positive | None = 10.0,
    seed: Seed = 0,
    progress: Progress = None,
) -> Lab:
    """The laboratory in a notebook: sliders for radius and ensemble size over posteriors that are fitted as you ask for them.

    `fv.lab(net, task, prior)` shows what `fv.transfer` returned.

    `fv.lab(module, train, test)` shows any classifier.  It trains a module that has not learned, tries rates and settings, and
    checks the accuracy after each step; `lab.made` lists the steps.  The stochastic weights are the normalisation layers and the
    head, or the head alone.  Their prior is that of SWAG on `train` for the former, wide and about 0 for the head.  The first 2,000
    examples of `train` in random order are used: a fifth to choose settings, at which every variational method of the lab is then
    fitted, the rest to fit.

    Args:
        module: A Net with its task and prior; or a module, inputs (N, ...) -> logits (N, C), trained or not, with its dropout
            off; it is not changed.
        train: A Task; or the training data: (inputs, labels) as arrays or tensors, a Dataset or a DataLoader of such pairs, or a
            Data.
        test: A Gaussian prior; or the test data, as `train`.
        radii: Method -> radii that are fitted first.
        family: Of a task: what `fv.families.measure` returned; None fits a coarse one in the background.
        fit: Of a task: settings of every fit (steps, lr, kl_weight ...), beside those at which such a net learns.
        tuned: Of a task: method -> settings and radius that `flatviz run tune` chose.
        trials: Of a module: settings that are tried.
        minutes: Of a module: time for the preparation and the first family, estimated from timed gradients.  Where it is too
            short, a step has one draw, then only one trial is made, or the head alone is treated on kept activations, with few
            members and coarse pictures at first; `lab.made` says what was left out.  What fits into the time depends on the
            machine; None leaves nothing out.
        seed: Of all random numbers.
        progress: Of a module: True, False, or a function(done, total, label).

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
    if isinstance(train, Task):
        return Lab(module, train, test, family=family, radii=radii, fit=fit, tuned=tuned, seed=seed)
    made: list[str] = []

    def say(text: str) -> None:
        made.append(text)
        if progress is not False and not callable(progress):
            print(text)

    fits, coarse = prepare_own(module, train, test, trials=trials, minutes=minutes, seed=seed, progress=progress, say=say)
    view = Lab(
        fits.net,
        fits.task,
        fits.prior,
        radii=radii or (coarse_radii(fits.net) if coarse else None),
        fit=fits.fit,
        seed=seed,
        measuring=COARSE if coarse else None,
    )
    view.made = tuple(made)
    return view
