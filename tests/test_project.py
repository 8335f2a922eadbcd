"""The files around the code agree with each other."""

import json
import operator
import re
import runpy
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pandas as pd
import yaml
from cases import text_of
from experiment_notebooks import executed
from internals import COMMANDS, parameters_of, parsed
from PIL import Image
from plotly.io import renderers
from pytest import mark, raises, skip

import flatviz as fv

ROOT = Path(__file__).resolve().parent.parent
SYNC = ROOT / ".ci" / "sync_notebooks.py"
PROJECT = tomllib.loads(text_of(ROOT / "pyproject.toml"))["project"]
ELSEWHERE = {"torch": "pytorch"}  # conda-forge's name of the same package


def block_of(name):
    """The README's text between two comments."""
    readme = text_of(ROOT / "README.md")
    return re.search(rf"<!-- {name} -->\n(.*?)<!-- /{name} -->", readme, flags=re.DOTALL)[1]


def numbers_of(text):
    """Decimal numbers as they are written, without a sign."""
    return re.findall(r"\d+\.\d+", text)


def split(requirement):
    name, bounds = re.fullmatch(r"([A-Za-z0-9_.-]+)(.*)", requirement).groups()
    return ELSEWHERE.get(name, name), bounds


def test_environment_yml_asks_for_what_pyproject_asks_for():
    extras = PROJECT["optional-dependencies"]["lab"]
    wanted = dict(map(split, [*PROJECT["dependencies"], *extras]))
    conda = yaml.safe_load(text_of(ROOT / "environment.yml"))["dependencies"]
    pip = conda.pop()["pip"]
    found = dict(split(r) for r in [*conda, *pip] if not r.startswith("-"))
    assert found.pop("python") == PROJECT["requires-python"]
    assert found.pop("pip") == ""
    assert found == wanted


def test_the_readme_has_its_commands_and_its_pictures_and_links_are_there():
    readme = text_of(ROOT / "README.md")
    shown = re.findall(r"\]\(((?!http)[^)#]+)|(?:src|srcset)=\"((?!http)[^\"]+)", readme)
    for name in map("".join, shown):
        assert (ROOT / name).exists(), name


def test_the_links_of_a_package_index_are_absolute():
    links = runpy.run_path(str(ROOT / ".ci" / "links.py"))
    assert all((ROOT / place).is_file() for place in [*links["FILES"].values(), links["FIRST"]])
    readme = text_of(ROOT / "README.md")
    filled = links["written"](readme, "someone/flatviz")
    indexed = links["absolute"](filled, "someone/flatviz")
    relative = r"\]\((?!http)|^\[\w+\]: (?!http)|(?:src|srcset)=.(?!http)"
    assert not re.findall(relative, indexed, flags=re.M)
    urls = tomllib.loads(links["urls"]("someone/flatviz"))["project"]["urls"]
    assert urls["Source"] == "https://github.com/someone/flatviz"
    for name in ("lab.gif", "lab-dark.gif"):
        with Image.open(ROOT / "docs" / name) as picture:
            assert picture.n_frames > 20
            width, height = picture.size
            assert width > height  # on the first screen beside its text
        assert (ROOT / "docs" / name).stat().st_size < 1.5e6


def test_the_playground_draws_the_table_of_the_frontier():
    finding = runpy.run_path(str(ROOT / ".ci" / "finding.py"))
    assert text_of(finding["OUT"]) == finding["text"](), "run .ci/finding.py"


def test_stored_outputs_are_pictures_and_text_and_small():
    files = [
        *(ROOT / "notebooks").glob("*.ipynb"),
        *(ROOT / "notebooks" / "experiments").glob("*.ipynb"),
    ]
    assert sum(path.stat().st_size for path in files) < 6e6
    for path in files:
        text = text_of(path)
        shown = [o for cell in json.loads(text)["cells"] for o in cell.get("outputs", ())]
        assert len(text.encode()) < 310_000 and all(
            o["output_type"] in ("stream", "display_data") for o in shown
        ), path.name
        alive = [
            o
            for o in shown
            if "<script" in json.dumps(o) or any("plotly" in kind for kind in o.get("data", ()))
        ]
        assert not alive, path.name


def test_no_file_names_an_index_of_packages():
    listed = subprocess.run(
        ["git", "ls-files"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    if listed.returncode:
        skip("not a git checkout")
    word = "index" + "-url"
    for name in listed.stdout.split():
        if (ROOT / name).is_file() and not name.endswith(
            (".png", ".gif", ".webp", ".safetensors", ".woff2")
        ):
            assert word not in text_of(ROOT / name), name


def synced(script, monkeypatch, *arguments):
    """The exit status of the script, run here: jupytext takes half a minute to import on a slow
    machine."""
    monkeypatch.setattr(sys, "argv", [str(script), *arguments])
    with raises(SystemExit) as end:
        runpy.run_path(str(script), run_name="__main__")
    return end.value.code


def test_the_notebooks_are_what_their_sources_say(monkeypatch, capsys):
    assert synced(SYNC, monkeypatch, "--check") == 0, capsys.readouterr().out


def test_the_sync_check_sees_a_notebook_that_was_edited(tmp_path, monkeypatch, capsys):
    script = tmp_path / ".ci" / "sync_notebooks.py"
    source = tmp_path / "notebooks" / "src" / "00_x.py"
    made = tmp_path / "notebooks" / "00_x.ipynb"
    script.parent.mkdir()
    source.parent.mkdir(parents=True)
    script.write_text(text_of(SYNC), encoding="utf-8")

    def sync(code):
        source.write_text(f"# %% [markdown]\n# # Title\n\n# %%\n{code}\n", encoding="utf-8")
        assert synced(script, monkeypatch) == 0
        return made.read_bytes()

    first = sync("1 + 1")
    made.unlink()
    assert sync("1 + 1") == first  # the same bytes, cell ids too
    notebook = json.loads(first)
    shown = [{"data": {"text/plain": ["2"]}, "metadata": {}, "output_type": "display_data"}]
    notebook["cells"][1]["outputs"] = shown
    digest = runpy.run_path(str(script))["code_digest"](notebook["cells"])
    notebook["metadata"]["outputs of"] = digest
    made.write_text(json.dumps(notebook), encoding="utf-8")
    outputs = lambda text: json.loads(text)["cells"][1]["outputs"]
    assert outputs(sync("1 + 1")) == shown  # kept
    assert outputs(sync("1 + 3")) == []  # of other code
    assert sync("1 + 1") == first
    made.write_text(first.decode().replace("1 + 1", "1 + 2"), encoding="utf-8")
    assert synced(script, monkeypatch, "--check") == 1
    assert "00_x.ipynb differs" in capsys.readouterr().out


def test_the_lines_of_the_readme_run_and_give_a_network_that_has_learned(monkeypatch):
    monkeypatch.setattr(renderers, "default", "json")  # no browser opens
    text = text_of(ROOT / "README.md")
    code = text.split("```python\n")[1].split("```")[0]
    lines = [line for line in code.splitlines() if "lab(" not in line]  # it fits behind the page
    seen: dict = {}
    exec("\n".join(lines), seen)
    prediction = fv.predict(seen["net"], seen["flat"], seen["task"].test, 10, seed=1)
    assert prediction.scores["accuracy"][-1] > 0.7
    lambda1 = [sum(float(s.values[0]) for s in seen[name]) / 5 for name in ("low", "sharp")]
    assert numbers_of(block_of("ten lines")) == [f"{value:.2f}" for value in lambda1]


def test_every_system_of_the_sources_is_there_with_its_command_and_its_test():
    rows = pd.read_csv(ROOT / "data" / "sources.csv")
    assert len(rows) > 20
    assert not rows.isna().any().any()
    assert not rows.duplicated("system").any()
    for row in rows.itertuples(index=False):
        if row.where == "not in flatviz":
            assert row.command == row[4] == "none", row
            continue
        assert callable(operator.attrgetter(row.where)(fv)), row
        assert (ROOT / row[4]).is_file(), row
        words = shlex.split(row.command)
        if words[:2] == ["flatviz", "run"]:
            known = parameters_of(ROOT / "notebooks" / "experiments" / f"{words[2]}.ipynb")
            parsed(words[4:], known, words[2])
        elif words[0] == "flatviz":
            assert words[1] in COMMANDS, row
        else:
            assert words[2] == "flatviz[laplace]"
            assert "laplace" in PROJECT["optional-dependencies"]


def test_the_citation_names_the_version():
    citation = yaml.safe_load(text_of(ROOT / "CITATION.cff"))
    assert citation["version"] == fv.__version__ == PROJECT["version"]
    assert citation["license"] == PROJECT["license"]


@mark.long
def test_the_numbers_of_what_holds_are_those_that_frontier_and_draws_print():
    told = ""
    for study, claims in (("frontier", "the claims, frontier.toml"), ("draws", "the claims")):
        printed = "\n".join(executed(study))
        told += "".join(re.findall(r"^- \*\*.*\n", printed + "\n", flags=re.MULTILINE))
        hashes = re.search(rf"{claims}: ([\w, ]+); those of the table: (.*)", printed).groups()
        assert hashes[0] == hashes[1]  # the table was made with these claims
    block = block_of("what holds")
    assert 3 <= len(numbers_of(block)) <= 6
    assert set(numbers_of(block)) <= set(numbers_of(told))
