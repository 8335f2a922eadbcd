// Traces and ranges of the axes of every plot in sight.
() => JSON.parse(JSON.stringify(
  [...document.querySelectorAll('.flatviz figure:not([hidden]) .js-plotly-plot')].map((p) => ({ data: p.data, ranges:
    Object.fromEntries(Object.entries(p.layout).filter(([k]) => k.includes('axis')).map(([k, v]) => [k, v.range])) })),
  (key, value) => (ArrayBuffer.isView(value) ? Array.from(value) : value)))
