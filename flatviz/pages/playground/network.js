// The world of a network: two methods side by side learn the same few points, their predictions,
// scores and loss planes.
import { button, element, STILL } from "../front/elements.js";
import { Random } from "./engine.js";
import { drawTraces } from "./inputs.js";
import { Pane } from "./pane.js";
import { gridOf, pointsOf } from "./points.js";
import { readingOf, verdictOf } from "./readings.js";
import { DATA, GAP_NAME, HIGH, JOB_MS, LONG, NETS, PLANE, SPAN, TESTS } from "./settings.js";
import { nameOf } from "./ink.js";
import { Board, Clock, Menu, Slider } from "./ui.js";

/** @import { NetworkOptions, Points, Vector } from "./types.d.ts" */

/**
 * @typedef {{ train: Points, test: Points, grid: Vector }} Data What is learnt, and tested; inputs
 *   of the pictures
 */

const PER_SECOND = 80; // steps while it plays
const SETTINGS = { radius: 2, rho: 0.2, kappa: 0.1, rate: 0.1, shots: 20, noise: 0.15 };

/** Methods side by side that learn the same points. */
export class NetworkWorld {
  /** @type {Record<string, Slider>} */
  sliders = {};
  /** @type {number[][]} */
  yours = []; // points of the reader: x, y, class
  side = 0; // the class of the next of them
  net = "one";
  seed = 1;
  draws = 10; // of the ensemble
  steps = 0;
  due = 0; // steps that the clock asks for
  frames = 0;
  rounds = 0;
  /** @type {(() => void)[]} */
  jobs = []; // what is to be seen and measured next

  /** @param {NetworkOptions} options */
  constructor(options = {}) {
    const { methods = ["vi", "sabma"], planes = true, autoplay = true } = options;
    this.kind = options.kind ?? "spiral";
    this.planes = planes;
    this.label = options.label ?? "a network";
    /** @type {Record<string, number>} */
    this.settings = { ...SETTINGS, ...options.settings };
    this.data = this.dataOf();
    this.panes = methods.map((method) => new Pane(this, method));
    this.traces = new Board((pen, w, h) => drawTraces(this, pen, w, h), {
      ratio: 0.16,
      label: "",
      least: planes ? 190 : 110,
      most: 330,
    });
    this.verdict = element("p", { class: "pg-verdict", role: "status" });
    this.playButton = button("Play", "play or pause", () => this.play(!this.clock.playing), {
      class: "pg-play",
    });
    this.node = this.build();
    this.offer();
    this.draw();
    this.clock = new Clock(this.panes[0].node, (passed) => this.frame(passed));
    if (!STILL.matches && autoplay) this.play(true);
  }

  /** Whether targets are learnt, not classes. */
  get regression() {
    return this.kind === "gap";
  }

  /** Loss above the lowest that has the last colour of a plane. */
  get high() {
    return this.regression ? 40 : HIGH;
  }

  // ---- controls

  /** The pictures with their controls. */
  build() {
    return element(
      "section",
      { class: "pg-network", "aria-label": this.label },
      element("div", { class: "pg-panes" }, ...this.panes.map((pane) => pane.node)),
      this.buttons(),
      element(
        "div",
        { class: "pg-sliders" },
        this.slider("radius", "radius of SA-BMA", [0, 0.25, 0.5, 0.7, 1, 1.4, 2, 2.8, 4], (x) =>
          x ? `${x} × the width of q` : "0: the same as VI",
        ),
        this.slider("rho", "radius of SAM", [0, 0.05, 0.1, 0.2, 0.5, 1], (x) => `${x}, a distance`),
        this.slider(
          "kappa",
          "temperature",
          [0.01, 0.03, 0.1, 0.3, 1],
          (x) => (x === 1 ? "1: Bayes" : `${x}: colder than Bayes`),
          "the weight of KL(q ‖ prior)",
        ),
      ),
      this.verdict,
      this.traces.node,
      this.more(),
    );
  }

  /** The row of buttons and of the menu of data. */
  buttons() {
    const restart = button("Restart", "the same run from its start", () => this.restart());
    const help = "other points, other start, other noise; earlier seeds stay as shadows";
    const reseed = button("New seed", help, () => {
      for (const pane of this.panes) pane.keep();
      this.seed += 1;
      this.restart();
    });
    const row = element("div", { class: "pg-row" }, this.playButton, restart, reseed);
    if (!this.planes) return row;
    const data = new Menu("data", Object.entries(DATA), this.kind, (kind) => {
      this.kind = kind;
      this.restart(false);
    });
    const sides = [
      ["0", "a circle"],
      ["1", "a square"],
    ];
    const added = new Menu("a click adds", sides, "0", (side) => {
      this.side = Number(side);
    });
    row.append(data.node, added.node);
    return row;
  }

  /** What is folded: network, points, rate, ensemble. */
  more() {
    const nets = Object.entries(NETS).map(([key, [text]]) => [key, text]);
    const average = (/** @type {number} */ n) => {
      this.draws = n;
      for (const { trial } of this.panes) trial.refresh(Infinity);
      this.draw();
    };
    const say = (/** @type {number} */ n) => `${n} draw${n > 1 ? "s" : ""}`;
    const network = new Menu("network", nets, this.net, (net) => {
      this.net = net;
      this.restart(false);
    });
    return element(
      "details",
      { class: "pg-more" },
      element("summary", {}, "More: network, points, rate"),
      network.node,
      element(
        "div",
        { class: "pg-sliders" },
        this.slider("rate", "learning rate", [0.005, 0.01, 0.02, 0.05, 0.1]),
        this.slider("shots", "points a class or side", [4, 8, 12, 20, 40, 80]),
        this.slider("noise", "noise of the points", [0, 0.1, 0.15, 0.2, 0.3, 0.5]),
        new Slider("ensemble", [1, 2, 5, 10, 20, 30], 10, average, { say }).node,
      ),
    );
  }

  /**
   * A slider of a setting: the run begins anew with it.
   * @param {string} name
   * @param {string} label
   * @param {number[]} stops
   * @param {(value: number) => string} [say]
   * @param {string} [help]
   */
  slider(name, label, stops, say, help) {
    const change = (/** @type {number} */ value, /** @type {boolean} */ final) => {
      this.settings[name] = value;
      if (final) this.restart(false);
    };
    const slider = new Slider(label, stops, this.settings[name], change, { say, help });
    this.sliders[name] = slider;
    return slider.node;
  }

  /** Show the sliders of what the methods and the data have. */
  offer() {
    this.sliders.rho.node.hidden = this.panes.every((pane) => pane.method !== "sam");
    this.sliders.noise.node.hidden = this.regression;
  }

  // ---- points

  /**
   * A point of the reader's, in the class that the menu says; with "your points alone" the others
   * go.
   * @param {MouseEvent} e
   * @param {HTMLCanvasElement} canvas
   */
  add(e, canvas) {
    if (this.regression) return;
    const box = canvas.getBoundingClientRect();
    this.yours.push([
      SPAN[0] * ((2 * (e.clientX - box.left)) / box.width - 1),
      SPAN[1] * (1 - (2 * (e.clientY - box.top)) / box.height),
      this.side,
    ]);
    this.restart(false);
  }

  /**
   * The points of this seed and the reader's; these alone where there are two of each class.
   * @param {number} n
   * @param {Random} random
   * @returns {Points}
   */
  points(n, random) {
    const { kind, settings, yours } = this;
    const alone =
      kind === "none" && [0, 1].every((c) => yours.filter((p) => p[2] === c).length > 1);
    const made = pointsOf(kind === "none" ? "xor" : kind, alone ? 0 : n, settings.noise, random);
    if (this.regression) return made;
    return {
      x: Float64Array.from([...made.x, ...yours.flatMap(([a, b]) => [a, b])]),
      y: [...made.y, ...yours.map((p) => p[2])],
      noise: made.noise,
    };
  }

  /** Points to learn and to test on, of this seed. @returns {Data} */
  dataOf() {
    const { kind, settings, seed } = this;
    const random = new Random(seed);
    const train = this.points(2 * settings.shots, random);
    const test = kind === "none" ? train : pointsOf(kind, TESTS, settings.noise, random);
    return { train, test, grid: gridOf(kind) };
  }

  // ---- running

  /** Play from the start; keep: the shadows of earlier seeds stay. */
  restart(keep = true) {
    if (!keep) for (const pane of this.panes) pane.shadows = [];
    this.again();
    this.play(true);
  }

  /** Back to the start, with the points and settings of now. */
  again() {
    this.steps = 0;
    this.jobs = [];
    this.data = this.dataOf();
    this.offer();
    for (const pane of this.panes) pane.begin();
    this.draw();
  }

  /** Play or rest. @param {boolean} on */
  play(on) {
    if (on && this.steps >= LONG) this.again();
    this.clock.play(on);
    this.playButton.textContent = on ? "Pause" : "Play";
    if (on) return;
    for (const { trial } of this.panes) {
      trial.refresh(Infinity);
      trial.curve();
      trial.fill(PLANE);
      trial.score();
    }
    this.draw();
  }

  /** Take a step of every method; a trajectory of HMC in every second one. */
  advance() {
    this.steps += 1;
    for (const { method, trial } of this.panes)
      if (method !== "hmc" || this.steps % 2) trial.step();
  }

  /**
   * Two steps a frame, then of what is seen and measured two jobs, or one where that took long: no
   * frame is late on a slow phone.
   * @param {number} passed seconds since the last
   */
  frame(passed) {
    const from = performance.now();
    this.due = Math.min(2, this.due + passed * PER_SECOND);
    for (; this.due >= 1; this.due--) this.advance();
    this.frames += 1;
    if (!this.jobs.length) this.jobs = this.round();
    this.jobs.shift()?.();
    if (performance.now() - from < JOB_MS) this.jobs.shift()?.();
    this.tell();
    if (this.steps >= LONG) this.play(false);
  }

  /**
   * What is done in turn: predictions most often, scores and curves in every fourth round, new
   * directions in every twelfth.
   */
  round() {
    this.rounds += 1;
    const whole = this.rounds % 4 === 0;
    const panes = this.panes.filter(({ trial }) => !trial.lost);
    const jobs = panes.flatMap(({ trial, plane, loss }) => [
      () => trial.refresh(2),
      () => plane.draw(),
      ...(this.planes ? [() => trial.fill(2)] : []),
      ...(whole ? [() => trial.score(), () => loss.draw()] : []),
      ...(this.rounds % 12 === 2 ? [() => trial.curve()] : []),
    ]);
    if (whole || !panes.length) jobs.push(() => this.traces.draw());
    return jobs;
  }

  // ---- showing

  /** Draw in the colours of another theme. */
  recolor() {
    this.draw();
  }

  /** Draw all pictures. */
  draw() {
    for (const pane of this.panes) pane.draw();
    this.traces.draw();
    this.tell(true);
  }

  /** Say in words what is shown: in every thirtieth frame, or now. */
  tell(now = this.frames % 30 === 0) {
    if (!now) return;
    this.verdict.textContent = `Step ${this.steps}${verdictOf(this)}`;
    const named = this.panes.map((pane) => {
      const name = nameOf(pane.method);
      const said = readingOf(pane);
      pane.reading.textContent = said;
      const data = DATA[this.kind] ?? GAP_NAME;
      pane.plane.say(`What the ensemble of ${name} predicts for ${data}. ${said}.`);
      const plane = "the plane of its two sharpest directions, the draws projected onto it";
      pane.loss.say(`Training loss of ${name} on ${plane}.`);
      return `${name}: ${said}`;
    });
    this.traces.say(`Against steps: ${named.join("; ")}.`);
  }
}
