# written by .ci/stubs.py
from flatviz.families.convergence import convergence_gap as convergence_gap
from flatviz.families.family import fit_family as fit_family
from flatviz.families.family import measure as measure
from flatviz.families.members import Choice as Choice
from flatviz.families.members import Fitting as Fitting
from flatviz.families.preparation import shifted_scores as shifted_scores
