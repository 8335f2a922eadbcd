"""Contracts are written: what a verb asks of an objective is in its class, and nobody probes for
it."""

import ast
from pathlib import Path

import torch
from cases import refused
from pytest import mark
from torch import equal, ones, tensor, zeros
from torch.testing import assert_close

import flatviz as fv

ROOT = Path(__file__).resolve().parent.parent / "flatviz"
FOLDERS = ("objectives", "landscape", "planes", "metrics", "bridges")
FILES = [
    *(p for folder in FOLDERS for p in sorted((ROOT / folder).glob("*.py"))),
    ROOT / "core" / "objective.py",
]
FOREIGN = {  # (file, what is asked): why it may be probed
    ("network.py", "what"): "any function of the user's, which need not have a name"
}


@mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_nobody_probes_our_own_objects(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            probing = node.func.id == "hasattr" or (
                node.func.id == "getattr" and len(node.args) > 2
            )
            assert not probing or (path.name, ast.unparse(node.args[0])) in FOREIGN, (
                f"{path.name}:{node.lineno}"
            )


def test_an_objective_of_ones_own_has_every_default_and_serves_every_verb():
    class Bowl(fv.Objective):
        def __call__(self, w):
            return (w * tensor([1.0, 2.0, 3.0])).square().sum() / 2

    f = Bowl()
    w = tensor([0.5, 0.2, 0.1])
    H = tensor([1.0, 4.0, 9.0])
    assert (f.net, f.dim, f.n, f.batchnorm, f.label, f.key) == (None, None, None, None, "f(w)", "")
    assert_close(f.hvp(w, ones(3)), H)
    assert_close(f.value_and_grad(w)[1], H * w)
    found = fv.top_eigenpairs(f, w, 3).values
    assert_close(found, H.flip(0))
    plane = fv.plane_along(w, *torch.eye(3)[:2])
    surface = fv.slice_plane(f, plane, resolution=3)
    plain = fv.slice_plane(lambda w: f(w), plane, resolution=3)
    assert equal(surface.values, plain.values)
    assert surface.label == "f(w)"


def test_what_an_objective_says_of_itself_is_on_the_result_and_its_own_operator_is_used():
    """A subclass that knows its Hessian gives `operator`; products, eigenpairs and sharpness
    follow."""

    class Bowl(fv.Objective):
        label = "bowl"
        n = 7
        batchnorm = "frozen"
        dim = 3

        def __call__(self, w):
            return w.square().sum()

        def operator(self, w, curvature="hessian"):
            return lambda v: 5 * v

    curve = fv.slice_line(Bowl(), zeros(3), ones(3), resolution=3)
    assert (curve.y_label, curve.n, curve.batchnorm) == ("bowl", 7, "frozen")
    with refused(r"w must have shape \(3,\), got \(4,\)"):
        fv.top_eigenpairs(Bowl(), ones(4), 1)
    found = fv.hvp(Bowl(), ones(3), ones(3))
    want = torch.full((3,), 5.0)
    assert equal(found, want)
    spectrum = fv.top_eigenpairs(Bowl(), ones(3), 1)
    got = spectrum.values
    assert got == 5


def test_what_is_no_objective_is_refused():
    with refused(r"f must be an objective, w \(D,\) -> \(\), got a float32 tensor", TypeError):
        fv.slice_path(zeros(3), zeros(2, 3))
    with refused("an objective must return a real number, got torch.complex64", TypeError):
        fv.slice_path(lambda w: w.sum() * 1j, zeros(2, 3))
    with refused(r"an objective must return one number, got shape \(3,\) from f\(w\)"):
        fv.slice_path(lambda w: w, zeros(2, 3))
