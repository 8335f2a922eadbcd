from .plane import plane_along as plane_along
from .plane import plane_eigen as plane_eigen
from .plane import plane_path as plane_path
from .plane import plane_pca as plane_pca
from .plane import plane_random as plane_random
from .plane import plane_through as plane_through
