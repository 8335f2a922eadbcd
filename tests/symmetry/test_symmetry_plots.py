"""The figures of symmetries by what is in them."""

import math

import numpy as np
import pytest
import torch

import flatviz as fv
from flatviz.plots.mmd import set_label


def test_the_triptych_counts_every_network_in_its_window_on_each_panel():
    g = torch.Generator().manual_seed(0)
    weights = {name: 1.5 * torch.randn(500, 2, generator=g) for name in ("raw", "scaled", "sorted")}
    fig = fv.plot_triptych(weights, window=3.0)
    assert [t.type for t in fig.data] == ["heatmap"] * 3
    for trace, w in zip(fig.data, weights.values()):
        assert np.nansum(trace.customdata) == int((w.abs().amax(1) <= 3.0).sum())
        x, y = int(np.nanargmax(trace.customdata) % 60), int(np.nanargmax(trace.customdata) // 60)
        near = ((w[:, 0] - trace.x[x]).abs() < 0.05 + 1e-6) & ((w[:, 1] - trace.y[y]).abs() < 0.05 + 1e-6)
        assert int(near.sum()) == np.nanmax(trace.customdata), "w1 lies along x"
    assert fig.layout.yaxis2.scaleanchor == "x2" and "500 networks" in fig.layout.title.text
    with pytest.raises(ValueError, match="weights must have the names 'raw', 'scaled', 'sorted', got 'raw'"):
        fv.plot_triptych({"raw": weights["raw"]})


def test_marginals_are_densities():
    g = torch.Generator().manual_seed(0)
    fig = fv.plot_marginals({"0.weight": (torch.randn(4000, generator=g), 2 + torch.randn(4000, generator=g))})
    for trace, mean in zip(fig.data, (0.0, 2.0)):
        step = trace.x[1] - trace.x[0]
        assert np.sum(trace.y) * step == pytest.approx(1.0, abs=0.02)
        assert np.sum(trace.x * trace.y) * step == pytest.approx(mean, abs=0.1)


def test_mass_lies_below_the_diagonal_and_its_legend_names_the_excess():
    m = torch.tensor([[1.2, 1.0], [3.0, 2.0], [1.1, 1.0]])
    fig = fv.plot_mass({"recipe": m})
    line, points = fig.data
    assert list(line.x) == list(line.y)
    np.testing.assert_allclose(points.customdata, [20.0, 50.0, 10.0], rtol=1e-5)
    assert "median excess 20 %" in points.name
    with pytest.raises(ValueError, match="at least one recipe, got none"):
        fv.plot_mass({})


def test_each_set_has_a_marker_a_variant_and_the_control_a_line():
    table = {v: {"swag/one": (60.0, 1.0), "swag/multi": (6.0, 0.5), "control": (5.5, 0.0)} for v in ("raw", "aligned")}
    fig = fv.plot_mmd(table)
    assert [list(t.x) for t in fig.data] == [[60.0, 6.0, 5.5]] * 2 and list(fig.data[0].error_x.array) == [1.0, 0.5, 0.0]
    assert [s.x0 for s in fig.layout.shapes] == [5.5, 5.5]
    assert list(fig.layout.yaxis.ticktext) == ["SWAG, one mode", "SWAG, ten modes", "ten networks copied (control)"]
    assert set_label("ensemble") == "deep ensemble"


def test_pairs_have_a_density_over_logarithms_and_a_line_at_ln_2():
    values = torch.logspace(-3, -1, 2000)
    fig = fv.plot_pairs({"test": values})
    x = np.log10(fig.data[0].x)
    assert np.sum(fig.data[0].y) * (x[1] - x[0]) == pytest.approx(1.0, abs=1e-3)
    assert fig.layout.shapes[0].x0 == pytest.approx(math.log(2))
    assert fig.layout.annotations[0].x == pytest.approx(math.log10(math.log(2)))


def test_the_orbits_slider_has_a_step_for_each_place_and_says_what_changes():
    t = torch.tensor([-1.0, 0.0, 1.0])
    measures = {"λ₁": torch.tensor([8.0, 2.0, 4.0]), "ASAM": torch.tensor([0.3, 0.3, 0.3])}
    fig = fv.plot_orbit(t, measures, torch.tensor([1e-7, 0.0, 2e-7]))
    np.testing.assert_allclose(fig.data[0].y, [4.0, 1.0, 2.0])
    steps = fig.layout.sliders[0].steps
    assert len(steps) == 3 and fig.layout.sliders[0].active == 1
    said = steps[0].args[0]
    assert said["shapes[0].x0"] == -1.0 and "λ₁ × 4" in said["xaxis.title.text"] and "ASAM" not in said["xaxis.title.text"]
    with pytest.raises(ValueError, match="must hold 3 values each"):
        fv.plot_orbit(t, {"λ₁": torch.ones(2)}, torch.zeros(3))
