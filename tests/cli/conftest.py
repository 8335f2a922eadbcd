"""Shared by the tests of commands: run one and read what it says."""

import pytest

from flatviz.cli import main


@pytest.fixture
def said(capsys):
    """Call it with a command's words: the status is the one expected, and this is what was printed, `out` and `err`."""

    def run(*words, status=0):
        assert main([str(word) for word in words]) == status
        return capsys.readouterr()

    return run
