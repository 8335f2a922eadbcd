# written by .ci/stubs.py
from flatviz.landscape.topology import persistence as persistence
