"""Inputs that vary in training: once a step, by the seed, in all gradients and draws of it; the
data itself stays as it is."""

import random
from functools import partial

import numpy as np
import torch
from cases import around, blobs, fitted_by, mlp, net_of, normed, numbers_of, refused
from internals import RECORDERS
from oracles import equal, stopping_at
from pytest import fixture, mark, raises
from torch import tensor
from torchvision.transforms import v2

import flatviz as fv
from flatviz.training import SGD, Run, training_loss
from flatviz.training.driver import drive


def noisy(x, generator):
    """Each example moved."""
    return x + 0.1 * torch.randn(x.shape, generator=generator, dtype=x.dtype)


class Seen:
    """An augmentation that keeps what it made."""

    def __init__(self, augment=noisy):
        self.augment = augment
        self.made = []

    def __call__(self, x, generator):
        self.made.append(self.augment(x, generator))
        return self.made[-1]


@fixture
def case():
    net = net_of(mlp(3, 8, 2))
    data = blobs(24, 3, 2)
    return net, data, around(net, -2.0)


class Inputs(torch.nn.Module):
    """A net that keeps the inputs of its training passes."""

    def __init__(self):
        super().__init__()
        self.inner = mlp(3, 8, 2)
        self.seen = []

    def forward(self, x):
        if torch.is_grad_enabled():
            self.seen.append(x.detach().clone())
        return self.inner(x)


def test_both_gradients_and_all_draws_of_a_step_see_the_inputs_that_were_made_once(case):
    _, data, _ = case
    net = net_of(Inputs())
    augment = Seen()
    loss = training_loss(net, data, draws=3, augment=augment)
    loss.stacks = False  # row by row, which the module counts
    batch = tensor([3, 1, 8])
    for step in range(2):
        net.module.seen[:] = []
        loss.begin(step, batch)
        W = net.w.expand(3, -1)
        for _ in range(2):
            loss(W, batch)
        assert len(net.module.seen) == 6
        assert all(equal(x, augment.made[step]) for x in net.module.seen)
    assert len(augment.made) == 2
    assert not equal(augment.made[0], augment.made[1])
    assert not equal(augment.made[0], data.x[batch])


@mark.parametrize("accumulate", [1, 2])
@mark.parametrize("batch_size", [None, 10])
def test_a_fit_is_that_on_the_inputs_of_each_step(case, accumulate, batch_size):
    """By hand: the same steps on data sets of what was made."""
    net, data, _ = case
    augment = Seen()
    how = fv.Training(accumulate=accumulate)
    fit = fv.fit(
        net, data, fv.SGD(), seed=0, steps=5, batch_size=batch_size, training=how, augment=augment
    )
    made = augment.made
    assert len(made) == 5 * accumulate
    batches = fv.training.streams.minibatches(len(data), batch_size, 0, torch.device("cpu"))
    sgd = SGD(lr=0.05)
    state = sgd.init(net.w)
    for step in range(5):
        index = next(batches)
        y = data.y if index is None else data.y[index]
        x = torch.cat(made[accumulate * step : accumulate * (step + 1)])
        rate = sgd.schedule(step, 5)
        state, _ = sgd.update(state, training_loss(net, fv.Data(x, y)), None, rate=rate)
    torch.testing.assert_close(fit.center, state.w, rtol=1e-5, atol=1e-6)


def test_an_augmentation_that_changes_nothing_changes_no_bit(case):
    net, data, prior = case
    same = lambda x, generator: x
    for how in (dict(), dict(mc_samples=1, batch_size=7)):
        fit = partial(fitted_by(fv.SABMA), net, data, prior, radius=0.5, seed=0, steps=6, **how)
        assert all(map(equal, numbers_of(fit()), numbers_of(fit(augment=same))))


def test_a_seed_fixes_what_is_drawn_whatever_was_drawn_before(case):
    net, data, prior = case
    fit = partial(fitted_by(fv.VI), net, data, prior, steps=4, batch_size=8, augment=noisy)
    first = fit(seed=1).mean
    torch.rand(5)
    state = torch.get_rng_state()
    assert equal(fit(seed=1).mean, first)
    assert equal(torch.get_rng_state(), state)
    augments = [Seen(), Seen()]
    for seed, augment in enumerate(augments):
        fv.fit(net, data, fv.SGD(), seed=seed, steps=1, augment=augment)
    assert not equal(augments[0].made[0], augments[1].made[0])


def test_a_stopped_fit_resumes_to_the_bit_and_the_file_is_of_one_augmentation(case, tmp_path):
    net, data, prior = case
    path = tmp_path / "run"
    fit = partial(fitted_by(fv.SABMA), net, data, prior, radius=0.5, seed=0, steps=8, batch_size=8)
    whole = fit(augment=noisy)

    with raises(KeyboardInterrupt):
        fit(augment=noisy, checkpoint=path, progress=stopping_at(5))
    with refused("another"):
        fit(checkpoint=path)
    assert all(map(equal, numbers_of(fit(augment=noisy, checkpoint=path)), numbers_of(whole)))


def test_transforms_of_torchvision_draw_anew_for_each_example_and_step():
    x = torch.randn(20, 3, 2, 2)
    net = net_of(torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(12, 2)))
    data = fv.Data(x, torch.arange(20) % 2)
    augment = v2.Compose([v2.RandomHorizontalFlip(), v2.Identity()])
    loss = training_loss(net, data, augment=augment)
    mirrored = []
    for step in range(2):
        loss.begin(step, None)
        made = loss.inputs._given.x
        as_it_is = (made == x).flatten(1).all(1)
        mirrored.append((made == x.flip(-1)).flatten(1).all(1))
        assert equal(mirrored[step], ~as_it_is)
        assert 3 < mirrored[step].sum() < 17
    assert not equal(*mirrored)
    fit = partial(fitted_by(fv.SGD), net, data, seed=0, steps=3, augment=augment)
    assert equal(fit().center, fit().center)


def test_images_in_bytes_come_from_0_to_1():
    x = torch.randint(0, 256, (6, 3, 4, 4), dtype=torch.uint8)
    net = net_of(torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(48, 2)))
    augment = Seen(lambda x, generator: x)
    fv.fit(net, fv.Data(x, torch.arange(6) % 2), fv.SGD(), seed=0, steps=1, augment=augment)
    assert equal(augment.made[0], x / 255)


def test_members_trained_together_see_what_each_sees_alone(case):
    net, data, _ = case
    W = torch.stack([net.w, net.w + 0.1])
    for index in (None, 8):
        run = Run(batch_size=index, augment=noisy)
        sgd = SGD(lr=0.1)
        together = drive(
            sgd, sgd.init(W), training_loss(net, data, members=2), run, steps=3, shuffle=[4, 9]
        ).state.w
        for w, seed, found in zip(W, (4, 9), together):
            loss = training_loss(net, data)
            alone = drive(sgd, sgd.init(w), loss, run, steps=3, shuffle=seed).state.w
            torch.testing.assert_close(found, alone, rtol=1e-5, atol=1e-6)


def test_data_notes_and_scores_are_of_the_data_as_it_is(case):
    """What changes all inputs beyond reason moves neither the data nor the share of noise, which
    is measured after the fit at the same q."""
    net, data, prior = case
    before = data.x.clone()
    shifted = Seen(lambda x, generator: x.add_(50.0))
    fit = partial(fitted_by(fv.SABMA), net, data, prior, radius=0.5, lr=0.0, seed=0, steps=2)
    assert fit().history.notes == fit(augment=shifted).history.notes
    assert shifted.made
    assert equal(data.x, before)
    training = fv.Training(validation=data)
    fit = partial(fitted_by(fv.SGD), net, data, lr=0.0, seed=0, steps=2, training=training)
    plain, moved = fit(), fit(augment=shifted)
    assert equal(plain.history.validation, moved.history.validation)
    assert not equal(plain.history.loss, moved.history.loss)


def test_collected_statistics_are_of_what_the_net_saw(case):
    _, data, _ = case
    net = net_of(normed(3, 8, 2))
    fit = partial(fitted_by(fv.SGD), net, data, lr=0.0, seed=0, steps=2, batchnorm="train")
    plain = fit().buffers
    moved = fit(augment=lambda x, generator: x + 9).buffers
    assert any(not equal(plain[name], moved[name]) for name in plain)


def test_steps_recorded_as_graphs_read_the_inputs_of_each_step(case, monkeypatch):
    net, data, prior = case
    streamed = fv.datasets.stream(torch.utils.data.TensorDataset(data.x, data.y))
    recorded = []

    def record(warm, step):
        warm()
        recorded.append(step)
        return step

    for given in (data, streamed):
        for how in (dict(augment=noisy), dict()):
            fit = partial(
                fitted_by(fv.SABMA),
                net,
                given,
                prior,
                radius=0.5,
                seed=0,
                steps=8,
                batch_size=9,
                **how,
            )
            plain = fit()
            recorded.clear()
            with monkeypatch.context() as patch:
                patch.setitem(RECORDERS, "cpu", record)
                replayed = fit()
            assert len(recorded) == 2
            assert replayed.history.notes == plain.history.notes
            assert all(map(equal, numbers_of(plain), numbers_of(replayed)))


def test_graphs_read_buffers_that_stay_in_place(case, monkeypatch):
    net, data, _ = case
    monkeypatch.setitem(RECORDERS, "cpu", lambda warm, step: step)
    loss = training_loss(net, data, augment=noisy)
    places = []
    for step, batch in enumerate((tensor([1, 2]), tensor([3]), tensor([0, 4]))):
        loss.begin(step, batch)
        places.append(loss.inputs._given.x.data_ptr())
    assert places[0] == places[2] != places[1]


def by_python(x):
    return x + random.random()


def by_numpy(x, generator):
    return x + float(np.random.rand())


def to_double(x):
    return x.double()


def to_less(x, generator):
    return x[1:]


def to_nan(x, generator):
    return x * float("nan")


@mark.parametrize(
    "augment, text",
    [
        (by_python, "got by_python, which moves the random numbers of Python or NumPy"),
        (by_numpy, "got by_numpy, which moves the random numbers of Python or NumPy"),
        (
            to_double,
            r"augment must return a float32 tensor of shape \(3,\) on cpu, .*got a float64",
        ),
        (to_less, r"augment must return a float32 tensor of shape \(24, 3\).*of shape \(23, 3\)"),
        (lambda x: 3, "augment must return .*got 3 from"),
        (to_nan, "augment must return finite numbers, got NaN or inf from to_nan"),
        (3, "augment must be a function of inputs, got 3"),
        (v2.RandomHorizontalFlip, "got the class RandomHorizontalFlip"),
    ],
)
def test_what_cannot_be_an_augmentation_is_one_clear_error(case, augment, text):
    net, data, _ = case
    with refused(text, (ValueError, TypeError)):
        fv.fit(net, data, fv.SGD(), seed=0, steps=2, augment=augment)


def test_no_run_augments_a_function_of_weights_or_several_inputs(case):
    sgd = SGD(lr=0.1)
    w = torch.zeros(2)
    square = fv.training.gradient_of(lambda w: w @ w)
    with refused("augment needs the loss of a network, got noisy"):
        drive(sgd, sgd.init(w), square, Run(augment=noisy), steps=1)
    net, data, _ = case
    loss = training_loss(net, data, augment=noisy)
    with refused("batch must be that of the step, of which augment makes the inputs"):
        loss(net.w, None)
    loss.begin(0, tensor([1, 2]))
    with refused("call loss.begin"):
        loss(net.w, tensor([1, 3]))


def test_several_inputs_an_example_are_not_augmented():
    class Two(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(4, 2)

        def forward(self, a, b):
            return self.linear(torch.cat((a, b), 1))

    x = {"a": torch.rand(6, 2), "b": torch.rand(6, 2)}
    data = fv.Data(x, torch.arange(6) % 2)
    net = net_of(Two(), example=x)
    with refused("augment takes one tensor of inputs, got a "):
        fv.fit(net, data, fv.SGD(), seed=0, steps=1, augment=noisy)
