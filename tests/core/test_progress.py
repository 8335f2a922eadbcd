"""Progress: bars, callbacks, cancelling."""

import pytest

from flatviz.core.progress import track


def test_a_callback_hears_of_every_step_and_of_the_end():
    heard = []
    assert list(track([1, 2, 3], "work", lambda *a: heard.append(a))) == [1, 2, 3]
    assert heard == [(0, 3, "work"), (1, 3, "work"), (2, 3, "work"), (3, 3, "work")]


def test_a_callback_that_raises_cancels():
    class Stop(Exception):
        pass

    def progress(done, total, label):
        if done == 2:
            raise Stop

    seen = []
    with pytest.raises(Stop):
        for i in track(range(5), "work", progress):
            seen.append(i)
    assert seen == [0, 1]


def test_a_bar_shows_label_and_time_left(capsys):
    list(track(range(3), "surface", True))
    assert "surface" in capsys.readouterr().err
    list(track(range(3), "surface", False))
    assert capsys.readouterr().err == ""
