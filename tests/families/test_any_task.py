"""A study on any task and any network: two moons, a function of the user's, a network that did not
learn, no source."""

from functools import partial

import torch
from cases import COARSE, net_of, refused
from internals import TourSettings, prepare, run_tour
from PIL import Image
from pytest import fixture, mark, param, raises
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from torch import arange, equal, nn, tensor, uint8
from torch.nn import Linear

import flatviz as fv
from flatviz import datasets
from flatviz.datasets import digits_transfer
from flatviz.families import Fitting
from flatviz.families.preparation import (
    STRENGTHS,
    Recipe,
    at_solution,
    build_model,
    task_for,
    without_source,
    worth_of_transfer,
)
from flatviz.families.standing import check_learned

RADII = {"sgd": (0.0,), "vi": (0.0,), "sabma": (0.0, 1.0)}
SMALL = dict(
    radii=RADII,
    fit={"steps": 20},
    measured=COARSE,
)


def two_layers(task):
    return nn.Sequential(
        Linear(task.input_shape[0], 12),
        nn.LayerNorm(12),
        nn.ReLU(),
        Linear(12, task.n_classes),
    )


@mark.long
def test_a_tour_of_two_moons_with_a_network_of_the_users_learns_and_is_kept(cache):
    settings = TourSettings(recipe=Recipe(epochs=20), **SMALL)
    tour_of = partial(run_tour, two_layers, settings=settings)
    tour = tour_of(task="moons")
    again = tour_of(task="moons")
    assert (tour.recipe.epochs, tour.net.dim) == (20, 2 * 12 + 12 * 2 + 2)
    accuracy = [float(p.scores["accuracy"][-1]) for p in tour.family.prediction]
    assert min(accuracy) > 0.8, accuracy  # half is chance
    assert {"pre-trained network and prior", "family of posteriors"} < set(again.cached)
    assert not tour.cached
    assert equal(again.prior.mean, tour.prior.mean)
    other = tour_of(task=datasets.moons_transfer(shots=4))
    # Another task is another entry of the cache
    assert not other.cached
    assert len(other.task.train) == 8


def test_a_task_is_a_name_a_task_or_a_function_of_the_seed():
    moons = datasets.moons_transfer(seed=3)
    got = task_for("moons", 3).train.x
    assert equal(got, moons.train.x)
    assert task_for(moons, 5) is moons
    found = task_for(lambda seed: datasets.moons_transfer(seed=seed), 3).test.x
    assert equal(found, moons.test.x)
    for wrong, text in (
        (
            lambda: task_for("moon", 0),
            "data must be one of digits, digits-near, moons, image-folder:PATH, mnist.*got 'moon'",
        ),
        (lambda: task_for(lambda seed: seed, 0), "task must be a Task, got "),
        (
            lambda: build_model(lambda task: 3, moons, seed=0),
            "what model.task. returns must be a Module, got ",
        ),
        (lambda: build_model("mlpp", moons, seed=0), "model must be one of 'mlp', 'conv'"),
    ):
        with raises((ValueError, TypeError), match=text):
            wrong()
    modules = [build_model(two_layers, moons, seed=seed)[0].weight for seed in (1, 1, 2)]
    assert equal(modules[0], modules[1])
    assert not equal(modules[0], modules[2])


@mark.parametrize(
    "recipe, text",
    [
        (dict(epochs=1, lr=1e-7, last_lr=1e-7), "pre-training must leave .* raise its epochs"),
        (dict(epochs=20, swag_lr=2.0), "SWAG must leave .* lower the recipe's swag_lr"),
        (dict(epochs=20, swag_lr=100.0), "must stay finite, got NaN or inf at step .* lower lr"),
    ],
)
def test_no_study_goes_on_from_a_network_that_did_not_learn(recipe, text):
    task = datasets.moons_transfer(seed=0)
    with refused(text):
        prepare(two_layers, task=task, recipe=Recipe(**recipe))


def test_weights_that_predict_as_well_as_a_constant_did_not_learn():
    task = datasets.moons_transfer(seed=0)
    net = net_of(Linear(2, 2))
    dead = tensor([0.0, 0.0, 0.0, 0.0, 1.0, 0.0])
    with refused("got accuracy 0.500 on .* constant outputs have accuracy 0.500: rest"):
        check_learned(net, dead, task.train, "a fit", "rest")
    x = torch.cat([torch.linspace(-2, -1, 11), torch.linspace(1, 2, 5)])[:, None]
    few = fv.Data(x, (x[:, 0] > 0).long())
    net = net_of(Linear(1, 2))
    # Three standard errors of five mistakes in sixteen, and right everywhere
    check_learned(net, tensor([-3.0, 3.0, 0.0, 0.0]), few, "a fit", "rest")
    with refused("got accuracy 0.688"):
        check_learned(net, tensor([0.0, 0.0, 1.0, 0.0]), few, "a fit", "rest")


def test_a_folder_of_images_is_a_task_from_one_half_of_its_classes_to_the_other(tmp_path):
    """Six classes of 40 images, 8 x 8, each class a brightness of its own, in train and test."""
    for split, n in (("train", 40), ("test", 6)):
        for c in range(6):
            (tmp_path / split / f"class{c}").mkdir(parents=True)
            for i in range(n):
                pixels = (40 * c + torch.randint(0, 30, (8, 8, 3))).to(uint8).numpy()
                Image.fromarray(pixels).save(tmp_path / split / f"class{c}" / f"{i}.png")
    sizes = lambda task: [len(part) for part in task.parts().values()]
    task = datasets.named_task(f"image-folder:{tmp_path}", shots=3, seed=0)
    assert sorted(sizes(task)) == [9, 9, 18, 120]
    assert (task.n_classes, task.source_classes) == (3, None)
    source = task.source.batch(None)[0]
    test = task.test.batch(None)[0]
    assert source.mean() < 0.35 < 0.5 < test.mean()  # dark classes, bright classes
    train = f"image-folder:{tmp_path / 'train'}"
    joined = datasets.named_task(train, shots=3, seed=0, per_class=10)
    assert sorted(sizes(joined)) == [9, 9, 12, 30]
    with refused("cifar10 must lie whole in", RuntimeError):
        datasets.named_task(f"cifar10:{tmp_path}")


@fixture(scope="module")
def prepared():
    return prepare("conv", task=digits_transfer(seed=2), seed=2)


def test_the_conv_net_early_in_training_survives_its_swag():
    # At SWAG's own rate of 0.05 this raises
    net, task, prior = prepare(
        "conv",
        task=digits_transfer(),
        seed=0,
        epochs=2,
    )
    assert prior.dim == net.dim
    assert len(task.train) == 100
    assert prior.mean.isfinite().all()
    assert prior.log_std.isfinite().all()


@mark.long
@mark.parametrize("method", [param("sam_mu", marks=mark.slow), "sabma"])
def test_the_conv_net_learns_at_the_largest_radius_of_its_slider(prepared, method):
    net, task, prior = prepared
    q = Fitting(net, task, prior, seed=2).member(method, fv.METHODS[method].tuned(net).largest)
    loss = q.history.loss
    # At a rate of 0.05 it stays at that of guessing, or diverges
    assert loss[-20:].mean() < 0.85 * loss[:20].mean()


@mark.parametrize("name", ["digits-near", "moons"])
def test_logistic_regression_predicts_as_scikit_learns_of_the_strength_that_validation_chooses(
    name,
):
    task = datasets.named_task(name, seed=3)
    found = at_solution(without_source(task, seed=3)["logistic regression"], task.test).bma()
    train, validation, test = (
        part.x.flatten(1).numpy() for part in (task.train, task.validation, task.test)
    )
    fits = [
        LogisticRegression(C=c, max_iter=2000).fit(train, task.train.y.numpy()) for c in STRENGTHS
    ]
    best = min(fits, key=lambda fit: log_loss(task.validation.y, fit.predict_proba(validation)))
    # float32 against float64
    got = (found - torch.as_tensor(best.predict_proba(test))).abs().max()
    assert got < 1e-4


def test_a_network_from_scratch_learned_its_shots_and_never_saw_the_source():
    task = datasets.named_task("digits-near", seed=0)
    other = fv.Task(task.train, task.train, task.test, n_classes=10, validation=task.validation)
    mine = at_solution(without_source(task, seed=0)["from scratch"], task.test)
    theirs = at_solution(without_source(other, seed=0)["from scratch"], task.test)
    # Chance is 0.1
    assert equal(mine.outputs, theirs.outputs)
    assert mine.scores["accuracy"][-1] > 0.5


def prediction(n):
    """One draw on 100 inputs of two classes, n of which it gets right."""
    right = 9 * (arange(100) < n).float()
    return fv.Prediction(
        torch.stack([right, 9 - right], -1)[None], torch.zeros(100, dtype=torch.long)
    )


@mark.parametrize(
    "mine, word", [(90, "helps"), (60, "harms"), (72, "makes no clear difference")]
)  # of 100, against 75 and 40: by the normal interval of paired differences, 15, -15 and -3 of 100
def test_transfer_helps_or_harms_by_the_interval_of_the_difference_to_the_better_one(mine, word):
    said = worth_of_transfer(prediction(mine), {"worse": prediction(40), "better": prediction(75)})
    assert said.startswith(
        f"Here transfer {word}: accuracy {mine}.0 % after transfer, 75.0 % without the source"
        " (better)"
    )
    assert f"difference {mine - 75:+d}.0 ±" in said
