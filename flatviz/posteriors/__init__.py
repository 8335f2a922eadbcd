"""Posteriors over weights: one method a file, `fit_<method>(net, data, ...) -> Posterior`; `FITS` lists them."""

from flatviz.posteriors.sabma import fit_sabma
from flatviz.posteriors.sgd import fit_sgd
from flatviz.posteriors.swag import fit_swag
from flatviz.posteriors.vi import fit_vi

FITS = {"sgd": fit_sgd, "swag": fit_swag, "vi": fit_vi, "sabma": fit_sabma}
