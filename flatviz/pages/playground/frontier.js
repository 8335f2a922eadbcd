// What the experiment `frontier` found on a trained network, as a picture: curvature and test
// scores against training loss, VI along its temperature, SA-BMA along its radius.
import { element } from "../front/elements.js";
import { FINDING } from "./finding.js";
import { Labels } from "./labels.js";
import { colorOf, inks, symbol, two, words } from "./ink.js";
import { Board } from "./ui.js";

/** @typedef {number[]} Row T or radius, training loss, λ1, NLL, ECE, half widths of the last three */
/** @typedef {{ x: number, y: number, low: number, high: number }} Place In the picture, with the ends of its bar */

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

/** The row of VI at this temperature, or of SA-BMA at this radius. @param {number} value */
export const rowOf = (/** @type {"vi" | "sabma"} */ method, value) =>
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

  /** @param {Partial<Frontier>} change */
  show(change) {
    Object.assign(this, change);
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

  /** @param {CanvasRenderingContext2D} pen */
  draw(pen, /** @type {number} */ width, /** @type {number} */ height) {
    const shown = PANELS.slice(0, width < 520 ? 1 : width < 800 ? 2 : 3);
    const wide = width / shown.length;
    shown.forEach((panel, i) => this.drawPanel(pen, panel, i * wide, wide, height));
  }

  /** @param {CanvasRenderingContext2D} pen @param {(typeof PANELS)[0]} panel */
  drawPanel(
    pen,
    panel,
    /** @type {number} */ left,
    /** @type {number} */ wide,
    /** @type {number} */ height,
  ) {
    const ink = inks();
    const { vi, sabma } = FINDING;
    const rows = [...vi, ...sabma];
    const x = spanOf(
      rows.map((row) => row[1]),
      true,
    );
    const barOf = (/** @type {Row} */ row) =>
      [-1, 0, 1].map((side) => row[panel.at] + side * row[panel.at + HALF]);
    const y = spanOf(rows.flatMap(barOf));
    const [from, to, top, bottom] = [left + 40, left + wide - 14, 38, height - 42];
    const X = (/** @type {Row} */ row) => from + (to - from) * x(row[1]);
    const placed = (/** @type {number} */ value) => bottom - (bottom - top) * y(value);
    const Y = (/** @type {Row} */ row) => placed(row[panel.at]);
    const placeOf = (/** @type {Row} */ row) => {
      const [low, middle, high] = barOf(row).map(placed);
      return { x: X(row), y: middle, low, high };
    };
    const labels = new Labels(pen, left + wide, bottom, from);
    for (const tick of panel.ticks) {
      const at = placed(tick);
      if (at < top || at > bottom) continue;
      pen.lineWidth = 1;
      pen.strokeStyle = ink.line;
      pen.beginPath();
      pen.moveTo(from, at);
      pen.lineTo(to, at);
      pen.stroke();
      words(pen, String(tick), from - 6, at, {
        color: ink.soft,
        size: 12,
        align: "right",
      });
    }
    for (const tick of LOSSES) {
      const at = from + (to - from) * x(tick);
      if (at < from) continue;
      words(pen, String(tick), at, bottom + 14, {
        color: ink.soft,
        size: 12,
        align: "center",
      });
    }
    words(pen, panel.title, from, 14, { weight: 600, size: 14, halo: false });
    const axis = "training loss (nats)";
    words(pen, axis, (from + to) / 2, bottom + 31, {
      color: ink.soft,
      size: 12.5,
      align: "center",
    });
    if (this.open) this.line(pen, vi, placeOf, "vi", labels);
    this.line(pen, sabma, placeOf, "sabma", labels);
    const [here, there] = [rowOf("vi", this.T), rowOf("sabma", this.radius)];
    symbol(pen, "square", X(here), Y(here), 7, colorOf("vi"));
    symbol(pen, "circle", X(there), Y(there), 7, colorOf("sabma"));
    const bold = { weight: 700, size: 14 };
    labels.put(`SA-BMA, radius ${this.radius}`, X(there) + 12, Y(there) + 20, {
      ...bold,
      color: colorOf("sabma"),
    });
    const named = {
      ...bold,
      color: colorOf("vi"),
      align: /** @type {"right"} */ ("right"),
    };
    labels.put(`VI, T = ${this.T}`, X(here) - 10, Y(here) - 20, named);
    if (!this.open) return;
    for (const row of [vi[0], vi[vi.length - 1]]) {
      const { x, high } = placeOf(row);
      const look = { color: colorOf("vi"), align: /** @type {"center"} */ ("center") };
      if (row[0] !== this.T) labels.put(`T = ${row[0]}`, x, high - 14, look);
    }
  }

  /** @param {CanvasRenderingContext2D} pen @param {Row[]} rows @param {Labels} labels */
  line(
    pen,
    rows,
    /** @type {(row: Row) => Place} */ placeOf,
    /** @type {string} */ method,
    labels,
  ) {
    const places = rows.map(placeOf);
    pen.strokeStyle = pen.fillStyle = colorOf(method);
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
