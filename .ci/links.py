"""Write README's links: from one variable, the address of the repository.

    python .ci/links.py OWNER/NAME     of the site, of Colab; without it,
        of the files that stand for them
    python .ci/links.py OWNER/NAME --index    as a package index needs it: every link absolute,
        and [project.urls]; release.yml does it
    python .ci/links.py --check        status 1, if README's links are not those of its repository

The variable is the comment above the links; everything below it is made.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
PLACES = {
    "playground": "play.html",
    "lesson": "lesson.html",
    "course": "contents.html",
}  # on the site
FILES = {
    "lesson": "notebooks/lesson.ipynb",
    "course": "notebooks/contents.ipynb",
}
FIRST = "notebooks/00_tour.ipynb"
DOORS = {  # with a site, and in a clone without one: no link that does not open
    True: """| I want to | open |
|---|---|
| play for two minutes | the [playground], which needs no install |
| learn it | the [course]: 18 notebooks, a question each, the first also in [Colab] |
| teach it | a [lesson] of 90 minutes with slides and a quiz |
""",
    False: """| I want to | open |
|---|---|
| play for two minutes | the playground, at the top of `flatviz tour`'s page |
| learn it | the [course]: 18 notebooks, a question each |
| teach it | a [lesson] of 90 minutes with slides and a quiz |
""",
}
BETWEEN = re.compile(r"(<!-- doors -->\n).*?(?=<!-- /doors -->)", re.DOTALL)
CLONE = re.compile(r"(<!-- repository -->\n).*?(?=<!-- /repository -->)", re.DOTALL)
BLOCK = re.compile(r"<!-- links of ([\w./-]*): python \.ci/links\.py OWNER/NAME -->\n.*", re.DOTALL)


def links(repository: str) -> str:
    """The end of README."""
    owner, _, name = repository.partition("/")
    to = (
        {key: f"https://{owner}.github.io/{name}/{page}" for key, page in PLACES.items()}
        if name
        else FILES
    )
    if name:
        to["Colab"] = f"https://colab.research.google.com/github/{repository}/blob/main/{FIRST}"
    lines = [
        f"<!-- links of {repository}: python .ci/links.py OWNER/NAME -->",
        *(f"[{key}]: {place}" for key, place in to.items()),
    ]
    return "\n".join(lines) + "\n"


def clone(repository: str) -> str:
    """How to get a clone, and the badge of the checks, once the repository has a name."""
    _, _, name = repository.partition("/")
    if not name:
        return "In a clone of this repository:\n"
    address = f"https://github.com/{repository}"
    badge = f"{address}/actions/workflows/ci.yml"
    return (
        f"[![checks]({badge}/badge.svg)]({badge})\n\n"
        f"In a clone, `git clone {address} && cd {name}`:\n"
    )


def written(text: str, repository: str) -> str:
    """README with the doors and the links of a repository; "" for a clone without a site."""
    text = BETWEEN.sub(lambda found: found[1] + DOORS["/" in repository], text)
    text = CLONE.sub(lambda found: found[1] + clone(repository), text)
    return BLOCK.sub(lambda _: links(repository), text)


def absolute(text: str, repository: str) -> str:
    """README with the links that lead into the clone as addresses of the repository: files, and
    pictures as such."""
    files = f"https://github.com/{repository}/blob/main/"
    pictures = f"https://raw.githubusercontent.com/{repository}/main/"
    text = re.sub(r'((?:src|srcset)=")(?!http)', rf"\1{pictures}", text)
    text = re.sub(r"(!\[[^\]]*\]\()(?!http)", rf"\1{pictures}", text)
    return re.sub(r"((?<!!)\[[^\]]*\]\()(?!http)", rf"\1{files}", text)


def urls(repository: str) -> str:
    """The table [project.urls] of pyproject.toml."""
    owner, _, name = repository.partition("/")
    site = f"https://{owner}.github.io/{name}/"
    source = f"https://github.com/{repository}"
    places = {
        "Documentation": site,
        "Source": source,
        "Issues": f"{source}/issues",
        "Changelog": f"{source}/blob/main/CHANGELOG.md",
    }
    return "".join(
        ["[project.urls]\n", *(f'{name} = "{place}"\n' for name, place in places.items()), "\n"]
    )


def main() -> int:
    """Write or check."""
    text = README.read_text(encoding="utf-8")
    present = BLOCK.search(text)[1]
    words = [w for w in sys.argv[1:] if not w.startswith("--")]
    wanted = written(text, words[0] if words else present)
    if "--check" in sys.argv:
        return int(text != wanted)
    if "--index" in sys.argv:
        wanted = absolute(wanted, words[0])
        project = ROOT / "pyproject.toml"
        before, scripts, after = project.read_text(encoding="utf-8").partition("[project.scripts]")
        project.write_text(before + urls(words[0]) + scripts + after, encoding="utf-8")
    README.write_text(wanted, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
