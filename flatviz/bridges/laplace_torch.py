"""laplace-torch: Laplace posteriors whose covariance is no `Gaussian` of ours.

Checked with laplace-torch 0.3 (Daxberger et al. 2021) and torch 2.14.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import torch
from torch import Tensor, nn

from flatviz.core import Data, Net, saved_rng
from flatviz.likelihood import BUILT_IN, GaussianLikelihood
from flatviz.objectives.problem import Problem
from flatviz.results import History

Structure = Literal["kron", "hessian"]
BATCH = 128
# Errors of its backends at an unknown layer
UNFIT = (NotImplementedError, RuntimeError, AttributeError, AssertionError)


@dataclass(frozen=True, eq=False)
class LaplaceTorch:
    """Laplace posterior of laplace-torch, for `predict` and `predict_linearised`.

    Attributes:
        center: (D,), the solution.
        peer: laplace-torch's object, with its evidence and precisions; its covariance is multiplied
            by `temperature`.

    The posterior cannot be saved; save `q.sample(n, seed=0)`.
    """

    center: Tensor
    peer: Any
    temperature: float = 1.0
    history: History | None = None
    linearised: bool = True

    def __repr__(self) -> str:
        return f"LaplaceTorch({type(self.peer).__name__}, dim={len(self.center)})"

    def sample(self, n: int, *, seed: int) -> Tensor:
        """Draw `n` weight vectors, (n, D)."""
        source = torch.Generator(self.center.device).manual_seed(seed)
        # One by one, so that fewer draws are the beginning of more
        rows = [self.peer.sample(1, generator=source) for _ in range(n)]
        return self.center + self.temperature**0.5 * (torch.cat(rows) - self.center)

    def outputs(self, data: Data) -> tuple[Tensor, Tensor]:
        """Return mean (N, C) and covariance (N, C, C) of the linearised network's outputs."""
        parts = [self.peer._glm_predictive_distribution(x) for x, _ in data.batches(BATCH)]
        return (
            torch.cat([f for f, _ in parts]).detach(),
            self.temperature * torch.cat([V for _, V in parts]).detach(),
        )


def fit_laplace_torch(
    problem: Problem,
    structure: str,
    prior_precision: float | str,
    temperature: float,
    history: History | None = None,
) -> LaplaceTorch:
    """Fit the posterior at the net's weights, which `fit_laplace` has trained.

    prior_precision: delta, or "marginal".

    Raises:
        ImportError: Without laplace-torch.
        ValueError: For layers that its backend does not know, and inputs that are not one tensor.
    """
    try:
        import laplace  # optional: only these structures need it
        from laplace.curvature import CurvlinopsHessian
    except ImportError as error:
        raise ImportError(
            f"structure={structure!r} needs laplace-torch: pip install 'flatviz[laplace]'"
        ) from error
    net, data, p, _ = problem
    x, y = data.batch(None)
    if not isinstance(x, Tensor):
        raise ValueError(
            f"structure={structure!r} needs inputs that are one tensor, got {x.describe()}: use"
            " 'diagonal'"
        )
    tuned = prior_precision == "marginal"
    module = _treated_alone(net)
    settings: dict[str, Any] = dict(
        likelihood="classification", prior_precision=1.0 if tuned else prior_precision
    )
    noise = p.noise if isinstance(p, GaussianLikelihood) else None
    if isinstance(noise, float):
        settings |= dict(likelihood="regression", sigma_noise=noise)
    elif repr(p) != repr(BUILT_IN["categorical"]):
        raise ValueError(
            f"structure={structure!r} needs likelihood='categorical' or one noise standard"
            f" deviation, which is what laplace-torch knows, got {p!r}: use 'full', 'diagonal'"
            " or 'last_layer'"
        )
    posterior: Callable[..., Any]
    if structure == "kron":
        posterior = laplace.KronLaplace
    else:
        posterior = partial(laplace.FullLaplace, backend=CurvlinopsHessian)
    examples = torch.utils.data.TensorDataset(x, y)
    try:
        with saved_rng():
            peer = posterior(module, **settings)
            peer.fit(torch.utils.data.DataLoader(examples, batch_size=BATCH))
            if tuned:
                peer.optimize_prior_precision(pred_type="glm", prior_structure="scalar")
            q = LaplaceTorch(net.w.detach().clone(), peer, temperature, history)
            sound = bool(q.sample(1, seed=0).isfinite().all())
    except torch.linalg.LinAlgError:
        sound = False
    except UNFIT as error:
        raise ValueError(
            f"structure={structure!r} must be one that laplace-torch can fit to this net, got"
            f" {type(error).__name__}: {error}: 'kron' knows Linear and convolutions alone; use"
            " 'hessian' or 'diagonal'"
        ) from error
    if not sound:
        raise ValueError(
            f"structure={structure!r} needs H + delta I to be positive definite beyond rounding,"
            " got curvature below -delta, or NaN: train on, give a larger prior_precision, or use"
            " 'full', which leaves negative curvature out"
        )
    return q


def _treated_alone(net: Net) -> nn.Module:
    """Return the module with its treated weights as parameters and all others as buffers.

    laplace-torch leaves buffers alone.
    """
    module = net.to_module().eval()
    treated = {b.name for b in net.blocks}
    for name, weight in list(module.named_parameters()):
        if name not in treated:
            owner, _, last = name.rpartition(".")
            delattr(module.get_submodule(owner), last)
            module.get_submodule(owner).register_buffer(last, weight.detach())
    return module
