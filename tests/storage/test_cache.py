"""The cache: whole files only, keys that follow what matters, the store of evaluated points,
shipped results."""

import contextlib
import os
import subprocess
import tomllib
from functools import partial
from pathlib import Path

import torch
from cases import random_surface, refused, warned
from internals import cached
from pytest import importorskip, mark, raises
from safetensors.torch import load_file, save_file
from torch import arange, equal, full, nn, ones, zeros

import flatviz as fv
from flatviz.storage import cache as module
from flatviz.storage import files
from flatviz.storage.cache import cache_folder, code_digest
from flatviz.storage.files import write_file


def test_the_environment_moves_the_folder_and_a_file_there_is_one_clear_error(
    cache, monkeypatch, tmp_path
):
    assert cache_folder() == cache
    cache.write_text("a file")
    with refused(
        "FLATVIZ_CACHE must be a folder, got the file .*cache",
        NotADirectoryError,
    ):
        cache_folder()
    monkeypatch.delenv("FLATVIZ_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "flatviz"


@mark.parametrize(
    "file, text, same",
    [
        ("core/net.py", 'def f():\n    """Other words."""\n    return 1  # a remark\n', True),
        ("core/net.py", 'def f():\n    """Words."""\n    return 2\n', False),
        ("plots/curve.py", "def g():\n    return 2\n", True),
    ],
)
def test_results_belong_to_code_and_neither_to_its_docstrings_nor_to_figures(
    file, text, same, tmp_path
):
    for name, code in {
        "core/net.py": 'def f():\n    """Words."""\n    return 1\n',
        "plots/curve.py": "def g():\n    return 1\n",
    }.items():
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(code)
    before = code_digest.__wrapped__(tmp_path)
    (tmp_path / file).write_text(text)
    assert (code_digest.__wrapped__(tmp_path) == before) is same


def cut_short(content):
    return content[:100]


def flipped(content):
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 64]) + content[middle + 1 :]


@mark.parametrize("damage", [cut_short, flipped])
def test_a_damaged_result_is_one_clear_error_to_load_and_set_aside_by_the_cache(cache, damage):
    said = []
    row = arange(100.0)
    again = partial(cached, "rows", lambda: row, say=said.append, seed=0)
    cached("rows", lambda: row, seed=0)
    (path,) = (cache / "rows").iterdir()
    path.write_bytes(damage(path.read_bytes()))
    with refused("a result must be a whole file that fv.save wrote, got .*: .* compute it again"):
        fv.load(path)
    back, found = again()
    assert not found
    assert equal(back, row)
    assert said[-1].startswith(f"damaged, so computed again: {path}")
    names = sorted(p.name for p in (cache / "rows").iterdir())
    assert names == [path.name, f"{path.name}.damaged"]
    assert again()[1]


def test_a_result_is_computed_once_and_says_where_it_is(cache):
    said = []
    calls = []
    for _ in range(2):
        value, found = cached(
            "rows", lambda: calls.append(0) or {"a": None}, label="rows", say=said.append, seed=0
        )
    assert value == {"a": None}
    assert found
    assert len(calls) == 1
    assert said[0] == "rows: computing"
    assert said[1].startswith("rows: reused from ")
    assert len(said) == 2


@contextlib.contextmanager
def full_beyond(size):
    """A disk that takes no file of more bytes."""
    resource = importorskip("resource")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def test_a_disk_that_is_full_in_the_middle_of_a_write_leaves_the_old_file(cache, tmp_path):
    path = fv.save({"row": arange(3.0)}, tmp_path / "v.pt")
    said = []
    with full_beyond(5_000):
        with refused("File too large", OSError):
            fv.save({"row": arange(10_000.0)}, path)
        row, found = cached("rows", lambda: arange(10_000.0), say=said.append, seed=0)
    assert equal(fv.load(path)["row"], arange(3.0))
    assert len(row) == 10_000
    assert not found
    assert "File too large" in said[0]
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == [path]


def test_other_files_and_missing_ones_are_no_results(tmp_path):
    path = tmp_path / "r.pt"
    unknown = {"Curve": {"unknown": 1}}
    for write, text in (
        (lambda: path.write_text("hello"), "a damaged file, or one of something else"),
        (lambda: save_file({"t": ones(2)}, path), ""),
        (
            lambda: path.write_bytes(b"flatviz result 00\nPK"),
            "a file of an older flatviz, .*: comp",
        ),
        (lambda: write_file(path, "result", unknown, {}), "nouns of this version"),
        (lambda: write_file(path, "checkpoint", {}, {}), "one that holds checkpoint"),
    ):
        write()
        with refused(f"a result must be a whole file that fv.save wrote.*{text}"):
            fv.load(path)
    with refused("got .*none.pt, which is not there: check its name", FileNotFoundError):
        fv.load(tmp_path / "none.pt")


POSIX = mark.skipif(os.name == "nt", reason="modes, links and pipes of POSIX")


@POSIX
def test_a_file_that_is_replaced_keeps_its_mode_and_a_link_stays_one(tmp_path):
    path = fv.save(ones(2), tmp_path / "disk" / "r.pt")
    path.chmod(0o600)
    (tmp_path / "link.pt").symlink_to(path)
    fv.save(zeros(2), tmp_path / "link.pt")
    assert (tmp_path / "link.pt").is_symlink()
    assert fv.load(path).tolist() == [0.0, 0.0]
    assert path.stat().st_mode & 0o777 == 0o600
    fresh = fv.save(ones(2), tmp_path / "fresh.pt")
    (plain := tmp_path / "plain").touch()
    assert fresh.stat().st_mode == plain.stat().st_mode


def test_what_a_killed_process_left_behind_goes_with_the_next_write(tmp_path):
    left = tmp_path / ".flatviz-1-2-3.part"
    current = tmp_path / ".flatviz-4-5-6.part"
    left.touch()
    current.touch()
    os.utime(left, (0, 0))
    name = 240 * "n" + ".pt"  # with more in front or behind, file systems refuse it
    fv.save(ones(2), tmp_path / name)
    assert sorted(p.name for p in tmp_path.iterdir()) == [current.name, name]


def test_keys_that_read_alike_keep_their_values(tmp_path):
    result = {
        "a.b": ones(1),
        "a": {"b": zeros(1)},
        1: full((1,), 2.0),
        "1": full((1,), 3.0),
    }
    back = fv.load(fv.save(result, tmp_path / "r.pt"))
    assert back == result
    # For any reader of safetensors
    found = [t.item() for t in load_file(tmp_path / "r.pt").values()]
    assert found == [
        1.0,
        0.0,
        2.0,
        3.0,
    ]


def test_a_tensor_that_the_format_does_not_know_is_one_clear_error(tmp_path):
    with refused("must have a type of safetensors, got torch.complex128", TypeError):
        fv.save(zeros(2, dtype=torch.complex128), tmp_path / "file")
    assert not list(tmp_path.iterdir())


@POSIX
def test_a_pipe_stays_a_pipe_and_a_planted_link_is_not_followed(tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "pipe")
    with refused("must be a regular one, got .*pipe"):
        fv.save({"a": 1.0}, tmp_path / "pipe")
    assert (tmp_path / "pipe").is_fifo()
    victim = tmp_path / "victim"
    victim.write_text("precious")
    monkeypatch.setattr(files.secrets, "token_hex", lambda n: "guessed")
    (tmp_path / ".flatviz-guessed.part").symlink_to(victim)
    with raises(FileExistsError):
        fv.save({"a": 1.0}, tmp_path / "result")
    assert victim.read_text() == "precious"


def test_a_damaged_file_of_points_is_said_and_set_aside_and_the_points_are_computed(tiny, tmp_path):
    f = fv.nll(*tiny)
    want = random_surface(f, resolution=3, cache=tmp_path).values
    (path,) = tmp_path.iterdir()
    damaged = bytearray(path.read_bytes())
    damaged[-20] ^= 1
    path.write_bytes(damaged)
    text = "damaged, so computed again: .*; set aside as .*safetensors.damaged"
    with warned(text):
        values = random_surface(f, resolution=3, cache=tmp_path).values
    assert equal(values, want)
    assert path.with_name(f"{path.name}.damaged").read_bytes() == damaged


def test_a_full_disk_stops_the_storing_and_not_the_slice(tiny, tmp_path):
    f = fv.nll(*tiny)
    plane = fv.plane_random(f.net, f.net.w, seed=0)
    run = partial(fv.slice_plane, f, plane, resolution=5, exact=True)
    want = run(cache=tmp_path / "whole").values
    (whole,) = (tmp_path / "whole").iterdir()
    with (
        full_beyond(whole.stat().st_size - 1),
        warned("not kept in the cache: .*; the run goes on without it"),
    ):
        values = run(cache=tmp_path / "full").values
    assert equal(values, want)
    assert equal(run(cache=tmp_path / "full").values, want)


def test_stored_values_are_computed_again_where_one_of_them_is_another_now(
    tmp_path, tiny, monkeypatch
):
    """Whatever makes it another: here a class of torch was patched while they were stored."""
    f = fv.nll(*tiny)
    plane = fv.plane_random(f.net, f.net.w, seed=0)
    slice_ = partial(fv.slice_plane, f, plane, resolution=3)
    with monkeypatch.context() as patched:
        patched.setattr(nn.Tanh, "forward", lambda self, x: x.relu())
        slice_(cache=tmp_path)
    with warned("stored values differ from those computed now"):
        got = slice_(cache=tmp_path)
    assert equal(got.values, slice_().values)
    # Without a warning: they are stored in their place
    assert equal(slice_(cache=tmp_path).values, got.values)


ROOT = Path(__file__).resolve().parents[2]


def test_a_shipped_result_is_found_and_an_unknown_name_is_one_clear_error(tmp_path, monkeypatch):
    assert module.committed("frontier.csv").read_text(encoding="utf-8").count("\n") > 10
    with refused(r"must be one of .*frontier.csv.*, got 'no.csv'", FileNotFoundError):
        module.committed("no.csv")
    (tmp_path / "a.json").write_text("{}")
    monkeypatch.setattr(module, "FOLDERS", (tmp_path / "absent", tmp_path))
    assert module.committed("a.json") == module.committed_path("a.json") == tmp_path / "a.json"
    assert module.committed_path("no.csv") == tmp_path / "absent" / "no.csv"


def test_the_wheel_carries_what_git_keeps_of_data():
    hatch = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"][
        "build"
    ]["targets"]["wheel"]
    assert "data" in hatch["only-include"]
    assert hatch["sources"]["data"] == f"flatviz/{module.FOLDERS[1].name}"
    ran = subprocess.run(
        ["git", "ls-files", "data"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    kept = ran.stdout.split()
    command = ["git", "check-ignore", "--no-index", *kept, "data/MNIST"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    # Hatch leaves out what git ignores
    assert len(kept) > 10
    assert listed.stdout.split() == ["data/MNIST"]
