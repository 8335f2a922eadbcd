"""Distributions of y given a network's outputs: any of torch's, three in closed form."""

from flatviz.likelihood.base import Likelihood, Noise
from flatviz.likelihood.closed_forms import (
    BUILT_IN,
    AnyLikelihood,
    BernoulliLikelihood,
    CategoricalLikelihood,
    GaussianLikelihood,
    NoiseLikelihood,
    as_likelihood,
)

__all__ = [
    "BUILT_IN",
    "AnyLikelihood",
    "BernoulliLikelihood",
    "CategoricalLikelihood",
    "GaussianLikelihood",
    "Likelihood",
    "Noise",
    "NoiseLikelihood",
    "as_likelihood",
]
