"""One small valid call of every public verb, for tests that hold for all of them."""

import ast
import copy
import inspect
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from pathlib import Path

import torch
from cases import around, mlp
from torch import arange, linspace, randn

import flatviz
from flatviz import families, landscape, symmetry
from flatviz.catalog import NO_UNIT
from flatviz.families import Fitting
from flatviz.metrics.scores import SCORES as BY_NAME

SCORES = list(BY_NAME)
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
    "recall",
    "energy",
    "max_logit",
)
OF_ONE = {  # a verb of one thing: the name under which an earlier call keeps it
    **{f"metrics.{name}": "prediction" for name in OF_A_PREDICTION},
    "plot_metrics": "prediction",
    "plots.plot_reliability": "prediction",
    "plots.plot_basin": "surface",
    "plot_density": "density",
    "plot_curve": "curve",
    "plot_projection": "projection",
    "plot_spectrum": "spectrum",
    "plots.plot_radius": "measured",
    "plots.plot_frontier": "measured",
}
FAMILY = dict(
    radii={"sgd": (0.0,), "vi": (0.0,), "vi_t": (0.01, 0.1), "sabma": (0.0, 0.5)}, fit={"steps": 2}
)
SMALL = dict(n_draws=3, n_spectra=2, k=2, resolution=3, around_resolution=3)


def ended(lab):
    """Its worker is at its end, and computes no longer beside the verbs that come next."""
    lab.close()
    lab.wait(60)


def if_there(callback):
    """Make a callback; None where its trainer is not installed."""
    with suppress(ImportError):
        return callback()


@dataclass(frozen=True)
class TaskWithPath(flatviz.Task):
    path: Path | None = None


def users_things(path, last=torch.nn.Linear, device="cpu"):
    """(module, data, task) that `calls` takes: small, with BatchNorm, on the device; files
    go to `path`."""
    nn = torch.nn
    layers = nn.Linear(3, 6), nn.BatchNorm1d(6), nn.ReLU(), nn.Linear(6, 3), nn.LayerNorm(3)
    module = nn.Sequential(*layers, last(3, 2))
    module(randn(8, 3))  # BatchNorm statistics that are not the initial ones
    for layer in (module[1], module[4]):
        nn.init.normal_(layer.bias)  # loss-landscapes divides by its norm
    x = randn(20, 3)
    data = flatviz.Data(x, (x[:, 0] > 0).long()).to(device)
    task = TaskWithPath(data, data, data, n_classes=2, path=path)
    return module.to(device), data, task


def easy(data):
    """The same inputs, many times, with labels that a network learns."""
    y = (data.x[:, 0] > 0).long()
    return flatviz.Data(data.x.repeat(10, 1), y.repeat(10))


def moved(module):
    """A copy at other weights."""
    other = copy.deepcopy(module)
    with torch.no_grad():
        for p in other.parameters():
            p.add_(0.1)
    return other


# They compute with weight matrices, predictions and results alone, and have tests of their own
WITHOUT_A_NETWORK = """symmetry.random_order symmetry.random_factor symmetry.permute
symmetry.rescale symmetry.flip symmetry.unit_norm symmetry.sort_units symmetry.canonical
symmetry.min_mass symmetry.align metrics.fit_temperature metrics.scale_temperature
metrics.scale_deviation metrics.ood_scores metrics.auroc metrics.pac_bayes_bound metrics.flat_bound
metrics.agreement metrics.total_variation metrics.coverage metrics.crps metrics.fit_deviation
metrics.interval_width metrics.pit metrics.predictive_std metrics.quantile_calibration_error
plots.plot_calibration plots.plot_severity plots.plot_history
plots.plot_predictive plots.plot_risk_coverage plots.plot_sharpness plots.plot_surface_3d""".split()


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


def one_of_each_class():
    """Class of a method -> an entry of `METHODS` that is fitted by it."""
    return {method.cls.__name__: method for method in flatviz.METHODS.values()}


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


def script(fv, module, data, task, pictures, late, plain, line):
    """A call of each verb, a statement each, as a user would write them."""
    source = fv.pretrain(module, data, seed=0, epochs=1)
    fv.record_path(module, most=2)
    swag = fv.fit(source, data, fv.SWAG(rank=2, snapshots=3), seed=0)
    net, prior = fv.transfer(
        source,
        swag,
        treated="norm+head",
        head_std=0.1,
        scale=2.0,
    )
    fv.fit(net, data, fv.SGD(), seed=0, steps=2)
    fv.fit(fv.Net.from_module(module), data, fv.SGD(), seed=0, steps=2)
    fv.fit(net, data, fv.SWA(snapshots=2), seed=0, batchnorm="train")
    fv.fit(net, data, fv.SWAGDiagonal(snapshots=2, ascent=fv.SAM(0.1)), seed=0)
    laplace = fv.fit(net, data, fv.Laplace(prior_precision=1.0), seed=0, steps=2)
    fv.posteriors.marginal_noise(net, fv.Data(data.x, data.x[:, :2]))
    fv.posteriors.laplace_evidence(net, data, prior_precision=1.0)
    hmc = fv.fit(
        net,
        data,
        fv.HMC(n_draws=8, chains=2, burn_in=4, most_steps=4),
        seed=0,
    )
    fv.bridges.diagnose_chains(hmc)
    fv.posteriors.moped_prior(net)
    q = fv.fit(net, data, fv.SABMA(prior, radius=0.5), seed=0, steps=2)
    fv.fit_many(net, data, [fv.SABMA(prior, radius=0.5)], seeds=[0, 1], steps=2)
    fv.training.gradient_of(torch.sum)
    fv.training.training_loss(net, data)
    w = q.mean
    W = q.sample(4, seed=0)
    fv.perturb(q, (w, w, q.factor), radius=1.0)
    f = fv.nll(net, data)
    fv.input_nll(net, data)
    landscape.curvature_operator(f, w)
    landscape.batch_eigenvalues(f, w, batch_size=10, iters=5)
    landscape.layer_curvature(f, w, products=6)
    fv.expect(w, w)
    fv.hvp(f, w, w)
    fv.hessian_trace(f, w, products=8, curvature="ggn")
    spectrum = fv.top_eigenpairs(f, w, 2)
    density = fv.spectral_density(f, w, runs=2, steps=3, k=2)
    plane = fv.plane_pca(W)
    fv.plane_random(net, w, seed=0)
    fv.plane_through(*W[:3])
    fv.plane_along(*W[:3])
    fv.plane_eigen(w, density)
    fv.planes.plane_path(W)
    surface = fv.slice_plane(f, plane, resolution=3)
    score = fv.quantity(net, data, "nll", batchnorm=data)
    fv.slice_plane(score, plane, resolution=3)
    fv.slice_line(f, *W[:2], resolution=3)
    curve = fv.slice_path(f, W[:3])
    projection = fv.project(W, plane, f)
    fv.engine.refresh_batchnorm(net, w, data)
    prediction = fv.predict(net, q, data, 3, seed=0, batchnorm=data)
    fv.score(prediction, "nll")
    fv.metrics.risk_coverage(prediction)
    shifted = dict(
        kinds=["fog"],
        severities=[1, 3],
        n_draws=2,
        seed=0,
        batchnorm="frozen",
    )
    families.shifted_scores(*pictures, **shifted)
    fv.sharpness(f, W[:2], iters=5)
    fv.metrics.weyl_bounds(f, W[:2], iters=5)
    fv.metrics.learning_coefficient(f, w, W[:2], n=len(data))
    fv.metrics.predict_linearised(net, laplace, data, link="mc", n_draws=2)
    families.convergence_gap(
        net,
        task,
        prior,
        q,
        "vi",
        seed=0,
        n_draws=2,
        fit={"steps": 1},
    )
    family = families.fit_family(net, task, prior, seed=0, **FAMILY)
    measured = families.measure(net, task, family, seed=0, **SMALL)
    fv.plot_surface(surface, projection)
    [fv.plot(each) for each in (surface, curve, spectrum, prediction, measured)]
    [fv.explore(each) for each in (surface, projection, spectrum, prediction)]
    fv.compare(module, moved(module), data, resolution=3)
    ended(fv.lab(module, easy(data), easy(data), radii={"vi": (0.0,)}, progress=False))
    fv.widgets.plot_view(measured, "surface", method="vi", n_draws=2)
    fv.playground().close()
    ended(fv.widgets.Lab(Fitting(net, task, prior, 0), family=measured))
    fv.save(q, task.path)
    fv.load(task.path)
    images = pictures[2]
    fv.datasets.moons_transfer(shots=2, noise=0.1, seed=0)
    fv.datasets.few_shot(images, 1, seed=0)
    fv.datasets.pick_classes(images, [1, 0])
    fv.datasets.images_like(fv.Data((255 * images.x).byte(), images.y), (3, 4, 4))
    fv.datasets.corrupt(images, "fog", 1, seed=0)
    fv.datasets.data_from((images.x, images.y))
    fv.datasets.stream(list(zip(images.x, images.y)), workers=0)
    shots = fv.datasets.transfer_task(images, images, shots=1, seed=0)
    fv.models.mlp(shots, hidden=(4,), seed=0)
    fv.models.convnet(shots, channels=(2, 2), seed=0)
    fv.models.learned_noise(module, noise=0.5)
    symmetry.units_of(plain)
    symmetry.layers_of(plain)
    symmetry.mmd(W, {"draws": W[:3]}, permutations=3)
    symmetry.train_pool(plain, line, n=3, epochs=2, lr=0.3)
    symmetry.pair_diversity(plain, plain.w.expand(6, -1), line.x)
    symmetry.rescaled_orbit(plain, line, plain.w, resolution=3)
    return locals()


def verb_of(statement):
    """The name of what a statement calls first, without `fv.`."""
    called = [ast.unparse(c.func) for c in ast.walk(statement) if isinstance(c, ast.Call)]
    dotted = [name for name in called if "." in name and "(" not in name]
    name = [*dotted, *called, ast.unparse(statement)][0].removeprefix("fv.")
    if name != "fit":
        return name
    classes = [n.removeprefix("fv.") for n in called if n[:3] == "fv." and n[3].isupper()]
    return f"fit of {[n for n in classes if '.' not in n and n != 'SAM'][0]}"


def perform(statement, space):
    """The value of an expression or assignment, whose names go to the space."""
    value = eval(compile(ast.Expression(statement.value), __file__, "eval"), space)
    if isinstance(statement, ast.Assign):
        names = ast.unparse(statement.targets[0]).strip("()").split(", ")
        space.update(zip(names, value if len(names) > 1 else [value]))
    return value


def calls(fv, module, data, task):
    """name -> call, for every public verb of the namespace `fv`; later calls use what earlier ones
    returned."""
    given = dict(
        fv=fv,
        module=module,
        data=data,
        task=task,
        pictures=_images(),
    )
    space = (
        globals()
        | given
        | dict(
            late=_late(),
            plain=_plain(),
            line=_line(),
        )
    )
    (function,) = ast.parse(inspect.getsource(script)).body
    found = {}
    for statement in function.body[1:-1]:
        name = verb_of(statement)
        found[f"{name} again" if name in found else name] = partial(perform, statement, space)
    found["fit"] = found["fit of SGD"]

    def fit(method):
        three = space["net"], data, space["prior"]
        given = three[: 3 if method.needs_prior else 2]
        return method.fit(*given, seed=0, **least(method))

    def of_one(verb, noun):
        return attrgetter(verb)(fv)(space[noun])

    fits = {f"fit of {name}": partial(fit, m) for name, m in one_of_each_class().items()}
    drawn = {verb: partial(of_one, verb, noun) for verb, noun in OF_ONE.items()}
    return found | {name: call for name, call in fits.items() if name not in found} | drawn


def _images():
    """(net, posterior, data) of small images."""
    net = flatviz.Net.from_module(torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(64, 2)))
    x = linspace(0, 1, 8 * 64).view(8, 1, 8, 8)
    return net, around(net, -2.0), flatviz.Data(x, arange(8) % 2)


def _late():
    """A net of small images whose first layer is not treated."""
    module = torch.nn.Sequential(torch.nn.Flatten(), *mlp(64, 3, 2))
    return flatviz.Net.from_module(module, lambda name: name.startswith("3."))


def _plain():
    """A net without normalisation."""
    return flatviz.Net.from_module(mlp(3, 4, 2, act=torch.nn.ReLU))


def _line():
    x = linspace(-1, 1, 90).view(30, 3)
    return flatviz.Data(x, (x[:, 0] > 0).long())
