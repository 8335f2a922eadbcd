"""No wait of a test in a browser is without end, and a test that fails says what stood on the page."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from browsing import need_chromium

pytestmark = pytest.mark.browser

HANGS = """
import time
import pytest
from browsing import answer, chromium, limited, standing
from playwright.sync_api import Error

start = time.monotonic()
with chromium() as browser:
    page = browser.new_page()
    page.set_content("<p>here it stood</p>")
    with pytest.raises(Error, match="no answer in 0.3 s"):
        answer(page, "async () => new Promise(() => {})", seconds=0.3)
    assert answer(page, "async (n) => n + 1", 1) == 2
    (told,) = standing()
    assert told["page"] == "here it stood"
    with pytest.raises(Error), limited(0.5):
        page.evaluate("() => { for (;;); }")
print(f"ended {time.monotonic() - start:.0f}")
"""


def test_a_page_that_never_answers_ends_the_wait_and_not_the_run():
    need_chromium()
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    command = [sys.executable, "-c", HANGS]
    ended = subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0 and ended.stdout.startswith("ended"), ended.stderr
