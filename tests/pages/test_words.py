"""What guide and captions say follows from the family's own figures; what diverged is said where it
would stand."""

from dataclasses import replace

import pytest
import torch
from internals import pack, tour_story
from pagedrive import at, written
from pytest import mark

import flatviz as fv
from flatviz.families.members import with_maps
from flatviz.pages import scene


def step(family, title):
    return next(step for step in tour_story(family) if step.title == title)


def test_the_first_step_leaves_the_method_where_the_page_opens(family):
    assert set(tour_story(family)[0].set) == {"n_draws", "tab", "see"}


def test_the_guide_says_why_map_curves_less_than_vi_only_where_it_does(family):
    def with_eigenvalues(of_map, of_vi):
        spectrum = list(family.spectrum)
        for method, value in (("sgd", of_map), ("vi", of_vi)):
            i = family.index(method)
            spectrum[i] = tuple(
                replace(s, values=torch.full_like(s.values, value)) for s in spectrum[i]
            )
        return step(family.each(spectrum=spectrum), "Sharp and flat").text

    assert "MAP's λ₁, 2, is lower than VI's, 3" in with_eigenvalues(2.0, 3.0)
    assert "MAP" not in with_eigenvalues(3.0, 2.0)


def test_the_guide_counts_seeds_with_lower_flatness_and_scores_and_names_the_split(
    family,
):
    over = [
        dict(
            lambda1=-m.radius * torch.ones(3),
            nll=m.radius * torch.tensor([1.0, 0, -1]),
            ece=torch.zeros(3),
        )
        for m in family
    ]
    assert "one seed prove nothing" in step(family, "Is flatter better?").text
    said = step(family.each(over_seeds=over), "Is flatter better?").text
    assert "with 3 seeds, proves nothing" in said
    assert "λ₁ falls on 3 of 3 seeds, NLL on 1, ECE on 0." in said
    assert "test images" in step(family, "Is flatter better?").text
    assert "test examples" in step(replace(family, images={}), "Is flatter better?").text


def test_a_caption_says_how_much_surer_than_right_an_average_is(family, monkeypatch):
    monkeypatch.setattr(scene, "FEW", 2)
    member = family[family.index("sabma", 0.0)]
    p = member.prediction.log_probs[:2].exp().mean(0)  # the average of two draws, without bins
    gap = 100 * float(
        p.max(-1).values.mean() - (p.argmax(-1) == member.prediction.y).float().mean()
    )
    assert (
        f"confidence less accuracy: {gap:+.1f} points with 2 draws"
        in scene.Scene(family).words["sure"]
    )


def test_a_family_with_maps_of_inputs_has_a_step_on_them(family):
    assert "What it does not know" not in [s.title for s in tour_story(family)]
    seen = replace(family, inputs={"a": torch.tensor([0.0, 1.0])})
    assert step(seen, "What it does not know").set["tab"] == "Inputs"


RADIUS = 0.5


def noted(fig):
    """The text of the note in the figure, "" where it is not shown."""
    (note,) = [a for a in fig.layout.annotations if a.name == "note"]
    return note.text if note.visible else ""


@pytest.fixture(scope="module")
def diverged(everything):
    """The family with one member, SA-BMA at 0.5, that is NaN in every view."""
    i = everything.index("sabma", RADIUS)
    predictions = list(everything.prediction)
    predictions[i] = predictions[i].changed(outputs=predictions[i].outputs * torch.nan)
    probs = [m.maps["probs"] * (torch.nan if k == i else 1) for k, m in enumerate(everything)]
    return with_maps(everything.each(prediction=predictions), [{"probs": p} for p in probs])


def test_a_panel_without_values_says_why_and_one_with_values_says_nothing(diverged):
    i = diverged.index("sabma", RADIUS)
    members = pack(diverged).index["members"]
    n = diverged.prediction[i].outputs[..., 0].numel()
    scores = f"SA-BMA, diverged:<br>{n} of {n} outputs<br>are no numbers"
    inputs = "diverged:<br>no probability<br>is a number"
    for view, said in (("inputs", inputs), ("metrics", scores), ("reliability", scores)):
        assert noted(fv.widgets.plot_view(diverged, view, method="sabma", radius=RADIUS)) == said
        assert noted(fv.widgets.plot_view(diverged, view, method="sabma", radius=2.0)) == ""
        assert members[i]["alts"][view].endswith(said.replace("<br>", " "))


@mark.browser
def test_the_page_says_it_while_the_member_is_selected(diverged, visit, tmp_path):
    page = visit(written(diverged, tmp_path))
    note = (
        "[...document.querySelectorAll('figure:not([hidden]) .annotation-text')].some((t) =>"
        " /diverged/.test(t.textContent))"
    )
    said = f"(wanted) => {note} === wanted"
    for radius, wanted in ((0.5, True), (2, False), (0.5, True)):
        for tab in ("Inputs", "Scores"):
            at(page, f"method=sabma&radius={radius}&draws=3&tab={tab}", f"sabma/{radius}/3", tab)
            page.wait_for_function(said, arg=wanted, polling=100, timeout=20_000)
        assert (
            "diverged, no score is a number" in page.locator(".fv-reading").first.inner_text()
        ) == wanted
        assert "NaN" not in page.locator(".fv-reading").first.inner_text()
