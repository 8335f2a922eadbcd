"""What several test files use of flatviz that is not public: a name that moves is changed here.

A test that can ask its question by public names does so.
"""

from flatviz.cli import main
from flatviz.core.arithmetic import float32_flags
from flatviz.engine.trace import Program
from flatviz.families import Fitting
from flatviz.families.family import extend, repeat_family
from flatviz.families.tour import TourSettings, run_tour
from flatviz.pages.bundle import pack, pack_members
from flatviz.pages.page import bundled, family_page
from flatviz.pages.story import tour_story
from flatviz.pages.views import views_of
from flatviz.storage.cache import PointStore, cached
from flatviz.storage.digest import value_digest
from flatviz.training.perturb import MODES

__all__ = [
    "Fitting",
    "MODES",
    "PointStore",
    "Program",
    "TourSettings",
    "bundled",
    "cached",
    "extend",
    "family_page",
    "float32_flags",
    "main",
    "pack",
    "pack_members",
    "repeat_family",
    "run_tour",
    "tour_story",
    "value_digest",
    "views_of",
]
