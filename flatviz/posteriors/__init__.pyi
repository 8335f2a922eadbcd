import flatviz.posteriors.method

from .bsam import BSAM as BSAM
from .emcmc import EMCMC as EMCMC
from .ivon import IVON as IVON
from .laplace import laplace_evidence as laplace_evidence
from .laplace import marginal_noise as marginal_noise
from .psgld import PSGLD as PSGLD
from .sabma import SABMA as SABMA
from .sgld import SGHMC as SGHMC
from .sgld import SGLD as SGLD
from .sgnht import SGNHT as SGNHT
from .svgd import SVGD as SVGD
from .swag import SWAG as SWAG
from .transfer import moped_prior as moped_prior
from .vi import VI as VI

METHODS: dict[str, flatviz.posteriors.method.Method]
