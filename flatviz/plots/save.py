"""A figure as a file: PNG, SVG or PDF by kaleido and Chromium, HTML without either."""

from __future__ import annotations

from pathlib import Path

import plotly.graph_objects as go

from flatviz.checks import Count, FilePath, Positive, check_is
from flatviz.core.boundary import public
from flatviz.plots.theme import Figure

FORMATS = (".png", ".svg", ".pdf", ".html")


@public
def save_figure(fig: Figure, path: FilePath, *, width: Count = 900, height: Count = 620, zoom: Positive = 2.0) -> Path:
    """Write a figure; the suffix of `path` says how: .png, .svg, .pdf, or .html, which still moves; returns `path`.

    Args:
        fig: What a `plot_*` returned.
        path: Where to.
        width: In pixels; an .html page takes the room it has.
        height: In pixels, likewise.
        zoom: Pixels of a PNG for each of these.

    No other host is asked for anything.

    Raises:
        ValueError: For another suffix.
        ImportError: Without kaleido.
        RuntimeError: Where no Chromium or Chrome is found.

    Example:
        >>> import tempfile, torch, flatviz as fv
        >>> fig = fv.plot_curve(fv.Curve(torch.linspace(0, 1, 5), torch.ones(5)))
        >>> fv.plots.save_figure(fig, f"{tempfile.mkdtemp()}/pairs.html").name
        'pairs.html'
    """
    check_is(fig, go.Figure, "fig", "use what a plot_* returned")
    path = Path(path)
    if path.suffix not in FORMATS:
        raise ValueError(f"path must end in {', '.join(FORMATS)}, got {path.name}: choose one")
    if path.suffix == ".html":
        path.write_text(fig.to_html(include_plotlyjs=True), encoding="utf-8")
    else:
        path.write_bytes(_picture(fig, dict(format=path.suffix[1:], width=width, height=height, scale=zoom)))
    return path


def _picture(fig: Figure, options: dict) -> bytes:
    try:
        import kaleido  # optional: only pictures without a browser window need it
        import plotly
        from choreographer.errors import ChromeNotFoundError
    except ImportError as error:
        raise ImportError('a PNG, SVG or PDF needs kaleido: pip install "flatviz[pictures]", or save .html') from error
    script = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"
    try:
        return kaleido.calc_fig_sync(fig, opts=options, kopts=dict(plotlyjs=str(script), mathjax=False))
    except ChromeNotFoundError as error:
        text = "a PNG, SVG or PDF needs Chromium or Chrome, got none: install it (Debian: apt-get install chromium), or name it in "
        raise RuntimeError(f"{text}the environment variable BROWSER_PATH, or save .html") from error
