"""The figure of an orbit by what is in it."""

import numpy as np
import pytest
import torch

import flatviz as fv


def test_the_orbits_slider_has_a_step_for_each_place_and_says_what_changes():
    t = torch.tensor([-1.0, 0.0, 1.0])
    measures = {"λ₁": torch.tensor([8.0, 2.0, 4.0]), "ASAM": torch.tensor([0.3, 0.3, 0.3])}
    fig = fv.plots.plot_orbit(t, measures, torch.tensor([1e-7, 0.0, 2e-7]))
    np.testing.assert_allclose(fig.data[0].y, [4.0, 1.0, 2.0])
    steps = fig.layout.sliders[0].steps
    assert len(steps) == 3 and fig.layout.sliders[0].active == 1
    said = steps[0].args[0]
    assert said["shapes[0].x0"] == -1.0 and "λ₁ × 4" in said["xaxis.title.text"] and "ASAM" not in said["xaxis.title.text"]
    with pytest.raises(ValueError, match="must hold 3 values each"):
        fv.plots.plot_orbit(t, {"λ₁": torch.ones(2)}, torch.zeros(3))
