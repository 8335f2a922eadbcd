"""Sphinx's settings for the site that `flatviz docs` builds; the text is made from notebooks/ and the docstrings."""

import os
from html import escape

from docutils import nodes

import flatviz

project = "flatviz"
author = "the flatviz authors"
copyright = "2026, the flatviz authors"
version = release = flatviz.__version__
extensions = ["myst_nb"]
nb_execution_mode = "off"  # `flatviz docs` ran them already
myst_enable_extensions = ["dollarmath", "amsmath", "deflist", "attrs_block"]
myst_heading_anchors = 3
myst_dmath_double_inline = True
suppress_warnings = ["mystnb.unknown_mime_type"]
exclude_patterns = ["_made", "downloads"]

html_theme = "pydata_sphinx_theme"
html_title = "flatviz"
html_css_files = ["site.css"]
html_js_files = ["fv-site.js"]
html_math_renderer = "katex"
html_context = {"default_mode": "auto"}
html_sidebars = {name: [] for name in ("index", "lesson", "gallery", "claims")}  # they have no pages below them
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_theme_options = {
    "logo": {"text": "flatviz"},
    "navbar_end": ["theme-switcher"],
    "navbar_persistent": ["search-button"],
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": True,
    "navigation_with_keys": False,
    "header_links_before_dropdown": 6,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
REPOSITORY = os.environ.get("GITHUB_REPOSITORY", "")  # owner/name, said by GitHub where it builds the site
if REPOSITORY:
    html_theme_options["icon_links"] = [
        {"name": "Source", "url": f"https://github.com/{REPOSITORY}", "icon": "fa-brands fa-github"}
    ]


def inline(self, node):
    """A formula in a line."""
    self.body.append(f'<span class="math">{escape(node.astext())}</span>')
    raise nodes.SkipNode


def block(self, node):
    """A formula of its own."""
    anchor = f' id="{node["ids"][0]}"' if node["ids"] else ""
    self.body.append(f'<div class="math"{anchor}>{escape(node.astext())}</div>')
    raise nodes.SkipNode


def setup(app):
    """Formulas as the text that KaTeX reads in the browser."""
    app.add_html_math_renderer("katex", (inline, None), (block, None))
