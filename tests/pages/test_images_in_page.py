"""The view of images in a browser: what is drawn is computed directly, and it is linked with the
draws of the other views."""

import numpy as np
import torch
from browsing import in_page
from pagedrive import at, drawn
from pytest import mark

import flatviz as fv
from flatviz.pages.scene import LEVELS

pytestmark = mark.browser

# Probabilities read back from the places of the drawn lines: (draw, class), for the image in the
# chart.
LINES = in_page("lines_of_the_chart")
ROWS = (
    "[...document.querySelectorAll('figure:not([hidden]) [data-row]')].map((g) =>"
    " Number(g.dataset.row))"
)
PIXELS = in_page("pixels_of_an_image")


def check_lines(shown, prediction, n):
    direct = prediction.outputs[:n, shown["row"]].softmax(-1)
    # Off by half a level of a byte, and two decimals of a pixel
    for name, lines in (
        ("lines", direct),
        ("means", direct.mean(0)),
    ):
        np.testing.assert_allclose(shown[name], lines, atol=0.51 / LEVELS + 1e-4)


def test_lines_images_and_their_choice_are_those_of_a_direct_computation(page, family, task):
    for radius, n in ((2.0, 5), (2.0, 3), (0.5, 6)):
        at(
            page,
            f"method=sabma&radius={radius:g}&draws={n}&tab=Images",
            f"sabma/{radius:g}/{n}",
            "Images",
        )
        prediction = family.prediction[family.index("sabma", radius)]
        every = fv.metrics.mutual_information(prediction, n_draws=n)
        rows = page.evaluate(ROWS)
        assert len(rows) == 8
        torch.testing.assert_close(every[rows], every.topk(8).values, atol=1e-5, rtol=0)
        shown = page.evaluate(LINES)
        assert shown["row"] == rows[0]
        check_lines(shown, prediction, n)
        pixels = np.array(page.evaluate(PIXELS, rows[3])) / 255
        np.testing.assert_allclose(pixels, task.test.x[rows[3]].flatten(), atol=0.51 / 255)


def test_an_image_under_the_pointer_or_chosen_by_a_click_is_the_one_in_the_chart(page, family):
    at(page, "method=sabma&radius=2&draws=5&tab=Images", "sabma/2/5", "Images")
    prediction = family.prediction[family.index("sabma", 2.0)]
    rows = page.evaluate(ROWS)
    page.locator(f"[data-row='{rows[2]}']").hover()
    shown = page.evaluate(LINES)
    assert shown["row"] == rows[2]
    check_lines(shown, prediction, 5)
    page.locator(f"[data-row='{rows[4]}']").click()
    page.locator("h1").hover()
    page.wait_for_function(
        "(row) => document.querySelector('[data-chart]').dataset.chart === String(row)", arg=rows[4]
    )
    page.wait_for_function("() => location.hash.includes('see.image=')", polling=100)
    page.locator(f"[data-row='{rows[1]}']").focus()
    page.keyboard.press("Enter")
    page.wait_for_function(
        "(row) => location.hash.includes(`see.image=${row}`)", arg=rows[1], polling=100
    )
    assert page.evaluate("document.activeElement.dataset.row") == str(rows[1])


def test_a_draw_picked_elsewhere_answers_below_each_image_and_one_picked_here_is_picked_everywhere(
    page, family
):
    at(page, "method=sabma&radius=2&draws=5&tab=Images&draw=3", "sabma/2/5", "Images")
    prediction = family.prediction[family.index("sabma", 2.0)]
    rows = page.evaluate(ROWS)
    p = prediction.outputs[2, rows].softmax(-1)
    page.wait_for_function(
        "() => document.querySelector('.fv-said').textContent.startsWith('draw 3')", polling=100
    )
    said = page.evaluate("[...document.querySelectorAll('.fv-said')].map((t) => t.textContent)")
    for text, row in zip(said, p):
        label, share = text.removeprefix("draw 3: ").removesuffix(" %").split(", ")
        assert int(label) == int(row.argmax())
        assert abs(int(share) - 100 * float(row.max())) <= 0.75  # half a per cent and a level
    shown = page.evaluate(LINES)
    assert shown["bold"] == [2]
    lines = np.array(shown["lines"])  # the class at which draw 5 lies farthest from the others:
    apart = int(np.abs(np.delete(lines, 4, 0) - lines[4]).min(0).argmax())
    place = page.evaluate(in_page("place_on_the_line_of_draw_5"), apart)
    page.mouse.click(*place)
    page.wait_for_function(
        "() => /draw=[0-9]+/.test(location.hash) && !location.hash.includes('draw=3')", polling=100
    )
    picked = int(page.evaluate("location.hash.match(/draw=([0-9]+)/)[1]")) - 1
    # it, or one no further off than a pixel or two
    assert abs(lines[picked, apart] - lines[4, apart]) < 0.01
    page.get_by_role("tab", name="Surface").click()
    drawn(page, "sabma/2/5", "Surface")
    assert page.locator("[data-name=surface] .fv-ring").count() == 1


def test_two_states_each_show_their_own_images_and_the_view_is_saved_without_plotly(page, family):
    at(page, "method=sabma&radius=2&draws=5&tab=Images&b=0:vi", "sabma/2/5", "Images | vi/0")
    rows = page.evaluate(ROWS)
    for part, i in ((rows[:8], family.index("sabma", 2.0)), (rows[8:], family.index("vi"))):
        assert part == family[i].maps["shown"][4].tolist()
    page.locator(".fv-menu summary").click()
    with page.expect_download() as download:
        page.get_by_text("Save as PNG").click()
    assert download.value.suggested_filename.startswith("flatviz-images-")
    assert open(download.value.path(), "rb").read(4) == b"\x89PNG"
