"""Arithmetic and threads of torch: what verbs set while they run, and that the user's setting comes
back."""

import contextlib
import os
import platform
import subprocess
import sys
import threading
from functools import partial

import torch
from cases import around, blobs, net_of, random_surface, refused
from internals import SHARE, Program, arithmetic
from oracles import IEEE, Looks, beside, float32_flags, tf32
from pytest import fixture, mark, raises
from torch import backends, device, empty, equal, nn
from torch.nn import Linear

import flatviz as fv
from flatviz import models
from flatviz.core import threads, users_arithmetic

TF32 = ("high", True, *("tf32",) * 3, *("ieee",) * 3)  # what a user may have set


@fixture
def users():
    """Flags that are neither torch's own nor IEEE: TF32 wherever it is known; torch's own
    afterwards."""
    with tf32():
        yield float32_flags()


def test_an_objective_that_is_asked_directly_measures_in_ieee(users):
    module = nn.Sequential(Looks(3, 2))
    f = fv.nll(
        net_of(module),
        blobs(8, 3, 2),
    )
    w = f.net.w
    Looks.seen = set()
    f.many(w[None])
    f.hvp(w, w)
    f.value_and_grad(w)
    assert Looks.seen == {IEEE}


class Sees(Linear):
    """A layer that notes the default device."""

    def forward(self, x):
        self.seen = empty(0).device.type
        return super().forward(x)


@mark.parametrize("mode", [partial(torch.autocast, "cpu", torch.bfloat16), partial(device, "meta")])
def test_autocast_and_a_default_device_change_no_verb_and_the_users_module_has_its_device(mode):
    """In bfloat16 Lanczos loses orthogonality: it found 1,109 where 9 is the largest."""
    module = nn.Sequential(Sees(3, 4), nn.Dropout(0.2), Linear(4, 2)).eval()
    net = net_of(module)
    data = blobs(12, 3, 2)
    prior = around(net, -1.0)
    f = fv.nll(net, data)
    h = torch.cat([torch.tensor([9.0, 5.0]), torch.ones(98)])
    start = torch.ones(100)
    short = dict(seed=0)
    fields = dict(n_draws=2)

    def numbers():
        q = fv.fit(net, data, fv.VI(prior), seed=0, steps=3)
        return [
            fv.top_eigenpairs(lambda w: 0.5 * w @ h.diag() @ w, start, 2).values,
            q.mean,
            fv.fit(net, data, fv.SGLD(burn_in=0, thin=1, **fields), batch_size=5, **short).W,
            fv.fit(net, data, fv.Dropout(**fields), steps=2, **short).sample(1, seed=0),
            f.many(net.w[None]),
            random_surface(f, extent=1.0, resolution=3).values,
            fv.predict(net, q, data, 3, seed=0).outputs,
        ]

    state = lambda: (torch.empty(0).device.type, torch.is_autocast_enabled("cpu"))
    with mode():
        inside = state()
        got = numbers()
        assert state() == inside
        assert net.module[0].seen == inside[0]
    assert all(map(equal, got, numbers()))


def test_blocks_nest_and_the_last_thread_to_leave_puts_the_users_flags_back(users):
    with arithmetic():
        assert float32_flags() == IEEE
        with users_arithmetic():
            assert float32_flags() == users
        assert float32_flags() == IEEE
    with beside(arithmetic) as end:
        with arithmetic():
            end()
            assert float32_flags() == IEEE
        assert float32_flags() == users
    with arithmetic(), beside(arithmetic), users_arithmetic():
        assert float32_flags() == IEEE  # the other thread measures
    assert float32_flags() == users


def test_a_flag_that_the_user_sets_in_a_callback_stays_and_the_callback_sees_the_users_flags(
    users, task
):
    seen = []

    def progress(*_):
        seen.append(float32_flags())
        backends.cudnn.allow_tf32 = False  # as inside of a verb; the user had True

    net = net_of(models.mlp(task))
    fv.fit(net, task.train, fv.SGD(), seed=0, steps=1, progress=progress)
    assert seen[0] == users
    assert seen[-1] == float32_flags() != users
    assert not backends.cudnn.allow_tf32
    backends.cudnn.allow_tf32 = True


def test_flags_that_contradict_each_other_come_back_as_they_were():
    before = float32_flags()
    backends.cuda.matmul.fp32_precision = (
        "tf32"  # the new flag alone: reading the old one is then an error
    )
    mixed = float32_flags()
    assert mixed[0] is None
    with arithmetic():
        assert torch.get_float32_matmul_precision() == "highest"
        assert float32_flags() == IEEE
    assert float32_flags() == mixed
    backends.cuda.matmul.fp32_precision = before[2]
    assert float32_flags() == before


def test_a_module_that_casts_inside_is_judged_by_the_arithmetic_it_uses():
    class Half(nn.Module):
        """The rows of a batch are rounded to bfloat16; `coupled`: and depend on each other by as
        much."""

        def __init__(self, coupled):
            super().__init__()
            self.layer = Linear(4, 3)
            self.coupled = coupled

        def forward(self, x):
            out = self.layer(x)
            return (out + self.coupled * x.mean() * len(x) / 64).bfloat16().float()

    data = fv.Data(torch.linspace(-1, 3, 64 * 4).view(64, 4), torch.arange(64) % 3)
    fv.nll(net_of(Half(0.01)), data)  # below the rounding of bfloat16
    with refused("treat each example alone"):
        fv.nll(net_of(Half(3.0)), data)


@fixture(autouse=True)
def two_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def elsewhere(function):
    """function() on a thread that begins now."""
    results = []
    thread = threading.Thread(target=lambda: results.append(function()))
    thread.start()
    thread.join()
    return results[0]


@mark.parametrize("work, wanted", [(0, 1), (SHARE, 1), (2 * SHARE, 2), (100 * SHARE, 2)])
def test_a_block_has_a_thread_for_each_share_of_work_and_other_threads_have_the_users(work, wanted):
    with threads(work):
        with threads(SHARE * 2):
            assert torch.get_num_threads() == 2
        assert torch.get_num_threads() == wanted
        assert elsewhere(torch.get_num_threads) == 2
    assert torch.get_num_threads() == 2


def test_blocks_of_several_python_threads_do_not_meet_and_a_number_set_inside_stays():
    with beside(partial(threads, 0)) as end:
        assert torch.get_num_threads() == 2
        with threads(0):
            end()
            assert torch.get_num_threads() == 1
    for number in (3, 1):  # 1 is the block's own number
        with threads(0):
            with threads(SHARE * 2):
                torch.set_num_threads(number)
            with threads(SHARE * 9):  # at most what the user has set meanwhile
                assert torch.get_num_threads() == number
        assert torch.get_num_threads() == elsewhere(torch.get_num_threads) == number


@mark.parametrize("error", [None, ValueError, KeyboardInterrupt])
def test_a_fit_of_a_small_net_takes_one_thread_and_puts_the_users_number_back_after_any_end(
    error, task
):
    seen = []

    def progress(done, total, label):
        seen.append(torch.get_num_threads())
        if error is not None and done == 2:
            raise error

    net = net_of(models.mlp(task))
    with raises(error) if error else contextlib.nullcontext():
        fv.fit(net, task.train, fv.SGD(), seed=0, steps=4, progress=progress)
    assert set(seen) == {1}
    assert torch.get_num_threads() == 2


def test_a_small_net_gives_the_same_bits_for_any_number_of_threads(task):
    def values(n):
        torch.set_num_threads(n)
        net = net_of(models.mlp(task, seed=0))
        w = fv.fit(net, task.train, fv.SGD(), seed=0, steps=4).center
        f = fv.nll(net, task.train)
        plane = fv.plane_random(net, net.w, seed=0)
        return (
            w,
            fv.slice_plane(f, plane, resolution=5).values,
            fv.top_eigenpairs(f, w, 2).values,
        )

    assert all(map(equal, values(1), values(2)))


def test_a_large_net_has_all_threads(monkeypatch):
    seen = []

    class Wide(Linear):
        def forward(self, x):
            seen.append(torch.get_num_threads())
            return super().forward(x)

    # So that a net of the size of a test's is large
    monkeypatch.setattr("flatviz.core.arithmetic.SHARE", 10_000)
    module = nn.Sequential(Wide(64, 32), nn.ReLU(), Linear(32, 10))
    net = net_of(module)
    data = blobs(128, 64, 10)
    f = fv.nll(net, data)
    for call in (
        lambda: f.many(net.w[None]),
        lambda: fv.hvp(f, net.w, net.w),
        lambda: fv.predict(net, net.w[None], data, 1, seed=0),
        lambda: fv.fit(net, data, fv.SGD(), seed=0, steps=1),
    ):
        seen.clear()
        call()
        assert max(seen) == 2


def test_points_of_a_plane_are_shared_by_the_cores_with_one_thread_of_torch_each_and_the_same_bits(
    task, monkeypatch
):
    net = net_of(models.mlp(task, seed=0))
    f = fv.nll(net, task.train)
    plane = fv.plane_random(net, net.w, seed=0)
    main = threading.get_ident()
    run = Program.run
    seen = set()
    both = threading.Barrier(2, timeout=60)

    def noted(*about):
        here = (threading.get_ident(), torch.get_num_threads())
        if here not in seen and here[0] != main:
            seen.add(here)
            both.wait()  # for the other one: they run at once
        return run(*about)

    monkeypatch.setattr(Program, "run", noted)
    surface = fv.slice_plane(f, plane, extent=1.0, resolution=4)
    alone = surface.values
    assert not seen  # operations of a small net are short
    monkeypatch.setattr("flatviz.core.arithmetic.SHARED", 1)
    found = fv.slice_plane(f, plane, extent=1.0, resolution=4).values
    assert equal(found, alone)
    assert {count for _, count in seen} == {1}
    assert torch.get_num_threads() == elsewhere(torch.get_num_threads) == 2


PAGES = """
import resource
import torch
import flatviz.core.arithmetic

def chain():
    tensors = [torch.zeros(2**20)]
    for _ in range(10):
        tensors.append(tensors[-1] + 1)

def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

for _ in range(5):
    chain()
before = faults()
for _ in range(20):
    chain()
print(faults() - before)
"""


@mark.skipif(platform.libc_ver()[0] != "glibc", reason="glibc's rule for freed memory")
def test_a_pass_takes_the_memory_that_the_pass_before_freed():
    # The user's own settings of glibc would hide the rule
    env = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
    command = [sys.executable, "-c", PAGES]
    ran = subprocess.run(
        command,
        env=env,
        capture_output=True,
        text=True,
        check=True,
    )
    pages = 20 * 11 * 2**22 // 4096
    assert int(ran.stdout) < pages / 10
