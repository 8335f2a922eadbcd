"""MMD: the estimator against its sums written out, its bandwidths, its blocks and its p-values."""

import itertools

import pytest
import torch

import flatviz as fv
from flatviz.symmetry import discrepancy
from flatviz.symmetry.discrepancy import WHOLE, bandwidths, mean_kernel


def randn(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def written_out(A, B, norms):
    """Unbiased MMD^2 averaged over the kernels of these norms, one pair and one kernel at a time."""
    values = []
    for p, h in [(norm, h) for norm in norms for h in bandwidths(A)[norm]]:
        k = lambda x, y, p=p, h=h: torch.exp(-(((x - y).norm(p=p) / h) ** p))  # noqa: E731
        inside = [sum(k(*pair) for pair in itertools.permutations(S, 2)) / (len(S) * (len(S) - 1)) for S in (A, B)]
        values.append(sum(inside) - 2 * sum(k(a, b) for a in A for b in B) / (len(A) * len(B)))
    return float(torch.stack(values).mean())


@pytest.mark.parametrize("block", [3, 7, 512])
@pytest.mark.parametrize(("kernel", "norms"), [("both", (1.0, 2.0)), ("laplace", (1.0,)), ("gaussian", (2.0,))])
def test_the_value_is_that_of_the_sums_written_out_whatever_the_block(block, kernel, norms, monkeypatch):
    A, B = randn(9, 3), 0.5 + randn(5, 3, seed=1)
    monkeypatch.setattr(discrepancy, "BLOCK", block)
    value = fv.symmetry.mmd(A, {"b": B}, kernel=kernel, permutations=0)["b"].value
    assert float(value[0]) == pytest.approx(written_out(A, B, norms), rel=1e-12)


def test_bandwidths_follow_the_formula_and_look_at_the_target_alone():
    A = 3 * randn(40, 5)
    grid = bandwidths(A)
    for p, hs in grid.items():
        d = torch.stack([(a - b).norm(p=p) for a in A[:20] for b in A[20:]])
        assert hs[0] == pytest.approx(float(d.min()) / 2) and hs[-1] == pytest.approx(2 * float(d.max()))
        assert torch.allclose(hs[1:] / hs[:-1], hs[1] / hs[0])
    near = torch.stack(list(bandwidths(1e-4 * A).values()))  # all distances below the floors of the released code
    assert torch.allclose(near[:, 0], torch.full((2,), 0.05, dtype=near.dtype))
    assert torch.allclose(near[:, -1], torch.full((2,), 0.6, dtype=near.dtype))


def test_permuted_labels_are_values_of_sets_put_together_otherwise():
    A, B = randn(12, 3), randn(6, 3, seed=1)
    found = fv.symmetry.mmd(A, {"b": B}, permutations=5, seed=3)["b"]
    order = torch.rand(5, 18, generator=torch.Generator().manual_seed(4), dtype=torch.float64).argsort(1)
    pool = torch.cat([A, B])
    K = mean_kernel(pool, pool, bandwidths(A)).fill_diagonal_(0)
    for row, value in zip(order, found.permuted[:, 0]):
        a, b = (row < 12).nonzero().flatten(), (row >= 12).nonzero().flatten()
        wanted = K[a][:, a].sum() / 132 + K[b][:, b].sum() / 30 - 2 * K[a][:, b].mean()
        assert float(value) == pytest.approx(float(wanted), abs=1e-14)


def test_one_law_gives_values_about_zero_and_p_values_that_are_uniform():
    sets = [(randn(40, 3, seed=2 * seed), {"b": randn(20, 3, seed=2 * seed + 1)}) for seed in range(40)]
    found = [fv.symmetry.mmd(*both, permutations=60)["b"] for both in sets]
    values, p = torch.cat([f.value for f in found]), [f.p_value(WHOLE) for f in found]
    assert abs(float(values.mean())) < 3 * float(values.std()) / 40**0.5  # unbiased, within three standard errors
    assert 0.3 < sum(p) / 40 < 0.7 and min(p) > 0  # mean of 40 uniforms: 0.5 with standard error 0.046


def test_each_layer_has_its_value_and_the_median_is_over_layers_only():
    net = fv.Net.from_module(torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.ReLU(), torch.nn.Linear(2, 2)))
    layers = fv.symmetry.layers_of(net)
    assert list(layers) == ["0", "2", WHOLE] and [len(i) for i in layers.values()] == [8, 6, 14]
    A, B = randn(30, 14), randn(15, 14, seed=1)
    B[:, layers["2"]] += 2.0
    found = fv.symmetry.mmd(A, {"b": B}, layers=layers)["b"]
    alone = fv.symmetry.mmd(A[:, layers["2"]], {"b": B[:, layers["2"]]})["b"]
    assert float(found.value[1]) == pytest.approx(float(alone.value[0]), rel=1e-12)
    assert found.of() == pytest.approx(float(found.value[:2].mean()))  # the median of two
    assert found.p_value("0") > 0.02 and found.p_value("2") == 1 / 201 and found.of("2") > 0


@pytest.mark.parametrize(("target", "draws", "text"), [
    (randn(3, 2), randn(5, 2), "vectors of target must be a whole number >= 4"),
    (randn(9, 2), randn(1, 2), "draws of b must be a whole number >= 2"),
    (randn(9, 2), randn(5, 3), r"b must have shape \(S, 2\)"),
])  # fmt: skip
def test_sets_that_cannot_be_compared_are_refused(target, draws, text):
    with pytest.raises(ValueError, match=text):
        fv.symmetry.mmd(target, {"b": draws})
