"""`fv.lab`: any classifier in one cell; a network that learns nothing is refused."""

import math

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import flatviz as fv
from flatviz.families import own
from flatviz.families.choice import Choice
from flatviz.families.own import examples


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
    view = fv.lab(module, DataLoader(train, batch_size=50), test, trials=3, minutes=None, radii=radii, progress=False)
    assert view.wait(600) and view.error == "" and len(view.made) == 4, (view.made, view.error)
    for method, radius, prediction in zip(view.family.method, view.family.radius, view.family.prediction):
        accuracy = float(prediction.scores["accuracy"][-1])
        assert accuracy > 0.7, (method, radius, accuracy, view.made)  # guessing gives 0.1
    assert all(torch.equal(a, b) for a, b in zip(before, module.parameters()))
    view.close()


def test_a_budget_that_is_too_short_treats_the_head_alone_and_says_what_it_left_out(digits):
    view = fv.lab(convs(), *digits, minutes=1e-6, trials=1, radii={"vi": (0.0,), "sabma": (0.0, 0.2)}, progress=False)
    assert view.wait(600) and view.error == "", view.error
    assert view.made[0].startswith("training for 1 of 30 epochs") and "minutes: normalisation layers" in view.made[1], view.made
    assert view.made[2] == f"treated: head, {24 * 10 + 10} weights"  # a Linear of 24 inputs and 10 outputs
    assert all(float(p.scores["accuracy"][-1]) > 0.3 for p in view.family.prediction)  # guessing gives 0.1
    view.close()


@pytest.mark.parametrize(
    ("minutes", "left", "draws", "trials"),
    [
        (16.0, None, 8, 2),
        (4.0, "all draws of a step but one", 1, 2),
        (3.6, "all draws of a step but one, all trials but one", 1, 1),
    ],
)
def test_what_a_time_budget_leaves_out_first(minutes, left, draws, trials, digits, monkeypatch):
    """A gradient of 0.01 s, in proportion to the draws: everything takes 904 s, one draw a step 219 s, and one trial 213 s."""
    monkeypatch.setattr(own, "_seconds", lambda net, data, draws=1: 0.01 * draws)
    made, asked = [], []

    def tried(method, cases, seeds, trials, *, fixed, **how):
        asked.append(trials)
        return [(Choice(method.tuned(cases[0][0]).settings | fixed), (0.0,))]

    monkeypatch.setattr(own, "tried", tried)
    fits, short = own.prepare_own(
        nn.Sequential(nn.Flatten(), nn.Linear(64, 10)), *digits, trials=2, minutes=minutes, say=made.append
    )
    said = [line.rpartition(": ")[2] for line in made if line.startswith("left out")]
    assert said == ([left] if left else []) and not short
    assert fits.fit["mc_samples"] == draws and asked == [2] * (trials > 1)


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
    made = []
    fits, _ = own.prepare_own(nn.Sequential(nn.Flatten(), nn.Linear(64, 10)), *digits, trials=2, say=made.append)
    assert said in made[-1] and fits.fit["lr_scale"] == seen[-1][0] == finite_from
    assert seen[0][1] == pytest.approx(own.HEAD_STD)  # all that is treated here is the head: its prior is wide, not SWAG's
    assert seen[-1][1] == pytest.approx(finite_from * seen[0][1])  # the prior's widths fall as the rates do


def test_a_network_that_learns_nothing_is_refused(digits):
    dead = nn.Sequential(nn.Flatten(), nn.Threshold(1e9, 0.0), nn.Linear(64, 10))  # its inputs are all zero
    refused = r"training must leave a network that learned, got accuracy 0\.\d+ .*train the module first"
    with pytest.raises(ValueError, match=refused):
        fv.lab(dead, *digits, trials=1, minutes=None, progress=False)


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
