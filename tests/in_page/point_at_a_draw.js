// Point at this draw on the loss surface.
(d) => { const plot = document.querySelector('[data-name=surface] .js-plotly-plot');
  const curveNumber = plot.data.findIndex((t) => t.name === 'samples');
  plot.emit('plotly_hover', { points: [{ data: plot.data[curveNumber], pointNumber: d, curveNumber }] }); }
