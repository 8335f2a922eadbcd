"""`fv.lab`: any network in one cell; a network that learns nothing is refused."""

import math
import re
from dataclasses import dataclass, replace

import numpy as np
import torch
from cases import COARSE, Language, close, mlp, net_of, refused, rng
from internals import value_digest, views_of
from pytest import fixture, mark
from timing import busy
from torch import arange, cat, nn, ones, randint, randn, tensor, zeros
from torch.distributions import Poisson
from torch.nn import Flatten, Linear, Sequential
from torch.utils.data import DataLoader

import flatviz as fv
from flatviz.families import Fitting, own
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
        nn.Conv2d(1, 12, 3, padding=1),
        nn.BatchNorm2d(12),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(12, 24, 3, padding=1),
        nn.BatchNorm2d(24),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        Flatten(),
        Linear(24, 10),
    )


@dataclass
class Prepared:
    """What is prepared for a lab, and what it says meanwhile."""

    fits: Fitting
    text: str
    lines: list
    before: Standing


def prepared(module, *data, **how):
    lines = []
    found = own.prepare_own(module, *data, say=lines.append, **how)
    return Prepared(found.fits, str(found), lines, found.before)


@fixture
def two_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


@mark.long
def test_the_same_request_gives_the_same_bits_on_an_idle_and_on_a_busy_machine(digits, two_threads):
    def results():
        found = prepared(convs(), *digits, seed=3)
        prior = found.fits.prior
        draws = found.fits.member("sabma").sample(2, seed=0)
        numbers = value_digest([found.fits.fit, prior.mean, prior.factor, draws])
        return found.text, found.lines, numbers

    with busy():
        beside = results()
    torch.set_num_threads(1)
    assert results() == beside


@mark.long
def test_a_network_is_trained_and_its_posteriors_are_about_as_good(digits):
    module = convs()
    before = [p.detach().clone() for p in module.parameters()]
    found = prepared(module, *digits, seed=3)
    assert all(map(torch.equal, before, module.parameters()))
    said = re.search(r"([.\d]+) of VI, accuracy ([.\d]+) of the trained network", found.text)
    of_vi, of_network = map(float, said.groups())
    assert of_network > 0.9
    assert of_vi > of_network - 0.1
    assert "normalisation layers and head" in found.lines[-2]
    fits = found.fits
    q = fits.member("sabma")
    scores = fv.predict(fits.net, q, fits.task.test, 5, seed=0, batchnorm="frozen").scores
    assert scores["accuracy"][-1] > 0.7  # guessing gives 0.1


def test_a_quick_lab_of_a_large_network_treats_the_head_alone_after_whole_training_and_says_so(
    digits, monkeypatch
):
    monkeypatch.setattr(own, "LARGE_PASS", 1)
    monkeypatch.setattr(own, "LARGE_STEP", 1)
    found = prepared(convs(), *digits)
    training, draws, norms, treated, *_ = found.lines
    assert training.startswith("training at rate")
    assert "draws of a step but one" in draws
    assert "normalisation layers" in norms
    assert treated == f"treated: head, {24 * 10 + 10} weights"
    assert found.fits.fit["mc_samples"] == 1
    assert "of the trained network" in found.text


@fixture
def unreachable(task, transferred):
    """(trial of fits, what the trials are compared with): no fit reaches a network whose loss is
    below that of right answers."""
    net, prior = transferred
    fits = Fitting(net, replace(task, validation=task.train), prior, 0)
    n = len(task.train)
    before = Standing(torch.full((n,), -1.0), ones(n), True)

    def trial(**how):
        return best_trial(fits, 1, fixed={"steps": 5}, before=before, **how)

    return trial, before


def test_posteriors_far_below_the_trained_network_are_the_first_line(unreachable):
    best_of, before = unreachable
    heard = []
    trial = best_of(last=True, report=heard.append)
    assert [other.shrink for other in heard] == list(SHRINK)
    assert not trial.good
    assert ", at 0.3 of rate and widths: " in str(heard[1])
    loss = lambda trial: float(trial.standing.losses.mean())
    assert loss(trial) == min(map(loss, heard))
    line = str(own.Prepared(trial.fits, before, trial.standing, trial.good))
    assert line.startswith("do not trust")
    assert "accuracy 2.000 of the trained network" in line


def test_posteriors_far_below_the_trained_network_are_refused_where_more_may_be_tried(unreachable):
    best_of, _ = unreachable
    with refused("must be about as good as the trained network", fv.Diverged):
        best_of(last=False, report=str)


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


@dataclass
class Brought:
    """A module, data, how its outputs are read, and whether they are numbers."""

    module: nn.Module
    x: object
    y: torch.Tensor
    likelihood: object = None
    numbers: bool = False


def poisson(outputs):
    return Poisson(outputs[:, 0].exp())


def brought():
    """By name."""
    torch.manual_seed(0)
    x = randn(80, 3)
    ids = randint(0, 9, (80, 6))
    line = x[:, :1].clamp(-2, 2)
    curve = torch.sin(2 * line) + 0.1 * randn(80, 1)
    positive = (x > 0).long()
    right = (ids.float().mean(1) > 4).long()
    named = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    known = two_layers(1, 1)
    learned = fv.models.learned_noise(two_layers(1, 1))
    output = two_layers(1, 2)
    rate = two_layers(3, 1)
    count = torch.poisson(x[:, 0].exp())
    attends = Sequential(Words(True).embed, attention(), Flatten(), Linear(48, 2))
    return {
        "noise known": Brought(known, line, curve, 0.1, True),
        "noise learned": Brought(learned, line, curve, "gaussian", True),
        "noise an output": Brought(output, line, curve, "gaussian", True),
        "counts": Brought(rate, x, count, fv.Likelihood(poisson), True),
        "yes or no": Brought(two_layers(3, 1), x, positive[:, 0], "bernoulli"),
        "several labels": Brought(two_layers(3, 3), x, positive, "bernoulli"),
        "words": Brought(Words(False), ids, right),
        "words of a dict": Brought(Words(False), named, right),
        "labels of words": Brought(Words(True), ids, (ids > 4).long()),
        "attention": Brought(attends, ids, right),
    }


@fixture
def shown(monkeypatch):
    """The lab of what is brought, once it is fitted."""
    monkeypatch.setattr(own, "LARGE_STEP", 1)
    monkeypatch.setitem(own.SMALL_STEPS, "steps", 60)
    monkeypatch.setattr(open, "COARSE", COARSE)
    labs = []

    def lab(given):
        data = fv.Data(given.x, given.y)
        train = data.subset(slice(0, 50))
        test = data.subset(slice(50, 80))
        radii = {"vi": (0.0,), "sabma": (0.0, 1.0)}
        how = dict(likelihood=given.likelihood, radii=radii, progress=False)
        view = fv.lab(given.module, train, test, **how)
        labs.append(view)
        assert view.wait(300)
        assert view.error == ""
        return view

    yield lab
    for view in labs:
        view.close()


@mark.long
@mark.parametrize("name", brought())
def test_a_lab_and_its_page_of_any_likelihood_and_of_words(name, shown, tmp_path):
    given = brought()[name]
    view = shown(given)
    prediction = view.family[0].prediction
    assert prediction.has_classes != given.numbers
    scores = {"nll", "rmse"} if given.numbers else {"accuracy", "nll", "ece", "brier"}
    assert set(prediction.scores) == scores
    names = {v.name for v in views_of(view.family)}
    assert ("predictive" in names) == given.numbers
    assert ("reliability" in names) != given.numbers
    page = view.to_html(tmp_path / "page.html").read_text(encoding="utf-8")
    assert (">RMSE</th>" in page) == given.numbers


@mark.long
def test_a_lab_of_counts_has_the_nll_of_the_mixture(shown):
    view = shown(brought()["counts"])
    prediction = view.family[0].prediction
    y = view._session.fits.task.test.y
    log_p = torch.stack([poisson(outputs).log_prob(y) for outputs in prediction.outputs])
    mixture = log_p.logsumexp(0) - math.log(len(log_p))
    close(prediction.scores["nll"][-1], -mixture.mean(), 1e-5)


@mark.long
def test_a_lab_of_known_noise_has_the_curvature_of_its_linear_head(shown):
    """The Hessian is phi^T phi / (N noise^2)."""
    view = shown(brought()["noise known"])
    fits = view._session.fits
    x = fits.task.train.x
    hidden = torch.tanh(fits.net.to_module()[0](x)).detach()
    phi = cat([hidden, ones(len(x), 1)], 1)
    largest = torch.linalg.eigvalsh(phi.T @ phi)[-1]
    close(view.family[0].spectrum[0].values[0], largest / (len(x) * 0.1**2), 1e-3)


@fixture
def line():
    """(net, task, standing of a slope) of y = 2 x with noise 1: NLLs are half the mean square, plus
    log sqrt(2 pi)."""
    x = torch.linspace(-3, 3, 60)[:, None]
    data = fv.Data(x, 2 * x)
    task = fv.Task(data, data, data, 1, validation=data, likelihood=1.0)
    net = net_of(Linear(1, 1))
    standing = lambda slope: Standing.of(net, tensor([slope, 0.0]), data, 1.0)
    return net, task, standing


def test_a_network_far_below_the_trained_one_is_judged_by_its_nll_where_there_is_no_accuracy(line):
    net, task, standing = line
    best = standing(2.0)
    close(best.losses.mean(), 0.5 * math.log(2 * math.pi))
    close(best.gain, 2 * (task.train.x**2).mean())
    check_as_good("VI", standing(1.7), best)  # 2 % of the gain is lost
    said = r"VI must be about as good as the trained network, NLL 0\.919, got NLL 2\.4"
    with refused(said, fv.Diverged):
        check_as_good("VI", standing(1.0), best)
    with refused("got NLL .* best constant outputs have", fv.Diverged):
        check_learned(net, tensor([0.0, 0.0]), task.train, "SWAG", "rest", likelihood=1.0)


def test_a_network_is_as_good_as_itself_on_one_example(line):
    net, task, _ = line
    one = task.train.subset(arange(1))
    same = Standing.of(net, tensor([1.0, 0.0]), one, 1.0)
    check_as_good("VI", same, same)
    assert same.learned == bool(same.gain > 0)


@mark.parametrize("answer, learned", [(0, True), (1, False)])
def test_examples_of_one_class_are_learned_by_a_network_that_is_right(answer, learned):
    net = net_of(Linear(1, 2))
    bias = torch.eye(2)[answer]
    data = fv.Data(randn(50, 1), zeros(50).long())
    assert Standing.of(net, cat([zeros(2), bias]), data, "categorical").learned == learned


def test_a_network_that_learned_already_is_not_trained_again(line):
    net, task, _ = line
    lines = []
    near = own._learned(net.at(tensor([1.9, 0.0])), task, 0, False, lines.append)
    assert near.w[0] == 1.9
    far = own._learned(net.at(tensor([0.0, 5.0])), task, 0, False, lines.append)
    assert abs(float(far.w[0]) - 2) < 0.1
    learned, training, *_ = lines
    assert "learned already: NLL" in learned
    assert "may have seen" in learned
    assert "training at rate" in training


def test_a_prior_and_test_data_are_two_arguments(digits):
    net = net_of(Linear(2, 2))
    task = fv.datasets.moons_transfer(seed=0)
    prior = fv.Gaussian(net.w, torch.zeros(net.dim))
    for wrong in (dict(test=task.test), dict(), dict(test=task.test, prior=prior)):
        with refused("a task must come with prior=", TypeError):
            fv.lab(net, task, **wrong)
    for wrong in (dict(), dict(test=digits[1], prior=prior)):
        with refused("a module must come with training and test data", TypeError):
            fv.lab(Linear(2, 2), digits[0], **wrong)


def test_a_network_that_learns_nothing_is_refused(digits):
    # Its inputs are all zero
    dead = Sequential(Flatten(), nn.Threshold(1e9, 0.0), Linear(64, 10))
    with refused(r"a network that learned, got accuracy 0\.\d+ .*train the module first"):
        fv.lab(dead, *digits, effort=1, progress=False)


def test_labels_may_be_plain_numbers_of_a_loader(digits):
    few = digits[0].subset(slice(0, 5))
    pairs = [(x, int(y)) for x, y in zip(few.x, few.y)]
    for given in (DataLoader(pairs), (few.x, few.y.double())):
        assert torch.equal(examples(given, "train").y, few.y)


def test_what_is_no_pair_of_inputs_and_labels_is_refused(digits):
    with refused(r"train must be \(inputs, labels\), .* and one of labels", TypeError):
        examples({"x": digits[0].x}, "train")


@mark.parametrize(
    "train, test, error, said",
    [
        (
            np.linspace(0, 1, 9),
            np.linspace(0, 1, 9),
            TypeError,
            "^train: .* needs integer class labels, got floating targets: give likelihood=",
        ),
        (
            np.full(9, 1),
            np.full(9, 2),
            ValueError,
            r"^test: labels must be in 0\.\.1 for a net with 2 outputs, got 2",
        ),
    ],
)
def test_labels_that_are_no_classes_are_refused_by_the_name_of_their_data(train, test, error, said):
    x = np.ones((9, 2), "float32")
    with refused(said, error):
        fv.lab(Linear(2, 2), (x, train), (x, test), progress=False)


def test_a_language_model_with_a_tied_head_gets_a_head_of_its_own_and_stays_as_it_was():
    """Each token follows from the one before, so that training learns it."""
    x = randint(0, 8, (60, 5))
    data = x, (3 * x + 1) % 8
    module = Language(8, 8, tied=True)
    before = module.head.weight.detach().clone()
    found = prepared(module, data, data)
    said = "the head head has a copy of the weight that it shared with embed.weight"
    assert said in found.lines
    assert [block.shape for block in found.fits.net.blocks] == [(8, 8)]
    assert not found.fits.net.tied
    assert torch.equal(module.embed.weight, before)
    assert module.head.weight is module.embed.weight


@mark.parametrize("noise", [0.7, 0.2])
def test_a_regression_stops_at_its_lowest_held_out_loss_and_a_noise_far_off_is_said(noise):
    """120 points of a line with noise 0.7 in 8 dimensions, which a network can learn by heart."""
    g = rng()
    x = randn(1120, 8, generator=g)
    data = fv.Data(x, x[:, :1] + 0.7 * randn(1120, 1, generator=g))
    torch.manual_seed(0)
    train = data.subset(slice(0, 120))
    test = data.subset(slice(120, 1120))
    found = prepared(mlp(8, 64, 1), train, test, likelihood=noise)
    constant = math.log(noise) + math.log(2 * math.pi) / 2
    squares = 2 * (float(found.before.losses.mean()) - constant)
    assert noise * math.sqrt(squares) < 0.85  # 1.1 where it learns until the end
    far = [line for line in found.lines if "intervals of targets will be too narrow" in line]
    assert len(far) == (noise == 0.2)
