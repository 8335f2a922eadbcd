from .batchnorm import refresh_batchnorm as refresh_batchnorm
