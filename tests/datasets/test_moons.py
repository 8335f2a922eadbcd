"""Two moons: their geometry, their sizes, and that a network transfers to them."""

import torch

import flatviz as fv


def test_without_noise_every_point_lies_on_its_half_circle():
    task = fv.datasets.moons_transfer(shots=20, noise=0.0, seed=0)
    x, y = task.train.x, task.train.y
    centre = torch.tensor([[0.0, 0.0], [1.0, 0.5]])[y]
    assert torch.allclose((x - centre).norm(dim=1), torch.ones(40), atol=1e-6)
    assert bool((x[y == 0][:, 1] >= 0).all()) and bool((x[y == 1][:, 1] <= 0.5).all())


def test_the_source_is_the_same_picture_turned():
    task = fv.datasets.moons_transfer(noise=0.0, seed=0)
    back = torch.tensor([[3**0.5 / 2, -0.5], [0.5, 3**0.5 / 2]])
    upright, y = task.source.x @ back, task.source.y
    centre = torch.tensor([[0.0, 0.0], [1.0, 0.5]])[y]
    assert torch.allclose((upright - centre).norm(dim=1), torch.ones(200), atol=1e-5)


def test_a_seed_fixes_the_points_and_another_changes_them():
    one, same, other = (fv.datasets.moons_transfer(seed=s) for s in (0, 0, 1))
    assert torch.equal(one.train.x, same.train.x) and not torch.equal(one.train.x, other.train.x)
    assert torch.bincount(one.train.y).tolist() == [10, 10]


def test_a_small_network_learns_them():
    task = fv.datasets.moons_transfer(seed=0)
    net = fv.pretrain(fv.models.mlp(task, hidden=(16, 16)), task.source, seed=0, epochs=40)
    assert (net(net.w, task.source.x).argmax(1) == task.source.y).float().mean() > 0.95
    assert (net(net.w, task.test.x).argmax(1) == task.test.y).float().mean() > 0.75  # turned by 30 degrees only
