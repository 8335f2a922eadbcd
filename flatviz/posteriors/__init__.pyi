# written by .ci/stubs.py
from flatviz.posteriors.bsam import BSAM as BSAM
from flatviz.posteriors.emcmc import EMCMC as EMCMC
from flatviz.posteriors.ivon import IVON as IVON
from flatviz.posteriors.laplace import laplace_evidence as laplace_evidence
from flatviz.posteriors.laplace import marginal_noise as marginal_noise
from flatviz.posteriors.psgld import PSGLD as PSGLD
from flatviz.posteriors.sabma import SABMA as SABMA
from flatviz.posteriors.sgld import SGHMC as SGHMC
from flatviz.posteriors.sgld import SGLD as SGLD
from flatviz.posteriors.sgnht import SGNHT as SGNHT
from flatviz.posteriors.svgd import SVGD as SVGD
from flatviz.posteriors.swag import SWAG as SWAG
from flatviz.posteriors.transfer import moped_prior as moped_prior
from flatviz.posteriors.vi import VI as VI
from flatviz.posteriors.method import Method
METHODS: dict[str, Method]
