// Run each method on every ground and on every set of points; an error where one is lost.
() => {
  const { weights, network } = document.querySelector('.pg').playground;
  for (const m of ['gd', 'sam', 'sgld', 'hmc']) weights.toggle(m);
  for (const ground of ['ravine', 'ridge', 'plateau', 'modes', 'yours', 'hollow']) {
    weights.model.choose(ground);
    weights.lay();
    weights.truth = true;
    weights.advance(30);
    for (const [m, run] of weights.model.runs) if (run.lost) throw Error(`${m} is lost on ${ground}`);
  }
  for (const kind of ['moons', 'circles', 'spiral', 'xor', 'gap']) for (const m of ['gd', 'sam', 'vi', 'sabma', 'sgld', 'hmc']) {
    network.kind = kind;
    network.panes[0].method = m;
    network.again();
    for (let i = 0; i < 5; i++) network.frame(0.03);
    if (network.panes[0].trial.lost) throw Error(`${m} is lost on ${kind}`);
  }
}
