"""Laplace posteriors fitted by laplace-torch, with covariances that `Gaussian` cannot hold.

Checked with laplace-torch 0.3 (Daxberger et al. 2021) and torch 2.14.  Its low-rank fit needs a
package that no index has, so the eigenpairs of "lowrank" are those of `top_eigenpairs`.
"""

import math
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Literal

import torch
from torch import Tensor, nn

from flatviz.checks import check_count
from flatviz.core import Data, Net, saved_rng
from flatviz.landscape.spectrum import top_eigenpairs
from flatviz.likelihood import BUILT_IN, GaussianLikelihood, Likelihood
from flatviz.objectives.network import mean_nll
from flatviz.objectives.problem import Problem
from flatviz.results import History

Structure = Literal["kron", "lowrank", "hessian", "functional"]
BATCH = 128
RANK = 20  # eigenpairs of "lowrank"
SUBSET = 1000  # examples that "functional" keeps
# Errors of its backends at an unknown layer
UNFIT = (NotImplementedError, RuntimeError, AttributeError, AssertionError)


@dataclass(frozen=True, eq=False)
class LaplaceTorch:
    """Laplace posterior of laplace-torch, for `predict` and `predict_linearised`.

    Attributes:
        center: (D,), the solution.
        peer: laplace-torch's object, with its evidence and precisions; its covariance is multiplied
            by `temperature`.

    "functional" has no draws.  The posterior cannot be saved; save `q.sample(n, seed=0)`.
    """

    center: Tensor
    peer: Any
    temperature: float = 1.0
    history: History | None = None
    linearised: bool = True
    method: object | None = None

    def __repr__(self) -> str:
        return f"LaplaceTorch({type(self.peer).__name__}, dim={len(self.center)})"

    def sample(self, n: int, *, seed: int) -> Tensor:
        """Draw `n` weight vectors, (n, D); refuse functional Laplace, a posterior over outputs."""
        check_count(n, "n")
        source = torch.Generator(self.center.device).manual_seed(seed)
        try:
            # One by one, so that fewer draws are the beginning of more
            rows = [self.peer.sample(1, generator=source) for _ in range(n)]
        except NotImplementedError:
            raise ValueError(
                "draws of weights need another structure, got 'functional': use predict_linearised"
            ) from None
        deviations = torch.cat(rows) - self.center
        return self.center + self.temperature**0.5 * deviations

    def outputs(self, data: Data) -> tuple[Tensor, Tensor]:
        """Return mean (N, C) and covariance (N, C, C) of the linearised network's outputs."""
        parts = [self.peer._glm_predictive_distribution(x) for x, _ in data.batches(BATCH)]
        means, covariances = zip(*parts)
        return (
            torch.cat(means).detach(),
            self.temperature * torch.cat(covariances).detach(),
        )


def fit_laplace_torch(
    problem: Problem,
    structure: Structure,
    *,
    prior_precision: float | Literal["marginal", "layerwise"],
    temperature: float,
    history: History | None = None,
) -> LaplaceTorch:
    """Fit the posterior at the net's weights, which `Laplace` has trained.

    Raises:
        ImportError: Without laplace-torch.
        ValueError: For layers that its backend does not know, and inputs that are not one tensor.
    """
    try:
        import laplace.curvature  # optional: only these structures need it
    except ImportError as error:
        raise ImportError(
            f"structure={structure!r} needs laplace-torch: pip install 'flatviz[laplace]'"
        ) from error
    net = problem.net
    x, _ = problem.data.batch(None)
    if not isinstance(x, Tensor):
        raise ValueError(
            f"structure={structure!r} needs inputs that are one tensor, got {x.describe()}: use"
            " 'diagonal'"
        )
    tuned = isinstance(prior_precision, str)
    settings = _settings_of(problem.likelihood, structure)
    settings["prior_precision"] = 1.0 if tuned else prior_precision
    module = _treated_alone(net)
    try:
        with saved_rng():
            peer = _fitted(laplace, structure, module, problem, settings)
            if tuned:
                peer.optimize_prior_precision(
                    pred_type="gp" if structure == "functional" else "glm",
                    prior_structure="scalar" if prior_precision == "marginal" else "layerwise",
                )
                if structure == "functional":
                    peer._refresh_posterior()  # until then its kernel has the old precision
            q = LaplaceTorch(net.w.detach().clone(), peer, temperature, history)
            sound = structure == "functional" or bool(q.sample(1, seed=0).isfinite().all())
    except torch.linalg.LinAlgError:
        sound = False
    except UNFIT as error:
        raise ValueError(
            f"structure={structure!r} must be one that laplace-torch can fit to this net, got"
            f" {type(error).__name__}: {error}: 'kron' knows Linear and Conv2d alone,"
            " 'functional' one delta alone; use 'hessian', 'lowrank' or 'diagonal'"
        ) from error
    if not sound:
        raise ValueError(
            f"structure={structure!r} needs H + delta I to be positive definite beyond rounding,"
            " got curvature below -delta, or NaN: train on, give a larger prior_precision, or use"
            " 'lowrank' or 'full', which leave negative curvature out"
        )
    return q


def _settings_of(p: Likelihood, structure: str) -> dict[str, Any]:
    """Return the keywords of laplace-torch for a likelihood; refuse one that it does not know."""
    if isinstance(p, GaussianLikelihood) and isinstance(p.noise, float):
        return dict(likelihood="regression", sigma_noise=p.noise)
    plain = BUILT_IN["categorical"]
    if repr(p) != repr(plain):  # another likelihood, or one of classes with weights
        raise ValueError(
            f"structure={structure!r} needs likelihood='categorical' or one noise standard"
            f" deviation, which is what laplace-torch knows, got {p!r}: use 'full', 'diagonal'"
            " or 'last_layer'"
        )
    return dict(likelihood="classification")


def _fitted(
    laplace: ModuleType,
    structure: str,
    module: nn.Module,
    problem: Problem,
    settings: dict[str, Any],
) -> Any:
    """Fit the posterior of laplace-torch."""
    if structure == "lowrank":
        return _low_rank(laplace, module, problem, settings)
    backends = laplace.curvature
    if structure == "kron":
        peer = laplace.KronLaplace(module, **settings)
    elif structure == "hessian":
        peer = laplace.FullLaplace(module, backend=backends.CurvlinopsHessian, **settings)
    else:
        peer = laplace.FunctionalLaplace(
            module,
            n_subset=min(SUBSET, len(problem.data)),
            backend=backends.CurvlinopsGGN,
            **settings,
        )
    examples = torch.utils.data.TensorDataset(problem.data.tensor(), problem.data.y)
    peer.fit(torch.utils.data.DataLoader(examples, batch_size=BATCH))
    return peer


def _treated_alone(net: Net) -> nn.Module:
    """Return the module with its treated weights as parameters and all others as buffers.

    laplace-torch leaves buffers alone.
    """
    module = net.to_module().eval()
    treated = {id(module.get_parameter(b.name)) for b in net.blocks}
    # A tied weight is a parameter at each of its names
    for name, weight in list(module.named_parameters(remove_duplicate=False)):
        if id(weight) not in treated:
            owner, _, last = name.rpartition(".")
            delattr(module.get_submodule(owner), last)
            module.get_submodule(owner).register_buffer(last, weight.detach())
    return module


def _low_rank(
    laplace: ModuleType,
    module: nn.Module,
    problem: Problem,
    settings: dict,
) -> Any:
    """Build its low-rank posterior from our positive eigenpairs of the exact Hessian."""
    # Its own __init__ needs the absent package
    peer = object.__new__(laplace.LowRankLaplace)
    net, data, *_ = problem
    f = mean_nll(problem)
    laplace.baselaplace.ParametricLaplace.__init__(peer, module, **settings)
    spectrum = top_eigenpairs(f, net.w, min(RANK, net.dim), seed=0)
    positive = spectrum.values > 0
    peer.mean = net.w.detach().clone()
    peer.n_data = len(data)
    x, _ = data.batch(torch.arange(1))
    peer.n_outputs = net(net.w, x).shape[-1]
    constant = 0.0
    scale = 1.0 * len(data)
    std = settings.get("sigma_noise")
    if std is not None:
        # H and loss of a regression are those of half the squares; it divides by the variance
        constant = peer.n_outputs * math.log(std * math.sqrt(2 * math.pi))
        scale = scale * std**2
    peer.H = spectrum.vectors[positive].T, scale * spectrum.values[positive]
    peer.loss = scale * (f(net.w).detach() - constant)
    module.output_size = peer.n_outputs
    return peer
