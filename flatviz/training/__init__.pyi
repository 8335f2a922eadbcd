# written by .ci/stubs.py
from flatviz.training.driver import Algorithm as Algorithm
from flatviz.training.gradient import TrainingLoss as TrainingLoss
from flatviz.training.keywords import Run as Run
from flatviz.training.losses import training_loss as training_loss
from flatviz.training.points import Energy as Energy
from flatviz.training.points import SGD as SGD
from flatviz.training.variational import Descent as Descent
