"""A saved family of posteriors as one page with live controls, which needs no Python, no kernel and no network."""

from __future__ import annotations

import argparse
from pathlib import Path

import flatviz
from flatviz.checks import check_is
from flatviz.cli.options import add_out
from flatviz.cli.output import check_output, write_text
from flatviz.pages.page import family_page
from flatviz.pages.story import tour_story
from flatviz.pages.table import family_rows
from flatviz.results import Family
from flatviz.storage.cache import load


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's options."""
    parser.add_argument("family", type=Path, help="what fv.save wrote of a measured family: fv.save(lab.family, 'family.pt')")
    add_out(parser, "family.html", "the page")
    parser.add_argument("--title", default="flatviz: a family of posteriors", help="of the page")


def run(args: argparse.Namespace) -> int:
    """Read the family, write the page."""
    check_output("--out", args.out)
    family = load(args.family)
    check_is(family, Family, "the file", "save what fv.measure returned, or lab.family")
    method = "sabma" if "sabma" in family.methods else family.methods[-1]
    radius = family.radius[family.index(method, 1.0)]
    page = family_page(
        family,
        title=args.title,
        lead="Move the **radius** and the **ensemble size**; the guide says what there is to see.",
        rows=family_rows(family),
        facts={"made by": f"flatviz {flatviz.__version__}: flatviz export {args.family}"},
        start=(method, radius, min(10, max(p.n_draws for p in family.prediction))),
        story=tour_story(family),
        code=[f"family = fv.load({str(args.family)!r})"],
    )
    write_text(args.out, page)
    print(f"{args.out} written: {args.out.stat().st_size / 1e6:.1f} MB with plotly.js inside, opens in any browser")
    return 0
