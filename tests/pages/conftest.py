"""The page of the small family with code, and pages that are closed when a test or its file ends,
and have met no error."""

import contextlib
import dataclasses

import torch
from cases import rng
from pagedrive import opened, written
from pytest import fixture

from flatviz.families.members import with_maps


@fixture(scope="session")
def address(family, tmp_path_factory):
    """A file; a test file may have an `address` of its own, and then its `page` is that."""
    return written(family, tmp_path_factory.mktemp("page"), code=["family = FAMILY"])


@fixture(scope="module")
def page(browser, address):
    with sound(opened(browser, address)) as page:
        yield page


@fixture(scope="session")
def everything(family):
    """The family with what a task in the plane has besides, so that it has every view."""
    noise = rng()
    s = max(p.n_draws for p in family.prediction)
    a = torch.linspace(-1, 1, 5)
    rand = lambda *shape: torch.rand(*shape, generator=noise)
    rows = [{"probs": rand(s, 5, 5)} for _ in family]
    maps = dict(
        a=a,
        b=a,
        x=rand(6, 2),
        y=torch.arange(6) % 2,
        reference=rand(5, 5),
    )
    return dataclasses.replace(with_maps(family, rows), inputs=maps)


@fixture
def visit(browser):
    """`opened` in this browser."""
    with contextlib.ExitStack() as pages:
        yield lambda address, **how: pages.enter_context(sound(opened(browser, address, **how)))


@contextlib.contextmanager
def sound(page):
    yield page
    assert not [error for error in page.errors_met if "WebGL" not in error]
    page.context.close()
