"""What there is to know of a method beside its equation: one frozen record, read by studies, tests, plots, page and lab."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from flatviz.core import arguments as arg
from flatviz.core.ascent import SAM
from flatviz.core.boundary import ARGUMENTS
from flatviz.core.net import Net
from flatviz.results import Posterior
from flatviz.training.gradient import Ascent

NO_UNIT = "(no radius)"
EUCLIDEAN = "Euclidean"


@dataclass(frozen=True, eq=False)
class Tuned:
    """Where a method learns on the digits tasks, for one kind of net.

    settings: every keyword of the fit that a study may set, with its value; a keyword that is not named here is not set.
    radius: that of `compare`, in the method's unit; largest: the end of the lab's slider.
    tour, lab: the radii that each of these fits (the lab: before anybody moves the slider); (0.0,) for a method without
        radius, () where it leaves the method out.
    """

    settings: Mapping[str, Any] = field(default_factory=dict)
    radius: float = 0.0
    largest: float = 0.0
    tour: tuple[float, ...] = ()
    lab: tuple[float, ...] = ()

    def __str__(self) -> str:
        """The settings as text for a page: "steps 300, lr 0.05"; defaults of None and settings of another method left out."""
        shown = {k: v for k, v in self.settings.items() if v is not None and not isinstance(v, Mapping)}
        return ", ".join(f"{k} {v:g}" if isinstance(v, (int, float)) else f"{k} {v}" for k, v in shown.items())


@dataclass(frozen=True, eq=False)
class Method:
    """One method: what it is called, how it is drawn, how it is run.

    name: its key in `fv.METHODS`; label: its name in tables and figures; color (hex), dash, symbol: as plotly takes them.
    fit: `fit(net, data, *, seed, ...) -> Posterior`, with the prior as third argument where `needs_prior`.
    plain, batchnorm: settings for nets without and with BatchNorm; batchnorm=None: the same.
    evidence: radii of the study of that name, () where it leaves the method out.
    takes_ascent: `fit` takes `ascent=`, so `F-<label>` exists too.  warm_start: studies start it at SGD's solution.
    linearised: its predictions are those of the linearised network.  gradients: of one network, that a step costs.
    unit: of its keyword `radius`; NO_UNIT where it has none.  at_zero: the method that it is at radius 0, bit for bit.
    fit_radii: `(net, data, prior, *, radii, seeds, ...) -> {(radius, seed): Posterior}`, trained together.
    fit_members: `(net, data, W, *, seeds, ...) -> [Posterior]` from each row of W (B, D), trained together.
    inner: of a composed method, the name of the one that its `fit` takes as `fit=`, with settings of its own in `settings=`.
    perturbation: of a method of SA-BMA's kind, its `mode` of `fv.perturb`.
    ascent: of a flat-seeking version, the perturbation that its radius belongs to, as `fv.SAM`.
    """

    name: str
    label: str
    color: str
    fit: Callable[..., Posterior]
    plain: Tuned = field(default_factory=Tuned)
    batchnorm: Tuned | None = None
    evidence: tuple[float, ...] = ()
    dash: str = "solid"
    symbol: str = "circle"
    needs_prior: bool = False
    takes_ascent: bool = False
    warm_start: bool = False
    linearised: bool = False
    gradients: int = 1
    unit: str = NO_UNIT
    at_zero: str | None = None
    fit_radii: Callable[..., dict[tuple[float, int], Posterior]] | None = None
    fit_members: Callable[..., list[Posterior]] | None = None
    inner: str | None = None
    ascent: Callable[[float], Ascent] | None = None
    perturbation: str | None = None

    def __repr__(self) -> str:
        return f"Method({self.name!r}, {self.label})"

    def tuned(self, net: Net) -> Tuned:
        """Settings and radii for this kind of net."""
        return self.batchnorm if net.has_batchnorm and self.batchnorm is not None else self.plain

    def keywords(self, net: Net, *, radius: float | None = None, settings: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Keywords for `fit` beside seed, checkpoint and progress.

        radius: None is that of `tuned(net)`.  settings: values in place of the tuned ones; names that are not among the
        method's own settings are left out, so that one mapping serves several methods.
        """
        tuned = self.tuned(net)
        chosen = {name: (settings or {}).get(name, value) for name, value in tuned.settings.items()}
        radius = tuned.radius if radius is None else radius
        if self.ascent is not None:
            return chosen | {"ascent": self.ascent(radius)}
        return chosen if self.unit == NO_UNIT else chosen | {"radius": radius}

    def flat(
        self,
        ascent: Callable[[float], Ascent] = SAM,
        *,
        name: str | None = None,
        label: str | None = None,
        color: str | None = None,
        unit: str = EUCLIDEAN,
        radius: float = 0.1,
    ) -> Method:
        """The flat-seeking version: every gradient at the end of `ascent(radius)`; named f-<name> and F-<label>."""
        return replace(
            self,
            name=name or f"f-{self.name}",
            label=label or f"F-{self.label}",
            color=color or self.color,
            symbol=self.symbol.removesuffix("-open") + "-open",
            plain=Tuned(self.plain.settings, radius),
            batchnorm=None if self.batchnorm is None else Tuned(self.batchnorm.settings, radius),
            evidence=(),
            gradients=2 * self.gradients,
            takes_ascent=False,
            unit=unit,
            at_zero=self.name,
            fit_radii=None,
            ascent=ascent,
        )


ARGUMENTS["fit"] = arg.either((Method, arg.anything), (object, arg.function), wanted="")


def callable_of(fit: Method | Callable[..., Posterior]) -> Callable[..., Posterior]:
    """The function of a record, or `fit` itself.  Raises TypeError for what cannot be called."""
    function = fit.fit if isinstance(fit, Method) else fit
    if not callable(function):
        raise TypeError(f"fit must be a record of fv.METHODS or a function, got {type(fit).__name__}: METHODS['swag'], say")
    return function


def table(methods: Sequence[Method]) -> dict[str, Method]:
    """name -> method, each followed by its flat-seeking version where it takes an ascent; composed ones are completed."""
    by_name = {m.name: m for m in methods}
    whole = [m if m.inner is None else _composed(m, by_name[m.inner]) for m in methods]
    pairs = [[m, m.flat()] if m.takes_ascent else [m] for m in whole]
    return {m.name: m for pair in pairs for m in pair}


def _composed(outer: Method, inner: Method) -> Method:
    """`outer` with `inner` as the method inside, at the settings that `inner` has by itself."""
    plain = replace(outer.plain, settings={**outer.plain.settings, "settings": inner.plain.settings})
    return replace(outer, fit=partial(outer.fit, fit=inner), plain=plain)
