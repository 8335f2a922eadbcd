# written by .ci/stubs.py
from flatviz.objectives.bma import bma_nll as bma_nll
