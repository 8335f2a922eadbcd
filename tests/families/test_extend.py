"""A member that joins a family later has everything the others have: whatever the family draws, it draws."""

import dataclasses

import pytest
import torch

import flatviz as fv
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
    return net, task, prior, input_maps(net, task, family, seed=1, reference=family.posterior[1], resolution=5)


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
        assert sorted(more.inputs) == sorted(direct.inputs)
        for one, other in zip(more, direct, strict=True):
            torch.testing.assert_close(one.maps["probs"], other.maps["probs"], rtol=1e-5, atol=1e-6)  # float32 sums
        figure = fv.widgets.plot_view(more, "inputs", method="sabma", radius=1.0)
        assert (
            float((torch.as_tensor(figure.data[3].z) - direct[i].maps["probs"][-1]).abs().max()) < 1e-6
        )  # after VI and two classes
    finally:
        lab.close()


def test_a_member_that_joins_has_every_field_and_map_of_the_others(moons):
    net, task, prior, family = moons
    more = fv.families.family.extend(net, task, family, "sabma", 1.0, family.posterior[-1], seed=1)
    one, other = family[-1], more[-1]
    for field in dataclasses.fields(one):
        assert bool(getattr(other, field.name)) == bool(getattr(one, field.name)), field.name
    for held, grown in ((one.maps, other.maps), (one.over_seeds, other.over_seeds)):
        assert {k: v.shape for k, v in held.items() if isinstance(v, torch.Tensor)} == {
            k: v.shape for k, v in grown.items() if isinstance(v, torch.Tensor)
        } and held.keys() == grown.keys()
    assert other.step.worst.shape == one.step.worst.shape and float(other.step.radius[0]) == 1.0
