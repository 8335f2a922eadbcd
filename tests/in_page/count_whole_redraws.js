// From now on `window.reacted` has the name of each figure that is drawn anew as a whole.
() => {
  window.reacted = [];
  const react = Plotly.react;
  Plotly.react = (plot, ...rest) => { window.reacted.push(plot.closest('figure').dataset.name); return react(plot, ...rest); };
}
