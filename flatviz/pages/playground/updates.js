// q, its expected loss and KL, the worst q near it; and the updates of flatviz's methods.
import { TINY, dot, norm, plus, zeros } from "./random.js";

/**
 * @import { Ascent, Energy, Gaussian, GaussianStep, Loss, PointStep, Settings, Slope, Trajectory,
 *   Vector, Velocity } from "./types.d.ts"
 */

/**
 * The weights that q has at this standard normal noise.
 * @param {Gaussian} q
 * @param {Vector} z
 */
export const draw = (q, z) => q.mean.map((m, i) => m + Math.exp(q.logStd[i]) * z[i]);
/** A Gaussian of its own with the same numbers. @param {Gaussian} q */
export const copyOf = (q) => ({ mean: q.mean.slice(), logStd: q.logStd.slice() });

/**
 * E_q[L] and its gradient in (mean, log std), averaged over these draws of noise: g and g std z.
 * @param {Loss} loss
 * @param {Gaussian} q
 * @param {Vector[]} noise
 * @returns {Slope}
 */
export function expected(loss, q, noise) {
  const total = { value: 0, mean: zeros(loss.dim), logStd: zeros(loss.dim) };
  const g = zeros(loss.dim);
  for (const z of noise) {
    total.value += loss.both(draw(q, z), g) / noise.length;
    for (let i = 0; i < g.length; i++) {
      total.mean[i] += g[i] / noise.length;
      total.logStd[i] += (g[i] * Math.exp(q.logStd[i]) * z[i]) / noise.length;
    }
  }
  return total;
}

/**
 * KL(q ‖ prior) in nats, and its gradient in (mean, log std).
 * @param {Gaussian} q
 * @param {Gaussian} prior
 * @returns {Slope}
 */
export function kl(q, prior) {
  const into = { value: 0, mean: zeros(q.mean.length), logStd: zeros(q.mean.length) };
  for (let i = 0; i < q.mean.length; i++) {
    const precision = Math.exp(-2 * prior.logStd[i]);
    const r = q.mean[i] - prior.mean[i];
    const ratio = Math.exp(2 * q.logStd[i]) * precision;
    into.value += 0.5 * (ratio + r * r * precision - 1) + prior.logStd[i] - q.logStd[i];
    into.mean[i] = precision * r;
    into.logStd[i] = ratio - 1;
  }
  return into;
}

/**
 * The worst Gaussian within the radius of q to first order: q + Δ with Δ = radius F⁻¹ g / √(g · F⁻¹
 * g), where F is the Fisher matrix of q, 1 / std² for a mean and 2 for a log std.
 * @param {Gaussian} q
 * @param {Gaussian} g
 * @param {number} radius
 * @returns {Ascent}
 */
export function worst(q, g, radius) {
  const mean = g.mean.map((x, i) => Math.exp(2 * q.logStd[i]) * x);
  const logStd = g.logStd.map((x) => x / 2);
  const means = dot(g.mean, mean);
  const square = Math.max(means + dot(g.logStd, logStd), 1e-300);
  const scale = radius / Math.sqrt(square);
  const delta = { mean: mean.map((x) => scale * x), logStd: logStd.map((x) => scale * x) };
  return {
    delta,
    share: means / square,
    there: { mean: plus(q.mean, delta.mean), logStd: plus(q.logStd, delta.logStd) },
  };
}

/**
 * The ascent of SAM: the gradient, scaled to this length.
 * @param {Vector} g
 * @param {number} radius
 */
export const sam = (g, radius) => {
  const scale = radius / (norm(g) + TINY);
  return g.map((x) => x * scale);
};

const WIDTHS = 0.2;
const MEMORY = 0.9;
/**
 * The velocity before the first step.
 * @param {number} dim
 * @returns {Velocity}
 */
export const atRest = (dim) => ({ mean: zeros(dim), squares: zeros(dim + 1), filled: 0 });

/**
 * Take a natural-gradient step in nats and return KL(q ‖ prior) before it: with G = g / T + P (w −
 * prior mean) − A (w − mean) and r = G std z, averaged over the draws, v ← momentum v + std² G / (1
 * + s), mean ← mean − rate v, log std ← log std − rate WIDTHS / 2 r / (1 + sᵢ); s and sᵢ are the
 * running sizes of std G and of r.
 * @param {Gaussian} q
 * @param {Velocity} velocity
 * @param {Gaussian} g
 * @param {Gaussian} prior
 * @param {Vector[]} noise
 * @param {Settings} settings
 */
export function descend(q, velocity, g, prior, noise, { rate, momentum, T }) {
  const pull = kl(q, prior);
  const D = q.mean.length;
  const G = zeros(D);
  const r = zeros(D);
  const unit = T || 1;
  const std = q.logStd.map(Math.exp);
  for (let i = 0; i < D; i++) {
    const P = Math.exp(-2 * prior.logStd[i]);
    const A = 1 / (std[i] * std[i]);
    G[i] = g.mean[i] / unit;
    r[i] = g.logStd[i] / unit;
    if (T)
      for (const z of noise) {
        const x = P * (q.mean[i] - prior.mean[i]) + (P - A) * std[i] * z[i];
        G[i] += x / noise.length;
        r[i] += (x * std[i] * z[i]) / noise.length;
      }
  }
  velocity.filled = MEMORY * velocity.filled + 1 - MEMORY;
  const slow = velocity.squares.map((square, i) => {
    const now = i ? r[i - 1] * r[i - 1] : G.reduce((sum, x, j) => sum + x * x * std[j] * std[j], 0);
    velocity.squares[i] = MEMORY * square + (1 - MEMORY) * now;
    return 1 / (1 + Math.sqrt(velocity.squares[i] / velocity.filled));
  });
  for (let i = 0; i < D; i++) {
    velocity.mean[i] = momentum * velocity.mean[i] + slow[0] * std[i] * std[i] * G[i];
    q.mean[i] -= rate * velocity.mean[i];
    q.logStd[i] -= 0.5 * WIDTHS * rate * slow[i + 1] * r[i];
  }
  return pull;
}

/**
 * Take a step of VI.
 * @param {Loss} loss
 * @param {Gaussian} q
 * @param {Velocity} velocity
 * @param {Gaussian} prior
 * @param {Vector[]} noise
 * @param {Settings} settings
 * @returns {GaussianStep}
 */
export function viStep(loss, q, velocity, prior, noise, settings) {
  const g = expected(loss, q, noise);
  return { from: copyOf(q), g, pull: descend(q, velocity, g, prior, noise, settings) };
}

/**
 * Take a step of SA-BMA: ascend to q′, take the gradient there with the same noise, step back and
 * descend.
 * @param {Loss} loss
 * @param {Gaussian} q
 * @param {Velocity} velocity
 * @param {Gaussian} prior
 * @param {Vector[]} noise
 * @param {Settings} settings
 * @returns {GaussianStep}
 */
export function sabmaStep(loss, q, velocity, prior, noise, settings) {
  if (settings.radius === 0) return viStep(loss, q, velocity, prior, noise, settings);
  const from = copyOf(q);
  const g = expected(loss, q, noise);
  const ascent = worst(q, g, settings.radius);
  const there = expected(loss, ascent.there, noise);
  return {
    from,
    g,
    ...ascent,
    worst: there,
    pull: descend(q, velocity, there, prior, noise, settings),
  };
}

/**
 * Take a step of gradient descent, or of SAM, whose ascent is e: v ← momentum v + g(w + e) + T P (w
 * − m), w ← w − rate v.
 * @param {Loss} loss
 * @param {Vector} w
 * @param {Vector} velocity
 * @param {Gaussian} prior
 * @param {Pick<Settings, "rate" | "momentum" | "T" | "radius">} settings
 * @returns {PointStep}
 */
export function pointStep(loss, w, velocity, prior, { rate, momentum, T, radius = 0 }) {
  const from = w.slice();
  const g = zeros(w.length);
  const value = loss.both(w, g);
  const e = radius ? sam(g, radius) : null;
  const there = zeros(w.length);
  const at = e ? loss.both(plus(w, e), there) : (there.set(g), value);
  for (let i = 0; i < w.length; i++) {
    velocity[i] =
      momentum * velocity[i] +
      there[i] +
      T * Math.exp(-2 * prior.logStd[i]) * (w[i] - prior.mean[i]);
    w[i] -= rate * velocity[i];
  }
  return { from, value, at, g, e, there };
}

/**
 * Take a step of SGLD: w ← w − rate (g + T P (w − m)) + √(2 rate T) ξ.
 * @param {Loss} loss
 * @param {Vector} w
 * @param {Gaussian} prior
 * @param {Vector} xi
 * @param {Pick<Settings, "rate" | "T">} settings
 */
export function sgldStep(loss, w, prior, xi, { rate, T }) {
  const g = zeros(w.length);
  const value = loss.both(w, g);
  for (let i = 0; i < w.length; i++) {
    const pull = T * Math.exp(-2 * prior.logStd[i]) * (w[i] - prior.mean[i]);
    w[i] += -rate * (g[i] + pull) + Math.sqrt(2 * rate * T) * xi[i];
  }
  return { value, g };
}

/**
 * The energy U(z) = L(w(z)) / T + |z|² / 2 with w = m + std z, and its slope in z.
 * @param {Loss} loss
 * @param {Gaussian} prior
 * @param {number} T
 * @param {Vector} z
 * @returns {Energy}
 */
export function potential(loss, prior, T, z) {
  const slope = zeros(z.length);
  const mean = loss.both(draw(prior, z), slope);
  for (let i = 0; i < z.length; i++) slope[i] = (slope[i] * Math.exp(prior.logStd[i])) / T + z[i];
  return { value: mean / T + 0.5 * dot(z, z), slope, mean };
}

/**
 * Take n leapfrog steps; each place is added to `path`.
 * @param {(z: Vector) => Energy} U
 * @param {Vector} z
 * @param {Vector} momentum
 * @param {Energy} at
 * @param {number} size
 * @param {number} n
 * @param {Vector[] | undefined} path
 */
export function leapfrog(U, z, momentum, at, size, n, path) {
  let p = plus(momentum, at.slope, -0.5 * size);
  for (let i = 0; i < n; i++) {
    z = plus(z, p, size);
    at = U(z);
    p = plus(p, at.slope, i < n - 1 ? -size : -0.5 * size);
    path?.push(z);
  }
  return { z, momentum: p, at };
}

/**
 * The step size that brings the acceptance rate to `accept`, by dual averaging of its logarithm
 * (Hoffman & Gelman 2014).
 */
export class StepSize {
  t;
  error;
  accept;
  first;
  average;

  /** @param {number} first */
  constructor(first, accept = 0.8) {
    this.t = 0;
    this.error = 0;
    this.log = Math.log(first);
    this.average = Math.log(first);
    this.first = Math.log(first);
    this.accept = accept;
  }

  /** The step size of now. */
  get size() {
    return Math.exp(this.log);
  }

  /** Move the size after a trajectory with this acceptance rate. @param {number} rate */
  follow(rate) {
    this.t += 1;
    this.error += (this.accept - rate - this.error) / (this.t + 10);
    this.log = Math.log(10) + this.first - (Math.sqrt(this.t) / 0.05) * this.error;
    this.average += this.t ** -0.75 * (this.log - this.average);
  }

  /** From now on the average of the sizes so far. */
  settle() {
    this.t = 0;
    this.error = 0;
    this.log = this.average;
    this.first = this.average;
  }
}

/**
 * Take one trajectory from z, with a share in [1/2, 3/2] of the time; it is accepted with
 * probability min(1, exp(H before − H after)).
 * @param {(z: Vector) => Energy} U
 * @param {Vector} z
 * @param {Energy} at
 * @param {Vector} momentum
 * @param {number} share
 * @param {number} chance
 * @param {number} size
 * @param {{ time?: number, most?: number, path?: Vector[] }} options
 * @returns {Trajectory}
 */
export function hmcStep(
  U,
  z,
  at,
  momentum,
  share,
  chance,
  size,
  { time = Math.PI / 2, most = 500, path = undefined } = {},
) {
  const n = Math.min(most, Math.ceil((share * time) / size));
  const end = leapfrog(U, z, momentum, at, size, n, path);
  const gain =
    at.value + 0.5 * dot(momentum, momentum) - end.at.value - 0.5 * dot(end.momentum, end.momentum);
  const rate = Number.isFinite(gain) ? Math.exp(Math.min(0, gain)) : 0;
  return chance < rate
    ? { z: end.z, at: end.at, rate, n, taken: true }
    : { z, at, rate, n, taken: false };
}
