// The marks of a step on its ground: ellipses, arrows and their labels, as parts of an SVG.
import { drawing } from "../front/elements.js";
import { norm } from "./engine.js";
import { free } from "./labels.js";
import { colorOf, inks } from "./ink.js";

/** @import { Box } from "./labels.js" */
/** @import { Gaussian, OneStep, Vector, View } from "./types.d.ts" */

/** @typedef {Record<string, string | number>} Attributes */

const LETTER = 10; // px, of a label
const FAR = [0, 14, 26, 40, 56, 74]; // px, from where a label would stand
const WAYS = [-1, 0, 1].flatMap((dx) => [-1, 0, 1].map((dy) => [dx, dy]));
const HEAD = 11; // px, of an arrow
const CORNER = 0.72; // of the half axes: where a label stands at an ellipse
const LONGEST = 0.3; // of the picture, the longest gradient

/**
 * @param {number} x
 * @param {number} y
 * @param {number} r
 * @returns {Box}
 */
const around = (x, y, r) => [x - r, y - r, x + r, y + r];

/** The parts of an SVG that marks a step; labels come last, where there is room. */
class Marks {
  /** @type {{ into: SVGElement, x: number, y: number, text: string, color: string }[]} */
  labels = [];
  /** @type {Box[]} */
  taken = []; // by arrows and points

  /**
   * @param {SVGSVGElement} svg
   * @param {View} view
   */
  constructor(svg, view) {
    this.svg = svg;
    this.view = view;
  }

  /** The marks of a symbol of the sentence. @param {string} symbol */
  group(symbol) {
    const made = drawing("g", { "data-s": symbol });
    this.svg.append(made);
    return made;
  }

  /**
   * An ellipse of so many widths of a Gaussian.
   * @param {SVGElement} into
   * @param {Gaussian} q
   * @param {number} widths
   * @param {Attributes} more
   */
  ellipse(into, { mean, logStd }, widths, more) {
    const { X, Y, unit } = this.view;
    const [rx, ry] = [0, 1].map((i) => widths * Math.exp(logStd[i]) * unit);
    const at = { cx: X(mean[0]), cy: Y(mean[1]), rx, ry };
    into.append(drawing("ellipse", { ...at, fill: "none", "stroke-width": 2.4, ...more }));
  }

  /**
   * A point, with a rim.
   * @param {SVGElement} into
   * @param {Vector} mean
   * @param {number} r
   * @param {string} fill
   */
  point(into, mean, r, fill) {
    const at = { cx: this.view.X(mean[0]), cy: this.view.Y(mean[1]), r };
    into.append(drawing("circle", { ...at, fill, stroke: inks().paper, "stroke-width": 1.5 }));
  }

  /**
   * A label beside an ellipse: left or right of it, above or below.
   * @param {SVGElement} into
   * @param {Gaussian} q
   * @param {{ widths: number, way: number[], off: number[] }} place off: px
   * @param {string} text
   * @param {string} color
   */
  name(into, { mean, logStd }, { widths, way, off }, text, color) {
    const { X, Y, unit } = this.view;
    const [dx, dy] = [0, 1].map((i) => way[i] * widths * Math.exp(logStd[i]) * unit * CORNER);
    this.labels.push({
      into,
      x: X(mean[0]) + dx + off[0],
      y: Y(mean[1]) + dy + off[1],
      text,
      color,
    });
  }

  /**
   * An arrow by `by` pixels, with a label at its tip.
   * @param {SVGElement} into
   * @param {number[]} from
   * @param {number[]} by
   * @param {string} color
   * @param {string} text
   * @param {Attributes} more
   */
  arrow(into, [x, y], [dx, dy], color, text = "", more = {}) {
    const length = Math.hypot(dx, dy);
    const head = Math.min(HEAD, 0.6 * length);
    const [a, b] = length ? [dx / length, dy / length] : [0, 0];
    for (let i = 0; i <= 12; i++) this.taken.push(around(x + (dx * i) / 12, y + (dy * i) / 12, 5));
    const end = { x2: x + dx - a * head * 0.7, y2: y + dy - b * head * 0.7 };
    const look = { stroke: color, "stroke-width": 3.2, ...more };
    into.append(drawing("line", { x1: x, y1: y, ...end, ...look }));
    const corner = (/** @type {number} */ side) => {
      const [left, top] = [-b * side * 0.55, a * side * 0.55];
      return `${x + dx - a * head + left},${y + dy - b * head + top}`;
    };
    const path = `M${x + dx},${y + dy} L${corner(head)} L${corner(-head)} Z`;
    into.append(drawing("path", { d: path, fill: color }));
    if (!text) return;
    const at = { x: x + dx + 9 * a + (a < 0 ? -14 : 2), y: y + dy + 14 * b + 5 };
    this.labels.push({ into, ...at, text, color });
  }

  /**
   * Write the labels, each where there is room beside the others and the arrows.
   * @param {number} width
   * @param {number} height
   */
  write(width, height) {
    for (const { into, x, y, text, color } of this.labels) {
      const wide = LETTER * text.length;
      const boxes = FAR.flatMap((far) => WAYS.map(([dx, dy]) => [x + far * dx, y + far * dy])).map(
        ([left, base]) => /** @type {Box} */ ([left, base - 14, left + wide, base + 4]),
      );
      const box = free(boxes, this.taken, width, height);
      this.taken.push(box);
      into.append(drawing("text", { x: box[0], y: box[3] - 4, fill: color }, text));
    }
  }
}

/**
 * Draw everything that a step has up to its phase.
 * @param {SVGSVGElement} svg
 * @param {OneStep} step
 * @param {View} view
 * @param {number} phase
 */
export function drawMarks(svg, { record, settings, noise, after, plain }, view, phase) {
  const { X, Y, width, height } = view;
  const { from, g, there, worst } = record;
  const marks = new Marks(svg, view);
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.replaceChildren();
  const [green, blue, orange] = ["sabma", "vi", "sam"].map(colorOf);
  const { ink } = inks();
  const longest = Math.max(norm(g.mean), worst ? norm(worst.mean) : 0, 1e-9);
  const scale = (LONGEST * Math.min(width, height)) / longest; // one for all gradients
  const along = (/** @type {Gaussian} */ slope) => [slope.mean[0] * scale, -slope.mean[1] * scale];
  const at = (/** @type {Gaussian} */ q) => [X(q.mean[0]), Y(q.mean[1])];
  const to = (/** @type {Gaussian} */ q) => at(q).map((v, i) => v - at(from)[i]);

  if (phase >= 2) {
    const ball = marks.group("ball");
    const look = { stroke: orange, "stroke-width": 2, "stroke-dasharray": "3 6" };
    marks.ellipse(ball, from, settings.radius, look);
    marks.name(ball, from, { widths: settings.radius, way: [1, 1], off: [6, 12] }, "ball", orange);
  }
  const q = marks.group("q");
  marks.ellipse(q, from, 2, { stroke: ink, fill: ink, "fill-opacity": 0.07 });
  for (const z of noise) {
    const [cx, cy] = [0, 1].map((i) => from.mean[i] + Math.exp(from.logStd[i]) * z[i]);
    q.append(drawing("circle", { cx: X(cx), cy: Y(cy), r: 3.4, fill: ink }));
  }
  marks.point(q, from.mean, 6, ink);
  marks.name(q, from, { widths: 2, way: [-1, -1], off: [-20, -6] }, "q", ink);
  if (phase >= 3 && there && worst) {
    const mark = marks.group("worst");
    marks.ellipse(mark, there, 2, { stroke: orange, fill: orange, "fill-opacity": 0.08 });
    marks.arrow(mark, at(from), to(there), orange, "Δ");
    marks.point(mark, there.mean, 5, orange);
    marks.name(mark, there, { widths: 2, way: [-1, 1], off: [-26, 16] }, "q′", orange);
    if (phase >= 5) markDifference(marks, at(there), along(g), along(worst));
    if (phase >= 4) marks.arrow(marks.group("there"), at(there), along(worst), green, "g′");
  }
  if (phase >= 1) marks.arrow(marks.group("g"), at(from), along(g), blue, "g");
  if (phase >= 6) {
    const move = marks.group("move");
    marks.ellipse(move, after, 2, { stroke: green, "stroke-dasharray": "7 4" });
    marks.arrow(move, at(from), to(plain), blue, "", { "stroke-width": 2 });
    marks.arrow(move, at(from), to(after), green, "step");
  }
  for (const one of phase >= 3 && there ? [from, there] : [from]) {
    const [x, y] = at(one);
    marks.taken.push(around(x, y, 9));
  }
  marks.write(width, height);
}

/**
 * From the tip of g, carried over to q′, to the tip of g′.
 * @param {Marks} marks
 * @param {number[]} at
 * @param {number[]} g
 * @param {number[]} worst
 */
function markDifference(marks, [x, y], g, worst) {
  const diff = marks.group("diff");
  const purple = inks().truth;
  marks.arrow(diff, [x, y], g, colorOf("vi"), "", { "stroke-dasharray": "4 5" });
  const by = g.map((v, i) => worst[i] - v);
  marks.arrow(diff, [x + g[0], y + g[1]], by, purple);
  const [left, top] = [x + (g[0] + worst[0]) / 2 - 20, y + (g[1] + worst[1]) / 2 - 12];
  marks.labels.push({ into: diff, x: left, y: top, text: "g′ − g", color: purple });
}
