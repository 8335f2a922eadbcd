"""A measured sharpness, written and read back."""

import dataclasses

import torch

import flatviz as fv


def test_sharpness_survives_saving_alone_and_among_others(tmp_path, quadratic):
    f, _, c = quadratic
    found = fv.sharpness(f, c + 0.1 * torch.randn(2, 12, dtype=torch.float64), iters=12)
    back = fv.load(fv.save({"flat": (found,), "all": found}, tmp_path / "s.pt"))
    for read in (back["flat"][0], back["all"]):
        assert isinstance(read, type(found)) and read.interval("trace") == found.interval("trace")
        for name, value in dataclasses.asdict(found).items():
            assert torch.equal(getattr(read, name), value)
