"""The commands: what they print, what they leave, one line for bad input; parameters reach the
notebooks of `flatviz run`."""

import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import jupytext
import nbformat
import pytest
import torch
import torchvision
from browsing import watched
from cases import COARSE, refused, text_of
from forked import forked
from internals import COMMANDS, main, parsed, run_tour
from pagedrive import data_of
from pytest import fixture

import flatviz as fv
from flatviz.cli.commands import check_public_network
from flatviz.cli.run import executed
from flatviz.datasets import digits_transfer
from flatviz.models.public import PublicNet

QUICK = dict(
    radii={"sgd": (0.0,), "vi": (0.0,), "sabma": (0.0, 1.0)}, fit={"steps": 3}, measured=COARSE
)


@fixture
def quick(cache, monkeypatch, tmp_path, request):
    """A tour of a few steps, from the networks that the other tests share."""
    shared = {"mlp": "transferred", "conv": "conv"}

    def prepare(model, *, seed, **others):
        net, prior = request.getfixturevalue(shared[model])
        return net, digits_transfer(shots=10, seed=seed), prior

    monkeypatch.setattr("flatviz.families.tour.prepare", prepare)

    def few_steps(*args, settings, **others):
        return run_tour(*args, settings=replace(settings, **QUICK), **others)

    monkeypatch.setattr("flatviz.cli.tour.run_tour", few_steps)
    monkeypatch.chdir(tmp_path)  # below which a folder is made
    return tmp_path / "out" / "tour.html"


@pytest.mark.long
def test_the_tour_prints_a_table_writes_a_page_reuses_its_steps_and_computes_damaged_ones_again(
    quick, printed
):
    tour = partial(printed, "tour", "--out", quick, "--device", "cpu")
    first = tour().out
    assert "SA-BMA" in first
    assert "accuracy" in first
    assert "reused" not in first
    assert f"folder made: {quick.parent}\n" in first
    lead = next(line for line in first.splitlines() if line.startswith("Here transfer "))
    found = sum(
        line.lstrip().startswith(("logistic regression ", "from scratch "))
        for line in first.splitlines()
    )
    assert found == 2
    # piped: lines in place of bars
    for fit in (
        "SGD: 3 steps",
        "VI: 3 steps",
        "fitting: 3 steps",
        "measuring: 3 steps",
    ):
        assert first.count(f"  {fit}, ") == 1, fit
    assert "eigenvalues" not in first  # a part of measuring
    page = text_of(quick)
    said = r"^convergence of VI: (objective .* after 3 steps, .* above 12 steps; variances .*)$"
    converged = re.search(said, first, flags=re.M)[1]
    assert "tempered by T = 0.03" in first
    assert converged in page
    assert lead in page
    assert ">logistic regression</td>" in page
    assert page.startswith("<!doctype html>")
    assert "BatchNorm frozen" not in str(data_of(page, "flatviz-index"))
    quick.unlink()
    second = tour().out
    assert second.count("reused from") == 6  # five steps as they come, and once at the end
    assert table(first) == table(second)
    assert text_of(quick) == page
    files = sorted((quick.parent.parent / "cache").rglob("*.safetensors"))
    for path in files:
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    third = tour().out
    assert third.count("damaged, so computed again") == len(files) == 5
    assert "reused" not in third
    assert table(first) == table(third)
    other = tour("--seed", 1).out
    assert "reused" not in other
    assert table(other) != table(first)


def test_the_tour_of_the_conv_net_says_what_became_of_its_batchnorm(quick, printed):
    found = len(table(printed("tour", "--out", quick, "--model", "conv", "--device", "cpu").out))
    assert found == 3
    assert "BatchNorm frozen" in str(data_of(text_of(quick), "flatviz-index"))


def table(text):
    return [line for line in text.splitlines() if re.match(r" *(SA-BMA|VI|SGD).* % ", line)]


def until(happened, seconds):
    deadline = time.monotonic() + seconds
    while not happened() and time.monotonic() < deadline:
        time.sleep(0.05)


def test_a_signal_in_the_middle_of_the_work_ends_the_command_cleanly(cache, tmp_path):
    page, out, errors = (tmp_path / name for name in ("tour.html", "out", "errors"))
    command = forked(lambda: main(["tour", "--out", str(page), "--device", "cpu"]), out, errors)
    until(lambda: not command.is_alive() or (out.exists() and "computing" in out.read_text()), 300)
    time.sleep(1)
    # Pressed again where one was lost: Python drops what falls into a destructor
    for _ in range(15):
        os.kill(command.pid, signal.SIGINT)
        command.join(20)
        if not command.is_alive():
            break
    assert command.exitcode == 130, errors.read_text()
    assert "no half-written file" in errors.read_text()
    assert "Traceback" not in errors.read_text()
    assert not [
        p
        for p in tmp_path.rglob("*")
        if p.is_file() and p.suffix != ".safetensors" and p not in (out, errors)
    ]


JUPYTER = """
import pathlib, signal, sys, time
state = pathlib.Path("jpserver-1.json")
def answer(*_):
    time.sleep(1)  # it ends its kernels; who kills it now leaves its file
    state.unlink()
    sys.exit(0)
signal.signal(signal.SIGINT, answer)
state.write_text("running")
time.sleep(60)
"""


def test_a_jupyterlab_py_of_the_current_folder_is_not_run(monkeypatch, tmp_path):
    (tmp_path / "jupyterlab.py").write_text("raise SystemExit(7)")
    monkeypatch.chdir(tmp_path)
    assert main(["lab", "--", "--version"]) == 0


def test_ctrl_c_in_the_lab_is_jupyters_to_answer(monkeypatch, tmp_path):
    (tmp_path / "jupyterlab.py").write_text(JUPYTER)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    out, errors, state = (tmp_path / name for name in ("out", "errors", "jpserver-1.json"))
    command = forked(lambda: (os.setsid(), main(["lab"]))[1], out, errors)
    until(state.exists, 60)
    os.killpg(command.pid, signal.SIGINT)  # what a terminal does
    command.join(30)
    assert command.exitcode == 0
    assert not state.exists()
    assert "cache" not in errors.read_text()


@pytest.mark.parametrize(
    "arguments, text",
    [
        (["tour", "--out", "."], "--out must be a file, got the folder .: add a name"),
        (
            ["tour", "--out", f"{__file__}/tour.html"],
            "--out must lie in a folder that can be written, got",
        ),
        (["tour", "--data", "digitz"], "svhn:ROOT, got 'digitz': did you mean 'digits'?"),
        (
            ["compare", "a.pt"],
            "two files of weights and --data FOLDER must be given, got a.pt: "
            "flatviz compare a.pt b.pt",
        ),
        (
            ["compare", f"{__file__[:-1]}", __file__, "--data", "."],
            "did you mean 'test_commands.py'?",
        ),
        (
            ["tour", "--data", "moons", "--size", "32"],
            "--size must be left out for moons, got 32: folders take it",
        ),
        (["run", "frontier", "-p", "seed=3"], "got 'seed=3': did you mean 'seeds'?"),
        (["docs", "avreaging"], "got 'avreaging': did you mean 'averaging'?"),
        (["run", "nonsense"], "NAME must be one of "),
        (["lab", "--notebook", "none.ipynb"], "the notebook must be one of 00_tour.ipynb, "),
        (["lab", "none"], "the notebook must be one of 00_tour.ipynb, "),
        (["lab", "0"], "the notebook must be one of 00_tour.ipynb, 01_network"),
        (["tour", "--out", "/no/such/tour.html"], "or below the current one, got /no/such"),
    ],
)
def test_bad_input_is_one_line(arguments, text, printed):
    error = printed(*arguments, status=1).err
    assert text in error
    assert len(error.strip().splitlines()) == 1


def test_help_and_wrong_words_are_answered_without_torch():
    """In a process of its own, for here torch is loaded."""
    asked = [["--help"], ["toor"], ["run"], ["run", "frontir"], ["tour", "--data", "digitz"]]
    asked += [["compare", "a.pt"], ["docs", "none"], ["tour", "--device", "gpu"]]
    asked += [["tour", "--data", "image-folder:none"], ["tour", "--per-class", "0"]]
    asked += [["compare", "a.pt", "b.pt", "--data", ".", "--model", "resnet"]]
    asked += [[command, "--help"] for command in COMMANDS]
    code = f"""
import sys
from flatviz.cli import main
for words in {asked}:
    main(words)
    loaded = {{"torch", "numpy", "plotly", "pandas"}} & sys.modules.keys()
    assert not loaded, (words, loaded)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def test_the_doctor_reports_torch_widgets_and_cache_and_names_the_exact_fix(
    printed, tmp_path, monkeypatch
):
    monkeypatch.setenv("FLATVIZ_CACHE", str(tmp_path))
    report = printed("doctor").out
    assert torch.__version__ in report
    assert str(tmp_path) in report
    assert "flatviz tour: ready" in report
    assert "widgets: can be made" in report
    assert not list(tmp_path.iterdir())
    monkeypatch.setenv("FLATVIZ_CACHE", __file__)
    monkeypatch.setitem(sys.modules, "sklearn", None)
    monkeypatch.setitem(sys.modules, "anywidget", None)
    report = printed("doctor", status=1).out
    assert "✗ scikit-learn" in report
    assert 'fix: pip install "scikit-learn"' in report
    assert "cannot run" in report
    assert "not ready" in report
    assert "✗ cache: FLATVIZ_CACHE must be a" in report


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(command, printed):
    text = " ".join(printed(command, "--help").out.split())
    assert text.startswith(f"Usage: flatviz {command}")
    assert f"flatviz {command}" in text.partition("Example")[2]


def test_an_unknown_command_or_option_is_status_2(printed):
    assert "No such command 'toor': did you mean 'tour'?" in printed("toor", status=2).err
    assert "No such option" in printed("tour", "--nonsense", status=2).err


ON_WINDOWS = pytest.param("cp1252", r"\N{BALLOT X}", marks=pytest.mark.long)


@pytest.mark.parametrize("encoding, mark", [("utf-8", "✗"), ON_WINDOWS])
def test_a_broken_torch_leaves_the_doctor_able_to_speak(tmp_path, encoding, mark):
    (tmp_path / "torch.py").write_text("raise OSError('libtorch is broken')")
    path = os.pathsep.join([str(tmp_path), str(Path(fv.__file__).parents[1])])
    env = {**os.environ, "PYTHONPATH": path, "PYTHONIOENCODING": encoding}
    command = [sys.executable, "-m", "flatviz", "doctor"]
    run = subprocess.run(
        command,
        capture_output=True,
        encoding=encoding,
        env=env,
    )
    assert run.returncode == 1 and f"{mark} torch: libtorch is broken" in run.stdout, run.stderr


@pytest.mark.long
def test_a_torch_in_the_current_folder_is_not_run(tmp_path):
    (tmp_path / "torch.py").write_text("print('not this one')")
    env = {**os.environ, "PYTHONPATH": str(Path(fv.__file__).parents[1])}
    command = [sys.executable, "-m", "flatviz", "doctor"]
    run = subprocess.run(
        command,
        capture_output=True,
        text=True,
        env=env,
        cwd=tmp_path,
    )
    assert "not this one" not in run.stdout
    assert "torch" in run.stdout


@pytest.mark.long
def test_two_checkpoints_become_a_table_and_a_sentence_on_which_is_flatter(tmp_path, printed):
    photos = tmp_path / "photos"
    for name, shade in (("cat", 40), ("dog", 200)):
        (photos / name).mkdir(parents=True)
        for i in range(3):
            pixels = (shade + torch.randint(-30, 30, (3, 64, 64))).to(torch.uint8)
            torchvision.io.write_png(pixels, str(photos / name / f"{i}.png"))
    small = torchvision.models.squeezenet1_1
    nets = [small(num_classes=2).eval() for _ in range(2)]
    files = [tmp_path / "a.pt", tmp_path / "b.ckpt"]
    for net, path in zip(nets, files):
        torch.save({"state_dict": net.state_dict()}, path)
    words = "compare", *files, "--data", photos, "--model", "squeezenet1_1"
    report = printed(*words, "--examples", 4).out
    assert "4 images: about" in report.splitlines()[0]
    images = fv.datasets.image_folder(photos).subset(torch.tensor([0, 2, 3, 5]))
    two = fv.compare(*(PublicNet(net, None).eval() for net in nets), images)
    assert two.sentence in report
    assert any(line.split()[:2] == ["λ1", two.rows[0]["A"]] for line in report.splitlines())
    torch.save(small(num_classes=3).state_dict(), files[1])
    assert "must fit the module" in printed(*words, status=1).err


def test_the_names_read_from_torchvisions_files_are_those_that_it_registers():
    for name in torchvision.models.list_models(module=torchvision.models):
        assert check_public_network(name) == name
    with refused("got 'fcn_resnet50'"):
        check_public_network("fcn_resnet50")


TOY = """
# %% [markdown]
# # Toy
#
# Does it run? See [another](other.ipynb).

# %% tags=["parameters"]
RUN = False
SAVE = ""
SEEDS = 2
DEVICE = "cpu"

# %%
import plotly.express as px

if SEEDS > 99:
    raise ValueError(f"seeds must be below 100, got {SEEDS}")
print("run", RUN, "seeds", SEEDS, "device", DEVICE)
if SAVE:
    open(SAVE, "w").write("a table")

# %%
px.line(x=[1, 2, 3], y=[3.5, 1.25, SEEDS])
"""


@fixture
def toy(tmp_path, monkeypatch):
    """A folder of notebooks with one experiment; a place to write to."""
    folder = tmp_path / "notebooks" / "experiments"
    folder.mkdir(parents=True)
    notebook = jupytext.reads(TOY, fmt="py:percent")
    notebook.metadata["kernelspec"] = {
        "name": "python3",
        "display_name": "Python 3",
        "language": "python",
    }
    jupytext.write(notebook, folder / "toy.ipynb")
    monkeypatch.setattr("flatviz.cli.experiments.folder_of_notebooks", lambda: folder.parent)
    out = tmp_path / "out"
    out.mkdir()  # a command makes no folder outside the current one
    return out


def test_parameters_reach_the_notebook_and_its_page_draws_without_network(toy, printed, browser):
    page = toy / "toy.html"
    table = toy / "toy.csv"
    words = "run", "toy", "-p", "seeds=7", "--device", "auto", "--out", page, "--table", table
    assert "run True seeds 7 device auto" in printed(*words).out
    assert table.read_text() == "a table"
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_offline(True)
    seen, foreign, errors = watched(context, "file:")
    seen.goto(page.as_uri())
    seen.wait_for_selector(".js-plotly-plot .main-svg")
    text = seen.inner_text("body")
    # No code
    assert "See another." in text
    assert not seen.locator("a[href$='.ipynb']").count()
    assert "import plotly" not in text
    assert seen.evaluate("[...document.querySelector('.js-plotly-plot')._fullData[0].y]") == [
        3.5,
        1.25,
        7,
    ]
    assert not errors
    assert not foreign
    context.close()


def test_stored_reads_the_table_and_without_a_name_the_experiments_are_listed_with_their_parameters(
    toy, printed
):
    assert "run False seeds 5 device cpu" in printed("run", "toy", "--stored", "--seeds", 5).out
    assert printed("run").out == 'toy: run=False, save="", seeds=2, device="cpu"\n'


@pytest.mark.long
def test_a_run_that_states_more_than_ten_minutes_starts_with_yes_alone(toy, printed):
    path = toy.parent / "notebooks" / "experiments" / "toy.ipynb"
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if "parameters" in cell.metadata.get("tags", ()):
            cell.metadata |= {"minutes": "4 * SEEDS", "on": "two cores"}
    nbformat.write(notebook, path)
    long = "run", "toy", "--seeds", 3
    refused = printed(*long, status=1)
    assert "an estimate of 12 minutes on two cores: add --yes" in refused.err
    assert "run True seeds 3" not in refused.out
    assert "run True seeds 3" in printed(*long, "--yes").out
    assert "about 8 minutes on two cores" in printed("run", "toy").out


@pytest.mark.parametrize(
    "words, text",
    [
        (["toy", "-p", "draws=3"], "NAME one of save, seeds, device for toy, got 'draws=3'"),
        (
            ["toy", "-p", "seeds"],
            "a parameter must be NAME=VALUE with NAME one of save, seeds, device for toy, "
            "got 'seeds'",
        ),
        (["toy", "-p", "seeds=ten"], "seeds must be a number, as its default 2, got 'ten'"),
        (["toi"], "NAME must be one of 'toy', got 'toi': did you mean 'toy'?"),
        (["toy", "-p", "seeds=100"], "toy, cell 3: ValueError: seeds must be below 100, got 100"),
    ],
)
def test_what_is_wrong_is_one_line(toy, words, text, printed):
    assert printed("run", *words, status=1).err.strip().splitlines()[-1].endswith(text)


def test_values_are_numbers_truth_or_text():
    known = dict.fromkeys(("A", "B", "C", "D"), "")
    found = parsed(["a=1", "b=0.5", "c=true", "d=image-folder:/x=y"], known, "toy")
    assert found == {"A": 1, "B": 0.5, "C": True, "D": "image-folder:/x=y"}


@pytest.mark.long
def test_no_module_of_the_current_folder_is_run(tmp_path, monkeypatch):
    (tmp_path / "colorsys.py").write_text("raise SystemExit('code of the current folder')")
    notebook = jupytext.reads("import colorsys\n\nprint(colorsys.__file__)", fmt="py:percent")
    jupytext.write(notebook, tmp_path / "toy.ipynb")
    monkeypatch.chdir(tmp_path)
    executed(tmp_path / "toy.ipynb", {})


@pytest.mark.parametrize(
    ("words", "notebook", "jupyter"),
    [
        ((), "contents.ipynb", []),
        (("03",), "03_curvature.ipynb", []),
        (("--notebook", "03_curvature.ipynb"), "03_curvature.ipynb", []),
        (("03", "--", "--port", "9999"), "03_curvature.ipynb", ["--port", "9999"]),
        (("--", "--port", "9999"), "contents.ipynb", ["--port", "9999"]),
    ],
)
def test_the_lab_opens_the_notebook_that_its_first_word_begins(
    words, notebook, jupyter, monkeypatch, printed
):
    started = []

    class Jupyter:
        def __init__(self, command):
            started.extend(command)

        def wait(self):
            return 0

    monkeypatch.setattr("flatviz.cli.lab.subprocess.Popen", Jupyter)
    printed("lab", *words)
    place = started.index("jupyterlab") + 1
    assert Path(started[place]).name == notebook
    assert started[place + 1 :] == jupyter
