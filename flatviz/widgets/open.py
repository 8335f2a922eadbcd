"""`lab`: the laboratory in one call, of a network with its prior, or any network with data."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated

from torch import nn

from flatviz.checks import Radius, Seed, anything, check_is
from flatviz.core import Likelihood, Net, Progress, Task, one_bar, public
from flatviz.families.examples import Given
from flatviz.families.members import Choices, Fitting
from flatviz.families.own import Effort, prepare_own, work_of_preparation
from flatviz.results import Family, Gaussian, for_readers
from flatviz.widgets.lab import Lab
from flatviz.widgets.members import coarse_radii
from flatviz.widgets.session import COARSE
from flatviz.widgets.view import kernel_shell, page_watches


@public
def lab(
    module: nn.Module | Net,
    train: Annotated[Given | Task, anything],
    test: Annotated[Given | None, anything] = None,
    *,
    prior: Gaussian | None = None,
    likelihood: Likelihood | None = None,
    radii: Mapping[str, Sequence[Radius]] | None = None,
    family: Family | None = None,
    fit: Mapping[str, object] | None = None,
    tuned: Choices | None = None,
    effort: Effort = "quick",
    seed: Seed = 0,
    progress: Progress = None,
) -> Lab:
    """Open the laboratory in a notebook: sliders for radius and ensemble size, fits on demand.

    `fv.lab(net, task, prior=prior)` takes the results of `fv.transfer`.

    `fv.lab(module, train, test)` shows any network.  It trains a module that has not learned, tries
    rates and settings, and checks the accuracy, or the NLL, after each step; `lab.made` says how
    good VI is beside the trained network, then lists the steps.  The stochastic weights are the
    normalisation layers and the head, or the head alone.  The normalisation layers' prior is that
    of SWAG on `train`; the head's is wide and centred at 0.  The first 2,000 examples of `train` in
    random order are used: a fifth to choose settings, at which every variational method of the lab
    is then fitted, the rest to fit.

    Args:
        module: A Net with its task and prior; or a module, inputs (N, ...) -> outputs (N, ...),
            trained or not, with its dropout off; it is not changed.
        train: A Task; or the training data: (inputs, labels) as arrays or tensors, a Dataset or a
            DataLoader of such pairs, or a Data.
        test: For a module: the test data, as `train`.
        prior: For a task: over the treated weights of the net.
        likelihood: What the outputs say, as in `fv.nll`; None: that of the task, classes of a
            module.
        radii: Method -> radii that are fitted first.
        family: For a task: result of `fv.families.measure`; None fits a coarse one in the
            background.
        fit: For a task: settings of every fit (steps, lr, kl_weight ...), beside those at which
            such a net learns.
        tuned: For a task: method -> settings and radius that `flatviz run tune` chose.
        effort: For a module: "quick" makes one trial of settings, takes small steps where a network
            is large and treats the head alone where it is larger, and begins with VI and SA-BMA and
            coarse pictures; "full" makes six trials and leaves nothing out, however long that
            takes; a number is that of the trials of a full one.  The computation follows from the
            request alone: the same seed gives the same bits on a busy machine.  `lab.made` says
            what was left out.
        seed: Fixes all random numbers.
        progress: For a module: True, False, or a function(done, total, label).

    Raises:
        ValueError: If a step leaves a network that is no better than its largest class, or the best
            constant outputs: it says which, and what to do.
        TypeError: For a task without a prior, a module without test data, and both.

    Example:
        >>> data = fv.datasets.moons_transfer(seed=0)
        >>> nn = torch.nn
        >>> module = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 2))
        >>> train, test = (data.source.x, data.source.y), (data.test.x, data.test.y)
        >>> view = fv.lab(module, train, test, radii={"vi": (0.0,)}, progress=False)
        >>> view.made[3]
        'treated: head, 18 weights'
        >>> view.close()
    """
    if isinstance(train, Task):
        if test is not None or prior is None:
            raise TypeError(
                "a task must come with prior=, and without test data: fv.lab(net, task,"
                " prior=prior)"
            )
        task = train if likelihood is None else replace(train, likelihood=likelihood)
        net = check_is(module, Net, "net", "use what fv.transfer returned")
        fits = Fitting(net, task, prior, seed, fit, tuned)
        shown = for_readers(family)  # figures are drawn on the CPU, wherever the net is
        view = Lab(fits, family=shown, radii=radii)
        if family is None:
            view.run()
        return view
    if test is None or prior is not None:
        raise TypeError(
            "a module must come with training and test data, and without a prior: fv.lab(module,"
            " train, test)"
        )
    lines: list[str] = []
    prints = progress is not False and not callable(progress)

    def say(text: str) -> None:
        lines.append(text)
        if prints:
            print(text)

    if progress is None and kernel_shell() is not None:
        progress = page_watches()
    with one_bar(work_of_preparation(effort), progress) as shown_progress:
        prepared = prepare_own(
            module,
            train,
            test,
            likelihood=likelihood or "categorical",
            effort=effort,
            seed=seed,
            progress=shown_progress,
            say=say,
        )
    fits = prepared.fits
    if effort == "quick":
        view = Lab(fits, radii=radii or coarse_radii(fits.net), measuring=COARSE)
    else:
        view = Lab(fits, radii=radii)
    say(str(prepared))
    view.made = (lines.pop(), *lines)
    view.run()
    return view
