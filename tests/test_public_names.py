"""The public contract: names, how they load, and what their docstrings must say."""

import ast
import doctest
import importlib
import inspect
import re
import subprocess
import sys
from pathlib import Path

import torch
from cases import refused, text_of
from every_verb import SCORES, public_names
from forked import forked
from pytest import mark, raises
from torch import equal, nn, randn

import flatviz as fv

ROOT = Path(__file__).resolve().parent.parent / "flatviz"


def test_no_module_has_the_name_of_a_verb_of_its_namespace():
    """Once imported it would stand in the verb's place: fv.metrics.predict would be a module."""
    rooms = [name for name in fv.__all__ if inspect.ismodule(getattr(fv, name))]
    methods = {method.cls.__name__ for method in fv.METHODS.values()}
    others = set(fv.__all__) - methods - set(rooms)
    assert len(others) <= 65  # few names at the top beside the class of each method
    for room in rooms:
        files = {p.stem for p in (ROOT / room).glob("*.py")}
        # Where it loads at once it replaces the module
        for name in files & set(vars(getattr(fv, room)).get("__all__", ())):
            importlib.import_module(f"flatviz.{room}.{name}")
            assert not inspect.ismodule(getattr(getattr(fv, room), name)), (room, name)


@mark.parametrize("stub", sorted(ROOT.rglob("*.pyi")), ids=lambda p: p.parent.name)
def test_each_name_of_a_stub_is_what_its_line_says(stub):
    package = importlib.import_module(".".join(stub.parent.relative_to(ROOT.parent).parts))
    for line in ast.parse(text_of(stub)).body:
        if isinstance(line, ast.ImportFrom):
            for alias in line.names:
                home = f"{package.__name__}.{line.module or alias.name}"
                there = importlib.import_module(home)
                want = getattr(there, alias.name) if line.module else there
                assert alias.asname == alias.name  # else type checkers hide it
                assert getattr(package, alias.name) is want
    assert {line.level for line in ast.parse(text_of(stub)).body if hasattr(line, "level")} == {1}


@mark.long
def test_a_type_checker_sees_arguments_results_and_mistakes(tmp_path):
    script = tmp_path / "use.py"
    script.write_text(
        "import torch\nimport flatviz as fv\nnet = fv.Net.from_module(torch.nn.Linear(2, 3))\ndata"
        " = fv.Data(torch.randn(12, 2), torch.arange(12) % 3)\nreveal_type(fv.fit(net, data,"
        " fv.SGD(), seed=0, steps=2))\nfv.fit(net, data, fv.SGD(), seed=0, stepz=2)\nfv.fit(net,"
        " data, fv.SWAG(), seed='a')\nreveal_type(fv.nll(net,"
        " data))\nreveal_type(fv.plot_surface)\nreveal_type(fv.METHODS['vi'])\n"
    )
    how = [
        "--follow-imports=silent",
        "--ignore-missing-imports",
        f"--cache-dir={tmp_path}",
        str(script),
    ]
    ran = subprocess.run(
        [sys.executable, "-m", "mypy", *how], capture_output=True, text=True, cwd=ROOT.parent
    )
    said = ran.stdout
    for expected in (
        'use.py:5: note: Revealed type is "flatviz.weight_space.Draws"',
        'use.py:6: error: Unexpected keyword argument "stepz" for "fit"; did you mean "steps"?',
        ('use.py:7: error: Argument "seed" to "fit" has incompatible type "str"; expected "int"'),
        'MeanNLL"',
        'use.py:10: note: Revealed type is "flatviz.posteriors.entries.Entry"',
        "-> flatviz.plots.theme.Figure",
    ):
        assert expected in said, said


def test_every_method_of_the_table_has_a_public_class():
    public = public_names().values()
    hidden = {name for name, method in fv.METHODS.items() if method.cls not in public}
    assert not hidden, "name its class in flatviz/posteriors/__init__.pyi and flatviz/__init__.pyi"


def test_a_name_that_is_not_there_is_an_attribute_error():
    for space, name in ((fv, "nothing"), (fv.metrics, "nothing"), (fv, "accuracy")):
        with refused(f"module '{space.__name__}' has no attribute '{name}'", AttributeError):
            getattr(space, name)
    for space, name, advice in (
        (fv, "plot_reliability", ": it is flatviz.plots.plot_reliability"),
        (fv.plots, "plot_reliabilty", ": did you mean 'plot_reliability'?"),
    ):
        with raises(AttributeError, match=re.escape(f"'{name}'{advice}")):
            getattr(space, name)


def test_plot_draws_what_the_function_of_the_type_draws(quadratic):
    f, _, c = quadratic
    plane = fv.plane_through(c, *torch.eye(len(c))[:2])
    surface = fv.slice_plane(f, plane, resolution=5)
    spectrum = fv.top_eigenpairs(f, c, 2)
    curve = fv.slice_line(f, c, c + 1)
    drawn = (
        (surface, fv.plot_surface),
        (curve, fv.plot_curve),
        (spectrum, fv.plot_spectrum),
        ([spectrum] * 2, fv.plot_spectrum),
    )
    for result, draw in drawn:
        found = fv.plot(result, title="a").to_json()
        assert found == draw(result, title="a").to_json()
    found = fv.plot({"vi": fv.sharpness(f, c[None], k=2)}).data[0].name
    assert found == "VI"
    for wrong in (3, [surface], {}, {"vi": curve}):
        with refused("(plot takes|must be) .*, got ", TypeError):
            fv.plot(wrong)


def test_a_score_by_name_is_the_function_of_that_name():
    prediction = fv.Prediction(randn(3, 20, 4), torch.arange(20) % 4)
    for name in SCORES:
        assert equal(fv.score(prediction, name), getattr(fv.metrics, name)(prediction))
        found = fv.score(prediction, name, n_draws=2)
        want = getattr(fv.metrics, name)(prediction, n_draws=2)
        assert equal(found, want)
    with refused(f"measure must be one of {str(SCORES)[1:-1]}, got 'f1'"):
        fv.score(prediction, "f1")


def test_help_shows_types_without_the_checks_in_them():
    for name, value in DESCRIBED.items():
        # An exception has no signature
        if inspect.isfunction(value) or inspect.isclass(value) and value is not fv.Diverged:
            text = str(inspect.signature(value))
            assert not re.search(r"Annotated\[|<function", text), f"help({name}) shows {text}"
            # Postponed
            assert not (inspect.isfunction(value) and re.search(r": '|-> '", text)), (
                f"help({name}) shows {text}"
            )


def test_randomness_is_keyword_only_everywhere():
    for name, value in public_names().items():
        seed = (
            inspect.signature(value).parameters.get("seed") if inspect.isfunction(value) else None
        )
        assert seed is None or seed.kind is seed.KEYWORD_ONLY or name == "top_eigenpairs", name


def computes() -> int:
    """With plotly, torchvision, scikit-learn, ipywidgets, anywidget, loss-landscapes, tqdm, sympy
    absent."""
    absent = (
        "plotly torchvision sklearn scipy sympy ipywidgets anywidget loss_landscapes tqdm traitlets"
        " IPython jupytext"
    )
    late = "torch.fx.experimental.symbolic_shapes"  # torch's own module that needs sympy
    loaded = {name: name.partition(".")[0] for name in sys.modules}
    for name in [name for name, root in loaded.items() if root == "flatviz"]:
        del sys.modules[name]
    # importing any of these raises ModuleNotFoundError, also where this process has them already
    sys.modules |= dict.fromkeys(
        [*absent.split(), late, *(n for n, root in loaded.items() if root in absent.split())]
    )
    import flatviz as fv

    torch.set_num_threads(1)
    x = randn(20, 4)
    data = fv.Data(x, (x[:, 0] > 0).long())
    module = nn.Sequential(nn.Linear(4, 8), nn.LayerNorm(8), nn.ReLU(), nn.Linear(8, 2))
    source = fv.pretrain(module, data, seed=0, epochs=2)
    swag = fv.fit(source, data, fv.SWAG(rank=2, snapshots=3), seed=0)
    net, prior = fv.transfer(
        source,
        swag,
        treated="norm+head",
        head_std=0.1,
        scale=4,
    )
    q = fv.fit(net, data, fv.SABMA(prior, radius=0.5), seed=0, steps=4)
    f = fv.nll(net, data)
    plane = fv.plane_pca(q.sample(5, seed=0))
    surface = fv.slice_plane(f, plane, resolution=5, progress=True)
    fv.top_eigenpairs(f, q.center, 2)
    fv.project(q.sample(5, seed=0), surface.plane)
    fv.predict(net, q, data, 3, seed=0)
    with refused("sklearn", ImportError):
        fv.datasets.digits_transfer(shots=1, seed=0)
    return 0


def test_a_machine_with_nothing_but_torch_imports_flatviz_and_computes(tmp_path):
    child = forked(computes, tmp_path / "out", tmp_path / "errors")
    child.join(300)
    assert child.exitcode == 0, (tmp_path / "errors").read_text()


def test_importing_flatviz_loads_nothing_heavy():
    program = (
        "import sys, flatviz; print([m for m in ('torch', 'plotly', 'sklearn', 'ipywidgets') if m"
        " in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


FILES = sorted(p for p in ROOT.rglob("*.py") if ">>> " in p.read_text(encoding="utf-8"))
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


@mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_examples_run_and_print_what_they_say(path, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)  # an example that saves a file leaves none behind
    module = importlib.import_module(
        ".".join(path.relative_to(ROOT.parent).with_suffix("").parts).removesuffix(".__init__")
    )
    with torch.random.fork_rng():
        torch.default_generator.manual_seed(0)
        result = doctest.testmod(module, optionflags=FLAGS, extraglobs={"fv": fv, "torch": torch})
    assert result.attempted
    assert not result.failed


DESCRIBED = public_names() | {
    f"{room}.{n}": getattr(getattr(fv, room), n)
    for room in ("datasets", "models")
    for n in dir(getattr(fv, room))
}
SILENT = ("METHODS", "datasets.public_images")  # a table; it downloads


@mark.parametrize("name, value", DESCRIBED.items())
def test_every_public_name_describes_its_arguments_and_shows_an_example(name, value):
    text = inspect.getdoc(value)
    if name not in SILENT and (inspect.isfunction(value) or name in fv.__all__):
        assert ">>> " in text, f"help(fv.{name}) shows no example"
    if inspect.isfunction(value):
        described = re.search(r"^Args:\n((?:    .*\n)+)", text + "\n", flags=re.M)
        described = (
            set(re.findall(r"^    \**(\w+): ", described[1], flags=re.M)) if described else set()
        )
        arguments = set(inspect.signature(value).parameters)
        assert arguments == described, (
            f"{name}: arguments without a text {arguments - described}, texts without an argument"
            f" {described - arguments}"
        )
