"""What a task gives without its source, and the sentence on whether transfer helps."""

import pytest
import torch
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

import flatviz as fv
from flatviz.families.preparation import STRENGTHS, at_solution, without_source, worth_of_transfer


@pytest.mark.parametrize("name", ["digits-near", "moons"])
def test_logistic_regression_predicts_as_scikit_learns_of_the_strength_that_validation_chooses(name):
    task = fv.datasets.named_task(name, seed=3)
    found = at_solution(without_source(task, seed=3)["logistic regression"], task.test).bma()
    train, validation, test = (part.x.flatten(1).numpy() for part in (task.train, task.validation, task.test))
    fits = [LogisticRegression(C=c, max_iter=2000).fit(train, task.train.y.numpy()) for c in STRENGTHS]
    best = min(fits, key=lambda fit: log_loss(task.validation.y, fit.predict_proba(validation)))
    assert float((found - torch.as_tensor(best.predict_proba(test))).abs().max()) < 1e-4  # float32 against float64


def test_a_network_from_scratch_learned_its_shots_and_never_saw_the_source():
    task = fv.datasets.named_task("digits-near", seed=0)
    other = fv.Task(task.train, task.train, task.test, n_classes=10, validation=task.validation)
    mine, theirs = (at_solution(without_source(t, seed=0)["from scratch"], task.test) for t in (task, other))
    assert torch.equal(mine.outputs, theirs.outputs) and float(mine.scores["accuracy"][-1]) > 0.5  # chance is 0.1


def prediction(n):
    """One draw on 100 inputs of two classes, n of which it gets right."""
    right = (torch.arange(100) < n).float()
    return fv.Prediction(torch.stack([right, 1 - right], -1)[None], torch.zeros(100, dtype=torch.long))


@pytest.mark.parametrize(
    ("mine", "word"), [(90, "helps"), (60, "harms"), (72, "makes no clear difference")]
)  # of 100, against 75 and 40: by the normal interval of paired differences, 15, -15 and -3 of 100
def test_transfer_helps_or_harms_by_the_interval_of_the_difference_to_the_better_one(mine, word):
    said = worth_of_transfer(prediction(mine), {"worse": prediction(40), "better": prediction(75)})
    assert said.startswith(f"Here transfer {word}: accuracy {mine}.0 % after transfer, 75.0 % without the source (better)")
    assert f"difference {mine - 75:+d}.0 ±" in said
