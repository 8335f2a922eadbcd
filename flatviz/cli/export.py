"""`flatviz export`: a saved family as one page with live controls, without Python or network."""

from pathlib import Path

import flatviz
from flatviz.checks import check_is
from flatviz.cli.reporting import write_page
from flatviz.pages.page import family_page
from flatviz.results import Family
from flatviz.storage.cache import load


def work(family: Path, out: Path, title: str) -> None:
    """Write a saved family of posteriors as one live page.

    FAMILY: a file that `fv.save(lab.family, "family.safetensors")` wrote.  The page needs no
    Python.
    """
    loaded = load(family)
    check_is(loaded, Family, "the file", "save what fv.families.measure returned, or lab.family")
    method = "sabma" if "sabma" in loaded.methods else loaded.methods[-1]
    radius = loaded.radius[loaded.index(method, 1.0)]
    lead = "Move the **radius** and the **ensemble size**; the pictures follow the text."
    facts = {"made by": f"flatviz {flatviz.__version__}: flatviz export {family}"}
    code = [f"family = fv.load({str(family)!r})"]
    start = method, radius, min(10, loaded.n_draws)
    write_page(
        out,
        family_page(
            loaded,
            title=title,
            lead=lead,
            facts=facts,
            start=start,
            code=code,
        ),
    )
