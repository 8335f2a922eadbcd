"""The playground's page in a browser: it asks no one for anything, fits any screen, and can be
moved by keys and fingers."""

from axe_playwright_python.sync_playwright import Axe
from browsing import in_page
from internals import tour_story
from pagedrive import opened as opened_page
from pagedrive import written
from pytest import approx, fixture, mark

from flatviz.pages.page import playground_page

SMALL = """(which) => [...document.querySelectorAll(which)].filter((c) =>
  c.checkVisibility() && c.offsetParent && (c.offsetHeight < 44 || c.offsetWidth < 44))
  .map((c) => c.outerHTML)"""
PLAYGROUND = "document.querySelector('.pg')?.playground"
pytestmark = mark.browser


@fixture(scope="module")
def address(tmp_path_factory):
    path = tmp_path_factory.mktemp("playground") / "index.html"
    path.write_text(playground_page(), encoding="utf-8")
    return path.as_uri()


def opened(browser, address, **context):
    """The playground, once its worlds are there."""
    page = opened_page(browser, address, ready=".pg canvas", **context)
    page.wait_for_function(f"() => {PLAYGROUND} !== undefined")
    return page


@fixture
def page(browser, address):
    """The playground at rest."""
    page = opened(browser, address, reduced_motion="reduce")
    yield page
    assert page.errors_met == []


def test_the_page_is_small_and_asks_no_one(browser, address):
    assert len(playground_page().encode()) < 200_000
    page = opened(browser, address, offline=True)
    page.locator("[data-guess=sabma]").click()
    page.wait_for_function(f"() => {PLAYGROUND}?.weights.model.steps > 20")
    assert page.errors_met == []  # a request without network is an error


@mark.parametrize("width", [320, 390, 1280])
@mark.parametrize("scheme", ["light", "dark"])
def test_no_screen_scrolls_sideways_and_every_control_is_as_large_as_a_finger(
    browser, address, width, scheme
):
    page = opened(browser, address, width=width, color_scheme=scheme, reduced_motion="reduce")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    top = page.locator(".pg-grip canvas").first.bounding_box()
    assert top["y"] + top["height"] < 700  # the picture stands on the first screen
    assert page.evaluate(SMALL, ".pg button, .pg select, .pg input") == []
    found = Axe().run(page).response["violations"]
    assert [(v["id"], [n["html"][:120] for n in v["nodes"]]) for v in found] == []
    assert page.errors_met == []


def test_each_question_is_answered_after_a_guess_by_finger_or_key(browser, address):
    hand = dict(width=390, height=844, is_mobile=True, has_touch=True)
    page = opened(browser, address, reduced_motion="reduce", **hand)
    card = page.locator(".pg-card")
    told = {
        "vi": "SA-BMA wins: 0.36 to 0.54",
        "no": "VI is in the wide meadow too",
        "yes": "0.96 of VI's",
        "one": "7 of 20 runs end in the meadow",
    }
    for guess, answer in told.items():
        assert answer not in card.inner_text()
        button = card.locator(f"[data-guess={guess}]")
        if guess == "no":
            button.press("Enter")
        else:
            button.tap()
        card.get_by_text(answer).wait_for()
        right = card.locator(".pg-right").get_attribute("data-guess")
        assert ("guessed right" in card.inner_text()) == (guess == right)
        if guess != "one":
            card.get_by_role("button", name="Next").tap()
    assert page.locator(".pg-grip canvas:visible").count() == 1  # one ground at a time
    page.get_by_role("button", name="training ground").tap()
    assert page.locator(".pg-maps").get_attribute("data-side") == "training"
    assert page.errors_met == []


def test_with_reduced_motion_nothing_moves_until_play_is_pressed(page):
    page.wait_for_timeout(400)
    assert page.evaluate(f"{PLAYGROUND}.weights.model.steps") == 0
    page.get_by_role("button", name="Play").first.click()
    page.wait_for_function(f"() => {PLAYGROUND}?.weights.model.steps > 5")


def test_keys_and_pointer_move_the_start_and_sliders(page):
    page.locator(".pg-grip").first.focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate(f"{PLAYGROUND}.weights.model.start[0]") == approx(-1.4)
    box = page.locator(".pg-grip canvas").first.bounding_box()
    # where q stands
    x = box["x"] + box["width"] * 1.6 / 6
    y = box["y"] + box["height"] * 1.7 / 4
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + box["width"] / 6, y)  # one unit of weight to the right
    page.mouse.up()
    assert page.evaluate(f"{PLAYGROUND}.weights.model.start[0]") == approx(-0.4, abs=0.02)
    before = page.evaluate(f"{PLAYGROUND}.weights.model.settings.radius")
    page.get_by_role("slider", name="radius of SA-BMA").first.focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate(f"{PLAYGROUND}.weights.model.settings.radius") > before


def test_every_ground_method_and_data_set_runs(page):
    page.evaluate(in_page("run_every_method"))


def test_the_winner_on_the_test_ground_changes_with_its_shift_and_a_link_brings_the_state_back(
    page, browser, address
):
    world = f"{PLAYGROUND}.weights"
    model = f"{world}.model"
    first = page.locator(".pg-score .pg-wins")
    page.evaluate(f"() => {{ {world}.advance(600); }}")
    assert "SA-BMA" in first.inner_text()
    ground = page.get_by_role("group", name="the test ground")
    ground.focus()
    for _ in range(3):
        page.keyboard.press("ArrowLeft")  # back onto the training ground
    assert first.inner_text().startswith("VI")
    assert page.evaluate(f"{model}.ranking({model}.test).map((m) => m.method)") == ["vi", "sabma"]
    page.get_by_text("More: methods").click()
    page.get_by_role("slider", name="bend of the test ground").fill("2")
    page.get_by_role("button", name="Link").click()
    link = page.evaluate("location.href")
    again = opened(browser, link, reduced_motion="reduce")
    asked = f"() => {model}.query.toString()"
    assert again.evaluate(asked) == page.evaluate(asked)
    assert "bend=0.2" in link
    hostile = opened(
        browser,
        address + "?ground=constructor&on=,x&shift=a,b&radius=1e9&seed=-&bend=",
        reduced_motion="reduce",
    )
    assert hostile.errors_met == []
    assert hostile.evaluate(f"{model}.name") == "hollow"


def test_twenty_seeds_become_a_histogram_and_a_slide_shows_the_first_world_alone(browser, address):
    page = opened(browser, address + "?embed&on=vi,sabma,sgld", reduced_motion="reduce")
    assert page.locator(".pg h2:visible, h1:visible").count() == 0
    assert page.locator(".pg-network").count() == 0
    page.get_by_text("More: methods").click()
    page.get_by_role("button", name="20 seeds").click()
    page.wait_for_function(f"() => {PLAYGROUND}.weights.model.ends.length === 60")
    assert "20 narrow hollow" in page.locator(".pg-verdict").inner_text()
    with page.expect_download() as saved:
        page.get_by_role("button", name="PNG").click()
    assert saved.value.path().read_bytes()[:4] == b"\x89PNG"
    assert page.errors_met == []


def test_the_step_shows_one_more_mark_a_phase_and_links_it_to_its_symbol(page):
    step = page.locator(".pg-step")
    seen = []
    for _ in range(7):
        seen.append(step.locator("svg g").evaluate_all("(gs) => gs.map((g) => g.dataset.s)"))
        step.get_by_role("button", name="Next").click()
    assert [len(set(marks)) for marks in seen] == [1, 2, 3, 4, 5, 6, 7]
    page.evaluate(f"{PLAYGROUND}.step.go(6)")
    step.locator(".pg-formula [data-s=diff]").hover()
    assert step.locator("svg g.pg-lit").evaluate_all("(gs) => gs.map((g) => g.dataset.s)") == [
        "diff"
    ]


def test_between_the_points_hmc_is_unsure_and_at_them_sure_vi_and_sabma_less_so(page):
    """What the page says of the gap, for three seeds: the spread of 30 draws where points are, and
    how much it grows in the gap."""
    for seed in (1, 2, 3):
        spread = page.evaluate(in_page("spread_in_the_gap"), seed)
        assert all(s["loss"] < 0 for s in spread), (seed, spread)  # each fits the points
        *gaussian, hmc = ((s["points"], s["gap"] / s["points"]) for s in spread)
        assert all(
            points > 1.3 * hmc[0] and growth < 0.8 * hmc[1] for points, growth in gaussian
        ), (seed, spread)


def test_the_tour_page_begins_with_two_weights_and_ends_with_the_gap_beside_hmc(
    browser, family, tmp_path
):
    address = written(family, tmp_path, story=tour_story(family), playground=True)
    text = (tmp_path / "tour.html").read_text(encoding="utf-8")
    assert (
        text.index('id="playground-weights"')
        < text.index('id="explorer"')
        < text.index('id="playground-gap"')
    )
    assert text.count("var flatvizPlayground") == 1  # one script for both
    for width in (320, 390, 1280):
        hand = dict(is_mobile=True, has_touch=True) if width < 500 else {}
        page = opened_page(
            browser, address, width=width, height=800, reduced_motion="reduce", **hand
        )
        assert not hand or page.evaluate(SMALL, "button, select, summary, .pg input") == [], width
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        top = page.locator(".pg-grip canvas").first.bounding_box()
        assert top["y"] + top["height"] < 800  # the ground stands on the first screen
        panes = page.locator("#playground-gap select[aria-label=method]").evaluate_all(
            "(all) => all.map((s) => s.value)"
        )
        assert panes == ["vi", "sabma", "hmc"]
        assert page.errors_met == []
        page.context.close()
