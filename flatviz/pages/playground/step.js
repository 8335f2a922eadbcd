// One step of SA-BMA at full width, one new object a phase: SVG over the ground, each symbol of the
// sentence linked to its mark.
import { isDark } from "../front/colors.js";
import { button, drawing, element } from "../front/elements.js";
import { atRest, copyOf, dot, sabmaStep, viStep } from "./engine.js";
import { drawMarks } from "./marks.js";
import { formulaOfStep, PHASES } from "./phases.js";
import { drawProfile } from "./profile.js";
import { levelLines, reliefOf, strokeLines, two } from "./ink.js";
import { Board, Slider } from "./ui.js";

/** @import { Gaussian, OneStep, Pen, View } from "./types.d.ts" */
/** @import { World } from "./world.js" */
/** @import { Model } from "./model.js" */

/**
 * @typedef {{ key: string, rows: number, share: Float64Array }} Relief Loss on a grid, from 0 to 1
 */

const DRAWS = 4;
const COLUMNS = 121; // of the grid of the ground
const LEVELS = 14; // of its lines
const ROOM = 1.12; // around what is drawn

/**
 * The step that follows where SA-BMA stands in this model, or from this q.
 * @param {Model} model
 * @param {Gaussian} [from]
 * @returns {OneStep}
 */
function stepOf(model, from) {
  const { loss } = model;
  const run = model.runs.get("sabma")?.learner ?? model.learner("sabma", model.seed);
  const after = from ?? copyOf(run.q);
  const { prior } = run;
  const { radius, T, rate } = model.settings;
  const settings = { ...run.settings, radius, T, rate };
  const noise = model.noise.slice(0, DRAWS);
  const record = sabmaStep(loss, after, atRest(2), prior, noise, settings);
  const plain = copyOf(record.from);
  viStep(loss, plain, atRest(2), prior, noise, settings);
  const { g, delta } = record;
  const slope = delta ? dot(g.mean, delta.mean) + dot(g.logStd, delta.logStd) : 0;
  return { loss, noise, settings, record, after, plain, slope };
}

/** The symbol of the mark that an event is about. @param {Event} event */
const symbolAt = ({ target }, within = "") =>
  target instanceof Element
    ? target.closest(`${within}[data-s]`)?.getAttribute("data-s")
    : undefined;

/** One step of SA-BMA in a big picture, phase by phase. */
export class StepView {
  phase = 0;
  /** @type {Relief | null} */
  relief = null;

  /** @param {World} world */
  constructor(world) {
    this.world = world;
    this.step = stepOf(world.model);
    this.ground = new Board((pen, w, h) => this.drawGround(pen, w, h), {
      ratio: 0.86,
      label: "",
      least: 260,
      most: 540,
    });
    this.svg = drawing("svg", { "aria-hidden": true });
    this.ground.node.append(this.svg);
    this.profile = new Board((pen, w, h) => drawProfile(this.step, pen, w, h, this.phase >= 3), {
      ratio: 0.5,
      label: "",
      least: 180,
      most: 260,
    });
    this.text = element("p", { class: "pg-verdict", role: "status" });
    const stops = PHASES.map((_, i) => i);
    const say = (/** @type {number} */ i) => `${i + 1} of ${PHASES.length}`;
    this.slider = new Slider("phase", stops, 0, (at) => this.go(at), { say });
    this.budget = element("div", { class: "pg-budget", role: "img" });
    this.node = this.build();
    this.listen();
    this.go(0);
  }

  /** The pictures with their controls. */
  build() {
    const next = button("Next", "the next phase", () => this.next(), { class: "pg-play" });
    const back = button("Back", "the phase before", () => this.go(Math.max(0, this.phase - 1)));
    const words = element("div", {}, formulaOfStep(), this.budget);
    return element(
      "section",
      { class: "pg-step", "aria-label": "one step of SA-BMA" },
      this.ground.node,
      element("div", { class: "pg-row" }, next, back, this.slider.node),
      this.text,
      element("div", { class: "pg-below" }, words, this.profile.node),
    );
  }

  /** Follow the world above, and light the marks of a symbol that is pointed at. */
  listen() {
    const { node } = this;
    this.world.still.push(() => this.take());
    node.addEventListener("pointerover", (e) => this.light(symbolAt(e)));
    node.addEventListener("pointerleave", () => this.light());
    node.addEventListener("focusin", (e) => this.light(symbolAt(e)));
    node.addEventListener("click", (e) => {
      const symbol = symbolAt(e, ".pg-formula ");
      if (!symbol) return;
      this.reveal(symbol);
      this.light(symbol);
    });
  }

  /**
   * Take the step that follows where SA-BMA stands in the world above, or from this q.
   * @param {Gaussian} [from]
   */
  take(from) {
    this.step = stepOf(this.world.model, from);
    this.relief = null;
    this.go(from ? 0 : this.phase);
  }

  /** To the next phase, or the next step. */
  next() {
    if (this.phase < PHASES.length - 1) this.go(this.phase + 1);
    else this.take(this.step.after);
  }

  /** To a phase. @param {number} phase */
  go(phase) {
    this.phase = phase;
    this.slider.value = phase;
    this.text.textContent = `${phase + 1}. ${PHASES[phase][1]}`;
    this.recolor();
  }

  /** Draw and say what is shown, in the colours of now. */
  recolor() {
    this.ground.draw();
    this.profile.draw();
    this.tellBudget();
    const { record, slope } = this.step;
    const { g, worst } = record;
    const promised = two(g.value + slope);
    const along = worst
      ? `: ${two(g.value)} at q, ${two(worst.value)} at q′, ${promised} by the straight line of slope g`
      : "; there is none at radius 0";
    this.profile.say(`The loss along the ascent from q${along}.`);
    const there = worst
      ? `, that q′ expects ${two(worst.value)}.`
      : "; the radius is 0, so that there is no q′.";
    const text = `One step of SA-BMA on the ground. ${this.text.textContent}`;
    this.ground.say(`${text} Loss that q expects ${two(g.value)}${there}`);
  }

  /** To the phase in which this symbol is new, if it is still to come. @param {string} symbol */
  reveal(symbol) {
    const at = PHASES.findIndex(([name]) => name === symbol);
    if (at > this.phase) this.go(at);
  }

  /** Light the marks of a symbol, or none. @param {string | null} [symbol] */
  light(symbol) {
    this.node.classList.toggle("pg-some", Boolean(symbol));
    for (const mark of this.node.querySelectorAll("[data-s]"))
      mark.classList.toggle("pg-lit", mark.getAttribute("data-s") === symbol);
  }

  /** Show how the radius was spent. */
  tellBudget() {
    const { record, settings } = this.step;
    const { share } = record;
    const hidden = this.phase < 3 || share === undefined;
    this.budget.hidden = hidden;
    if (hidden) return;
    const percent = (/** @type {number} */ x) => `${Math.round(100 * x)} %`;
    const text =
      `${percent(share)} of radius² went into the means, ${percent(1 - share)} into the widths: ` +
      `the mean of q′ lies at √${share.toFixed(2)} = ${percent(Math.sqrt(share))} of the way to ` +
      "the edge.";
    this.budget.setAttribute("aria-label", text);
    const means = { style: `width:${100 * share}%` };
    const widths = { style: `width:${100 * (1 - share)}%` };
    const bar = element(
      "div",
      { class: "pg-bar" },
      element("i", means, share > 0.25 ? "means" : ""),
      element("b", widths, share < 0.75 ? "widths" : ""),
    );
    this.budget.replaceChildren(bar, element("p", {}, `Radius ${settings.radius}. `, text));
  }

  // ---- the picture

  /**
   * Weights to pixels, so that q, the ball and q′ fill the box.
   * @param {number} width
   * @param {number} height
   * @returns {View}
   */
  view(width, height) {
    const { record, settings } = this.step;
    const { from, there } = record;
    const widths = Math.max(2.1, settings.radius + 0.3);
    const [across, up] = [0, 1].map((i) => {
      const own = widths * Math.exp(from.logStd[i]);
      if (!there) return own * ROOM;
      const far = Math.abs(there.mean[i] - from.mean[i]) + 2.1 * Math.exp(there.logStd[i]);
      return Math.max(own, far) * ROOM;
    });
    const unit = Math.min(width / 2 / across, height / 2 / up);
    return {
      width,
      height,
      unit,
      X: (x) => width / 2 + (x - from.mean[0]) * unit,
      Y: (y) => height / 2 - (y - from.mean[1]) * unit,
    };
  }

  /**
   * The loss around q on a grid.
   * @param {View} view
   * @returns {Relief}
   */
  reliefFor({ width, height, unit }) {
    const key = [width, height, unit].join();
    if (this.relief?.key === key) return this.relief;
    const { loss, record } = this.step;
    const [x, y] = record.from.mean;
    const rows = Math.round(((COLUMNS - 1) * height) / width) + 1;
    const values = Float64Array.from({ length: COLUMNS * rows }, (_, k) => {
      const [row, column] = [Math.floor(k / COLUMNS), k % COLUMNS];
      const right = ((column / (COLUMNS - 1) - 0.5) * width) / unit;
      const down = ((row / (rows - 1) - 0.5) * height) / unit;
      return loss.both([x + right, y - down], null);
    });
    const low = Math.min(...values);
    const span = Math.max(1e-9, Math.max(...values) - low);
    this.relief = { key, rows, share: values.map((v) => (v - low) / span) };
    return this.relief;
  }

  /**
   * Draw the ground around q with the marks of the step.
   * @param {Pen} pen
   * @param {number} width
   * @param {number} height
   */
  drawGround(pen, width, height) {
    const view = this.view(width, height);
    const { share, rows } = this.reliefFor(view);
    pen.drawImage(reliefOf(share, rows, COLUMNS), 0, 0, width, height);
    pen.strokeStyle = isDark() ? "rgba(255,255,255,.14)" : "rgba(60,70,80,.22)";
    pen.lineWidth = 1;
    for (let level = 1; level < LEVELS; level++) {
      const lines = levelLines(share, rows, COLUMNS, level / LEVELS);
      strokeLines(pen, lines, rows, COLUMNS, width, height);
    }
    drawMarks(this.svg, this.step, view, this.phase);
  }
}
