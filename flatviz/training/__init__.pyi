# written by .ci/stubs.py
from flatviz.training.driver import Algorithm as Algorithm
from flatviz.training.driver import Record as Record
from flatviz.training.gradient import TrainingLoss as TrainingLoss
from flatviz.training.gradient import gradient_of as gradient_of
from flatviz.training.losses import training_loss as training_loss
from flatviz.training.perturb import Perturbation as Perturbation
from flatviz.training.points import Energy as Energy
from flatviz.training.points import SGD as SGD
from flatviz.training.settings import Run as Run
from flatviz.training.variational import Descent as Descent
