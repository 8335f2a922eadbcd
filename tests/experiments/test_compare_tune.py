"""Compare and tune run whole in a small form: the table they write is the one that they read."""

import json
import math
import re

import pandas as pd
import pytest
import torch
from experiment_notebooks import executed, functions

import flatviz as fv
from flatviz.families.members import read_choices

pytestmark = pytest.mark.long


def test_compare_runs_and_what_it_writes_reads_the_same(run_small):
    small = dict(METHODS="sgd,f-sgd,vi", SEEDS=2, EPOCHS=2, STEPS=3, DRAWS=3, SPECTRA=1)
    printed, table, path = run_small("compare", **small)
    assert len(table) == 2 * (3 + 1) * 13 and set(table[table.steps == 2].method) == {"sgd"}  # twice as long, beside F-SGD
    again = "\n".join(executed("compare", TABLE=str(path), **small))
    verdicts = [[line for line in text.splitlines() if " against " in line] for text in (printed, again)]
    assert len(verdicts[0]) == 2 * 4 and verdicts[0] == verdicts[1]


def test_each_split_chooses_by_its_validation_nll_and_its_test_nll_is_that_of_its_choice():
    """All splits together choose trial 0, the third alone trial 1; trial 2 is the best of all, but for the split where it diverged."""
    nll = {"trial 0": (1.0, 1.0, 1.3), "trial 1": (1.2, 1.2, 1.1), "trial 2": (1.1, math.inf, 1.2)}
    values = [dict(setting=t, seed=s, nll=v, test=v + 10) for t, of in nll.items() for s, v in enumerate(of)]
    rows = pd.DataFrame(values).melt(["setting", "seed"], var_name="quantity").assign(method="vi")
    net = fv.Net.from_module(torch.nn.Sequential(torch.nn.Linear(2, 2)))
    found = functions("tune")["choices_in"](rows, net, trials=3)
    assert found["trial"] == "trial 0" and found["trial_by_split"] == ["trial 0", "trial 0", "trial 1"]
    assert found["test_nll"] == [11.0, 11.0, 11.3] and found["test_nll_by_split"] == [11.0, 11.0, 11.1]
    assert found["validation_nll"] == pytest.approx(1.1) and found["seeds"] == [0, 1, 2] and found["diverged"] == 1


def test_tune_writes_choices_that_the_tour_reads(tmp_path):
    path = tmp_path / "tuned.json"
    small = dict(METHODS="vi,sgd", TRIALS=2, SEEDS=2, DATA="moons", EPOCHS=8)
    said = "\n".join(executed("tune", RUN=True, SAVE=str(path), **small))
    written = json.loads(path.read_text(encoding="utf-8"))["methods"]
    assert set(written) == {"vi", "sgd"} and written["vi"]["trials"] == 2
    for about in written.values():
        assert about["validation_nll"] <= about["validation_nll_of_the_record"]
        assert len(about["trial_by_split"]) == len(about["test_nll_by_split"]) == 2
    assert read_choices(path)["vi"].settings["steps"] == pytest.approx(written["vi"]["settings"]["steps"])
    verdict = re.search(r".*: NLL .* better in \d of 2 seeds: .*", said)[0]
    assert verdict in "\n".join(executed("tune", TABLE=str(path)))
