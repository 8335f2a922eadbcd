"""Compare, search and tune run whole in a small form: the table they write is the one that they read."""

import json
import math
import re

import pandas as pd
import pytest
import torch
from experiment_notebooks import executed, functions

import flatviz as fv
from flatviz.families.choice import read_choices
from flatviz.storage.cache import committed

pytestmark = pytest.mark.long


def test_compare_runs_and_what_it_writes_reads_the_same(run_small):
    small = dict(METHODS="sgd,f-sgd,vi", SEEDS=2, EPOCHS=2, STEPS=3, DRAWS=3, SPECTRA=1)
    printed, table, path = run_small("compare", **small)
    assert len(table) == 2 * (3 + 1) * 13 and set(table[table.steps == 2].method) == {"sgd"}  # twice as long, beside F-SGD
    again = "\n".join(executed("compare", TABLE=str(path), **small))
    verdicts = [[line for line in text.splitlines() if " against " in line] for text in (printed, again)]
    assert len(verdicts[0]) == 2 * 4 and verdicts[0] == verdicts[1]


@pytest.mark.slow
def test_the_search_chooses_names_and_confirms(tmp_path):
    path = tmp_path / "search.csv"
    small = dict(SEEDS=2, FRESH=2, CASES=2, EPOCHS=2, STEPS=4)
    printed = "\n".join(executed("search", RUN=True, SAVE=str(path), **small))
    summary = pd.read_csv(path)
    stays = [table[table.model == "conv"].reset_index(drop=True) for table in (pd.read_csv(committed("search.csv")), summary)]
    pd.testing.assert_frame_equal(*stays)  # the rows of the other network
    summary = summary[summary.model == "mlp"]
    alone, first = (summary[summary.part == part] for part in ("choice by split", "search"))
    assert alone.half.notna().all() and alone.radius.isna().all()  # no one choice of all seeds
    assert set(summary.part) == {"search", "confirmation", "choice by split"}
    assert set(summary.against) == {"VI, equal steps", "VI, equal gradients", "VI, chosen", "SAM on the mean"}
    assert len(first) == 4 * (4 + 1)  # four scores of the first case, one of the case of shift
    assert set(first.radius) <= {0.5, 1.0, 2.0} and set(first.vi_steps) <= {2.0, 4.0, 8.0} and (first.n == 2).all()
    assert "corrected by Holm for these" in printed


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
