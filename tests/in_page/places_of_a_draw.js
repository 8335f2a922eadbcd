// Where each figure marks the draw that is pointed at: rings as (x, y) of its axes, rules as (x).
() => Object.fromEntries([...document.querySelectorAll('figure:has(.js-plotly-plot)')].map((f) => {
  const plot = f.querySelector('.js-plotly-plot'), at = (r) => ['left', 'top'].map((k) => parseFloat(r.style[k]));
  const back = (r, xa, ya) => [xa.p2d(at(r)[0] - plot.offsetLeft - xa._offset), ya.p2d(at(r)[1] - plot.offsetTop - ya._offset)];
  const { xaxis, yaxis } = plot._fullLayout;
  return [f.dataset.name, [...f.querySelectorAll('.fv-ring')].map((r) => back(r, xaxis, yaxis))
    .concat([...f.querySelectorAll('.fv-rule')].map((r) => [xaxis.p2d(at(r)[0] - plot.offsetLeft - xaxis._offset)]))];
}))
