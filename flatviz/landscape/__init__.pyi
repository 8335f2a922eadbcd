# written by .ci/stubs.py
from flatviz.landscape.krylov import curvature_operator as curvature_operator
from flatviz.landscape.spectrum import batch_eigenvalues as batch_eigenvalues
from flatviz.landscape.trace import layer_curvature as layer_curvature
