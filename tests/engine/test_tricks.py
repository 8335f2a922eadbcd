"""Which tricks are in use, and in which memory order: a lost trick changes no value, so that every other test passes."""

import sys
from collections import Counter
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

import flatviz as fv

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "benchmarks"))
from nets import ResNet20, mlp, settled


class Operations(TorchDispatchMode):
    """Counts the operations that run, and those of them whose images and filters are in channels-last order."""

    def __init__(self):
        super().__init__()
        self.count, self.channels_last = Counter(), Counter()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        name = func.overloadpacket.__name__
        self.count[name] += 1
        if name in ("convolution", "max_pool2d_with_indices", "native_batch_norm", "relu_"):
            ordered = [a for a in args[:2] if isinstance(a, torch.Tensor) and a.ndim == 4]
            if ordered and all(a.is_contiguous(memory_format=torch.channels_last) for a in ordered):
                self.channels_last[name] += 1
        return func(*args, **(kwargs or {}))


def digits():
    task = fv.datasets.digits_transfer(shots=10, seed=0)
    return fv.models.convnet(task), task.source.x[:24]


NETS = {  # module and inputs, and what runs at one point
    "mlp": (lambda: (mlp(784, 100, 10), torch.randn(24, 784)), dict(addmm=1, relu_=1)),  # the first layer is a sum of parts
    "digits": (digits, dict(convolution=2, native_batch_norm=1, relu_=3, max_pool2d_with_indices=1, addmm=1)),
    "resnet20": (
        lambda: (ResNet20(), torch.randn(8, 3, 32, 32)),
        dict(convolution=20, native_batch_norm=1, relu_=19, addmm=1),  # the stem's BatchNorm follows a sum of parts
    ),
}
# What a lost trick would bring back.
ABSENT = ("relu", "native_layer_norm", "t_copy", "view_copy", "split_with_sizes", "empty", "as_strided_", "embedding", "detach")


@pytest.mark.parametrize("name", NETS)
def test_the_operations_at_a_point_are_the_fewest(name):
    make, expected = NETS[name]
    module, x = make()
    module = settled(module, x)
    net, data = fv.Net.from_module(module), fv.Data(x, torch.arange(len(x)) % 4)
    plane = fv.plane_random(net, net.w, seed=0)
    evaluate = fv.nll(net, data).over(plane.origin, plane.axes, 100)
    images = x.ndim == 4
    assert evaluate.plan.tricks == ("fold", "reuse", "prefix") and evaluate.plan.channels_last == images
    assert evaluate.plan.stack == 1 and evaluate.plan.chunk == len(x)
    coords = torch.tensor([[0.1, 0.2]])
    evaluate(coords)
    with Operations() as seen:
        evaluate(coords)
    assert {op: n for op, n in seen.count.items() if op in expected} == expected
    assert not [op for op in ABSENT if op in seen.count]
    if images:
        assert seen.channels_last == Counter({op: n for op, n in expected.items() if op != "addmm"})


def test_a_short_last_batch_is_traced_for_itself():
    """Sizes are part of a trace: a view to (256, 12) would fail, or worse, on the 88 examples of the last batch."""

    class Sized(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = nn.Linear(12, 4)

        def forward(self, x):
            return self.a(x.reshape(x.shape[0], 3, 4).transpose(1, 2).reshape(x.shape[0], 12)) / x.shape[0] * len(x)

    net, data = fv.Net.from_module(Sized()), fv.Data(torch.randn(600, 12), torch.arange(600) % 4)
    plane, coords = fv.plane_random(net, net.w, seed=0), torch.tensor([[0.1, 0.2], [0.7, -1.0]])
    f = fv.nll(net, data)
    plan = f.over(plane.origin, plane.axes, 9).plan.to_dict() | {"chunk": 256}
    evaluate = f.over(plane.origin, plane.axes, 9, plan=plan)
    torch.testing.assert_close(evaluate(coords), f.many(plane.points(coords)), rtol=1e-5, atol=1e-6)
    assert len(set(evaluate._programs)) == 2 and [len(x) for x in evaluate._parts] == [256, 256, 88]
