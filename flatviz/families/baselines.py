"""What a task gives without its source: logistic regression on the inputs, and a network trained on the shots alone."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import nn

from flatviz.core.data import Data, Task
from flatviz.core.net import Net
from flatviz.core.seeds import saved_rng
from flatviz.families.members import predicted
from flatviz.families.preparation import Model, build_model
from flatviz.objectives.network import nll
from flatviz.results import Prediction, interval
from flatviz.training.sgd import pretrain

STRENGTHS = (1.0, 0.01, 0.1, 10.0, 100.0)  # scikit-learn's C, the first where there is no validation split
EPOCHS = (60, 240)


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
