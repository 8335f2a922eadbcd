"""The lab by its traits: what is fitted is shown at once; of what is not a preview is, said to be
one, and then the whole fit."""

import dataclasses
import json
import random
import re

import numpy as np
import torch
from internals import Fitting, views_of
from ipywidgets.widgets import widget as widgets
from pagedrive import data_of
from pytest import fixture, mark, raises
from torch.testing import assert_close
from traitlets import TraitError
from widgets.conftest import spied

import flatviz as fv
from flatviz.catalog import OVER_T
from flatviz.widgets.members import first_radii, views_in_sight
from flatviz.widgets.session import ROUGH_STEPS, STEPS, rough_family
from flatviz.widgets.view import FamilyView, snapshot


@fixture
def lab(make_lab, family):
    return make_lab(family=family, fit={"steps": 10})


def test_traits_of_the_lab_and_of_the_controls_are_one(lab):
    lab.radius = 2.0
    lab.n_draws = 4
    lab.method = "vi"
    assert (lab.view.radius, lab.view.n_draws, lab.view.method) == (2.0, 4, "vi")
    lab.view.n_draws = 2
    assert lab.n_draws == 2
    sent = [content["traits"] for content, _ in lab.sent_messages if content["kind"] == "traits"]
    assert sent[-1] == {"radius": 2.0, "n_draws": 2, "method": "vi", "look": {}}
    lab.sent_messages.clear()
    lab.view.set_state({"n_draws": 5})  # by the page: it is not told what it said
    assert lab.n_draws == 5
    assert not lab.sent_messages


def test_a_fitted_radius_and_any_ensemble_size_ask_nothing_of_the_kernel(lab):
    for method, radius in [
        ("sabma", 0.5),
        ("sam_mu", 0.2),
        ("sabma", 2.0),
        ("vi", 2.0),
        ("sgd", 2.0),
    ]:
        lab.method = method
        lab.radius = radius
        lab.n_draws = 3
        lab.wait(60)
        assert len(lab.family) == 7
        assert not lab.busy


def test_both_radii_of_a_comparison_are_fitted_behind_and_only_their_records_travel(lab):
    lab.state = {"method": "sabma", "radius": 1.2, "compare": {"method": "sam_mu", "radius": 0.15}}
    assert lab.wait(300)
    assert "done" in lab.status
    for method, radius in (("sabma", 1.2), ("sam_mu", 0.15)):
        i = lab.family.index(method, radius)
        assert lab.family.radius[i] == radius
        # The shared plane
        assert torch.equal(lab.family.projection[i].plane.axes, lab.family.surface.plane.axes)
    kinds = [content["kind"] for content, _ in lab.sent_messages]
    assert [k for k in kinds if k not in ("traits", "status")] == ["member"] * 2


def test_the_gap_of_the_posterior_at_the_controls_is_that_of_its_own_fit(lab, transferred, task):
    net, prior = transferred
    for method, radius, given in (("sabma", 0.5, 0.5), ("vi", 0.0, None)):
        lab.method = method
        lab.radius = radius
        q = lab.family[lab.family.index(method, radius)].posterior
        how = dict(seed=0, radius=given, fit={"steps": 10})
        assert lab.convergence() == fv.families.convergence_gap(net, task, prior, q, method, **how)
    lab.method = "sgd"
    with raises(ValueError, match="method must be one of"):
        lab.convergence()


def test_stops_begin_at_zero_rise_in_log_steps_and_keep_clear_of_fitted_radii(lab):
    for method, stops in lab.stops.items():
        # T = 0 is no temperature
        assert (stops[0] == 0) == (method not in OVER_T)
        assert stops == sorted(stops)
        assert all(1.1 < b / a < 2.1 for a, b in zip(stops[1:], stops[2:])), method


def test_every_radius_the_lab_offers_a_net_with_batchnorm_is_one_it_learns_at(conv, task, family):
    net, prior = conv
    lab = fv.lab(net, task, prior=prior, family=family)
    for method, stops in lab.stops.items():
        assert max(*stops, *lab._session.radii[method]) <= max(
            fv.METHODS[method].batchnorm.tour, default=0.1
        )
    both = [(m.batchnorm.settings, m.plain.settings) for m in fv.METHODS.values() if m.batchnorm]
    # A smaller rate, or a narrower start
    assert all(b["lr"] < p["lr"] or b["start_scale"] < p["start_scale"] for b, p in both)


def test_own_settings_go_before_those_of_the_net(conv, task):
    net, prior = conv
    q = Fitting(net, task, prior, seed=0, fit={"lr": 0.002, "steps": 2}).member("vi", 0.0)
    own = dict(fv.METHODS["vi"].batchnorm.settings) | dict(steps=2, seed=0)
    assert torch.equal(q.mean, fv.fit_vi(net, task.train, prior, **(own | dict(lr=0.002))).mean)
    rest = Fitting(net, task, prior, seed=0, fit={"steps": 2}).member("vi", 0.0)
    assert torch.equal(rest.mean, fv.fit_vi(net, task.train, prior, **own).mean)


@mark.parametrize(
    "name, value, said",
    [
        ("method", "nope", "method must be one of 'sgd', 'vi', 'sam_mu', 'sabma', got 'nope'"),
        ("method", 3, "'method' trait"),
        ("n_draws", 0, "n_draws must be a whole number >= 1, got 0"),
        ("n_draws", 500, "n_draws must be at most 6, the draws of each member, got 500"),
        ("n_draws", 2.5, "'n_draws' trait"),
        ("radius", float("nan"), "radius must be a finite number >= 0, got nan"),
        ("radius", -1.0, "radius must be a finite number >= 0, got -1"),
        ("radius", "far", "'radius' trait"),
    ],
)
def test_what_no_control_could_have_is_refused_and_of_the_page_too_which_is_told_what_holds(
    lab, name, value, said
):
    before = getattr(lab, name)
    with raises((ValueError, TraitError), match=said):
        setattr(lab, name, value)
    assert getattr(lab, name) == before == getattr(lab.view, name)
    lab.view.set_state({"n_draws": lab.n_draws - 1} | {name: value})
    traits = lab.sent_messages[-1][0]["traits"]
    assert before == getattr(lab, name) == getattr(lab.view, name) == traits[name]
    assert traits["n_draws"] == lab.n_draws


@mark.parametrize(
    "state",
    [
        {"_esm": "alert(1)"},
        {"front": "x"},
        {"_model_module": "evil"},
        {"_view_module": "evil"},
        {"_dom_classes": ["x"]},
        *(
            {"look": look}
            for look in (
                {"picked": "x"},
                {"tab": "<script>"},
                {"chosen": ["x"]},
                {"chosen": {"surface": 3}},
                {"step": -2},
            )
        ),
    ],
)
def test_a_page_sets_the_controls_alone_and_these_to_what_they_may_be(lab, state):
    before = {name: lab.view.get_state()[name] for name in lab.view.keys}
    playground = fv.playground()
    for widget in (lab.view, lab.view.channel, playground, lab.view.layout, playground.layout):
        code = widget.get_state()
        widget.set_state(state | {"n_draws": lab.n_draws - 1})
        assert widget is lab.view or widget.get_state() == code
    after = lab.view.get_state()
    assert [name for name in before if before[name] != after[name]] == ["n_draws"]
    for message in ("all", 3, None, ["want"]):
        lab.view.channel._handle_custom_msg(message, [])


def test_the_lab_refuses_at_once_what_it_could_not_fit_or_show(
    transferred, task, family, left_over
):
    net, prior = transferred
    few = fv.Gaussian(net.w[:5], net.w[:5])
    unmeasured = family.each(prediction=[None] * len(family))
    for module, settings, said in (
        (net.to_module(), {}, "net must be a Net, got a Sequential"),
        (net, dict(prior=prior.mean), "prior must be a Gaussian, got a float32 tensor"),
        (net, dict(prior=few), "prior must cover the net's 906 treated weights, got 5"),
        (net, dict(radii={"swagger": (0.0,)}), "method of radii must be one of .* got 'swagger'"),
        (net, dict(radii={"sabma": (0.0, -1.0)}), "must be a finite number >= 0, got -1"),
        (net, dict(fit={"stesp": 3}), "a setting of fit must be one of .*, got 'stesp'"),
        (
            net,
            dict(family=unmeasured),
            "family must be measured before it is shown, .* fv.families.measure",
        ),
    ):
        with raises((TypeError, ValueError), match=said):
            fv.lab(module, task, **{"prior": prior} | settings)
    with raises(TypeError, match="fits must be a Fitting, got a Net: fv.lab makes a lab"):
        fv.widgets.Lab(net)
    assert not left_over()


def test_the_view_answers_a_page_and_its_saved_state_holds_no_arrays(family):
    view = FamilyView()
    sent = spied(view)
    view._answer(view, {"want": "all", "front": False}, [])
    assert [content["kind"] for content, _ in sent] == ["traits"]  # nothing to show yet
    view.show_family(family, stops={}, live=True)
    view._answer(view, {"want": "all"}, [])
    kinds = [content["kind"] for content, _ in sent]
    assert kinds == ["traits", "family", "front end", "traits", "family"]
    assert view.sent == {"front end": 2, "family": 2, "member": 0}
    assert sent[2][1][0].startswith(b"var flatvizExplorer=")
    assert len(sent[2][1][1]) > 1e6
    assert json.loads(sent[1][0]["index"])["live"]
    state = json.dumps(
        {k: v for k, v in view.get_state().items() if isinstance(v, (str, int, float))}
    )
    assert len(state) < 20_000
    assert "plotly.js" not in state.split("_esm")[0]


def test_state_is_plain_data_that_can_be_set_again_and_bad_parts_of_it_change_nothing(lab):
    before = lab.state
    assert json.loads(json.dumps(before)) == before
    lab.state = {
        "radius": 2.0,
        "method": "sabma",
        "compare": {"method": "vi", "radius": 0.0},
        "tab": "Flatness",
    }
    assert (lab.view.radius, lab.view.look["tab"], lab.view.look["compare"]["method"]) == (
        2.0,
        "Flatness",
        "vi",
    )
    lab.state = {"picked": 2}
    assert (lab.view.look["picked"], lab.view.look["tab"]) == (2, "Flatness")
    for bad, said in (
        ({"colour": 1}, "a name of state must be"),
        ({"radius": -1.0}, "radius must be a finite number >= 0"),
        ({"n_draws": 3, "compare": {"method": "nope", "radius": 0.0}}, "method of compare must be"),
        ({"picked": -1}, "picked must be"),
        ({"picked": 1.5}, "picked must be"),
    ):
        moved = lab.state
        with raises((ValueError, TypeError), match=said):
            lab.state = bad
        assert lab.state == moved
    lab.state = before
    assert lab.state == before


def test_the_radius_a_method_has_by_default_is_one_the_lab_fits(transferred, conv):
    for net, _ in (transferred, conv):
        for method, values in first_radii(net).items():
            assert len(values) == 1 or fv.METHODS[method].tuned(net).radius in values


def test_the_nearest_fitted_member_is_nearest_in_powers_of_ten(family):
    assert family.radii("sabma") == (0.0, 0.5, 2.0)
    assert [family.radius[family.index("sabma", r)] for r in (0.0, 0.01, 0.9, 1.1, 1.24, 50.0)] == [
        0,
        0.5,
        0.5,
        2,
        2,
        2,
    ]


def test_the_picture_a_notebook_keeps_is_the_pages_own_and_nothing_else():
    image = "data:image/png;base64,iVBORw0KGgo="
    html = snapshot({"images": [image, image], "text": "SA-BMA <b>"}, "a-view")
    assert html.count(image) == 2
    assert "SA-BMA &lt;b&gt;" in html
    assert "<b>" not in html
    assert 'data-view="a-view"' in html
    for images in (
        ["https://elsewhere/x.png"],
        ['data:image/png;base64,"onerror=alert(1)'],
        [],
        "no",
    ):
        assert snapshot({"images": images, "text": ""}, "a-view") == ""
    assert snapshot({"images": [image], "text": 3}, "a-view") == snapshot({}, "a-view") == ""


def test_a_page_of_the_lab_needs_no_kernel(lab, tmp_path):
    lab.state = {"method": "sabma", "radius": 2.0, "tab": "Scores"}
    text = lab.to_html(tmp_path / "lab.html").read_text(encoding="utf-8")
    assert '"tab":"Scores"' in text
    assert '"method":"sabma","radius":2.0' in text
    parts = [
        re.search(f'id="flatviz-{name}">"(.*?)"</script>', text).group(1)
        for name in ("index", "records")
    ]
    assert data_of(text, "flatviz-index")["live"] is False
    assert sum(map(len, parts)) < 2e6


@mark.long
def test_after_sixty_random_moves_fits_stops_and_errors_all_that_was_sent_is_the_family(
    lab, monkeypatch, left_over
):
    moves = random.Random(0)
    count = len(widgets._instances)
    real = fv.METHODS["sabma"].fit

    def fails_at_some(*args, **settings):
        if settings["radius"] > 3:
            raise RuntimeError(f"radius {settings['radius']} is too far")
        return real(*args, **settings)

    monkeypatch.setitem(
        fv.METHODS, "sabma", dataclasses.replace(fv.METHODS["sabma"], fit=fails_at_some)
    )
    failures = 0
    for move in range(60):
        kind = moves.choice(
            ["radius", "radius", "fitted", "method", "draws", "compare", "stop", "run"]
        )
        if kind in ("radius", "fitted"):
            method = moves.choice(["sabma", "sam_mu"])
            at = lab.stops[method] if kind == "radius" else lab.family.radii(method)
            lab.state = {"method": method, "radius": moves.choice(at)}
        elif kind == "method":
            lab.method = moves.choice(lab.family.methods)
        elif kind == "draws":
            lab.n_draws = moves.randint(1, 6)
        elif kind == "compare":
            other = {
                "method": moves.choice(lab.family.methods),
                "radius": moves.choice([0.0, 0.5, 1.6]),
            }
            lab.state = {"compare": moves.choice([None, other])}
        else:
            {"stop": lab.stop, "run": lab.run}[kind]()
        if move % 10 == 9:
            assert lab.wait(120)
            assert not lab.error or "is too far" in lab.error
            failures += bool(lab.error)
            assert not lab.busy
            assert not lab.view._status["busy"]
            assert lab.view._status["error"] == lab.error
            meta = [(m["method"], m["radius"]) for m in lab.view._bundle.index["members"]]
            # A page that opens now sees all
            assert sorted(meta) == sorted(zip(lab.family.method, lab.family.radius))
            traits = [c["traits"] for c, _ in lab.sent_messages if c["kind"] == "traits"][-1]
            assert traits == {
                "radius": lab.radius,
                "n_draws": lab.n_draws,
                "method": lab.method,
                "look": lab.look,
            }
    assert failures
    assert len(lab.family) > 7  # those it began with
    assert not left_over()
    assert len(widgets._instances) == count


def test_a_notebook_run_without_a_browser_says_how_to_see_the_lab(lab, monkeypatch):
    shown = []
    monkeypatch.setattr(
        "flatviz.widgets.lab.show_snapshot", lambda html, name: not shown.append(html)
    )
    # A notebook rendered without widgets shows the still, no repr below it
    assert lab._repr_mimebundle_()["text/plain"] == ""
    assert "JupyterLab" in shown[0]
    assert "lab.to_html(" in shown[0]
    assert f"data-view='{lab.view.channel.model_id}'" in shown[0]


@fixture
def longer(make_lab, family):
    """A lab whose fits are worth a preview."""
    return make_lab(family=family, fit={"steps": 60})


def members(lab):
    """(its index, its record as numbers) of each member that was sent."""
    sent = [
        (json.loads(c["index"]), buffers[0])
        for c, buffers in lab.sent_messages
        if c["kind"] == "member"
    ]
    return [(index["members"][0], np.frombuffer(buffer, "<f4")) for index, buffer in sent]


def same_nll(lab, record, q):
    """The record has the scores of this posterior."""
    direct = fv.predict(lab._session.fits.net, q, lab._session.fits.task.test, 6, seed=1).scores[
        "nll"
    ]
    sent = record[lab.view._bundle.index["fields"]["nll"]["offset"] :][:6]
    assert_close(torch.tensor(sent.copy()), direct.float(), rtol=1e-5, atol=1e-6)


def test_a_preview_is_labelled_shows_what_is_in_sight_and_gives_way_to_the_whole_fit(
    longer, transferred, task
):
    longer.method = "sabma"
    longer.look = {"tab": "Scores"}
    longer.radius = 1.2
    assert longer.wait(300)
    assert longer.error == ""
    (first, some), (last, whole) = members(longer)
    assert first["note"] == f", preview: {STEPS} steps from radius 2"
    assert "note" not in last
    waiting = {v.name for v in views_of(longer.family) if v.group != "Scores"}
    assert set(first["waiting"]) == waiting
    assert last["waiting"] == []
    fields = longer.view._bundle.index["fields"]
    for name, field in fields.items():
        size = int(np.prod(field["shape"]))
        view = name.split("/")[0]
        part = some[field["offset"] : field["offset"] + size]
        if "/" in name and view in waiting and size:
            assert np.isnan(part).all(), name  # nothing stands in for what was not measured
    assert not np.array_equal(some, whole, equal_nan=True)
    net, prior = transferred
    same = fv.fit_sabma(
        net,
        task.train,
        prior,
        seed=0,
        **fv.METHODS["sabma"].keywords(net, radius=1.2, settings={"steps": 60}),
    )
    i = longer.family.index("sabma", 1.2)
    assert_close(longer.family.posterior[i].mean, same.mean, rtol=0, atol=0)
    same_nll(longer, whole, same)
    seen = longer.family.sharpest[i]
    again = fv.slice_plane(
        fv.nll(net, task.train), seen.plane, extent=float(seen.a.max()), resolution=len(seen.a)
    )
    assert_close(seen.values, again.values, rtol=1e-5, atol=1e-6)


def test_the_preview_is_the_short_fit_that_it_says(longer, transferred, task):
    longer.method = "sam_mu"
    longer.radius = 0.3
    assert longer.wait(300)
    near = longer.family.posterior[longer.family.index("sam_mu", 0.2)]
    net, prior = transferred
    settings = fv.METHODS["sam_mu"].keywords(net, radius=0.3) | dict(
        steps=STEPS, start=near, start_scale=1.0
    )
    q = fv.fit_sabma(net, task.train, prior, mode="sam_mu", seed=0, **settings)
    (_, sent), _ = members(longer)
    same_nll(longer, sent, q)
    assert len(longer.family) == 8  # a preview is no member of the family


def test_what_is_in_sight_is_one_view_of_each_slot_of_the_tab(family):
    every = {v.name for v in views_of(family)}
    for look, names in (
        ({}, {"surface", "hidden"}),
        ({"tab": "Surface", "chosen": {"surface": "3-D relief"}}, {"relief", "hidden"}),
        ({"tab": "no such tab"}, every),
        ({"tab": "All"}, every),
    ):
        assert {v.name for v in views_in_sight(family, look)} == names


def test_a_rough_family_is_few_steps_and_none_where_a_whole_fit_is_hardly_longer(transferred, task):
    net, prior = transferred
    radii = {"vi": (0.0,), "sabma": (0.0, 1.0)}
    rough = rough_family(Fitting(net, task, prior, 0, {"steps": 2 * ROUGH_STEPS + 1}), radii)
    assert rough.family.measured
    assert rough.family.method == ("vi", "sabma")
    settings = fv.METHODS["vi"].keywords(net, settings={"steps": ROUGH_STEPS})
    direct = fv.fit_vi(net, task.train, prior, seed=0, **settings)
    assert torch.equal(rough.family[0].posterior.mean, direct.mean)
    assert f"few of {2 * ROUGH_STEPS + 1} steps" in rough.note
    short = Fitting(net, task, prior, 0, {"steps": 2 * ROUGH_STEPS})
    assert rough_family(short, radii) is None
    long = Fitting(net, task, prior, 0, {"steps": 1000})
    assert rough_family(long, {"vi": (0.0,), "swag": (0.0,)}) is None
