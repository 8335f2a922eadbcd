// For each method: the spread of 30 draws at the points and in the gap between them, and the loss on test points.
(seed) => {
  const { gap } = document.querySelector('.pg').playground;
  Object.assign(gap, { seed, draws: 30 });
  gap.again();
  for (let i = 0; i < 1500; i++) gap.advance();
  for (const { trial } of gap.panes) { trial.refresh(Infinity); trial.score(); }
  return gap.panes.map(({ trial }) => ({ ...trial.unsure, loss: trial.test.at(-1) }));
}
