"""Members trained together are the members trained alone."""

from types import MethodType

import pytest
import torch
from oracles import loop
from torch import nn

import flatviz as fv
from flatviz.training.gradient import gradient
from flatviz.training.losses import BatchedLosses, FrozenLoss, RowLosses, training_loss


def chain(dtype, treated="all"):
    middle = nn.Sequential(nn.ReLU(), nn.Linear(8, 5, bias=False))
    module = nn.Sequential(nn.Flatten(), nn.Linear(6, 8), nn.LayerNorm(8), middle, nn.Tanh(), nn.Linear(5, 3))
    data = fv.Data(torch.randn(20, 2, 3, dtype=dtype), torch.randint(0, 3, (20,)))
    return fv.Net.from_module(module.to(dtype), treated), data


def rows(net):
    return net.w + 0.1 * torch.randn(3, net.dim, generator=torch.Generator().manual_seed(1), dtype=net.w.dtype)


@pytest.mark.parametrize("treated", ["all", "norm+head", lambda name: name.endswith("bias")])
@pytest.mark.parametrize("ascent", [None, fv.SAM(0.1)])
def test_one_step_together_is_each_step_alone(treated, ascent):
    for dtype, tolerance in ((torch.float32, 1e-5), (torch.float64, 1e-12)):
        net, data = chain(dtype, treated)
        loss, W = training_loss(net, data, members=3), rows(net)
        assert isinstance(loss, BatchedLosses)
        for index in (None, torch.arange(12).view(3, 4)):
            values, g, gain = gradient(loss, W, index, ascent)
            for i, w in enumerate(W):
                alone = gradient(FrozenLoss(net, data, "categorical"), w, None if index is None else index[i], ascent)
                row = values[i], g[i], None if ascent is None else gain[i]
                torch.testing.assert_close(row, alone, rtol=tolerance, atol=tolerance)


def test_rows_of_reduced_precision_go_in_one_pass_as_one_by_one():
    net, data = chain(torch.float32)
    how = fv.Training(precision="bfloat16")
    loss, W = training_loss(net, data, training=how, members=3), rows(net)
    assert isinstance(loss, BatchedLosses)
    alone, exact = (RowLosses([FrozenLoss(net, data, "categorical", p)] * 3) for p in (how, fv.Training()))
    g, one_by_one, in_float32 = (gradient(f, W, None)[1] for f in (loss, alone, exact))
    assert g.dtype == torch.float32 and 1e-4 < float((g - in_float32).norm() / in_float32.norm()) < 0.05  # 8 bits of mantissa
    torch.testing.assert_close(g, one_by_one, rtol=0.05, atol=0.01)


def test_a_regression_runs_together_too():
    net, data = chain(torch.float64)
    targets = fv.Data(data.x, torch.randn(20, 3, dtype=torch.float64))
    loss = training_loss(net, targets, 0.3, members=3)
    torch.testing.assert_close(loss(rows(net), None), fv.nll(net, targets, likelihood=0.3).many(rows(net)))


def test_members_with_statistics_of_their_own_go_one_by_one_each_with_statistics_of_its_own():
    data = fv.Data(torch.randn(16, 3), torch.randint(0, 2, (16,)))
    net = fv.Net.from_module(nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 2)))
    loss = training_loss(net, data, batchnorm="train", members=2)
    assert type(loss) is RowLosses
    W = torch.stack([net.w, 2 * net.w])
    gradient(loss, W, None, fv.SAM(0.1))
    for i, w in enumerate(W):
        alone = training_loss(net, data, batchnorm="train")
        alone(w, None)
        torch.testing.assert_close(loss.state[f"{i} buffer 1.running_mean"], alone.state["buffer 1.running_mean"])
        assert int(loss.state[f"{i} buffer 1.num_batches_tracked"]) == 1


def test_any_network_in_evaluation_mode_can_run_together():
    layers = nn.Conv2d(1, 3, 3), nn.BatchNorm2d(3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(3, 2)
    net = fv.Net.from_module(nn.Sequential(*layers).double(), "norm+head", example=torch.randn(2, 1, 6, 6, dtype=torch.float64))
    data = fv.Data(torch.randn(8, 1, 6, 6, dtype=torch.float64), torch.randint(0, 2, (8,)))
    W, together = rows(net), training_loss(net, data, members=3)
    assert isinstance(together, BatchedLosses)
    alone = RowLosses([FrozenLoss(net, data, "categorical")] * 3)
    for index in (None, torch.arange(6).view(3, 2)):
        torch.testing.assert_close(*(gradient(loss, W, index, fv.SAM(0.1)) for loss in (together, alone)))


PATCHED = {  # which layer of the three, and its other forward
    "a layer": (0, lambda layer, x: 2 * nn.Linear.forward(layer, x) + 1),
    "a function": (1, lambda layer, x: x.softmax(-1)),
}


@pytest.mark.parametrize("name", PATCHED)
def test_members_of_a_net_with_a_patched_layer_have_the_losses_of_the_module_itself(name):
    module = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 3)).eval()
    data = fv.Data(torch.randn(20, 4), torch.arange(20) % 3)
    index, forward = PATCHED[name]
    module[index].forward = MethodType(forward, module[index])
    net = fv.Net.from_module(module)
    values = training_loss(net, data, members=3)(rows(net), None)
    torch.testing.assert_close(values, loop(net, data, rows(net)), rtol=1e-5, atol=1e-5)
