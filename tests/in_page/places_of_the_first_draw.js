// Watch the first draw, frame by frame, until a second after the state has changed: its number of different places.
async () => {  // where the first sample is, frame by frame, until the state is another, and a second longer
  const root = document.querySelector('.flatviz'), before = root.dataset.state, found = [], start = performance.now();
  let changed = Infinity;
  while (performance.now() < Math.min(changed + 1100, start + 20000)) {
    await new Promise((r) => requestAnimationFrame(r));
    if (root.dataset.state !== before) changed = Math.min(changed, performance.now());
    const [point] = [...document.querySelectorAll('[data-name=surface] .scatterlayer .trace:last-child .point')];
    const { x, y } = point.getBoundingClientRect();
    found.push(`${x.toFixed(1)} ${y.toFixed(1)}`);
  }
  return [...new Set(found)].length;
}
