# written by .ci/stubs.py
from flatviz.planes.plane import plane_along as plane_along
from flatviz.planes.plane import plane_eigen as plane_eigen
from flatviz.planes.plane import plane_path as plane_path
from flatviz.planes.plane import plane_pca as plane_pca
from flatviz.planes.plane import plane_random as plane_random
from flatviz.planes.plane import plane_through as plane_through
