// Whether a radius above this one is shown.
(smaller) => {  // until then the nearest fitted radius is shown, and said to be that
  const view = document.querySelector('.flatviz[data-state]');
  const missing = view.querySelector('.fv-reading').textContent.includes('is not fitted');
  return !missing && Number(view.dataset.state.split('/')[1]) > Number(smaller);
}
