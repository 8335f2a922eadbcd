// The chart below the images: its image, the probabilities of each draw and their means, read by its ruler, and the bold draws.
() => {
  const g = document.querySelector('[data-chart]'), ruler = [...g.querySelectorAll('line')].map((l) => Number(l.getAttribute('y1')));
  const [zero, one] = [Math.max(...ruler), Math.min(...ruler)];
  const up = (v) => (zero - v) / (zero - one);
  const lines = [...g.querySelectorAll('polyline')].filter((l) => l.getAttribute('stroke-width') < 3);
  return { row: Number(g.dataset.chart),
    lines: lines.map((l) => l.getAttribute('points').split(' ').map((p) => up(Number(p.split(',')[1])))),
    means: [...g.querySelectorAll('.fv-mean')].map((r) => up(Number(r.getAttribute('y')))),
    bold: [...g.querySelectorAll('polyline')].filter((l) => l.getAttribute('stroke-width') > 3).map((l) => Number(l.dataset.draw)) }; }
