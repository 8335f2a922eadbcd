"""Settings of the whole process beside a second thread of the user's: none changes for it, or the
last thread to leave puts the user's value back."""

import os
import threading
import warnings

import pytest
import torch
from cases import around, blobs, net_of, warned
from internals import arithmetic
from oracles import beside, float32_flags
from pytest import importorskip, mark
from torch import backends, nn
from torch.nn import Tanh

import flatviz as fv
from flatviz.core import twice
from flatviz.core.modules import eager
from flatviz.families.standing import first_to_learn


def data_and_net(*layers):
    module = nn.Sequential(nn.Linear(6, 4), *layers, nn.Linear(4, 3)).eval()
    net = net_of(module)
    return blobs(40, 6, 3), net


class Repeated:
    """Another thread that calls `work` again and again, for the length of the block."""

    def __init__(self, work):
        self.work = work
        self.done = 0
        self.failed = None
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.run)

    def run(self):
        try:
            while not self.ended.is_set() or not self.done:
                self.work()
                self.done += 1
        except Exception as error:
            self.failed = error

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()
        assert self.failed is None
        assert self.done


@mark.parametrize("layer", [Tanh, nn.PReLU])
def test_warnings_of_a_thread_beside_fits_are_warnings_and_the_filters_stay(layer):
    data, net = data_and_net(layer())
    before = list(warnings.filters)
    fit = lambda seed: fv.fit(
        net.copy(),
        data,
        fv.Ensemble(members=2),
        seed=seed,
        steps=2,
    )
    with warned("the user's") as seen:
        before_inside = list(warnings.filters)
        with Repeated(lambda: fit(0)), Repeated(lambda: fit(1)):
            for _ in range(200):
                warnings.warn("the user's", UserWarning, stacklevel=1)
                threading.Event().wait(1e-4)
        assert warnings.filters == before_inside
    assert {str(w.message) for w in seen} == {"the user's"}
    assert len(seen) == 200
    assert warnings.filters == before


def attention_kernels():
    cuda = backends.cuda
    return cuda.flash_sdp_enabled(), cuda.math_sdp_enabled()


def stance():
    return importorskip("torch._dynamo.eval_frame")._stance.stance


@mark.parametrize(
    "block, setting, inside",
    [(twice, attention_kernels, (False, True)), (eager, stance, "force_eager")],
)
def test_a_setting_of_the_process_comes_back_after_the_last_thread(block, setting, inside):
    before = setting()
    assert before != inside
    with beside(block) as end:
        with block():
            end()
            assert setting() == inside
        assert setting() == before


def test_fused_attention_is_off_in_a_pass_alone_and_on_for_other_threads():
    class Asks(nn.Module):
        def __init__(self):
            super().__init__()
            self.attention = nn.MultiheadAttention(4, 2, batch_first=True)

        def forward(self, x):
            seen.append(backends.mha.get_fastpath_enabled())
            return self.attention(x, x, x)[0].mean(1)

    seen = []
    called = []
    fused = torch._native_multi_head_attention
    net = net_of(Asks().eval())
    x = torch.randn(3, 5, 4)
    with torch.no_grad(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            torch, "_native_multi_head_attention", lambda *a: called.append(1) or fused(*a)
        )
        want = net.to_module()(x)
        assert called  # torch's own choice
        called.clear()
        torch.testing.assert_close(net(net.w, x), want)
    assert not called
    assert all(seen)


def test_a_process_that_is_forked_inside_of_another_threads_block_has_the_users_flags():
    users = float32_flags()
    with beside(arithmetic):
        assert float32_flags() != users
        if not (child := os.fork()):
            os._exit(float32_flags() != users)
        assert os.waitpid(child, 0)[1] == 0


def test_a_fit_that_is_judged_by_its_score_says_nothing_and_one_of_another_thread_does():
    data, net = data_and_net(Tanh())
    prior = around(net, -1.0)
    rises = lambda: fv.fit(net, data, fv.VI(prior, lr=60.0), steps=40, seed=0)

    def attempt(rate):
        q = rises()
        if rate > 1:
            raise fv.Diverged("the loss")
        thread = threading.Thread(target=rises)
        thread.start()  # its warning is the only one
        thread.join()
        return q

    with warned("the loss ends far above") as seen:
        assert first_to_learn((2, 1), attempt).history.notes
    assert len(seen) == 1


def test_a_thread_that_starts_while_others_compute_begins_with_the_users_number():
    data, net = data_and_net(Tanh())
    f = fv.nll(net, data)
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    numbers = []
    start = lambda: numbers.append(torch.get_num_threads())
    with Repeated(lambda: f.many(net.w[None])):
        for _ in range(100):
            thread = threading.Thread(target=start)
            thread.start()
            thread.join()
    torch.set_num_threads(before)
    assert numbers == [3] * 100


@mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_process_forked_inside_another_threads_slice_slices_on_with_the_users_flags():
    data, net = data_and_net(Tanh())
    f = fv.nll(net, fv.Data(data.x.repeat(40, 1), data.y.repeat(40)))
    users = float32_flags()
    plane = fv.plane_random(net, net.w, seed=0)
    fv.slice_plane(f, plane, resolution=3)  # a module may not be half imported at a fork
    codes = []
    with Repeated(lambda: fv.slice_plane(f, plane, resolution=3)):
        for _ in range(5):
            if child := os.fork():
                codes.append(os.waitpid(child, 0)[1])
                continue
            timer = threading.Timer(60, os._exit, (1,))
            timer.start()
            fv.slice_plane(f, plane, resolution=3)
            os._exit(2 * (float32_flags() != users))
    assert codes == [0] * 5
