"""The page of the small family with code, and pages that are closed when a test or its file ends, and have met no error."""

import contextlib

import pytest
from pagedrive import opened, written


@pytest.fixture(scope="session")
def address(family, tmp_path_factory):
    """A file; a test file may have an `address` of its own, and then its `page` is that."""
    return written(family, tmp_path_factory.mktemp("page"), code=["family = FAMILY"])


@pytest.fixture(scope="module")
def page(browser, address):
    with sound(opened(browser, address)) as page:
        yield page


@pytest.fixture
def visit(browser):
    """`opened` in this browser."""
    with contextlib.ExitStack() as pages:
        yield lambda address, **how: pages.enter_context(sound(opened(browser, address, **how)))


@contextlib.contextmanager
def sound(page):
    yield page
    assert not [error for error in page.errors_met if "WebGL" not in error]
    page.context.close()
