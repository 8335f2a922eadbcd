"""The public contract: names, how they load, and what their docstrings must say."""

import inspect
import subprocess
import sys

from forked import forked

import flatviz as fv

CONTRACT = """Net Data Gaussian Draws Mixture Plane Surface Curve Spectrum Projection Prediction History Family Task
nll hvp pretrain transfer fit_sgd fit_swag fit_vi fit_sabma plane_pca plane_random plane_through slice_plane slice_line
top_eigenpairs project predict accuracy nll_score ece brier plot_surface plot_spectrum plot_projection plot_metrics
plot_reliability FlatnessLab explore_surface refresh_batchnorm METHODS SAM ASAM FisherSAM fit_swa fit_swag_diag fit_mfvi
fit_sgld fit_sghmc fit_csgld fit_emcmc fit_ptl fit_dropout fit_ensemble fit_multi fit_laplace fit_bsam ace
predictive_entropy mutual_information disagreement ood_scores fit_temperature sharpness predict_linearised""".split()


def test_every_name_of_the_contract_is_there():
    missing = [name for name in CONTRACT if not hasattr(fv, name)]
    assert not missing
    assert set(CONTRACT) <= set(dir(fv))


def test_every_public_verb_has_a_docstring_that_says_more_than_its_name():
    for name in fv.__all__:
        value = getattr(fv, name)
        if inspect.isfunction(value) or inspect.isclass(value):
            assert value.__doc__ and len(value.__doc__) > 40, name


def test_randomness_is_keyword_only_everywhere():
    for name in fv.__all__:
        value = getattr(fv, name)
        if inspect.isfunction(value) and "seed" in inspect.signature(value).parameters:
            assert (
                inspect.signature(value).parameters["seed"].kind is inspect.Parameter.KEYWORD_ONLY or name == "top_eigenpairs"
            )


def test_a_machine_with_nothing_but_torch_imports_flatviz_and_computes(tmp_path):
    """plotly, torchvision, scikit-learn, ipywidgets, anywidget, loss-landscapes, tqdm, sympy: absent."""
    program = """
import sys
absent = "plotly torchvision sklearn scipy sympy ipywidgets anywidget loss_landscapes tqdm traitlets IPython jupytext".split()
late = "torch.fx.experimental.symbolic_shapes"  # torch's own module that needs sympy
loaded = {name: name.partition(".")[0] for name in sys.modules}
for name in [name for name, root in loaded.items() if root == "flatviz"]:
    del sys.modules[name]
# importing any of these raises ModuleNotFoundError, also where this process has them already
sys.modules.update({name: None for name in [*absent, late, *(n for n, root in loaded.items() if root in absent)]})
import torch
from torch import nn
import flatviz as fv
torch.set_num_threads(1)
x = torch.randn(20, 4)
data = fv.Data(x, (x[:, 0] > 0).long())
source = fv.pretrain(nn.Sequential(nn.Linear(4, 8), nn.LayerNorm(8), nn.ReLU(), nn.Linear(8, 2)), data, seed=0, epochs=2)
net, prior = fv.transfer(source, fv.fit_swag(source, data, seed=0, rank=2, snapshots=3), treated="norm+head", head_std=0.1, scale=4)
q = fv.fit_sabma(net, data, prior, radius=0.5, seed=0, steps=4)
f = fv.nll(net, data)
surface = fv.slice_plane(f, fv.plane_pca(q.sample(5, seed=0)), resolution=5, progress=True)
fv.top_eigenpairs(f, q.center, 2), fv.project(q.sample(5, seed=0), surface.plane), fv.predict(net, q, data, 3, seed=0)
try:
    fv.datasets.digits_transfer(shots=1, seed=0)
except ImportError as error:
    assert "pip install scikit-learn" in str(error), error
else:
    raise AssertionError("the digits came without scikit-learn")
print("computed")
"""
    out, errors = tmp_path / "out", tmp_path / "errors"
    child = forked(lambda: exec(program, {}), out, errors)
    child.join(300)
    assert out.read_text().strip() == "computed" and child.exitcode == 0, errors.read_text()


def test_importing_flatviz_loads_nothing_heavy():
    program = "import sys, flatviz; print([m for m in ('torch', 'plotly', 'sklearn', 'ipywidgets') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
