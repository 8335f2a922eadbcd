"""`fv.lab`: any network in one cell; a network that learns nothing is refused."""

import math
import re
from dataclasses import replace

import numpy as np
import torch
from cases import Language, mlp, net_of, refused, rng
from internals import Fitting, value_digest, views_of
from pytest import approx, fixture, mark, raises
from timing import busy
from torch import cat, nn, tensor
from torch.distributions import Poisson
from torch.nn import Flatten, Linear, Sequential
from torch.utils.data import DataLoader

import flatviz as fv
from flatviz.families import own
from flatviz.families.examples import examples
from flatviz.families.standing import Standing, check_as_good, check_learned
from flatviz.families.trials import SHRINK, best_trial
from flatviz.widgets import open


@fixture(scope="module")
def digits(task):
    """(train, test) of upright digits, 600 and 300."""
    everything = fv.Data(cat([task.test.x, task.train.x]), cat([task.test.y, task.train.y]))
    order = torch.randperm(len(everything), generator=rng())
    return everything.subset(order[:600]), everything.subset(order[600:900])


def convs():
    """A BatchNorm conv net that pools."""
    torch.manual_seed(1)
    return Sequential(
        *(nn.Conv2d(1, 12, 3, padding=1), nn.BatchNorm2d(12), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(12, 24, 3, padding=1), nn.BatchNorm2d(24), nn.ReLU(), nn.AdaptiveAvgPool2d(1)),
        *(Flatten(), Linear(24, 10)),
    )


@mark.long
def test_the_same_request_gives_the_same_bits_on_an_idle_and_on_a_busy_machine(
    digits,
):
    module = convs()
    was = [p.detach().clone() for p in module.parameters()]

    def prepared():
        lines = []
        prepared = own.prepare_own(module, *digits, seed=3, say=lines.append)
        fits = prepared.fits
        q = fits.member("sabma")
        scores = fv.predict(fits.net, q, fits.task.test, 5, seed=0, batchnorm="frozen").scores
        assert scores["accuracy"][-1] > 0.7  # guessing gives 0.1
        return (
            str(prepared),
            lines,
            value_digest([fits.fit, fits.prior.mean, fits.prior.factor, q.sample(2, seed=0)]),
        )

    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        with busy():
            beside = prepared()
    finally:
        torch.set_num_threads(before)
    first, lines, _ = idle = prepared()
    assert idle == beside
    assert all(map(torch.equal, was, module.parameters()))
    of_vi, of_network = map(
        float,
        re.search(r"([.\d]+) of VI, accuracy ([.\d]+) of the trained network", first).groups(),
    )
    assert 0.9 < of_network
    assert of_vi > of_network - 0.1
    assert "normalisation layers and head" in lines[-2]


def test_a_quick_lab_of_a_large_network_treats_the_head_alone_after_whole_training_and_says_so(
    digits, monkeypatch
):
    monkeypatch.setattr(own, "LARGE_PASS", 1)
    monkeypatch.setattr(own, "LARGE_STEP", 1)
    made = []
    prepared = own.prepare_own(convs(), *digits, say=made.append)
    assert made[0].startswith("training at rate")
    assert "draws of a step but one" in made[1]
    assert "normalisation layers" in made[2]
    assert (
        made[3] == f"treated: head, {24 * 10 + 10} weights"
    )  # a Linear of 24 inputs and 10 outputs
    assert prepared.fits.fit["mc_samples"] == 1
    assert "of the trained network" in str(prepared)


def test_posteriors_far_below_the_trained_network_are_the_first_line(task, transferred):
    """No fit reaches a network whose loss is below that of right answers."""
    net, prior = transferred
    fits = Fitting(net, replace(task, validation=task.train), prior, 0)
    n = len(task.train)
    before = Standing(torch.full((n,), -1.0), torch.ones(n), True)
    heard = []
    about = dict(fixed={"steps": 5}, before=before, report=heard.append)
    trial = best_trial(fits, 1, last=True, **about)
    assert [t.shrink for t in heard] == list(SHRINK)
    assert not trial.good
    assert ", at 0.3 of rate and widths: " in str(heard[1])
    assert trial.standing.losses.mean() == min(float(t.standing.losses.mean()) for t in heard)
    line = str(own.Prepared(trial.fits, before, trial.standing, trial.good))
    assert line.startswith("do not trust")
    assert "accuracy 2.000 of the trained network" in line
    with raises(fv.Diverged, match="must be about as good as the trained network"):
        best_trial(fits, 1, last=False, **about)


class Words(nn.Module):
    """Words to logits, of the text or of each word."""

    def __init__(self, each):
        super().__init__()
        self.each = each
        self.embed = nn.Embedding(9, 8)
        self.head = Linear(8, 2)

    def forward(self, input_ids, attention_mask=None):
        h = self.embed(input_ids)
        return self.head(h if self.each else h.mean(1))


def two_layers(n_in, n_out):
    return mlp(n_in, 12, n_out)


def attention():
    return nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)  # with dropout


def _brought():
    """name -> module, inputs, labels and likelihood."""
    torch.manual_seed(0)
    x = torch.randn(80, 3)
    ids = torch.randint(0, 9, (80, 6))
    line = x[:, :1].clamp(-2, 2)
    curve = torch.sin(2 * line) + 0.1 * torch.randn(80, 1)
    right = (ids.float().mean(1) > 4).long()
    return {
        "noise known": (two_layers(1, 1), line, curve, 0.1),
        "noise learned": (fv.models.learned_noise(two_layers(1, 1)), line, curve, "gaussian"),
        "noise an output": (two_layers(1, 2), line, curve, "gaussian"),
        "counts": (
            two_layers(3, 1),
            x,
            torch.poisson(x[:, 0].exp()),
            fv.Likelihood(lambda o: Poisson(o[:, 0].exp())),
        ),
        "yes or no": (two_layers(3, 1), x, (x[:, 0] > 0).long(), "bernoulli"),
        "several labels": (two_layers(3, 3), x, (x > 0).long(), "bernoulli"),
        "words": (Words(False), ids, right, None),
        "words of a dict": (
            Words(False),
            {"input_ids": ids, "attention_mask": torch.ones_like(ids)},
            right,
            None,
        ),
        "labels of words": (Words(True), ids, (ids > 4).long(), None),
        "attention": (
            Sequential(Words(True).embed, attention(), Flatten(), Linear(48, 2)),
            ids,
            right,
            None,
        ),
    }


@mark.long
@mark.parametrize("name", _brought())
def test_a_lab_and_its_page_of_any_likelihood_and_of_words(name, monkeypatch, tmp_path):
    monkeypatch.setattr(own, "LARGE_STEP", 1)
    monkeypatch.setattr(own, "SMALL_STEPS", own.SMALL_STEPS | {"steps": 60})
    monkeypatch.setattr(
        open, "COARSE", dict(n_draws=3, n_spectra=1, k=2, resolution=5, around_resolution=3)
    )
    module, x, y, likelihood = _brought()[name]
    data = fv.Data(x, y)
    train, test = (data.subset(torch.arange(*ends)) for ends in ((0, 50), (50, 80)))
    view = fv.lab(
        module,
        train,
        test,
        likelihood=likelihood,
        radii={"vi": (0.0,), "sabma": (0.0, 1.0)},
        progress=False,
    )
    assert view.wait(300) and view.error == "", view.error
    member = view.family[0]
    task = view._session.fits.task
    prediction = member.prediction
    shown = {v.name for v in views_of(view.family)}
    page = view.to_html(tmp_path / "page.html").read_text(encoding="utf-8")
    view.close()
    if name == "counts":
        log_p = torch.stack(
            [Poisson(out[:, 0].exp()).log_prob(task.test.y) for out in prediction.outputs]
        )
        mixture = -(log_p.logsumexp(0) - math.log(len(log_p))).mean()
        assert prediction.scores["nll"][-1] == approx(float(mixture), rel=1e-5)
    numbers = not prediction.has_classes
    assert ("predictive" in shown, "reliability" in shown, ">RMSE</th>" in page) == (
        numbers,
        not numbers,
        numbers,
    )
    assert set(prediction.scores) == (
        {"nll", "rmse"} if numbers else {"accuracy", "nll", "ece", "brier"}
    )
    if name == "noise known":  # the head is linear: its Hessian is phi^T phi / (N noise^2)
        phi = cat(
            [
                torch.tanh(view._session.fits.net.to_module()[0](task.train.x)),
                torch.ones(len(task.train), 1),
            ],
            1,
        ).detach()
        largest = torch.linalg.eigvalsh(phi.T @ phi)[-1] / (len(phi) * 0.1**2)
        assert member.spectrum[0].values[0] == approx(float(largest), rel=1e-3)


def test_a_network_far_below_the_trained_one_is_judged_by_its_nll_where_there_is_no_accuracy():
    """Gaussian noise of 1: NLLs are half the mean square, plus log sqrt(2 pi)."""
    x = torch.linspace(-3, 3, 60)[:, None]
    task = fv.Task(*[fv.Data(x, 2 * x)] * 3, 1, validation=fv.Data(x, 2 * x), likelihood=1.0)
    net = net_of(Linear(1, 1))
    before, near, far = (
        Standing.of(net, tensor([slope, 0.0]), task.train, 1.0) for slope in (2.0, 1.98, 1.0)
    )
    assert float(before.losses.mean()) == approx(0.5 * math.log(2 * math.pi))
    assert float(before.gain) == approx(2 * float((x**2).mean()))
    check_as_good("VI", near, before)
    with raises(
        fv.Diverged,
        match=r"VI must be about as good as the trained network, NLL 0\.919, got NLL 2\.4",
    ):
        check_as_good("VI", far, before)
    made = []
    assert own._learned(net.at(tensor([1.9, 0.0])), task, 0, False, made.append).w[0] == 1.9
    trained = own._learned(net.at(tensor([0.0, 5.0])), task, 0, False, made.append)
    assert "learned already: NLL" in made[0]
    assert "may have seen" in made[0]
    assert "training at rate" in made[1]
    assert abs(float(trained.w[0]) - 2) < 0.1
    with raises(fv.Diverged, match="got NLL .* best constant outputs have"):
        check_learned(net, tensor([0.0, 0.0]), task.train, "SWAG", "rest", likelihood=1.0)


def test_a_prior_and_test_data_are_two_arguments(digits):
    net = net_of(Linear(2, 2))
    task = fv.datasets.moons_transfer(seed=0)
    prior = fv.Gaussian(net.w, torch.zeros(net.dim))
    for wrong in (dict(test=task.test), dict(), dict(test=task.test, prior=prior)):
        with raises(TypeError, match="a task must come with prior="):
            fv.lab(net, task, **wrong)
    for wrong in (dict(), dict(test=digits[1], prior=prior)):
        with raises(TypeError, match="a module must come with training and test data"):
            fv.lab(Linear(2, 2), digits[0], **wrong)


def test_a_network_that_learns_nothing_is_refused(digits):
    # Its inputs are all zero
    dead = Sequential(Flatten(), nn.Threshold(1e9, 0.0), Linear(64, 10))
    refused = (
        r"training must leave a network that learned, got accuracy 0\.\d+ .*train the module first"
    )
    with refused(refused):
        fv.lab(dead, *digits, effort=1, progress=False)


def test_labels_may_be_plain_numbers_of_a_loader_and_anything_else_is_refused_by_name(
    digits,
):
    data, _ = digits
    labelled = DataLoader([(x, int(y)) for x, y in zip(data.x[:5], data.y[:5])])
    for given in (labelled, (data.x[:5], data.y[:5].double())):
        assert torch.equal(examples(given, "train").y, data.y[:5])
    with raises(
        TypeError,
        match=r"train must be \(inputs, labels\), a data set or a loader: .* and one of labels",
    ):
        examples({"x": data.x}, "train")
    with raises(
        TypeError,
        match="^train: .* needs integer class labels, got floating targets: give likelihood=",
    ):
        fv.lab(
            Linear(2, 2),
            *[(np.ones((9, 2), "float32"), np.linspace(0, 1, 9))] * 2,
            progress=False,
        )
    with refused(r"^test: labels must be in 0\.\.1 for a net with 2 outputs, got 2"):
        fv.lab(
            Linear(2, 2),
            *[(np.ones((9, 2), "float32"), np.full(9, label)) for label in (1, 2)],
            progress=False,
        )


def test_a_language_model_with_a_tied_head_gets_a_head_of_its_own_and_stays_as_it_was():
    """Each token follows from the one before, so that training learns it."""
    x = torch.randint(0, 8, (60, 5))
    data = x, (3 * x + 1) % 8
    module = Language(8, 8, tied=True)
    before = module.head.weight.detach().clone()
    lines = []
    prepared = own.prepare_own(module, data, data, say=lines.append)
    assert "the head head has a copy of the weight that it shared with embed.weight" in lines
    assert [block.shape for block in prepared.fits.net.blocks] == [(8, 8)]
    assert not prepared.fits.net.tied
    assert torch.equal(module.embed.weight, before)
    assert module.head.weight is module.embed.weight


@mark.parametrize("noise", [0.7, 0.2])
def test_a_regression_stops_at_its_lowest_held_out_loss_and_a_noise_far_off_is_said(noise):
    """120 points of a line with noise 0.7 in 8 dimensions, which a network can learn by heart."""
    g = rng()
    x = torch.randn(1120, 8, generator=g)
    y = x[:, :1] + 0.7 * torch.randn(1120, 1, generator=g)
    torch.manual_seed(0)
    module = mlp(8, 64, 1)
    lines = []
    train = fv.Data(x[:120], y[:120])
    test = fv.Data(x[120:], y[120:])
    trained = own.prepare_own(module, train, test, likelihood=noise, say=lines.append).before
    nll = float(trained.losses.mean())
    error = noise * math.sqrt(2 * (nll - math.log(noise) - math.log(2 * math.pi) / 2))
    assert error < 0.85  # 1.1 where it learns until the end
    far = [line for line in lines if "intervals of targets will be too narrow" in line]
    assert len(far) == (noise == 0.2)
