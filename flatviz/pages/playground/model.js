// The world of two weights without its picture: a ground, a posterior for each method that is on,
// and what is measured while they learn. Beside the training ground lies a test ground, the same
// moved and bent.
import { elsewhere, groundLoss, Learner, METHODS, Random } from "./engine.js";
import { groundFrom, GROUNDS, PRIOR_STD } from "./grounds.js";
import { Run } from "./run.js";
import { inTurns, lossOf, standing, Sweep } from "./sweep.js";

/** @import { End, GroundPlan, Loss, Term } from "./types.d.ts" */

export const LENGTH = 600; // steps of a run
const HMC_EVERY = 6; // steps of the others for one of its trajectories
export const SEEDS = 20;
export const SHIFT = 0.3;
const STEADY = ["radius", "rho", "T", "viT", "rate", "draws"]; // settings by name

/** The world of two weights, what learns in it, and what is measured. */
export class Model {
  name = "hollow";
  /** @type {GroundPlan} */
  world = GROUNDS.hollow;
  /** @type {Term[]} */
  terms = []; // of the ground, which a reader changes
  /** @type {Record<string, number>} */
  settings = {};
  /** @type {number[]} */
  start = [];
  giveUp = () => {};
  /** @type {Loss} */
  loss = groundLoss([]); // of the training ground, and of the test ground
  test = this.loss;
  seed = 1;
  ensemble = 10; // draws that are shown and averaged
  steps = 0;
  on = new Set(["vi", "sabma"]);
  /** @type {[string, number[][]][]} */
  shadows = [];
  /** @type {End[]} */
  ends = []; // of many seeds
  /** @type {number[]} */
  shift = [SHIFT, 0];
  bend = 0;
  tally = "";
  /** @type {Sweep | null} */
  sweep = null;
  /** @type {Map<string, Run>} */
  runs = new Map();

  /** @param {() => void} changed called when what was asked for later is there */
  constructor(changed = () => {}) {
    this.changed = changed;
    const random = new Random(99);
    this.noise = Array.from({ length: 30 }, () => random.normals(2)); // of the draws that are shown
    this.choose("hollow");
  }

  /** Another ground, with the settings that go with it. @param {string} name */
  choose(name) {
    this.name = name;
    this.world = GROUNDS[name];
    this.terms = this.world.terms.map((term) => ({ ...term }));
    const { radius, rho, T, rate } = this.world;
    this.settings = { radius, rho, T, viT: T, rate, draws: 4 };
    this.start = [...this.world.start];
    this.shadows = [];
    this.reground();
    this.rest(false);
  }

  /** Take the losses of the terms as they are now. */
  reground() {
    this.loss = groundFrom(this.terms);
    this.retest();
  }

  /** Take the loss of the test ground that lies where it is now. */
  retest() {
    this.test = elsewhere(this.loss, this.shift, this.bend);
  }

  /** How far the test ground is moved. */
  get far() {
    return Math.hypot(...this.shift);
  }

  /** The shift of this length in the direction of now. @param {number} value */
  along(value) {
    return this.far ? this.shift.map((v) => (v / this.far) * value) : [value, 0];
  }

  /**
   * The test ground elsewhere: nothing is trained again, but every test loss is another.
   * @param {number[]} shift
   */
  moveTest(shift, bend = this.bend) {
    this.shift = shift.map((v) => Math.max(-1, Math.min(1, v)));
    this.bend = bend;
    this.retest();
    for (const [method, run] of this.runs)
      run.test = run.stands.map((q) => lossOf(this.test, { method, ...q }));
  }

  // ---- learning

  /**
   * A learner of this method from where training starts; `other` replaces settings.
   * @param {string} method
   * @param {number} seed
   * @param {Record<string, number>} other
   */
  learner(method, seed, other = {}) {
    const { radius, rho, T, viT, rate, draws } = { ...this.settings, ...other };
    const own = method === "vi" ? (other.T ?? viT) : T;
    const reach = method === "sam" ? rho : radius;
    const settings = { T: own, rate, momentum: 0, draws, radius: reach };
    const s = Math.log(this.world.std);
    const p = Math.log(PRIOR_STD);
    const prior = { mean: Float64Array.of(0, 0), logStd: Float64Array.of(p, p) };
    const from = { mean: Float64Array.from(this.start), logStd: Float64Array.of(s, s) };
    return new Learner(method, this.loss, prior, from, settings, seed);
  }

  /** Back to the start with the settings of now; keep: the last run stays as a shadow. */
  rest(keep = true) {
    if (keep && this.steps > 60) for (const [method, run] of this.runs) this.shadow(method, run);
    this.steps = 0;
    this.giveUp();
    this.sweep?.stop();
    this.sweep = null;
    this.ends = [];
    this.tally = "";
    this.runs = new Map();
    for (const method of METHODS)
      if (this.on.has(method))
        this.runs.set(method, new Run(method, this.learner(method, this.seed)));
    this.measure();
  }

  /**
   * Keep the trail of a run that is over.
   * @param {string} method
   * @param {Run} run
   */
  shadow(method, run) {
    this.shadows.push([method, run.trail]);
    if (this.shadows.length > 80) this.shadows.shift();
  }

  /** Take n steps of every method. @param {number} n */
  advance(n) {
    for (let i = 0; i < n && this.steps < LENGTH; i++) {
      this.steps += 1;
      for (const [method, run] of this.runs) {
        if (run.lost || (method === "hmc" && this.steps % HMC_EVERY)) continue;
        run.step();
      }
      if (this.steps % 4 === 0) this.measure();
    }
  }

  /** Whether the run has taken all its steps. */
  get over() {
    return this.steps >= LENGTH;
  }

  /** Add what is measured now to each run's curves. */
  measure() {
    for (const run of this.runs.values())
      if (!run.lost) run.measure(this.steps, this.loss, this.test, this.ensemble);
  }

  /**
   * A whole run at once, as `lossOf` and the pictures read it.
   * @param {string} method
   * @param {number} seed
   * @param {Record<string, number>} other
   */
  whole(method, seed, other = {}) {
    const learner = this.learner(method, seed, other);
    const steps = method === "hmc" ? LENGTH / HMC_EVERY : LENGTH;
    for (let i = 0; i < steps && learner.finite; i++) learner.step();
    return standing(method, learner);
  }

  /**
   * Many seeds from here, in turns: where their runs end.
   * @param {string[]} methods
   * @param {(ends: End[]) => string} tell the sentence about them
   * @param {Record<string, number>[]} others settings, a batch of seeds for each
   */
  many(methods, tell, others = [{}]) {
    this.giveUp();
    this.shadows = [];
    this.ends = [];
    this.tally = `${SEEDS} seeds run …`;
    /** @type {End[]} */
    const ends = [];
    const jobs = others.flatMap((other) =>
      methods.flatMap((method) =>
        Array.from({ length: SEEDS }, (_, i) => () => {
          ends.push({ ...this.whole(method, i + 1, other), ...other });
        }),
      ),
    );
    this.giveUp = inTurns(jobs, () => {
      this.ends = ends;
      this.tally = tell(ends);
      this.changed();
    });
  }

  /** After a whole run: VI at other temperatures, SA-BMA at other radii, and the T* of VI. */
  compareT() {
    if (this.sweep || !this.on.has("vi") || !this.on.has("sabma")) return;
    const { viT: T, radius } = this.settings;
    const fit = (
      /** @type {string} */ method,
      /** @type {{ T: number, radius: number }} */ other,
    ) => this.whole(method, this.seed, method === "vi" ? other : { radius: other.radius });
    this.sweep = new Sweep(this.loss, fit, { T, radius }, this.changed);
  }

  // ---- where they are

  /** The name of the place that holds these weights. @param {ArrayLike<number>} at */
  placeOf(at) {
    const { places } = this.world;
    return places.find(([, [a, b], r]) => Math.hypot(at[0] - a, at[1] - b) < r)?.[0];
  }

  /**
   * "on the ridge", "in the meadow", "in the basin of the meadow" if only descent from here reaches
   * it, or "".
   * @param {ArrayLike<number>} mean
   */
  whereIs(mean) {
    const here = this.placeOf(mean);
    const w = Float64Array.from(mean);
    const g = new Float64Array(2);
    if (here?.endsWith("ridge")) return `on the ${here}`;
    for (let i = 0; i < 80; i++) {
      this.loss.both(w, g.fill(0));
      w[0] -= 0.05 * g[0];
      w[1] -= 0.05 * g[1];
    }
    const there = this.placeOf(w);
    return there ? `in the ${there === here ? "" : "basin of the "}${there}` : "";
  }

  /** How many of these ends are where: [[place, count]], most first. @param {End[]} ends */
  counted(ends) {
    /** @type {Map<string, number>} */
    const counts = new Map();
    for (const end of ends) {
      const place = end.lost ? "diverged" : (this.placeOf(end.q.mean) ?? "elsewhere");
      counts.set(place, (counts.get(place) ?? 0) + 1);
    }
    return [...counts].sort((a, b) => b[1] - a[1]);
  }

  /**
   * The loss of a method on a ground: of the last run, or the mean over seeds.
   * @param {Loss} ground
   * @param {string} method
   */
  lossAt(ground, method) {
    const ends = this.ends.filter((end) => end.method === method && !end.lost);
    if (ends.length) return ends.reduce((sum, end) => sum + lossOf(ground, end), 0) / ends.length;
    const run = this.runs.get(method);
    if (!run || run.lost) return NaN;
    return lossOf(ground, { method, ...run.stands[run.stands.length - 1] });
  }

  /** The methods' losses on a ground, lowest first. @param {Loss} ground */
  ranking(ground) {
    return [...this.runs.keys()]
      .map((method) => ({ method, loss: this.lossAt(ground, method) }))
      .filter(({ loss }) => Number.isFinite(loss))
      .sort((a, b) => a.loss - b.loss);
  }

  // ---- the state in a link

  /** What `read` takes. */
  get query() {
    const { name, on, seed, shift, bend, settings } = this;
    const kept = Object.fromEntries(STEADY.map((key) => [key, String(settings[key])]));
    return new URLSearchParams({
      ground: String(name),
      on: [...on].join(),
      ...kept,
      seed: String(seed),
      shift: shift.map((v) => Number(v.toFixed(2))).join(),
      bend: String(bend),
    });
  }

  /**
   * Take what a link says, as far as it can be read.
   * @param {URLSearchParams} said
   * @param {Record<string, number[]>} stops of each setting, and of the bend
   */
  read(said, stops) {
    const number = (/** @type {string} */ key) => (said.has(key) ? Number(said.get(key)) : NaN);
    const ground = said.get("ground") ?? "";
    if (Object.hasOwn(GROUNDS, ground)) this.choose(ground);
    const on = (said.get("on") ?? "").split(",").filter((method) => METHODS.includes(method));
    if (on.length) this.on = new Set(on);
    for (const key of STEADY)
      if (stops[key].includes(number(key))) this.settings[key] = number(key);
    if (Number.isInteger(number("seed"))) this.seed = number("seed");
    const shift = (said.get("shift") ?? "").split(",").map(Number);
    const known = said.has("shift") && shift.length === 2 && shift.every(Number.isFinite);
    this.moveTest(
      known ? shift : this.shift,
      stops.bend.includes(number("bend")) ? number("bend") : 0,
    );
    this.rest(false);
  }
}
