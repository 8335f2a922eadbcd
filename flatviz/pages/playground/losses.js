// Losses: grounds of two weights, and a network of tanh layers with its gradient.
import { zeros } from "./random.js";

/** @import { Loss, Points, Term, Vector } from "./types.d.ts" */

/**
 * The height of each kind of term; its gradient is added to g. bowl: h/2 |w − c|²; dent: −depth
 * exp(−((w1−c1)²/s1² + (w2−c2)²/s2²) / 2), s one number or two; valley: k/2 (w2 − a w1² − b)²;
 * wall: a smooth step of this height across w1 = at; modes: minus the log of two equal Gaussians.
 * @typedef {{ [Kind in Term["kind"]]: (term: Extract<Term, { kind: Kind }>, x: number, y: number,
 *   g: Vector) => number }} Heights
 */

/** @type {Heights} */
const TERMS = {
  bowl: ({ at: [a, b], h }, x, y, g) => {
    g[0] += h * (x - a);
    g[1] += h * (y - b);
    return 0.5 * h * ((x - a) ** 2 + (y - b) ** 2);
  },
  dent: ({ at: [a, b], depth, width }, x, y, g) => {
    const [s, t] = Array.isArray(width) ? width : [width, width];
    const e = depth * Math.exp(-0.5 * (((x - a) / s) ** 2 + ((y - b) / t) ** 2));
    g[0] += (e * (x - a)) / (s * s);
    g[1] += (e * (y - b)) / (t * t);
    return -e;
  },
  valley: ({ k, a, b }, x, y, g) => {
    const r = y - a * x * x - b;
    g[0] -= 2 * k * r * a * x;
    g[1] += k * r;
    return 0.5 * k * r * r;
  },
  wall: ({ at, height, soft }, x, y, g) => {
    const t = Math.tanh((x - at) / soft);
    g[0] += (height * (1 - t * t)) / (2 * soft);
    return 0.5 * height * (1 + t);
  },
  modes: ({ a, b, narrow, ratio }, x, y, g) => {
    const wide = narrow * ratio;
    const p = ((x - a[0]) ** 2 + (y - a[1]) ** 2) / (2 * narrow ** 2);
    const r = ((x - b[0]) ** 2 + (y - b[1]) ** 2) / (2 * wide ** 2);
    const least = Math.min(p, r);
    const u = Math.exp(least - p);
    const v = Math.exp(least - r);
    const share = u / (u + v);
    g[0] += (share * (x - a[0])) / narrow ** 2 + ((1 - share) * (x - b[0])) / wide ** 2;
    g[1] += (share * (y - a[1])) / narrow ** 2 + ((1 - share) * (y - b[1])) / wide ** 2;
    return least - Math.log(u + v) + Math.log(2);
  },
};

/**
 * The height of a term at x, y; its gradient is added to g.
 * @template {Term["kind"]} Kind
 * @param {Extract<Term, { kind: Kind }>} term
 * @param {number} x
 * @param {number} y
 * @param {Vector} g
 */
const heightOf = (term, x, y, g) => TERMS[/** @type {Kind} */ (term.kind)](term, x, y, g);
const UNUSED = zeros(2);

/**
 * The loss of two weights that is the sum of these terms.
 * @param {Term[]} terms
 * @returns {Loss}
 */
export function groundLoss(terms) {
  return {
    dim: 2,
    both(w, g) {
      const into = g ?? UNUSED;
      into[0] = into[1] = 0;
      let value = 0;
      for (const term of terms) value += heightOf(term, w[0], w[1], into);
      return value;
    },
  };
}

/**
 * The loss of a test ground: that of training moved by `shift`, and bent: w2 is higher by bend (w1²
 * − 1).
 * @param {Loss} loss
 * @param {number[]} shift
 * @param {number} bend
 * @returns {Loss}
 */
export function elsewhere(loss, [a, b], bend) {
  const at = zeros(2);
  return {
    dim: 2,
    both(w, g) {
      at[0] = w[0] - a;
      at[1] = w[1] - b - bend * (w[0] * w[0] - 1);
      const value = loss.both(at, g);
      if (g) g[0] -= 2 * bend * w[0] * g[1];
      return value;
    },
  };
}

/**
 * A network of tanh layers with these widths: [in, hidden …, out]. Its weights are flat as in
 * torch: each layer's matrix (out, in) row by row, then its bias.
 */
export class Network {
  /** @param {number[]} widths */
  constructor(widths) {
    this.widths = widths;
    /** @type {number[]} */
    this.starts = []; // of the layers' weights
    this.dim = 0;
    for (let i = 1; i < widths.length; i++) {
      this.starts.push(this.dim);
      this.dim += widths[i] * (widths[i - 1] + 1);
    }
    this.a = widths.map(zeros); // outputs of each layer
    this.d = widths.map(zeros); // and the derivatives with respect to them
  }

  /**
   * Weights that are drawn from N(0, gain² / fan in), biases too.
   * @param {import("./random.js").Random} random
   */
  init(random, gain = 1) {
    const w = zeros(this.dim);
    this.starts.forEach((start, l) => {
      const n = this.widths[l + 1] * (this.widths[l] + 1);
      for (let i = 0; i < n; i++)
        w[start + i] = (gain * random.normal()) / Math.sqrt(this.widths[l]);
    });
    return w;
  }

  /**
   * The outputs for the input that begins at x[at].
   * @param {ArrayLike<number>} w
   * @param {ArrayLike<number>} x
   * @param {number} at
   */
  forward(w, x, at) {
    const { a, widths, starts } = this;
    const last = widths.length - 1;
    for (let j = 0; j < widths[0]; j++) a[0][j] = x[at + j];
    for (let l = 0; l < last; l++) {
      const from = a[l];
      const to = a[l + 1];
      const n = widths[l];
      const m = widths[l + 1];
      const bias = starts[l] + n * m;
      for (let i = 0, p = starts[l]; i < m; i++) {
        let s = w[bias + i];
        for (let j = 0; j < n; j++) s += w[p++] * from[j];
        to[i] = l + 1 < last ? Math.tanh(s) : s;
      }
    }
    return a[last];
  }

  /**
   * Add the gradient to g, from the derivatives d.at(-1) of the outputs that `forward` has left.
   * @param {ArrayLike<number>} w
   * @param {Vector} g
   */
  backward(w, g) {
    const { a, d, widths, starts } = this;
    for (let l = widths.length - 2; l >= 0; l--) {
      const from = a[l];
      const delta = d[l + 1];
      const below = d[l];
      const n = widths[l];
      const m = widths[l + 1];
      const bias = starts[l] + n * m;
      below.fill(0);
      for (let i = 0, p = starts[l]; i < m; i++) {
        const e = delta[i];
        g[bias + i] += e;
        for (let j = 0; j < n; j++, p++) {
          g[p] += e * from[j];
          below[j] += e * w[p];
        }
      }
      if (l > 0) for (let j = 0; j < n; j++) below[j] *= 1 - from[j] * from[j];
    }
  }
}

const HALF_LOG_2PI = 0.5 * Math.log(2 * Math.PI);

/**
 * The mean loss of a network on points: cross entropy of classes, or with a noise the negative log
 * likelihood of the targets of a regression with one output.
 * @param {Network} network
 * @param {Points} points
 * @returns {Loss}
 */
export function networkLoss(network, { x, y, noise }) {
  const n = y.length;
  const { widths, d } = network;
  const wide = widths[0];
  const classes = widths[widths.length - 1];
  const delta = d[d.length - 1];
  return {
    dim: network.dim,
    both(w, g) {
      if (g) g.fill(0);
      let value = 0;
      for (let i = 0; i < n; i++) {
        const out = network.forward(w, x, i * wide);
        if (noise) {
          const r = (out[0] - y[i]) / noise;
          value += 0.5 * r * r + Math.log(noise) + HALF_LOG_2PI;
          delta[0] = r / noise / n;
        } else {
          let most = -Infinity;
          let sum = 0;
          for (let c = 0; c < classes; c++) most = Math.max(most, out[c]);
          for (let c = 0; c < classes; c++) {
            delta[c] = Math.exp(out[c] - most);
            sum += delta[c];
          }
          value += most + Math.log(sum) - out[y[i]];
          for (let c = 0; c < classes; c++) delta[c] = (delta[c] / sum - (c === y[i] ? 1 : 0)) / n;
        }
        if (g) network.backward(w, g);
      }
      return value / n;
    },
  };
}
