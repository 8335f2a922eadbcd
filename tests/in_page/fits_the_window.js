// Whether the view and every plot in it have the size that a window of this width gives them.
(w) => { const view = document.querySelector('.flatviz'); return innerWidth === w && view.clientWidth <= w &&
      view.clientWidth > w - 150 && [...view.querySelectorAll('figure:not([hidden]) .js-plotly-plot')].every((p) =>
      Math.abs(p._fullLayout?.width - p.clientWidth) < 2 && Math.abs(p._fullLayout.height - p.clientHeight) < 2); }
