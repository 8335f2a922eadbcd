"""What the evidence says in short follows from its verdicts, and the README's prose from it."""

from pathlib import Path

import torch

from flatviz.studies.evidence import QUANTITIES, Cell, Evidence
from flatviz.studies.evidence_file import read_evidence
from flatviz.studies.reading import read_verdicts

ROOT = Path(__file__).resolve().parents[2]


def made_up(**gains):
    """Ten seeds in which SA-BMA of radius 2 differs from VI by these amounts, with noise of a tenth of 1."""
    noise = 0.1 * torch.randn(10, len(QUANTITIES), generator=torch.Generator().manual_seed(0)).double()
    base = 5 + 0 * noise
    mine = base + noise + torch.tensor([gains.get(q, 0.0) for q in QUANTITIES]).double()
    cells = {Cell("tempered", "vi", 0.0, share): base for share in (0.25, 0.5, 1.0, 2.0)}
    return Evidence(cells | {Cell("tempered", "sabma", 2.0): mine}, tuple(range(10)))


def test_each_quantity_is_told_better_worse_or_neither():
    readings = read_verdicts(made_up(lambda1=-1.0, accuracy=-1.0))
    assert [r.baseline for r in readings] == ["equal steps", "equal gradients", "equal training loss"]
    first = readings[0]
    assert (first.better, first.worse) == (("λ1",), ("accuracy %",))
    assert set(first.open) == {"NLL", "ECE", "shifted NLL", "TV", "100 MMD²"}
    assert str(first).startswith(
        "SA-BMA at radius 2 against VI, equal steps: better in λ1; worse in accuracy %; cannot tell NLL"
    )


# (setting, method, baseline) -> what the README's prose says is told better and worse, of SA-BMA at radius 2 where there are two
TOLD = {
    ("tempered", "sabma", "equal steps"): ("λ1", "TV, shifted NLL"),
    ("tempered", "sam_mu", "equal steps"): ("λ1", "TV"),
    ("tempered", "sabma", "equal gradients"): ("λ1", "accuracy %, NLL, TV"),
    ("tempered", "sam_mu", "equal gradients"): ("λ1, shifted NLL", "accuracy %, TV"),
    ("plain", "sabma", "equal gradients"): ("ECE, shifted NLL", "accuracy %"),
    ("plain", "sam_mu", "equal gradients"): ("ECE, shifted NLL", "accuracy %"),
    ("plain", "sabma", "equal training loss"): ("λ1", ""),
    ("plain", "sam_mu", "equal training loss"): ("λ1, NLL, shifted NLL", ""),
    ("tuned", "sabma", "equal trials"): ("shifted NLL, 100 MMD²", "λ1, accuracy %, TV"),
    ("tuned", "sam_mu", "equal trials"): ("shifted NLL, 100 MMD²", "λ1, accuracy %, TV"),
}


def test_the_readme_says_in_prose_what_the_stored_verdicts_say():
    readings = {(r.setting, r.method, r.baseline): r for r in read_verdicts(read_evidence(ROOT / "data" / "evidence.csv"))}
    for key, (better, worse) in TOLD.items():
        told = readings[key]  # the largest radius comes last
        assert set(filter(None, better.split(", "))) <= set(told.better), key
        assert set(filter(None, worse.split(", "))) <= set(told.worse), key
    exact = readings["plain", "sabma", "equal training loss"]
    assert not {"NLL", "shifted NLL"} & set(exact.better)  # "no gain of it in NLL or under shift can be told"
    assert "shifted NLL" not in readings["tempered", "sabma", "equal gradients"].better
