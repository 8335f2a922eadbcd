"""`compare`: two models of one architecture on common ground, and which of them is flatter."""

import html
import time
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from flatviz.checks import Count, Seed, Several
from flatviz.core import (
    Data,
    Likelihood,
    Net,
    Objective,
    Progress,
    copied,
    generator,
    public,
    randn_like,
    track,
)
from flatviz.core.treated import has_dropout
from flatviz.engine.cost import work_of
from flatviz.landscape.slices import slice_path
from flatviz.landscape.spectrum import top_eigenpairs
from flatviz.landscape.trace import hessian_trace
from flatviz.metrics.prediction import predict
from flatviz.objectives.network import MeanNLL, nll
from flatviz.pages.document import score_texts, table_html
from flatviz.planes.plane import filter_normalized
from flatviz.plots.theme import short
from flatviz.results import Curve, Prediction, Spectrum, interval

NAMES = ("A", "B")
STEP = 0.1  # length of the filter-normalised directions along which rises are measured
DIRECTIONS = 8
ITERS = 80  # largest number of products for the eigenpairs
TOLERANCE = 0.01  # their residual over λ1
PRODUCTS = (6, 100)  # smallest and largest number of those for the trace
PASSES = 500  # passes of all examples through a model
WORK = 400_000_000_000  # multiply-adds of all passes
MIN_EXAMPLES = 32  # of the loss
MAX_EXAMPLES = 512
ROUNDING = 1e-5  # error of a loss in float32, and of outputs beside the largest


@dataclass(frozen=True)
class Comparison:
    """Comparison of two models, each quantity a pair: of A, of B.

    path: the loss on the line from A to B.  spectra, traces (value, error): of the Hessian.  rises
    (DIRECTIONS,): (f(w + d) + f(w - d)) / 2 - f(w) along filter-normalised directions of length
    STEP, which a rescaling of whole layers leaves as it is, but not one of units.  training: names
    of the models that came in training mode, with a layer that is another function there.
    """

    path: Curve
    spectra: Sequence[Spectrum]
    traces: Sequence[tuple[float, float]]
    rises: Sequence[Tensor]
    predictions: Sequence[Prediction]
    training: Sequence[str] = ()

    @property
    def sentence(self) -> str:
        """One sentence on which model is flatter, also after filter normalisation."""
        if not self.training:
            return self._verdict
        came = " and ".join(self.training)
        return f"In evaluation mode ({came} came in training mode): {self._verdict}"

    @property
    def _lambdas(self) -> list[float]:
        """Largest eigenvalue of each."""
        return [float(spectrum.values[0]) for spectrum in self.spectra]

    @property
    def _verdict(self) -> str:
        errors = [float(spectrum.residual[0]) for spectrum in self.spectra]
        of_a, of_b = self._lambdas
        both = f"λ1 is {short(of_a)} of A and {short(of_b)} of B"
        if abs(of_a - of_b) <= sum(errors):
            return f"Neither is flatter: {both}, which its error explains."
        if self._one_function:
            n = self.predictions[0].outputs.shape[1]
            return (
                f"Neither is flatter: on these {n} examples A and B are one function to rounding,"
                f" and {both} by the scales of their weights alone."
            )
        flat, sharp = (0, 1) if of_a < of_b else (1, 0)
        least, largest = self._lambdas[flat], self._lambdas[sharp]
        times = f"{short(largest / least)} times " if least > 0 else ""
        return (
            f"{NAMES[flat]} is flatter: its λ1 is {short(least)}, {times}less than the"
            f" {short(largest)} of {NAMES[sharp]}, {self._normalised(flat, sharp)}."
        )

    @property
    def _losses(self) -> Tensor:
        """Mean losses of both, (2,), the ends of the path."""
        return self.path.values[[0, -1]]

    @property
    def _one_function(self) -> bool:
        """Whether the outputs of both are equal to rounding."""
        first, second = [p.outputs for p in self.predictions]
        largest_change = (first - second).abs().max()
        return bool(largest_change <= ROUNDING * self._largest_output)

    @property
    def _largest_output(self) -> float:
        return max(float(p.outputs.abs().max()) for p in self.predictions)

    def _normalised(self, flat: int, sharp: int) -> str:
        """Say whether the difference survives filter normalisation."""
        differences = self.rises[sharp] - self.rises[flat]
        gain, half = interval(differences.double())
        rounding = ROUNDING * (self._largest_output + float(self._losses.abs().max()))
        half = max(half, rounding)
        unchanged = [name for name, rise in zip(NAMES, self.rises) if not rise.any()]
        if unchanged:
            return (
                f"which filter normalisation cannot check: the weights of {' and '.join(unchanged)}"
                " are 0"
            )
        if gain > half:
            return "also after filter normalisation"
        if -gain > half:
            return f"but after filter normalisation {NAMES[sharp]} is flatter"
        return "but not clearly after filter normalisation"

    @property
    def rows(self) -> list[dict[str, str]]:
        """Return the numbers of both as rows of a table."""
        first, second = [score_texts(p) for p in self.predictions]
        del first["draws"]
        rows = {
            "λ1": [short(value) for value in self._lambdas],
            "trace": [f"{short(value)} ± {short(error)}" for value, error in self.traces],
            "rise, filter-normalised": [short(float(rise.mean())) for rise in self.rises],
            "loss": [short(loss) for loss in self._losses.tolist()],
            **{name: [text, second[name]] for name, text in first.items()},
            "barrier between": [short(float(self.path.barrier)), ""],
        }
        return [{"": name, "A": of_a, "B": of_b} for name, (of_a, of_b) in rows.items()]

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(self.sentence)}</p>{table_html(self.rows)}"


@public
def compare(
    a: Net | nn.Module,
    b: Net | nn.Module,
    data: Data,
    *,
    examples: Count | None = None,
    resolution: Several = 9,
    likelihood: Likelihood = "categorical",
    seed: Seed = 0,
    progress: Progress = False,
) -> Comparison:
    """Compare two models of one architecture, such as two checkpoints of a training.

    Curvature, scores and the path between them in one table, and one sentence.

    Models whose outputs agree to rounding are one function, whatever the scales of their
    weights: neither is flatter.  Both are compared in evaluation mode.  On the path
    between them buffers, as BatchNorm's statistics, are interpolated as the weights are, so
    that each model keeps its buffers at its weights.  Curvature is of the mean NLL over all
    weights.  `.sentence` says which is flatter,
    `.rows` has the numbers; the last value of a cell shows both.

    Args:
        a: A network.
        b: Another of the same layers.
        data: Labelled examples (N, ...): all for the scores, some of them,
            evenly spaced, for the loss.
        examples: How many of them the loss is of; None: 512, and fewer for a network whose passes
            are large, 32 at the least.
        resolution: Points on the path between them.
        likelihood: As in `fv.nll`.
        seed: Fixes the directions and the test vectors of the trace.
        progress: True, None (where a terminal watches) or a function.

    Raises:
        ValueError: For two architectures, and for two models with the same weights.

    Source: filter normalisation: Li et al. 2018.

    Example:
        >>> data = fv.Data(torch.randn(20, 2), torch.arange(20) % 3)
        >>> a, b = torch.nn.Linear(2, 3), torch.nn.Linear(2, 3)
        >>> two = fv.compare(a, b, data, resolution=5)
        >>> two.path.values.shape, "flatter" in two.sentence
        (torch.Size([5]), True)
    """
    nets = [_whole(module, data) for module in (a, b)]
    layers = [[(block.name, block.shape) for block in net.blocks] for net in nets]
    if layers[0] != layers[1]:
        raise ValueError(
            f"a and b must have the same layers, got {nets[0]!r} and {nets[1]!r}: compare what"
            " fv.predict gives"
        )
    if torch.equal(nets[0].w, nets[1].w):
        raise ValueError(
            "a and b must have different weights, got twice the same: give another checkpoint"
        )
    macs = macs_of(nets[0], data)
    index = spaced(len(data), examples or examples_of(macs))
    some = data.subset(index)
    affordable = WORK // (PASSES * macs * len(some))
    fewest, most = PRODUCTS
    products = min(max(fewest, affordable), most)
    objectives = [nll(net, some, likelihood=likelihood) for net in nets]
    ends = torch.stack([net.w for net in nets])
    directions = randn_like(ends[0], generator(seed), DIRECTIONS, nets[0].dim)
    f = _between(nets, objectives[0])
    t = torch.linspace(0, 1, resolution).to(ends)
    points = torch.lerp(ends[0], ends[1], t[:, None])
    path = slice_path(f, points, t=t, x_label="t", name="from A to B")
    spectra = []
    traces = []
    rises = []
    for g, net in track(list(zip(objectives, nets)), "curvature", progress):
        w = net.w
        spectrum = top_eigenpairs(
            g,
            w,
            1,
            iters=ITERS,
            tol=TOLERANCE,
            seed=seed,
        )
        spectra.append(spectrum)
        traces.append(hessian_trace(g, w, products=products, seed=seed))
        normalized = [filter_normalized(net, direction, w) for direction in directions]
        steps = STEP * torch.stack(normalized)
        both_sides = g.many(w + steps) + g.many(w - steps)
        rises.append(both_sides / 2 - g(w).detach())
    predictions = []
    for net in nets:
        prediction = predict(
            net,
            net.w[None],
            data,
            1,
            seed=seed,
            batchnorm="frozen",
            likelihood=likelihood,
        )
        predictions.append(prediction)
    return Comparison(
        path=path,
        spectra=spectra,
        traces=traces,
        rises=rises,
        predictions=predictions,
        training=_in_training_mode(a, b),
    )


def _in_training_mode(*models: Net | nn.Module) -> list[str]:
    """Return the names of the models that have a layer which is another function as they came."""
    came = []
    for name, model in zip(NAMES, models):
        layers = model.modules() if isinstance(model, nn.Module) else ()
        if any(layer.training and _has_modes(layer) for layer in layers):
            came.append(name)
    return came


def _has_modes(layer: nn.Module) -> bool:
    """Tell whether a layer may be another function in training mode: dropout, or with buffers."""
    return has_dropout(layer) or bool(list(layer.buffers(recurse=False)))


def _between(nets: list[Net], f: MeanNLL) -> Objective:
    """Return the loss between two nets, which interpolates their buffers where they differ."""
    first, second = [net.buffers() for net in nets]
    alike = all(torch.equal(value, second[name]) for name, value in first.items())
    return f if alike else Between(nets, f)


def examples_of(macs: int) -> int:
    """Return the number of examples of the loss, for `macs` multiply-adds an example."""
    return max(MIN_EXAMPLES, min(MAX_EXAMPLES, WORK // (PASSES * macs)))


def macs_of(net: Net, data: Data) -> int:
    """Return the multiply-adds of an example, 1 at the least."""
    return max(work_of(net, data.x).macs, 1)


def duration(module: nn.Module, data: Data) -> float:
    """Seconds that a comparison of two such modules takes, about, at the speed of one pass now."""
    macs = macs_of(_whole(module, data), data)
    some = data.x[: min(8, len(data))]
    with torch.no_grad():
        module(some)
        start = time.perf_counter()
        module(some)
    each = (time.perf_counter() - start) / len(some)
    n_loss = min(examples_of(macs), len(data))
    return each * (PASSES * n_loss + 2 * len(data))


def spaced(n: int, most: int) -> Tensor:
    """At most `most` of the numbers below n, evenly spaced: all classes of a sorted folder."""
    evenly = torch.linspace(0, n - 1, min(n, most))
    return evenly.round().long()


class Between(Objective):
    """Loss at any weights, with buffers interpolated along the line from one net to the other.

    Buffers that are no floating-point numbers are those of the nearer net.
    """

    label = MeanNLL.label
    batchnorm = "interpolated between both"

    def __init__(self, nets: list[Net], f: MeanNLL) -> None:
        self._start = nets[0].w
        self._line = nets[1].w - nets[0].w
        self._f = f
        self._ends = [net.buffers() for net in nets]
        self.net = self._net = nets[0]
        self.dim = nets[0].dim
        self.n = f.n
        self.work = f.work

    def __call__(self, w: Tensor) -> Tensor:
        """Compute the mean NLL at `w` (D,), ()."""
        squared_length = self._line @ self._line
        along = (w - self._start) @ self._line / squared_length
        t = float(along.clamp(0, 1))
        first, second = self._ends
        buffers = dict(second if t > 0.5 else first)
        for name, value in first.items():
            if value.is_floating_point():
                buffers[name] = torch.lerp(value, second[name], t)
        net = self._net.with_buffers(buffers)
        x, y = self._f.data.batch(None)
        return self._f.likelihood.nll(net(w, x), y)


def _whole(module: Net | nn.Module, data: Data) -> Net:
    """Build a net of all weights of a model, which is not changed."""
    module = module.to_module() if isinstance(module, Net) else copied(module)
    example = data.x[:2]
    return Net.from_module(module.eval(), "all", example=example)
