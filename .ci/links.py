"""Write README's links: from one variable, the address of the repository.

    python .ci/links.py OWNER/NAME     of the site, of Colab; without it, of the files that stand for them
    python .ci/links.py --check        status 1, if README's links are not those of its repository

The variable is the comment above the links; everything below it is made.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

README = Path(__file__).resolve().parent.parent / "README.md"
PLACES = {"playground": "play.html", "lesson": "lesson.html", "course": "contents.html"}  # on the site
FILES = {"playground": "docs/playground.md", "lesson": "notebooks/lesson.ipynb", "course": "notebooks/contents.ipynb"}
FIRST = "notebooks/00_tour.ipynb"
BLOCK = re.compile(r"<!-- links of ([\w./-]*): python \.ci/links\.py OWNER/NAME -->\n.*", re.DOTALL)


def links(repository: str) -> str:
    """The end of README."""
    owner, _, name = repository.partition("/")
    to = {key: f"https://{owner}.github.io/{name}/{page}" for key, page in PLACES.items()} if name else FILES
    to |= {"Colab": f"https://colab.research.google.com/github/{repository}/blob/main/{FIRST}" if name else FIRST}
    lines = [
        f"<!-- links of {repository}: python .ci/links.py OWNER/NAME -->",
        *(f"[{key}]: {place}" for key, place in to.items()),
    ]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Write or check."""
    text = README.read_text(encoding="utf-8")
    present = BLOCK.search(text)[1]
    words = [w for w in sys.argv[1:] if w != "--check"]
    wanted = BLOCK.sub(lambda _: links(words[0] if words else present), text)
    if "--check" in sys.argv:
        return int(text != wanted)
    README.write_text(wanted, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
