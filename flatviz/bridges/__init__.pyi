# written by .ci/stubs.py
from flatviz.bridges.arviz import diagnose_chains as diagnose_chains
from flatviz.bridges.laplace_torch import LaplaceTorch as LaplaceTorch
