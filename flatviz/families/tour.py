"""The main job: from a pre-trained network to a live flat posterior, on digits or any task."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import partial

import torch
from torch import Tensor

from flatviz.core import Net, Progress, Task, Treated, pick
from flatviz.datasets.tasks import named_task
from flatviz.families.convergence import ConvergenceGap, gap_of_member
from flatviz.families.family import measure, repeat_family
from flatviz.families.maps import has_input_maps, input_maps
from flatviz.families.members import Choices, Fitting, Radii, check_settings, with_maps
from flatviz.families.preparation import (
    Model,
    Recipe,
    TaskOf,
    at_solution,
    build_model,
    recipe_for,
    task_for,
    without_source,
)
from flatviz.families.standing import check_learned
from flatviz.families.tasks import Engine
from flatviz.posteriors import METHODS
from flatviz.posteriors.fit import fit
from flatviz.posteriors.swag import SWAG
from flatviz.posteriors.transfer import transfer
from flatviz.results import Family, Gaussian, Prediction, placed
from flatviz.storage.cache import cached
from flatviz.training.points import pretrain
from flatviz.words import DEFAULT_TASK

HEAD_STD = 0.3
RANK = 5


@dataclass(frozen=True)
class TourSettings:
    """Settings of a tour, each with a default.

    Args:
        radii: Radii of the members by method; None: those of `fv.METHODS`.
        epochs: Of pre-training, in place of the recipe's.
        recipe: Settings of pre-training and SWAG; None: those for this kind of network.
        fit, tuned: Settings of all fits, and of each method, as in `fit_family`.
        measured: Arguments of `measure` in place of its defaults.
        repeats: Number of fits of the family with other noise, for the bands over seeds.
        gap: Whether the distance of VI from its optimum is measured.
    """

    radii: Radii | None = None
    epochs: int | None = None
    recipe: Recipe | None = None
    fit: Mapping = field(default_factory=dict)
    tuned: Choices | None = None
    measured: Mapping = field(default_factory=dict)
    repeats: int = 0
    gap: bool = True


WHOLE = TourSettings()


@dataclass(frozen=True)
class Tour:
    """Results of the tour, its settings, and the steps that it read from the cache.

    Args:
        alone: Predictions of the test split without the source, by name.
        gap: Convergence of VI's fit; None without a KL term, and for a net with BatchNorm, where a
            fit of four times the steps takes minutes.
    """

    net: Net
    task: Task
    prior: Gaussian
    family: Family
    alone: Mapping[str, Prediction]
    cached: tuple[str, ...]
    recipe: Recipe
    gap: ConvergenceGap | None


def prepare(
    model: Model = "mlp",
    *,
    task: Task | None = None,
    seed: int = 0,
    epochs: int | None = None,
    recipe: Recipe | None = None,
    treated: Treated = "norm+head",
    rank: int = RANK,
    device: torch.device | str = "cpu",
    progress: Progress = False,
) -> tuple[Net, Task, Gaussian]:
    """Pre-train a network on the source and restrict it to `treated`: (net, task, prior).

    The prior is SWAG's, of `rank`.

    model: a name, or a function task -> module.
    task: default that of the tour.
    treated: which weights, as in `transfer`.
    recipe: settings of pre-training and SWAG, by default those for this kind of network.
    epochs: of pre-training, in place of the recipe's.
    device: "auto" chooses one that suits the network, and prints which and why.

    Raises:
        ValueError: If pre-training or SWAG leave a network that is no better than its largest
            class.
    """
    task = named_task(DEFAULT_TASK, seed=seed) if task is None else task
    module = build_model(model, task.for_source(), seed=seed)
    place, why = pick(str(device), module)
    if device == "auto":
        print(f"on {place} ({why})")
    task = task.to(place)
    example = task.source.x[:2].to("cpu")
    net = Net.from_module(module, example=example).to(place)
    recipe = (recipe or recipe_for(net)).with_epochs(epochs)
    source = pretrain(
        net,
        task.source,
        epochs=recipe.epochs,
        lr=recipe.lr,
        last_lr=recipe.last_lr,
        seed=seed,
        progress=progress,
    )
    check_learned(
        source,
        source.w,
        task.source,
        "pre-training",
        "raise its epochs, lower its lr, or take another model",
    )
    swag = fit(
        source,
        task.source,
        SWAG(rank=rank, lr=recipe.swag_lr, snapshots=recipe.snapshots),
        seed=seed,
        progress=progress,
    )
    check_learned(source, swag.mean, task.source, "SWAG", "lower the recipe's swag_lr")
    n_classes = None if task.source_classes is None else task.n_classes
    net, prior = transfer(
        source,
        swag,
        n_classes=n_classes,
        treated=treated,
        head_std=HEAD_STD,
        scale=recipe.scale,
    )
    return net, task, prior


def run_tour(
    model: Model = "mlp",
    *,
    task: TaskOf = DEFAULT_TASK,
    seed: int = 0,
    device: torch.device | str = "cpu",
    settings: TourSettings = WHOLE,
    engine: Engine = None,
    progress: Progress = False,
    say: Callable[[str], None] = lambda text: None,
) -> Tour:
    """Pre-train, transfer, fit the family, measure it, and fit it again with other noise.

    Each step is cached.

    model: a name, or a function task -> module.
    task: a name ("digits-near", "moons", "image-folder:PATH"), a `Task`, or a function of the seed.
    engine: any executor of `concurrent.futures`, whose workers share the fits of the family.
    say: is called with a line of text for each step.
    """
    check_settings(settings.fit)
    drawn = task_for(task, seed)  # its splits are drawn by the seed
    where = torch.device(device)
    module = build_model(model, drawn, seed=seed)
    recipe = settings.recipe or recipe_for(Net.from_module(module))
    recipe = recipe.with_epochs(settings.epochs)
    step = _Steps(
        say,
        model=model,
        task=drawn,
        seed=seed,
        device=str(device),
        recipe=recipe,
    )

    def prepared() -> tuple:
        net, _, prior = prepare(
            model,
            task=drawn,
            seed=seed,
            recipe=recipe,
            device=device,
            progress=progress,
        )
        return net.to_module().state_dict(), prior

    state, prior = step("pre-trained network and prior", prepared)
    drawn = drawn.to(where)
    module.load_state_dict(state)
    example = drawn.source.x[:2].to("cpu")
    net = Net.from_module(module.eval(), "norm+head", example=example).to(where)
    prior = placed(prior, where)
    fits = Fitting(net, drawn, prior, seed, dict(settings.fit), settings.tuned, progress)
    radii = fits.radii(settings.radii)
    methods = {name: METHODS[name] for name in radii}
    of_family = partial(
        step,
        radii=radii,
        fit=fits.fit,
        tuned=fits.tuned,
        methods=methods,
    )
    family = _family(fits, radii, settings, of_family, engine)

    def without() -> dict[str, Prediction]:
        nets = without_source(drawn, model, seed=seed).items()
        return {name: at_solution(other, drawn.test) for name, other in nets}

    alone = step("fits without the source", without)
    gap = _gap(fits, family, of_family) if settings.gap else None
    return Tour(net, drawn, prior, family, alone, tuple(step.reused), recipe, gap)


class _Steps:
    """Steps of one tour, each read from the cache where it was computed before.

    about: what all of them depend on.
    """

    def __init__(self, say: Callable[[str], None], **about: object) -> None:
        self.say = say
        self.about = about
        self.reused: list[str] = []

    def __call__(self, name: str, compute: Callable, **depends_on: object):
        about = self.about | depends_on | {"step": name}
        result, was_cached = cached("tour", compute, label=name, say=self.say, **about)
        if was_cached:
            self.reused.append(name)
        return result


def _family(
    fits: Fitting, radii: Radii, settings: TourSettings, step: Callable, engine: Engine
) -> Family:
    """Fit the family, measure it, and fit it again with other noise."""
    net = fits.net
    how = dict(settings.measured)
    fitted = step("family of posteriors", partial(fits.family, radii, engine))
    fitted = _placed(fitted, net.device)

    def measures() -> Family:
        seed = fits.seed + 1
        return measure(net, fits.task, fitted, seed=seed, progress=fits.progress, **how)

    family = step("surface, samples, spectra and scores", measures, measured=how)
    family = _placed(family, net.device)
    if settings.repeats:
        seeds = [fits.seed + 100 + i for i in range(settings.repeats)]

        def repeats() -> list[dict[str, Tensor]]:
            return [member.over_seeds for member in repeat_family(fits, family, seeds)]

        rows = step("other seeds", repeats, measured=how, seeds=seeds)
        family = family.each(over_seeds=rows)
    if has_input_maps(fits.task):
        maps = partial(_maps, fits, family)
        inputs, rows = step("maps over inputs, beside HMC", maps, hmc=METHODS["hmc"])
        family = with_maps(replace(family, inputs=inputs), rows)
    return family


def _gap(fits: Fitting, family: Family, step: Callable) -> ConvergenceGap | None:
    """Measure the distance of VI from its optimum, where VI has one and a long fit is quick."""
    net = fits.net
    if "vi" not in family.methods or net.has_batchnorm:
        return None
    if not fits.keywords("vi")["kl_weight"]:
        return None
    vi = family[family.index("vi", 0.0)]
    values = step("convergence gap of VI", lambda: asdict(gap_of_member(fits, vi)))
    return ConvergenceGap(**values)


def _maps(fits: Fitting, family: Family) -> tuple[dict, list[dict]]:
    net = fits.net
    task = fits.task
    exact = METHODS["hmc"].fit(
        net,
        task.train,
        fits.prior,
        seed=fits.seed,
        progress=fits.progress,
    )
    family = input_maps(net, task, family, seed=fits.seed + 1, reference=exact)
    probs = [{"probs": member.maps["probs"]} for member in family]
    return family.inputs, probs


def _placed(family: Family, device: torch.device) -> Family:
    """Return the family with its posteriors on a device; what is measured stays on the CPU."""
    return family.each(posterior=[placed(q, device) for q in family.posterior])
