// One run of a method.
import { Random } from "./random.js";
import { StepSize, atRest, copyOf, draw, hmcStep, pointStep, potential, sabmaStep, sgldStep, viStep } from "./updates.js";

export const METHODS = ["gd", "sam", "vi", "sabma", "sgld", "hmc"];
export const GAUSSIAN = { vi: true, sabma: true },
  CHAIN = { sgld: true, hmc: true };

// start { mean, logStd }; settings { rate, momentum, T, radius, draws }.  `settings` may change
// between steps.
export class Learner {
  settings;
  random;
  loss;
  method;
  prior;
  steps;
  gradients;
  kept;
  /** @type {any} */
  last;
  /** @type {any} */
  z;
  /** @type {any} */
  size;

  constructor(method, loss, prior, start, settings, seed) {
    this.method = method;
    this.loss = loss;
    this.prior = prior;
    this.settings = settings;
    this.random = new Random(seed);
    this.steps = 0;
    this.gradients = 0;
    this.kept = [];
    this.q = copyOf(start);
    this.velocity = atRest(loss.dim);
    if (method === "hmc") {
      this.z = start.mean.map((m, i) => (m - prior.mean[i]) / Math.exp(prior.logStd[i]));
      this.size = new StepSize(0.1);
    }
  }

  get finite() {
    return (
      this.q.mean.every((x) => Number.isFinite(x) && Math.abs(x) < 1e6) &&
      this.q.logStd.every(Number.isFinite)
    );
  }

  noise() {
    return Array.from({ length: this.settings.draws }, () => this.random.normals(this.loss.dim));
  }

  step() {
    const { method, loss, q, velocity, prior, settings } = this;
    this.steps += 1;
    if (method === "vi" || method === "sabma") {
      const noise = this.noise();
      this.last = (method === "vi" ? viStep : sabmaStep)(loss, q, velocity, prior, noise, settings);
      this.last.noise = noise;
      this.gradients += noise.length * (this.last.worst ? 2 : 1);
    } else if (method === "gd" || method === "sam") {
      const radius = method === "sam" ? settings.radius : 0;
      this.last = pointStep(loss, q.mean, velocity.mean, prior, { ...settings, radius });
      this.gradients += radius ? 2 : 1;
    } else if (method === "sgld") {
      this.last = sgldStep(loss, q.mean, prior, this.random.normals(loss.dim), settings);
      this.gradients += 1;
      this.keep(q.mean.slice(), 5);
    } else {
      this.trajectory();
    }
    return this.last;
  }

  trajectory() {
    const { loss, prior, settings, random } = this,
      U = (z) => potential(loss, prior, settings.T, z),
      /** @type {any} */ path = [];
    const momentum = random.normals(loss.dim),
      share = 0.5 + random.uniform();
    this.last = hmcStep(U, this.z, U(this.z), momentum, share, random.uniform(), this.size.size, {
      path,
      most: settings.most ?? 200,
    });
    /** @type {any} */ (this.last).path = path.map((z) => draw(prior, z));
    this.z = this.last.z;
    this.gradients += this.last.n;
    if (this.steps <= 60) this.size.follow(this.last.rate);
    if (this.steps === 60) this.size.settle();
    this.q.mean.set(draw(prior, this.z));
    this.keep(this.q.mean.slice(), 1);
  }

  keep(w, every) {
    if (this.steps % every) return;
    this.kept.push(w);
    if (this.kept.length > 400) this.kept.shift();
  }

  // The members of an ensemble of n: draws of q at this noise, the last places of a chain, or the
  // one point.
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
