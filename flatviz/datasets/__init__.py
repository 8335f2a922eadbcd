"""Data sets, each one function that returns a `Data` or a `Task`."""

from flatviz.datasets.digits import digits_transfer
from flatviz.datasets.moons import moons_transfer

__all__ = ["digits_transfer", "moons_transfer"]
