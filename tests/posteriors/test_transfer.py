"""Transfer: what is kept, what is made anew, what stays frozen."""

import math

import pytest
import torch

import flatviz as fv


@pytest.fixture(scope="module")
def source(task):
    net = fv.pretrain(fv.models.mlp(task, hidden=(8,)), task.source, seed=0, epochs=2)
    g = torch.Generator().manual_seed(0)
    prior = fv.Gaussian(net.w + 0.01, torch.full_like(net.w, -3.0), 0.1 * torch.randn(2, net.dim, generator=g))
    return net, prior


def test_the_prior_is_that_of_the_kept_weights_and_the_head_is_new(source):
    net, prior = source
    narrow, q = fv.transfer(net, prior, treated="norm+head", head_std=0.2, scale=9.0)
    assert narrow.dim == 2 * 8 + 10 * 8 + 10 and q.dim == narrow.dim
    full = {b.name: b for b in net.blocks}
    for b in narrow.blocks:
        if b.kind == "head":
            assert float(q.mean[b.slice].abs().max()) == 0 and float(q.factor[:, b.slice].abs().max()) == 0
            torch.testing.assert_close(q.log_std[b.slice].exp(), torch.full((b.stop - b.start,), 0.2))
        else:
            s = full[b.name].slice
            torch.testing.assert_close(q.mean[b.slice], prior.mean[s])
            torch.testing.assert_close(q.variance[b.slice], 9 * prior.variance[s])


def test_the_rest_stays_at_its_source_value_and_the_net_stands_at_the_prior(source):
    net, prior = source
    narrow, q = fv.transfer(net, prior, treated="norm+head", head_std=0.1, scale=1.0)
    torch.testing.assert_close(narrow.w, q.mean)
    module, kept = narrow.to_module(), net.unflatten(prior.mean)
    torch.testing.assert_close(dict(module.named_parameters())["1.weight"].detach(), kept["1.weight"])


def test_bad_transfers_say_what_to_do(source):
    net, prior = source
    short = fv.Gaussian(prior.mean[:5], prior.log_std[:5])
    with pytest.raises(ValueError, match=rf"prior must cover the net's {net.dim} weights, got 5: fit it on the same net"):
        fv.transfer(net, short, treated="norm+head", head_std=0.1, scale=1.0)


def test_other_classes_get_a_new_head_and_the_rest_is_as_with_the_same(source, task):
    net, prior = source
    same, p_same = fv.transfer(net, prior, treated="norm+head", head_std=0.2, scale=4.0)
    other, p_other = fv.transfer(net, prior, n_classes=3, treated="norm+head", head_std=0.2, scale=4.0)
    norms = slice(0, 16)
    assert other.dim == 16 + 3 * 8 + 3 and other(other.w, task.test.x[:5]).shape == (5, 3)
    torch.testing.assert_close(p_other.mean[norms], p_same.mean[norms])
    torch.testing.assert_close(p_other.variance[norms], p_same.variance[norms])
    hidden = {name: value for name, value in other.to_module().state_dict().items() if name.startswith("1.")}
    for name, value in same.to_module().state_dict().items():
        assert not name.startswith("1.") or torch.equal(value, hidden[name])
    few = fv.Data(task.train.x[:30], task.train.y[:30] % 3)
    fv.fit_sabma(other, few, p_other, radius=0.5, steps=3, seed=0)
    assert net(net.w, task.test.x[:2]).shape == (2, 10)  # the source net is untouched


def test_a_random_head_is_torchs_own_and_follows_the_seed(source):
    net, prior = source
    heads = [fv.transfer(net, prior, head_start="random", seed=s)[1].mean[16:] for s in (0, 0, 1)]
    assert torch.equal(heads[0], heads[1]) and not torch.equal(heads[0], heads[2])
    assert 0 < float(heads[0].abs().max()) <= 1 / math.sqrt(8)  # uniform within 1 / sqrt of the inputs


def test_a_downstream_prior_keeps_its_head(source, task):
    net, prior = source
    narrow, _ = fv.transfer(net, prior)
    downstream = fv.fit_swag(narrow, task.train, rank=2, snapshots=4, batch_size=10, seed=0)
    same, p = fv.transfer(narrow, downstream, keep_head=True, scale=4.0)
    torch.testing.assert_close(p.mean, downstream.mean)
    torch.testing.assert_close(p.variance, 4 * downstream.variance)
    torch.testing.assert_close(same.w, downstream.mean)


def test_a_moped_prior_is_as_wide_as_its_share_of_each_weight(source):
    net, _ = source
    p = fv.posteriors.moped_prior(net, share=0.1, floor=1e-3)
    for mean, std, w in zip(p.mean.tolist(), p.std.tolist(), net.w.tolist()):
        assert mean == w and abs(std - max(0.1 * abs(w), 1e-3)) < 1e-6
    narrow, q = fv.transfer(net, p, n_classes=2, head_std=0.3)
    assert q.rank == 0 and narrow.dim == 16 + 2 * 8 + 2


def test_the_authors_choice_by_names_misses_the_shortcuts_norms():
    import torchvision

    module = torchvision.models.resnet18(num_classes=10).eval()
    x = torch.zeros(2, 3, 32, 32)
    by_type, by_name = (fv.Net.from_module(module, treated, example=x) for treated in ("norm+head", "authors"))
    assert (by_type.dim, by_name.dim) == (14_730, 12_938)
    missed = {b.name for b in by_type.blocks} - {b.name for b in by_name.blocks}
    assert missed and all("downsample.1" in name for name in missed)
    vit = torchvision.models.VisionTransformer(
        image_size=16, patch_size=8, num_layers=2, num_heads=2, hidden_dim=8, mlp_dim=8, num_classes=4
    ).eval()
    example = torch.zeros(1, 3, 16, 16)
    by_type, by_name = (fv.Net.from_module(vit, treated, example=example) for treated in ("norm+head", "authors"))
    assert by_name.dim == by_type.dim == 2 * 8 * 5 + 8 * 4 + 4  # two norms a layer and one at the end


def test_a_new_head_that_nothing_treats_says_what_to_do(source):
    net, prior = source
    with pytest.raises(ValueError, match=r"treated must choose the new head '4', got \['1.weight'"):
        fv.transfer(net, prior, n_classes=3, treated=lambda name: name.startswith("1."))
    with pytest.raises(ValueError, match="head_start must be one of 'zero', 'random', got 'ones'"):
        fv.transfer(net, prior, head_start="ones")
    with pytest.raises(ValueError, match="keep_head=True takes the head from the prior, got n_classes of a new one"):
        fv.transfer(net, prior, n_classes=3, keep_head=True)
