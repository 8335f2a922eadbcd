# written by .ci/stubs.py
from flatviz.models.networks import convnet as convnet
from flatviz.models.networks import learned_noise as learned_noise
from flatviz.models.networks import mlp as mlp
from flatviz.models.networks import resnet20 as resnet20
from flatviz.models.public import load_weights as load_weights
from flatviz.models.public import torchvision_model as torchvision_model
