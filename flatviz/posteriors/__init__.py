"""Posteriors over weights: one method a file, `fit_<method>(net, data, ...) -> Posterior`; `FITS` lists them.

All take (net, data, *, seed); `vi`, `sabma` and `ptl` also a prior, third.
"""

from functools import partial

from flatviz.posteriors.bsam import fit_bsam
from flatviz.posteriors.csgld import fit_csgld
from flatviz.posteriors.dropout import fit_dropout
from flatviz.posteriors.emcmc import fit_emcmc
from flatviz.posteriors.ensemble import fit_ensemble
from flatviz.posteriors.laplace import fit_laplace
from flatviz.posteriors.mfvi import fit_mfvi
from flatviz.posteriors.multi import fit_multi
from flatviz.posteriors.ptl import fit_ptl
from flatviz.posteriors.sabma import fit_sabma
from flatviz.posteriors.sgd import fit_sgd
from flatviz.posteriors.sghmc import fit_sghmc
from flatviz.posteriors.sgld import fit_sgld
from flatviz.posteriors.swa import fit_swa
from flatviz.posteriors.swag import fit_swag
from flatviz.posteriors.swag_diag import fit_swag_diag
from flatviz.posteriors.vi import fit_vi

FITS = {
    "sgd": fit_sgd,
    "swa": fit_swa,
    "swag_diag": fit_swag_diag,
    "swag": fit_swag,
    "mfvi": fit_mfvi,
    "vi": fit_vi,
    "sabma": fit_sabma,
    "bsam": fit_bsam,
    "laplace": fit_laplace,
    "sgld": fit_sgld,
    "sghmc": fit_sghmc,
    "csgld": fit_csgld,
    "emcmc": fit_emcmc,
    "ptl": partial(fit_ptl, fit=fit_csgld),
    "dropout": fit_dropout,
    "ensemble": fit_ensemble,
    "multiswag": partial(fit_multi, fit=fit_swag),
}
