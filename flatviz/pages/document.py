"""The HTML of every page, one file that loads nothing and runs only its own scripts."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from flatviz.checks import computed
from flatviz.plots.theme import short, style
from flatviz.results import Family, Member, Prediction

FOLDER = Path(__file__).parent
STYLE = "\n" + (FOLDER / "front" / "page.css").read_text(encoding="utf-8")
# Scripts by hash, inline styles (which plotly writes), images (which plotly makes to save a figure)
POLICY = (
    "default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data: blob:; "
    "base-uri 'none'; form-action 'none'"
)
PLAIN = str.maketrans({c: f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"})


Json = Any  # what JSON holds


@dataclass(frozen=True)
class Script:
    """A script element.

    It is code, which runs, or data, which `document.getElementById(name).textContent` reads.
    """

    text: str
    kind: str = "module"  # "" for a classic script; "text/plain" for code that another runs later
    name: str = ""

    @classmethod
    def data(cls, name: str, value: object) -> Script:
        """Build a script of JSON of `value` under a name."""
        return cls(json_for_html(value), "application/json", name)

    @property
    def html(self) -> str:
        """Write the element; refuse code that would end it."""
        if re.search(r"</script|<!--", self.text, re.IGNORECASE):
            raise ValueError(
                "a script must not hold </script or <!--, got one in script"
                f" {self.name or self.text[:40]!r}"
            )
        kind = f' type="{self.kind}"' if self.kind else ""
        name = f' id="{self.name}"' if self.name else ""
        return f"<script{kind}{name}>{self.text}</script>"

    @property
    def source(self) -> str:
        """Hash this code for a Content-Security-Policy."""
        digest = hashlib.sha256(self.text.encode()).digest()
        return f"'sha256-{base64.b64encode(digest).decode()}'"


def json_for_html(value: object) -> str:
    r"""Write JSON with escapes for characters with a meaning in HTML, and for line ends.

    Raises:
        ValueError: For NaN and inf, which JSON does not have.

    Example:
        >>> json_for_html({"method": "</script>"})
        '{"method":"\\u003c/script\\u003e"}'
    """
    text = json.dumps(
        value,
        ensure_ascii=False,
        allow_nan=False,
        separators=(",", ":"),
    )
    return text.translate(PLAIN)


def table_html(rows: Sequence[Mapping[str, str]]) -> str:
    """Write rows, from column to text, as a table that scrolls sideways if needed."""
    heads = "".join(f"<th scope='col'>{html.escape(head)}</th>" for head in rows[0])
    lines = ""
    for row in rows:
        cells = [
            f'<td data-head="{html.escape(head)}">{html.escape(text)}</td>'
            for head, text in row.items()
        ]
        lines += f"<tr>{''.join(cells)}</tr>"
    table = f"<table><thead><tr>{heads}</tr></thead><tbody>{lines}</tbody></table>"
    return f'<div class="scroll" tabindex="0" role="group" aria-label="table">{table}</div>'


def paragraph(lead: str) -> str:
    """Write plain text, with **words** in bold, as a paragraph of introduction."""
    text = re.sub(r"[*]{2}([^*]+)[*]{2}", r"<b>\1</b>", html.escape(lead))
    return f'<p class="lead">{text}</p>'


def document(
    title: str,
    lead: str,
    pictures: Sequence[str | Script],
    *,
    rows: Sequence[Mapping[str, str]] = (),
    picture: str = "",
    facts: Mapping[str, str] | None = None,
    scripts: Sequence[Script] = (),
) -> str:
    """Write the HTML text of a page.

    lead: introduction, plain text in which **words** are bold.
    pictures: HTML and scripts that run in place.
    rows: the table of all posteriors, one mapping from column to text a row.
    picture: HTML shown in place of the table, which is then folded below it.
    facts: how it was computed.
    scripts: at the end, in order.
    """
    escape = html.escape
    code = [
        s.source
        for s in (*pictures, *scripts)
        if isinstance(s, Script) and s.kind != "application/json"
    ]
    terms = ""
    for name, fact in (facts or {}).items():
        terms += f"<dt>{escape(name)}</dt><dd>{escape(fact)}</dd>"
    shown = "\n".join(part.html if isinstance(part, Script) else part for part in pictures)
    table = ""
    if rows:
        numbers = "<details><summary>Numbers of the first seed</summary>"
        table = f"<h2>All posteriors</h2>\n{picture}{numbers}{table_html(rows)}</details>"
    origin = (
        f"<details><summary>How this was made</summary><dl>{terms}</dl></details>" if terms else ""
    )
    elements = "\n".join(s.html for s in scripts)
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY.format(hashes=" ".join(code))}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title><link rel="icon" href="data:,"><style>{STYLE}</style></head>
<body><main>
<h1>{escape(title)}</h1>
{paragraph(lead)}
{shown}
{table}
{origin}
</main>
{elements}
</body></html>
"""


def texts_of(file: str) -> dict[str, dict[str, Json]]:
    """Read section -> name -> text, or another value.

    A line break within a paragraph is a space, and paragraphs are lines.
    """

    def joined(text: str) -> str:
        paragraphs = re.split(r"\n{2,}", text.strip())
        return "\n".join(paragraph.replace("\n", " ") for paragraph in paragraphs)

    sections = tomllib.loads((FOLDER / file).read_text(encoding="utf-8"))
    for values in sections.values():
        for name, value in values.items():
            if isinstance(value, str):
                values[name] = joined(value)
    return sections


def family_rows(family: Family) -> list[dict[str, str]]:
    """Return a row a posterior: scores of all draws, mean and range of eigenvalues.

    Radius 0 of SAM and SA-BMA, where that is VI, is VI's row.
    """
    rows = []
    for i in family.distinct:
        member = family[i]
        values = torch.stack([s.values for s in member.spectrum])
        first = values[:, 0]
        ratio = first / values[:, -1]
        spread = f" ({three(first.min())} to {three(first.max())})" if len(first) > 1 else ""
        rows.append(
            {
                "method": style(member.method).label,
                "radius, T": radius_text(family, member),
                **score_texts(computed(member.prediction)),
                "λ1": f"{three(first.mean())}{spread}",
                "λ1/λ5": three(ratio.mean()),
            }
        )
    return rows


def radius_text(family: Family, member: Member) -> str:
    """Write the radius of a member, "" where its method has one alone."""
    several = len(family.radii(member.method)) > 1
    return short(member.radius) if several else ""


def score_texts(prediction: Prediction) -> dict[str, str]:
    """Write the number of draws and the scores of all of them."""
    texts = {"draws": str(prediction.n_draws)}
    scores = {name: float(values[-1]) for name, values in prediction.scores.items()}
    if "accuracy" in scores:
        texts["accuracy"] = f"{100 * scores['accuracy']:.1f} %"
    for name in ("NLL", "ECE", "Brier"):
        if name.lower() in scores:
            texts[name] = f"{scores[name.lower()]:.3f}"
    if "rmse" in scores:
        texts["RMSE"] = f"{scores['rmse']:.3g}"
    return texts


def three(value: float | torch.Tensor) -> str:
    """Write a number in three digits, with zeros at its end, so that columns align."""
    return f"{float(value):#.3g}".rstrip(".")
