from .krylov import curvature_operator as curvature_operator
from .spectrum import batch_eigenvalues as batch_eigenvalues
from .trace import layer_curvature as layer_curvature
