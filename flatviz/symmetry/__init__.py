"""Maps of the weights that leave the function unchanged, and posteriors with them removed."""

from flatviz.lazy import lazy

__getattr__, __dir__, __all__ = lazy(
    __name__,
    {
        "units": "Units units_of",
        "actions": "flip permute random_factor random_order rescale",
        "removal": "align canonical sort_units unit_norm",
        "minmass": "min_mass rescaled_orbit",
        "discrepancy": "layers_of mmd",
        "pool": "pair_diversity train_pool",
    },
)
