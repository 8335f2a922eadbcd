"""One small valid call of every public verb, for tests that hold for all of them."""

from functools import partial
from pathlib import Path

import torch

import flatviz
from flatviz.bridges.loss_landscapes import metric_objective, run_linear_interpolation, run_random_plane

CHAIN = dict(seed=0, n_draws=2, burn_in=1, thin=1)
CYCLES = dict(n_draws=2, cycles=2, cycle_steps=3)
FAMILY = dict(radii={"sgd": (0.0,), "vi": (0.0,), "sabma": (0.0, 0.5)}, fit={"steps": 2})
SMALL = dict(n_draws=3, n_spectra=2, k=2, resolution=3, around_resolution=3)


def _three(made, data):
    return made["net"][0], data, made["net"][1]


class TaskWithPath(flatviz.Task):
    path = None


def _easy(data):
    """The same inputs, many times, with labels that a network learns."""
    return flatviz.Data(data.x.repeat(10, *[1] * (data.x.ndim - 1)), (data.x.flatten(1)[:, 0] > 0).long().repeat(10))


def calls(fv, module, data, task, metrics):
    """name -> call, for every public verb of the namespace `fv`; later calls use what earlier ones returned."""
    made, pictures, late = {}, _images(), _late()

    def keep(name, value):
        made[name] = value
        return value

    small = dict(seed=0, steps=2)
    return {
        "pretrain": lambda: keep("source", fv.pretrain(module, data, seed=0, epochs=1)),
        "record_path": lambda: fv.record_path(module, most=2, memory=0.0),
        "fit_swag": lambda: keep("swag", fv.fit_swag(made["source"], data, seed=0, rank=2, snapshots=3)),
        "transfer": lambda: keep(
            "net", fv.transfer(made["source"], made["swag"], treated="norm+head", head_std=0.1, scale=2.0)
        ),
        "fit_sgd": lambda: (fv.fit_sgd(made["net"][0], data, **small), fv.fit_sgd(fv.Net.from_module(module), data, **small)),
        "fit_swa": lambda: fv.fit_swa(made["net"][0], data, seed=0, snapshots=2, batchnorm="train"),
        "fit_swag_diag": lambda: fv.fit_swag_diag(made["net"][0], data, seed=0, snapshots=2, ascent=fv.SAM(0.1)),
        "fit_mfvi": lambda: fv.fit_mfvi(made["net"][0], data, **small),
        "fit_bsam": lambda: fv.fit_bsam(made["net"][0], data, **small),
        "fit_laplace": lambda: keep("laplace", fv.fit_laplace(made["net"][0], data, prior_precision=1.0, **small)),
        "laplace_evidence": lambda: fv.laplace_evidence(made["net"][0], data, prior_precision=1.0),
        "laplace_precision": lambda: fv.laplace_precision(made["net"][0], data, structure="lowrank", rank=2, validation=data),
        "fit_sgld": lambda: fv.fit_sgld(made["net"][0], data, chains=2, **CHAIN),
        "fit_sghmc": lambda: fv.fit_sghmc(made["net"][0], data, **CHAIN),
        "fit_emcmc": lambda: fv.fit_emcmc(made["net"][0], data, **CHAIN),
        "fit_hmc": lambda: keep("hmc", fv.fit_hmc(made["net"][0], data, seed=0, n_draws=8, chains=2, burn_in=4, most_steps=4)),
        "diagnose_chains": lambda: fv.diagnose_chains(made["hmc"]),
        "to_arviz": lambda: keep("inference", fv.to_arviz(made["hmc"])),
        "from_arviz": lambda: fv.from_arviz(made["inference"]),
        "fit_csgld": lambda: fv.fit_csgld(made["net"][0], data, seed=0, **CYCLES),
        "fit_ptl": lambda: fv.fit_ptl(*_three(made, data), fit=partial(fv.fit_csgld, **CYCLES), seed=0),
        "fit_dropout": lambda: fv.fit_dropout(made["net"][0], data, n_draws=2, **small),
        "fit_ensemble": lambda: keep("ensemble", fv.fit_ensemble(made["net"][0], data, members=2, **small)),
        "fit_multi": lambda: fv.fit_multi(made["net"][0], data, fit=partial(fv.fit_sgd, steps=2), members=2, **small),
        "moped_prior": lambda: fv.moped_prior(made["net"][0]),
        "fit_vi": lambda: fv.fit_vi(*_three(made, data), **small),
        "fit_sabma": lambda: keep("q", fv.fit_sabma(*_three(made, data), radius=0.5, **small)),
        "fit_sabma_grid": lambda: fv.fit_sabma_grid(*_three(made, data), radii=[0.0, 0.5], seeds=[0], steps=2),
        "perturb": lambda: fv.perturb(made["q"], (made["q"].mean, made["q"].mean, made["q"].factor), radius=1.0),
        "nll": lambda: keep("f", fv.nll(made["net"][0], data)),
        "hvp": lambda: fv.hvp(made["f"], made["q"].mean, made["q"].mean),
        "plane_pca": lambda: keep("plane", fv.plane_pca(made["q"].sample(4, seed=0))),
        "plane_random": lambda: fv.plane_random(made["net"][0], made["q"].mean, seed=0),
        "plane_through": lambda: fv.plane_through(*made["q"].sample(3, seed=0)),
        "slice_plane": lambda: keep("surface", fv.slice_plane(made["f"], made["plane"], resolution=3)),
        "slice_line": lambda: fv.slice_line(made["f"], *made["q"].sample(2, seed=0), resolution=3),
        "project": lambda: keep("projection", fv.project(made["q"].sample(4, seed=0), made["plane"], made["f"])),
        "top_eigenpairs": lambda: keep("spectrum", fv.top_eigenpairs(made["f"], made["q"].mean, 2)),
        "spectral_density": lambda: keep("density", fv.spectral_density(made["f"], made["q"].mean, runs=2, steps=3, k=2)),
        "plane_path": lambda: fv.plane_path(made["q"].sample(4, seed=0)),
        "plane_along": lambda: fv.plane_along(*made["q"].sample(3, seed=0)),
        "plane_gradient": lambda: fv.plane_gradient(made["f"], made["q"].mean),
        "plane_eigen": lambda: fv.plane_eigen(made["q"].mean, made["density"]),
        "quantity": lambda: fv.slice_plane(
            fv.quantity(made["net"][0], data, "nll", batchnorm=data), made["plane"], resolution=3
        ),
        "bma_nll": lambda: fv.slice_plane(
            fv.bma_nll(made["net"][0], data, made["q"].sample(2, seed=0)), made["plane"], resolution=2
        ),
        "slice_path": lambda: keep("curve", fv.slice_path(made["f"], made["q"].sample(3, seed=0))),
        "connect": lambda: keep("connected", fv.connect(made["f"], *made["q"].sample(2, seed=0), steps=2, resolution=3)),
        "points_on": lambda: fv.points_on(made["connected"], torch.ones(2)),
        "map_curvature": lambda: fv.map_curvature(made["f"], made["plane"], resolution=2, iters=3),
        "persistence": lambda: keep("valleys", fv.persistence(made["surface"])),
        "plot_basin": lambda: fv.plot_basin(made["surface"]),
        "plot_surface_3d": lambda: fv.plot_surface_3d(made["surface"], made["projection"]),
        "plot_density": lambda: fv.plot_density(made["density"]),
        "plot_curve": lambda: fv.plot_curve(made["curve"]),
        "plot_persistence": lambda: fv.plot_persistence(made["valleys"]),
        "animate_projection": lambda: fv.animate_projection(made["surface"], made["projection"]),
        "explain": lambda: fv.explain(made["surface"]),
        "to_xarray": lambda: keep("dataset", fv.to_xarray(made["surface"])),
        "from_xarray": lambda: fv.from_xarray(made["dataset"]),
        "save_figure": lambda: fv.save_figure(fv.plot_surface(made["surface"]), Path(task.path).with_suffix(".html")),
        "hessian_trace": lambda: fv.hessian_trace(made["f"], made["q"].mean, products=8, curvature="ggn"),
        "refresh_batchnorm": lambda: fv.refresh_batchnorm(made["net"][0], made["q"].mean, data),
        "cache_trunk": lambda: fv.cache_trunk(late, pictures[2]),
        "predict": lambda: keep("prediction", fv.predict(made["net"][0], made["q"], data, 3, seed=0, batchnorm=data)),
        "agreement": lambda: fv.agreement(made["prediction"], made["prediction"]),
        "total_variation": lambda: fv.total_variation(made["prediction"], made["prediction"]),
        "accuracy": lambda: fv.accuracy(made["prediction"]),
        "nll_score": lambda: fv.nll_score(made["prediction"]),
        "brier": lambda: fv.brier(made["prediction"]),
        "ace": lambda: fv.ace(made["prediction"]),
        "predictive_entropy": lambda: fv.predictive_entropy(made["prediction"]),
        "aleatoric_entropy": lambda: fv.aleatoric_entropy(made["prediction"]),
        "mutual_information": lambda: fv.mutual_information(made["prediction"]),
        "disagreement": lambda: fv.disagreement(made["prediction"]),
        "label_information": lambda: fv.label_information(made["prediction"]),
        "ood_scores": lambda: fv.ood_scores(torch.arange(5.0), torch.arange(2.0, 6.0)),
        "risk_coverage": lambda: keep("risk", fv.risk_coverage(made["prediction"])),
        "shifted_scores": lambda: keep(
            "shift",
            fv.shifted_scores(*pictures, kinds=["fog"], severities=[1, 3], n_draws=2, seed=0, batchnorm="frozen"),
        ),
        "plot_severity": lambda: fv.plot_severity({"vi": made["shift"]}),
        "plot_risk_coverage": lambda: fv.plot_risk_coverage({"vi": made["risk"]}),
        "fit_temperature": lambda: fv.fit_temperature(made["prediction"]),
        "scale_temperature": lambda: fv.scale_temperature(made["prediction"], 2.0),
        "sharpness": lambda: keep("sharpness", fv.sharpness(made["f"], made["q"].sample(2, seed=0), iters=5)),
        "plot_flatness": lambda: fv.plot_flatness({"vi": made["sharpness"]}),
        "weyl_bounds": lambda: fv.weyl_bounds(made["f"], made["q"].sample(2, seed=0), iters=5),
        "predict_linearised": lambda: fv.predict_linearised(made["net"][0], made["laplace"], data, link="mc", n_draws=2),
        "plot_closeness": lambda: fv.plot_closeness({"VI": {"vi": {"tv": (0.2, 0.1)}}}),
        "plot_gains": lambda: fv.plot_gains({"vi": {"2 shots": {"nll": (0.1, 0.02)}}}),
        "ece": lambda: fv.ece(made["prediction"]),
        "reliability": lambda: fv.reliability(made["prediction"]),
        "plot_surface": lambda: fv.plot_surface(made["surface"], made["projection"]),
        "plot_projection": lambda: fv.plot_projection(made["projection"]),
        "plot_spectrum": lambda: fv.plot_spectrum(made["spectrum"]),
        "plot_metrics": lambda: fv.plot_metrics(made["prediction"]),
        "plot_reliability": lambda: fv.plot_reliability(made["prediction"]),
        "explore_surface": lambda: fv.explore_surface(made["surface"], made["projection"]),
        "explore_spectrum": lambda: fv.explore_spectrum(made["spectrum"]),
        "explore_draws": lambda: (fv.explore_draws(made["projection"]), fv.explore_draws(made["prediction"])),
        "explore_path": lambda: fv.explore_path(made["surface"], made["projection"], steps=range(4)),
        "explore_calibration": lambda: fv.explore_calibration(made["prediction"]),
        "convergence_gap": lambda: fv.convergence_gap(
            *_three(made, task), made["q"], "vi", seed=0, n_draws=2, fit={"steps": 1}
        ),
        "fit_family": lambda: keep("family", fv.fit_family(*_three(made, task), seed=0, **FAMILY)),
        "measure": lambda: keep("measured", fv.measure(made["net"][0], task, made["family"], seed=0, **SMALL)),
        "mechanism": lambda: keep(
            "step", fv.mechanism(made["net"][0], data, made["q"], radii=[0.5, 1.0], seed=0, n_draws=2, resolution=3)
        ),
        "mechanism_in_training": lambda: fv.mechanism_in_training(
            made["net"][0], data, made["q"], radius=0.5, seed=0, at=[0, 2], settings={"steps": 2}, n_draws=2, resolution=3
        ),
        "plot_mechanism": lambda: fv.plot_mechanism(made["step"]),
        "gap_regression": lambda: fv.gap_regression(n=4),
        "predict_gap": lambda: keep("gap", fv.predict_gap(radii=[0.5], n_draws=2, steps=2, hmc=False)),
        "plot_predictive": lambda: fv.plot_predictive(fv.gap_regression()[1], made["gap"]),
        "repeat_family": lambda: fv.repeat_family(
            made["net"][0], task, made["net"][1], made["measured"], seeds=[1], fit=FAMILY["fit"]
        ),
        "plot_flatness_against_radius": lambda: fv.plot_flatness_against_radius(made["measured"]),
        "lab": lambda: fv.lab(module, _easy(data), _easy(data), trials=1, radii={"vi": (0.0,)}, progress=False).close(),
        "plot_view": lambda: fv.plot_view(made["measured"], "surface", method="vi", n_draws=2),
        "playground": lambda: fv.playground().close(),
        "FlatnessLab": lambda: fv.FlatnessLab(*_three(made, task), family=made["measured"]).stop(),
        "save": lambda: fv.save(made["q"], task.path),
        "load": lambda: fv.load(task.path),
        "metric_objective": lambda: metric_objective(flatviz.Net.from_module(module), metrics)(
            flatviz.Net.from_module(module).w
        ),
        "run_random_plane": lambda: run_random_plane(module, metrics, steps=3),
        "run_linear_interpolation": lambda: run_linear_interpolation(module, made["source"], metrics, steps=3),
        **symmetric_calls(fv),
    }


def symmetric_calls(fv):
    """name -> call, for the verbs of `symmetry`, on a network without normalisation."""
    linear = torch.nn.Linear
    net = flatviz.Net.from_module(torch.nn.Sequential(linear(3, 4), torch.nn.ReLU(), linear(4, 2)))
    odd = flatviz.Net.from_module(torch.nn.Sequential(linear(3, 4), torch.nn.Tanh(), linear(4, 2)))
    units, W = flatviz.units_of(net), net.w.expand(6, -1) * (1 + torch.arange(6.0)[:, None])
    return {
        "units_of": lambda: fv.units_of(net),
        "random_order": lambda: fv.random_order(units, 6, seed=0),
        "random_factor": lambda: fv.random_factor(units, 6, seed=0),
        "permute": lambda: fv.permute(units, W, flatviz.random_order(units, 6, seed=0)),
        "rescale": lambda: fv.rescale(units, W, flatviz.random_factor(units, 6, seed=0)),
        "flip": lambda: fv.flip(flatviz.units_of(odd), odd.w[None], -torch.ones(4)),
        "unit_norm": lambda: fv.unit_norm(units, W),
        "sort_units": lambda: fv.sort_units(units, W),
        "canonical": lambda: fv.canonical(units, W),
        "min_mass": lambda: fv.min_mass(units, W),
        "align": lambda: fv.align(units, W, net.w),
        "layers_of": lambda: fv.layers_of(net),
        "mmd": lambda: fv.mmd(W, {"draws": W[:3]}, layers=flatviz.layers_of(net), resamples=3, permutations=3),
        "train_pool": lambda: fv.train_pool(net, _blobs(), n=3, epochs=2, lr=0.3),
        "pair_diversity": lambda: fv.pair_diversity(net, W, _blobs().x),
        "flatness": lambda: fv.flatness(net, flatviz.nll(net, _blobs()), W[:2], probes=2, iters=5),
        "rescaled_orbit": lambda: fv.rescaled_orbit(net, _blobs(), W[0], resolution=3),
        "plot_orbit": lambda: fv.plot_orbit(torch.arange(-1.0, 2), {"trace": torch.ones(3)}, torch.zeros(3)),
        "explore_symmetry": lambda: fv.explore_symmetry(net, _blobs(), W[1]),
    }


def _images():
    """(net, posterior, data) of small images."""
    net = flatviz.Net.from_module(torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(64, 2)))
    data = flatviz.Data(torch.linspace(0, 1, 8 * 64).view(8, 1, 8, 8), torch.arange(8) % 2)
    return net, flatviz.Gaussian(net.w, torch.full_like(net.w, -2.0)), data


def _late():
    """A net of small images whose first layer is not treated."""
    module = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(64, 3), torch.nn.Tanh(), torch.nn.Linear(3, 2))
    return flatviz.Net.from_module(module, lambda name: name.startswith("3."))


def _blobs():
    x = torch.linspace(-1, 1, 90).view(30, 3)
    return flatviz.Data(x, (x[:, 0] > 0).long())
