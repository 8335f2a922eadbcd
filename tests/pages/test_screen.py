"""On every screen: controls and picture in sight together, no scroll sideways, whole figures in
print, words that have room."""

from browsing import in_page
from internals import tour_story
from pagedrive import EXPLORE, at, drawn, opened, resized, written
from pytest import fixture, mark

from flatviz.cli.tour import LEAD, OTHER
from flatviz.plots.radius import table_of

pytestmark = mark.browser
SCREENS = [(400, 800), (800, 900), (1280, 800), (1500, 900)]
ROOM = in_page("room_above_pictures")
PAPER = 718  # px, A4 between margins of 1 cm
RESIZED = (
    "() => [...document.querySelectorAll('.js-plotly-plot')].every((p) =>"
    " Math.abs(p._fullLayout.width - p.clientWidth) < 2)"
)
IN_PRINT = in_page("frames_in_print")


@fixture(scope="module")
def address(everything, tmp_path_factory):
    title = "flatviz tour: from a pre-trained network to a flat posterior"
    lead = f"{OTHER.format(name='two moons')} {LEAD}"
    return written(
        everything,
        tmp_path_factory.mktemp("screen"),
        story=tour_story(everything),
        title=title,
        lead=lead,
    )


@fixture(scope="module", params=SCREENS, ids=lambda size: f"{size[0]}")
def page(browser, address, request):
    """The page with all pictures, at each of the sizes."""
    width, height = request.param
    page = opened(browser, address + "#tab=All&step=0", width=width, height=height)
    drawn(page, "sabma/0.5/3", "All")
    yield page
    page.context.close()


def test_wherever_a_picture_is_its_controls_are_too_and_nothing_scrolls_sideways(page):
    for name, controls, room in page.evaluate(ROOM):
        assert controls >= -1 and room >= -1, (name, controls, room)
    assert page.evaluate(
        "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    )
    assert page.locator(".modebar-btn").count() == 0
    at(page, "tab=Flatness&step=0&b=0:vi", "sabma/0.5/3", "Flatness | vi/0")
    assert page.evaluate(
        "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    )
    assert not page.errors_met


def test_in_print_every_figure_is_there_whole(page):
    at(page, "tab=Scores&step=0", "sabma/0.5/3", "Scores")
    screen = page.viewport_size
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    page.set_viewport_size({"width": PAPER, "height": 1000})
    page.wait_for_function(RESIZED, polling=100, timeout=40_000)
    shown = page.evaluate(IN_PRINT)
    assert len(shown) >= 9 and not [s for s in shown if s[1] or s[2] > 1 or s[3] > 1], shown
    assert page.evaluate("document.documentElement.scrollWidth") <= PAPER
    page.set_viewport_size(screen)
    page.emulate_media(media="screen")
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    drawn(page, "sabma/0.5/3", "Scores")


@mark.parametrize("size", SCREENS)
def test_a_swipe_over_a_picture_scrolls_the_page(visit, address, size):
    width, height = size
    page = visit(
        address + "#tab=Surface&step=0", width=width, height=height, has_touch=True, is_mobile=True
    )
    plot = page.locator(".js-plotly-plot").first
    plot.evaluate("(p) => p.scrollIntoView({ block: 'center' })")
    box = plot.bounding_box()
    before = page.evaluate("window.scrollY")
    session = page.context.new_cdp_session(page)
    x = box["x"] + box["width"] / 2
    y = box["y"] + box["height"] / 2
    for kind, points in [
        ("Start", [y]),
        *(("Move", [y - 20 * k]) for k in range(1, 11)),
        ("End", []),
    ]:
        touches = [{"x": x, "y": at} for at in points]
        session.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": touches})
    assert page.evaluate("window.scrollY") > before + 100
    assert page.evaluate("document.querySelector('.js-plotly-plot')._fullLayout.dragmode") is False


WIDEST = in_page("watch_the_width")
CUT = in_page("cut_by_the_stage")


def test_on_a_small_phone_no_section_is_cut_and_nothing_is_ever_wider_than_the_screen(
    visit, address, everything
):
    page = visit(address, width=320, height=640, has_touch=True, is_mobile=True)
    page.evaluate(WIDEST)
    for step, section in enumerate(tour_story(everything)[:-1]):
        at(
            page,
            f"step={step + 1}&method=sabma&radius=2&draws=5&tab={section.set['tab']}",
            "sabma/2/5",
            section.set["tab"],
        )
        assert page.evaluate(CUT) == 0, section.title
    # Pictures that no section has shown are drawn here first
    at(page, "tab=All&step=0&draws=5", "sabma/0.5/5", "All")
    page.locator(".fv-menu summary").click()
    box = page.locator(".fv-menu > div").bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 320
    assert page.evaluate("window.widest") == 320


CROWDED = in_page("crowded_words")


@mark.parametrize("width", (400, 1280))
def test_no_word_of_a_picture_is_cut_or_lies_over_another(visit, family, tmp_path, width):
    table = table_of(family)
    seeds = family.each(
        over_seeds=[
            {q: values[i].repeat(3) for q, values in table.items()} for i in range(len(family))
        ]
    )
    address = written(
        seeds, tmp_path, start=("sabma", 2.0, 3), story=tour_story(family), look=EXPLORE
    )
    page = visit(address, width=width)
    met = []
    for tab in ("Surface", "Radius", "Flatness", "Scores"):
        for pair, look in (("", ""), ("&b=0:vi", " | vi/0")):
            at(
                page,
                f"method=sabma&radius=2&draws=3&tab={tab}&step=0{pair}",
                "sabma/2/3",
                tab + look,
            )
            resized(page, width)
            met += [f"{tab}{look}: {words}" for words in page.evaluate(CROWDED)]
    assert not met, "\n".join(met)
