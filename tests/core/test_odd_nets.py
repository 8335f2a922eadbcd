"""Networks of every kind in the fast path: tokens in, inputs overwritten, several inputs, batches that must stay whole."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

import flatviz as fv


class Tokens(nn.Module):
    """An embedding and an LSTM or attention: inputs are whole numbers."""

    def __init__(self, kind):
        super().__init__()
        self.embedding, self.kind = nn.Embedding(20, 8), kind
        if kind == "lstm":
            self.middle = nn.LSTM(8, 8, batch_first=True)
        elif kind == "transformer":
            self.middle = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, dropout=0.0)
        else:
            self.middle = nn.Identity()
        self.head = nn.Linear(8, 4)

    def forward(self, x):
        z = self.middle(self.embedding(x))
        return self.head((z[0] if self.kind == "lstm" else z).mean(1))


def made(module, x, treated="all", *, targets=None):
    """(net, data, plane): a module that came out of the user's hands, in evaluation mode."""
    net = fv.Net.from_module(module.eval(), treated)
    y = torch.arange(len(x)) % 4 if targets is None else targets
    return net, fv.Data(x, y), fv.plane_random(net, net.w, seed=1)


def loop(net, x, y, points):
    """Plain torch: a module at each point, on a copy of the inputs."""
    with torch.no_grad():
        return torch.stack([F.cross_entropy(net.to_module(w).eval()(x.clone()), y) for w in points])


COORDS = torch.tensor([[0.0, 0.0], [0.4, -0.3], [1.0, 1.0]])


@pytest.fixture(autouse=True)
def seeded():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        yield


@pytest.mark.parametrize("kind", ["embedding", "lstm", "transformer"])
def test_networks_of_whole_numbers_have_surfaces_lines_and_ensembles(kind):
    net, data, plane = made(Tokens(kind), torch.randint(0, 20, (30, 7)))
    f, W = fv.nll(net, data), plane.points(COORDS)
    want = loop(net, data.x, data.y, W)
    for values in (
        f.over(plane.origin, plane.axes, 9)(COORDS),
        fv.bma_nll(net, data, net.w[None]).over(net.w, plane.axes, 9)(COORDS),
    ):
        torch.testing.assert_close(values, want, rtol=1e-5, atol=1e-6)  # float32 sums over 30 examples
    torch.testing.assert_close(fv.slice_line(f, W[0], W[2], resolution=3).values[[0, 2]], want[[0, 2]], rtol=1e-5, atol=1e-6)
    assert fv.slice_plane(f, plane, resolution=3).n_diverged == 0
