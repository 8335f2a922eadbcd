// Random numbers and vectors.

/** @import { Vector } from "./types.d.ts" */

/** Random numbers from a seed: mulberry32, and Box-Muller on it. */
export class Random {
  /** mulberry32, and Box-Muller on it @param {number} seed */
  constructor(seed) {
    this.state = (seed * 2654435761 + 12345) >>> 0;
    /** @type {number | null} */
    this.spare = null;
    for (let i = 0; i < 4; i++) this.uniform();
  }

  /** The next number of a uniform distribution on [0, 1). */
  uniform() {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let t = this.state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }

  /** The next number of a standard normal distribution. */
  normal() {
    if (this.spare !== null) {
      const z = this.spare;
      this.spare = null;
      return z;
    }
    const r = Math.sqrt(-2 * Math.log(1 - this.uniform()));
    const angle = 2 * Math.PI * this.uniform();
    this.spare = r * Math.sin(angle);
    return r * Math.cos(angle);
  }

  /** n numbers of a standard normal distribution. @param {number} n */
  normals(n) {
    return Float64Array.from({ length: n }, () => this.normal());
  }
}

/**
 * The inner product of two vectors.
 * @param {ArrayLike<number>} a
 * @param {ArrayLike<number>} b
 */
export const dot = (a, b) => {
  let s = 0;
  for (let i = 0; i < a.length; i++) s += a[i] * b[i];
  return s;
};
/** The length of a vector. @param {ArrayLike<number>} a */
export const norm = (a) => Math.sqrt(dot(a, a));
/**
 * a + scale b.
 * @param {Vector} a
 * @param {ArrayLike<number>} b
 */
export const plus = (a, b, scale = 1) => a.map((x, i) => x + scale * b[i]);
/** A vector of n zeros. @param {number} n */
export const zeros = (n) => new Float64Array(n);
export const TINY = 1e-12;
