"""record_path: the weights that a loop passed, whatever the loop, within a bound on memory."""

import copy
import math
import threading
import warnings

import torch
from cases import blobs, refused, rng, warned
from pytest import approx, fixture, importorskip, mark, raises
from torch import autograd, equal, nn, optim, randint, randn, stack
from torch.nn import Linear
from torch.optim.optimizer import register_optimizer_step_post_hook

import flatviz as fv


def weights(module):
    return nn.utils.parameters_to_vector(module.parameters()).detach().clone()


def train(module, steps, *, optimiser=None):
    """The weights after each step."""
    optimiser = optimiser or optim.SGD(module.parameters(), lr=0.1, momentum=0.9)
    seen = []
    g = rng()
    x = randn(16, 3, generator=g)
    y = randint(0, 2, (16,), generator=g)
    for _ in range(steps):
        optimiser.zero_grad()
        nn.functional.cross_entropy(module(x), y).backward()
        optimiser.step()
        seen.append(weights(module))
    return seen


@fixture
def module():
    # Dropout on: a user's loop has it
    return nn.Sequential(Linear(3, 4), nn.Dropout(0.2), nn.ReLU(), Linear(4, 2))


def test_the_path_is_what_the_loop_itself_saw(module):
    start = weights(module)
    with fv.record_path(module, every=3) as path:
        seen = [start, *train(module, 10)]
    assert path.steps == (0, 3, 6, 9, 10)
    want = stack([seen[i] for i in path.steps])
    assert equal(path.W, want)
    assert equal(path.net.w, seen[-1])
    train(module, 3)  # what comes after is not of the path
    assert len(path.steps) == 5


@mark.parametrize("most", [2, 3, 4, 5])
@mark.parametrize("steps", range(1, 9))
def test_a_path_ends_where_the_loop_ended_whatever_its_bound(module, most, steps):
    with fv.record_path(module, most=most) as path:
        last = train(module, steps)[-1]
    assert path.steps[-1] == steps
    assert len(path.steps) <= most
    assert equal(path.W[-1], last)


def test_a_long_run_keeps_every_second_point_and_doubles_its_stride(module):
    with fv.record_path(module, most=8) as path:
        seen = train(module, 100)
    assert path.every == 16
    assert path.steps == (0, 16, 32, 48, 64, 80, 96, 100)
    want = stack([seen[i - 1] for i in path.steps[1:]])
    assert equal(path.W[1:], want)


def test_only_the_modules_own_optimisers_count_and_two_of_one_step_count_once(module):
    other = optim.SGD(Linear(2, 2).parameters(), lr=0.1)
    with fv.record_path(module, treated=lambda name: name.startswith("3.")) as path:
        train(module, 2)
        other.step()
        # Holds none of the treated weights
        train(module, 2, optimiser=optim.SGD(module[0].parameters(), lr=0.1))
        train(module, 2, optimiser=optim.Adam(module.parameters()))  # one that takes over
    assert path.W.shape == (5, 10)
    assert path.steps == (0, 1, 2, 3, 4)
    body = optim.SGD(module[0].parameters(), lr=0.1)
    head = optim.SGD(module[3].parameters(), lr=0.1)
    with fv.record_path(module, every=2) as path:
        for _ in range(5):
            train(module, 1, optimiser=body)
            train(module, 1, optimiser=head)
    assert path.steps == (0, 2, 4, 5)
    assert equal(path.W[-1], path.net.w)
    assert not equal(path.W[1, -10:], path.W[0, -10:])


def test_a_loop_without_an_optimiser_adds_points_itself(module):
    with warnings.catch_warnings(action="error"), fv.record_path(module) as path, torch.no_grad():
        for _ in range(3):
            module[0].weight.add_(1.0)
            path.add()
    assert path.steps == (0, 1, 2, 3)
    found = (path.W[3] - path.W[0]).sum()
    assert found == approx(36, abs=1e-4)
    with (
        warned(r"optimiser was seen: call path.add\(\) in the loop"),
        fv.record_path(module),
    ):
        pass


def watched(module, steps, **how):
    g = rng(1)
    x = randn(8, 3, generator=g)
    y = randint(0, 2, (8,), generator=g)
    data = fv.Data(x, y)
    with fv.record_path(module, data=data, **how) as path:
        train(module, steps)
    return path, data


def test_a_watched_loop_has_the_curvature_of_its_points_and_is_what_it_is_unwatched(module):
    twin = copy.deepcopy(module)
    rows = []
    torch.manual_seed(0)
    path, data = watched(
        module, 6, every=2, budget=1e6, products=80, log=lambda *row: rows.append(row)
    )
    torch.manual_seed(0)
    train(twin, 6)
    assert equal(weights(module), weights(twin))
    assert not module._forward_pre_hooks
    history = path.history
    assert history.steps.tolist() == list(path.steps) == [0, 2, 4, 6]
    assert not history.notes

    def loss(w):
        h = (data.x @ w[:12].view(4, 3).T + w[12:16]).relu()
        return nn.functional.cross_entropy(h @ w[16:24].view(2, 4).T + w[24:], data.y)

    for i, w in enumerate(path.W):
        hessian = autograd.functional.hessian(loss, w)
        g = torch.func.grad(loss)(w)
        wanted = {
            "loss": loss(w),
            "sharpness": loss(w + 0.05 * g / g.norm()) - loss(w),
            "lambda1": torch.linalg.eigvalsh(hessian)[-1],
            "trace": hessian.trace(),
        }
        for name, value in wanted.items():
            found = float(getattr(history, name)[i])
            assert found == approx(float(value), rel=1e-3, abs=1e-6)
            assert (name, found, path.steps[i]) in rows
    assert fv.plot(history).data[-1].name == "trace"


@mark.parametrize(
    "cost, steps, measured",
    [(10, 400, [0, 150, 200, 250, 300, 350, 400]), (30, 100, [0, 100])],
)
def test_measurements_keep_to_the_budget_by_the_clock(module, monkeypatch, cost, steps, measured):
    now = [0.0]

    def slow(name, value, step):  # four values of a measurement
        now[0] += cost / 4

    monkeypatch.setattr("time.perf_counter", lambda: now[0])
    data = fv.Data(torch.ones(4, 3), torch.arange(4) % 2)
    with fv.record_path(
        module,
        data=data,
        budget=20,
        products=12,
        log=slow,
    ) as path:
        for _ in range(steps):
            now[0] += 1
            path.add()
    assert path.history.steps.tolist() == measured
    missed, *late = path.history.notes
    lost = steps + 1 - len(measured)
    assert missed.startswith(f"{lost} of {steps + 1} points were not measured: the budget is 20 %")
    if len(measured) == 2:
        assert late[0].startswith("start and end took 60 % of the loop's time")
    else:
        assert not late
        assert cost * len(measured) <= 0.2 * steps


def test_a_path_without_data_has_no_history_and_a_measurement_needs_products(module):
    with refused("give record_path data="):
        fv.record_path(module).history  # noqa: B018
    with refused("products"):
        watched(module, 1, products=3)


def test_a_recording_may_begin_and_end_while_another_thread_is_in_a_step():
    inside = threading.Event()
    go_on = threading.Event()

    def wait(*_):
        inside.set()
        assert go_on.wait(60)

    other = optim.SGD(Linear(2, 2).parameters(), lr=0.1)
    failed = []

    def step():
        try:
            other.step()
        except Exception as error:
            failed.append(error)

    hook = register_optimizer_step_post_hook(wait)
    thread = threading.Thread(target=step)
    thread.start()
    assert inside.wait(60)
    with fv.record_path(Linear(3, 2)) as path:
        path.add()
        go_on.set()
        thread.join()
    hook.remove()
    assert not failed
    assert len(path.W) == 2


def test_a_point_is_measured_after_the_last_of_its_optimisers(module):
    g = rng(1)
    data = fv.Data(randn(8, 3, generator=g), randint(0, 2, (8,), generator=g))
    body = optim.SGD(module[0].parameters(), lr=0.5)
    head = optim.SGD(module[3].parameters(), lr=0.5)
    with fv.record_path(module, data=data, budget=1e6) as path:
        for _ in range(3):
            train(module, 1, optimiser=body)
            train(module, 1, optimiser=head)
    losses = fv.nll(path.net, data).many(path.W)
    assert path.history.loss.tolist() == approx(losses.tolist(), rel=1e-5)
    assert path.history.steps.tolist() == list(path.steps)


def test_points_added_by_hand_are_thinned_evenly_and_the_last_is_kept(module):
    with fv.record_path(module, most=4) as path:
        for _ in range(21):
            path.add()
    assert path.steps == (0, 8, 16, 21)


def test_a_second_block_goes_on_with_the_path(module):
    path = fv.record_path(module)
    for _ in range(2):
        with path:
            train(module, 2, optimiser=optim.SGD(module.parameters(), lr=0.1))
    assert path.steps == (0, 1, 2, 3, 4)


@mark.parametrize("data", [None, blobs(8, 3, 2)])
def test_a_loop_that_diverges_keeps_its_path_and_its_own_error(data):
    module = Linear(3, 2)
    optimiser = torch.optim.SGD(module.parameters(), lr=1.0)

    def steps(path):
        with path:
            for scale in (1.0, 1.0, math.nan):
                optimiser.zero_grad()
                (scale * module.weight.sum()).backward()
                optimiser.step()

    how = {} if data is None else dict(data=data, budget=1e6)
    path = fv.record_path(module, **how)
    with warned("the loop ended at weights that are not finite"):
        steps(path)
    assert len(path.W) == 4
    assert torch.equal(path.net.w, path.W[2])
    if data is not None:
        assert path.history.loss.isfinite().tolist() == [True, True, True, False]
    torch.nn.init.ones_(module.weight)
    interrupted = fv.record_path(module)

    def stop():
        with interrupted:
            torch.nn.init.constant_(module.weight, math.nan)
            raise KeyboardInterrupt

    with raises(KeyboardInterrupt):
        stop()


def test_the_trainer_of_hugging_face_is_a_loop_like_any_other(tmp_path, monkeypatch):
    """As chapter 13 has it, with the trainer's own log."""
    transformers = importorskip("transformers")
    # It takes the folder tests/datasets for the package of that name
    monkeypatch.setattr("transformers.trainer.is_datasets_available", lambda: False)

    class Wrapped(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = Linear(3, 2)

        def forward(self, x, labels=None):
            logits = self.layer(x)
            return logits if labels is None else (nn.functional.cross_entropy(logits, labels),)

    rows = [{"x": row, "labels": i % 2} for i, row in enumerate(randn(16, 3, generator=rng()))]
    settings = dict(max_steps=6, report_to=[], use_cpu=True, disable_tqdm=True)
    trainer = transformers.Trainer(
        module := Wrapped(),
        transformers.TrainingArguments(tmp_path, **settings),
        train_dataset=rows,
    )
    data = fv.Data(stack([row["x"] for row in rows]), torch.arange(16) % 2)
    log = lambda name, value, step: trainer.log({name: value})
    with fv.record_path(module, every=2, data=data, budget=1e6, products=12, log=log) as path:
        trainer.train()
    assert path.steps == (0, 2, 4, 6)
    assert equal(path.W[-1], weights(module))
    logged = [row["lambda1"] for row in trainer.state.log_history if "lambda1" in row]
    assert logged[-1] == approx(float(path.history.lambda1[-1]))
