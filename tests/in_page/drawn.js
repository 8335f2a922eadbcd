// Traces and shapes of every figure that has been drawn, typed arrays as lists.
(root) => JSON.parse(JSON.stringify(Object.fromEntries([...root.querySelectorAll('figure:has(.js-plotly-plot)')].map((f) => {
  const plot = f.querySelector('.js-plotly-plot');
  return [f.dataset.name, { data: plot.data, shapes: plot.layout.shapes ?? [] }];
})), (key, value) => (ArrayBuffer.isView(value) ? Array.from(value) : value)))
