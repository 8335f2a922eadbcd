// The playground's test ground, and the sweep that finds the temperature T* of equal training loss.
import assert from "node:assert/strict";
import { test } from "node:test";
import { elsewhere, Learner } from "../../flatviz/pages/playground/engine.js";
import { lossOf, standing, Sweep } from "../../flatviz/pages/playground/sweep.js";
import { groundFrom, GROUNDS } from "../../flatviz/pages/playground/grounds.js";

const flat = (mean, std) => ({
  mean: Float64Array.from(mean),
  logStd: new Float64Array(mean.length).fill(Math.log(std)),
});
const { hollow } = GROUNDS,
  loss = groundFrom(hollow.terms);

function fit(method, seed, { T = hollow.T, radius = 1 } = {}) {
  const learner = new Learner(
    method,
    loss,
    flat([0, 0], 3),
    flat(hollow.start, hollow.std),
    { T, rate: hollow.rate, momentum: 0, draws: 4, radius },
    seed,
  );
  for (let i = 0; i < 600; i++) learner.step();
  return standing(method, learner);
}

test("a test ground has the loss of the place it came from, and the gradient of its own slope", () => {
  const moved = elsewhere(loss, [0.4, -0.3], 0.2),
    w = [0.7, 0.5],
    g = new Float64Array(2),
    h = 1e-5;
  assert.equal(moved.both(w, g), loss.both([0.7 - 0.4, 0.5 + 0.3 - 0.2 * (0.49 - 1)], null));
  [
    [h, 0],
    [0, h],
  ].forEach(([a, b], i) => {
    const slope =
      (moved.both([w[0] + a, w[1] + b], null) - moved.both([w[0] - a, w[1] - b], null)) / (2 * h);
    assert.ok(Math.abs(slope - g[i]) < 1e-8);
  });
});

test("without a shift the hollow has the lower test loss, shifted by 0.3 the meadow, for every one of twenty seeds", () => {
  for (let seed = 1; seed <= 20; seed++) {
    const [vi, flatter] = ["vi", "sabma"].map((method) => fit(method, seed));
    const gain = (shift) => {
      const ground = elsewhere(loss, [shift, 0], 0);
      return lossOf(ground, vi) - lossOf(ground, flatter);
    };
    assert.ok(gain(0) < -0.05 && gain(0.3) > 0.1, `${seed}: ${gain(0)} ${gain(0.3)}`);
  }
});

test("at T* VI has the training loss of SA-BMA, as near as its runs of this noise allow", async () => {
  const sweep = await new Promise((done) => {
    const made = new Sweep(
      loss,
      (method, other) => fit(method, 1, other),
      { T: 0.02, radius: 0.25 },
      () => done(made),
    );
  });
  const wanted = sweep.sabma.find((one) => one.radius === 0.25).train,
    plain = sweep.vi.find((one) => one.T === 0.02).train;
  assert.ok(
    Math.abs(sweep.ghost.train - wanted) < 0.2 * Math.abs(plain - wanted),
    `${sweep.ghost.train} ${wanted} ${plain}`,
  );
});
