"""All posteriors of a family as a plot of dots, in HTML for narrow screens."""

from __future__ import annotations

import html
import math

from torch import Tensor

from flatviz.pages.document import radius_text
from flatviz.plots.radius import table_of
from flatviz.plots.theme import on_dark, short, span_of, style
from flatviz.results import Family

PANELS = {"lambda1": "λ1", "nll": "NLL", "ece": "ECE"}
LOGARITHMIC = ("lambda1",)
ONE_SEED = "A dot is one posterior of this seed"
SEEDS = "A dot is the mean over {} seeds, a bar reaches from the smallest to the largest"
CAPTION = "{}, with all its draws, on the test split; left is better. λ1 on a logarithmic axis."


def dots_html(family: Family) -> str:
    """Write a row a posterior, with a panel each for λ1, NLL and ECE where there are any.

    Dots are means over the family's seeds, bars their range.  Radius 0 of SA-BMA and of SAM, where
    that is VI, is VI's row.
    """
    table = table_of(family, PANELS)
    scales = {name: span_of(values) for name, values in table.items()}
    heads = "".join(
        f"<span>{PANELS[name]}<small>{short(low)} to {short(high)}</small></span>"
        for name, (low, high) in scales.items()
    )
    rows = []
    before = ""
    for i in family.distinct:
        member = family[i]
        look = style(member.method)
        label = html.escape(look.label) if member.method != before else ""
        before = member.method
        radius = radius_text(family, member)
        marks = ""
        for name, values in table.items():
            marks += _mark(values[i], name, scales[name])
        colors = f"--light:{look.color};--dark:{on_dark(look.color)}"
        rows.append(f'<div style="{colors}"><span>{label}<b>{radius}</b></span>{marks}</div>')
    seeds = next(iter(table.values())).shape[1]
    caption = CAPTION.format(ONE_SEED if seeds == 1 else SEEDS.format(seeds))
    return (
        f'<figure class="dots" style="--panels:{len(table)}">'
        f'<div class="heads"><span>method<b>radius, T</b></span>{heads}</div>'
        f"{''.join(rows)}<figcaption>{caption}</figcaption></figure>"
    )


def _mark(values: Tensor, name: str, scale: tuple[float, float]) -> str:
    """Write a dot and a bar in a panel, or nothing where no value is finite."""
    finite = values[values.isfinite()].double()
    if not len(finite):
        return "<i></i>"

    def place(value: float) -> float:
        of = math.log if name in LOGARITHMIC else float
        low, high = map(of, scale)
        if high <= low:
            return 50.0
        return 100 * (of(value) - low) / (high - low)

    mean = float(finite.mean())
    low, high = map(place, span_of(finite))
    title = f"{PANELS[name]} {short(mean)}"
    where = f"--at:{place(mean):.1f};--low:{low:.1f};--wide:{high - low:.1f}"
    return f'<i style="{where}" title="{title}"><u></u></i>'
