from .batchnorm import refresh_batchnorm as refresh_batchnorm
from .trunk import cache_trunk as cache_trunk
