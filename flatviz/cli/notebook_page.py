"""A notebook that has run as one HTML page."""

import json
import re

import plotly
from nbconvert import HTMLExporter
from nbformat import NotebookNode

from flatviz.plots.theme import CONFIG

# without code; the page asks no other host for scripts
PAGE = dict(
    template_name="lab",
    exclude_input=True,
    exclude_output_prompt=True,
    require_js_url="",
    mathjax_url="",
    jquery_url="",
)
PLOTLY = "application/vnd.plotly.v1+json"


def page_of(notebook: NotebookNode, name: str) -> str:
    """Write the notebook without its code as one HTML page.

    Plotly.js inside, no script of another host.
    """
    outputs = (output for cell in notebook.cells for output in cell.get("outputs", ()))
    for output in (o for o in outputs if PLOTLY in o.get("data", {})):
        text = json.dumps(output.data[PLOTLY], default=str)
        figure = plotly.io.from_json(text, skip_invalid=True)
        output.data = {
            "text/html": plotly.io.to_html(
                figure, config=CONFIG, include_plotlyjs=False, full_html=False
            )
        }
    for cell in (c for c in notebook.cells if c.cell_type == "markdown"):
        # to what is not in this file
        cell.source = re.sub(r"\[([^\]]+)\]\([^)]*\.ipynb\)", r"\1", cell.source)
    about = {"metadata": {"name": f"flatviz: {name}"}}
    html, _ = HTMLExporter(**PAGE).from_notebook_node(notebook, resources=about)
    return html.replace("<head>", f"<head>\n<script>{plotly.offline.get_plotlyjs()}</script>", 1)
