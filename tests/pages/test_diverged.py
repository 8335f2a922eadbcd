"""What diverged is said where it would stand: in its panel, in the words for those who do not see it, and in the sentence above."""

import dataclasses

import pytest
import torch
from pagedrive import at, written

import flatviz as fv
from flatviz.families.members import with_maps
from flatviz.metrics.averaging import scored
from flatviz.pages.bundle import pack

RADIUS = 0.5


def noted(fig):
    """The text of the note in the figure, "" where it is not shown."""
    (note,) = [a for a in fig.layout.annotations if a.name == "note"]
    return note.text if note.visible else ""


@pytest.fixture(scope="module")
def diverged(family):
    """The family with one member, SA-BMA at 0.5, that is NaN in every view."""
    i, noise = family.index("sabma", RADIUS), torch.Generator().manual_seed(0)
    m, s, x = len(family), max(p.n_draws for p in family.prediction), torch.linspace(-1, 1, 5)
    probs = torch.rand(m, s, 5, 5, generator=noise)
    inputs = dict(a=x, b=x, x=torch.rand(6, 2), y=torch.arange(6) % 2)
    probs[i] = torch.nan
    predictions = list(family.prediction)
    predictions[i] = scored(dataclasses.replace(predictions[i], outputs=torch.full_like(predictions[i].outputs, torch.nan)))
    rows = [{"probs": p} for p in probs]
    return dataclasses.replace(with_maps(family.each(prediction=predictions), rows), inputs=inputs)


def test_a_panel_without_values_says_why_and_one_with_values_says_nothing(diverged):
    i, members = diverged.index("sabma", RADIUS), pack(diverged).index["members"]
    n = diverged.prediction[i].outputs[..., 0].numel()
    scores, inputs = f"SA-BMA, diverged:<br>{n} of {n} outputs<br>are no numbers", "diverged:<br>no probability<br>is a number"
    for view, said in (("inputs", inputs), ("metrics", scores), ("reliability", scores)):
        assert noted(fv.widgets.plot_view(diverged, view, method="sabma", radius=RADIUS)) == said
        assert noted(fv.widgets.plot_view(diverged, view, method="sabma", radius=2.0)) == ""
        assert members[i]["alts"][view].endswith(said.replace("<br>", " "))


@pytest.mark.browser
def test_the_page_says_it_while_the_member_is_selected(diverged, visit, tmp_path):
    page = visit(written(diverged, tmp_path))
    note = "[...document.querySelectorAll('figure:not([hidden]) .annotation-text')].some((t) => /diverged/.test(t.textContent))"
    said = f"(wanted) => {note} === wanted"
    for radius, wanted in ((0.5, True), (2, False), (0.5, True)):
        for tab in ("Inputs", "Scores"):
            at(page, f"method=sabma&radius={radius}&draws=3&tab={tab}", f"sabma/{radius}/3", tab)
            page.wait_for_function(said, arg=wanted, polling=100, timeout=20_000)
        assert ("diverged, no score is a number" in page.locator(".fv-reading").first.inner_text()) == wanted
        assert "NaN" not in page.locator(".fv-reading").first.inner_text()
