"""Transfer of EfficientNet-Lite0 that ImageNet trained, by plain calls: seconds, and accuracy of
default fits beside a logistic regression.

    FLATVIZ_PHOTOS=FOLDER python tests/benchmarks/imagenet.py

FOLDER has a folder of images for each class, as CIFAR-10's.  A few minutes on one core.
"""

import os
import sys
import time
from pathlib import Path

import torch
from PIL import Image
from sklearn.linear_model import LogisticRegression
from torch.nn import functional as F
from torchvision.transforms.functional import pil_to_tensor

import flatviz as fv
from flatviz.engine.trunk import cut_of
from flatviz.posteriors.entries import keyworded

SHOTS, TESTED, SIDE = 10, 20, 128
STEPS = int(os.environ.get("FLATVIZ_STEPS", "600"))


def photographs(folder):
    """Images (N, 3, SIDE, SIDE) and classes: SHOTS of each to train on, TESTED to test."""
    parts = ([], []), ([], [])
    for label, name in enumerate(sorted(p for p in Path(folder).iterdir() if p.is_dir())):
        files = sorted(name.iterdir())[: SHOTS + TESTED]
        for i, file in enumerate(files):
            x = pil_to_tensor(Image.open(file).convert("RGB"))[None].float() / 255
            x = F.interpolate(x, (SIDE, SIDE), mode="bilinear", antialias=True)
            images, labels = parts[i >= SHOTS]
            images.append(x)
            labels.append(label)
    return [fv.Data(torch.cat(x).clamp(0, 1), torch.tensor(y)) for x, y in parts]


def is_late(name):
    return any(part in name for part in ("blocks.6.0.bn", "network.bn2", "classifier"))


TREATED = {"head": "head", "last block": is_late}
ALL = {"norm+head": "norm+head"}


def seconds(fit):
    """Return the result of `fit()` and how long it took."""
    start = time.perf_counter()
    result = fit()
    return result, time.perf_counter() - start


def main():
    train, test = photographs(os.environ["FLATVIZ_PHOTOS"])
    task = fv.Task(train, train, test, 10)
    module = fv.models.efficientnet_lite0(task)
    features = fv.Net.from_module(module, "head", example=train.x[:2])
    cut = cut_of(features, train.x)
    plain = LogisticRegression(max_iter=2000).fit(cut.rows(train.x), train.y)
    print(f"logistic regression on features: accuracy {plain.score(cut.rows(test.x), test.y):.3f}")
    chosen = TREATED | (ALL if "norm" in sys.argv[1:] else {})
    for name, treated in chosen.items():
        net = fv.Net.from_module(module, treated, example=train.x[:2])
        prior, took = seconds(lambda: fv.posteriors.moped_prior(net, data=train))  # noqa: B023
        print(f"{name}: {net}; prior in {took:.1f} s")
        steps = STEPS if name != "norm+head" else 40
        for fit, how in ((keyworded(fv.VI), {}), (keyworded(fv.SABMA), {"radius": 0.5})):
            if name == "norm+head" and how:
                continue
            q, took = seconds(lambda: fit(net, train, prior, seed=0, steps=steps, **how))  # noqa: B023
            prediction = fv.predict(net, q, test, 30, seed=0, batchnorm="frozen")
            scores = {name: float(prediction.scores[name][-1]) for name in ("accuracy", "nll")}
            print(
                f"  {fit.__name__}, {steps} steps: {took:.1f} s, loss {q.history.loss[-1]:.3f},"
                f" accuracy {scores['accuracy']:.3f}, NLL {scores['nll']:.2f};"
                f" {q.history.notes}"
            )
        if name in TREATED:
            few = dict(seed=0, steps=6)
            vi = fv.VI(prior, mc_samples=1)
            os.environ["FLATVIZ_TRUNK"] = "0"
            _, two = seconds(lambda: fv.fit(net, train, vi, **few | dict(steps=2)))  # noqa: B023
            _, whole = seconds(lambda: fv.fit(net, train, vi, **few))  # noqa: B023
            del os.environ["FLATVIZ_TRUNK"]
            _, short = seconds(lambda: fv.fit(net, train, vi, **few))  # noqa: B023
            _, long = seconds(lambda: fv.fit(net, train, vi, **few | dict(steps=26)))  # noqa: B023
            a, b = (whole - two) / 4, (long - short) / 20
            print(f"  a step in full {a:.2f} s, on kept rows {b:.4f} s: {a / b:.0f}x")


if __name__ == "__main__":
    main()
