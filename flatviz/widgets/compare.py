"""`compare`: two models of one architecture on common ground, and which of them is flatter."""

import html
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from IPython.display import HTML, display
from torch import Tensor, nn
from torch.nn.modules.dropout import _DropoutNd

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
from flatviz.engine.cost import work_of
from flatviz.landscape.krylov import Krylov, Operator
from flatviz.landscape.search import largest
from flatviz.landscape.slices import project, slice_path, slice_plane
from flatviz.landscape.topology import persistence
from flatviz.landscape.trace import beyond_basis, hessian_trace
from flatviz.metrics.prediction import predict
from flatviz.objectives.network import MeanNLL, nll
from flatviz.pages.document import Script, document, score_texts, table_html
from flatviz.pages.page import plotlyjs
from flatviz.planes.plane import filter_normalized, plane_through
from flatviz.plots.curvature import plot_spectrum
from flatviz.plots.landscape import plot_curve
from flatviz.plots.surfaces import plot_surface, plot_surface_3d
from flatviz.plots.theme import Figure, short
from flatviz.results import Curve, Prediction, Projection, Spectrum, Surface, for_readers, interval
from flatviz.storage.files import write_text

NAMES = ("A", "B")
STEP = 0.1  # length of the filter-normalised directions along which rises are measured
DIRECTIONS = 8
ITERS = 80  # largest number of products for the eigenpairs
TOLERANCE = 0.01  # their residual over λ1
VECTORS = 4  # smallest number of test vectors of the trace
MAX_VECTORS = 100
PASSES = 500  # passes of all examples through a model
WORK = 400_000_000_000  # multiply-adds of all passes
MIN_EXAMPLES = 32  # of the loss
MAX_EXAMPLES = 512
ROUNDING = 1e-5  # error of a loss in float32, and of outputs beside the largest
GRID = (  # figures of a page
    "display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 520px), 1fr))"
)
DRAW = (
    'const figures = JSON.parse(document.getElementById("figures").textContent);'
    " figures.forEach((figure, i) => Plotly.newPlot(`figure-${i}`, figure.data, figure.layout,"
    " {responsive: true}));"
)


@dataclass(frozen=True)
class Comparison:
    """Comparison of two models, each quantity a pair: of A, of B.

    surface, points, path: the loss on a plane through both, where they are, and on the line
    between.  spectra, traces (value, error): of the Hessian.  rises (DIRECTIONS,): (f(w + d) +
    f(w - d)) / 2 - f(w) along filter-normalised directions of length STEP, which a rescaling of
    whole layers leaves as it is, but not one of units.  smad: mean height of a saddle above the
    minimum that it ends, over the valleys of the surface; 0 for one valley.  note: in which mode
    the models are, where it is not that they came in.
    """

    surface: Surface
    points: Projection
    path: Curve
    spectra: Sequence[Spectrum]
    traces: Sequence[tuple[float, float]]
    rises: Sequence[Tensor]
    smad: float
    predictions: Sequence[Prediction]
    note: str = ""

    @property
    def sentence(self) -> str:
        """One sentence on which model is flatter, also after filter normalisation."""
        lambdas = [float(s.values[0]) for s in self.spectra]
        errors = [float(s.residual[0]) for s in self.spectra]
        if abs(lambdas[0] - lambdas[1]) <= sum(errors):
            return (
                f"Neither is flatter: λ1 is {short(lambdas[0])} of A and {short(lambdas[1])} of B,"
                f" which its error explains.{self.note}"
            )
        outputs = [p.outputs for p in self.predictions]
        size = max(float(out.abs().max()) for out in outputs)
        if float((outputs[0] - outputs[1]).abs().max()) <= ROUNDING * size:
            return (
                f"Neither is flatter: on these {outputs[0].shape[1]} examples A and B are one"
                f" function to rounding. λ1 is {short(lambdas[0])} of A and {short(lambdas[1])} of"
                f" B by the scales of their weights alone.{self.note}"
            )
        flat, sharp = (0, 1) if lambdas[0] < lambdas[1] else (1, 0)
        gain, half = interval((self.rises[sharp] - self.rises[flat]).double())
        half = max(half, ROUNDING * (size + float(self.path.values[[0, -1]].abs().max())))
        around = " and ".join(
            f"{short(float(r.mean()))} around {name}" for name, r in zip(NAMES, self.rises)
        )
        unchanged = [name for name, rise in zip(NAMES, self.rises) if not rise.any()]
        if unchanged:
            says = (
                f"Filter normalisation cannot say more: around {' and '.join(unchanged)},"
                " with weights of 0, its directions leave the loss as it is"
            )
        elif gain > half:
            says = (
                "This survives filter normalisation, which no rescaling of whole layers can change"
            )
        elif -gain > half:
            says = (
                "This does not survive filter normalisation, which no rescaling of whole layers"
                f" can change: there {NAMES[sharp]} is flatter"
            )
        else:
            says = (
                "After filter normalisation, which no rescaling of whole layers can change, the"
                " difference is not clear"
            )
        less = (
            f", {short(lambdas[sharp] / lambdas[flat])} times less than"
            if lambdas[flat] > 0
            else ", less than"
        )
        losses = [short(float(self.path.values[end])) for end in (0, -1)]
        lead = (
            f"{NAMES[flat]} is flatter: its λ1 is {short(lambdas[flat])}{less} the"
            f" {short(lambdas[sharp])} of {NAMES[sharp]}; its mean loss is {losses[flat]}, that of"
            f" {NAMES[sharp]} {losses[sharp]}"
        )
        return f"{lead}. {says} (mean rise of the loss {around}).{self.note}"

    @property
    def rows(self) -> list[dict[str, str]]:
        """Return the numbers of both as rows of a table."""
        scores = [score_texts(p) for p in self.predictions]
        rows = {
            "λ1": [short(float(s.values[0])) for s in self.spectra],
            "trace": [f"{short(v)} ± {short(e)}" for v, e in self.traces],
            "rise, filter-normalised": [short(float(r.mean())) for r in self.rises],
            **{name: [s[name] for s in scores] for name in scores[0] if name != "draws"},
            "barrier between": [short(float(self.path.barrier)), ""],
            "SMAD of the plane": [short(self.smad), ""],
        }
        return [{"": name, **dict(zip(NAMES, both))} for name, both in rows.items()]

    @property
    def figures(self) -> list[Figure]:
        """Draw plane, relief, path and spectra."""
        titles = [f"{name}: λ1 {short(float(s.values[0]))}" for name, s in zip(NAMES, self.spectra)]
        plane = plot_surface(self.surface, self.points, title="Loss on a plane through A and B")
        for name, (x, y) in zip(NAMES, self.points.coords.tolist()):
            white = dict(xanchor="center", yshift=8, font=dict(color="#ffffff", size=16))
            plane.add_text(f"<b>{name}</b>", x=x, y=y, xref="x", yref="y", **white)
        relief = plot_surface_3d(
            self.surface, self.points, title="The same in relief, the loss as height"
        )
        return [
            plane,
            relief.update_traces(showscale=False, selector=dict(type="surface")).update_scenes(
                zaxis_title_text=""
            ),
            plot_curve(self.path, title="Loss from A (t = 0) to B (t = 1)"),
            *(plot_spectrum(s, title=title) for s, title in zip(self.spectra, titles)),
        ]

    @property
    def html(self) -> str:
        """Write one page that loads nothing."""
        figures = [figure.update_layout(width=None, height=None) for figure in self.figures]
        places = [
            f'<div id="figure-{i}" style="height: min(520px, 100vw)" role="img"'
            f' aria-label="{html.escape(f.layout.meta["alt"])}"></div>'
            for i, f in enumerate(figures)
        ]
        data = Script.data("figures", [json.loads(f.to_json()) for f in figures])
        return document(
            "Two models",
            self.sentence,
            [table_html(self.rows), f'<div style="{GRID}">{"".join(places)}</div>'],
            scripts=[Script(plotlyjs().text, kind=""), data, Script(DRAW)],
        )

    def to_html(self, path: str | Path) -> Path:
        """Write that page to a file."""
        return write_text(path, self.html)

    def _ipython_display_(self) -> None:
        display(HTML(f"<p>{html.escape(self.sentence)}</p>{table_html(self.rows)}"))
        for figure in self.figures:
            figure.show()


@public
def compare(
    a: Net | nn.Module,
    b: Net | nn.Module,
    data: Data,
    *,
    examples: Count | None = None,
    resolution: Several = 9,
    k: Count = 2,
    likelihood: Likelihood = "categorical",
    seed: Seed = 0,
    progress: Progress = False,
) -> Comparison:
    """Compare two models of one architecture, such as two checkpoints of a training.

    Planes, path, curvature, scores, and one sentence.

    Models whose outputs agree to rounding are one function, whatever the scales of their
    weights: neither is flatter.  Both are compared in evaluation mode.  On the plane and the
    path between them buffers, as BatchNorm's statistics, are interpolated as the weights are, so
    that each model keeps its buffers at its weights.  Curvature is of the mean NLL over all
    weights.  The last value of a cell shows all of it; `.sentence` says which is flatter,
    `.to_html(path)` writes one page.

    Args:
        a: A network.
        b: Another of the same layers.
        data: Labelled examples (N, ...): all for the scores, some of them,
            evenly spaced, for the loss.
        examples: How many of them the loss is of; None: 512, and fewer for a network whose passes
            are large, 32 at the least.
        resolution: Grid points a side of the plane.
        k: Hessian eigenvalues of each.
        likelihood: As in `fv.nll`.
        seed: Fixes directions and the third point of the plane.
        progress: True, None (where a terminal watches) or a function.

    Raises:
        ValueError: For two architectures, and for two models with the same weights.

    Source: filter normalisation: Li et al. 2018; SMAD, from a merge tree: Landscaper (2025).

    Example:
        >>> data = fv.Data(torch.randn(20, 2), torch.arange(20) % 3)
        >>> a, b = torch.nn.Linear(2, 3), torch.nn.Linear(2, 3)
        >>> two = fv.compare(a, b, data, resolution=5)
        >>> two.surface.values.shape, "flatter" in two.sentence
        (torch.Size([5, 5]), True)
    """
    loose = [name for name, module in zip(NAMES, (a, b)) if _changes_with_mode(module)]
    note = f" Both are in evaluation mode here, not in training mode as {' and '.join(loose)} came."
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
    macs = max(work_of(nets[0], data.x).macs, 1)
    some = data.subset(spaced(len(data), examples or examples_of(macs)))
    vectors = max(VECTORS, min(MAX_VECTORS, WORK // (PASSES * macs * len(some))))
    objectives = [nll(net, some, likelihood=likelihood) for net in nets]
    start, end = [net.w for net in nets]
    first, second = [net.buffers() for net in nets]
    alike = all(torch.equal(value, second[name]) for name, value in first.items())
    f = objectives[0] if alike else Between(nets, objectives[0])
    draws = randn_like(start, generator(seed), DIRECTIONS, nets[0].dim)
    side = filter_normalized(nets[0], draws[0], start)
    side = side if side.any() else draws[0]  # of weights that are all 0
    plane = plane_through(start, end, start + side * ((end - start).norm() / side.norm()))
    surface = slice_plane(f, plane, resolution=resolution, progress=progress)
    t = torch.linspace(0, 1, resolution).to(start)
    path = slice_path(f, torch.lerp(start, end, t[:, None]), t=t, x_label="t", name="from A to B")
    spectra = []
    traces = []
    rises = []
    for g, net in track(list(zip(objectives, nets)), "curvature", progress):
        source = generator(seed)
        operator = Operator(g, net.w)
        run = Krylov(operator, operator.like, max(ITERS, k), source)
        pairs = [
            part[..., :k].to(operator.like)
            for part in largest(run, min(k, net.dim), max(ITERS, k), TOLERANCE)
        ]
        spectrum = Spectrum(
            pairs[0], run.vectors(pairs[1]), pairs[2], run.n_products, n=g.n, batchnorm=g.batchnorm
        )
        spectra.append(for_readers(spectrum))
        exact = vectors >= net.dim
        traces.append(
            hessian_trace(g, net.w, products=max(6, net.dim))
            if exact
            else beyond_basis(run, vectors, source)
        )
        steps = STEP * torch.stack([filter_normalized(net, d, net.w) for d in draws])
        rises.append((g.many(net.w + steps) + g.many(net.w - steps)) / 2 - g(net.w).detach())
    depths = persistence(surface).depth
    finite = depths[depths.isfinite()]
    predictions = [
        predict(net, net.w[None], data, 1, seed=seed, batchnorm="frozen", likelihood=likelihood)
        for net in nets
    ]
    points = project(torch.stack([start, end]), plane, f, name="A and B")
    smad = float(finite.mean()) if len(finite) else 0.0
    return Comparison(
        surface,
        points,
        path,
        spectra,
        traces,
        rises,
        smad,
        predictions,
        note if loose else "",
    )


def examples_of(macs: int) -> int:
    """Return the number of examples of the loss, for `macs` multiply-adds an example."""
    return max(MIN_EXAMPLES, min(MAX_EXAMPLES, WORK // (PASSES * macs)))


def duration(module: nn.Module, data: Data) -> float:
    """Seconds that a comparison of two such modules takes, about, at the speed of one pass now."""
    some = data.x[: min(8, len(data))]
    macs = max(work_of(_whole(module, data), data.x).macs, 1)
    with torch.no_grad():
        module(some)
        start = time.perf_counter()
        module(some)
    each = (time.perf_counter() - start) / len(some)
    return each * (PASSES * min(examples_of(macs), len(data)) + 2 * len(data))


def spaced(n: int, most: int) -> Tensor:
    """At most `most` of the numbers below n, evenly spaced: all classes of a sorted folder."""
    return torch.linspace(0, n - 1, min(n, most)).round().long()


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
        t = float(((w - self._start) @ self._line / (self._line @ self._line)).clamp(0, 1))
        first, second = self._ends
        mixed = {
            name: torch.lerp(v, second[name], t)
            if v.is_floating_point()
            else (v, second[name])[t > 0.5]
            for name, v in first.items()
        }
        x, y = self._f.data.batch(None)
        return self._f.likelihood.nll(self._net.with_buffers(mixed)(w, x), y)


def _changes_with_mode(module: Net | nn.Module) -> bool:
    """Whether it is in training mode, with a layer that is another function there."""
    return isinstance(module, nn.Module) and any(
        m.training and (isinstance(m, _DropoutNd) or any(True for _ in m.buffers(recurse=False)))
        for m in module.modules()
    )


def _whole(module: Net | nn.Module, data: Data) -> Net:
    """Build a net of all weights of a model, which is not changed."""
    module = module.to_module() if isinstance(module, Net) else copied(module)
    return Net.from_module(module.eval(), "all", example=data.x[:2])
