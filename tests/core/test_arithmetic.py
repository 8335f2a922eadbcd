"""In which arithmetic float32 products are computed: seen by reading torch's flags inside of a forward pass."""

import pytest
import torch
from oracles import Looks, tf32
from torch import nn

import flatviz as fv
from flatviz.core.arithmetic import IEEE, arithmetic, float32_flags, users_arithmetic

TF32 = ("high", True, *("tf32",) * 3, *("ieee",) * 3)  # what a user may have set


@pytest.fixture
def users():
    """Flags that are neither torch's own nor IEEE: TF32 wherever it is known; torch's own afterwards."""
    with tf32():
        yield float32_flags()


def test_an_objective_that_is_asked_directly_measures_in_ieee(users):
    f = fv.nll(fv.Net.from_module(nn.Sequential(Looks(3, 2))), fv.Data(torch.randn(8, 3), torch.arange(8) % 2))
    w, Looks.seen = f.net.w, set()
    f.many(w[None]), f.hvp(w, w), f.value_and_grad(w)
    assert Looks.seen == {IEEE}


def test_blocks_nest_and_the_last_one_to_end_puts_the_users_flags_back(users):
    with arithmetic():
        assert float32_flags() == IEEE
        with users_arithmetic():
            assert float32_flags() == users
        assert float32_flags() == IEEE
    first, second = arithmetic(), arithmetic(TF32)  # of two threads: the first ends before the second
    first.__enter__(), second.__enter__()
    assert float32_flags() == TF32
    first.__exit__(None, None, None), second.__exit__(None, None, None)
    assert float32_flags() == users


def test_flags_that_contradict_each_other_come_back_as_they_were():
    before = float32_flags()
    torch.backends.cuda.matmul.fp32_precision = "tf32"  # the new flag alone: reading the old one is then an error
    mixed = float32_flags()
    assert mixed[0] is None
    with arithmetic():
        assert torch.get_float32_matmul_precision() == "highest" and float32_flags() == IEEE
    assert float32_flags() == mixed
    torch.backends.cuda.matmul.fp32_precision = before[2]
    assert float32_flags() == before


def test_a_module_that_casts_inside_is_judged_by_the_arithmetic_it_uses():
    class Half(nn.Module):
        """The rows of a batch are rounded to bfloat16; `coupled`: and depend on each other by as much."""

        def __init__(self, coupled):
            super().__init__()
            self.layer, self.coupled = nn.Linear(4, 3), coupled

        def forward(self, x):
            out = self.layer(x)
            return (out + self.coupled * x.mean() * len(x) / 64).bfloat16().float()

    data = fv.Data(torch.linspace(-1, 3, 64 * 4).view(64, 4), torch.arange(64) % 3)
    fv.nll(fv.Net.from_module(Half(0.01)), data)  # below the rounding of bfloat16
    with pytest.raises(ValueError, match="treat each example alone"):
        fv.nll(fv.Net.from_module(Half(3.0)), data)
