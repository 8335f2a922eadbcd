"""The view of images in a browser: what is drawn is computed directly, and it is linked with the
draws of the other views."""

import re
from pathlib import Path

import numpy as np
import torch
from browsing import in_page
from pagedrive import drawn, go, until
from pytest import mark

import flatviz as fv

pytestmark = mark.browser

# Probabilities read back from the places of the drawn lines: (draw, class), for the image in the
# chart.
LINES = in_page("lines_of_the_chart")
ROWS = (
    "[...document.querySelectorAll('figure:not([hidden]) [data-row]')].map((g) =>"
    " Number(g.dataset.row))"
)
SAID = "[...document.querySelectorAll('.fv-said')].map((t) => t.textContent)"


def check_lines(shown, prediction, n):
    direct = prediction.outputs[:n, shown["row"]].softmax(-1)
    # A probability is a byte, 0 to 254: off by half a level, and by two decimals of a pixel
    near = 0.51 / 254 + 1e-4
    np.testing.assert_allclose(shown["lines"], direct, atol=near)
    np.testing.assert_allclose(shown["means"], direct.mean(0), atol=near)


@mark.parametrize("radius, n", [(2.0, 5), (2.0, 3), (0.5, 6)])
def test_lines_images_and_their_choice_are_those_of_a_direct_computation(
    page, family, task, radius, n
):
    go(page, f"sabma/{radius:g}/{n}", "Images")
    prediction = family.prediction[family.index("sabma", radius)]
    every = fv.metrics.mutual_information(prediction, n_draws=n)
    rows = page.evaluate(ROWS)
    torch.testing.assert_close(every[rows], every.topk(8).values, atol=1e-5, rtol=0)
    shown = page.evaluate(LINES)
    assert shown["row"] == rows[0]
    check_lines(shown, prediction, n)
    pixels = np.array(page.evaluate(in_page("pixels_of_an_image"), rows[3])) / 255
    np.testing.assert_allclose(pixels, task.test.x[rows[3]].flatten(), atol=0.51 / 255)


def test_an_image_under_the_pointer_or_chosen_by_a_click_is_the_one_in_the_chart(page, family):
    go(page, "sabma/2/5", "Images")
    prediction = family.prediction[family.index("sabma", 2.0)]
    rows = page.evaluate(ROWS)
    page.locator(f"[data-row='{rows[2]}']").hover()
    shown = page.evaluate(LINES)
    assert shown["row"] == rows[2]
    check_lines(shown, prediction, 5)
    page.locator(f"[data-row='{rows[4]}']").click()
    page.locator("h1").hover()
    chart = "(row) => document.querySelector('[data-chart]').dataset.chart === String(row)"
    until(page, chart, rows[4])
    chosen = "(row) => location.hash.includes(`see.image=${row}`)"
    until(page, chosen, rows[4])
    page.locator(f"[data-row='{rows[1]}']").focus()
    page.keyboard.press("Enter")
    until(page, chosen, rows[1])
    assert page.evaluate("document.activeElement.dataset.row") == str(rows[1])


def test_a_draw_picked_elsewhere_answers_below_each_image(page, family):
    go(page, "sabma/2/5", "Images", more="draw=3")
    until(page, "() => document.querySelector('.fv-said').textContent.startsWith('draw 3')")
    assert page.evaluate(LINES)["bold"] == [2]
    prediction = family.prediction[family.index("sabma", 2.0)]
    p = prediction.outputs[2, page.evaluate(ROWS)].softmax(-1)
    for text, row in zip(page.evaluate(SAID), p, strict=True):
        label, share = re.fullmatch(r"draw 3: (\d+), (\d+) %", text).groups()
        assert int(label) == int(row.argmax())
        assert abs(int(share) - 100 * float(row.max())) <= 0.75  # half a per cent and a level


def test_a_draw_picked_by_its_line_is_picked_everywhere(page):
    go(page, "sabma/2/5", "Images", more="draw=3")
    lines = np.array(page.evaluate(LINES)["lines"])
    # the class at which draw 5 lies farthest from the others
    distance = np.abs(np.delete(lines, 4, 0) - lines[4]).min(0)
    apart = int(distance.argmax())
    place = page.evaluate(in_page("place_on_the_line_of_draw_5"), apart)
    page.mouse.click(*place)
    until(page, "() => /draw=(?!3)[0-9]+/.test(location.hash)")
    picked = int(page.evaluate("location.hash.match(/draw=([0-9]+)/)[1]")) - 1
    # it, or one no further off than a pixel or two
    assert abs(lines[picked, apart] - lines[4, apart]) < 0.01
    page.get_by_role("tab", name="Surface").click()
    drawn(page, "sabma/2/5", "Surface")
    assert page.locator("[data-name=surface] .fv-ring").count() == 1


def test_two_states_each_show_their_own_images_and_the_view_is_saved_without_plotly(page, family):
    go(page, "sabma/2/5", "Images", compare="vi/0")
    rows = page.evaluate(ROWS)
    flat = family[family.index("sabma", 2.0)].maps["shown"][4]
    vi = family[family.index("vi")].maps["shown"][4]
    assert rows == flat.tolist() + vi.tolist()
    page.locator(".fv-menu summary").click()
    with page.expect_download() as download:
        page.get_by_text("Save as PNG").click()
    assert download.value.suggested_filename.startswith("flatviz-images-")
    assert Path(download.value.path()).read_bytes()[:4] == b"\x89PNG"
