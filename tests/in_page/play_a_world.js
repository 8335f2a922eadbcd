// Play a world of the playground, and keep what its own code takes of each frame in `window.spent`.
(name) => { const w = document.querySelector('.pg').playground[name];
  window.spent = [];
  w.clock.frame = (passed) => { const from = performance.now(); w.frame(passed); window.spent.push(performance.now() - from); };
  w.node.scrollIntoView();
  w.play(true); }
