"""`fv.lab`: any classifier in one cell; a network that learns nothing is refused."""

import math
import os
import re
import subprocess
import sys

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import flatviz as fv
from flatviz.families import own
from flatviz.families.choice import Choice
from flatviz.families.own import examples
from flatviz.storage.digest import value_digest


@pytest.fixture(scope="module")
def digits(task):
    """(train, test) of upright digits, 600 and 300."""
    everything = fv.Data(torch.cat([task.test.x, task.train.x]), torch.cat([task.test.y, task.train.y]))
    order = torch.randperm(len(everything), generator=torch.Generator().manual_seed(0))
    return everything.subset(order[:600]), everything.subset(order[600:900])


def convs():
    """A BatchNorm conv net that pools."""
    torch.manual_seed(1)
    return nn.Sequential(
        *(nn.Conv2d(1, 12, 3, padding=1), nn.BatchNorm2d(12), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(12, 24, 3, padding=1), nn.BatchNorm2d(24), nn.ReLU(), nn.AdaptiveAvgPool2d(1)),
        *(nn.Flatten(), nn.Linear(24, 10)),
    )


class Attention(nn.Module):
    """Rows of the image as tokens, one layer of attention with dropout, LayerNorm."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(1)
        self.embed, self.place = nn.Linear(8, 32), nn.Parameter(torch.randn(8, 32) * 0.02)
        self.layer = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.1, batch_first=True)
        self.out = nn.Linear(32, 10)

    def forward(self, x):
        return self.out(self.layer(self.embed(x.reshape(-1, 8, 8)) + self.place).mean(1))


@pytest.mark.slow
@pytest.mark.parametrize("make", [convs, Attention])
def test_a_module_nobody_tuned_for_has_a_lab_in_one_call_whose_posteriors_are_alive(make, digits):
    module, (train, test) = make(), (TensorDataset(d.x, d.y) for d in digits)
    before = [p.detach().clone() for p in module.parameters()]
    radii = {"sgd": (0.0,), "vi": (0.0,), "sabma": (0.0, 0.2)}
    view = fv.lab(module, DataLoader(train, batch_size=50), test, effort=3, radii=radii, progress=False)
    assert view.wait(600) and view.error == "" and len(view.made) == 5, (view.made, view.error)
    for method, radius, prediction in zip(view.family.method, view.family.radius, view.family.prediction):
        accuracy = float(prediction.scores["accuracy"][-1])
        assert accuracy > 0.7, (method, radius, accuracy, view.made)  # guessing gives 0.1
    assert all(torch.equal(a, b) for a, b in zip(before, module.parameters()))
    view.close()


@pytest.mark.long
def test_the_same_request_gives_the_same_bits_on_an_idle_and_on_a_busy_machine_and_says_how_good_they_are(digits):
    """`tests/benchmarks/lab.py` compares whole labs."""

    def prepared():
        lines = []
        fits, first = own.prepare_own(convs(), *digits, seed=3, say=lines.append)
        return (
            first,
            lines,
            value_digest([fits.fit, fits.prior.mean, fits.prior.factor, fits.member("sabma").sample(2, seed=0)]),
        )

    before = torch.get_num_threads()
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count())]
    try:
        torch.set_num_threads(2)
        beside = prepared()
    finally:
        torch.set_num_threads(before)
        for process in busy:
            process.kill()
            process.wait()
    first, lines, _ = idle = prepared()
    assert idle == beside
    of_vi, of_network = map(float, re.search(r"([.\d]+) of VI, ([.\d]+) of the trained network", first).groups())
    assert 0.9 < of_network and of_vi > of_network - 0.1 and "normalisation layers and head" in lines[-2]


def test_a_quick_lab_of_a_large_network_treats_the_head_alone_after_whole_training_and_says_so(digits, monkeypatch):
    monkeypatch.setattr(own, "LARGE_PASS", 1)
    monkeypatch.setattr(own, "LARGE_STEP", 1)
    made = []
    fits, line = own.prepare_own(convs(), *digits, say=made.append)
    assert made[0].startswith("training at rate") and "draws of a step but one" in made[1] and "normalisation layers" in made[2]
    assert made[3] == f"treated: head, {24 * 10 + 10} weights"  # a Linear of 24 inputs and 10 outputs
    assert fits.fit["mc_samples"] == 1 and "of the trained network" in line


def test_posteriors_far_below_the_trained_network_are_the_first_line(digits, monkeypatch):
    linear = nn.Sequential(nn.Flatten(), nn.Linear(64, 10))
    before = iter([1.0, 1.0])  # of the trained network, of SWAG's mean
    monkeypatch.setattr(own, "SHRINK", (1.0, 0.3))
    monkeypatch.setattr(own, "LARGE_STEP", 1)
    monkeypatch.setattr(own, "_learned", lambda net, *how: net)
    monkeypatch.setattr(own, "_accuracy", lambda *about: next(before, 0.6))
    made = []
    _, line = own.prepare_own(linear, *digits, say=made.append)
    assert line.startswith("do not trust") and "0.600 where the trained network has 1.000" in line
    assert [text.partition(": ")[0] for text in made if "settings" in text][1:] == [
        f"settings of the best of 1 trials, at {shrink:g} of rate and widths" for shrink in own.SHRINK[1:]
    ]


@pytest.mark.parametrize(("finite_from", "said"), [(1.0, "trials: "), (0.1, "trials, at 0.1 of rate and widths: ")])
def test_trials_that_are_not_finite_are_made_again_at_smaller_rates_and_widths(finite_from, said, digits, monkeypatch):
    seen = []

    def tried(method, cases, seeds, trials, *, fixed, **how):
        net, _, _, prior = cases[0]
        usual = method.tuned(net).settings["lr"]
        scale = fixed.get("lr", usual) / usual
        seen.append((scale, float(prior.log_std.exp().mean())))
        return [(Choice({"lr": scale * usual, "steps": 60}), (1.0 if scale <= finite_from else math.inf,))]

    monkeypatch.setattr(own, "tried", tried)
    monkeypatch.setattr(own, "LOST", 1.0)
    made = []
    fits, _ = own.prepare_own(nn.Sequential(nn.Flatten(), nn.Linear(64, 10)), *digits, effort=2, say=made.append)
    assert said in made[-1] and fits.fit["lr_scale"] == seen[-1][0] == finite_from
    assert seen[0][1] == pytest.approx(own.HEAD_STD)  # all that is treated here is the head: its prior is wide, not SWAG's
    assert seen[-1][1] == pytest.approx(finite_from * seen[0][1])  # the prior's widths fall as the rates do


def test_a_network_that_learns_nothing_is_refused(digits):
    dead = nn.Sequential(nn.Flatten(), nn.Threshold(1e9, 0.0), nn.Linear(64, 10))  # its inputs are all zero
    refused = r"training must leave a network that learned, got accuracy 0\.\d+ .*train the module first"
    with pytest.raises(ValueError, match=refused):
        fv.lab(dead, *digits, effort=1, progress=False)


def test_examples_are_the_same_from_arrays_tensors_dataset_and_loader(digits):
    data, _ = digits
    pair = TensorDataset(data.x, data.y)
    for given in ((data.x.numpy(), data.y.numpy()), [data.x, data.y.tolist()], pair, DataLoader(pair, batch_size=7), data):
        got = examples(given, "train")
        assert torch.equal(got.x, data.x) and torch.equal(got.y, data.y)
    labelled = DataLoader([(x, int(y)) for x, y in zip(data.x[:5], data.y[:5])])
    assert torch.equal(examples(labelled, "train").y, data.y[:5])
    with pytest.raises(
        TypeError, match=r"train must be \(inputs, labels\), a data set or a loader: .* inputs and one of labels"
    ):
        examples({"x": data.x}, "train")
    with pytest.raises(ValueError, match="test must have whole numbers as labels"):
        examples((data.x, np.linspace(0, 1, len(data))), "test")
