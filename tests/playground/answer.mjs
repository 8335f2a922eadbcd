// What a test asks the engine, and its answer as plain data (`run.mjs`).

const list = (x) =>
  ArrayBuffer.isView(x)
    ? Array.from(x)
    : Array.isArray(x)
      ? x.map(list)
      : x && typeof x === "object"
        ? Object.fromEntries(Object.entries(x).map(([k, v]) => [k, list(v)]))
        : x;
const array = (x) => Float64Array.from(x);
const gaussian = (q) => ({ mean: array(q.mean), logStd: array(q.logStd) });

export function answer(engine, ask) {
  const network = ask.widths && new engine.Network(ask.widths);
  const loss = ask.terms
    ? engine.groundLoss(ask.terms)
    : ask.widths && ask.data
      ? engine.networkLoss(network, { ...ask.data, x: array(ask.data.x) })
      : null;
  const prior = ask.prior && gaussian(ask.prior);
  return list(ANSWERS[ask.what]({ engine, ask, network, loss, prior }));
}

const ANSWERS = {
  gradient({ loss, ask }) {
    const g = new Float64Array(loss.dim);
    return { value: loss.both(array(ask.w), g), g };
  },
  // a whole fit: its noise and learning rates come with the question, a row a step
  gaussians({ engine, loss, prior, ask }) {
    const q = gaussian(ask.start),
      velocity = engine.atRest(loss.dim);
    const losses = [],
      gains = [],
      kls = [];
    ask.rates.forEach((rate, i) => {
      const settings = { rate, momentum: ask.momentum, T: ask.T, radius: ask.radius };
      const step = (ask.radius ? engine.sabmaStep : engine.viStep)(
        loss,
        q,
        velocity,
        prior,
        ask.noise[i].map(array),
        settings,
      );
      losses.push(step.g.value);
      if (step.worst) gains.push(step.worst.value - step.g.value);
      kls.push(step.pull.value);
    });
    return { q, losses, gains, kls };
  },
  points({ engine, loss, prior, ask }) {
    const w = array(ask.start),
      velocity = new Float64Array(loss.dim);
    for (const rate of ask.rates)
      engine.pointStep(loss, w, velocity, prior, {
        rate,
        momentum: ask.momentum,
        T: ask.T,
        radius: ask.radius,
      });
    return { w };
  },
  sgld({ engine, loss, prior, ask }) {
    const w = array(ask.start),
      kept = [];
    ask.noise.forEach((xi) => {
      engine.sgldStep(loss, w, prior, array(xi), { rate: ask.rate, T: ask.T });
      kept.push(w.slice());
    });
    return { kept };
  },
  trajectory({ engine, loss, prior, ask }) {
    const U = (z) => engine.potential(loss, prior, ask.T, z),
      z = array(ask.z);
    return engine.leapfrog(U, z, array(ask.momentum), U(z), ask.size, ask.n);
  },
  sizes({ engine, ask }) {
    const size = new engine.StepSize(0.1, ask.accept),
      seen = [];
    for (const rate of ask.rates) {
      size.follow(rate);
      seen.push(size.size);
    }
    size.settle();
    return [...seen, size.size];
  },
  chain({ engine, loss, prior, ask }) {
    const start = { mean: array(ask.start), logStd: new Float64Array(loss.dim) };
    const learner = new engine.Learner("hmc", loss, prior, start, { T: ask.T }, ask.seed),
      kept = [];
    for (let i = 0; i < ask.steps; i++) {
      learner.step();
      if (i >= 100) kept.push(learner.q.mean.slice());
    }
    return kept;
  },
  eigenpairs: ({ engine, loss, ask }) => engine.topEigenpairs(loss, array(ask.w), ask.k),
  integral: ({ engine, loss, ask }) => engine.integral(loss, gaussian(ask.q)),
  scores({ engine, network, ask }) {
    const probs = engine.averaged(network, ask.W.map(array), array(ask.x));
    return {
      ece: engine.ece(probs, ask.y),
      nll: engine.nllScore(probs, ask.y),
      accuracy: engine.accuracy(probs, ask.y),
    };
  },
  normals: ({ engine, ask }) => new engine.Random(ask.seed).normals(ask.n),
};
