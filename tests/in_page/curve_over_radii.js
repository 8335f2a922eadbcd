// The curve over radii: dots and rings with the range of their axis, and the caption.
() => { const plot = document.querySelector('[data-name=radius] .js-plotly-plot');
  const { _fullData: data, _fullLayout: layout } = plot;
  const of = (name) => data.filter((t) => t.name === name && t.visible === true)
    .map((t) => ({ x: [...t.x], y: [...t.y], range: layout[`xaxis${t.xaxis.slice(1)}`].range }));
  return { dots: of('SA-BMA, radii'), rings: of('selected'), caption: plot.closest('figure').querySelector('figcaption').textContent }; }
