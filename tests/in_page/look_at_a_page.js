// Scroll to every figure and wait until it is drawn: number of figures not drawn, width beyond the window, formulas with errors.
async () => {
  const wait = (ms) => new Promise((done) => setTimeout(done, ms));
  const open = () => [...document.querySelectorAll('.fv-figure, .fv-live, .fv-lab, .math')].filter((e) =>
    !('drawn' in e.dataset) || (!e.classList.contains('math') && !e.querySelector('.main-svg')));
  for (const fold of document.querySelectorAll("details")) fold.open = true;
  for (const node of document.querySelectorAll('.fv-figure, .fv-live, .fv-lab')) { node.scrollIntoView(); await wait(30); }
  for (let i = 0; i < 400 && open().length; i++) { open()[0].scrollIntoView(); await wait(50); }
  const wide = document.documentElement.scrollWidth - innerWidth;
  return { undrawn: open().length, wide, formulas: document.querySelectorAll('.katex-error').length };
}
