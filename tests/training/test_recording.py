"""record_path: the weights that a loop passed, whatever the loop, within a bound on memory."""

import warnings

import pytest
import torch
from torch import nn
from torch.optim import optimizer as optimisers

import flatviz as fv


def weights(module):
    return nn.utils.parameters_to_vector(module.parameters()).detach().clone()


def train(module, steps, *, optimiser=None):
    """The weights after each step."""
    optimiser, seen = optimiser or torch.optim.SGD(module.parameters(), lr=0.1, momentum=0.9), []
    g = torch.Generator().manual_seed(0)
    x, y = torch.randn(16, 3, generator=g), torch.randint(0, 2, (16,), generator=g)
    for _ in range(steps):
        optimiser.zero_grad()
        nn.functional.cross_entropy(module(x), y).backward()
        optimiser.step()
        seen.append(weights(module))
    return seen


@pytest.fixture
def module():
    return nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.2), nn.ReLU(), nn.Linear(4, 2))  # dropout on: a user's loop has it


def test_the_path_is_what_the_loop_itself_saw(module):
    start = weights(module)
    with fv.record_path(module, every=3) as path:
        seen = [start, *train(module, 10)]
    assert path.steps == (0, 3, 6, 9, 10)
    assert torch.equal(path.W, torch.stack([seen[i] for i in path.steps])) and torch.equal(path.net.w, seen[-1])
    train(module, 3)  # what comes after is not of the path
    assert len(path.steps) == 5 and not optimisers._global_optimizer_post_hooks


def test_a_long_run_keeps_every_second_point_and_doubles_its_stride(module):
    with fv.record_path(module, most=8) as path:
        seen = train(module, 100)
    assert path.every == 16 and path.steps == (0, 16, 32, 48, 64, 80, 96, 100)
    assert torch.equal(path.W[1:], torch.stack([seen[i - 1] for i in path.steps[1:]]))


def test_only_the_modules_own_optimisers_count_and_two_of_one_step_count_once(module):
    other = torch.optim.SGD(nn.Linear(2, 2).parameters(), lr=0.1)
    with fv.record_path(module, treated=lambda name: name.startswith("3.")) as path:
        train(module, 2)
        other.step()
        train(module, 2, optimiser=torch.optim.SGD(module[0].parameters(), lr=0.1))  # holds none of the treated weights
        train(module, 2, optimiser=torch.optim.Adam(module.parameters()))  # one that takes over
    assert path.W.shape == (5, 10) and path.steps == (0, 1, 2, 3, 4)
    body, head = (torch.optim.SGD(module[i].parameters(), lr=0.1) for i in (0, 3))
    with fv.record_path(module, every=2) as path:
        for _ in range(5):
            train(module, 1, optimiser=body)
            train(module, 1, optimiser=head)
    assert path.steps == (0, 2, 4, 5)
    assert torch.equal(path.W[-1], path.net.w) and not torch.equal(path.W[1, -10:], path.W[0, -10:])


def test_a_loop_without_an_optimiser_adds_points_itself(module):
    with warnings.catch_warnings(action="error"), fv.record_path(module) as path, torch.no_grad():
        for _ in range(3):
            module[0].weight.add_(1.0)
            path.add()
    assert path.steps == (0, 1, 2, 3) and float((path.W[3] - path.W[0]).sum()) == pytest.approx(36, abs=1e-4)
    with pytest.warns(UserWarning, match=r"optimiser was seen: call path.add\(\) in the loop"), fv.record_path(module):
        pass
