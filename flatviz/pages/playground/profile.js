// The loss along the ascent of a step, as a chart beside its ground.
import { expected, plus } from "./engine.js";
import { colorOf, inks, symbol, two, words } from "./ink.js";

/** @import { OneStep, Pen } from "./types.d.ts" */

const FAR = 1.4; // times the ascent
const POINTS = 41;
const APART = 14; // px, between two labels

/**
 * Draw the loss that q + t Δ expects, and the straight line that the first order promises.
 * @param {OneStep} step
 * @param {Pen} pen
 * @param {number} width
 * @param {number} height
 * @param {boolean} ascended whether the loss at q′ is marked
 */
export function drawProfile({ loss, noise, record, slope }, pen, width, height, ascended) {
  const { ink, soft } = inks();
  const { from, delta, g, worst } = record;
  const small = { color: soft, size: 12.5, halo: false };
  words(pen, "loss along the ascent from q (0) to q′ (1)", 2, 10, small);
  if (!delta || !worst) {
    const look = { align: /** @type {"center"} */ ("center"), halo: false };
    words(pen, "radius 0: no ascent", width / 2, height / 2, look);
    return;
  }
  const along = Array.from({ length: POINTS }, (_, i) => (i / (POINTS - 1)) * FAR);
  const values = along.map((t) => {
    const mean = plus(from.mean, delta.mean, t);
    const logStd = plus(from.logStd, delta.logStd, t);
    return expected(loss, { mean, logStd }, noise).value;
  });
  const line = along.map((t) => g.value + t * slope);
  const low = Math.min(...values, ...line);
  const high = Math.max(...values, ...line);
  const X = (/** @type {number} */ t) => 8 + ((width - 70) * t) / FAR;
  const Y = (/** @type {number} */ v) =>
    height - 22 - ((height - 52) * (v - low)) / Math.max(high - low, 1e-9);
  const curve = (
    /** @type {number[]} */ ys,
    /** @type {string} */ color,
    /** @type {number[]} */ dash,
  ) => {
    pen.beginPath();
    ys.forEach((v, i) => pen.lineTo(X(along[i]), Y(v)));
    pen.strokeStyle = color;
    pen.lineWidth = 2.2;
    pen.setLineDash(dash);
    pen.stroke();
    pen.setLineDash([]);
  };
  curve(line, colorOf("vi"), [4, 5]);
  curve(values, ink, []);
  const [promised, came] = [line, values].map((ys) => Y(ys[POINTS - 1]));
  const beside = promised + (came < promised ? -1 : 1) * (APART + 1);
  words(pen, "slope g", X(FAR) + 6, promised, { color: colorOf("vi"), size: 12.5 });
  const at = Math.abs(came - promised) < APART ? beside : came;
  words(pen, "loss", X(FAR) + 6, at, { size: 12.5 });
  const mark = (/** @type {number} */ t, /** @type {number} */ v, /** @type {string} */ color) => {
    symbol(pen, "circle", X(t), Y(v), 5, color);
    words(pen, two(v), X(t) + 4, Y(v) + APART, { size: 12.5, color });
  };
  mark(0, g.value, ink);
  if (ascended) mark(1, worst.value, colorOf("sam"));
}
