"""What README says holds is printed by the experiment from its stored table, in the setting that it names."""

import re

import pytest
from experiment_notebooks import ROOT, executed

from flatviz.experiments import read_table
from flatviz.experiments.settings import SETTINGS


@pytest.mark.long
def test_every_sentence_of_what_holds_is_printed_by_the_evidence():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    block = re.search(r"<!-- what holds -->\n(.*?)<!-- /what holds -->", readme, flags=re.S)[1]
    settings = {about.label.split(" (")[0].split(", weight decay")[0]: about.label for about in SETTINGS.values()}
    printed, setting = {}, None
    for line in "\n".join(executed("evidence")).split("\n"):
        setting = line if line in settings.values() else setting
        printed.setdefault(setting, set()).add(line.strip())
    for name, text in re.findall(r"^\*\*(.*?)\*\*(.*?)(?=^\*\*|\Z)", block, flags=re.M | re.S):
        said = re.findall(r"^- (.*)$", text, flags=re.M)
        assert said and set(said) <= printed[settings[name]], name


def test_all_have_a_larger_nll_at_temperature_1():
    nll = read_table("evidence").query("quantity == 'nll' and steps == 1").groupby(["setting", "method", "radius"]).value.mean()
    assert (nll["near, T 1"] > nll["near, T 0.03"]).all()


@pytest.mark.long
def test_what_the_readme_says_is_left_of_the_objective_is_printed_by_the_gaps():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    printed = re.findall(
        r"^(.*), (.*): has not converged: .* seeds, objective ([\d.]+) % lower", "\n".join(executed("gaps")), flags=re.M
    )
    share = {(task, method): figure for method, task, figure in printed}
    figures = re.search(
        r"VI's objective by ([\d.]+) %, SA-BMA's by ([\d.]+) %, on digits by\s([\d.]+) % and ([\d.]+) %", readme
    ).groups()
    assert figures == tuple(share[task, method] for task in ("digits-near", "digits") for method in ("VI", "SA-BMA"))


def test_the_readme_is_read_in_a_minute_and_prints_no_raw_output():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(readme.split()) <= 900
    assert set(re.findall(r"^```(\w*)$", readme, flags=re.M)) == {"sh", "python", ""}  # commands and lines, then their ends
