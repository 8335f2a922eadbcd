"""The second device, compiled once a session."""

import pytest
from second_device import missing, second_device


@pytest.fixture(scope="session")
def device():
    """`second:0`; without a compiler these tests are skipped."""
    if reason := missing():
        pytest.skip(reason)
    return second_device()
