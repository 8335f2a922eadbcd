# written by .ci/stubs.py
from flatviz.symmetry.actions import flip as flip
from flatviz.symmetry.actions import permute as permute
from flatviz.symmetry.actions import random_factor as random_factor
from flatviz.symmetry.actions import random_order as random_order
from flatviz.symmetry.actions import rescale as rescale
from flatviz.symmetry.discrepancy import layers_of as layers_of
from flatviz.symmetry.discrepancy import mmd as mmd
from flatviz.symmetry.minmass import min_mass as min_mass
from flatviz.symmetry.minmass import rescaled_orbit as rescaled_orbit
from flatviz.symmetry.pool import pair_diversity as pair_diversity
from flatviz.symmetry.pool import train_pool as train_pool
from flatviz.symmetry.removal import align as align
from flatviz.symmetry.removal import canonical as canonical
from flatviz.symmetry.removal import sort_units as sort_units
from flatviz.symmetry.removal import unit_norm as unit_norm
from flatviz.symmetry.units import Units as Units
from flatviz.symmetry.units import units_of as units_of
