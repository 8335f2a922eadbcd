// A run of a method in the world of two weights: its learner, its trail, and a value every four
// steps.
import { CHAIN, copyOf, GAUSSIAN, kl, topEigenpairs } from "./engine.js";
import { lossOf } from "./sweep.js";

/** @import { Loss, Stand } from "./types.d.ts" */
/** @import { Learner } from "./learner.js" */

/** What a run keeps of a method. */
export class Run {
  /** @type {number[]} */
  x = []; // steps at which was measured
  /** @type {Stand[]} */
  stands = [];
  /** @type {number[]} */
  train = []; // losses
  /** @type {number[]} */
  test = [];
  /** @type {number[]} */
  lambda = []; // curvature at the mean
  /** @type {number[]} */
  kl = []; // from q to the prior
  lost = false;

  /**
   * @param {string} method
   * @param {Learner} learner
   */
  constructor(method, learner) {
    this.method = method;
    this.learner = learner;
    this.trail = [[...learner.q.mean]];
  }

  /** Take a step. */
  step() {
    this.learner.step();
    this.lost = !this.learner.finite;
    if (!this.lost) this.trail.push([...this.learner.q.mean]);
  }

  /**
   * Add what is measured now to the curves.
   * @param {number} steps
   * @param {Loss} loss of the training ground
   * @param {Loss} test
   * @param {number} ensemble draws of a chain
   */
  measure(steps, loss, test, ensemble) {
    const { method, learner } = this;
    const { q, prior, kept } = learner;
    const chain = CHAIN[method] && kept.length;
    const members = chain ? kept.slice(-ensemble) : [q.mean.slice()];
    const stand = { q: copyOf(q), members };
    this.x.push(steps);
    this.stands.push(stand);
    this.train.push(lossOf(loss, { method, ...stand }));
    this.test.push(lossOf(test, { method, ...stand }));
    this.lambda.push(topEigenpairs(loss, q.mean, 1)[0].value);
    this.kl.push(GAUSSIAN[method] ? kl(q, prior).value : NaN);
  }
}
