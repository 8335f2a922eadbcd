"""The article beside the pictures: sections of text, each of which sets the controls while it is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from flatviz.plots.nouns import mean_lambda1
from flatviz.plots.theme import short
from flatviz.results import Family


@dataclass(frozen=True)
class Step:
    """One section: its title, its text, and where the controls stand while it is read.

    text: paragraphs, one a line; **words** are bold, a line that begins with "= " is an equation.
    set: any of method, radius, n_draws, tab, chosen, and compare with method and radius, as the state of the page has them;
        see: the view that is shown where there is room for one.
    """

    title: str
    text: str
    set: Mapping[str, Any] = field(default_factory=dict)


def tour_story(family: Family) -> tuple[Step, ...]:
    """The sections for a family with VI and SA-BMA: what a posterior is, what is sharp, what the radius does, what to try.

    The last one stands over all pictures, which the reader explores.

    Empty for a family without these two.
    """
    if not {"vi", "sabma"} <= set(family.methods):
        return ()
    radii = [r for r in family.radii("sabma") if r > 0]
    middle, large = radii[len(radii) // 2], radii[-1]
    vi, tests = {"method": "vi", "radius": 0.0}, "images" if family.images else "examples"
    seeds = next((len(values) for values in family[0].over_seeds.values()), 1)
    drawn = family[0].step is not None
    played = "\n**Play the step**, below the picture, goes through one step of the training: ascend to the worst q′, take the gradient "
    played += "there, step back, descend."
    moved, seen = (
        ("Radius", f": the ball shrinks and grows with it, and rings mark its place on the curves.{played}")
        if drawn
        else ("Flatness", ".")
    )
    return (
        Step(
            "A posterior is many networks",
            "Training gives one weight vector. A **posterior** q is a distribution over weight vectors: each **draw** from it "
            "is a network. The circles are draws of the method above, seen on a plane through weight space; the ground is the training "
            "loss. The crosses are draws of **VI**, variational inference, which fits q as a Gaussian; **MAP** is the one vector that "
            "plain training (SGD) ends at.\n"
            "= p(y | x) ≈ (1/M) Σ p(y | x, wₘ),   wₘ ~ q\n"
            "The answer is the average over M draws. Move the **ensemble size** M and see circles come and go.",
            {"n_draws": 10, "tab": "Surface", "see": "surface"},
        ),
        Step(
            "Sharp and flat",
            "Leave a minimum by a small step δ. To second order the loss rises by\n"
            "= L(w + δ) − L(w) ≈ ½ δᵀ H δ\n"
            "so the **eigenvalues of the Hessian** H say how fast: along the first direction as λ₁. The plot of "
            f"eigenvalues shows those of several draws. A low λ₁ is a **flat** place.{_map_beside_vi(family)}",
            {**vi, "n_draws": 10, "tab": "Flatness", "see": "spectrum"},
        ),
        Step(
            "The radius asks for more than a good average",
            "VI makes the loss low on average over q. **SA-BMA**, sharpness-aware Bayesian model averaging, makes it low for the "
            "**worst** q′ within a distance of q, and that distance is the **radius** γ:\n"
            "= min over q of  max over q′:  E[L(w)], w ~ q′,  + (T / N) KL(q ‖ prior),   with √(2 KL(q′ ‖ q)) ≤ γ\n"
            "KL, the Kullback-Leibler divergence, says in nats (units of the natural logarithm) how far q′ is from q. Where even the "
            "worst q′ nearby has a low loss, the loss cannot rise steeply around q: that is why this looks for flat ground. At γ = 0 "
            f"it is VI. Move the **radius** to the left end and back{seen}",
            {"method": "sabma", "radius": large, "n_draws": 10, "tab": moved, "see": "mechanism"},
        ),
        Step(
            "Side by side",
            "A is SA-BMA, B is VI, on the same scales. Compare their eigenvalues. Point at a draw: it lights up in every "
            "picture that shows it. The loss at the center may rise while the curvature falls: the words above the map say how "
            "high it is.",
            {
                "method": "sabma",
                "radius": middle,
                "n_draws": 10,
                "tab": "Flatness",
                "see": "spectrum",
                "compare": {"method": "vi", "radius": 0.0},
            },
        ),
        Step(
            "Is flatter better?",
            f"Scores are of test {tests}. **Accuracy** counts right answers. **NLL**, the negative log likelihood, also counts how "
            "sure they were; **ECE**, the expected calibration error, whether they were as sure as they should be. Move the "
            "radius and watch whether flatter ground is better ground here. "
            f"It need not be: one task{' and one seed prove' if seeds == 1 else f', here with {seeds} seeds, proves'} nothing.",
            {"method": "sabma", "radius": middle, "n_draws": 10, "tab": "Scores"},
        ),
        *_inputs(family, middle),
        Step(
            "Explore",
            "The tabs hold all pictures. How many draws until more of them change nothing? At which radius do the draws leave the "
            "place where VI's crosses are? "
            "Does the largest radius have the lowest λ₁, and the best NLL? The **Menu** copies any picture as code.",
            {"method": "sabma", "radius": large, "n_draws": 10, "tab": "Surface"},
        ),
    )


def _map_beside_vi(family: Family) -> str:
    """Why MAP may have the lower eigenvalue: it is measured at one vector, VI's at draws around one."""
    if "sgd" not in family.methods:
        return ""
    at_map, at_vi = (mean_lambda1(family[family.index(m)].spectrum) for m in ("sgd", "vi"))
    if at_map >= at_vi:
        return ""
    said = f" MAP's λ₁, {short(at_map)}, is lower than VI's, {short(at_vi)}: it is that of one vector at the bottom, VI's are of draws "
    return said + "around one. Compare posteriors with posteriors."


def _inputs(family: Family, radius: float) -> tuple[Step, ...]:
    """The step on what the posterior says where there are no data, for a family that has such pictures."""
    tabs = [tab for tab, there in (("Inputs", "a"), ("Regression", "curve x")) if there in family.inputs]
    if not tabs:
        return ()
    told = {
        "Inputs": "**Inputs** shows the probability of a class at every input: white is even odds.",
        "Regression": "**Regression** is another task at the same radius, with no data in the middle: a band should widen there.",
    }
    text = "A posterior should be unsure where it saw no data. " + " ".join(told[tab] for tab in tabs)
    text += " **HMC** is the exact answer for the same prior, if slow: what VI and SA-BMA say can be held against it."
    return (Step("What it does not know", text, {"method": "sabma", "radius": radius, "n_draws": 10, "tab": tabs[0]}),)
