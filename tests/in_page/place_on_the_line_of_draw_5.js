// Where the line of draw 5 is at this class, in pixels of the window.
(c) => { const { left, top } = document.querySelector('[data-chart]').ownerSVGElement.getBoundingClientRect();
  const [x, y] = document.querySelector('[data-draw="4"]').getAttribute('points').split(' ')[c].split(',').map(Number);
  return [left + x, top + y]; }
