// How many figures and controls reach below the stage.
() => {
  const stage = document.querySelector('.fv-stage'), { bottom } = stage.getBoundingClientRect();
  const seen = [...stage.querySelectorAll('figure:not([hidden]), .fv-controls')];
  return seen.filter((n) => n.getBoundingClientRect().bottom > bottom + 1).length;
}
