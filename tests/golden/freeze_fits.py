"""Write fits.safetensors, what every fit of fits.py gives today: python tests/golden/freeze_fits.py

Only where a number is meant to change: the file says what all fits gave before it did.
"""

import json
import sys
import time
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).parents[1]))

from golden.fits import CASES, FILE, machine, numbers_of, plain
from safetensors.torch import save_file

torch.set_num_threads(1)  # as tests run
begun = time.monotonic()
numbers = {}
notes = {}
for name in CASES:
    found, said = numbers_of(name)
    numbers |= plain(found)
    if said:
        notes[name] = said
about = {"machine": machine(), "notes": json.dumps(notes)}
save_file(numbers, FILE, about)
taken = time.monotonic() - begun
print(f"{FILE}: {len(CASES)} cases, {FILE.stat().st_size / 1e6:.2f} MB, {taken:.0f} s")
