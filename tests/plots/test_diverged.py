"""What diverged is said where it would stand: in its panel, in the words for those who do not see it, and in the sentence above."""

import dataclasses

import pytest
import torch
from pagedrive import at, opened, written

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


@pytest.fixture(scope="module")
def packed(diverged):
    return pack(diverged)


@pytest.mark.parametrize(
    ("view", "said"),
    [
        ("inputs", "diverged:<br>no probability<br>is a number"),
        ("metrics", "SA-BMA, diverged:<br>{n} of {n} outputs<br>are no numbers"),
        ("reliability", "SA-BMA, diverged:<br>{n} of {n} outputs<br>are no numbers"),
    ],
)
def test_a_panel_without_values_says_why_and_one_with_values_says_nothing(diverged, packed, view, said):
    i = diverged.index("sabma", RADIUS)
    said = said.format(n=diverged.prediction[i].outputs[..., 0].numel())
    assert noted(fv.widgets.plot_view(diverged, view, method="sabma", radius=RADIUS)) == said
    assert noted(fv.widgets.plot_view(diverged, view, method="sabma", radius=2.0)) == ""
    meta = packed.index["members"][i]
    assert meta["alts"][view].endswith(said.replace("<br>", " "))


@pytest.mark.browser
def test_the_page_says_it_while_the_member_is_selected(diverged, browser, tmp_path):
    page = opened(browser, written(diverged, tmp_path))
    words = "() => [...document.querySelectorAll('figure:not([hidden]) .annotation-text')].map((t) => t.textContent).join(' ')"
    for radius, wanted in ((0.5, True), (2, False), (0.5, True)):
        for tab in ("Inputs", "Scores"):
            at(page, f"method=sabma&radius={radius}&draws=3&tab={tab}", f"sabma/{radius}/3", tab)
            page.wait_for_function(
                f"(wanted) => ({words})().includes('diverged') === wanted", arg=wanted, polling=100, timeout=20_000
            )
        assert ("diverged, no score is a number" in page.locator(".fv-reading").first.inner_text()) == wanted
        assert "NaN" not in page.locator(".fv-reading").first.inner_text()
    assert not page.errors_met
    page.context.close()
