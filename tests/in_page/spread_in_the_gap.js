// For each method: the spread of 30 draws at the points and in the gap between them, and the loss on test points.
(seed) => {
  const { gap } = document.querySelector('.pg').playground;
  Object.assign(gap, { seed, draws: 30 });
  gap.again();
  for (let i = 0; i < 1500; i++) gap.advance();
  for (const pane of gap.panes) { pane.refresh(Infinity); pane.score(); }
  return gap.panes.map((pane) => ({ ...pane.unsure, loss: pane.test.at(-1) }));
}
