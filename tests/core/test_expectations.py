"""What `fv.expect` says of a value, and when it stops."""

import numpy as np
import torch
from cases import refused
from pytest import mark, raises

import flatviz as fv
from flatviz.core.expectations import SWITCH

TRUE = [
    (0.02779, 0.0278, "as in the text: 0.0278"),
    (torch.tensor(0.5), 0.5, "as in the text: 0.5"),
    (True, "flat is flat", "as in the text: flat is flat"),
    (np.bool_(True), "flat is flat", "as in the text: flat is flat"),
    (torch.ones(3), torch.ones(3) + 2**-12, "as in the text: 3 numbers, off by at most 0.0002"),
    (torch.Size([3, 4]), (3, 4), "as in the text: (3, 4)"),
    ({"a"}, {"a"}, "as in the text: {'a'}"),
    ("vi", "vi", "as in the text: vi"),
]
OTHER = [
    (0.031, 0.0278, "0.031 instead of 0.0278"),
    (0.027801, 0.0278, "0.027801 instead of 0.0278"),
    (float("nan"), 2.0, "nan instead of 2"),
    (torch.tensor(False), "flat is flat", "this no longer holds: flat is flat"),
    (torch.zeros(3), torch.tensor([0.0, 0.0, 2.0]), "3 numbers, off by up to 2"),
    (torch.zeros(2, 3).shape, (3, 4), "torch.Size([2, 3]) instead of (3, 4)"),
    ({"a"}, {"b"}, "{'a'} instead of {'b'}"),
    ("sgd", "vi", "sgd instead of vi"),
]


@mark.parametrize("value, expected, said", TRUE)
def test_what_is_as_the_text_says_is_said_so_and_passes_in_tests(
    value, expected, said, capsys, monkeypatch
):
    for switch in ("", "raise"):
        monkeypatch.setenv(SWITCH, switch)
        fv.expect(value, expected)
        assert capsys.readouterr().out == f"{said}\n"


@mark.parametrize("value, expected, said", OTHER)
def test_another_value_is_a_sentence_to_a_reader_and_a_failure_in_tests(
    value, expected, said, capsys, monkeypatch
):
    monkeypatch.delenv(SWITCH, raising=False)
    fv.expect(value, expected, rtol=1e-5)
    assert capsys.readouterr().out == f"you changed something: {said}\n"
    monkeypatch.setenv(SWITCH, "raise")
    with raises(AssertionError) as stopped:
        fv.expect(value, expected, rtol=1e-5)
    assert said in str(stopped.value)


def test_how_far_a_number_may_be_off_is_a_share_or_in_its_unit(capsys):
    fv.expect(1.04, 1.0, rtol=0.05, by="the formula")
    fv.expect(1.06, 1.0, rtol=0.05, by="the formula")
    fv.expect(0.04, 0.0, atol=0.05)
    fv.expect(1.06, 1.0, atol=0.05, rtol=0.0)
    assert capsys.readouterr().out.splitlines() == [
        "as in the formula: 1 (here 1.04)",
        "you changed something: 1.06 instead of 1 in the formula",
        "as in the text: 0 (here 0.04)",
        "you changed something: 1.06 instead of 1",
    ]


def test_several_truths_are_no_truth_of_a_sentence():
    with refused("value must be one truth beside a sentence, got .*: compare it", TypeError):
        fv.expect(torch.ones(2) > 0, "all are above 0")
    with refused("value must be one truth beside a sentence, got 3", TypeError):
        fv.expect(3, "three")


def test_a_run_of_a_notebook_stops_where_the_text_is_not_true():
    """As in the tests of the chapters and where the site is built."""
    from nbformat.v4 import new_code_cell, new_notebook

    from flatviz.site.run import CellError, run

    code = "import flatviz as fv\nfv.expect({}, 2)"
    run(new_notebook(cells=[new_code_cell(code.format(2))]), "true")
    with refused("AssertionError: not as in the text: 3 instead of 2", CellError):
        run(new_notebook(cells=[new_code_cell(code.format(3))]), "false")
