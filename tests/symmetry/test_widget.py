"""The widget that rescales and permutes."""

import pytest
import torch
from symmetric_networks import network

import flatviz as fv


def test_a_slider_moves_the_weights_and_the_sharpness_and_no_output():
    net, units, x = network("mlp")
    box = fv.explore(net, fv.Data(x, torch.arange(20) % 3))
    first, flat = box.figure.data[0].y.copy(), box.figure.data[1].y.copy()
    assert flat == pytest.approx([1.0] * 7)
    box.controls["scale"].value = 2.0
    assert float(abs(box.figure.data[0].y - first).max()) > 0.1
    assert box.figure.data[1].y[0] > 1.5 and box.figure.data[1].y[5] == pytest.approx(1.0)
    assert float(box.text.value.split("change of an output ")[1].split(" of ")[0]) < 1e-10
    box.controls["scale"].value, box.controls["order"].value = 0.0, 3
    assert float(abs(box.figure.data[0].y - first).max()) > 0.1 and box.figure.data[1].y[0] == pytest.approx(1.0, rel=1e-4)
    tanh, _, _ = network("tanh")
    with pytest.raises(ValueError, match="got Tanh"):
        fv.explore(tanh, fv.Data(x, torch.arange(20) % 3))
