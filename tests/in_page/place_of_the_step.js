// The phase that is shown, where the worst posterior is, and where the mean is.
() => { const plot = document.querySelector('figure:not([hidden]) .js-plotly-plot');
  const place = (name) => { const t = plot.data.find((t) => t.name === name); return [t.x[0], t.y[0]]; };
  return [plot.dataset.phase ?? null, place('the worst q′'), place('the mean now')]; }
