// Free space below the first picture in the notebook panel; and above each picture, scrolled to the end of the panel.
(view) => {  // with the lab's controls at the top of the panel, then with the end of each picture at that of the panel
  const panel = view.closest('.jp-WindowedPanel-outer') ?? view.closest('.jp-Notebook'), box = (node) => node.getBoundingClientRect();
  const bar = view.querySelector('.fv-bar'), end = () => box(panel).top + panel.clientHeight;
  const move = (node, edge, to) => { panel.scrollTop += box(node)[edge] - to; };
  const plots = [...view.querySelectorAll('figure:not([hidden]) .fv-plot')];
  move(view, 'top', box(panel).top);
  const first = end() - box(plots[0]).bottom;
  return { first, all: plots.map((plot) => {
    move(plot, 'bottom', end());
    return { name: plot.closest('figure').dataset.name, controls: box(bar).top - box(panel).top, room: box(plot).top - box(bar).bottom };
  }) };
}
