"""A member that joins a family later has everything the others have: whatever the family draws, it draws."""

import dataclasses

import pytest
import torch

import flatviz as fv
from flatviz import results
from flatviz.families.inputs import input_maps
from flatviz.pages.bundle import pack


@pytest.fixture(scope="module")
def moons():
    """(net, task, prior, family): a family of a task in the plane, with all that a tour gives it."""
    task = fv.datasets.moons_transfer(seed=0)
    source = fv.pretrain(fv.models.mlp(task, hidden=(8,)), task.source, seed=0, epochs=3)
    net, prior = fv.transfer(source, fv.fit_swag(source, task.source, seed=0), treated="norm+head")
    radii = {"sgd": (0.0,), "vi": (0.0,), "sabma": (0.0, 0.5)}
    family = fv.families.fit_family(net, task, prior, radii=radii, seed=0, fit={"steps": 3})
    family = fv.families.measure(net, task, family, seed=1, n_draws=4, n_spectra=2, k=2, resolution=5, around_resolution=3)
    family = fv.families.repeat_family(net, task, prior, family, seeds=[9], fit={"steps": 3})
    maps = input_maps(net, task, family, seed=1, reference=family.posterior[1], resolution=5)
    return net, task, prior, dataclasses.replace(family, inputs=maps)


def test_a_radius_fitted_in_the_lab_joins_every_view_of_a_moons_tour(moons):
    net, task, prior, family = moons
    lab = fv.widgets.Lab(net, task, prior, family=family, seed=0, fit={"steps": 3})
    try:
        lab.radius = 1.0
        assert lab.wait(120) and lab.error == ""
        more = lab.family
        i = more.index("sabma", 1.0)
        assert more.radius[i] == 1.0 and len(more) == len(family) + 1
        assert pack(more).index["members"][i]["radius"] == 1.0
        direct = input_maps(net, task, more, seed=1, reference=family.posterior[1], resolution=5)
        assert sorted(more.inputs) == sorted(direct)
        for name, values in direct.items():
            torch.testing.assert_close(more.inputs[name], values, rtol=1e-5, atol=1e-6)  # float32 sums
        figure = fv.widgets.plot_view(more, "inputs", method="sabma", radius=1.0)
        assert (
            float((torch.as_tensor(figure.data[3].z) - direct["probs"][i, -1]).abs().max()) < 1e-6
        )  # after VI and two classes
    finally:
        lab.close()


def parts(held):
    """The fields of a result by name; all else as it is."""
    return {f.name: getattr(held, f.name) for f in dataclasses.fields(held)} if isinstance(held, results.Mechanism) else held


def test_what_holds_a_row_a_member_has_one_more(moons):
    net, task, prior, family = moons
    more = fv.families.family.extend(net, task, family, "sabma", 1.0, family.posterior[-1], seed=1)
    n, rows = len(family), []
    for field in dataclasses.fields(family):
        before, after = (parts(getattr(one, field.name)) for one in (family, more))
        for one, other in [(before[k], after[k]) for k in before] if isinstance(before, dict) else [(before, after)]:
            if isinstance(one, (tuple, torch.Tensor)) and len(one) == n:
                rows.append(field.name)
                assert len(other) == n + 1, field.name
    told = {"method", "radius", "unit", "posterior", "projection", "around", "sharpest", "spectrum", "prediction"}
    assert told | {"over_seeds", "mechanism", "inputs", "maps"} == set(rows)
