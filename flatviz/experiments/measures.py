"""What the comparisons measure of a posterior: sharpness, scores, scores under shift, distance to HMC."""

import torch

from flatviz.core import Data, Net, Task
from flatviz.datasets.corruptions import corrupt
from flatviz.experiments.reference import Reference, weights_mmd
from flatviz.families.members import predicted
from flatviz.landscape.spectrum import top_eigenpairs
from flatviz.metrics.averaging import averaged
from flatviz.metrics.uncertainty import agreement, total_variation
from flatviz.objectives.network import nll
from flatviz.results import Posterior, Prediction

SHIFTS, SEVERITY = ("gaussian_noise", "translate", "rotate", "contrast", "gaussian_blur"), 3
SCORES = ("nll", "accuracy", "ece")


class Measurement:
    """Posterior -> {quantity: value}, on one network and task.

    Quantities: lambda1, the mean over `n_spectra` draws of the largest eigenvalue of the training loss's Hessian over the treated
    weights; train, the mean training loss of those draws; nll, accuracy and ece on the test split with `n_draws` draws; shifted_nll,
    shifted_accuracy and shifted_ece, means over `SHIFTS` at severity 3, where inputs are images; agreement, tv and mmd to the
    reference posterior, where there is one.

    Args:
        net: with the weights that are treated.
        task: its training and test splits are used.
        seed: of draws and shifts.
        exact: the reference posterior of this network, or None.
        n_draws: draws that are averaged.
        n_spectra: draws of which the curvature is measured.
    """

    def __init__(
        self, net: Net, task: Task, *, seed: int, exact: Reference | None = None, n_draws: int = 30, n_spectra: int = 5
    ) -> None:
        self.net, self.task, self.exact = net, task, exact
        self.n_draws, self.n_spectra, self.seed = n_draws, n_spectra, seed
        self.f = nll(net, task.train)
        images = len(task.input_shape) == 3
        self.shifted = [corrupt(task.test, kind, SEVERITY, seed=seed) for kind in SHIFTS] if images else []

    def __call__(self, q: Posterior) -> dict[str, float]:
        """All quantities."""
        W = q.sample(self.n_spectra, seed=self.seed + 1)
        sharp = [top_eigenpairs(self.f, w, 1, iters=40, seed=self.seed).values[0] for w in W]
        values = {"lambda1": torch.stack(sharp).mean(), "train": self.f.many(W).mean()}
        clean = self._predict(q, self.task.test)
        values |= {name: clean.scores[name][-1] for name in SCORES}
        shifted = [self._predict(q, data) for data in self.shifted]
        values |= {f"shifted_{name}": torch.stack([p.scores[name][-1] for p in shifted]).mean() for name in SCORES if shifted}
        if self.exact is not None:
            p = self.exact.probabilities
            values |= {"agreement": agreement(clean, p), "tv": total_variation(clean, p)}
            values["mmd"] = weights_mmd(q, self.exact, seed=self.seed + 1)
        return {name: float(value) for name, value in values.items()}

    def _predict(self, q: Posterior, data: Data) -> Prediction:
        return averaged(predicted(self.net, q, data.x, self.n_draws, seed=self.seed + 1), data.y)
