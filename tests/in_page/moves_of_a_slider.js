// Move a slider so many times: milliseconds from each move to the painted picture.
async ([name, count]) => {
  const view = document.querySelector('.flatviz[data-state]'), slider = view.querySelector(name), times = [];
  const frame = () => new Promise((r) => requestAnimationFrame(r));
  const painted = () => new Promise((r) => requestAnimationFrame(() => {
    const c = new MessageChannel();
    c.port1.onmessage = r;
    c.port2.postMessage(0);
  }));
  for (let i = 0; i < count; i++) {
    for (let k = 0; k < 6; k++) await frame();
    const before = view.dataset.state, at = Number(slider.value);
    slider.value = at + (i % 2 || at >= Number(slider.max) ? -1 : 1);
    const start = performance.now();
    slider.dispatchEvent(new Event('input', { bubbles: true }));
    for (let k = 0; k < 600 && view.dataset.state === before; k++) await frame();
    await painted();
    times.push(performance.now() - start);
  }
  return times;
}
