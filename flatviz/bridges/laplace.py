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


def kronecker_precision(net: Net, data: Data, likelihood: Likelihood = "categorical") -> Tensor:
    """H (D, D) of the treated weights at `net.w`, block-diagonal with Kronecker blocks N A x G, without the prior.

    Raises ValueError where a treated weight belongs to anything but a Linear or a convolution, ImportError without
    laplace-torch.
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
        model.fit(DataLoader(TensorDataset(data.x, data.y), batch_size=256))
        H = model.H.to_matrix() if hasattr(model.H, "to_matrix") else model.posterior_precision.to_matrix()
        factor = float(model._H_factor)
    return (factor * H).detach().to(net.w)
