// One run of a method.
import { Random } from "./random.js";
import {
  StepSize,
  atRest,
  copyOf,
  draw,
  hmcStep,
  pointStep,
  potential,
  sabmaStep,
  sgldStep,
  viStep,
} from "./updates.js";

/** @import { Gaussian, Loss, Settings, Taken, Vector } from "./types.d.ts" */

export const METHODS = ["gd", "sam", "vi", "sabma", "sgld", "hmc"];
/** Methods that learn a Gaussian. @type {Record<string, boolean>} */
export const GAUSSIAN = { vi: true, sabma: true };
/** Methods that draw a chain. @type {Record<string, boolean>} */
export const CHAIN = { sgld: true, hmc: true };

/** One run of a method. Its settings may change between steps. */
export class Learner {
  /** @type {Taken | null} */
  last = null; // step
  /** @type {Vector[]} */
  kept = []; // of a chain

  /**
   * @param {string} method
   * @param {Loss} loss
   * @param {Gaussian} prior
   * @param {Gaussian} start
   * @param {Settings} settings
   * @param {number} seed
   */
  constructor(method, loss, prior, start, settings, seed) {
    this.method = method;
    this.loss = loss;
    this.prior = prior;
    this.settings = settings;
    this.random = new Random(seed);
    this.steps = 0;
    this.q = copyOf(start);
    this.velocity = atRest(loss.dim);
    // where HMC stands, in standard deviations of the prior
    /** @type {Vector} */
    this.z = start.mean.map((m, i) => (m - prior.mean[i]) / Math.exp(prior.logStd[i]));
    this.size = new StepSize(0.1);
  }

  /** Whether all of q is a number, and none is huge. */
  get finite() {
    return (
      this.q.mean.every((x) => Number.isFinite(x) && Math.abs(x) < 1e6) &&
      this.q.logStd.every(Number.isFinite)
    );
  }

  /** Fresh noise for the draws of a step. */
  noise() {
    return Array.from({ length: this.settings.draws }, () => this.random.normals(this.loss.dim));
  }

  /** Take a step, and return what it was made of. */
  step() {
    const { method, loss, q, velocity, prior, settings } = this;
    this.steps += 1;
    if (method === "vi" || method === "sabma") {
      const noise = this.noise();
      const step = method === "vi" ? viStep : sabmaStep;
      const taken = step(loss, q, velocity, prior, noise, settings);
      this.last = taken;
    } else if (method === "gd" || method === "sam") {
      const radius = method === "sam" ? settings.radius : 0;
      this.last = pointStep(loss, q.mean, velocity.mean, prior, { ...settings, radius });
    } else if (method === "sgld") {
      this.last = sgldStep(loss, q.mean, prior, this.random.normals(loss.dim), settings);
      this.keep(q.mean.slice(), 5);
    } else {
      this.trajectory();
    }
    return this.last;
  }

  /** Take a trajectory of HMC. */
  trajectory() {
    const { loss, prior, settings, random } = this;
    const U = (/** @type {Vector} */ z) => potential(loss, prior, settings.T, z);
    /** @type {Vector[]} */
    const path = [];
    const momentum = random.normals(loss.dim);
    const share = 0.5 + random.uniform();
    const chance = random.uniform();
    const how = { path, most: settings.most ?? 200 };
    const taken = hmcStep(U, this.z, U(this.z), momentum, share, chance, this.size.size, how);
    this.last = { ...taken, path: path.map((z) => draw(prior, z)) };
    this.z = taken.z;
    if (this.steps <= 60) this.size.follow(taken.rate);
    if (this.steps === 60) this.size.settle();
    this.q.mean.set(draw(prior, this.z));
    this.keep(this.q.mean.slice(), 1);
  }

  /**
   * Keep these weights as a draw of the chain, in every so many steps.
   * @param {Vector} w
   * @param {number} every
   */
  keep(w, every) {
    if (this.steps % every) return;
    this.kept.push(w);
    if (this.kept.length > 400) this.kept.shift();
  }

  /**
   * The members of an ensemble of n: draws of q at this noise, the last places of a chain, or the
   * one point.
   * @param {number} n
   * @param {Vector[]} noise
   */
  members(n, noise) {
    if (GAUSSIAN[this.method]) return noise.slice(0, n).map((z) => draw(this.q, z));
    if (CHAIN[this.method] && this.kept.length) {
      // over the second half of the chain
      const every = Math.max(1, Math.floor(this.kept.length / 2 / n));
      return this.kept.filter((_, i) => (this.kept.length - 1 - i) % every === 0).slice(-n);
    }
    return [this.q.mean];
  }
}
