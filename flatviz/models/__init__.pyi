from .imagenet import efficientnet_lite0 as efficientnet_lite0
from .networks import convnet as convnet
from .networks import learned_noise as learned_noise
from .networks import mlp as mlp
from .networks import resnet20 as resnet20
from .public import load_weights as load_weights
from .public import torchvision_model as torchvision_model
