// Where a plot in sight differs from the one that plotly.js makes of the same traces from nothing.
async () => {
  const parts = ['.subplot .plot', '.overplot', '.errorbars', '.shapelayer', '.annotation', '.xtick', '.ytick',
    '.xgrid', '.ygrid', '.colorbar', '.legend'], found = [];
  const sorted = (text) => text.split(/; ?/).filter((v) => v && v !== 'opacity: 1').sort().join(';');
  const short = (text) => text.replace(/-?\d+\.\d+/g, (v) => Number(v).toFixed(3));  // what glided ends at a float32
  const said = ({ name, value }) => `${name}="${name === 'style' ? sorted(value) : name === 'transform' ? short(value) : value}"`;
  const moved = (e, name) => name === 'style' && e.classList.contains('textpoint');  // labels keep apart
  const one = (e) => `<${e.tagName} ${[...e.attributes].filter((a) => !moved(e, a.name)).map(said)
    .filter((v) => v !== 'style=""').sort().join(' ')}>`
    + (e.children.length ? '' : e.textContent);
  const ticks = (part) => /tick|grid/.test(part);  // one more may stand before or after the others
  const look = (plot, part) => {
    const empty = (e) => e.classList.contains('textpoint') && !e.children.length;  // of a point without a label
    const all = [...plot.querySelectorAll(`${part}, ${part} *`)].filter((e) => !empty(e)).map(one);
    return (ticks(part) ? all.sort() : all).join('');
  };
  for (const plot of document.querySelectorAll('figure:not([hidden]) .js-plotly-plot')) {
    const before = parts.map((part) => look(plot, part)), layout = { ...plot.layout, datarevision: Math.random() };
    await Plotly.react(plot, plot.data.map((trace) => ({ ...trace, uid: trace.uid })), layout, plot._context);
    parts.forEach((part, i) => {
      const [a, b] = [before[i], look(plot, part)], at = [...a].findIndex((c, k) => c !== b[k]);
      const near = (text) => text.slice(Math.max(0, at - 150), at + 100);
      if (a !== b) found.push([plot.closest('figure').dataset.name, part, near(a), near(b)]);
    });
  }
  window.reacted = [];
  return found;
}
