// Stop the world: frames a second; p95 of a frame, mean and p95 of our own code, in ms; steps.
(name) => { const w = document.querySelector('.pg').playground[name], { seconds } = w.clock;
  const last = (all) => [...all].sort((a, b) => a - b)[Math.floor(0.95 * all.length)];
  w.play(false);
  return [w.clock.rate, 1000 * last(seconds),
    window.spent.reduce((sum, s) => sum + s, 0) / window.spent.length, last(window.spent), w.steps]; }
