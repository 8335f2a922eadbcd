# written by .ci/stubs.py
from flatviz.objectives.quantity import bma_nll as bma_nll
