// One run of a method on the data of a network's world: its learner, its predictions draw by draw,
// its scores, and the loss on the plane of its two sharpest directions.
import {
  accuracy,
  averaged,
  ece,
  GAUSSIAN,
  Learner,
  Network,
  networkLoss,
  nllScore,
  plus,
  Random,
  softmax,
  topEigenpairs,
} from "./engine.js";
import { GAP_NOISE, NETS, PLANE, REACH } from "./settings.js";

/** @import { Eigenpair, Points, Vector } from "./types.d.ts" */
/** @import { NetworkWorld } from "./network.js" */

/** @typedef {{ values: Vector, axes: Eigenpair[], center: Vector }} LossPlane */

const NOISES = 30; // draws at most
const PRIOR_STD = 1.5;
const START_STD = 0.05;
const ITERATIONS = 12; // of Lanczos, from the directions of before

/**
 * A Gaussian around this mean whose widths are all the same.
 * @param {Vector} mean
 * @param {number} std
 */
const around = (mean, std) => ({
  mean,
  logStd: new Float64Array(mean.length).fill(Math.log(std)),
});

/**
 * The settings that a learner of this method takes from those of the world.
 * @param {NetworkWorld} world
 * @param {string} method
 */
function settingsOf({ regression, settings, data }, method) {
  const { radius, rho, kappa, rate } = settings;
  // steps of VI and SA-BMA have the length of their widths
  const slow = regression && !GAUSSIAN[method] ? 0.05 : 1;
  const chain = method === "sgld" ? 0.2 : 1;
  return {
    T: kappa / data.train.y.length,
    rate: rate * slow * chain,
    momentum: 0.9,
    draws: 2,
    radius: method === "sam" ? rho : radius,
    most: regression ? 30 : 12,
  };
}

/** A method that learns the points of a world, with what it predicts and scores. */
export class Trial {
  /** @type {Float32Array[]} */
  fields = []; // what each draw predicts over the grid
  turn = 0; // the draw that is predicted anew next
  /** @type {number[]} */
  x = []; // steps at which was scored
  /** @type {number[]} */
  test = [];
  /** @type {number[]} */
  ece = [];
  /** @type {number[]} */
  lambda = [];
  right = NaN; // share of the test points
  /** @type {LossPlane | null} */
  drawn = null;
  row = PLANE; // of the loss plane that is computed next
  lost = false;

  /**
   * @param {NetworkWorld} world
   * @param {string} method
   */
  constructor(world, method) {
    const { regression, net, seed, data } = world;
    this.world = world;
    this.network = new Network([regression ? 1 : 2, ...NETS[net][1], regression ? 1 : 2]);
    const { network } = this;
    const random = new Random(1000 + seed);
    this.learned = networkLoss(network, data.train);
    const prior = around(new Float64Array(network.dim), PRIOR_STD);
    const start = around(network.init(random), START_STD);
    const settings = settingsOf(world, method);
    this.learner = new Learner(method, this.learned, prior, start, settings, seed);
    this.noise = Array.from({ length: NOISES }, () => random.normals(network.dim));
    this.near = topEigenpairs(this.learned, this.learner.q.mean, 2); // when they were last found
    this.axes = this.near; // sharpest directions, of the loss plane
    /** @type {LossPlane} */
    this.next = { axes: this.axes, center: start.mean, values: new Float64Array() };
    this.mean = new Float32Array(); // prediction of the ensemble
    this.refresh(Infinity);
    this.score();
    this.curve();
    this.fill(PLANE);
  }

  /** The weights of the ensemble. */
  members() {
    return this.learner.members(this.world.draws, this.noise);
  }

  /** Take a step of the method. */
  step() {
    if (this.lost) return;
    this.learner.step();
    this.lost = !this.learner.finite;
  }

  /**
   * Predictions over the inputs, at most `most` draws of the ensemble anew: the others are a few
   * frames old.
   * @param {number} most
   */
  refresh(most) {
    const W = this.members();
    const [wide] = this.network.widths;
    const { grid } = this.world.data;
    const n = grid.length / wide;
    const two = [0, 0];
    this.fields.length = Math.min(this.fields.length, W.length);
    this.turn %= W.length;
    for (let m = 0; m < W.length; m++) {
      if (this.fields[m] && (m - this.turn + W.length) % W.length >= most) continue;
      const field = (this.fields[m] ??= new Float32Array(n));
      for (let i = 0; i < n; i++) {
        const out = this.network.forward(W[m], grid, i * wide);
        if (this.world.regression) field[i] = out[0];
        else {
          softmax(out, two, 0);
          field[i] = two[1];
        }
      }
    }
    if (most < W.length) this.turn += most;
    this.mean = new Float32Array(n);
    for (const field of this.fields)
      for (let i = 0; i < n; i++) this.mean[i] += field[i] / W.length;
  }

  /** Add the scores of now to the curves. */
  score() {
    const { test } = this.world.data;
    const W = this.members();
    this.x.push(this.world.steps);
    if (test.noise !== null) {
      this.test.push(this.targetLoss(W, test, test.noise));
      this.ece.push(NaN);
    } else {
      const probs = averaged(this.network, W, test.x);
      this.test.push(nllScore(probs, test.y));
      this.ece.push(ece(probs, test.y));
      this.right = accuracy(probs, test.y);
    }
    this.lambda.push(this.lost ? NaN : this.sharpest()[0].value);
  }

  /**
   * Mean negative log likelihood of targets under the mixture of the ensemble.
   * @param {Vector[]} W
   * @param {Points} points
   * @param {number} noise
   */
  targetLoss(W, { x, y }, noise) {
    const total = y.reduce((sum, target, i) => {
      const likelihoods = W.map((w) => {
        const r = (this.network.forward(w, x, i)[0] - target) / noise;
        return Math.exp(-0.5 * r * r);
      });
      const p = likelihoods.reduce((s, one) => s + one, 0) / W.length;
      return sum - Math.log(Math.max(p, 1e-30)) + Math.log(noise) + 0.5 * Math.log(2 * Math.PI);
    }, 0);
    return total / y.length;
  }

  /** The two sharpest directions at the mean. */
  sharpest() {
    const { learned, learner, near } = this;
    this.near = topEigenpairs(learned, learner.q.mean, 2, ITERATIONS, near);
    return this.near;
  }

  /** Begin the loss plane of now. */
  curve() {
    if (this.lost) return;
    this.axes = this.sharpest();
    const values = new Float64Array(PLANE * PLANE);
    this.next = { axes: this.axes, center: this.learner.q.mean.slice(), values };
    this.row = 0;
  }

  /** Compute so many more rows of the loss plane. @param {number} rows */
  fill(rows) {
    if (!this.world.planes || this.row === PLANE) return;
    const { values, axes, center } = this.next;
    const at = (/** @type {number} */ k) => ((2 * k) / (PLANE - 1) - 1) * REACH;
    for (const last = Math.min(PLANE, this.row + rows); this.row < last; this.row++)
      for (let j = 0; j < PLANE; j++) {
        const w = plus(plus(center, axes[0].vector, at(j)), axes[1].vector, -at(this.row) / 2);
        values[this.row * PLANE + j] = this.learned.both(w, null);
      }
    if (this.row === PLANE) this.drawn = this.next;
  }

  /**
   * Standard deviation over the draws of what they predict at a place of the grid.
   * @param {number} i
   */
  differ(i) {
    const squares = this.fields.reduce((sum, field) => sum + (field[i] - this.mean[i]) ** 2, 0);
    return Math.sqrt(squares / this.fields.length);
  }

  /** Two standard deviations of the predicted targets, over the grid. */
  get spread() {
    return this.mean.map((_, i) => 2 * Math.hypot(this.differ(i), GAP_NOISE));
  }

  /** As far from 0 as the panels of the regression reach, so that no band leaves them. */
  get highest() {
    const { spread } = this;
    return Math.min(6, Math.max(2, ...this.mean.map((m, i) => 1.05 * (Math.abs(m) + spread[i]))));
  }

  /** How unsure the ensemble is: in the middle of the gap, and on average at the points. */
  get unsure() {
    const at = (/** @type {number} */ x) => this.differ(Math.round(20 * (x + 3)));
    const { x } = this.world.data.train;
    return { gap: at(-0.1), points: x.reduce((sum, place) => sum + at(place), 0) / x.length };
  }
}
