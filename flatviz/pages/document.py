"""The shell of every page: one HTML file that loads nothing and runs only scripts that it holds."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

STYLE = "\n" + (Path(__file__).parent / "front" / "page.css").read_text(encoding="utf-8")
# Scripts by hash; styles inline, which plotly writes; images that plotly makes of a figure to save it.
POLICY = (
    "default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data: blob:; "
    "base-uri 'none'; form-action 'none'"
)
PLAIN = str.maketrans({c: f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"})


@dataclass(frozen=True)
class Script:
    """A script element: code, which runs, or data, which `document.getElementById(name).textContent` reads."""

    text: str
    kind: str = "module"  # "" for a classic script
    name: str = ""

    @classmethod
    def data(cls, name: str, value: Any) -> Script:
        """JSON of `value` under a name."""
        return cls(json_for_html(value), "application/json", name)

    @property
    def html(self) -> str:
        """The element.  Raises ValueError for code that would end it."""
        if re.search(r"</script|<!--", self.text, re.IGNORECASE):
            raise ValueError(f"a script must not hold </script or <!--, got one in script {self.name or self.text[:40]!r}")
        kind = f' type="{self.kind}"' if self.kind else ""
        name = f' id="{self.name}"' if self.name else ""
        return f"<script{kind}{name}>{self.text}</script>"

    @property
    def source(self) -> str:
        """What a Content-Security-Policy calls this code."""
        return f"'sha256-{base64.b64encode(hashlib.sha256(self.text.encode()).digest()).decode()}'"


def json_for_html(value: Any) -> str:
    r"""JSON without the characters that mean something to HTML or end a line of JavaScript: they are written as escapes.

    Raises:
        ValueError: For NaN and inf, which JSON does not have.

    Example:
    >>> json_for_html({"method": "</script>"})
    '{"method":"\\u003c/script\\u003e"}'
    """
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).translate(PLAIN)


def table_html(rows: Sequence[Mapping[str, str]]) -> str:
    """Rows, from column to text, as a table that scrolls sideways where there is no room."""
    heads = "".join(f"<th scope='col'>{html.escape(head)}</th>" for head in rows[0])
    cells = ("".join(f'<td data-head="{html.escape(k)}">{html.escape(v)}</td>' for k, v in row.items()) for row in rows)
    lines = "".join(f"<tr>{line}</tr>" for line in cells)
    table = f"<table><thead><tr>{heads}</tr></thead><tbody>{lines}</tbody></table>"
    return f'<div class="scroll" tabindex="0" role="group" aria-label="table">{table}</div>'


def paragraph(lead: str) -> str:
    """Plain text in which **words** are bold, as a paragraph of introduction."""
    text = re.sub(r"[*]{2}([^*]+)[*]{2}", r"<b>\1</b>", html.escape(lead))
    return f'<p class="lead">{text}</p>'


def document(
    title: str,
    lead: str,
    pictures: str,
    *,
    rows: Sequence[Mapping[str, str]],
    facts: Mapping[str, str],
    scripts: Sequence[Script],
) -> str:
    """The HTML text of a page.

    lead: introduction, plain text in which **words** are bold; pictures: HTML; rows: the table of all posteriors, one mapping
    from column to text a row; facts: how it was made; scripts: in the order in which they run.
    """
    escape = html.escape
    code = [s.source for s in scripts if s.kind in ("", "module")]
    terms = "".join(f"<dt>{escape(k)}</dt><dd>{escape(v)}</dd>" for k, v in facts.items())
    elements = "\n".join(s.html for s in scripts)
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{POLICY.format(hashes=" ".join(code))}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title><link rel="icon" href="data:,"><style>{STYLE}</style></head>
<body><main>
<h1>{escape(title)}</h1>
{paragraph(lead)}
{pictures}
<h2>All posteriors</h2>
{table_html(rows)}
<details><summary>How this was made</summary><dl>{terms}</dl></details>
</main>
{elements}
</body></html>
"""
