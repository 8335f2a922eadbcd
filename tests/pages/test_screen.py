"""On every screen: controls and picture in sight together, no scroll sideways, whole figures in
print, words that have room."""

from browsing import in_page
from internals import tour_story
from pagedrive import EXPLORE, at, drawn, go, opened, resized, until, written
from pytest import fixture, mark

from flatviz.cli.tour import LEAD, OTHER
from flatviz.plots.radius import table_of

pytestmark = mark.browser
SCREENS = [(400, 800), (800, 900), (1280, 800), (1500, 900)]
PAPER = 718  # px, A4 between margins of 1 cm
RESIZED = (
    "() => [...document.querySelectorAll('.js-plotly-plot')].every((p) =>"
    " Math.abs(p._fullLayout.width - p.clientWidth) < 2)"
)
NARROW = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"


@fixture(scope="module")
def address(everything, tmp_path_factory):
    title = "flatviz tour: from a pre-trained network to a flat posterior"
    lead = f"{OTHER.format(name='two moons')} {LEAD}"
    folder = tmp_path_factory.mktemp("screen")
    return written(
        everything,
        folder,
        story=tour_story(everything),
        title=title,
        lead=lead,
    )


@fixture(scope="module", params=SCREENS, ids=lambda size: f"{size[0]}")
def page(browser, address, request):
    """The page with all pictures, at each of the sizes."""
    width, height = request.param
    page = opened(browser, f"{address}#tab=All&step=0", width=width, height=height)
    drawn(page, "sabma/0.5/3", "All")
    yield page
    page.context.close()


def test_wherever_a_picture_is_its_controls_are_too_and_nothing_scrolls_sideways(page):
    for name, controls, room in page.evaluate(in_page("room_above_pictures")):
        assert controls >= -1, name
        assert room >= -1, name
    assert page.evaluate(NARROW)
    assert page.locator(".modebar-btn").count() == 0
    go(page, "sabma/0.5/3", "Flatness", compare="vi/0", more="step=0")
    assert page.evaluate(NARROW)
    assert not page.errors_met


def test_in_print_every_figure_is_there_whole(page):
    go(page, "sabma/0.5/3", "Scores", more="step=0")
    screen = page.viewport_size
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    page.set_viewport_size({"width": PAPER, "height": 1000})
    until(page, RESIZED)
    shown = page.evaluate(in_page("frames_in_print"))
    assert len(shown) >= 8
    for frame in shown:
        _, hidden, right, below = frame
        assert not hidden and max(right, below) <= 1, frame
    assert page.evaluate("document.documentElement.scrollWidth") <= PAPER
    page.set_viewport_size(screen)
    page.emulate_media(media="screen")
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    drawn(page, "sabma/0.5/3", "Scores")


@mark.parametrize("width, height", SCREENS)
def test_a_swipe_over_a_picture_scrolls_the_page(visit, address, width, height):
    hand = dict(has_touch=True, is_mobile=True)
    page = visit(f"{address}#tab=Surface&step=0", width=width, height=height, **hand)
    plot = page.locator(".js-plotly-plot").first
    plot.evaluate("(p) => p.scrollIntoView({ block: 'center' })")
    before = page.evaluate("window.scrollY")
    box = plot.bounding_box()
    x = box["x"] + box["width"] / 2
    y = box["y"] + box["height"] / 2
    session = page.context.new_cdp_session(page)

    def touch(kind, *places):
        points = [{"x": x, "y": place} for place in places]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    touch("touchStart", y)
    for k in range(1, 11):
        touch("touchMove", y - 20 * k)
    touch("touchEnd")
    assert page.evaluate("window.scrollY") > before + 100
    assert page.evaluate("document.querySelector('.js-plotly-plot')._fullLayout.dragmode") is False


def test_on_a_small_phone_no_section_is_cut_and_nothing_is_ever_wider_than_the_screen(
    visit, address, everything
):
    page = visit(
        address,
        width=320,
        height=640,
        has_touch=True,
        is_mobile=True,
    )
    page.evaluate(in_page("watch_the_width"))
    for step, section in enumerate(tour_story(everything)[:-1]):
        go(page, "sabma/2/5", section.set["tab"], more=f"step={step + 1}")
        assert page.evaluate(in_page("cut_by_the_stage")) == 0, section.title
    # Pictures that no section has shown are drawn here first
    at(page, "tab=All&step=0&draws=5", "sabma/0.5/5", "All")
    page.locator(".fv-menu summary").click()
    box = page.locator(".fv-menu > div").bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 320
    assert page.evaluate("window.widest") == 320


@fixture
def over_seeds(family, tmp_path):
    """The page of the family with three equal seeds."""
    table = table_of(family)
    seeds = [{q: values[i].repeat(3) for q, values in table.items()} for i in range(len(family))]
    shown = family.each(over_seeds=seeds)
    start = ("sabma", 2.0, 3)
    return written(
        shown,
        tmp_path,
        start=start,
        story=tour_story(family),
        look=EXPLORE,
    )


@mark.parametrize("compare", ["", "vi/0"])
@mark.parametrize("width", [400, 1280])
def test_no_word_of_a_picture_is_cut_or_lies_over_another(visit, over_seeds, width, compare):
    page = visit(over_seeds, width=width)
    for tab in ("Surface", "Radius", "Flatness", "Scores"):
        go(page, "sabma/2/3", tab, compare=compare, more="step=0")
        resized(page, width)
        assert page.evaluate(in_page("crowded_words")) == [], tab
