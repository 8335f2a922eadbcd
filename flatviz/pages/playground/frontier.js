// What the experiment `frontier` found on a trained network, as a picture: curvature and test
// scores against training loss, VI along its temperature, SA-BMA along its radius.
import { element } from "../front/elements.js";
import { FINDING } from "./finding.js";
import { Labels } from "./labels.js";
import { colorOf, inks, symbol, two, words } from "./ink.js";
import { Board } from "./ui.js";

/** @import { Look, Pen, Scale } from "./types.d.ts" */

/**
 * @typedef {number[]} Row T or radius, training loss, λ1, NLL, ECE, half widths of the last three
 */
/**
 * @typedef {{ x: number, y: number, low: number, high: number }} Place In the picture, with the
 *   ends of its bar
 */

/**
 * A panel: its column of the rows, and the ticks of its axis.
 * @typedef {{ title: string, at: number, ticks: number[] }} Panel
 */

/** @type {Panel[]} */
const PANELS = [
  { title: "curvature λ₁", at: 2, ticks: [1, 1.5, 2, 2.5, 3] },
  { title: "NLL on test digits", at: 3, ticks: [0.54, 0.55, 0.56, 0.57, 0.58] },
  { title: "ECE on test digits", at: 4, ticks: [0.04, 0.06, 0.08, 0.1] },
];
const LOSSES = [0.02, 0.05, 0.1, 0.2];
const FULL = 2 * Math.PI;
const HALF = 3; // columns from a value to the half width of its interval
const CAP = 4; // px, half the width of a bar's end
/** Where the sliders over its fits stop. */
export const STOPS = {
  T: FINDING.vi.map(([T]) => T),
  radius: FINDING.sabma.map(([radius]) => radius),
};

/**
 * The row of VI at this temperature, or of SA-BMA at this radius.
 * @param {"vi" | "sabma"} method
 * @param {number} value
 */
export const rowOf = (method, value) =>
  FINDING[method].find(([at]) => at === value) ?? FINDING[method][0];

/** From values to 0 .. 1, with room at both ends. @param {number[]} values */
const spanOf = (values, log = false) => {
  const of = (/** @type {number} */ v) => (log ? Math.log(v) : v);
  const low = Math.min(...values.map(of));
  const high = Math.max(...values.map(of));
  const room = 0.09 * (high - low);
  return (/** @type {number} */ v) => (of(v) - low + room) / (high - low + 2 * room);
};

/** The picture of the experiment, and which of its fits are marked. */
export class Frontier {
  T = FINDING.T;
  radius = 1;
  open = false; // whether VI is shown at every temperature

  constructor() {
    this.board = new Board((pen, width, height) => this.draw(pen, width, height), {
      ratio: 0.36,
      label: "",
      least: 276,
    });
    this.message = element("p", { class: "pg-message" });
    this.node = element("div", { class: "pg-frontier" }, this.message, this.board.node);
  }

  /**
   * Show other fits.
   * @param {{ T?: number, radius?: number, open?: boolean }} change
   */
  show(change) {
    const { T: wanted = this.T, radius = this.radius, open = this.open } = change;
    this.T = wanted;
    this.radius = radius;
    this.open = open;
    const { T, seeds } = FINDING;
    const found = this.open ? "A lower temperature does most of what the radius does." : "";
    const bars = `95 % bars: difference from VI, T = ${T}`;
    this.message.replaceChildren(element("b", {}, found), ` ${seeds} seeds; ${bars}.`);
    this.board.draw();
    this.board.say(this.sentence());
  }

  /** Both chosen fits in numbers. */
  sentence() {
    const of = (/** @type {Row} */ [, , lambda, nll]) =>
      `λ₁ ${lambda.toFixed(2)}, NLL ${nll.toFixed(3)}`;
    return (
      `SA-BMA at radius ${this.radius}: ${of(rowOf("sabma", this.radius))}. ` +
      `VI at T = ${this.T}: ${of(rowOf("vi", this.T))}.`
    );
  }

  /**
   * Draw as many panels as there is room for.
   * @param {Pen} pen
   * @param {number} width
   * @param {number} height
   */
  draw(pen, width, height) {
    const shown = PANELS.slice(0, width < 520 ? 1 : width < 800 ? 2 : 3);
    const wide = width / shown.length;
    shown.forEach((panel, i) => this.drawPanel(pen, panel, i * wide, wide, height));
  }

  /**
   * Draw a score of both methods against training loss.
   * @param {Pen} pen
   * @param {Panel} panel
   * @param {number} left
   * @param {number} wide
   * @param {number} height
   */
  drawPanel(pen, panel, left, wide, height) {
    const { vi, sabma } = FINDING;
    const rows = [...vi, ...sabma];
    const barOf = (/** @type {Row} */ row) =>
      [-1, 0, 1].map((side) => row[panel.at] + side * row[panel.at + HALF]);
    const losses = rows.map((row) => row[1]);
    const x = spanOf(losses, true);
    const y = spanOf(rows.flatMap(barOf));
    const box = { from: left + 40, to: left + wide - 14, top: 38, bottom: height - 42 };
    const X = (/** @type {number} */ value) => box.from + (box.to - box.from) * x(value);
    const Y = (/** @type {number} */ value) => box.bottom - (box.bottom - box.top) * y(value);
    drawAxes(pen, panel, box, X, Y);
    const placeOf = (/** @type {Row} */ row) => {
      const [low, middle, high] = barOf(row).map(Y);
      return { x: X(row[1]), y: middle, low, high };
    };
    const labels = new Labels(pen, left + wide, box.bottom, box.from);
    if (this.open) drawLine(pen, vi.map(placeOf), "vi", labels);
    drawLine(pen, sabma.map(placeOf), "sabma", labels);
    const here = placeOf(rowOf("vi", this.T));
    const there = placeOf(rowOf("sabma", this.radius));
    symbol(pen, "square", here.x, here.y, 7, colorOf("vi"));
    symbol(pen, "circle", there.x, there.y, 7, colorOf("sabma"));
    const bold = { weight: 700, size: 14 };
    const named = `SA-BMA, radius ${this.radius}`;
    labels.put(named, there.x + 12, there.y + 20, { ...bold, color: colorOf("sabma") });
    /** @type {Look} */
    const beside = { ...bold, color: colorOf("vi"), align: "right" };
    labels.put(`VI, T = ${this.T}`, here.x - 10, here.y - 20, beside);
    if (!this.open) return;
    /** @type {Look} */
    const above = { color: colorOf("vi"), align: "center" };
    for (const row of [vi[0], vi[vi.length - 1]]) {
      const end = placeOf(row);
      if (row[0] !== this.T) labels.put(`T = ${row[0]}`, end.x, end.high - 14, above);
    }
  }

  /** What the row of numbers below shows: [method, NLL, λ1]. */
  get numbers() {
    return [
      { method: "vi", row: rowOf("vi", this.T) },
      { method: "sabma", row: rowOf("sabma", this.radius) },
    ].map(({ method, row }) => ({
      method,
      nll: two(row[3]),
      lambda: two(row[2]),
    }));
  }
}

/**
 * Draw the title of a panel, its axes and their ticks.
 * @param {Pen} pen
 * @param {Panel} panel
 * @param {{ from: number, to: number, top: number, bottom: number }} box
 * @param {Scale} X
 * @param {Scale} Y
 */
function drawAxes(pen, { title, ticks }, { from, to, top, bottom }, X, Y) {
  const ink = inks();
  for (const tick of ticks) {
    const at = Y(tick);
    if (at < top || at > bottom) continue;
    pen.lineWidth = 1;
    pen.strokeStyle = ink.line;
    pen.beginPath();
    pen.moveTo(from, at);
    pen.lineTo(to, at);
    pen.stroke();
    words(pen, String(tick), from - 6, at, { color: ink.soft, size: 12, align: "right" });
  }
  for (const tick of LOSSES) {
    const at = X(tick);
    if (at < from) continue;
    words(pen, String(tick), at, bottom + 14, { color: ink.soft, size: 12, align: "center" });
  }
  words(pen, title, from, 14, { weight: 600, size: 14, halo: false });
  /** @type {Look} */
  const look = { color: ink.soft, size: 12.5, align: "center" };
  words(pen, "training loss (nats)", (from + to) / 2, bottom + 31, look);
}

/**
 * Draw a method's fits as a line with bars; labels keep away from it.
 * @param {Pen} pen
 * @param {Place[]} places
 * @param {string} method
 * @param {Labels} labels
 */
function drawLine(pen, places, method, labels) {
  const color = colorOf(method);
  pen.strokeStyle = color;
  pen.fillStyle = color;
  pen.lineWidth = method === "vi" ? 2 : 3.2;
  pen.setLineDash(method === "vi" ? [7, 5] : []);
  pen.beginPath();
  for (const { x, y } of places) pen.lineTo(x, y);
  pen.stroke();
  pen.setLineDash([]);
  pen.lineWidth = 1.5;
  places.forEach(({ x, y, low, high }, i) => {
    pen.beginPath();
    pen.arc(x, y, 3, 0, FULL);
    pen.fill();
    pen.beginPath();
    pen.moveTo(x, low);
    pen.lineTo(x, high);
    for (const end of [low, high]) {
      pen.moveTo(x - CAP, end);
      pen.lineTo(x + CAP, end);
      labels.avoid(x, end, 5);
    }
    pen.stroke();
    const before = places[Math.max(0, i - 1)];
    for (const t of [0.25, 0.5, 0.75, 1])
      labels.avoid(before.x + t * (x - before.x), before.y + t * (y - before.y), 4);
  });
}
