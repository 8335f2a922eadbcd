"""Scores to hold a transfer against: networks fitted without the source, and the test images corrupted."""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import product
from typing import Literal

import torch
from torch import nn

from flatviz.checks import Count, Seed, check_choice, check_count
from flatviz.core import Data, Net, Progress, Task, public, saved_rng, track
from flatviz.datasets.corruptions import CORRUPTIONS, corrupt
from flatviz.families.members import predicted
from flatviz.families.preparation import Model, build_model
from flatviz.metrics.prediction import predict
from flatviz.objectives.network import nll
from flatviz.results import AnyPosterior, Prediction, Shift, interval
from flatviz.training.sgd import pretrain

STRENGTHS = (1.0, 0.01, 0.1, 10.0, 100.0)  # scikit-learn's C, the first where there is no validation split
EPOCHS = (60, 240)
SCORES = ("accuracy", "nll", "ece")
KINDS, SEVERITIES = ("gaussian_noise", "defocus_blur", "fog", "pixelate"), (1, 3, 5)  # one kind of each of four families


def without_source(task: Task, model: Model = "mlp", *, seed: int) -> dict[str, Net]:
    """Name -> network fitted on `task.train` alone; of its settings the one with the least validation NLL.

    Logistic regression on the inputs (five strengths of its L2 penalty), and the network with all its weights trained from a
    random start (60 and 240 epochs).  The weights of each network, `net.w`, are its solution.
    """
    started = build_model(model, task, seed=seed).to(task.train.y.device)  # `pretrain` trains a copy
    scratch = [pretrain(started, task.train, seed=seed, epochs=epochs) for epochs in EPOCHS]
    found = {"logistic regression": [_logistic(task, c) for c in STRENGTHS], "from scratch": scratch}
    if task.validation is None:
        return {name: nets[0] for name, nets in found.items()}
    return {name: min(nets, key=lambda net: float(nll(net, task.validation)(net.w))) for name, nets in found.items()}


def _logistic(task: Task, strength: float) -> Net:
    """Logistic regression as a network of one layer."""
    x, y = task.train.batch(None)
    with saved_rng():  # its import draws random numbers
        from sklearn.linear_model import LogisticRegression  # optional: a machine that computes on tensors need not have it

        fitted = LogisticRegression(C=strength, max_iter=2000).fit(x.flatten(1).cpu().numpy(), y.cpu().numpy())
        layer = nn.Linear(x[0].numel(), task.n_classes)
    weight, bias = torch.as_tensor(fitted.coef_), torch.as_tensor(fitted.intercept_)
    if len(weight) == 1:  # of two classes: the logit of the second
        weight, bias = torch.cat([0 * weight, weight]), torch.cat([0 * bias, bias])
    layer.weight.data, layer.bias.data = weight.float(), bias.float()
    return Net.from_module(nn.Sequential(nn.Flatten(), layer)).to(x.device)


def at_solution(net: Net, data: Data) -> Prediction:
    """The prediction of a network of `without_source`."""
    return predicted(net, net.w[None], data, 1, seed=0)


def worth_of_transfer(mine: Prediction, others: Mapping[str, Prediction]) -> str:
    """Whether transfer helps or harms, as a sentence: `mine` against the most accurate of `others` on the same test examples.

    It helps or harms where the 95 % interval of the difference in accuracy over the examples is on one side of 0.
    """
    right = {n: (p.bma().argmax(1) == p.y).double() for n, p in [*others.items(), ("", mine)]}
    share = {n: 100 * float(r.mean()) for n, r in right.items()}
    name = max(others, key=share.__getitem__)
    gain, half = interval(right[""] - right[name])
    word = "helps" if gain > half else "harms" if -gain > half else "makes no clear difference"
    shares = f"accuracy {share['']:.1f} % after transfer, {share[name]:.1f} % without the source ({name})"
    return f"Here transfer {word}: {shares}, difference {100 * gain:+.1f} ± {100 * half:.1f} points on one seed"


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
    for kind in kinds:
        check_choice(kind, tuple(CORRUPTIONS), "a kind")
    if any(check_count(s, "a severity") > 5 for s in severities) or list(severities) != sorted(set(severities)):
        raise ValueError(f"severities must rise, from 1 to 5, got {list(severities)}")
    predictor = partial(predict, net, posterior, n_draws=n_draws, seed=seed, batchnorm=batchnorm)
    clean, table = predictor(data), {name: [] for name in SCORES}
    for kind, severity in track(list(product(kinds, (0, *severities))), "shifted test sets", progress):
        scores = (predictor(corrupt(data, kind, severity, seed=seed)) if severity else clean).scores
        for name in SCORES:
            table[name].append(float(scores[name][-1]))
    table = {name: torch.tensor(rows, dtype=torch.float64).view(len(kinds), -1) for name, rows in table.items()}
    return Shift(tuple(kinds), (0, *severities), table, len(data), clean.n_draws, clean.batchnorm, clean.trunk)
