# %% [markdown]
# # B · Which numbers should you see?
#
# **You will find** the figures of the course, read from the files that the project's own commands wrote: compare them with yours.
# No number on this page was typed.
#
# **Takes** five minutes to read and half a minute to run on a CPU.
#
# **Needs** nothing.

# %% tags=["parameters"]
FAST = False  # True shrinks the run: tests and a first look

# %%
import json

import torch

from flatviz.cli import main
from flatviz.pages.table import family_rows, text_table
from flatviz.storage.committed import committed
from flatviz.studies.tour import run_tour

# %% [markdown]
# ## Which digits to trust
#
# A seed fixes every bit on one machine, one PyTorch and one number of threads. Another machine pre-trains another network: sums
# are then taken in another order, and training adds the differences up. What agrees everywhere are statements over several
# seeds with their intervals, and of the tour's table roughly the first digit. So compare a figure with the *interval* of the
# same quantity over seeds: outside it, something is wrong; inside, it is noise.

# %%
print(f"this page: torch {torch.__version__}, {torch.get_num_threads()} threads")

# %% [markdown]
# ## The tour
#
# What `flatviz tour` prints here, seed 0. λ1: largest Hessian eigenvalue of the training loss over the treated weights, mean and
# range over draws.

# %%
small = dict(radii={"sgd": (0.0,), "vi": (0.0,), "sabma": (0.0, 1.0)}, epochs=8, fit=dict(steps=20), repeats=0)
few = dict(n_draws=5, n_spectra=2, k=5, resolution=5, around_resolution=5)
tour = run_tour(**(small | dict(measured=few) if FAST else {}))
print(text_table(family_rows(tour.family)))

# %% [markdown]
# ## Ten seeds
#
# What `flatviz evidence --read data/evidence.csv` prints: every quantity as mean ± half of its 95 % interval, the
# differences from VI seed by seed, and the verdicts.

# %%
status = main(["evidence", "--read", str(committed("evidence.csv"))])
assert status == 0

# %% [markdown]
# ## Where the other results lie
#
# Each file with the command that made it; `data/README.md` says how good it is.

# %%
for path in sorted(committed("evidence.csv").parent.glob("*.json")):
    result = json.loads(path.read_text(encoding="utf-8"))
    print(f"{path.name:28} {result.get('command', 'command: see data/README.md')}")
