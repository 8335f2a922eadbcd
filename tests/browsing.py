"""A real browser for the tests: headless Chromium, a JupyterLab of its own, what a page asked for,
and limits on every wait.

Playwright limits a wait for the page, but neither an evaluation nor the end of a browser: `limited`
ends the browser itself where a block takes too long, and whatever waited for it fails.
"""

from __future__ import annotations

import base64
import contextlib
import importlib.util
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

import numpy as np
import pytest

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
REQUIRED = os.environ.get("FLATVIZ_REQUIRE_BROWSER") == "1"
FLAGS = """--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-sync
--disable-background-networking --disable-component-update --disable-dev-shm-usage""".split()
# Seconds for one wait: twenty times what a loaded machine takes
WAIT = int(os.environ.get("FLATVIZ_BROWSER_PATIENCE", 240))
SLOW = 1000 * WAIT  # the same in ms, as Playwright counts


def in_page(name: str) -> str:
    """The function of tests/in_page/{name}.js, as text that a page evaluates."""
    return (Path(__file__).parent / "in_page" / f"{name}.js").read_text(encoding="utf-8")


RUN_ALL = in_page("run_all")
IN_KERNEL = in_page("in_kernel")
STANDING = in_page("standing")
DRAWN = in_page("drawn")


def need_chromium() -> None:
    """Skip the test that asks where there is no Chromium, or fail it where
    FLATVIZ_REQUIRE_BROWSER=1."""
    if CHROMIUM is None:
        reason = "no Chromium found: install it (Debian: apt-get install chromium)"
        pytest.fail(reason) if REQUIRED else pytest.skip(reason)


_RUNNING: dict[int, object] = {}  # process -> browser that this process started


@contextlib.contextmanager
def chromium():
    """A browser with a profile of its own."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM,
            headless=True,
            args=FLAGS,
        )
        processes = browser.new_browser_cdp_session().send("SystemInfo.getProcessInfo")[
            "processInfo"
        ]
        (number,) = [process["id"] for process in processes if process["type"] == "browser"]
        _RUNNING[number] = browser
        try:
            yield browser
        finally:
            with limited(30):
                browser.close()
            del _RUNNING[number]


def end_browsers() -> None:
    """Kill every browser that this process started: whatever waits for one fails at once."""
    for number in list(_RUNNING):
        with contextlib.suppress(ProcessLookupError):
            os.kill(number, signal.SIGKILL)


@contextlib.contextmanager
def limited(seconds: float):
    """Kill the browsers where the block takes longer."""
    timer = threading.Timer(seconds, end_browsers)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def standing() -> list:
    """What stands on each open page, as far as it answers within a quarter of a minute."""
    from playwright.sync_api import Error

    found = []
    with limited(15):
        for page in (
            page
            for browser in _RUNNING.values()
            for context in browser.contexts
            for page in context.pages
        ):
            try:
                found.append(page.evaluate(STANDING))
            except Error as error:
                found.append(str(error))
    return found


def answer(
    page,
    script: str,
    argument: object = None,
    *,
    seconds: float = WAIT,
):
    """What the asynchronous function `script` returns; an error of the page where that takes
    longer."""
    late = (
        f"new Promise((_, no) => setTimeout(() => no(new Error('no answer in {seconds:g} s')),"
        f" {1000 * seconds:g}))"
    )
    return page.evaluate(f"(argument) => Promise.race([({script})(argument), {late}])", argument)


def watched(context, own: str):
    """A page, the addresses it asked other hosts for, and the errors it met."""
    page = context.new_page()
    page.set_default_timeout(SLOW)
    foreign = []
    errors = []
    page.on(
        "request",
        lambda r: r.url.startswith((own, "data:", "blob:", "file:")) or foreign.append(r.url),
    )
    page.on("pageerror", lambda e: errors.append(str(e)))
    return page, foreign, errors


@contextlib.contextmanager
def jupyterlab(root: Path):
    """A JupyterLab server on a free port of this machine, its settings in a folder of its own; its
    address."""
    with contextlib.closing(socket.socket()) as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    own = Path(tempfile.mkdtemp(prefix="flatviz-lab-"))
    folders = "IPYTHONDIR JUPYTER_CONFIG_DIR JUPYTER_DATA_DIR JUPYTER_RUNTIME_DIR".split()
    folders += ["JUPYTERLAB_SETTINGS_DIR", "JUPYTERLAB_WORKSPACES_DIR"]
    environment = os.environ | {name: str(own / name.lower()) for name in folders}
    environment["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"
    source = str(Path(__file__).resolve().parent.parent)
    paths = filter(None, [source, os.environ.get("PYTHONPATH")])
    environment["PYTHONPATH"] = os.pathsep.join(paths)
    settings = own / "jupyterlab_settings_dir" / "@jupyterlab"
    for extension, text in {
        "apputils-extension/notification": '{"fetchNews": "false", "checkForUpdates": false}',
        "docmanager-extension/plugin": '{"autosave": false}',
        "notebook-extension/tracker": '{"windowingMode": "none"}',  # every cell, scrolled to or not
    }.items():
        path = settings / f"{extension}.jupyterlab-settings"
        path.parent.mkdir(parents=True)
        path.write_text(text)
    options = f"""--no-browser --allow-root --ServerApp.ip=127.0.0.1 --ServerApp.port={port}
        --ServerApp.port_retries=0 --IdentityProvider.token= --ServerApp.password=
        --ServerApp.disable_check_xsrf=True --LabApp.expose_app_in_browser=True"""
    command = [sys.executable, "-m", "jupyterlab", *options.split(), f"--ServerApp.root_dir={root}"]
    with open(own / "server.log", "wb") as log:
        server = subprocess.Popen(
            command, env=environment, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
        )
    base = f"http://127.0.0.1:{port}"
    try:
        _until_it_answers(base, server, own / "server.log")
        yield base
    finally:
        with contextlib.suppress(OSError):
            for kernel in json.load(urllib.request.urlopen(base + "/api/kernels", timeout=5)):
                request = urllib.request.Request(
                    f"{base}/api/kernels/{kernel['id']}", method="DELETE"
                )
                urllib.request.urlopen(request, timeout=20)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(server.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.wait(20)
        if server.poll() is None:
            os.killpg(server.pid, signal.SIGKILL)
        shutil.rmtree(own, ignore_errors=True)


def _until_it_answers(base: str, server: subprocess.Popen, log: Path) -> None:
    end = time.monotonic() + WAIT
    while time.monotonic() < end and server.poll() is None:
        with contextlib.suppress(OSError):
            urllib.request.urlopen(base + "/api/status", timeout=2).read()
            return
        time.sleep(0.25)
    state = "did not answer" if server.poll() is None else "ended"
    raise RuntimeError(f"JupyterLab {state}: {log.read_text(errors='replace')[-2000:]}")


AXE = """async () => (await axe.run({ resultTypes: ['violations'], preload: false })).violations
  .filter((v) => ['serious', 'critical'].includes(v.impact))
  .map((v) => [v.id, v.nodes[0].html.slice(0, 200), v.nodes.length])"""


def faults(page) -> list:
    """What axe-core finds serious or critical: what keeps people out of a page."""
    package = Path(importlib.util.find_spec("axe_playwright_python").origin)
    page.evaluate(package.with_name("axe.min.js").read_text(encoding="utf-8"))
    return answer(page, AXE)


def plain(values):
    """Numbers as plotly keeps them: lists, or typed arrays as text; an open cell is None."""
    if isinstance(values, dict) and "bdata" in values:
        flat = np.frombuffer(base64.b64decode(values["bdata"]), values["dtype"]).astype(float)
        return (
            flat.reshape([int(s) for s in values["shape"].split(",")])
            if "shape" in values
            else flat
        )
    return np.array(values, float)
