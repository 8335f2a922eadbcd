"""What README says holds is printed by the experiment from its stored table, in the setting that it names."""

import re

import pytest
from experiment_notebooks import ROOT, executed


@pytest.mark.long
def test_every_sentence_of_what_holds_is_printed_by_the_evidence():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    block = re.search(r"<!-- what holds -->\n(.*?)<!-- /what holds -->", readme, flags=re.S)[1]
    printed = "\n".join(executed("evidence")).split("\n")
    short = [line.strip() for line in printed if " against VI, " in line and not re.search(r" seeds: ", line)]
    said = re.split("At the tour's setting|There at KL weight 1|On digits turned by 90|There without a KL term", block)[1:]
    where = dict(
        zip(("digits-near, KL weight 0.03, ", "digits-near, KL weight 1, ", "KL weight 0.03, ", "KL weight 0, "), said)
    )
    of, setting = {name: [] for name in where}, None
    for line in map(str.strip, printed):
        setting = next(
            (name for name in where if line.startswith(name)), None if re.match("(digits-near, )?KL weight ", line) else setting
        )
        if setting and line in short:
            of[setting].append(line)
    for name, text in where.items():
        said = re.findall(r"^- (.*)$", text, flags=re.M)
        assert said and not [line for line in said if line not in of[name]], name


@pytest.mark.long
def test_what_the_readme_says_is_left_of_the_objective_is_printed_by_the_gaps():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    printed = dict(
        re.findall(r"^(.*), digits-near: has not arrived: .* seeds, ([\d.]+) % of", "\n".join(executed("gaps")), flags=re.M)
    )
    assert re.search(r"VI's objective by ([\d.]+) %, SA-BMA's by ([\d.]+) %", readme).groups() == (
        printed["VI"],
        printed["SA-BMA"],
    )


def test_the_readme_is_read_in_a_minute_and_prints_no_raw_output():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(readme.split()) <= 900
    assert set(re.findall(r"^```(\w*)$", readme, flags=re.M)) == {"sh", "python", ""}  # commands and lines, then their ends
