// Play a world of the playground; `window.spent` gets the milliseconds of our own code in each frame.
(name) => { const w = document.querySelector('.pg').playground[name];
  window.spent = [];
  w.clock.frame = (passed) => { const from = performance.now(); w.frame(passed); window.spent.push(performance.now() - from); };
  w.node.scrollIntoView();
  w.play(true); }
