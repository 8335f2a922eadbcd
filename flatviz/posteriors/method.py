"""Record of a method, read by experiments, tests, page and lab."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeVar

from flatviz.catalog import NO_UNIT, UNLISTED, Look
from flatviz.core import SAM, Net
from flatviz.results import Posterior
from flatviz.training.gradient import PLAIN, Ascent, Training
from flatviz.training.settings import Setting
from flatviz.training.variational import GaussianMethod

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Tuned:
    """Settings with which a method learns the digits tasks, for one kind of net.

    Args:
        settings: Every keyword of the fit that a study may set, with its value; a keyword that is
            not named here is not set.
        radius: That of `compare`, in the method's unit.
        largest: The end of the lab's slider.
        tour: The radii that the tour fits; (0.0,) for a method without radius, () to leave it out.
        lab: The radii that the lab fits before the slider moves, likewise.
    """

    settings: Mapping[str, Setting] = field(default_factory=dict)
    radius: float = 0.0
    largest: float = 0.0
    tour: tuple[float, ...] = ()
    lab: tuple[float, ...] = ()

    def __str__(self) -> str:
        """Write the settings as text for a page: "steps 300, lr 0.05".

        Defaults of None and settings of another method are left out.
        """
        texts = []
        for name, value in self.settings.items():
            if isinstance(value, (int, float)):
                texts.append(f"{name} {value:g}")
            elif value is not None and not isinstance(value, Mapping):
                texts.append(f"{name} {value}")
        return ", ".join(texts)


def settings_of(fit: Callable[..., Posterior], names: str, **values: Setting) -> dict[str, Setting]:
    """Return keywords that a study may set, by name, at the defaults of `fit` without a value."""
    usual = inspect.unwrap(fit).__kwdefaults__
    return {name: usual[name] for name in names.split()} | values


@dataclass(frozen=True, eq=False)
class Method:
    """Record of one method: its fit, its settings, its needs.

    `look` is its line in `flatviz.catalog`, with name and colour.

    Args:
        fit: `fit(net, data, *, seed, ...) -> Posterior`, with the prior as third argument where
            `needs_prior`.
        plain: Settings for nets without BatchNorm.
        batchnorm: Settings for nets with BatchNorm; None: the same.
        needs_prior: Whether `fit` takes the prior.
        warm_start: Experiments start it at SGD's solution.
        linearised: Its predictions are those of the linearised network.
        gradients: Gradients of one network that a step costs.
        at_zero: The method that it is at radius 0, bit for bit.
        fit_grid: As `fit`, with lists of radii and seeds, trained together: {(radius, seed):
            Posterior}.
        algorithm: `(prior, n, **keywords of fit) -> GaussianMethod`, of a method that fits a
            Gaussian from a prior.
        inner: In a composed method, the name of the one that its `fit` takes as `fit=`, with that
            one's settings in `settings=`.
        ascent: In a flat-seeking version, the perturbation that its radius belongs to, as `fv.SAM`.
        look: Set by `table`.
    """

    fit: Callable[..., Posterior]
    plain: Tuned = field(default_factory=Tuned)
    batchnorm: Tuned | None = None
    needs_prior: bool = False
    warm_start: bool = False
    linearised: bool = False
    gradients: int = 1
    at_zero: str | None = None
    fit_grid: Callable[..., Mapping[tuple[float, int], Posterior]] | None = None
    algorithm: Callable[..., GaussianMethod] | None = None
    inner: str | None = None
    ascent: Callable[[float], Ascent] | None = None
    look: Look = UNLISTED

    @property
    def name(self) -> str:
        """Its key in `fv.METHODS`."""
        return self.look.name

    @property
    def label(self) -> str:
        """Its name in tables and figures."""
        return self.look.label

    @property
    def unit(self) -> str:
        """The unit of its radius."""
        return self.look.unit

    def __repr__(self) -> str:
        return f"Method({self.name!r}, {self.label})"

    def in_grid(self, radius: float) -> bool:
        """Tell whether `fit_grid` takes this radius: above 0, or any of a method without one."""
        return self.fit_grid is not None and (radius > 0 or self.unit == NO_UNIT)

    def tuned(self, net: Net) -> Tuned:
        """Return settings and radii for this kind of net.

        Treated BatchNorm layers make the kind: a fixed trunk's do not change with the weights.
        """
        layers = {block.layer for block in net.blocks}
        treated = net.has_batchnorm and not layers.isdisjoint(net.norms())
        return self.batchnorm if treated and self.batchnorm is not None else self.plain

    def keywords(
        self,
        net: Net,
        *,
        radius: float | None = None,
        settings: Mapping[str, Setting] | None = None,
        lr_scale: float = 1.0,
        training: Training = PLAIN,
    ) -> dict[str, Setting]:
        """Keywords for `fit` beside seed, checkpoint and progress.

        radius: None is that of `tuned(net)`.  settings: values in place of the tuned ones; names
        that are not among the method's settings are left out, so that one mapping serves several
        methods.  lr_scale: factor on lr: rates of natural-gradient steps and of SGD differ by more
        than a factor of ten, so no one lr fits all methods.  training: of every fit that takes it.
        """
        tuned = self.tuned(net)
        settings = settings or {}
        chosen = {name: settings.get(name, value) for name, value in tuned.settings.items()}
        if "lr" in chosen:
            chosen["lr"] *= lr_scale
        if training is not PLAIN and self.inner is None:
            chosen["training"] = training
        elif training is not PLAIN:  # a composed method hands on its settings
            chosen["settings"] = {**chosen["settings"], "training": training}
        radius = tuned.radius if radius is None else radius
        if self.ascent is not None:
            return chosen | {"ascent": self.ascent(radius)}
        return chosen if self.unit == NO_UNIT else chosen | {"radius": radius}

    def flat(
        self, ascent: Callable[[float], Ascent] = SAM, *, at_zero: str, radius: float = 0.1
    ) -> "Method":
        """Return the flat-seeking version, with every gradient at the end of `ascent(radius)`.

        At radius 0 it is the method named `at_zero`.
        """
        return replace(
            self,
            plain=Tuned(self.plain.settings, radius),
            batchnorm=None if self.batchnorm is None else Tuned(self.batchnorm.settings, radius),
            gradients=2 * self.gradients,
            at_zero=at_zero,
            fit_grid=None,
            ascent=ascent,
        )

    def over_temperature(
        self, *, tour: tuple[float, ...] = (), lab: tuple[float, ...] = ()
    ) -> "Method":
        """Return this method with the temperature, kl_weight, as its radius.

        The ascent keeps its tuned radius.
        """

        def tuned(of: Tuned, largest: float) -> Tuned:
            settings = dict(of.settings)
            if of.radius:
                settings["ascent_radius"] = of.radius
            return Tuned(settings, of.settings["kl_weight"], largest, tour, lab)

        batchnorm = None if self.batchnorm is None else tuned(self.batchnorm, 0.1)
        return replace(
            self,
            fit=partial(_at_temperature, self.fit),
            algorithm=self.algorithm and partial(_at_temperature, self.algorithm),
            plain=tuned(self.plain, 1.0),
            batchnorm=batchnorm,
            at_zero=None,
            fit_grid=None,
        )


def _at_temperature(
    function: Callable[..., T],
    *about: object,
    radius: float,
    ascent_radius: float | None = None,
    **how: Setting,
) -> T:
    """Call a method's function with the temperature `radius` as its kl_weight."""
    if ascent_radius:
        how["radius"] = ascent_radius
    how["kl_weight"] = radius
    return function(*about, **how)


def table(looks: Iterable[Look], record: Callable[[Look], Method]) -> dict[str, Method]:
    """Build name -> method for each line of the catalog, a flat-seeking version after its method.

    Args:
        looks: Lines of the catalog without flat-seeking versions.
        record: Returns the record that a line names.
    """
    records = {look.name: replace(record(look), look=look) for look in looks}
    methods: dict[str, Method] = {}
    for name, method in records.items():
        if method.inner is not None:
            method = _composed(method, records[method.inner])
        methods[name] = method
        if method.look.flat:
            version = method.look.flat_version
            methods[version.name] = replace(method.flat(at_zero=name), look=version)
    return methods


def _composed(outer: Method, inner: Method) -> Method:
    """Return `outer` with `inner` as the method inside, at the settings of `inner`."""
    settings = {**outer.plain.settings, "settings": inner.plain.settings}
    plain = replace(outer.plain, settings=settings)
    return replace(outer, fit=partial(outer.fit, fit=inner), plain=plain)
