// Random numbers and vectors.
// The small engine of the playground: random numbers, grounds of two weights, a network with its
// gradient, the updates of
// flatviz's methods, curvature and scores.  It draws nothing and knows no page; tests compare it
// with flatviz.
//
// A loss is { dim, both(w, g) }: the mean loss at w, its gradient written to g (a Float64Array, or
// null for the value alone).
// q is { mean, logStd }, a Gaussian with a width for each weight; prior is another.  T is the
// temperature kl_weight / N:
// all methods have the target exp(-L(w) / T) prior(w).

export class Random {
  // mulberry32, and Box-Muller on it
  constructor(seed) {
    this.state = (seed * 2654435761 + 12345) >>> 0;
    this.spare = null;
    for (let i = 0; i < 4; i++) this.uniform();
  }

  uniform() {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let t = this.state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }

  normal() {
    if (this.spare !== null) {
      const z = this.spare;
      this.spare = null;
      return z;
    }
    const r = Math.sqrt(-2 * Math.log(1 - this.uniform())),
      angle = 2 * Math.PI * this.uniform();
    this.spare = r * Math.sin(angle);
    return r * Math.cos(angle);
  }

  normals(n) {
    return Float64Array.from({ length: n }, () => this.normal());
  }
}

export const dot = (a, b) => {
  let s = 0;
  for (let i = 0; i < a.length; i++) s += a[i] * b[i];
  return s;
};
export const norm = (a) => Math.sqrt(dot(a, a));
export const plus = (a, b, scale = 1) => a.map((x, i) => x + scale * b[i]);
export const zeros = (n) => new Float64Array(n);
export const TINY = 1e-12;
