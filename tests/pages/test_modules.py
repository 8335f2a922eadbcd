"""JavaScript: the bundles are those of their modules, types fit, and what needs no page is tested
by node itself."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from cases import text_of
from pytest import mark

ROOT = Path(__file__).resolve().parents[2]
FOR = "with node, by npm install --prefix .ci --no-package-lock"


def run(*command: str) -> str:
    """What a command of node prints; skipped where its tools are not installed, which fails where
    CI has installed them."""
    if not shutil.which("node") or not (ROOT / ".ci" / "node_modules" / "eslint").exists():
        assert "FLATVIZ_REQUIRE_BROWSER" not in os.environ, (
            f"esbuild, eslint, prettier and typescript must be there {FOR}"
        )
        pytest.skip(f"no esbuild or eslint found: install them {FOR}")
    done = subprocess.run(
        command,
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_bundles_are_those_of_their_sources():
    run("node", ".ci/bundle.mjs", "--check")


@mark.long
def test_types_fit_and_the_linter_has_nothing_to_say():
    run(".ci/node_modules/.bin/tsc", "-p", ".ci")
    run(
        ".ci/node_modules/.bin/eslint",
        "-c",
        ".ci/eslint.config.mjs",
        "flatviz",
        "docs",
        "tests",
        ".ci",
    )
    run(
        ".ci/node_modules/.bin/prettier",
        "--config",
        ".ci/prettier.json",
        "--check",
        *("flatviz/**/*.js", "!flatviz/pages/bundles", "docs/static/*.js"),
        *(".ci/*.mjs", "tests/**/*.mjs"),
    )


def test_what_needs_no_page_does_what_it_says():
    files = map(str, sorted((ROOT / "tests" / "modules").glob("*.test.mjs")))
    printed = run("node", "--test", "--test-reporter=tap", *files)
    passed = re.search(r"^# pass (\d+)", printed, re.MULTILINE)[1]
    assert int(passed) >= 8


@mark.parametrize("name", ["explorer", "playground", "loader"])
def test_a_bundle_loads_nothing_and_can_stand_in_a_page(name):
    text = text_of(ROOT / "flatviz" / "pages" / "bundles" / f"{name}.js")
    assert not re.search(
        r"</script|<!--|\brequire\(|^import |\bimport[{\"]", text, re.IGNORECASE | re.MULTILINE
    )
    assert text.startswith(f"var flatviz{name.capitalize()}=") == (
        name in ("explorer", "playground")
    )
