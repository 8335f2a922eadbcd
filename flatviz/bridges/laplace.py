"""laplace-torch: the Kronecker-factored curvature of Linear and convolution layers."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.modules.conv import _ConvNd
from torch.utils.data import DataLoader, TensorDataset

from flatviz.core.data import Data
from flatviz.core.likelihood import Likelihood
from flatviz.core.net import Net
from flatviz.core.seeds import saved_rng


def kronecker_eigen(
    net: Net, data: Data, likelihood: Likelihood = "categorical"
) -> tuple[Tensor, tuple[tuple[Tensor, Tensor], ...]]:
    """Eigenvalues (D,) of H at `net.w`, without the prior, and a pair of orthogonal matrices (O, O), (I, I) a tensor.

    H is block-diagonal with a Kronecker block G x A for each tensor, seen as (O, I), a bias as (O, 1); its eigenvectors
    are the products of G's and A's, in the order of `w`.  Nothing (D, D) is built.

    Raises:
        ValueError: Where a treated weight belongs to anything but a Linear or a convolution.
        ImportError: Without laplace-torch.
    """
    module = net.to_module().eval()
    parts = dict(module.named_modules())
    for b in net.blocks:
        owner = parts[b.name.rpartition(".")[0]]
        if not isinstance(owner, (nn.Linear, _ConvNd)):
            raise ValueError(
                f"structure='kronecker' covers Linear and convolution weights only, got {b.name} of a {type(owner).__name__}: "
                "use structure='last_layer', 'diagonal' or 'full'"
            )
    try:
        from laplace import KronLaplace  # optional: only this structure needs it
    except ImportError as error:
        raise ImportError("structure='kronecker' needs laplace-torch: pip install 'flatviz[laplace]'") from error
    treated = {b.name for b in net.blocks}
    for name, parameter in module.named_parameters():
        parameter.requires_grad_(name in treated)
    kind, noise = ("classification", 1.0) if likelihood == "categorical" else ("regression", float(likelihood))
    with saved_rng(0), torch.enable_grad():
        model = KronLaplace(module, kind, sigma_noise=noise, prior_precision=1.0)
        model.fit(DataLoader(TensorDataset(*data.batch(None)), batch_size=256))
    one = net.w.new_ones(1, 1)
    pairs = [tuple(Q.detach().to(net.w) for Q in (*Qs, one)[:2]) for Qs in model.H.eigenvectors]
    values = [torch.outer(*(*parts, one[0])[:2]).reshape(-1) for parts in model.H.eigenvalues]
    return float(model._H_factor) * torch.cat(values).detach().to(net.w), tuple(pairs)
