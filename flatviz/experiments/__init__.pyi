# written by .ci/stubs.py
from flatviz.experiments.grid import run as run
from flatviz.experiments.statistics import COLUMNS as COLUMNS
from flatviz.experiments.statistics import QUANTITIES as QUANTITIES
from flatviz.experiments.statistics import amount as amount
from flatviz.experiments.statistics import at as at
from flatviz.experiments.statistics import equivalent as equivalent
from flatviz.experiments.statistics import holm as holm
from flatviz.experiments.statistics import judged as judged
from flatviz.experiments.statistics import paired as paired
from flatviz.experiments.statistics import read_table as read_table
from flatviz.experiments.statistics import sentences as sentences
from flatviz.experiments.statistics import shown as shown
from flatviz.experiments.statistics import write_table as write_table
