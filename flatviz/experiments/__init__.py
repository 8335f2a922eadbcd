"""Experiments: fit and measure a declared grid, compare seed by seed, and judge by rule.

A study is a notebook of `notebooks/experiments/`.  It declares a grid, runs it with `run` or reads
the stored table with `read_table`, draws it, and prints its verdicts.  The table is a pandas
DataFrame with one row a fit and quantity:

    experiment, setting, method, radius, steps, seed, (columns that the grid adds), quantity, value

    run         grid -> table: fits grouped by seed, cached unit by unit, here or by an executor
    read_table, write_table    the table as CSV in `data/`
    at          the rows of one cell as a frame of seeds by quantities
    paired      differences seed by seed: mean, 95 % interval, number of seeds with a gain, p
    judged      Holm's correction for a family of claims, and a verdict on each
    equivalent  p of two one-sided tests that a difference lies within a margin ("no effect")
    sentences   the judged rows as text
    shown       values of a cell as "mean ± half of the 95 % interval"

A verdict is "holds" or "does not hold" where the corrected p is below 0.05, else "inconclusive".

Example:
    >>> from flatviz.experiments import at, judged, paired, run, sentences
    >>> def fit(cells):  # all cells of one seed; yields each with its fit
    ...     for cell in cells:
    ...         yield cell, cell["seed"] + 10 * cell["radius"]
    >>> def measure(fitted, cell):
    ...     return {"nll": 100 - fitted + fitted % 3 * cell["radius"]}
    >>> grid = [dict(method="sabma", radius=r, seed=s) for r in (0.0, 1.0) for s in range(6)]
    >>> table = run(grid, fit, measure, name="example", cache=False, say=lambda line: None)
    >>> list(table.columns)
    ['experiment', 'setting', 'method', 'radius', 'steps', 'seed', 'quantity', 'value']
    >>> differences = paired(at(table, radius=1.0), at(table, radius=0.0))
    >>> claims = differences.assign(claim="radius 1", against="radius 0")
    >>> print(*sentences(judged(claims, family="example")))
    radius 1: NLL -9 ± 0.94, better in 6 of 6 seeds: holds
"""

from flatviz.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
