"""Shared by the tests of commands: run one and read what it prints."""

import pytest
from internals import main


@pytest.fixture
def printed(capsys):
    """A function: run a command by its words, check its exit status, and give what it printed,
    `.out` and `.err`."""

    def run(*words, status=0):
        assert main([str(word) for word in words]) == status
        return capsys.readouterr()

    return run
