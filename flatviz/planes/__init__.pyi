# written by .ci/stubs.py
from flatviz.planes.along import plane_along as plane_along
from flatviz.planes.along import plane_eigen as plane_eigen
from flatviz.planes.pca import plane_path as plane_path
from flatviz.planes.pca import plane_pca as plane_pca
from flatviz.planes.random import plane_random as plane_random
from flatviz.planes.through import plane_through as plane_through
