"""What guide and captions say follows from the family's own figures; what diverged is said where it
would stand."""

from dataclasses import replace

import torch
from internals import pack, tour_story
from pagedrive import go, until, written
from pytest import fixture, mark

import flatviz as fv
from flatviz.families.members import with_maps
from flatviz.pages import scene


def titles(family):
    return [step.title for step in tour_story(family)]


def step(family, title):
    (found,) = [step for step in tour_story(family) if step.title == title]
    return found


def test_the_first_step_leaves_the_method_where_the_page_opens(family):
    assert set(tour_story(family)[0].set) == {"n_draws", "tab", "see"}


@mark.parametrize("of_map, of_vi, lower", [(2.0, 3.0, True), (3.0, 2.0, False)])
def test_the_guide_says_why_map_curves_less_than_vi_only_where_it_does(
    family, of_map, of_vi, lower
):
    spectrum = list(family.spectrum)
    for method, value in (("sgd", of_map), ("vi", of_vi)):
        i = family.index(method)
        spectrum[i] = tuple(replace(s, values=0 * s.values + value) for s in spectrum[i])
    said = step(family.each(spectrum=spectrum), "Sharp and flat").text
    assert ("MAP's λ₁, 2, is lower than VI's, 3" in said) == lower
    assert ("MAP" in said) == lower


def test_the_guide_counts_seeds_with_lower_flatness_and_scores_and_names_the_split(family):
    flatter = "Is flatter better?"
    alone = step(family, flatter).text
    assert "one seed prove nothing" in alone
    assert "test images" in alone
    assert "test examples" in step(replace(family, images={}), flatter).text
    three = torch.tensor([1.0, 0.0, -1.0])
    over = [
        dict(
            lambda1=-m.radius * torch.ones(3),
            nll=m.radius * three,
            ece=0 * three,
        )
        for m in family
    ]
    said = step(family.each(over_seeds=over), flatter).text
    assert "with 3 seeds, proves nothing" in said
    assert "λ₁ falls on 3 of 3 seeds, NLL on 1, ECE on 0." in said


def test_a_caption_says_how_much_surer_than_right_an_average_is(family, monkeypatch):
    monkeypatch.setattr(scene, "FEW", 2)
    prediction = family[family.index("sabma", 0.0)].prediction
    p = prediction.probs[:2].mean(0)  # the average of two draws, without bins
    right = (p.argmax(-1) == prediction.y).float().mean()
    gap = 100 * float(p.amax(-1).mean() - right)
    said = f"confidence less accuracy: {gap:+.1f} points with 2 draws"
    assert said in scene.Scene(family).words["sure"]


def test_a_family_with_maps_of_inputs_has_a_step_on_them(family):
    title = "What it does not know"
    assert title not in titles(family)
    seen = replace(family, inputs={"a": torch.tensor([0.0, 1.0])})
    assert step(seen, title).set["tab"] == "Inputs"


@fixture(scope="module")
def diverged(everything):
    """The family with one member, SA-BMA at 0.5, that is NaN in every view."""
    i = everything.index("sabma", 0.5)
    predictions = list(everything.prediction)
    predictions[i] = predictions[i].changed(outputs=predictions[i].outputs * torch.nan)
    maps = [{"probs": member.maps["probs"]} for member in everything]
    maps[i] = {"probs": maps[i]["probs"] * torch.nan}
    return with_maps(everything.each(prediction=predictions), maps)


def noted(family, view, radius):
    """The text of the note in a figure, "" where it is not shown."""
    fig = fv.widgets.plot_view(family, view, method="sabma", radius=radius)
    (note,) = [note for note in fig.layout.annotations if note.name == "note"]
    return note.text if note.visible else ""


@mark.parametrize("view", ["inputs", "metrics", "reliability"])
def test_a_panel_without_values_says_why_and_one_with_values_says_nothing(diverged, view):
    i = diverged.index("sabma", 0.5)
    n = diverged.prediction[i].outputs[..., 0].numel()
    said = f"SA-BMA, diverged:<br>{n} of {n} outputs<br>are no numbers"
    if view == "inputs":
        said = "diverged:<br>no probability<br>is a number"
    assert noted(diverged, view, 0.5) == said
    assert noted(diverged, view, 2.0) == ""
    alternative = pack(diverged).index["members"][i]["alts"][view]
    assert alternative.endswith(said.replace("<br>", " "))


@mark.browser
def test_the_page_says_it_while_the_member_is_selected(diverged, visit, tmp_path):
    page = visit(written(diverged, tmp_path))
    note = (
        "[...document.querySelectorAll('figure:not([hidden]) .annotation-text')].some((t) =>"
        " /diverged/.test(t.textContent))"
    )
    for radius, wanted in ((0.5, True), (2, False), (0.5, True)):
        for tab in ("Inputs", "Scores"):
            go(page, f"sabma/{radius}/3", tab)
            until(page, f"(wanted) => {note} === wanted", wanted)
        reading = page.locator(".fv-reading").first.inner_text()
        assert ("diverged, no score is a number" in reading) == wanted
        assert "NaN" not in reading
