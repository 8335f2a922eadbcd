"""Flatness and scores against radius: the drawn numbers are the family's, bands those of its seeds."""

import dataclasses

import numpy as np
import pytest
import torch

import flatviz as fv
from flatviz.families.family import repeat_family
from flatviz.families.members import Fitting


@pytest.fixture(scope="module")
def repeated(family, transferred, task):
    net, prior = transferred
    return repeat_family(Fitting(net, task, prior, 0, {"steps": 5}), family, [7, 8])


def test_the_first_seed_is_the_familys_own_and_the_others_are_those_of_fits_by_themselves(repeated, family, transferred, task):
    net, prior = transferred
    i = family.index("sabma", 2.0)
    assert all(m.over_seeds["nll"].shape == (3,) for m in repeated)
    for name in ("accuracy", "nll", "ece"):
        assert float(repeated[i].over_seeds[name][0]) == float(family.prediction[i].scores[name][-1])
    q = Fitting(net, task, prior, seed=8, fit={"steps": 5}).member("sabma", 2.0)
    alone = fv.predict(net, q, task.test, 6, seed=9).scores
    assert float(repeated[i].over_seeds["nll"][2]) == pytest.approx(float(alone["nll"][-1]), rel=1e-3)  # trained together
    f = fv.nll(net, task.train)
    lambda1 = [float(fv.top_eigenpairs(f, w, 1).values[0]) for w in q.sample(2, seed=9)]
    assert float(repeated[i].over_seeds["lambda1"][2]) == pytest.approx(sum(lambda1) / 2, rel=1e-2)
    vi, zero = (family.index(m, 0.0) for m in ("vi", "sabma"))
    assert torch.equal(repeated[vi].over_seeds["nll"], repeated[zero].over_seeds["nll"])  # radius 0 is one member


def test_lines_are_means_over_seeds_and_bands_their_range(repeated):
    fig = fv.plots.plot_radius(repeated, method="sabma", radius=2.0)
    drawn = {(t.name, t.xaxis): t for t in fig.data}
    rows = [repeated.index("sabma", r) for r in repeated.radii("sabma")]
    for k, name in enumerate(("lambda1", "nll", "accuracy", "ece")):
        values = torch.stack([repeated[i].over_seeds[name] for i in rows]).double()
        markers, band, ring = (drawn[what, f"x{2 * k + 2}"] for what in ("SA-BMA, radii", "SA-BMA, seeds", "selected"))
        assert list(markers.y) == pytest.approx(values.mean(1).tolist())
        assert list(band.y) == pytest.approx([*values.amin(1).tolist(), *values.amax(1).flip(0).tolist()])
        assert ring.visible and (ring.x[0], ring.y[0]) == (markers.x[-1], markers.y[-1])
        assert not drawn["selected", f"x{2 * k + 1}" if k else "x"].visible  # SAM's radius has another unit
    assert "mean and range of 3 seeds" in fig.layout.title.text


def test_a_family_without_radii_is_refused_and_one_of_one_seed_has_no_band(family):
    assert not any("seeds" in t.name for t in fv.plots.plot_radius(family).data)
    with pytest.raises(ValueError, match="must be measured and have a method of several radii, got .*: use fv.families.meas"):
        fv.plots.plot_radius(dataclasses.replace(family, members=family.members[:1]))


def test_the_frontier_finds_the_temperature_of_equal_training_loss_between_those_fitted(family):
    """VI over T with a training loss of T^2 and an NLL of 1 + T: at a loss of 0.04, T* = 0.2 and the cross is on that line."""
    losses = {("vi_t", 0.1): 0.01, ("vi_t", 0.4): 0.16, ("sabma", 1.0): 0.04, ("vi", 0.0): 0.0225, ("sabma", 2.0): 0.5}

    def member(method, radius, loss):
        projection = dataclasses.replace(family[0].projection, values=torch.full((6,), loss))
        scores = {name: torch.full((6,), 1.0 + loss**0.5) for name in family[0].prediction.scores}
        prediction = dataclasses.replace(family[0].prediction, scores=scores)
        return dataclasses.replace(family[0], method=method, radius=radius, projection=projection, prediction=prediction)

    made = dataclasses.replace(family, members=tuple(member(*key, loss) for key, loss in losses.items()))
    fig = fv.plots.plot_frontier(made, method="sabma", radius=1.0)
    ring, cross = ([t for t in fig.data if t.name == name][1] for name in ("selected", "VI at T*"))
    assert (ring.x[0], ring.y[0]) == pytest.approx((0.04, 1.2), rel=1e-6)
    at = np.interp(np.log(0.04), np.log([0.0225, 0.16]), [1.15, 1.4])  # VI itself lies on the line too
    assert (cross.x[0], cross.y[0]) == pytest.approx((0.04, at), rel=1e-6)
    assert fig.layout.annotations[-1].text == "SA-BMA, radius 1 (○):<br>VI at T* = 0.2 (×) has its training loss"
    beyond = fv.plots.plot_frontier(made, method="sabma", radius=2.0)
    assert "no T of these" in beyond.layout.annotations[-1].text and np.isnan(beyond.data[-1].y[0])
    assert [(p.trace, p.path.split(".")[-1]) for p in fig.live[:4]] == [
        ("selected", "x"),
        ("selected", "y"),
        ("VI at T*", "x"),
        ("VI at T*", "y"),
    ]
    with pytest.raises(ValueError, match="must be measured and hold VI at two temperatures"):
        fv.plots.plot_frontier(dataclasses.replace(made, members=made.members[1:]))
