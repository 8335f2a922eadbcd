"""The lab by its traits: what a control may be, what the page sets and hears, what a cell keeps."""

import dataclasses
import json
import random
import re

import torch
from cases import fitted_by, refused
from ipywidgets.widgets import widget as widgets
from pagedrive import data_of
from pytest import fixture, mark
from traitlets import TraitError
from widgets.conftest import messages, spied

import flatviz as fv
from flatviz.catalog import OVER_T
from flatviz.families import Fitting
from flatviz.widgets.members import first_radii
from flatviz.widgets.view import FamilyView, snapshot


@fixture
def lab(make_lab, family):
    return make_lab(family=family, fit={"steps": 10})


def test_traits_of_the_lab_and_of_the_controls_are_one(lab):
    lab.radius = 2.0
    lab.n_draws = 4
    lab.method = "vi"
    view = lab.view
    assert (view.radius, view.n_draws, view.method) == (2.0, 4, "vi")
    view.n_draws = 2
    assert lab.n_draws == 2
    told = messages(lab, "traits")[-1]["traits"]
    assert told == {"radius": 2.0, "n_draws": 2, "method": "vi", "look": {}}
    lab.sent_messages.clear()
    view.set_state({"n_draws": 5})  # by the page: it is not told what it said
    assert lab.n_draws == 5
    assert not lab.sent_messages


@mark.parametrize(
    "method, radius",
    [("sabma", 0.5), ("sam_mu", 0.2), ("sabma", 2.0), ("vi", 2.0), ("sgd", 2.0)],
)
def test_a_fitted_radius_and_any_ensemble_size_ask_nothing_of_the_kernel(lab, method, radius):
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
    axes = lab.family.surface.plane.axes
    for method, radius in (("sabma", 1.2), ("sam_mu", 0.15)):
        i = lab.family.index(method, radius)
        assert lab.family.radius[i] == radius
        assert torch.equal(lab.family.projection[i].plane.axes, axes)  # the shared plane
    kinds = [content["kind"] for content, _ in lab.sent_messages]
    assert [kind for kind in kinds if kind not in ("traits", "status")] == ["member"] * 2


@mark.parametrize("method, radius, given", [("sabma", 0.5, 0.5), ("vi", 0.0, None)])
def test_the_gap_of_the_posterior_at_the_controls_is_that_of_its_own_fit(
    lab, transferred, task, method, radius, given
):
    net, prior = transferred
    lab.method = method
    lab.radius = radius
    q = lab.family[lab.family.index(method, radius)].posterior
    how = dict(seed=0, radius=given, fit={"steps": 10})
    assert lab.convergence() == fv.families.convergence_gap(net, task, prior, q, method, **how)


def test_a_point_has_no_gap(lab):
    lab.method = "sgd"
    with refused("method must be one of"):
        lab.convergence()


def test_stops_begin_at_zero_rise_in_log_steps_and_keep_clear_of_fitted_radii(lab):
    for method, (first, *stops) in lab.stops.items():
        # T = 0 is no temperature
        assert (first == 0) == (method not in OVER_T)
        for a, b in zip(stops, stops[1:]):
            assert 1.1 < b / a < 2.1, method


def test_every_radius_the_lab_offers_a_net_with_batchnorm_is_one_it_learns_at(conv, task, family):
    net, prior = conv
    lab = fv.lab(net, task, prior=prior, family=family)
    for method, stops in lab.stops.items():
        tried = fv.METHODS[method].batchnorm.tour
        offered = max(*stops, *lab._session.radii[method])
        assert offered <= max(tried, default=0.1)
    for method in fv.METHODS.values():
        if method.batchnorm:  # a smaller rate, or a narrower start
            own = method.batchnorm.settings
            plain = method.plain.settings
            assert own["lr"] < plain["lr"] or own["start_scale"] < plain["start_scale"]


@mark.parametrize("own", [{"lr": 0.002}, {}])
def test_own_settings_go_before_those_of_the_net(conv, task, own):
    net, prior = conv
    given = own | {"steps": 2}
    q = Fitting(net, task, prior, seed=0, fit=given).member("vi", 0.0)
    settings = dict(fv.METHODS["vi"].batchnorm.settings) | given
    direct = fitted_by(fv.VI)(net, task.train, prior, seed=0, **settings)
    assert torch.equal(q.mean, direct.mean)


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
    with refused(said, (ValueError, TraitError)):
        setattr(lab, name, value)
    assert getattr(lab, name) == getattr(lab.view, name) == before
    lab.view.set_state({"n_draws": lab.n_draws - 1} | {name: value})
    traits = messages(lab, "traits")[-1]["traits"]
    assert getattr(lab, name) == getattr(lab.view, name) == traits[name] == before
    assert traits["n_draws"] == lab.n_draws


@mark.parametrize(
    "state",
    [
        {"_esm": "alert(1)"},
        {"front": "x"},
        {"_model_module": "evil"},
        {"_dom_classes": ["x"]},
        {"look": {"picked": "x"}},
        {"look": {"tab": "<script>"}},
        {"look": {"chosen": ["x"]}},
        {"look": {"chosen": {"surface": 3}}},
        {"look": {"step": -2}},
    ],
)
def test_a_page_sets_the_controls_alone_and_these_to_what_they_may_be(lab, state):
    before = lab.view.get_state()
    wanted = state | {"n_draws": lab.n_draws - 1}
    playground = fv.playground()
    for widget in (lab.view.channel, playground, lab.view.layout, playground.layout):
        code = widget.get_state()
        widget.set_state(wanted)
        assert widget.get_state() == code
    lab.view.set_state(wanted)
    after = lab.view.get_state()
    assert [name for name in before if before[name] != after[name]] == ["n_draws"]
    for message in ("all", 3, None, ["want"]):
        lab.view.channel._handle_custom_msg(message, [])


@mark.parametrize(
    "given, said",
    [
        (lambda net, prior: dict(prior=prior.mean), "must be a Gaussian, got a float32 tensor"),
        (
            lambda net, prior: dict(prior=fv.Gaussian(net.w[:5], net.w[:5])),
            "prior must cover the net's 906 treated weights, got 5",
        ),
        (
            lambda net, prior: dict(radii={"swagger": (0.0,)}),
            "method of radii must be one of .* got 'swagger'",
        ),
        (
            lambda net, prior: dict(radii={"sabma": (0.0, -1.0)}),
            "must be a finite number >= 0, got -1",
        ),
        (
            lambda net, prior: dict(fit={"stesp": 3}),
            "a setting of fit must be one of .*, got 'stesp'",
        ),
    ],
)
def test_the_lab_refuses_at_once_what_it_could_not_fit(transferred, task, left_over, given, said):
    net, prior = transferred
    with refused(said, (TypeError, ValueError)):
        fv.lab(net, task, **{"prior": prior} | given(net, prior))
    assert not left_over()


def test_the_lab_refuses_what_is_no_net_and_what_it_could_not_show(transferred, task, family):
    net, prior = transferred
    with refused("net must be a Net, got a Sequential", TypeError):
        fv.lab(net.to_module(), task, prior=prior)
    with refused("fits must be a Fitting, got a Net: fv.lab makes a lab", TypeError):
        fv.widgets.Lab(net)
    unmeasured = family.each(prediction=[None] * len(family))
    with refused("family must be measured before it is shown, .*measure"):
        fv.lab(net, task, prior=prior, family=unmeasured)


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
    explorer, plotly = sent[2][1]
    assert explorer.startswith(b"var flatvizExplorer=")
    assert len(plotly) > 1e6
    assert json.loads(sent[1][0]["index"])["live"]
    state = view.get_state()
    plain = json.dumps({k: v for k, v in state.items() if isinstance(v, (str, int, float))})
    assert len(plain) < 20_000


def test_state_is_plain_data_that_can_be_set_again(lab):
    before = lab.state
    assert json.loads(json.dumps(before)) == before
    compare = {"method": "vi", "radius": 0.0}
    lab.state = {"radius": 2.0, "method": "sabma", "compare": compare, "tab": "Flatness"}
    assert lab.view.radius == 2.0
    assert lab.view.look["tab"] == "Flatness"
    assert lab.view.look["compare"] == compare
    lab.state = {"picked": 2}
    assert lab.view.look["picked"] == 2
    assert lab.view.look["tab"] == "Flatness"
    lab.state = before
    assert lab.state == before


@mark.parametrize(
    "bad, said",
    [
        ({"colour": 1}, "a name of state must be"),
        ({"radius": -1.0}, "radius must be a finite number >= 0"),
        ({"n_draws": 3, "compare": {"method": "nope", "radius": 0.0}}, "method of compare must be"),
        ({"picked": -1}, "picked must be"),
        ({"picked": 1.5}, "picked must be"),
    ],
)
def test_bad_parts_of_a_state_change_nothing(lab, bad, said):
    before = lab.state
    with refused(said, (ValueError, TypeError)):
        lab.state = bad
    assert lab.state == before


def test_the_radius_a_method_has_by_default_is_one_the_lab_fits(transferred, conv):
    for net, _ in (transferred, conv):
        for method, values in first_radii(net).items():
            assert len(values) == 1 or fv.METHODS[method].tuned(net).radius in values


@mark.parametrize(
    "asked, nearest", [(0.0, 0), (0.01, 0.5), (0.9, 0.5), (1.1, 2), (1.24, 2), (50.0, 2)]
)
def test_the_nearest_fitted_member_is_nearest_in_powers_of_ten(family, asked, nearest):
    assert family.radii("sabma") == (0.0, 0.5, 2.0)
    assert family.radius[family.index("sabma", asked)] == nearest


IMAGE = "data:image/png;base64,iVBORw0KGgo="


def test_the_picture_a_notebook_keeps_is_the_pages_own():
    html = snapshot({"images": [IMAGE, IMAGE], "text": "SA-BMA <b>"}, "a-view")
    assert html.count(IMAGE) == 2
    assert "SA-BMA &lt;b&gt;" in html
    assert "<b>" not in html
    assert 'data-view="a-view"' in html


@mark.parametrize(
    "content",
    [
        {},
        {"images": [IMAGE], "text": 3},
        {"images": ["https://elsewhere/x.png"], "text": ""},
        {"images": ['data:image/png;base64,"onerror=alert(1)'], "text": ""},
        {"images": [], "text": ""},
        {"images": "no", "text": ""},
    ],
)
def test_a_notebook_keeps_nothing_else(content):
    assert snapshot(content, "a-view") == ""


def test_a_page_of_the_lab_needs_no_kernel(lab, tmp_path):
    lab.state = {"method": "sabma", "radius": 2.0, "tab": "Scores"}
    text = lab.to_html(tmp_path / "lab.html").read_text(encoding="utf-8")
    assert '"tab":"Scores"' in text
    assert '"method":"sabma","radius":2.0' in text
    assert data_of(text, "flatviz-index")["live"] is False
    parts = re.findall('id="flatviz-(?:index|records)">"(.*?)"</script>', text)
    assert len(parts) == 2
    assert len("".join(parts)) < 2e6


class Mover:
    """A reader who moves the controls of a lab at random."""

    def __init__(self, lab, seed):
        self.lab = lab
        self.random = random.Random(seed)

    def radius(self):
        self.to(self.lab.stops)

    def fitted(self):
        self.to({name: self.lab.family.radii(name) for name in ("sabma", "sam_mu")})

    def to(self, radii):
        method = self.random.choice(["sabma", "sam_mu"])
        self.lab.state = {"method": method, "radius": self.random.choice(radii[method])}

    def method(self):
        self.lab.method = self.random.choice(self.lab.family.methods)

    def draws(self):
        self.lab.n_draws = self.random.randint(1, 6)

    def compare(self):
        method = self.random.choice(self.lab.family.methods)
        other = {"method": method, "radius": self.random.choice([0.0, 0.5, 1.6])}
        self.lab.state = {"compare": self.random.choice([None, other])}

    def stop(self):
        self.lab.stop()

    def run(self):
        self.lab.run()

    def move(self):
        kinds = ("radius", "radius", "fitted", "method", "draws", "compare", "stop", "run")
        getattr(self, self.random.choice(kinds))()


@mark.long
def test_after_sixty_random_moves_fits_stops_and_errors_all_that_was_sent_is_the_family(
    lab, monkeypatch, left_over
):
    count = len(widgets._instances)
    sabma = fv.METHODS["sabma"]

    def fails_at_some(*args, **settings):
        if settings["radius"] > 3:
            raise RuntimeError(f"radius {settings['radius']} is too far")
        return sabma.fit(*args, **settings)

    failing = dataclasses.replace(sabma, fit=fails_at_some)
    monkeypatch.setitem(fv.METHODS, "sabma", failing)
    mover = Mover(lab, 0)
    errors = []
    for _ in range(6):
        for _ in range(10):
            mover.move()
        assert lab.wait(120)
        assert not lab.busy
        status = lab.view._status
        assert not status["busy"]
        assert status["error"] == lab.error
        errors.append(lab.error)
        # A page that opens now sees all
        shown = lab.view._bundle.index["members"]
        members = [(member["method"], member["radius"]) for member in shown]
        assert sorted(members) == sorted(zip(lab.family.method, lab.family.radius))
        names = ("radius", "n_draws", "method", "look")
        told = messages(lab, "traits")[-1]["traits"]
        assert told == {name: getattr(lab, name) for name in names}
    assert any(errors)
    assert all(not error or "is too far" in error for error in errors)
    assert len(lab.family) > 7  # those it began with
    assert not left_over()
    assert len(widgets._instances) == count


def test_a_notebook_run_without_a_browser_says_how_to_see_the_lab(lab, monkeypatch):
    shown = []
    keep = lambda html, name: not shown.append(html)
    monkeypatch.setattr("flatviz.widgets.lab.show_snapshot", keep)
    # A notebook rendered without widgets shows the still, no repr below it
    assert lab._repr_mimebundle_()["text/plain"] == ""
    (html,) = shown
    assert "JupyterLab" in html
    assert "lab.to_html(" in html
    assert f"data-view='{lab.view.channel.model_id}'" in html
