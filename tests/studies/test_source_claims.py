"""The claims of the sources: each verdict follows from figures made up so that the answer is known."""

from pathlib import Path

import pytest
import torch

import flatviz
from flatviz.studies import source_claims as study
from flatviz.studies.averaging import Averaging
from flatviz.studies.compare import QUANTITIES, Comparison, read_comparison
from flatviz.studies.evidence import QUANTITIES as MEASURED
from flatviz.studies.evidence import Cell, Evidence
from flatviz.studies.evidence_file import read_evidence

SEEDS = tuple(range(10))


def comparison(**factors):
    """Ten seeds; lambda1, NLL and TV of a method are those of SGD times a factor, with a little noise of its own."""
    g = torch.Generator().manual_seed(0)
    base = 1 + torch.rand(10, 1, generator=g).double().expand(10, len(QUANTITIES))
    noise = lambda: 1 + 0.01 * torch.randn(10, len(QUANTITIES), generator=g).double()  # noqa: E731
    names = ("sgd", "f-sgd", "swag", "f-swag", "vi", "sabma")
    return Comparison({m: base * factors.get(m.replace("-", "_"), 1.0) * noise() for m in names}, SEEDS, "digits")


def verdict(rows, name):
    return next(row.verdict for row in rows if row.name.endswith(name) or row.claim.startswith(name))


def test_most_is_more_than_half_and_lowest_is_below_all():
    found = comparison(swag=2.0, vi=3.0, sabma=0.5, f_sgd=0.9, f_swag=0.9)
    assert (study._t1(found).verdict, study._t4(found).verdict) == ("holds", "holds")
    found = comparison(swag=0.5, vi=0.4, sabma=0.9, f_swag=0.8)
    assert (study._t1(found).verdict, study._t4(found).verdict) == ("does not hold", "does not hold")
    assert "higher than that of SWAG, F-SWAG, VI" in study._t4(found).figure
    found = comparison(swag=2.0)
    assert (study._t1(found).verdict, study._t4(found).verdict) == ("cannot tell", "cannot tell")


def test_each_flat_version_is_judged_against_its_own_plain_one():
    rows = study.flat_against_plain(comparison(swag=5.0, f_swag=4.0, f_sgd=1.5))
    assert [row.name for row in rows] == ["F-SGD (MAP)"] * 3 + ["F-SWAG"] * 3
    assert verdict(rows, "F-SWAG is flatter") == "holds" and verdict(rows, "F-SGD (MAP) is flatter") == "does not hold"
    assert "λ1 0.80 of SWAG's (0.79 to 0.81)" in rows[3].figure and rows[3].figure.endswith("better in 10 of 10 seeds")
    assert {row.verdict for row in study.flat_against_plain(comparison())} == {"cannot tell"}


def test_a_radius_that_is_too_small_or_too_large():
    def evidence(small, large):
        g = torch.Generator().manual_seed(0)
        values = {Cell("tempered", "vi", 0.0): torch.ones(10, len(MEASURED)).double()}
        for radius, lambda1, accuracy in ((0.25, small, 0.0), (4.0, 0.5, large)):
            cell = torch.ones(10, len(MEASURED)).double() + 0.01 * torch.randn(10, len(MEASURED), generator=g).double()
            cell[:, MEASURED.index("lambda1")] *= lambda1
            cell[:, MEASURED.index("accuracy")] += accuracy
            values[Cell("tempered", "sabma", radius)] = cell
        return Evidence(values, SEEDS)

    assert study._t6(evidence(1.0, -0.2)).verdict == "holds"
    assert study._t6(evidence(0.8, -0.2)).verdict == "does not hold"
    assert study._t6(evidence(1.0, 0.0)).verdict == "cannot tell"


def test_runs_are_counted_and_bounds_checked():
    ends = {r: torch.tensor([1] * k + [0] * (20 - k)) for r, k in ((0.0, 2), (1.0, 18))}
    (row,) = study._t7({2.0: ends})
    assert row.verdict == "holds" and row.figure == "2 of 20 runs at radius 0, 18 of 20 at radius 1"
    assert study._t7({2.0: {0.0: ends[1.0], 1.0: ends[0.0]}})[0].verdict == "does not hold"
    assert study._t7({2.0: {0.0: ends[1.0], 1.0: ends[1.0]}})[0].verdict == "cannot tell"
    weyl = torch.tensor([[[1.0, 2.0, 3.0]] * 3] * 2).double()
    found = Averaging({}, {}, {"vi": weyl}, {}, (0, 1))
    assert study._t8(found).verdict == "holds" and "6 of 6" in study._t8(found).figure
    weyl[0, 0] = torch.tensor([2.0, 1.0, 3.0])
    assert study._t8(found).verdict == "does not hold"


def test_the_table_is_written_read_and_rendered(tmp_path):
    rows = [
        study.SourceClaim("SA-BMA T1", "a | b", "here", "λ1 2", "holds"),
        study.SourceClaim("F-VI", "c", "d", "e", "cannot tell"),
    ]
    path = tmp_path / "claims.json"
    path.write_text(study.claims_json(rows), encoding="utf-8")
    assert study.read_claims(path) == rows
    lines = study.claims_markdown(rows, source="SA-BMA").splitlines()
    assert lines[2] == "| SA-BMA T1 | a \\| b | here | λ1 2 | holds |" and len(lines) == 3
    page = study.claims_page(rows)
    assert "1 × holds, 0 × does not hold, 1 × cannot tell" in page and page.count("\n## ") == 3 and lines[2] in page
    path.write_text("[]")
    with pytest.raises(ValueError, match="claims must be a file that flatviz evidence --claims wrote, got"):
        study.read_claims(path)
    with pytest.raises(ValueError, match="data/README.md has the command that makes it"):
        study.source_claims(Evidence({}, SEEDS), tmp_path)


def test_a_comparison_is_read_back(tmp_path):
    head = ",".join(["task", "method", "seed", *QUANTITIES])
    (tmp_path / "c.csv").write_text(f"{head}\ndigits,vi,3,{','.join(map(str, range(len(QUANTITIES))))}\n")
    found = read_comparison(tmp_path / "c.csv")
    assert found.seeds == (3,) and float(found.of("vi", "nll")) == 1.0 and found.task == "digits"
    (tmp_path / "c.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="a comparison must be a file that flatviz compare --csv wrote"):
        read_comparison(tmp_path / "c.csv")


DATA = Path(flatviz.__file__).resolve().parent.parent / "data"


@pytest.mark.skipif(not (DATA / "claims.json").is_file(), reason="not judged yet")
def test_the_committed_table_is_what_the_stored_results_say():
    claims = study.source_claims(read_evidence(DATA / "evidence.csv"), DATA)
    assert study.read_claims(DATA / "claims.json") == claims
    assert {f"SA-BMA T{i}" for i in range(1, 9)} <= {c.name for c in claims}
    assert {c.name.split()[1][:2] for c in claims if c.name.startswith("symmetry T")} == {f"T{i}" for i in range(1, 10)}
    flat = {c.name for c in claims if c.name.startswith("F-")}
    assert {"F-SWAG", "F-VI", "F-SGLD", "F-MC dropout", "F-deep ensemble", "F-Laplace"} <= flat
