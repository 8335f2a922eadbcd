// Of each figure: whether it is left out, and how far its plot is over the sheet and over its frame.
() => [...document.querySelectorAll('figure')].map((f) => {
  const [plot, sheet, frame] = [f.querySelector('.main-svg, svg'), document.querySelector('main'), f].map((n) => n.getBoundingClientRect());
  return [f.dataset.name, f.hidden || plot.width === 0, plot.right - sheet.right, plot.bottom - frame.bottom];
})
