# written by .ci/stubs.py
from flatviz.datasets.corruptions import CORRUPTIONS as CORRUPTIONS
from flatviz.datasets.corruptions import corrupt as corrupt
from flatviz.datasets.given import data_from as data_from
from flatviz.datasets.given import stream as stream
from flatviz.datasets.images import image_folder as image_folder
from flatviz.datasets.images import images_like as images_like
from flatviz.datasets.images import public_images as public_images
from flatviz.datasets.splits import few_shot as few_shot
from flatviz.datasets.splits import pick_classes as pick_classes
from flatviz.datasets.splits import transfer_task as transfer_task
from flatviz.datasets.tasks import digits_transfer as digits_transfer
from flatviz.datasets.tasks import moons_transfer as moons_transfer
from flatviz.datasets.tasks import named_task as named_task
