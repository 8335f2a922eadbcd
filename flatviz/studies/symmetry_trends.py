"""The paper's trends T1 to T9: what each needs beside the table, and the rule by which it holds, does not, or is open."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from flatviz.core.seeds import generator
from flatviz.results import interval
from flatviz.studies.symmetric_draws import CONTROL, DE, FITS

HOLDS, NOT, OPEN = "holds", "does not hold", "cannot tell"
WINDOW = 4.0  # the square of the toy's two weights that is looked at
Numbers = Mapping[str, Mapping[str, Tensor]]


@dataclass(frozen=True)
class Trend:
    """A trend of the paper: its claim, `verdict` (holds, does not hold, cannot tell) and the figures behind it."""

    name: str
    claim: str
    verdict: str
    figures: str


def trends(mmd: Numbers, p_value: Numbers, scores: Mapping[str, Tensor], figures: Numbers) -> tuple[Trend, ...]:
    """T1 to T9 judged by the numbers.  Intervals are 95 %, over replicates unless said otherwise."""
    return (
        _t1(figures["toy"]),
        _t2(figures["mass"]),
        _t3(mmd, p_value),
        _t4(mmd),
        *_t5(figures["pairs"]),
        _t6(figures["largest"]),
        _t7(figures["orders"]),
        _t8(scores),
        _t9(mmd, scores),
        _control(mmd),
    )


def _decided(holds: bool, fails: bool) -> str:
    return HOLDS if holds else NOT if fails else OPEN


def _t1(toy: Mapping[str, Tensor]) -> Trend:
    """Share of the mean square of the two weights that is variance: 1 on a ring about 0, less where points gather.

    Of the networks whose weights lie in the paper's window in all three pictures; bootstrap over networks.
    """

    def spread(W: Tensor) -> Tensor:
        return W.var(0).sum() / W.square().sum(1).mean()

    inside = torch.stack([W.abs().amax(1) <= WINDOW for W in toy.values()]).all(0)
    raw, removed = toy["raw"][inside], toy["sorted"][inside]
    g, n = generator(0), len(raw)
    falls = torch.stack([spread(raw[i]) - spread(removed[i]) for i in torch.randint(n, (200, n), generator=g)])
    low, high = falls.quantile(torch.tensor([0.025, 0.975])).tolist()
    radius = raw.norm(dim=1).quantile(torch.tensor([0.25, 0.5, 0.75])).tolist()
    text = f"spread {float(spread(raw)):.2f} raw, {float(spread(removed)):.2f} removed, fall {low:.2f} to {high:.2f}; "
    text += f"raw ring of radius {radius[1]:.2f} (quartiles {radius[0]:.2f} to {radius[2]:.2f}); {n} of {len(inside)} networks"
    return Trend("T1", "scaling and permutation hide structure", _decided(low > 0.1, high < 0.1), text)


def _t2(mass: Mapping[str, Tensor]) -> Trend:
    excess = {name: 100 * (m[:, 0] / m[:, 1] - 1) for name, m in mass.items()}
    least = min(float(e.min()) for e in excess.values())
    text = "; ".join(f"{name}: median {float(e.median()):.2g} % (least {float(e.min()):.2g})" for name, e in excess.items())
    few = min(float(e.median()) for e in excess.values())
    return Trend("T2", "weight decay does not reach the least mass", _decided(least > 0.01, few < 0.01), text)


def _t3(mmd: Numbers, p_value: Numbers) -> Trend:
    raw, ratios = mmd["raw"], []
    for method in FITS:
        ratios.append((raw[f"{method}/one"] / raw[f"{method}/multi"])[:, 0])
    spread = torch.stack(ratios).mean(0)
    ratio, half = interval(spread.double())
    de, near = float(raw[DE][:, 0].mean()), float(p_value["raw"][DE].median())
    least = min(float(raw[f"{m}/multi"][:, 0].mean()) for m in FITS)
    text = f"one mode {ratio:.1f} ± {half:.1f} times ten modes; ensemble {de:.2f}, median p {near:.2f}, against {least:.2f} at least"
    good = ratio - half > 2 and near > 0.05 and de < 0.1 * least
    return Trend("T3", "ensemble meets the target, ten modes are far nearer than one", _decided(good, ratio + half < 2), text)


def _t4(mmd: Numbers) -> Trend:
    broken, changed = [], 0.0
    for variant, results in mmd.items():
        for m in FITS:
            one, multi, de = (float(results[k][:, 0].mean()) for k in (f"{m}/one", f"{m}/multi", DE))
            if not one > multi > de:
                broken.append(f"{m}, {variant}")
            changed = max(changed, abs(multi / float(mmd["raw"][f"{m}/multi"][:, 0].mean()) - 1))
    text = f"values change by up to {100 * changed:.0f} %; order broken: {', '.join(broken) or 'nowhere'}"
    return Trend(
        "T4", "removal changes values, not the order one mode, ten modes, ensemble", HOLDS if not broken else NOT, text
    )


def _t5(pairs: Mapping[str, Tensor]) -> tuple[Trend, ...]:
    from scipy.stats import spearmanr  # comes with scikit-learn

    a, b = pairs["in"].double(), pairs["out"].double()
    cv = [float(x.std() / x.mean()) for x in (a, b)]
    rho = float(spearmanr(a.numpy(), b.numpy())[0])
    least, answers = float(a.min()), pairs["in disagreement"]
    inside = f"MI inside {float(a.mean()):.4f} nats (least {least:.4f}), disagreement {100 * float(answers.mean()):.1f} % "
    inside += f"(least {100 * float(answers.min()):.1f}); outside {float(b.mean()):.3f} nats"
    return (
        Trend("T5a", "no two networks are one function", _decided(least > 0.05 * float(a.median()), least < 1e-6), inside),
        Trend("T5b", "pairs differ less among themselves inside than outside", _decided(cv[0] < 0.8 * cv[1], cv[0] >= cv[1]),
              f"relative spread {cv[0]:.2f} inside, {cv[1]:.2f} outside; absolute {float(a.std()):.4f} and {float(b.std()):.3f} nats"),
        Trend("T5c", "diversity inside says little of that outside", _decided(abs(rho) < 0.5, abs(rho) > 0.7),
              f"Spearman {rho:.2f} over {len(a)} pairs"),
    )  # fmt: skip


def _t6(largest: Mapping[str, Tensor]) -> Trend:
    from scipy.stats import chisquare  # comes with scikit-learn

    p = {name: float(chisquare(count.numpy())[1]) for name, count in largest.items()}
    one = {m: p[f"{m}/one"] for m in FITS}
    good = p["target"] > 0.01 and p[DE] > 0.01 and max(one.values()) < 1e-3
    text = f"p of uniform: target {p['target']:.2f}, ensemble {p[DE]:.2f}; one mode at most {max(one.values()):.0e}"
    return Trend("T6", "every unit has one marginal in the ensemble, not in one mode", _decided(good, p["target"] < 1e-3), text)


def _t7(orders: Mapping[str, Tensor]) -> Trend:
    tau, n = orders["tau"].double(), max(1, orders["tau"].shape[1] // 6)
    early, late = tau[:, :n].mean(1), tau[:, -n:].mean(1)
    gain, half = interval(late - early)
    text = f"Kendall's tau {float(early.mean()):.2f} in the first {n} epochs, {float(late.mean()):.3f} in the last {n}; "
    text += f"gain {gain:.2f} ± {half:.2f}"
    good = gain - half > 0 and float(late.mean()) > 0.98
    return Trend("T7", "units change places while the rate is high, then freeze", _decided(good, gain + half < 0), text)


def _t8(scores: Mapping[str, Tensor]) -> Trend:
    """Ten modes minus one, averaged over methods, a replicate at a time."""
    results, verdicts = [], []
    for name, column, sign in (("accuracy", 0, 1), ("Brier", 2, -1), ("FPR95", 8, -1)):
        gain = torch.stack([sign * (scores[f"{m}/multi"] - scores[f"{m}/one"])[:, column] for m in FITS]).mean(0)
        mean, half = interval(100 * gain.double())
        results.append(f"{name} better by {mean:.2f} ± {half:.2f} points")
        verdicts.append((mean - half > 0, mean + half < 0))
    text = "; ".join(results)
    return Trend("T8", "ten modes predict better than one, inside and outside",
                 _decided(all(v[0] for v in verdicts), any(v[1] for v in verdicts)), text)  # fmt: skip


def _t9(mmd: Numbers, scores: Mapping[str, Tensor]) -> Trend:
    """Spearman over methods and modes of MMD and AUROC, a replicate at a time; the claim is that there is none."""
    from scipy.stats import spearmanr  # comes with scikit-learn

    names = [f"{m}/{k}" for m in FITS for k in ("one", "multi")] + [DE]
    texts, inside, apart = [], [], []
    for variant in ("raw", "aligned"):
        x = torch.stack([mmd[variant][n][:, 0] for n in names])
        y = torch.stack([scores[n][:, 5] for n in names])
        rho = torch.tensor([spearmanr(a.numpy(), b.numpy())[0] for a, b in zip(x.T, y.T)], dtype=torch.float64)
        mean, half = interval(rho)
        texts.append(f"{variant} {mean:.2f} ± {half:.2f}")
        inside.append(not math.isnan(half) and abs(mean) + half < 0.5), apart.append(abs(mean) - half > 0)
    verdict = _decided(all(inside), any(apart))
    return Trend(
        "T9",
        "distance from the target does not predict quality outside",
        verdict,
        f"Spearman of MMD and AUROC over {len(names)} sets: {', '.join(texts)}",
    )


def _control(mmd: Numbers) -> Trend:
    """Not the paper's: whether ten modes come nearer than ten networks copied, which has nothing of any method."""
    texts, beaten = [], []
    for variant in ("raw", "aligned"):
        for m in FITS:
            gain, half = interval((1 - mmd[variant][f"{m}/multi"] / mmd[variant][CONTROL])[:, 0].double())
            beaten.append((variant, gain - half > 0))
            texts.append(f"{m} {variant} {100 * gain:.0f} ± {100 * half:.0f} %")
    raw, aligned = (sum(b for v, b in beaten if v == name) for name in ("raw", "aligned"))
    text = f"nearer than copies: {raw} of {len(FITS)} raw, {aligned} of {len(FITS)} aligned ({'; '.join(texts)})"
    everything = raw == aligned == len(FITS)
    return Trend("control", "ten modes are nearer than ten copied networks", _decided(everything, raw + aligned == 0), text)
