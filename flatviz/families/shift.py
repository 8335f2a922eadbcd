"""Scores under distribution shift: the test images corrupted by kind and severity, for any posterior."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from typing import Literal

import torch

from flatviz.checks import Count, Seed, check_choice, check_count
from flatviz.core.boundary import public
from flatviz.core.data import Data
from flatviz.core.net import Net
from flatviz.core.progress import Progress, track
from flatviz.datasets.corruptions import CORRUPTIONS, corrupt
from flatviz.metrics.prediction import predict
from flatviz.results import AnyPosterior, Prediction, Shift

SCORES = ("accuracy", "nll", "ece")
KINDS, SEVERITIES = ("gaussian_noise", "defocus_blur", "fog", "pixelate"), (1, 3, 5)  # one kind of each of four families


@public
def shifted_scores(
    net: Net,
    posterior: AnyPosterior,
    data: Data,
    *,
    seed: Seed,
    kinds: Sequence[str] = KINDS,
    severities: Sequence[Count] = SEVERITIES,
    n_draws: Count = 30,
    batchnorm: Literal["frozen"] | Data | None = None,
    progress: Progress = False,
) -> Shift:
    """Accuracy, NLL and ECE of the average of `n_draws` draws on `data` and on its corrupted copies, by kind and severity.

    Args:
        net: the network.
        posterior: over its treated weights.
        data: labelled images (N, C, H, W) from 0 to 1.
        kinds: of `fv.datasets.CORRUPTIONS`; by default one each of noise, blur, weather and digital.
        severities: 1 to 5; severity 0, the images as they are, comes first in the result.
        n_draws: ensemble size; the same draws for every corruption.
        batchnorm: as in `predict`: "frozen", or a Data that re-estimates the statistics for each draw.
        seed: of the draws and of the corruptions, which are the same for every posterior.
        progress: True, None (where a terminal watches) or a function.

    Raises:
        ValueError: For a kind or severity that is not known, or data that are no such images.

    Example:
        >>> import torch, flatviz as fv
        >>> net = fv.Net.from_module(torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(64, 2)))
        >>> data = fv.Data(torch.rand(6, 1, 8, 8), torch.arange(6) % 2)
        >>> q = fv.Gaussian(net.w, torch.full_like(net.w, -2.0))
        >>> shift = fv.families.shifted_scores(net, q, data, kinds=["fog"], severities=[2, 4], n_draws=3, seed=0)
        >>> shift.severities, shift.scores["nll"].shape
        ((0, 2, 4), torch.Size([1, 3]))
    """
    predictor = partial(predict, net, posterior, n_draws=n_draws, seed=seed, batchnorm=batchnorm)
    return shift_of(predictor, data, kinds, severities, seed=seed, progress=progress)


def shift_of(
    predictor: Callable[[Data], Prediction],
    data: Data,
    kinds: Sequence[str],
    severities: Sequence[int],
    *,
    seed: int,
    clean: Prediction | None = None,
    progress: Progress = False,
) -> Shift:
    """`shifted_scores` of anything that predicts; clean: its prediction on `data`, where it is at hand."""
    for kind in kinds:
        check_choice(kind, tuple(CORRUPTIONS), "a kind")
    if any(check_count(s, "a severity") > 5 for s in severities) or list(severities) != sorted(set(severities)):
        raise ValueError(f"severities must rise, from 1 to 5, got {list(severities)}")
    clean, table = predictor(data) if clean is None else clean, {name: [] for name in SCORES}
    for kind, severity in track(list(product(kinds, (0, *severities))), "shifted test sets", progress):
        scores = (predictor(corrupt(data, kind, severity, seed=seed)) if severity else clean).scores
        for name in SCORES:
            table[name].append(float(scores[name][-1]))
    table = {name: torch.tensor(rows, dtype=torch.float64).view(len(kinds), -1) for name, rows in table.items()}
    return Shift(tuple(kinds), (0, *severities), table, len(data), clean.n_draws, clean.batchnorm, clean.trunk)
