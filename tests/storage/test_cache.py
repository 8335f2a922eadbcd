"""The cache: whole files only, and keys that follow what matters."""

import pytest
import torch

from flatviz.storage.cache import cache_folder, cache_key, load, load_cached, save
from flatviz.storage.files import atomic_path


def test_an_interrupted_write_leaves_neither_file_nor_remains(tmp_path):
    target = tmp_path / "page.html"
    target.write_text("old")
    with pytest.raises(KeyboardInterrupt), atomic_path(target) as partial:
        partial.write_text("half")
        raise KeyboardInterrupt
    assert target.read_text() == "old" and list(tmp_path.iterdir()) == [target]
    with atomic_path(target) as partial:
        partial.write_text("new")
    assert target.read_text() == "new" and list(tmp_path.iterdir()) == [target]


def test_a_changed_setting_is_another_key():
    assert cache_key(seed=0, radii=(0.0, 1.0)) == cache_key(radii=(0.0, 1.0), seed=0)
    assert cache_key(seed=0) != cache_key(seed=1)


def test_the_environment_moves_the_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("FLATVIZ_CACHE", str(tmp_path / "mine"))
    assert cache_folder() == tmp_path / "mine"
    monkeypatch.delenv("FLATVIZ_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "flatviz"


def test_tuples_lists_and_tensors_come_back_as_they_were(tmp_path):
    value = {"a": (1, [torch.arange(3), "x"]), "b": None}
    back = load(save(value, tmp_path / "v.pt"))
    assert back["a"][0] == 1 and isinstance(back["a"], tuple) and torch.equal(back["a"][1][0], torch.arange(3))


def test_a_cache_that_is_a_file_is_one_clear_error(monkeypatch, tmp_path):
    (tmp_path / "mine").write_text("a file")
    monkeypatch.setenv("FLATVIZ_CACHE", str(tmp_path / "mine"))
    with pytest.raises(
        NotADirectoryError, match="FLATVIZ_CACHE must be a folder, got the file .*mine: name a folder, or unset it"
    ):
        cache_folder()


@pytest.mark.parametrize("keep", [0, 1, 100, 700, -1])
def test_a_damaged_result_is_named_with_the_way_out_and_is_absent_to_the_cache(tmp_path, keep):
    path = save({"row": torch.arange(100.0)}, tmp_path / "v.pt")
    assert torch.equal(load_cached(path)["row"], torch.arange(100.0))
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(ValueError, match=r"a result must be a whole file that fv.save wrote, got .*v.pt: delete it"):
        load(path)
    said = []
    assert load_cached(path, said.append) is None and not path.exists()
    assert said == [f"damaged, so computed again: {path}"] and load_cached(path) is None


def test_other_files_and_missing_ones_are_no_results(tmp_path):
    (tmp_path / "text.pt").write_text("hello")
    torch.save({"noun": "Curve", "fields": {"unknown": 1}}, tmp_path / "old.pt")
    for name in ("text.pt", "old.pt"):
        with pytest.raises(ValueError, match="a result must be a whole file that fv.save wrote"):
            load(tmp_path / name)
    with pytest.raises(FileNotFoundError, match="got .*none.pt, which is not there: check its name"):
        load(tmp_path / "none.pt")
