"""In which arithmetic float32 products are computed: seen by reading torch's flags inside of a forward pass."""

import pytest
import torch
from every_verb import TaskWithPath, calls
from torch import nn

import flatviz as fv
from flatviz.core.precision import IEEE, TF32, arithmetic, float32_flags, users_arithmetic

TRAINING = (
    "convergence_gap",
    "pretrain",
    "record_path",
    "fit_",
    "lab",
    "repeat_family",
    "mechanism_in_training",
    "predict_gap",
    "train_pool",
)


class Looks(nn.Linear):
    """A layer that notes torch's flags in each pass."""

    seen: set = set()

    def forward(self, x):
        Looks.seen.add(float32_flags())
        return super().forward(x)


@pytest.fixture
def users():
    """Flags that are neither torch's own nor IEEE: TF32 wherever it is known; torch's own afterwards."""
    before = float32_flags()
    torch.set_float32_matmul_precision("high")
    yield float32_flags()
    torch.set_float32_matmul_precision(before[0])
    for unit, value in zip((torch.backends.cuda.matmul, torch.backends.mkldnn.matmul), (before[2], before[5])):
        unit.fp32_precision = value
    assert float32_flags() == before


def test_measuring_verbs_run_in_ieee_and_training_in_what_the_user_set(users, tmp_path):
    torch.manual_seed(0)
    module = nn.Sequential(nn.Linear(3, 6), nn.BatchNorm1d(6), nn.ReLU(), nn.Linear(6, 3), nn.LayerNorm(3), Looks(3, 2))
    for layer in (module[1], module[4]):
        nn.init.normal_(layer.bias)
    x = torch.randn(20, 3)
    data = fv.Data(x, (x[:, 0] > 0).long())
    task = TaskWithPath(data, data, data, n_classes=2)
    object.__setattr__(task, "path", tmp_path / "q.pt")

    def metric(model):
        return float(nn.functional.cross_entropy(model.forward(data.x), data.y))

    wrong, looked, trained = {}, 0, 0
    for name, call in calls(fv, module, data, task, metric).items():
        if name in ("metric_objective", "run_random_plane", "run_linear_interpolation"):
            continue  # another library computes
        Looks.seen = set()
        call()
        trains = name.rpartition(".")[2].startswith(TRAINING)
        looked, trained = looked + bool(Looks.seen), trained + (trains and users in Looks.seen)
        if Looks.seen - {IEEE} and not (trains and Looks.seen <= {IEEE, users}):
            wrong[name] = Looks.seen
        assert float32_flags() == users, f"{name} left other flags"
    assert not wrong
    assert looked > 40 and trained > 20


def test_an_objective_that_is_asked_directly_measures_in_ieee(users):
    net = fv.Net.from_module(nn.Sequential(Looks(3, 2)))
    f = fv.nll(net, fv.Data(torch.randn(8, 3), torch.arange(8) % 2))
    Looks.seen = set()
    f.many(net.w[None]), f.hvp(net.w, net.w), f.value_and_grad(net.w)
    assert Looks.seen == {IEEE}


def test_blocks_nest_and_the_last_one_to_end_puts_the_users_flags_back(users):
    first, second = arithmetic(), arithmetic(TF32)
    with first:
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

    x = torch.linspace(-1, 3, 64 * 4).view(64, 4)
    y = torch.arange(64) % 3
    torch.manual_seed(0)
    fv.nll(fv.Net.from_module(Half(0.01)), fv.Data(x, y))  # below the rounding of bfloat16
    with pytest.raises(ValueError, match="treat each example alone"):
        fv.nll(fv.Net.from_module(Half(3.0)), fv.Data(x, y))
