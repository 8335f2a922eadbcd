// Scroll the end of each picture to the end of the screen: place of the controls, and free space between the two.
() => [...document.querySelectorAll('.flatviz figure:not([hidden]) .fv-plot')].map((plot) => {
  const { bottom, height } = plot.getBoundingClientRect(), bar = document.querySelector('.fv-bar');
  window.scrollTo(0, bottom + window.scrollY - window.innerHeight);
  const { top } = document.querySelector('.fv-controls').getBoundingClientRect();
  return [plot.closest('figure').dataset.name, top, window.innerHeight - bar.offsetHeight - height];
})
