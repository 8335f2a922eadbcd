// One method on the data of a network: its learner, predictions draw by draw, scores, loss plane.
import { element } from "../front/elements.js";
import {
  GAUSSIAN,
  Learner,
  Network,
  Random,
  accuracy,
  averaged,
  ece,
  networkLoss,
  nllScore,
  plus,
  softmax,
  topEigenpairs,
} from "./engine.js";
import { drawClasses, drawLoss, drawRegression } from "./inputs.js";
import { GAP_NOISE, NETS, PLANE, REACH } from "./settings.js";
import { Board, menuOf, styleOf, words } from "./ui.js";

// One method on the data of the world: learner, fields of predictions draw by draw, scores, loss
// plane.
export class Pane {
  /** @type {any} */
  network;
  /** @type {any} */
  learner;
  /** @type {any} */
  learned;
  /** @type {any} */
  mean;
  /** @type {any} */
  near;
  /** @type {any} */
  axes;
  /** @type {any} */
  center;
  /** @type {any} */
  next;
  /** @type {any} */
  nextAxes;
  /** @type {any} */
  row;
  /** @type {any} */
  drawn;
  /** @type {any} */
  right;
  /** @type {any} */
  noise;
  world;
  x;
  test;
  ece;
  lambda;
  fields;
  turn;

  constructor(world, method) {
    this.world = world;
    this.method = method;
    this.shadows = [];
    this.plane = new Board((pen, w, h) => this.drawInputs(pen, w, h), { ratio: 0.8, label: "" });
    this.loss = new Board((pen, w, h) => drawLoss(this, pen, w, h), {
      ratio: 0.5,
      label: "",
      most: 230,
    });
    this.plane.canvas.addEventListener("click", (e) => world.add(e, this.plane.canvas));
    this.menu = menuOf(
      "method",
      ["gd", "sam", "vi", "sabma", "sgld", "hmc"].map((m) => [m, styleOf(m)[0]]),
      method,
      (m) => {
        this.method = m;
        this.shadows = [];
        world.again();
      },
    );
    this.reading = element("p", { class: "pg-reads" });
    this.node = element(
      "div",
      { class: "pg-pane" },
      element("div", { class: "pg-head" }, this.menu, this.reading),
      this.plane.node,
      world.planes ? this.loss.node : null,
    );
  }

  begin() {
    const { world } = this,
      regression = world.kind === "gap",
      { radius, rho, kappa, rate } = world.settings;
    this.plane.reshape(regression ? 0.44 : 0.8);
    this.network = new Network([regression ? 1 : 2, ...NETS[world.net][1], regression ? 1 : 2]);
    const D = this.network.dim,
      random = new Random(1000 + world.seed),
      train = world.train;
    // steps of VI and SA-BMA have the length of their widths
    const slow = regression && !GAUSSIAN[this.method] ? 0.05 : 1;
    this.learned = networkLoss(this.network, train);
    const prior = { mean: new Float64Array(D), logStd: new Float64Array(D).fill(Math.log(1.5)) };
    const start = {
      mean: this.network.init(random),
      logStd: new Float64Array(D).fill(Math.log(0.05)),
    };
    const chain = this.method === "sgld" ? 0.2 : 1;
    const settings = {
      T: kappa / train.y.length,
      rate: rate * slow * chain,
      momentum: 0.9,
      draws: 2,
      radius: this.method === "sam" ? rho : radius,
      most: regression ? 30 : 12,
    };
    this.learner = new Learner(this.method, this.learned, prior, start, settings, world.seed);
    this.noise = Array.from({ length: 30 }, () => random.normals(D));
    this.fields = [];
    this.turn = 0;
    this.x = [];
    this.test = [];
    this.ece = [];
    this.lambda = [];
    this.axes = null;
    this.near = topEigenpairs(this.learned, this.learner.q.mean, 2);
    this.drawn = null;
    this.row = 0;
    this.lost = false;
    this.refresh(Infinity);
    this.score();
  }

  // What stays of a run that is over: the line where its ensemble is undecided, and its curves.
  keep() {
    if (this.x.length < 8) return;
    this.shadows.push({
      field: this.world.kind === "gap" ? this.mean : Float64Array.from(this.mean, (p) => p - 0.5),
      x: this.x,
      test: this.test,
      ece: this.ece,
      lambda: this.lambda,
    });
    if (this.shadows.length > 8) this.shadows.shift();
  }

  members() {
    return this.learner.members(this.world.draws, this.noise);
  }

  step() {
    if (this.lost) return;
    this.learner.step();
    this.lost = !this.learner.finite;
  }

  // Predictions over the inputs, at most `most` draws of the ensemble anew: the others are a few
  // frames old.
  refresh(most) {
    const W = this.members(),
      { grid } = this.world,
      n = grid.length / this.network.widths[0],
      regression = this.world.kind === "gap",
      two = [0, 0];
    this.fields.length = Math.min(this.fields.length, W.length);
    this.turn %= W.length;
    for (let m = 0; m < W.length; m++) {
      if (this.fields[m] && (m - this.turn + W.length) % W.length >= most) continue;
      const field = (this.fields[m] ??= new Float32Array(n));
      for (let i = 0; i < n; i++) {
        const out = this.network.forward(W[m], grid, i * this.network.widths[0]);
        if (regression) field[i] = out[0];
        else {
          softmax(out, two, 0);
          field[i] = two[1];
        }
      }
    }
    if (most < W.length) this.turn += most;
    this.mean = new Float32Array(n);
    for (const field of this.fields)
      for (let i = 0; i < n; i++) this.mean[i] += field[i] / W.length;
  }

  score() {
    const { test, kind } = this.world,
      W = this.members();
    this.x.push(this.world.steps);
    if (kind === "gap") {
      const total = test.y.reduce((sum, y, i) => {
        const p =
          W.reduce((s, w) => {
            const r = (this.network.forward(w, test.x, i)[0] - y) / test.noise;
            return s + Math.exp(-0.5 * r * r);
          }, 0) / W.length;
        return (
          sum - Math.log(Math.max(p, 1e-30)) + Math.log(test.noise) + 0.5 * Math.log(2 * Math.PI)
        );
      }, 0);
      this.test.push(total / test.y.length);
      this.ece.push(NaN);
    } else {
      const probs = averaged(this.network, W, test.x);
      this.test.push(nllScore(probs, test.y));
      this.ece.push(ece(probs, test.y));
      this.right = accuracy(probs, test.y);
    }
    this.lambda.push(
      this.lost
        ? NaN
        : (this.near = topEigenpairs(this.learned, this.learner.q.mean, 2, 12, this.near))[0].value,
    );
  }

  // Standard deviation over the draws of what they predict at a place of the grid; in the middle of
  // the gap, and on average at the points.
  differ(i) {
    return Math.sqrt(
      this.fields.reduce((sum, field) => sum + (field[i] - this.mean[i]) ** 2, 0) /
        this.fields.length,
    );
  }

  // Two standard deviations of the predicted targets, over the grid.
  get spread() {
    return this.mean.map((_, i) => 2 * Math.hypot(this.differ(i), GAP_NOISE));
  }

  // As far from 0 as the panels of the regression reach, so that no band leaves them.
  get highest() {
    const { spread } = this;
    return Math.min(6, Math.max(2, ...this.mean.map((m, i) => 1.05 * (Math.abs(m) + spread[i]))));
  }

  get unsure() {
    const at = (x) => this.differ(Math.round(20 * (x + 3))),
      { x } = this.world.train;
    return { gap: at(-0.1), points: x.reduce((sum, place) => sum + at(place), 0) / x.length };
  }

  // The two sharpest directions at the mean, and row by row the loss on their plane.
  curve() {
    if (this.lost) return;
    this.axes = this.near = topEigenpairs(this.learned, this.learner.q.mean, 2, 12, this.near);
    this.center = this.learner.q.mean.slice();
    this.next = new Float64Array(PLANE * PLANE);
    this.nextAxes = this.axes;
    this.row = 0;
  }

  fill(rows) {
    for (; this.world.planes && rows > 0 && this.next && this.row < PLANE; rows--, this.row++)
      for (let j = 0; j < PLANE; j++) {
        const [a, b] = [j, this.row].map((k) => ((2 * k) / (PLANE - 1) - 1) * REACH);
        this.next[this.row * PLANE + j] = this.learned.both(
          plus(plus(this.center, this.axes[0].vector, a), this.axes[1].vector, -b / 2),
          null,
        );
      }
    if (this.next && this.row === PLANE) {
      this.drawn = { values: this.next, axes: this.nextAxes, center: this.center };
      this.next = null;
    }
  }

  draw() {
    this.plane.draw();
    this.loss.draw();
  }

  // ---- drawing

  drawInputs(pen, width, height) {
    if (!this.mean) return;
    if (this.world.kind === "gap") drawRegression(this, pen, width, height);
    else drawClasses(this, pen, width, height);
    if (this.lost)
      words(pen, "diverged: lower rate or radius", width / 2, height / 2, {
        align: "center",
        weight: 700,
      });
  }
}
