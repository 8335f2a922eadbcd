// node ends.mjs FOLDER: where twenty seeds of each method end on the playground's grounds, and what
// five networks score.
import { pathToFileURL } from "node:url";

const load = (name) => import(pathToFileURL(`${process.argv[2]}/${name}.js`));
const [engine, { GROUNDS }, { pointsOf }] = await Promise.all(
  ["engine", "grounds", "points"].map(load),
);
const flat = (mean, std) => ({
  mean: Float64Array.from(mean),
  logStd: new Float64Array(mean.length).fill(Math.log(std)),
});

export function ends(ground, method, radius) {
  const g = GROUNDS[ground],
    counts = {};
  for (let seed = 1; seed <= 20; seed++) {
    const settings = { T: g.T, rate: g.rate, momentum: 0, draws: 4, radius };
    const learner = new engine.Learner(
      method,
      engine.groundLoss(g.terms),
      flat([0, 0], 3),
      flat(g.start, g.std),
      settings,
      seed,
    );
    for (let i = 0; i < 600; i++) learner.step();
    const place =
      g.places.find(
        ([, [a, b], r]) => Math.hypot(learner.q.mean[0] - a, learner.q.mean[1] - b) < r,
      )?.[0] ?? "elsewhere";
    counts[place] = (counts[place] ?? 0) + 1;
  }
  return counts;
}

function scores(kind, noise, radius) {
  return [1, 2, 3, 4, 5].map((seed) => {
    const random = new engine.Random(seed),
      train = pointsOf(kind, 40, noise, random),
      test = pointsOf(kind, 400, noise, random);
    const network = new engine.Network([2, 12, 2]),
      loss = engine.networkLoss(network, train),
      D = network.dim,
      own = new engine.Random(1000 + seed);
    const settings = { T: 0.1 / 40, rate: 0.1, momentum: 0.9, draws: 2, radius };
    const learner = new engine.Learner(
      "sabma",
      loss,
      flat(new Float64Array(D), 1.5),
      flat(network.init(own), 0.05),
      settings,
      seed,
    );
    for (let i = 0; i < 1500; i++) learner.step();
    const W = learner.members(
      30,
      Array.from({ length: 30 }, () => own.normals(D)),
    );
    return {
      nll: engine.nllScore(engine.averaged(network, W, test.x), test.y),
      lambda: engine.topEigenpairs(loss, learner.q.mean, 1)[0].value,
    };
  });
}

const hollow = { vi: ends("hollow", "vi", 0), sabma: ends("hollow", "sabma", 1) };
const modes = Object.fromEntries(
  [0, 0.5, 1, 2].map((radius) => [radius, ends("modes", "sabma", radius)]),
);
const network = {
  spiral: [0, 2].map((r) => scores("spiral", 0.15, r)),
  moons: [0, 2].map((r) => scores("moons", 0.2, r)),
};
process.stdout.write(JSON.stringify({ hollow, modes, network }));
