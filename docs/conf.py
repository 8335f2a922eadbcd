"""Sphinx's settings for the site of `flatviz docs`, made from notebooks/ and docstrings."""

import inspect
import json
import os
import re
from html import escape
from pathlib import Path

from docutils import nodes
from plotly.colors import qualitative
from plotly.offline import get_plotlyjs

import flatviz
from flatviz.pages.page import bundled
from flatviz.plots.theme import dark_colors, on_dark

project = "flatviz"
author = "the flatviz authors"
copyright = "2026, the flatviz authors"
version = release = flatviz.__version__
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.napoleon"]
nb_execution_mode = "off"  # `flatviz docs` ran them already
nb_code_prompt_show = "Show all of it"
nb_code_prompt_hide = "Hide it"
myst_enable_extensions = ["dollarmath", "amsmath", "deflist", "attrs_block"]
myst_heading_anchors = 3
myst_dmath_double_inline = True
suppress_warnings = ["mystnb.unknown_mime_type"]
exclude_patterns = ["downloads"]
add_module_names = False
autodoc_preserve_defaults = False
autodoc_typehints = "none"
autosummary_generate = False
default_role = "code"  # `name` in a docstring
napoleon_use_rtype = False

html_theme = "pydata_sphinx_theme"
html_title = "flatviz"
html_favicon = "static/icon.svg"
html_css_files = ["site.css"]
html_js_files = ["slides.js", "fv-site.js"]
html_static_path = ["static", "katex", "thumbs"]
html_math_renderer = "katex"
html_context = {"default_mode": "auto"}
html_sidebars = {
    name: [] for name in ("index", "lesson", "gallery", "playground", "install")
}  # they have no pages below them
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_theme_options = {
    "logo": {"text": "flatviz"},
    "navbar_end": ["theme-switcher"],
    "navbar_persistent": ["search-button"],
    "secondary_sidebar_items": {"index": [], "**": ["page-toc"]},
    "show_prev_next": True,
    "navigation_with_keys": False,
    "header_links_before_dropdown": 7,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
REPOSITORY = os.environ.get(
    "GITHUB_REPOSITORY", ""
)  # owner/name, said by GitHub where it builds the site
if REPOSITORY:
    html_theme_options["icon_links"] = [
        {"name": "Source", "url": f"https://github.com/{REPOSITORY}", "icon": "fa-brands fa-github"}
    ]
    owner, _, name = REPOSITORY.partition("/")
    html_baseurl = f"https://{owner}.github.io/{name}/"
    html_extra_path = ["tour.png"]  # what a link shows where it is posted
    preview = {
        "title": "flatviz: see what flatness does to a Bayesian network",
        "type": "website",
        "image": f"{html_baseurl}tour.png",
    }
    myst_html_meta = {f"property=og:{key}": value for key, value in preview.items()} | {
        "twitter:card": "summary_large_image"
    }


def inline(self, node):
    """A formula in a line."""
    self.body.append(f'<span class="math">{escape(node.astext())}</span>')
    raise nodes.SkipNode


def block(self, node):
    """A formula of its own."""
    anchor = f' id="{node["ids"][0]}"' if node["ids"] else ""
    self.body.append(f'<div class="math"{anchor}>{escape(node.astext())}</div>')
    raise nodes.SkipNode


def write_scripts(app, config):
    """Add plotly.js and the front end as classic scripts, which a browser loads from disk."""
    made = Path(app.srcdir, "made")
    made.mkdir(exist_ok=True)
    made.joinpath("plotly.min.js").write_text(get_plotlyjs(), encoding="utf-8")
    lighter = dark_colors() | {c.lower(): on_dark(c) for c in qualitative.Plotly}
    learned = f"flatvizExplorer.learnColors({json.dumps(lighter)});"
    made.joinpath("explorer.js").write_text(f"{bundled('explorer')}\n{learned}", encoding="utf-8")
    config.html_static_path.append(str(made))


LAYERS = """results core storage engine objectives planes landscape datasets models training
bridges posteriors metrics symmetry families plots widgets"""


def write_reference(app):
    """A page a layer with its public names, for autodoc, and the table of them."""
    groups = {layer: {} for layer in LAYERS.split()}
    top = {name: getattr(flatviz, name) for name in flatviz.__all__}
    rooms = {layer: getattr(flatviz, layer) for layer in groups}
    inside = {
        f"{layer}.{name}": getattr(room, name)
        for layer, room in rooms.items()
        for name in getattr(room, "__all__", ())
    }
    first = {id(value) for value in top.values()}
    for name, value in [*top.items(), *((n, v) for n, v in inside.items() if id(v) not in first)]:
        if inspect.isfunction(value) or inspect.isclass(value):
            layer = value.__module__.split(".")[1]
            groups.get(layer, groups["results"])[name] = (
                value  # modules beside the folders hold nouns
            )
    folder = Path(app.srcdir, "reference")
    folder.mkdir(exist_ok=True)
    index = [
        "Reference",
        "=========",
        "",
        "Every public name. ``import flatviz as fv`` comes first.",
        "",
    ]
    index += [".. toctree::", "   :hidden:", "", *(f"   {layer}" for layer in groups), ""]
    for layer, values in groups.items():
        names = sorted(values, key=str.lower)
        page = [
            layer.capitalize(),
            "=" * len(layer),
            "",
            f".. automodule:: flatviz.{layer}",
            "   :no-members:",
            "",
        ]
        for name in names:
            page += [
                f".. autoclass:: flatviz.{name}\n   :members:"
                if inspect.isclass(values[name])
                else f".. autofunction:: flatviz.{name}",
                "",
            ]
        folder.joinpath(f"{layer}.rst").write_text("\n".join(page), encoding="utf-8")
        index += [f":doc:`{layer.capitalize()} <{layer}>`", "-" * 40, ""]
        index += [
            ".. autosummary::",
            "   :nosignatures:",
            "",
            *(f"   ~flatviz.{name}" for name in names),
            "",
        ]
    folder.joinpath("index.rst").write_text("\n".join(index), encoding="utf-8")


SECTION = re.compile(r"(Args|Attributes|Returns|Raises|Yields|Example|Examples):\s*$")


def plain(app, what, name, obj, options, lines):
    """Escape docstrings, in which code, sections and examples have a meaning, and set equations."""
    if what == "property" and lines:  # napoleon takes what stands before a colon for its type
        lines[0] = lines[0].replace(": ", " – ")
    text, section, code = [], False, False
    for line in lines:
        if line.strip() and not line.startswith(" "):
            section = bool(SECTION.match(line))
        before = text[-1] if text else ""
        if line.startswith("    ") and not section and text:
            if not before.strip():  # an equation
                text += ["::", ""]
            elif not before.startswith(" "):  # the rest of a sentence
                line = line.strip()
        equation = (
            line.startswith("    ") and not section
        )  # a literal block: it is shown as it stands
        if ">>>" not in line and "..." not in line and not equation:
            parts = line.split("`")  # a span of code may begin on the line before
            escape = [
                part if code ^ bool(i % 2) else re.sub(r"[*|\\]|_(?!\w)", r"\\\g<0>", part)
                for i, part in enumerate(parts)
            ]
            line, code = "`".join(escape), code ^ (len(parts) % 2 == 0)
        text.append(line)
    lines[:] = text


OPEN = ("In short", "What would change our mind")  # sections of an experiment that are not folded


def folded(app, doctree, name):
    """Fold the sections of an experiment but the first, which has its finding."""
    if not name.startswith("experiments/"):
        return
    (page,) = (node for node in doctree.children if isinstance(node, nodes.section))
    for section in [node for node in page.children if isinstance(node, nodes.section)][1:]:
        title, *content = section.children
        if title.astext() not in OPEN:
            section.children = []
            section += [
                nodes.raw("", '<details class="fv-fold"><summary>', format="html"),
                title,
                nodes.raw("", "</summary>", format="html"),
                *content,
                nodes.raw("", "</details>", format="html"),
            ]


def setup(app):
    """Formulas as the text that KaTeX reads in the browser; pages of the reference, scripts."""
    app.add_html_math_renderer("katex", (inline, None), (block, None))
    app.connect("config-inited", write_scripts)
    app.connect("builder-inited", write_reference)
    app.connect("doctree-resolved", folded)
    app.connect("autodoc-process-docstring", plain, priority=400)  # before napoleon
