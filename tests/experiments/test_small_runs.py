"""The experiments of this folder's golden texts, compare and tune, each computed once in its small
form."""

import json
import math
import re

import numpy as np
import pandas as pd
import torch
from experiment_notebooks import executed, functions
from pytest import approx, mark
from torch import nn

import flatviz as fv
from flatviz.experiments import read_table
from flatviz.families.members import read_choices

pytestmark = mark.long


def cells(table, *columns):
    return set(table[list(columns)].itertuples(index=False, name=None))


def test_the_frontier_runs_on_the_cells_of_the_stored_table(run_small):
    said, found, _ = run_small(
        "frontier", SEEDS=2, FEW=2, STEPS=3, EPOCHS=5, DRAWS=2, SPECTRA=1, TASKS="moons,digits-near"
    )
    stored = read_table("frontier")
    keys = ("setting", "method", "radius", "T", "knob")
    stored = stored[
        stored.setting.isin(found.setting) & stored.quantity.isin(found.quantity)
    ].fillna(-1.0)
    assert cells(found.fillna(-1.0), *keys) == cells(stored, *keys)
    assert set(found.seed) == {
        10000,
        10001,
    }
    assert set(stored.quantity) == set(found.quantity)
    assert "failed" not in said
    assert said.count(": SA-BMA at radius 1, T = ") == 3 * found.setting.nunique()


def test_the_frontier_interpolates_along_the_curve_of_each_seed():
    """A line of VI with λ1 = 3 T^0.5, NLL = log T and a training loss of T^2: a fit with loss 0.04
    has T* = 0.2."""
    space = functions("frontier")
    at = lambda T: pd.DataFrame(
        dict(T=T, train=T**2, kl=1 / T, lambda1=3 * T**0.5, nll=np.log(T)), index=[7]
    )
    vi = pd.concat(map(at, (0.1, 0.3, 1.0)))
    mine = space["logged"](
        pd.DataFrame(dict(T=0.5, train=0.04, kl=1.0, lambda1=2.0, nll=0.0), index=[7])
    )
    there = space["on_curve"](mine, space["logged"](vi), "train")
    assert np.exp(there["T"][7]) == approx(0.2)
    assert np.exp(there.lambda1[7]) == approx(3 * 0.2**0.5)
    assert there.nll[7] == approx(np.log(0.2))
    # Beyond the curve
    assert np.isnan(
        space["on_curve"](mine.assign(train=np.log(2.0)), space["logged"](vi), "train").nll[7]
    )


def test_the_reference_samples_and_says_that_short_chains_do_not_agree(tmp_path):
    draws = tmp_path / "hmc.pt"
    small = dict(SEEDS=1, CONTROLS=0, N_DRAWS=16, CHAINS=4, BURN_IN=4, EPOCHS=5)
    said = "\n".join(executed("reference", RUN=True, SAVE_DRAWS=str(draws), **small))
    assert "chains of 1 seeds do not agree: R-hat at most" in said
    assert draws.stat().st_size > 10_000


@mark.parametrize(
    "name, small", [("gaps", dict(TASKS="digits-near", METHODS="vi,sabma")), ("tasks", {})]
)
def test_tasks_and_gaps_run_on_the_cells_of_their_stored_tables(run_small, name, small):
    _, found, _ = run_small(name, SEEDS=1, STEPS=5, EPOCHS=5, **small)
    # Gaps leaves the stored rows of other tasks
    found = found[found.setting == small["TASKS"]] if small else found
    stored = read_table(name)
    stored = stored[stored.setting.isin(found.setting) & stored.method.isin(found.method)]
    assert set(found.quantity) == set(stored.quantity)
    assert found.value.notna().all()
    assert cells(found, "setting", "method") == cells(stored, "setting", "method")


def test_lengths_of_training_are_fitted_measured_and_compared(run_small):
    small = dict(SEEDS=2, LENGTHS="1,2", STEPS=3, EPOCHS=5, DRAWS=2, SPECTRA=1, GIBBS=3, EDGE=30)
    # Beside the stored rows of the other task
    *_, path = run_small("along", DATA="digits", **small)
    said, found, _ = run_small("along", DATA="digits-near", TABLE=str(path), **small)
    near = {"tv", "agreement", "mmd"}  # to HMC, which a network of 60 epochs is compared with
    assert set(read_table("along").quantity) - near == set(found.quantity)
    assert found.value.notna().all()
    edge, found = (found[(found.experiment == "edge") == is_edge] for is_edge in (True, False))
    settings = {"no KL", "T 0.03", "T 1", "near, T 0.03", "near, T 1"}
    assert set(found.setting) == settings
    assert said.count("not shown to settle there") == edge.setting.nunique()
    assert set(edge.steps) == set(range(0, 31, 2))
    # Of each method: a few steps bound nothing
    assert said.count("vacuous at every length") == 3 * len(settings)
    assert said.count("equal gradients: ") == len(settings)


def test_open_questions_are_asked_on_the_cells_of_the_stored_table(run_small):
    said, found, _ = run_small("questions", SEEDS=2, LONGER=1, STEPS=4, EPOCHS=5, SIZES="1,2,4")
    both = found, read_table("questions")
    (trials, found), (widths, stored) = (
        [t[t.experiment == e] for e in ("widths", "questions")] for t in both
    )
    assert cells(trials, "setting", "quantity") == cells(widths, "setting", "quantity")
    keys = ("setting", "method", "radius", "steps")
    assert cells(found, *keys) == cells(stored, *keys)
    assert stored.seed.nunique() >= 10
    assert found.value.notna().all()
    assert trials.value.notna().all()
    assert "with 2 draws against VI with 4: " in said


def test_learning_coefficients_are_sampled_compared_and_left_alone_by_permutations(run_small):
    said, found, _ = run_small(
        "learning", SEEDS=2, STEPS=20, DRAWS=32, BURN_IN=8, SGLD_BURN_IN=5, THIN=1
    )
    keys = ("setting", "method", "radius", "quantity")
    assert cells(found, *keys) == cells(read_table("learning"), *keys)
    assert found.value.notna().all()
    was, now = re.search(r"permuted: λ̂ ([\d.]+) becomes ([\d.]+);", said).groups()
    assert float(re.search(r"rescaled end (\S+) of the norm", said)[1]) < 1e-4
    # float32
    assert float(was) == approx(float(now), abs=2e-4)
    assert "better in" in said


def test_both_samplers_of_the_learning_coefficient_have_the_same_localised_target():
    space = functions("learning", DRAWS=1600, BURN_IN=40, SGLD_BURN_IN=100, THIN=20)
    module = nn.Linear(1, 2, bias=False)
    nn.init.zeros_(module.weight)
    net = fv.Net.from_module(module)
    x = torch.ones(200, 1)
    task = fv.Task(*[fv.Data(x, torch.arange(200) % 2)] * 3, n_classes=2)
    exact = 0.5 * 0.5 / (0.5 + 100 * math.log(200) / 200)  # one curvature, 1/2, against gamma = 100
    f = fv.nll(net, task.train)
    for name, q in space["sampled"](net, task, net.w, 100.0, 0).items():
        if name != "sgld 0.1":  # its step is too long for so strong a pull
            assert fv.metrics.learning_coefficient(f, net.w, q.W, n=200) == approx(
                exact, rel=0.15
            ), name


def test_compare_runs_and_what_it_writes_reads_the_same(run_small):
    small = dict(METHODS="sgd,f-sgd,vi", SEEDS=2, EPOCHS=2, STEPS=3, DRAWS=3, SPECTRA=1)
    printed, table, path = run_small("compare", **small)
    # Twice as long, beside F-SGD
    assert set(table[table.steps == 2].method) == {"sgd"}
    again = "\n".join(executed("compare", TABLE=str(path), **small))
    verdicts = [
        [line for line in text.splitlines() if " against " in line] for text in (printed, again)
    ]
    assert verdicts[0] == verdicts[1] != []


def test_each_split_chooses_by_its_validation_nll_and_its_test_nll_is_that_of_its_choice():
    """All splits together choose trial 0, the third alone trial 1; trial 2 is the best of all, but
    for the split where it diverged."""
    nll = {"trial 0": (1.0, 1.0, 1.3), "trial 1": (1.2, 1.2, 1.1), "trial 2": (1.1, math.inf, 1.2)}
    values = [
        dict(setting=t, seed=s, nll=v, test=v + 10)
        for t, of in nll.items()
        for s, v in enumerate(of)
    ]
    rows = pd.DataFrame(values).melt(["setting", "seed"], var_name="quantity").assign(method="vi")
    net = fv.Net.from_module(nn.Sequential(nn.Linear(2, 2)))
    found = functions("tune")["choices_in"](rows, net, trials=3)
    assert found["trial"] == "trial 0"
    assert found["trial_by_split"] == [
        "trial 0",
        "trial 0",
        "trial 1",
    ]
    assert found["test_nll"] == [11.0, 11.0, 11.3]
    assert found["test_nll_by_split"] == [
        11.0,
        11.0,
        11.1,
    ]
    assert found["validation_nll"] == approx(1.1)
    assert found["seeds"] == [0, 1, 2]
    assert found["diverged"] == 1


def test_tune_writes_choices_that_the_tour_reads(tmp_path):
    path = tmp_path / "tuned.json"
    small = dict(METHODS="vi,sgd", TRIALS=2, SEEDS=2, DATA="moons", EPOCHS=8)
    said = "\n".join(executed("tune", RUN=True, SAVE=str(path), **small))
    written = json.loads(path.read_text(encoding="utf-8"))["methods"]
    assert set(written) == {"vi", "sgd"}
    assert written["vi"]["trials"] == 2
    for about in written.values():
        assert about["validation_nll"] <= about["validation_nll_of_the_record"]
        assert len(about["trial_by_split"]) == len(about["test_nll_by_split"]) == 2
    assert read_choices(path)["vi"].settings["steps"] == approx(written["vi"]["settings"]["steps"])
    verdict = re.search(r".*: NLL .* better in \d of 2 seeds: .*", said)[0]
    assert verdict in "\n".join(executed("tune", TABLE=str(path)))
