"""The table of methods, read by experiments, tests, page and lab: value, settings, radii."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from inspect import Parameter, Signature, signature
from typing import TypeVar, cast

from flatviz.catalog import NO_UNIT, ROWS, UNLISTED, Look, Mode
from flatviz.core import SAM, Data, FisherSAM, Net
from flatviz.posteriors.bsam import BSAM
from flatviz.posteriors.dropout import Dropout
from flatviz.posteriors.emcmc import EMCMC
from flatviz.posteriors.fit import fit, fit_many
from flatviz.posteriors.hmc import HMC
from flatviz.posteriors.ivon import IVON
from flatviz.posteriors.laplace import Laplace
from flatviz.posteriors.multi import PTL, Multi
from flatviz.posteriors.psgld import PSGLD
from flatviz.posteriors.sabma import SABMA
from flatviz.posteriors.sgd import SGD, Ensemble
from flatviz.posteriors.sgld import CSGLD, SGHMC, SGLD
from flatviz.posteriors.sgnht import SGNHT
from flatviz.posteriors.svgd import SVGD
from flatviz.posteriors.swag import SWA, SWAG, SWAGDiagonal
from flatviz.posteriors.vi import VI, MeanFieldVI
from flatviz.results import Gaussian, Posterior
from flatviz.training.gradient import PLAIN, Ascent, Training
from flatviz.training.method import OF_PERTURBATION, Method
from flatviz.training.perturb import Perturbation
from flatviz.training.settings import TEMPERED, TEMPERED_BATCHNORM, Setting, Tempered
from flatviz.training.variational import Variational

T = TypeVar("T")
NOTHING: Mapping[str, Setting] = {}


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


def settings_of(cls: type[Method], names: str, **values: Setting) -> dict[str, Setting]:
    """Return settings that a study may set, by name, at their defaults without a value."""
    usual = {f.name: f.default for f in fields(cls)} | cls.usual._asdict()
    return {name: usual[name] for name in names.split()} | values


def keyworded(cls: type[Method], **fixed: Setting) -> Callable[..., Posterior]:
    """Return `fit` of a method with its fields and those of the run as keywords.

    fixed: fields with another default.
    """

    def fitted(
        net: Net, data: Data, prior: Gaussian | None = None, **keywords: Setting
    ) -> Posterior:
        if prior is not None:
            keywords["prior"] = prior
        method, run = split(cls, fixed | keywords)
        return fit(net, data, method, **{"progress": False, **run})

    vars(fitted)["__signature__"] = _signature(cls, fixed)
    return fitted


def _signature(cls: type[Method], fixed: Mapping[str, Setting]) -> Signature:
    """Return net, data, the fields, and what the run of this method takes, by keyword."""
    of_run = ("seed", "likelihood", "checkpoint", "progress", *class_takes(cls))
    of_fit = signature(fit).parameters
    usual = cls.usual._asdict()
    parameters = [of_fit["net"], of_fit["data"]]
    for f in fields(cls):
        default = Parameter.empty if f.name == "radius" and f.default is None else f.default
        default = fixed.get(f.name, default)
        parameters.append(Parameter(f.name, Parameter.KEYWORD_ONLY, default=default))
    for name in of_run:
        default = usual.get(name, of_fit[name].default)
        parameters.append(of_fit[name].replace(default=default))
    return Signature(parameters)


def class_takes(cls: type[Method]) -> tuple[str, ...]:
    """Return the arguments of a run that a class takes; of a composed one, all of them."""
    return cls.takes if isinstance(cls.takes, tuple) else Method.takes


def split(cls: type[Method], keywords: Mapping[str, Setting]) -> tuple[Method, dict[str, Setting]]:
    """Split keywords into the method's fields, of which its value is made, and those of the run."""
    names = {f.name for f in fields(cls)}
    of_method = {name: value for name, value in keywords.items() if name in names}
    run = {name: value for name, value in keywords.items() if name not in names}
    moved = {name: run.pop(name) for name in list(run) if name in OF_PERTURBATION}
    if moved:
        of_method["perturbation"] = Perturbation(**moved)
    return cls(**of_method), run


def algorithm_of(cls: type[Method], **fixed: Setting) -> Callable[..., Variational]:
    """Return the function of prior, number of examples and keywords that makes the value."""

    def made(prior: Gaussian, n: int, **keywords: Setting) -> Variational:
        method, _ = split(cls, {**fixed, **keywords, "prior": prior, "n": n})
        return cast(Variational, method)

    return made


def grid_of(
    cls: type[Method], knob: str, **fixed: Setting
) -> Callable[..., dict[tuple[float, int], Posterior]]:
    """Return `fit_many` over radii and seeds: (radius, seed) -> posterior; `knob` moves."""

    def fitted(
        net: Net,
        data: Data,
        prior: Gaussian,
        *,
        radius: Sequence[float],
        seed: Sequence[int],
        **keywords: Setting,
    ) -> dict[tuple[float, int], Posterior]:
        methods = []
        for r in radius:
            moved = {**fixed, **keywords, "prior": prior}
            moved[knob] = (r or keywords.get(knob)) if knob == "kl_weight" else r
            method, run = split(cls, moved)
            methods.append(method)
        found = fit_many(net, data, methods, seeds=seed, **{"progress": False, **run})
        return {(float(radius[i]), s): q for (i, s), q in found.items()}

    return fitted


@dataclass(frozen=True, eq=False)
class Entry:
    """Record of one method: its fit, its settings, its needs.

    `look` is its line in `flatviz.catalog`, with name and colour.

    Args:
        cls: Class of the method's value.
        plain: Settings for nets without BatchNorm.
        batchnorm: Settings for nets with BatchNorm; None: the same.
        needs_prior: Whether `fit` takes the prior.
        warm_start: Experiments start it at SGD's solution.
        linearised: Its predictions are those of the linearised network.
        gradients: Gradients of one network that a step costs.
        at_zero: The method that it is at radius 0, bit for bit.
        fit_grid: As `fit`, with lists of radii and seeds, trained together: {(radius, seed):
            Posterior}.
        algorithm: `(prior, n, **keywords of fit) -> Variational`, of a method that fits a
            Gaussian from a prior.
        inner: In a composed method, the name of the one that its `fit` takes as `fit=`, with that
            one's settings in `settings=`.
        ascent: In a flat-seeking version, the perturbation that its radius belongs to, as `fv.SAM`.
        look: Set by `table`.
        fit: `fit(net, data, *, seed, ...) -> Posterior` of fields and arguments of the run; the
            prior is its third argument where `needs_prior`.
    """

    cls: type[Method]
    plain: Tuned = field(default_factory=Tuned)
    batchnorm: Tuned | None = None
    needs_prior: bool = False
    warm_start: bool = False
    linearised: bool = False
    gradients: int = 1
    at_zero: str | None = None
    fit_grid: Callable[..., Mapping[tuple[float, int], Posterior]] | None = None
    algorithm: Callable[..., Variational] | None = None
    inner: str | None = None
    ascent: Callable[[float], Ascent] | None = None
    look: Look = UNLISTED
    fit: Callable[..., Posterior] = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        if self.fit is None:
            object.__setattr__(self, "fit", keyworded(self.cls))

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
        return f"Entry({self.name!r}, {self.label})"

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
    ) -> "Entry":
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
    ) -> "Entry":
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


def table(looks: Iterable[Look], entries: Mapping[str, "Entry"]) -> dict[str, "Entry"]:
    """Build name -> method for each line of the catalog, a flat-seeking version after its method.

    Args:
        looks: Lines of the catalog without flat-seeking versions.
        entries: Entry of each.
    """
    records = {look.name: replace(entries[look.name], look=look) for look in looks}
    methods: dict[str, Entry] = {}
    for name, method in records.items():
        if method.inner is not None:
            method = _composed(method, records[method.inner])
        methods[name] = method
        if method.look.flat:
            version = method.look.flat_version
            methods[version.name] = replace(method.flat(at_zero=name), look=version)
    return methods


def _composed(outer: Entry, inner: Entry) -> Entry:
    """Return `outer` with `inner` as the method inside, at the settings of `inner`."""
    settings = {**outer.plain.settings, "settings": inner.plain.settings}
    plain = replace(outer.plain, settings=settings)
    return replace(outer, fit=partial(outer.fit, inner), plain=plain)


def multi_of(
    inner: Entry,
    net: Net,
    data: Data,
    *,
    settings: Mapping[str, Setting] = NOTHING,
    ascent: Ascent | None = None,
    **keywords: Setting,
) -> Posterior:
    """Fit `Multi` of an entry's value: momentum, weight decay and ascent are the ensemble's."""
    own = {**inner.keywords(net), **settings}
    shared = {name: keywords[name] for name in ("momentum", "weight_decay") if name in keywords}
    own |= {name: value for name, value in shared.items() if own.get(name)}
    if ascent is not None and inner.look.flat:
        own["ascent"] = ascent
    keywords["ascent"] = ascent
    method, run = split(inner.cls, own)
    of_multi = {"method": method, **keywords}
    if "batch_size" in run and keywords.get("batch_size") is None:
        of_multi["inner_batch_size"] = run["batch_size"]
    multi, of_run = split(Multi, of_multi)
    if "training" in run:
        of_run["training"] = run["training"]
    return fit(net, data, multi, **{"progress": False, **of_run})


def ptl_of(
    inner: Entry,
    net: Net,
    data: Data,
    prior: Gaussian,
    *,
    settings: Mapping[str, Setting] = NOTHING,
    **keywords: Setting,
) -> Posterior:
    """Fit `PTL` of an entry's value."""
    method, run = split(inner.cls, {**inner.keywords(net), **settings})
    ptl, of_run = split(PTL, {"method": method, **keywords, "prior": prior})
    return fit(net, data, ptl, **{"progress": False, **run, **of_run})


def _chain(cls: type[Method], more: str = "") -> Entry:
    names = f"n_draws burn_in thin lr {more} temperature weight_decay batch_size"
    return Entry(cls, plain=Tuned(settings_of(cls, names)), warm_start=True)


def _tail(cls: type[Method], names: str) -> Entry:
    # Minibatches of 10, as SGD on all hundred examples of the task has no noise
    names = f"{names} momentum weight_decay"
    settings = settings_of(cls, names, lr=0.05, batch_size=10)
    return Entry(cls, plain=Tuned(settings), warm_start=True)


_DESCENT = "steps momentum weight_decay batch_size"
_NATURAL = "weight_decay steps momentum batch_size"


def _natural(cls: type[Method], tempered: Tempered) -> dict[str, Setting]:
    return settings_of(cls, _NATURAL, **tempered._asdict(), mc_samples=None)


def _sgd(lr: float) -> Tuned:
    settings = settings_of(SGD, _DESCENT, lr=lr, batchnorm="frozen")
    return Tuned(settings, tour=(0.0,), lab=(0.0,))


_SGD = Entry(SGD, plain=_sgd(0.05), batchnorm=_sgd(0.01))
_VI = Entry(
    VI,
    fit_grid=grid_of(VI, "kl_weight"),
    algorithm=algorithm_of(VI),
    plain=Tuned(_natural(VI, TEMPERED), tour=(0.0,), lab=(0.0,)),
    batchnorm=Tuned(_natural(VI, TEMPERED_BATCHNORM), tour=(0.0,), lab=(0.0,)),
    needs_prior=True,
)
_PLAIN = _natural(SABMA, TEMPERED)
_BATCHNORM = _natural(SABMA, TEMPERED_BATCHNORM)
_SABMA = Entry(
    SABMA,
    fit_grid=grid_of(SABMA, "radius"),
    algorithm=algorithm_of(SABMA),
    plain=Tuned(
        _PLAIN,
        1.0,
        5.0,
        tour=(0.0, 0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0),
        lab=(0.0, 0.5, 1.0, 2.0),
    ),
    batchnorm=Tuned(
        _BATCHNORM,
        0.5,
        2.0,
        tour=(0.0, 0.18, 0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0),
        lab=(0.0, 0.25, 0.5, 1.0),
    ),
    at_zero="vi",
    needs_prior=True,
    gradients=2,
)


def _in_mode(mode: Mode, plain: Tuned, batchnorm: Tuned) -> Entry:
    """Return the entry of SA-BMA with this perturbation."""
    perturbation = Perturbation(mode)
    return replace(
        _SABMA,
        fit=keyworded(SABMA, perturbation=perturbation),
        fit_grid=grid_of(SABMA, "radius", perturbation=perturbation),
        algorithm=algorithm_of(SABMA, perturbation=perturbation),
        plain=plain,
        batchnorm=batchnorm,
    )


_OTHER = Tuned(_BATCHNORM, 0.5, 2.0)
_MEAN_FIELD = f"lr kl_weight {_NATURAL}"
_CYCLES = "n_draws cycles cycle_steps lr temperature weight_decay batch_size"
ENTRIES = {
    "sgd": _SGD,
    # eta: in the first steps on the digits |g|^2 is about 0.5 and its largest entry 0.05, so that
    # f = 1 + eta g^2 reaches 50
    "fisher_sam": _SGD.flat(partial(FisherSAM, eta=1000.0), at_zero="sgd"),
    "swa": _tail(SWA, "snapshots"),
    "swag_diag": _tail(SWAGDiagonal, "snapshots"),
    "swag": _tail(SWAG, "rank snapshots"),
    "mfvi": Entry(
        MeanFieldVI, plain=Tuned(settings_of(MeanFieldVI, f"first_std prior_std {_MEAN_FIELD}"))
    ),
    "moped": Entry(
        MeanFieldVI,
        plain=Tuned(settings_of(MeanFieldVI, f"{_MEAN_FIELD}", moped=0.1, prior_std=0.3)),
    ),
    "vi": _VI,
    "vi_t": replace(
        _VI.over_temperature(tour=(0.003, 0.01, 0.02, 0.05, 0.1), lab=(0.003, 0.01, 0.1)),
        fit_grid=_VI.fit_grid,
    ),
    "sam_mu": _in_mode(
        "sam_mu",
        plain=Tuned(_PLAIN, 0.1, 1.0, tour=(0.0, 0.05, 0.1, 0.2, 0.5), lab=(0.0, 0.05, 0.2)),
        batchnorm=Tuned(
            _BATCHNORM, 0.1, 0.2, tour=(0.0, 0.02, 0.05, 0.1, 0.2), lab=(0.0, 0.02, 0.1)
        ),
    ),
    "sabma": _SABMA,
    "sabma_t": _SABMA.over_temperature(lab=(0.01, 0.03, 0.1)),
    "rank1_pinv": _in_mode("rank1_pinv", Tuned(_PLAIN, 1.0, 5.0), _OTHER),
    "authors_code": _in_mode("authors_code", Tuned(_PLAIN, 0.5, 2.0), _OTHER),
    "bsam": Entry(
        BSAM,
        plain=Tuned(settings_of(BSAM, "steps lr weight_decay batch_size"), 0.01, 0.1),
        gradients=2,
    ),
    "ivon": Entry(
        IVON, plain=Tuned(settings_of(IVON, "steps lr weight_decay temperature batch_size"))
    ),
    # the prediction for which its curvature is exact
    "laplace": Entry(
        Laplace,
        plain=Tuned(settings_of(Laplace, f"lr {_DESCENT} structure prior_precision")),
        linearised=True,
    ),
    "sgld": _chain(SGLD),
    "sghmc": _chain(SGHMC, "friction"),
    "psgld": _chain(PSGLD),
    "sgnht": _chain(SGNHT, "friction"),
    "hmc": Entry(
        HMC,
        plain=Tuned(settings_of(HMC, "n_draws chains burn_in thin kl_weight weight_decay")),
        needs_prior=True,
    ),
    "csgld": Entry(CSGLD, plain=Tuned(settings_of(CSGLD, _CYCLES))),
    # the momentum multiplies the step by ten
    "csghmc": Entry(CSGLD, plain=Tuned(settings_of(CSGLD, _CYCLES, lr=0.01, friction=0.1))),
    "emcmc": _chain(EMCMC, "eta"),
    "svgd": Entry(
        SVGD,
        plain=Tuned(
            settings_of(SVGD, "n_draws steps lr momentum temperature weight_decay batch_size")
        ),
    ),
    "ptl": Entry(
        PTL,
        fit=ptl_of,
        inner="csgld",
        plain=Tuned(settings_of(PTL, "scale floor")),
        needs_prior=True,
    ),
    "dropout": Entry(Dropout, plain=Tuned(settings_of(Dropout, f"rate n_draws lr {_DESCENT}"))),
    "ensemble": Entry(Ensemble, plain=Tuned(settings_of(Ensemble, f"members lr {_DESCENT}"))),
    "multiswag": Entry(
        Multi, fit=multi_of, inner="swag", plain=Tuned(settings_of(Multi, f"members lr {_DESCENT}"))
    ),
}
METHODS = table(ROWS, ENTRIES)
