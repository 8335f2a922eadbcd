"""`flatviz export`: the page of a saved family."""

from pagedrive import data_of

import flatviz as fv
from flatviz.cli import main


def test_a_saved_family_becomes_a_page_with_article_and_code(family, tmp_path, capsys):
    path, page = fv.save(family, tmp_path / "family.pt"), tmp_path / "out" / "page.html"
    assert main(["export", str(path), "--out", str(page), "--title", "mine <b>"]) == 0
    text = page.read_text(encoding="utf-8")
    index = data_of(text, "flatviz-index")
    assert "<title>mine &lt;b&gt;</title>" in text and index["story"][0]["title"] == "A posterior is many networks"
    assert any("fv.load(" in line for line in index["code"])
    assert "MB with plotly.js inside" in capsys.readouterr().out


def test_a_file_of_something_else_is_refused(family, tmp_path, capsys):
    path = fv.save(family.projection[0].plane, tmp_path / "plane.pt")
    assert main(["export", str(path), "--out", str(tmp_path / "page.html")]) == 1
    assert (
        "the file must be a Family, got Plane: save what fv.families.measure returned, or lab.family" in capsys.readouterr().err
    )
