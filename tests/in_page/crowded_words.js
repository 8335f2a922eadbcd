// Words of a picture that are cut, or lie over other words or over a colour bar.
() => {
  const met = [], kinds = { title: '.gtitle', legend: '.legendtext', axis: '.infolayer > g[class*=title] text:not(.gtitle)',
    note: '.annotation-text', bar: '.cbtitle text', 'tick of bar': '.cbaxis text',
    'tick of x': '.xaxislayer-above text, .xaxislayer-below text', 'tick of y': '.yaxislayer-above text, .yaxislayer-below text' };
  for (const plot of document.querySelectorAll('.flatviz figure:not([hidden]) .js-plotly-plot')) {
    const name = plot.closest('figure').dataset.name, out = plot.getBoundingClientRect();
    const box = (kind) => (text) => {
      const { left, right, top, bottom } = text.getBoundingClientRect();
      return { kind, says: text.textContent, left, right, top, bottom, node: text };
    };
    const words = Object.entries(kinds).flatMap(([kind, where]) => [...plot.querySelectorAll(where)].map(box(kind)))
      .filter((w) => w.right - w.left > 0 && w.bottom - w.top > 0);
    for (const w of words) {
      const cut = w.left < out.left - 2 || w.right > out.right + 2 || w.top < out.top - 2 || w.bottom > out.bottom + 2;
      if (cut) met.push(`${name}: "${w.says}" (${w.kind}) is cut by its figure`);
      const ground = w.kind === 'legend' && plot.querySelector('.legend .bg').getBoundingClientRect();
      if (ground && w.right > ground.right + 2) met.push(`${name}: "${w.says}" is cut by the legend`);
    }
    const shared = (a, b, from, to) => Math.min(a[to], b[to]) - Math.max(a[from], b[from]);  // px
    const apart = (a, b) => shared(a, b, 'left', 'right') < 2 || shared(a, b, 'top', 'bottom') < 3;
    words.forEach((a, i) => words.slice(i + 1).forEach((b) => {
      if (!apart(a, b)) met.push(`${name}: "${a.says}" (${a.kind}) lies over "${b.says}" (${b.kind})`);
    }));
    const bars = [...plot.querySelectorAll('.cbfills')].map(box('bar'));
    for (const bar of bars) for (const w of words.filter((word) => !apart(bar, word))) {
      met.push(`${name}: "${w.says}" (${w.kind}) lies over the colour bar`);
    }
  }
  return met;
}
