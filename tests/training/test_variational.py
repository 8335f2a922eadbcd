"""The loop of VI and SA-BMA: noise drawn ahead, checkpoints inside a block of it, members at once."""

from functools import partial

import pytest
import torch
from oracles import equal, random_gaussian, stopping_at

import flatviz as fv
from flatviz.training import streams
from flatviz.training.streams import MirroredNoise


@pytest.mark.parametrize(("seeds", "draws"), [([7], 1), ([7, 8], 1), ([7, 8, 9], 2)])
def test_noise_drawn_ahead_is_the_noise_of_one_draw_every_second_step_and_its_negative_after_it(seeds, draws, monkeypatch):
    monkeypatch.setattr(streams, "STEPS_AHEAD", 4)
    q = random_gaussian(0, dim=7, rank=3, dtype=torch.float32)
    ahead, sources = MirroredNoise(seeds, draws, q, 10), [torch.Generator().manual_seed(s) for s in seeds]
    want = torch.empty(0)
    for step in range(10):
        fresh = [torch.randn(draws, 10, generator=source) for source in sources] if step % 2 == 0 else None
        want = -want if fresh is None else torch.stack(fresh)  # (B, draws, D + K)
        got = torch.cat(ahead.at(step), -1)
        assert torch.equal(got, want.squeeze(0) if len(seeds) == 1 else want)


@pytest.mark.parametrize("stop", [1, 3, 4, 5, 8])  # inside a block of 4 steps, at its last step, at the next one's first
@pytest.mark.parametrize("seeds", [[0], [0, 1]])
def test_a_run_stopped_anywhere_resumes_to_the_same_bits(seeds, stop, tiny, tmp_path, monkeypatch):
    monkeypatch.setattr(streams, "STEPS_AHEAD", 4)
    prior = random_gaussian(0, dim=tiny[0].dim, rank=2)
    fit = partial(fv.fit_sabma_grid, *tiny, prior, radius=[0.3], seed=seeds, steps=10, batch_size=5)
    with pytest.raises(KeyboardInterrupt):
        fit(checkpoint=tmp_path / "run", progress=stopping_at(stop))
    assert equal(dict(fit(checkpoint=tmp_path / "run")), dict(fit()))


def test_a_scaled_start_has_all_its_widths_scaled(tiny):
    prior = random_gaussian(0, dim=tiny[0].dim)
    first = fv.fit_vi(*tiny, prior, seed=0, start_scale=0.5, steps=1, lr=1e-12)
    torch.testing.assert_close(first.std, 0.5 * prior.std)
    torch.testing.assert_close(first.factor, 0.5 * prior.factor)
