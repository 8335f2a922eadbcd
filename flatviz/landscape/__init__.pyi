# written by .ci/stubs.py
from flatviz.landscape.topology import persistence as persistence
from flatviz.landscape.trace import layer_curvature as layer_curvature
