"""The cache: whole files only, and keys that follow what matters."""

import pytest
import torch

from flatviz.core.cache import atomic_path, cache_folder, cache_key, load, save


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
