from .arviz import diagnose_chains as diagnose_chains
from .laplace_torch import LaplaceTorch as LaplaceTorch
