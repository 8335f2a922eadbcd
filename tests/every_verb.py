"""One small valid call of every public verb, for tests that hold for all of them."""

import copy
import inspect
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from pathlib import Path
from types import SimpleNamespace

import loss_landscapes.metrics
import torch
from internals import Fitting
from torch import arange

import flatviz
from flatviz import families, landscape, plots, symmetry
from flatviz.bridges.loss_landscapes import run_random_plane
from flatviz.catalog import NO_UNIT
from flatviz.metrics.scores import SCORES

SMALL_COUNTS = dict(
    steps=6,
    n_draws=6,
    chains=2,
    burn_in=2,
    thin=1,
    cycles=3,
    cycle_steps=4,
    noisy_share=0.5,
    snapshots=3,
    rank=2,
    members=3,
)
OF_A_PREDICTION = (
    *SCORES,
    "reliability",
    "disagreement",
    "predictive_entropy",
    "aleatoric_entropy",
    "mutual_information",
)
OF_A_REGRESSION = (
    "coverage",
    "crps",
    "fit_deviation",
    "interval_width",
    "pit",
    "predictive_std",
    "quantile_calibration_error",
)
OF_ONE = {  # a verb of one thing: the name under which an earlier call keeps it
    **{f"metrics.{name}": "prediction" for name in OF_A_PREDICTION},
    **{
        "plot_metrics": "prediction",
        "plots.plot_reliability": "prediction",
        "plots.plot_basin": "surface",
    },
    **{
        "plot_density": "density",
        "plot_curve": "curve",
        "plot_projection": "projection",
        "plot_spectrum": "spectrum",
    },
    **{
        "plots.plot_radius": "measured",
    },
    "plots.plot_frontier": "measured",
}
FAMILY = dict(
    radii={"sgd": (0.0,), "vi": (0.0,), "vi_t": (0.01, 0.1), "sabma": (0.0, 0.5)}, fit={"steps": 2}
)
SMALL = dict(n_draws=3, n_spectra=2, k=2, resolution=3, around_resolution=3)


def _regression():
    return flatviz.Prediction(torch.zeros(2, 3, 1), arange(3.0)[:, None], 0.5)


def _three(made, data):
    return made.net[0], data, made.net[1]


def _ended(lab):
    """Its worker is at its end, and computes no longer beside the verbs that come next."""
    lab.close()
    lab.wait(60)


def _if_there(callback):
    """Make a callback; None where its trainer is not installed."""
    with suppress(ImportError):
        return callback()


@dataclass(frozen=True)
class TaskWithPath(flatviz.Task):
    path: Path | None = None


def users_things(path, last=torch.nn.Linear, device="cpu"):
    """(module, data, task, metric) that `calls` takes: small, with BatchNorm, on the device; files
    go to `path`."""
    nn = torch.nn
    module = nn.Sequential(
        nn.Linear(3, 6), nn.BatchNorm1d(6), nn.ReLU(), nn.Linear(6, 3), nn.LayerNorm(3), last(3, 2)
    )
    module(torch.randn(8, 3))  # BatchNorm statistics that are not the initial ones
    for layer in (module[1], module[4]):
        nn.init.normal_(layer.bias)  # loss-landscapes divides by its norm
    x = torch.randn(20, 3)
    data = flatviz.Data(x, (x[:, 0] > 0).long()).to(device)
    task = TaskWithPath(data, data, data, n_classes=2, path=path)
    return (
        module.to(device),
        data,
        task,
        loss_landscapes.metrics.Loss(nn.CrossEntropyLoss(), data.x, data.y),
    )


def _easy(data):
    """The same inputs, many times, with labels that a network learns."""
    return flatviz.Data(
        data.x.repeat(10, *[1] * (data.x.ndim - 1)), (data.x.flatten(1)[:, 0] > 0).long().repeat(10)
    )


def _moved(module):
    """A copy at other weights."""
    other = copy.deepcopy(module)
    with torch.no_grad():
        for p in other.parameters():
            p.add_(0.1)
    return other


def public_names():
    """Name below `flatviz` -> value, of every public name: those of the top, and those of each
    namespace that are not there."""
    rooms = {
        name: value for name in flatviz.__all__ if inspect.ismodule(value := getattr(flatviz, name))
    }
    top = {name: getattr(flatviz, name) for name in flatviz.__all__ if name not in rooms}
    lazy = {name: room for name, room in rooms.items() if name not in ("datasets", "models")}
    inside = {
        f"{room}.{n}": getattr(module, n)
        for room, module in lazy.items()
        for n in getattr(module, "__all__", ())
    }
    return top | {
        name: value for name, value in inside.items() if not any(value is v for v in top.values())
    }


def public_fits():
    """Public name of a fit -> the last record of `METHODS` that is fitted by it."""
    names = {value: name for name, value in public_names().items() if inspect.isfunction(value)}
    methods = {
        names.get(getattr(method.fit, "func", method.fit)): method
        for method in flatviz.METHODS.values()
    }
    return {name: method for name, method in methods.items() if name is not None}


def least(method):
    """Keywords of a method's fit with which it runs in a second or two: its settings, their counts
    those of `SMALL_COUNTS`."""
    taken = {
        name: value
        for name, value in SMALL_COUNTS.items()
        if name in inspect.signature(method.fit).parameters
    }
    inner = {} if method.inner is None else {"settings": least(flatviz.METHODS[method.inner])}
    radius = (
        {}
        if method.unit == NO_UNIT or method.ascent is not None
        else {"radius": method.plain.radius}
    )
    return {**method.plain.settings, **radius, **taken, **inner}


def calls(fv, module, data, task, metrics):
    """name -> call, for every public verb of the namespace `fv`; later calls use what earlier ones
    returned."""
    made = SimpleNamespace()
    pictures = _images()
    late = _late()

    def keep(name, value):
        setattr(made, name, value)
        return value

    def of_one(verb, noun):
        return attrgetter(verb)(fv)(getattr(made, noun))

    def fit(name, method):
        given = _three(made, data)[: 3 if method.needs_prior else 2]
        return attrgetter(name)(fv)(
            *given, seed=0, **getattr(method.fit, "keywords", {}), **least(method)
        )

    small = dict(seed=0, steps=2)
    return {
        "pretrain": lambda: keep("source", fv.pretrain(module, data, seed=0, epochs=1)),
        "record_path": lambda: fv.record_path(module, most=2),
        "fit_swag": lambda: keep(
            "swag", fv.fit_swag(made.source, data, seed=0, rank=2, snapshots=3)
        ),
        "transfer": lambda: keep(
            "net", fv.transfer(made.source, made.swag, treated="norm+head", head_std=0.1, scale=2.0)
        ),
        **{
            name: partial(fit, name, method)
            for name, method in public_fits().items()
            if name != "fit_swag"
        },
        "fit_sgd": lambda: (
            fv.fit_sgd(made.net[0], data, **small),
            fv.fit_sgd(fv.Net.from_module(module), data, **small),
        ),
        "fit_swa": lambda: fv.fit_swa(made.net[0], data, seed=0, snapshots=2, batchnorm="train"),
        "fit_swag_diag": lambda: fv.fit_swag_diag(
            made.net[0], data, seed=0, snapshots=2, ascent=fv.SAM(0.1)
        ),
        "fit_laplace": lambda: keep(
            "laplace", fv.fit_laplace(made.net[0], data, prior_precision=1.0, **small)
        ),
        "posteriors.marginal_noise": lambda: fv.posteriors.marginal_noise(
            made.net[0], fv.Data(data.x, arange(2.0 * len(data)).view(-1, 2).sin().to(data.x))
        ),
        "posteriors.laplace_evidence": lambda: fv.posteriors.laplace_evidence(
            made.net[0], data, prior_precision=1.0
        ),
        "fit_hmc": lambda: keep(
            "hmc",
            fv.fit_hmc(made.net[0], data, seed=0, n_draws=8, chains=2, burn_in=4, most_steps=4),
        ),
        "bridges.huggingface_callback": lambda: _if_there(fv.bridges.huggingface_callback),
        "bridges.lightning_callback": lambda: _if_there(fv.bridges.lightning_callback),
        "bridges.diagnose_chains": lambda: fv.bridges.diagnose_chains(made.hmc),
        "fit_ensemble": lambda: keep(
            "ensemble", fv.fit_ensemble(made.net[0], data, members=2, **small)
        ),
        "posteriors.moped_prior": lambda: fv.posteriors.moped_prior(made.net[0]),
        "fit_sabma": lambda: keep("q", fv.fit_sabma(*_three(made, data), radius=0.5, **small)),
        "fit_sabma_grid": lambda: fv.fit_sabma_grid(
            *_three(made, data), radius=[0.5], seed=[0], steps=2
        ),
        "training.gradient_of": lambda: fv.training.gradient_of(torch.sum),
        "training.training_loss": lambda: fv.training.training_loss(made.net[0], data),
        "perturb": lambda: fv.perturb(
            made.q, (made.q.mean, made.q.mean, made.q.factor), radius=1.0
        ),
        "nll": lambda: keep("f", fv.nll(made.net[0], data)),
        "input_nll": lambda: fv.input_nll(made.net[0], data),
        "landscape.curvature_operator": lambda: landscape.curvature_operator(made.f, made.q.mean),
        "landscape.batch_eigenvalues": lambda: landscape.batch_eigenvalues(
            made.f, made.q.mean, batch_size=10, iters=5
        ),
        "hvp": lambda: fv.hvp(made.f, made.q.mean, made.q.mean),
        "plane_pca": lambda: keep("plane", fv.plane_pca(made.q.sample(4, seed=0))),
        "plane_random": lambda: fv.plane_random(made.net[0], made.q.mean, seed=0),
        "plane_through": lambda: fv.plane_through(*made.q.sample(3, seed=0)),
        "slice_plane": lambda: keep("surface", fv.slice_plane(made.f, made.plane, resolution=3)),
        "slice_line": lambda: fv.slice_line(made.f, *made.q.sample(2, seed=0), resolution=3),
        "project": lambda: keep(
            "projection", fv.project(made.q.sample(4, seed=0), made.plane, made.f)
        ),
        "top_eigenpairs": lambda: keep("spectrum", fv.top_eigenpairs(made.f, made.q.mean, 2)),
        "spectral_density": lambda: keep(
            "density", fv.spectral_density(made.f, made.q.mean, runs=2, steps=3, k=2)
        ),
        "planes.plane_path": lambda: fv.planes.plane_path(made.q.sample(4, seed=0)),
        "plane_along": lambda: fv.plane_along(*made.q.sample(3, seed=0)),
        "plane_eigen": lambda: fv.plane_eigen(made.q.mean, made.density),
        "quantity": lambda: fv.slice_plane(
            fv.quantity(made.net[0], data, "nll", batchnorm=data), made.plane, resolution=3
        ),
        "slice_path": lambda: keep("curve", fv.slice_path(made.f, made.q.sample(3, seed=0))),
        "landscape.persistence": lambda: keep("valleys", landscape.persistence(made.surface)),
        "plots.plot_surface_3d": lambda: plots.plot_surface_3d(made.surface, made.projection),
        "landscape.layer_curvature": lambda: landscape.layer_curvature(
            made.f, made.q.mean, products=6
        ),
        "hessian_trace": lambda: fv.hessian_trace(made.f, made.q.mean, products=8, curvature="ggn"),
        "engine.refresh_batchnorm": lambda: fv.engine.refresh_batchnorm(
            made.net[0], made.q.mean, data
        ),
        "engine.cache_trunk": lambda: fv.engine.cache_trunk(late, pictures[2]),
        "predict": lambda: keep(
            "prediction", fv.predict(made.net[0], made.q, data, 3, seed=0, batchnorm=data)
        ),
        "metrics.agreement": lambda: fv.metrics.agreement(made.prediction, made.prediction),
        "metrics.total_variation": lambda: fv.metrics.total_variation(
            made.prediction, made.prediction
        ),
        "metrics.fit_temperature": lambda: fv.metrics.fit_temperature(
            fv.Prediction(torch.tensor([[[4.0, 0.0]] * 4]), torch.tensor([0, 0, 0, 1]))
        ),
        "metrics.scale_temperature": lambda: fv.metrics.scale_temperature(made.prediction, 2.0),
        **{
            f"metrics.{name}": partial(getattr(fv.metrics, name), _regression())
            for name in OF_A_REGRESSION
        },
        "metrics.scale_deviation": lambda: fv.metrics.scale_deviation(_regression(), 2.0),
        "metrics.ood_scores": lambda: fv.metrics.ood_scores(arange(5.0), arange(2.0, 6.0)),
        "metrics.risk_coverage": lambda: keep("risk", fv.metrics.risk_coverage(made.prediction)),
        "families.shifted_scores": lambda: keep(
            "shift",
            families.shifted_scores(
                *pictures, kinds=["fog"], severities=[1, 3], n_draws=2, seed=0, batchnorm="frozen"
            ),
        ),
        "plots.plot_history": lambda: plots.plot_history(made.q.history),
        "plots.plot_calibration": lambda: plots.plot_calibration(_regression()),
        "plots.plot_severity": lambda: plots.plot_severity({"vi": made.shift}),
        "plots.plot_risk_coverage": lambda: plots.plot_risk_coverage({"vi": made.risk}),
        "plots.plot_predictive": lambda: plots.plot_predictive(
            fv.Prediction(torch.zeros(2, 3, 1), likelihood=0.5)
        ),
        "sharpness": lambda: keep(
            "sharpness", fv.sharpness(made.f, made.q.sample(2, seed=0), iters=5)
        ),
        "plots.plot_sharpness": lambda: plots.plot_sharpness({"vi": made.sharpness}),
        "metrics.pac_bayes_bound": lambda: fv.metrics.pac_bayes_bound(0.1, 2.0, 50),
        "metrics.flat_bound": lambda: fv.metrics.flat_bound(
            0.1, made.q.sample(2, seed=0), made.q.mean, radius=1, prior_std=1, n=9
        ),
        "metrics.weyl_bounds": lambda: fv.metrics.weyl_bounds(
            made.f, made.q.sample(2, seed=0), iters=5
        ),
        "metrics.learning_coefficient": lambda: fv.metrics.learning_coefficient(
            made.f, made.q.mean, made.q.sample(2, seed=0), n=len(data)
        ),
        "metrics.predict_linearised": lambda: fv.metrics.predict_linearised(
            made.net[0], made.laplace, data, link="mc", n_draws=2
        ),
        "plot_surface": lambda: fv.plot_surface(made.surface, made.projection),
        "explore": lambda: [
            fv.explore(getattr(made, name))
            for name in ("surface", "projection", "spectrum", "prediction")
        ],
        "score": lambda: fv.score(made.prediction, "nll"),
        "families.convergence_gap": lambda: families.convergence_gap(
            *_three(made, task), made.q, "vi", seed=0, n_draws=2, fit={"steps": 1}
        ),
        "families.fit_family": lambda: keep(
            "family", families.fit_family(*_three(made, task), seed=0, **FAMILY)
        ),
        "families.measure": lambda: keep(
            "measured", families.measure(made.net[0], task, made.family, seed=0, **SMALL)
        ),
        **{verb: partial(of_one, verb, noun) for verb, noun in OF_ONE.items()},
        "plot": lambda: [
            fv.plot(getattr(made, name))
            for name in ("surface", "curve", "spectrum", "prediction", "measured")
        ],
        "compare": lambda: fv.compare(module, _moved(module), data, resolution=3, k=1),
        "lab": lambda: _ended(
            fv.lab(module, _easy(data), _easy(data), radii={"vi": (0.0,)}, progress=False)
        ),
        "widgets.plot_view": lambda: fv.widgets.plot_view(
            made.measured, "surface", method="vi", n_draws=2
        ),
        "playground": lambda: fv.playground().close(),
        "widgets.Lab": lambda: _ended(
            fv.widgets.Lab(Fitting(*_three(made, task), 0), family=made.measured)
        ),
        "save": lambda: fv.save(made.q, task.path),
        "load": lambda: fv.load(task.path),
        "run_random_plane": lambda: run_random_plane(module, metrics, steps=3),
        **symmetric_calls(fv),
    }


def symmetric_calls(fv):
    """name -> call, for the verbs of `symmetry`, on a network without normalisation."""
    linear = torch.nn.Linear
    net = flatviz.Net.from_module(torch.nn.Sequential(linear(3, 4), torch.nn.ReLU(), linear(4, 2)))
    odd = flatviz.Net.from_module(torch.nn.Sequential(linear(3, 4), torch.nn.Tanh(), linear(4, 2)))
    units = flatviz.symmetry.units_of(net)
    W = net.w.expand(6, -1) * (1 + arange(6.0)[:, None])
    return {
        "symmetry.units_of": lambda: symmetry.units_of(net),
        "symmetry.random_order": lambda: symmetry.random_order(units, 6, seed=0),
        "symmetry.random_factor": lambda: symmetry.random_factor(units, 6, seed=0),
        "symmetry.permute": lambda: symmetry.permute(
            units, W, flatviz.symmetry.random_order(units, 6, seed=0)
        ),
        "symmetry.rescale": lambda: symmetry.rescale(
            units, W, flatviz.symmetry.random_factor(units, 6, seed=0)
        ),
        "symmetry.flip": lambda: symmetry.flip(
            flatviz.symmetry.units_of(odd), odd.w[None], -torch.ones(4)
        ),
        "symmetry.unit_norm": lambda: symmetry.unit_norm(units, W),
        "symmetry.sort_units": lambda: symmetry.sort_units(units, W),
        "symmetry.canonical": lambda: symmetry.canonical(units, W),
        "symmetry.min_mass": lambda: symmetry.min_mass(units, W),
        "symmetry.align": lambda: symmetry.align(units, W, net.w),
        "symmetry.layers_of": lambda: symmetry.layers_of(net),
        "symmetry.mmd": lambda: symmetry.mmd(
            W, {"draws": W[:3]}, layers=flatviz.symmetry.layers_of(net), permutations=3
        ),
        "symmetry.train_pool": lambda: symmetry.train_pool(net, _blobs(), n=3, epochs=2, lr=0.3),
        "symmetry.pair_diversity": lambda: symmetry.pair_diversity(net, W, _blobs().x),
        "symmetry.rescaled_orbit": lambda: symmetry.rescaled_orbit(
            net, _blobs(), W[0], resolution=3
        ),
    }


def _images():
    """(net, posterior, data) of small images."""
    net = flatviz.Net.from_module(torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(64, 2)))
    data = flatviz.Data(torch.linspace(0, 1, 8 * 64).view(8, 1, 8, 8), arange(8) % 2)
    return net, flatviz.Gaussian(net.w, torch.full_like(net.w, -2.0)), data


def _late():
    """A net of small images whose first layer is not treated."""
    module = torch.nn.Sequential(
        torch.nn.Flatten(), torch.nn.Linear(64, 3), torch.nn.Tanh(), torch.nn.Linear(3, 2)
    )
    return flatviz.Net.from_module(module, lambda name: name.startswith("3."))


def _blobs():
    x = torch.linspace(-1, 1, 90).view(30, 3)
    return flatviz.Data(x, (x[:, 0] > 0).long())
