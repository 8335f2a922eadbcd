"""A figure in a JupyterLab with a dark theme: plotly takes no colour from the page, so a style sheet colours what it drew."""

from __future__ import annotations

from collections.abc import Mapping

MIME = "plotly_mimetype"  # plotly's renderer that hands a figure to JupyterLab, which draws it
PLOT = "body[data-jp-theme-light='false'] .jp-RenderedPlotly.js-plotly-plot:not(:has(canvas))"  # WebGL takes no style: 3-D stays white
HIDDEN = ".jp-OutputArea-child:has(> .jp-OutputArea-output > style.flatviz-dark) { display: none }"


def dark_style(darker: Mapping[str, str]) -> str:
    """HTML of a style sheet, shown as nothing, under which the figures of a dark JupyterLab have other colours.

    darker: colour (hex) of a text, a line or an area -> the one that it has on dark ground; that of white is the ground.
    """
    rules = [HIDDEN, f"{PLOT} .main-svg:first-child {{ background: {darker['#ffffff']} !important }}"]
    for color, other in darker.items():
        for name in ("fill", "stroke"):
            drawn = f"{name}: rgb({', '.join(str(int(color[i : i + 2], 16)) for i in (1, 3, 5))})"
            rules.append(f"{PLOT} .main-svg :not(.cbfill)[style*='{drawn}'] {{ {name}: {other} !important }}")
    return f"<style class='flatviz-dark'>{' '.join(rules)}</style>"
