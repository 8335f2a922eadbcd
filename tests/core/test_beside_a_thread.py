"""Settings of the whole process beside a second thread of the user's: none changes for it, or the
last thread to leave puts the user's value back."""

import os
import threading
import warnings

import pytest
import torch
from cases import blobs, net_of, warned
from internals import arithmetic, float32_flags
from oracles import beside
from pytest import importorskip, mark
from torch import backends, nn
from torch.nn import Tanh

import flatviz as fv
from flatviz.core import twice
from flatviz.core.modules import eager


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
    fit = lambda seed: fv.fit_ensemble(net.copy(), data, members=2, seed=seed, steps=2)
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
