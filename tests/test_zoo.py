"""Public architectures with random weights: the plane is the plain loop's, curvature a
difference's, the module stays as it was.

The large ones run by `-m slow`; those of Hugging Face need `pip install -e ".[zoo]"`.
"""

import copy
from types import SimpleNamespace

import torch
import torchvision
from cases import net_of, normals, refused
from pytest import approx, fixture, importorskip, mark, param
from torch import float64, nn, no_grad, randint, randn
from torch.nn import Linear
from torch.nn import functional as F
from torch.testing import assert_close

import flatviz as fv

TORCHVISION = (
    "convnext_tiny",
    "mobilenet_v3_small",
    "resnet18",
    "shufflenet_v2_x0_5",
    "squeezenet1_1",
    "swin_t",
)
WITHOUT_SECOND_DERIVATIVE = {"mobilenet_v3_small"}  # their gates are hardsigmoids


def vision(name):
    return getattr(torchvision.models, name)(weights=None, num_classes=4), randn(6, 3, 64, 64)


def small_vit(_):
    sizes = dict(
        image_size=32,
        patch_size=8,
        num_layers=2,
        num_heads=2,
        hidden_dim=16,
        mlp_dim=32,
    )
    module = torchvision.models.VisionTransformer(num_classes=4, **sizes)
    # Zero as it comes: every output would be alike
    nn.init.normal_(module.heads.head.weight, std=0.1)
    return module, randn(6, 3, 32, 32)


def bert(_):
    transformers = importorskip("transformers")
    sizes = dict(
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        vocab_size=30,
    )
    module = transformers.BertForSequenceClassification(
        transformers.BertConfig(num_labels=4, **sizes)
    )
    return module, randint(0, 30, (6, 7))


def timm_resnet(_):
    """A ResNet of timm of a tenth of its width."""
    timm = importorskip("timm")
    sizes = dict(
        block=timm.models.resnet.BasicBlock,
        layers=(1, 1, 1, 1),
        channels=(8, 8, 16, 16),
    )
    return timm.models.ResNet(num_classes=4, **sizes), randn(6, 3, 32, 32)


def encoder(_):
    layers = nn.TransformerEncoder(
        nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 2, enable_nested_tensor=False
    )
    module = nn.Sequential(layers, nn.Flatten(), Linear(40, 4))
    return module, randn(6, 5, 8)


MAKERS = {
    **{name: vision for name in TORCHVISION},
    "torchvision ViT": small_vit,
    "Hugging Face BERT": bert,
    "TransformerEncoder": encoder,
    "timm ResNet": timm_resnet,
}


LONG = ("convnext_tiny", "resnet18", "swin_t")
CASES = [param(name, marks=mark.long) if name in LONG else name for name in MAKERS]


def made(name):
    module, x = MAKERS[name](name)
    for part in module.modules():  # statistics and scales that are not the initial ones
        if isinstance(part, nn.modules.batchnorm._BatchNorm):
            # At 0 ReLUs are on their kink
            for t in (part.running_mean, part.bias):
                nn.init.uniform_(t, -0.1, 0.1)
            for t in (part.running_var, part.weight):
                nn.init.uniform_(t, 0.5, 1.5)
    return module.eval(), fv.Data(x, torch.arange(6) % 4)


def treated_of(module):
    """Norm layers and head; of a network without norm layers, its head."""
    norms = any(
        isinstance(m, (nn.modules.batchnorm._NormBase, nn.LayerNorm, nn.GroupNorm))
        for m in module.modules()
    )
    if norms:
        return "norm+head"
    head = list(dict(module.named_parameters()))[-1].rpartition(".")[0]
    return lambda name: name.startswith(f"{head}.")


def logits(out):
    return out if isinstance(out, torch.Tensor) else out.logits


@mark.parametrize("name", CASES)
def test_an_architecture_has_right_surfaces_and_curvature_and_stays_as_it_was(name):
    module, data = made(name)
    before = copy.deepcopy(module.state_dict())
    net = net_of(module, treated_of(module), example=data.x[:2])
    f = fv.nll(net, data)
    plane = fv.plane_random(net, net.w, seed=1)
    surface = fv.slice_plane(f, plane, extent=0.5, resolution=3)
    with no_grad():
        points = plane.points(torch.cartesian_prod(surface.a, surface.b))
        want = torch.stack(
            [F.cross_entropy(logits(net.to_module(w).eval()(data.x)), data.y) for w in points]
        ).view(3, 3)
    # float32, another order of sums
    assert_close(surface.values, want, rtol=1e-4, atol=1e-5)

    wide = net.to(dtype=float64)
    x = data.x.double() if data.x.is_floating_point() else data.x
    v = normals(net.dim, source=2)
    v = v / v.norm() * (1e-3 + wide.w.norm()) / 100
    exact = fv.nll(wide, fv.Data(x, data.y))
    with no_grad():
        step = 1e-5  # short: a ReLU that turns within it spoils the difference
        moved = (wide(wide.w + step * v, x) - wide(wide.w - step * v, x)) / (2 * step)  # J v
        p = wide(wide.w, x).softmax(-1)
        ggn = float((p * moved.square()).sum(1).sub((p * moved).sum(1).square()).mean())
    got = float(v @ exact.operator(wide.w, "ggn")(v))
    assert got == approx(ggn, rel=1e-3, abs=1e-12)
    if name in WITHOUT_SECOND_DERIVATIVE:
        with refused(
            "got hardsigmoid.* for which PyTorch has none: use curvature='ggn'",
        ):
            fv.hvp(f, net.w, v.float())
        spectrum = fv.top_eigenpairs(f, net.w, 1, curvature="fisher")
        found = spectrum.values[0]
        assert found > 0
    else:
        assert_differences(wide, exact, v)
    assert all(torch.equal(value, before[key]) for key, value in module.state_dict().items())
    assert not any(p.grad is not None for p in module.parameters())


def assert_differences(net, f, v):
    """v H v against the central difference of v . gradient; two steps, for a kink may lie within
    one of them."""
    got = float(v @ fv.hvp(f, net.w, v))
    differences = []
    for step in (1e-4, 1e-6):
        slopes = [float(v @ f.value_and_grad(net.w + sign * step * v)[1]) for sign in (1, -1)]
        differences.append((slopes[0] - slopes[1]) / (2 * step))
    closest = min(differences, key=lambda d: abs(d - got))
    assert got == approx(closest, rel=1e-3, abs=1e-9)


def test_logits_are_taken_from_an_object_and_not_from_a_tuple():
    class Wrapped(Linear):
        def forward(self, x):
            return SimpleNamespace(logits=super().forward(x), hidden=x)

    class Pair(Linear):
        def forward(self, x):
            return super().forward(x), x

    module = Wrapped(3, 2)
    data = fv.Data(randn(4, 3), torch.tensor([0, 1, 0, 1]))
    net = net_of(module)
    want = F.cross_entropy(module(data.x).logits, data.y)
    found = fv.nll(net, data)(net.w)
    assert_close(found, want.detach())
    with refused("must return a tensor, or an object or dict with logits, got tuple", TypeError):
        fv.nll(net_of(Pair(3, 2)), data)


@fixture
def language():
    """A GPT-2 of random weights, whose head is tied to its embedding, and data of tokens."""
    transformers = importorskip("transformers")
    sizes = dict(vocab_size=20, n_positions=8, n_embd=8, n_layer=2, n_head=2)
    ends = dict(bos_token_id=0, eos_token_id=0)
    module = transformers.GPT2LMHeadModel(transformers.GPT2Config(**sizes, **ends)).eval()
    ids = randint(0, 20, (6, 9))
    data = fv.Data({"input_ids": ids[:, :-1].contiguous()}, ids[:, 1:].contiguous())
    return module, data


def test_a_language_model_with_a_tied_head_has_right_values_and_products(language):
    module, data = language
    net = net_of(module, "head", example=data)
    assert net.tied == {"transformer.wte.weight": ["lm_head.weight"]}
    assert net.dim == 20 * 8
    f = fv.nll(net, data)
    w = net.w + 0.1 * randn(net.dim)
    moved = copy.deepcopy(module)
    with no_grad():
        moved.lm_head.weight.copy_(w.view(20, 8))
    out = moved(**data.x.named).logits
    want = F.cross_entropy(out.flatten(0, 1), data.y.flatten())
    assert_close(f(w), want, rtol=1e-5, atol=1e-6)
    # float32: products of a batch in another order
    slope = torch.autograd.grad(want, moved.lm_head.weight)[0]
    found = f.value_and_grad(w)[1]
    assert_close(found, slope.flatten(), rtol=1e-4, atol=1e-6)


def test_adapters_are_what_is_treated_by_default_and_by_name(language):
    peft = importorskip("peft")
    module, data = language
    before = F.cross_entropy(module(**data.x.named).logits.flatten(0, 1), data.y.flatten())
    how = dict(
        r=2,
        target_modules=["c_attn"],
        lora_dropout=0.0,
        fan_in_fan_out=True,
    )
    adapted = peft.get_peft_model(module, peft.LoraConfig(**how))
    net = net_of(adapted, example=data)
    named = net_of(adapted, lambda name: "lora_" in name, example=data)
    assert net.blocks == named.blocks
    assert net.dim == 2 * 2 * (8 + 24)
    f = fv.nll(net, data)
    assert_close(f(net.w), before)  # B begins at 0
    q = fv.fit(net, data, fv.Laplace(structure="full"), seed=0, steps=20)
    assert f(q.center) < before
    p = fv.predict(net, q, data, 3, seed=0)
    found = p.outputs.shape
    assert found == (3, 6, 8, 20)
