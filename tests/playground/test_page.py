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
MODEL = f"{PLAYGROUND}.weights.model"
MARKS = "(gs) => gs.map((g) => g.dataset.s)"
TOUCH = dict(is_mobile=True, has_touch=True)
pytestmark = mark.browser


@fixture(scope="module")
def address(tmp_path_factory):
    path = tmp_path_factory.mktemp("playground") / "index.html"
    path.write_text(playground_page(), encoding="utf-8")
    return path.as_uri()


@fixture
def visit(browser, address):
    """Open the playground, by what follows its address and the browser's settings; no page has met
    an error when the test ends."""
    pages = []

    def visited(query="", **context):
        page = opened_page(browser, address + query, ready=".pg canvas", **context)
        page.wait_for_function(f"() => {PLAYGROUND} !== undefined")
        pages.append(page)
        return page

    yield visited
    for page in pages:
        assert page.errors_met == []
        page.context.close()


@fixture
def page(visit):
    """The playground at rest."""
    return visit(reduced_motion="reduce")


def width_of(page):
    return page.evaluate("document.documentElement.scrollWidth")


def bottom_of(locator):
    box = locator.bounding_box()
    return box["y"] + box["height"]


def test_the_page_is_small_and_asks_no_one(visit):
    assert len(playground_page().encode()) < 200_000
    page = visit(offline=True)  # a request without network is an error
    page.locator("[data-guess=sabma]").click()
    page.wait_for_function(f"() => {MODEL}.steps > 20")


@mark.parametrize("width", [320, 390, 1280])
@mark.parametrize("scheme", ["light", "dark"])
def test_no_screen_scrolls_sideways_and_every_control_is_as_large_as_a_finger(visit, width, scheme):
    page = visit(width=width, color_scheme=scheme, reduced_motion="reduce")
    assert width_of(page) <= width
    ground = page.locator(".pg-grip canvas").first
    assert bottom_of(ground) < 700  # the picture stands on the first screen
    assert page.evaluate(SMALL, ".pg button, .pg select, .pg input") == []
    assert Axe().run(page).response["violations"] == []


def test_each_question_is_answered_after_a_guess_by_finger_or_key(visit):
    page = visit(reduced_motion="reduce", width=390, height=844, **TOUCH)
    card = page.locator(".pg-card")
    answers = {
        "vi": "SA-BMA wins: 0.36 to 0.54",
        "no": "VI is in the wide meadow too",
        "yes": "0.96 of VI's",
        "one": "7 of 20 runs end in the meadow",
    }
    for guess, answer in answers.items():
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


def test_with_reduced_motion_nothing_moves_until_play_is_pressed(page):
    page.wait_for_timeout(400)
    assert page.evaluate(f"{MODEL}.steps") == 0
    page.get_by_role("button", name="Play").first.click()
    page.wait_for_function(f"() => {MODEL}.steps > 5")


def test_keys_and_pointer_move_the_start_and_sliders(page):
    ground = page.locator(".pg-grip").first
    ground.focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate(f"{MODEL}.start[0]") == approx(-1.4)
    box = ground.locator("canvas").first.bounding_box()
    unit = box["width"] / 6  # of weight
    # where q stands
    x = box["x"] + 1.6 * unit
    y = box["y"] + box["height"] * 1.7 / 4
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + unit, y)
    page.mouse.up()
    assert page.evaluate(f"{MODEL}.start[0]") == approx(-0.4, abs=0.02)
    before = page.evaluate(f"{MODEL}.settings.radius")
    page.get_by_role("slider", name="radius of SA-BMA").first.focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate(f"{MODEL}.settings.radius") > before


def test_every_ground_method_and_data_set_runs(page):
    page.evaluate(in_page("run_every_method"))


def test_the_winner_on_the_test_ground_changes_with_its_shift(page):
    verdict = page.locator(".pg-score .pg-wins").first
    page.evaluate(f"() => {{ {PLAYGROUND}.weights.advance(600); }}")
    assert "SA-BMA" in verdict.inner_text()
    page.get_by_role("group", name="the test ground").focus()
    for _ in range(3):
        page.keyboard.press("ArrowLeft")  # back onto the training ground
    assert verdict.inner_text().startswith("VI")


def test_a_link_brings_the_state_back(page, visit):
    page.get_by_text("More: methods").click()
    page.get_by_role("slider", name="bend of the test ground").fill("2")
    page.get_by_role("button", name="Link").click()
    _, _, query = page.evaluate("location.href").partition("?")
    assert "bend=0.2" in query
    again = visit(f"?{query}", reduced_motion="reduce")
    state = f"() => {MODEL}.query.toString()"
    assert again.evaluate(state) == page.evaluate(state)


def test_a_link_that_says_nonsense_opens_the_first_ground(visit):
    nonsense = "?ground=constructor&on=,x&shift=a,b&radius=1e9&seed=-&bend="
    page = visit(nonsense, reduced_motion="reduce")
    assert page.evaluate(f"{MODEL}.name") == "hollow"


def test_twenty_seeds_become_a_histogram_and_a_slide_shows_the_first_world_alone(visit):
    page = visit("?embed&on=vi,sabma,sgld", reduced_motion="reduce")
    assert page.locator(".pg h2:visible, h1:visible").count() == 0
    assert page.locator(".pg-network").count() == 0
    page.get_by_text("More: methods").click()
    page.get_by_role("button", name="20 seeds").click()
    page.wait_for_function(f"() => {MODEL}.ends.length === 60")
    assert "20 narrow hollow" in page.locator(".pg-verdict").inner_text()
    with page.expect_download() as saved:
        page.get_by_role("button", name="PNG").click()
    assert saved.value.path().read_bytes()[:4] == b"\x89PNG"


def test_the_step_shows_one_more_mark_a_phase_and_links_it_to_its_symbol(page):
    step = page.locator(".pg-step")
    for phase in range(1, 8):
        marks = step.locator("svg g").evaluate_all(MARKS)
        assert len(set(marks)) == phase
        step.get_by_role("button", name="Next").click()
    page.evaluate(f"{PLAYGROUND}.step.go(6)")
    step.locator(".pg-formula [data-s=diff]").hover()
    assert step.locator("svg g.pg-lit").evaluate_all(MARKS) == ["diff"]


@mark.parametrize("seed", [1, 2, 3])
def test_between_the_points_hmc_is_unsure_and_at_them_sure_vi_and_sabma_less_so(page, seed):
    """What the page says of the gap: the spread of 30 draws where points are, and how much it grows
    in the gap."""
    spread = page.evaluate(in_page("spread_in_the_gap"), seed)
    *gaussian, hmc = spread
    growth = lambda method: method["gap"] / method["points"]
    assert all(method["loss"] < 0 for method in spread), spread  # each fits the points
    for method in gaussian:
        assert method["points"] > 1.3 * hmc["points"], spread
        assert growth(method) < 0.8 * growth(hmc), spread


@fixture
def tour(family, tmp_path):
    """(text, address) of the tour's page with the playground."""
    address = written(family, tmp_path, story=tour_story(family), playground=True)
    return (tmp_path / "tour.html").read_text(encoding="utf-8"), address


def test_the_tour_page_begins_with_two_weights_and_ends_with_the_gap(tour):
    text, _ = tour
    parts = ("playground-weights", "explorer", "playground-gap")
    places = [text.index(f'id="{part}"') for part in parts]
    assert places == sorted(places)
    assert text.count("var flatvizPlayground") == 1  # one script for both


@mark.parametrize("width, hand", [(320, TOUCH), (390, TOUCH), (1280, {})])
def test_the_playground_of_the_tour_fits_any_screen(tour, browser, width, hand):
    _, address = tour
    page = opened_page(browser, address, width=width, reduced_motion="reduce", **hand)
    if hand:
        assert page.evaluate(SMALL, "button, select, summary, .pg input") == []
    assert width_of(page) <= width
    ground = page.locator(".pg-grip canvas").first
    assert bottom_of(ground) < 800  # it stands on the first screen
    panes = page.locator("#playground-gap select[aria-label=method]")
    assert panes.evaluate_all("(all) => all.map((s) => s.value)") == ["vi", "sabma", "hmc"]
    assert page.errors_met == []
    page.context.close()
