# written by .ci/stubs.py
from flatviz.bridges.arviz import diagnose_chains as diagnose_chains
from flatviz.bridges.laplace_torch import LaplaceTorch as LaplaceTorch
from flatviz.bridges.trainers import huggingface_callback as huggingface_callback
from flatviz.bridges.trainers import lightning_callback as lightning_callback
