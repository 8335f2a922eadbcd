// The charts below the grounds: a section of the loss, curves against steps, and what runs end at.
import { CHAIN, expected, GAUSSIAN, integral, kl, pointStep, worst } from "./engine.js";
import { WIDE } from "./grounds.js";
import { LENGTH } from "./model.js";
import { histogram, lossOf } from "./sweep.js";
import { colorOf, inks, symbol, symbolOf, words } from "./ink.js";
import { traceChart } from "./traces.js";
import { places } from "./verdicts.js";

/** @import { Gaussian, Pen, Scale } from "./types.d.ts" */
/** @import { Learner } from "./learner.js" */
/** @import { Model } from "./model.js" */

const ARROWS = 25;
const CUTS = 240;
const ROW = 17; // px, of the arrows of a method
const QUANTILES = [-1.2816, -0.5244, 0, 0.5244, 1.2816]; // of a standard normal at 1/10, 3/10, ...
const EVEN = QUANTILES.flatMap((a) => QUANTILES.map((b) => Float64Array.of(a, b)));

/**
 * Which way a method's expected step moves the mean along the section, at its widths of now.
 * @param {Model} model
 * @param {string} method
 * @param {Learner} learner
 * @param {number} y
 */
function driftOf({ loss }, method, { q, prior, settings }, y) {
  const span = WIDE[1] - WIDE[0];
  return Array.from({ length: ARROWS }, (_, i) => {
    const x = WIDE[0] + (span * i) / (ARROWS - 1);
    const at = { mean: Float64Array.of(x, y), logStd: q.logStd };
    if (!GAUSSIAN[method]) {
      const radius = method === "sam" ? settings.radius : 0;
      const how = { ...settings, rate: 1, radius };
      return [x, -pointStep(loss, at.mean.slice(), new Float64Array(2), prior, how).there[0]];
    }
    const g = expected(loss, at, EVEN);
    const ascends = method === "sabma" && settings.radius;
    const there = ascends ? expected(loss, worst(at, g, settings.radius).there, EVEN) : g;
    return [x, -there.mean[0] - settings.T * kl(at, prior).mean[0]];
  });
}

/**
 * Draw the loss along w1 through the mean of the chosen method, with the posteriors above it.
 * @param {Model} model
 * @param {Pen} pen
 * @param {number} width
 * @param {number} height
 */
export function drawSection(model, pen, width, height) {
  const main = model.runs.get("sabma") ?? model.runs.values().next().value;
  if (!main) return;
  const y = main.learner.q.mean[1];
  const runs = [...model.runs].filter(([method]) => !CHAIN[method]);
  const bottom = height - ROW * runs.length - 8;
  const span = 1.4 * model.world.top;
  const cut = {
    X: (/** @type {number} */ x) => ((x - WIDE[0]) / (WIDE[1] - WIDE[0])) * width,
    Y: (/** @type {number} */ v) => bottom - (bottom - 40) * Math.min(1, (v + 0.07 * span) / span),
    at: (/** @type {number} */ x) => model.loss.both([x, y], null),
  };
  drawCut(pen, cut, bottom);
  const color = inks().soft;
  words(pen, "loss along w₁, cut through the mean", 2, 10, { color, halo: false });
  words(pen, "arrows: where a step moves the mean", 2, 26, { color });
  for (const [method, { learner }] of model.runs)
    drawPosterior(pen, cut, method, learner.q, integral(model.loss, learner.q));
  runs.forEach(([method, { learner }], row) => {
    pen.fillStyle = colorOf(method);
    const drift = driftOf(model, method, learner, y);
    drawArrows(pen, drift, cut.X, bottom + 14 + ROW * row);
  });
}

/**
 * A cut through a ground: weights and losses to pixels, and the loss at a weight.
 * @typedef {{ X: Scale, Y: Scale, at: (x: number) => number }} Cut
 */

/**
 * Draw the loss of a cut as a hill.
 * @param {Pen} pen
 * @param {Cut} cut
 * @param {number} bottom
 */
function drawCut(pen, { X, Y, at }, bottom) {
  const ink = inks();
  pen.beginPath();
  pen.moveTo(X(WIDE[0]), bottom);
  for (let i = 0; i <= CUTS; i++) {
    const x = WIDE[0] + ((WIDE[1] - WIDE[0]) * i) / CUTS;
    pen.lineTo(X(x), Y(at(x)));
  }
  pen.lineTo(X(WIDE[1]), bottom);
  pen.fillStyle = `rgb(${ink.high.join()})`;
  pen.globalAlpha = 0.75;
  pen.fill();
  pen.globalAlpha = 1;
  pen.lineWidth = 1.5;
  pen.strokeStyle = ink.soft;
  pen.stroke();
}

/**
 * Draw a method's mean on a cut; of a Gaussian also its width, at the loss that it expects.
 * @param {Pen} pen
 * @param {Cut} cut
 * @param {string} method
 * @param {Gaussian} q
 * @param {number} loss
 */
function drawPosterior(pen, { X, Y, at }, method, { mean, logStd }, loss) {
  const color = colorOf(method);
  const [x] = mean;
  const here = Y(at(x));
  if (GAUSSIAN[method]) {
    const wide = 2 * Math.exp(logStd[0]);
    const high = Y(loss);
    pen.strokeStyle = color;
    pen.lineWidth = 3;
    pen.beginPath();
    pen.moveTo(X(x - wide), high);
    pen.lineTo(X(x + wide), high);
    pen.stroke();
    pen.lineWidth = 1.3;
    pen.beginPath();
    pen.moveTo(X(x), high);
    pen.lineTo(X(x), here);
    pen.stroke();
  }
  symbol(pen, symbolOf(method), X(x), here, 4.5, color);
}

/**
 * Draw arrows in a row.
 * @param {Pen} pen
 * @param {number[][]} drift of each its place and how far it moves
 * @param {Scale} X
 * @param {number} at
 */
function drawArrows(pen, drift, X, at) {
  for (const [x, move] of drift) {
    const size = 4 * Math.tanh(Math.abs(move) * 4) + 1;
    const way = Math.sign(move) * size;
    pen.beginPath();
    pen.moveTo(X(x) + way, at);
    pen.lineTo(X(x) - way, at - size);
    pen.lineTo(X(x) - way, at + size);
    pen.fill();
  }
}

/**
 * Loss, curvature and KL against steps.
 * @param {Model} model
 * @param {Pen} pen
 * @param {number} width
 * @param {number} height
 */
export function drawTraces(model, pen, width, height) {
  /** @type {[string, "test" | "lambda" | "kl", number][]} */
  const charts = [
    ["loss: training thin, test thick", "test", 0.46],
    ["λ₁, sharpest curvature at the mean", "lambda", 0.27],
    ["KL(q ‖ prior), in nats", "kl", 0.27],
  ];
  let top = 0;
  for (const [title, key, share] of charts) {
    const lines = [...model.runs].flatMap(([method, run]) => {
      const line = { color: colorOf(method), x: run.x, y: run[key] };
      return key === "test" ? [{ ...line, y: run.train, thin: true }, line] : [line];
    });
    const known = lines.filter((line) => line.y.some(Number.isFinite));
    traceChart(pen, 0, top, width, share * height - 6, title, known, { most: LENGTH });
    top += share * height;
  }
}

/**
 * After many seeds their histogram; after a run temperatures and radii.
 * @param {Model} model
 * @param {Pen} pen
 * @param {number} width
 * @param {number} height
 */
export function drawEnds(model, pen, width, height) {
  if (model.ends.length) {
    const methods = [...new Set(model.ends.map((end) => end.method))];
    const rows = methods.map((method) => {
      const ends = model.ends.filter((end) => end.method === method);
      const values = ends.map((end) => (end.lost ? NaN : lossOf(model.test, end)));
      return { method, where: places(model, ends), values };
    });
    histogram(pen, width, height, rows);
  } else if (model.sweep) {
    const { viT, radius } = model.settings;
    model.sweep.draw(pen, width, height, model.test, { T: viT, radius });
  } else {
    const text = "after a run: temperature beside radius";
    words(pen, text, 2, 10, { color: inks().soft, halo: false });
  }
}
