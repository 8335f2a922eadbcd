from .convergence import convergence_gap as convergence_gap
from .family import fit_family as fit_family
from .family import measure as measure
from .members import Choice as Choice
from .members import Fitting as Fitting
from .preparation import shifted_scores as shifted_scores
