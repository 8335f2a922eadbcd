"""What several test files use of flatviz that is not public: a name that moves is changed here.

A test that can ask its question by public names does so.
"""

from flatviz.cli import main
from flatviz.cli.commands import COMMANDS
from flatviz.cli.experiments import parameters_of, parsed
from flatviz.core.arithmetic import SHARE, arithmetic
from flatviz.engine.graphs import NOT_REPLAYED, RECORDERS
from flatviz.engine.trace import Program
from flatviz.families.family import extend, repeat_family
from flatviz.families.tour import TourSettings, prepare, run_tour
from flatviz.objectives.problem import examined
from flatviz.pages.bundle import pack, pack_members
from flatviz.pages.page import bundled, family_page
from flatviz.pages.story import tour_story
from flatviz.pages.views import views_of
from flatviz.storage.cache import PointStore, cache_key, cached
from flatviz.storage.digest import value_digest

__all__ = [
    "COMMANDS",
    "NOT_REPLAYED",
    "PointStore",
    "Program",
    "RECORDERS",
    "SHARE",
    "TourSettings",
    "arithmetic",
    "bundled",
    "cache_key",
    "cached",
    "examined",
    "extend",
    "family_page",
    "main",
    "pack",
    "pack_members",
    "parameters_of",
    "parsed",
    "prepare",
    "repeat_family",
    "run_tour",
    "tour_story",
    "value_digest",
    "views_of",
]
