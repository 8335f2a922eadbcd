"""Results in the formats of others: read by their own libraries, and back without a changed bit."""

import json
import sys

import numpy as np
import pytest
import torch
from browsing import need_chromium

import flatviz as fv
from flatviz.storage.open_formats import split


@pytest.fixture(scope="module")
def results(transferred, task):
    net, prior = transferred
    q = fv.Draws(prior.sample(8, seed=0), chains=2)
    f = fv.nll(net, task.train)
    plane = fv.plane_pca(q.W)
    surface = fv.slice_plane(f, plane, resolution=5)
    return {
        "gaussian": prior,
        "draws": q,
        "surface": surface,
        "curve": fv.slice_line(f, q.W[0], q.W[1], resolution=4),
        "spectrum": fv.top_eigenpairs(f, q.W[0], k=2, iters=10),
        "projection": fv.project(q.W, plane, f),
        "prediction": fv.predict(net, q, task.test, 4, seed=0),
        "nested": {"radii": (0.0, 1.0), "all": [surface, q.W], 3: None, "nan": float("nan")},
    }


NAMES = ["gaussian", "draws", "surface", "curve", "spectrum", "projection", "prediction", "nested"]


def same(a, b):
    ours, theirs = split(a), split(b)
    assert ours[1] == theirs[1] and ours[0].keys() == theirs[0].keys()
    for name, t in ours[0].items():
        assert t.dtype == theirs[0][name].dtype
        assert torch.allclose(t.double(), theirs[0][name].double(), rtol=0, atol=0, equal_nan=True), name


@pytest.mark.parametrize("suffix", [".npz", ".safetensors"])
@pytest.mark.parametrize("name", NAMES)
def test_a_saved_result_is_read_back_to_the_bit(results, name, suffix, tmp_path):
    same(fv.load(fv.save(results[name], tmp_path / f"x{suffix}")), results[name])


def test_numpy_and_safetensors_read_the_arrays_by_their_names_without_flatviz(results, tmp_path):
    from safetensors.numpy import load_file

    surface = results["surface"]
    with np.load(fv.save(surface, tmp_path / "x.npz"), allow_pickle=False) as arrays:
        np.testing.assert_array_equal(arrays["values"], surface.values.numpy())
        np.testing.assert_array_equal(arrays["plane.axes"], surface.plane.axes.numpy())
        header = json.loads(str(arrays["flatviz"]))  # checksum, and the result as text
        assert json.loads(header["result"])["noun"] == "Surface"
    np.testing.assert_array_equal(load_file(fv.save(surface, tmp_path / "x.safetensors"))["a"], surface.a.numpy())


@pytest.mark.parametrize("suffix", [".npz", ".safetensors"])
def test_a_damaged_file_or_one_of_another_program_is_refused(results, suffix, tmp_path):
    path = fv.save(results["curve"], tmp_path / f"x{suffix}")
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(ValueError, match="a result must be a whole file that fv.save wrote"):
        fv.load(path)
    np.savez(tmp_path / "other.npz", x=np.ones(3))
    with pytest.raises(ValueError, match="expected a result that fv.save wrote, got another or a damaged file"):
        fv.load(tmp_path / "other.npz")


def test_bfloat16_which_numpy_lacks_goes_to_safetensors(tmp_path):
    q = {"W": torch.ones(2, 3, dtype=torch.bfloat16)}
    with pytest.raises(TypeError, match="got bfloat16 in W: save .safetensors"):
        fv.save(q, tmp_path / "x.npz")
    same(fv.load(fv.save(q, tmp_path / "x.safetensors")), q)


@pytest.mark.parametrize("name", ["draws", "surface", "curve", "spectrum", "projection", "prediction"])
def test_xarray_takes_a_result_and_gives_it_back(results, name):
    pytest.importorskip("xarray")
    dataset = fv.bridges.to_xarray(results[name])
    assert dataset.attrs["noun"].lower() == name and not [d for v in dataset.values() for d in v.dims if d[-1].isdigit()]
    same(fv.bridges.from_xarray(dataset), results[name])


def test_a_surface_is_looked_up_by_its_coordinates(results):
    pytest.importorskip("xarray")
    surface = results["surface"]
    found = fv.bridges.to_xarray(surface)["values"].sel(a=float(surface.a[3]), b=float(surface.b[1]), method="nearest")
    assert float(found) == float(surface.values[3, 1])


def test_arviz_summarises_and_draws_chains_and_gives_them_back(results):
    az = pytest.importorskip("arviz")
    q = fv.Draws(torch.randn(400, 3, generator=torch.Generator().manual_seed(0)), chains=4)
    inference = fv.bridges.to_arviz(q)
    table = az.summary(inference, round_to="none")
    np.testing.assert_allclose(table["mean"], q.W.mean(0), atol=1e-6)  # float32 sums in another order
    np.testing.assert_allclose(table["r_hat"], fv.bridges.diagnose_chains(q).rhat, atol=1e-9)
    assert az.plot_trace(inference).shape == (1, 2)
    same(fv.bridges.from_arviz(inference), q)
    assert fv.bridges.to_arviz(q, of=lambda W: W.norm(dim=1)).posterior["value"].shape == (4, 100, 1)


def test_wrong_input_is_named(results):
    pytest.importorskip("arviz")
    with pytest.raises(TypeError, match="result must be one of Surface, Curve"):
        fv.bridges.to_xarray(results["gaussian"])
    with pytest.raises(ValueError, match="dataset must be one that fv.bridges.to_xarray made"):
        fv.bridges.from_xarray(_empty())
    with pytest.raises(TypeError, match="inference must be"):
        fv.bridges.from_arviz(results["draws"])


def _empty():
    import xarray

    return xarray.Dataset({"x": ("n", np.ones(2))})


def test_a_missing_package_is_named_with_its_extra(results, monkeypatch):
    for package, call in {
        "xarray": lambda: fv.bridges.to_xarray(results["curve"]),
        "arviz": lambda: fv.bridges.to_arviz(results["draws"]),
        "kaleido": lambda: fv.plots.save_figure(fv.plot_curve(results["curve"]), "x.png"),
    }.items():
        monkeypatch.setitem(sys.modules, package, None)
        with pytest.raises(ImportError, match=rf'needs {package}.*: pip install "flatviz\['):
            call()


@pytest.mark.browser
def test_a_figure_becomes_a_png_svg_and_pdf(results, tmp_path):
    need_chromium()
    pytest.importorskip("kaleido")
    fig = fv.plot_curve(results["curve"])
    first = {
        s: fv.plots.save_figure(fig, tmp_path / f"x.{s}", width=300, height=200).read_bytes()[:5] for s in ("png", "svg", "pdf")
    }
    assert first == {"png": b"\x89PNG\r", "svg": b"<svg ", "pdf": b"%PDF-"}
    size = np.frombuffer((tmp_path / "x.png").read_bytes()[16:24], ">u4")
    assert size.tolist() == [600, 400]  # two pixels for each


def test_another_suffix_is_refused(results, tmp_path):
    with pytest.raises(ValueError, match="path must end in .png, .svg, .pdf, .html, got x.jpg"):
        fv.plots.save_figure(fv.plot_curve(results["curve"]), tmp_path / "x.jpg")
