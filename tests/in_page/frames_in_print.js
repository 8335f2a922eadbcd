// Each figure in print: whether it is left out, and pixels of its plot beyond the sheet and beyond its frame.
() => [...document.querySelectorAll('figure')].filter((f) => f.querySelector('.main-svg, svg')).map((f) => {
  const [plot, sheet, frame] = [f.querySelector('.main-svg, svg'), document.querySelector('main'), f].map((n) => n.getBoundingClientRect());
  return [f.dataset.name, f.hidden || plot.width === 0, plot.right - sheet.right, plot.bottom - frame.bottom];
})
