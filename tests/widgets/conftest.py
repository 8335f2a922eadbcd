"""A lab packs the family that it is given, which takes seconds: here each family is packed once."""

import pytest

from flatviz.pages.bundle import pack


@pytest.fixture(scope="session")
def packed():
    """(family, settings) -> bundle."""
    return {}


@pytest.fixture(autouse=True)
def pack_once(packed, monkeypatch):
    def kept(family, **settings):
        key = id(family), repr(settings)
        if key not in packed:
            packed[key] = family, pack(family, **settings)  # the family too: no other gets its id
        return packed[key][1]

    monkeypatch.setattr("flatviz.widgets.view.pack", kept)
