# written by .ci/stubs.py
from flatviz.posteriors.laplace import laplace_evidence as laplace_evidence
from flatviz.posteriors.transfer import moped_prior as moped_prior
from flatviz.posteriors.method import Method
METHODS: dict[str, Method]
