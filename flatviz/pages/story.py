"""The article beside the figures: sections of text, each with values of the controls."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from flatviz.checks import computed
from flatviz.pages.document import texts_of
from flatviz.plots.ground import mean_lambda1
from flatviz.plots.radius import table_of
from flatviz.plots.theme import short
from flatviz.results import Family

TEXTS = texts_of("story.toml")


@dataclass(frozen=True)
class Section:
    """One section: its title, its text, and the values of the controls while it is read.

    Args:
        text: Paragraphs, one a line; **words** are bold, a line that begins with "= " is an
            equation in TeX.
        set: Values of method, radius, n_draws, tab, chosen and compare, as in the state of the
            page; "see" is the view that is shown where there is room for one.
    """

    title: str
    text: str
    set: Mapping[str, object] = field(default_factory=dict)


def tour_story(family: Family) -> tuple[Section, ...]:
    """Return the sections for a family with VI and SA-BMA, and nothing for others.

    They explain posteriors, sharpness, and the radius; the last one shows all figures to explore.
    The task must have classes.
    """
    prediction = computed(family[0].prediction)
    has_both = {"vi", "sabma"} <= set(family.methods)
    if not (has_both and prediction.has_classes):
        return ()
    radii = [r for r in family.radii("sabma") if r > 0]
    large = radii[-1]
    vi = {"method": "vi", "radius": 0.0}
    at_large = {"method": "sabma", "radius": large, "n_draws": 10}
    at_middle = at_large | {"radius": radii[len(radii) // 2]}
    sharp = {"n_draws": 10, "tab": "Flatness", "see": "spectrum"}
    curves = {"tab": "Radius", "see": "radius"}
    scores = {
        "tests": "images" if family.images else "examples",
        "prove": _prove(family),
        "changed": _changed(family, large),
    }
    steps = [
        _step("posterior", {"n_draws": 10, "tab": "Surface", "see": "surface"}),
        _step("sharp", vi | sharp, beside=_map_beside_vi(family)),
        _step("radius", at_large | curves),
        _step("beside", at_middle | sharp | {"compare": vi}),
        _step("scores", at_middle | curves, **scores),
    ]
    if "a" in family.inputs:
        steps.append(_step("unknown", at_middle | {"tab": "Inputs"}))
    return (*steps, _step("explore", at_large | {"tab": "Surface"}))


def _prove(family: Family) -> str:
    """Say how many seeds there are, beside "One task"."""
    over_seeds = list(family[0].over_seeds.values())
    seeds = len(over_seeds[0]) if over_seeds else 1
    return " and one seed prove" if seeds == 1 else f", here with {seeds} seeds, proves"


def _step(name: str, state: Mapping[str, object], **words: str) -> Section:
    """Build a section of story.toml; `words` are what its text has in braces."""
    lines = TEXTS[name]["text"].split("\n")
    for k, line in enumerate(lines):
        if not line.startswith("= "):
            lines[k] = line.format(**words)
    return Section(TEXTS[name]["title"], "\n".join(lines), state)


def _map_beside_vi(family: Family) -> str:
    """Explain why MAP may have the lower eigenvalue.

    It is measured at one vector, VI's at draws around one.
    """
    if "sgd" not in family.methods:
        return ""
    at_map = mean_lambda1(family[family.index("sgd")].spectrum)
    at_vi = mean_lambda1(family[family.index("vi")].spectrum)
    if at_map >= at_vi:
        return ""
    text = TEXTS["more"]["beside"].format(map=short(at_map), vi=short(at_vi))
    return f" {text}"


def _changed(family: Family, radius: float) -> str:
    """Count the seeds on which SA-BMA's largest radius has a lower λ₁, NLL and ECE than 0."""
    at_0 = family.index("sabma", 0.0)
    at_end = family.index("sabma", radius)
    table = table_of(family, ("lambda1", "nll", "ece"))
    n_seeds = len(table["lambda1"][at_0])
    falls = [int((values[at_end] < values[at_0]).sum()) for values in table.values()]
    if n_seeds == 1:
        lambda1, nll, ece = ["falls" if fell else "rises" for fell in falls]
        return f"From radius 0 to {radius:g} λ₁ {lambda1}, NLL {nll}, ECE {ece}"
    lambda1, nll, ece = map(str, falls)
    return (
        f"From radius 0 to {radius:g} λ₁ falls on {lambda1} of {n_seeds} seeds, NLL on {nll},"
        f" ECE on {ece}"
    )
