"""The real thing: JupyterLab, the tour notebook, both sliders, two views, nothing asked of another host."""

import labdrive
import pytest

from flatviz.posteriors import METHODS

pytestmark = [pytest.mark.browser, pytest.mark.long, pytest.mark.timeout(labdrive.LIMIT + 180)]


@pytest.fixture(scope="module")
def seen(browser, tmp_path_factory):
    return labdrive.drive(browser, tmp_path_factory.mktemp("drive"))


def samples(look):
    return next(t for t in look["drawn"]["surface"]["data"] if t.get("name") == "samples")


def test_the_tour_notebook_runs_to_its_end_and_nothing_is_asked_of_another_host(seen):
    assert seen["notebook"] == [] and not seen["foreign"]
    assert set(seen["errors"]) <= {"[anywidget] Failed to initialize model."}  # the page was made too slow for it


def test_the_ensemble_size_draws_again_from_what_is_there(seen):
    first, second = seen["first"], seen["more draws"]
    assert second["state"] != first["state"] and len(samples(second)["x"]) == 17
    both = first["drawn"].keys() & second["drawn"].keys()  # what is out of sight may not be drawn yet
    assert any(second["drawn"][name]["data"] != first["drawn"][name]["data"] for name in both)
    sent = seen["sent"]  # before, between and after two moves: a page of a busy kernel may ask for the family late, once
    assert "family" in sent[0] and (sent[0] == sent[1] or sent[1] == sent[2])  # no move sends arrays


def test_a_radius_that_nobody_fitted_is_fitted_and_drawn(seen):
    second, third = seen["more draws"], seen["larger radius"]
    assert second["state"].startswith("sabma/")
    assert float(third["state"].split("/")[1]) > max(METHODS["sabma"].plain.lab)  # none of those the lab began with
    assert samples(third)["x"] != samples(second)["x"]
    assert third["drawn"]["spectrum"]["data"] != second["drawn"]["spectrum"]["data"]


def test_the_kernel_knows_what_the_page_chose(seen):
    assert seen["in the kernel"] == ["vi", "17"]


def test_the_saved_notebook_is_small_and_plotly_came_once_to_two_views(seen):
    assert '"outputs"' in seen["saved"] and "plotly.js v" not in seen["saved"]
    assert len(seen["saved"].encode()) < 1_400_000  # a picture of each figure, and the lab twice
    assert sum(n > 3_000_000 for n in seen["frames"]) == 1


def test_in_every_tab_controls_and_picture_are_on_one_screen_of_1280_by_800(seen):
    assert list(seen["screens"]) == ["Surface", "Radius", "Flatness", "Scores", "Images", "All"]
    for tab, screen in seen["screens"].items():
        assert tab == "All" or screen["first"] >= -1, (tab, screen)  # with the controls at the top of the panel
        for picture in screen["all"]:  # with its end at that of the panel
            assert picture["controls"] >= -1 and picture["room"] >= -1, (tab, picture)
