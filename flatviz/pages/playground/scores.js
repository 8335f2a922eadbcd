// Predictions of an ensemble and their scores.
import { zeros } from "./random.js";

/** @import { Vector } from "./types.d.ts" */

/**
 * Write the probabilities of these outputs into `into`, from its place `at` on.
 * @param {Vector | number[]} out
 * @param {Vector | number[]} into
 * @param {number} at
 */
export function softmax(out, into, at) {
  let most = -Infinity;
  let sum = 0;
  for (const o of out) most = Math.max(most, o);
  for (let c = 0; c < out.length; c++) {
    into[at + c] = Math.exp(out[c] - most);
    sum += into[at + c];
  }
  for (let c = 0; c < out.length; c++) into[at + c] /= sum;
}

/**
 * Class probabilities of the points x, averaged over an ensemble of weights: a row for each point.
 * @param {import("./losses.js").Network} network
 * @param {Vector[]} W
 * @param {Vector} x
 */
export function averaged(network, W, x) {
  const wide = network.widths[0];
  const classes = network.widths[network.widths.length - 1];
  const n = x.length / wide;
  const mean = zeros(n * classes);
  const one = zeros(n * classes);
  for (const w of W) {
    for (let i = 0; i < n; i++) softmax(network.forward(w, x, i * wide), one, i * classes);
    for (let i = 0; i < mean.length; i++) mean[i] += one[i] / W.length;
  }
  return mean;
}

/**
 * The mean negative log probability of the labels.
 * @param {Vector} probs
 * @param {number[]} y
 */
export function nllScore(probs, y) {
  const classes = probs.length / y.length;
  return (
    y.reduce((s, label, i) => s - Math.log(Math.max(probs[i * classes + label], 1e-300)), 0) /
    y.length
  );
}

/**
 * The share of points whose label has the largest probability.
 * @param {Vector} probs
 * @param {number[]} y
 */
export function accuracy(probs, y) {
  const classes = probs.length / y.length;
  return (
    y.filter((label, i) => {
      for (let c = 0; c < classes; c++)
        if (probs[i * classes + c] > probs[i * classes + label]) return false;
      return true;
    }).length / y.length
  );
}

/**
 * Expected calibration error over bins (i/B, (i+1)/B] of the largest probability.
 * @param {Vector} probs
 * @param {number[]} y
 */
export function ece(probs, y, bins = 15) {
  const classes = probs.length / y.length;
  const gap = zeros(bins);
  y.forEach((label, i) => {
    let best = 0;
    for (let c = 1; c < classes; c++)
      if (probs[i * classes + c] > probs[i * classes + best]) best = c;
    const confidence = probs[i * classes + best];
    const bin = Math.min(bins - 1, Math.max(0, Math.ceil(confidence * bins) - 1));
    gap[bin] += (best === label ? 1 : 0) - confidence;
  });
  return gap.reduce((s, x) => s + Math.abs(x), 0) / y.length;
}
