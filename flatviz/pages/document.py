"""The shell of every page: one HTML file that loads nothing and runs no script but its own."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

STYLE = """
:root { --ink: #1f2933; --soft: #52606d; --paper: #ffffff; --line: #e4e7eb; color-scheme: light dark; }
@media screen and (prefers-color-scheme: dark) { :root { --ink: #e4e7eb; --soft: #b1bac4; --paper: #15191e; --line: #323b45; } }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; }
main { max-width: 1440px; margin: 0 auto; padding: 12px clamp(10px, 2vw, 22px) 60px; }
h1 { margin: 0 0 2px; font-size: clamp(18px, 2.2vw, 24px); line-height: 1.3; } h2 { font-size: 19px; margin: 34px 0 8px; }
p.lead { margin: 0 0 8px; color: var(--soft); font-size: 14.5px; line-height: 1.45; }
table { border-collapse: collapse; font-size: 14px; font-variant-numeric: tabular-nums; }
th, td { padding: 4px 14px 4px 0; text-align: right; border-bottom: 1px solid var(--line); }
.scroll:not(.words) :is(th, td) { white-space: nowrap; }
th:first-child, td:first-child, .words th, .words td { text-align: left; vertical-align: top; }
.scroll { overflow-x: auto; } details { margin-top: 26px; } summary { cursor: pointer; font-weight: 600; padding: 10px 0; }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 2px 16px; font-size: 14px; }
dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
@media print { body { font-size: 12px; } .js-plotly-plot, tr { break-inside: avoid; } .scroll { overflow: visible; }
  table { font-size: 11px; } th, td { padding: 3px 8px 3px 0; } }
"""
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
    lines = "".join("<tr>" + "".join(f"<td>{html.escape(v)}</td>" for v in row.values()) + "</tr>" for row in rows)
    words = any(len(value) > 60 for row in rows for value in row.values())  # sentences, not numbers
    table = f"<table><thead><tr>{heads}</tr></thead><tbody>{lines}</tbody></table>"
    return f'<div class="scroll{" words" * words}" tabindex="0" role="group" aria-label="table">{table}</div>'


def paragraph(lead: str) -> str:
    """Plain text in which **words** are bold, as a paragraph of introduction."""
    text = re.sub(r"[*]{2}([^*]+)[*]{2}", r"<b>\1</b>", html.escape(lead))
    return f'<p class="lead">{text}</p>'


def document(
    title: str,
    lead: str,
    pictures: str,
    *,
    heading: str,
    rows: Sequence[Mapping[str, str]],
    facts: Mapping[str, str],
    scripts: Sequence[Script],
) -> str:
    """The HTML text of a page.

    lead: introduction, plain text in which **words** are bold; pictures: HTML; rows: a table under `heading`, one mapping
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
<h2>{escape(heading)}</h2>
{table_html(rows)}
<details><summary>How this was made</summary><dl>{terms}</dl></details>
</main>
{elements}
</body></html>
"""
