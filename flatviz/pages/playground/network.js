// The world of a network: two methods side by side learn the same few points, their predictions,
// scores and loss planes.
import { isDark } from "../front/colors.js";
import {
  GAUSSIAN,
  Learner,
  Network,
  networkLoss,
  Random,
  averaged,
  accuracy,
  ece,
  nllScore,
  softmax,
  topEigenpairs,
  plus,
  dot,
} from "./engine.js";
import {
  Board,
  button,
  Clock,
  colorOf,
  inks,
  levelLines,
  menuOf,
  node,
  Slider,
  STILL,
  strokeLines,
  styleOf,
  traceChart,
  two,
  words,
} from "./ui.js";

const GRID = 27,
  PLANE = 23,
  REACH = 1.2,
  HIGH = 1.5,
  TESTS = 200,
  LONG = 1500,
  JOB_MS = 3,
  GAP_NOISE = 0.15;
const CLASS_INKS = [
  [78, 134, 181],
  [214, 133, 62],
];
const DATA = {
    spiral: "spirals",
    moons: "two moons",
    circles: "circles",
    xor: "XOR",
    none: "your points alone, two of each or more",
  },
  GAP_NAME = "a regression with a gap";
const NETS = { one: ["one layer of 12", [12]], two: ["two layers of 8", [8, 8]] };

// n points in turn of two classes, coordinates within about 2; of the regression targets.
export function pointsOf(kind, n, noise, random) {
  const x = new Float64Array(kind === "gap" ? n : 2 * n),
    y = kind === "gap" ? new Float64Array(n) : new Int32Array(n);
  for (let i = 0; i < n; i++) {
    const c = i % 2,
      t = random.uniform(),
      sign = c ? -1 : 1;
    if (kind === "gap") {
      x[i] = c ? -1.8 + 0.8 * t : 0.8 + t;
      y[i] = Math.sin(2.2 * x[i]) + GAP_NOISE * random.normal();
      continue;
    }
    const [a, b] = {
      moons: () =>
        c
          ? [0.5 - 1.2 * Math.cos(Math.PI * t), 0.35 - 1.2 * Math.sin(Math.PI * t)]
          : [1.2 * Math.cos(Math.PI * t) - 0.5, 1.2 * Math.sin(Math.PI * t) - 0.35],
      circles: () => {
        const r = c ? 0.6 : 1.5;
        return [r * Math.cos(2 * Math.PI * t), r * Math.sin(2 * Math.PI * t)];
      },
      spiral: () => {
        const r = 0.25 + 1.5 * t,
          angle = 4.2 * t + (c ? Math.PI : 0);
        return [r * Math.cos(angle), r * Math.sin(angle)];
      },
      xor: () => {
        const s = random.uniform() < 0.5 ? 1 : -1;
        return [s * (0.25 + 1.3 * t), s * sign * (0.25 + 1.3 * random.uniform())];
      },
    }[kind]();
    x[2 * i] = a + noise * random.normal();
    x[2 * i + 1] = b + noise * random.normal();
    y[i] = c;
  }
  return { x, y: Array.from(y), noise: kind === "gap" ? GAP_NOISE : null };
}

// One method on the data of the world: learner, fields of predictions draw by draw, scores, loss
// plane.
class Pane {
  world;
  x;
  test;
  ece;
  lambda;
  fields;
  turn;

  constructor(world, method) {
    Object.assign(this, { world, method, shadows: [] });
    this.plane = new Board((pen, w, h) => this.drawInputs(pen, w, h), { ratio: 0.8, label: "" });
    this.loss = new Board((pen, w, h) => this.drawLoss(pen, w, h), {
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
    this.node = node(
      "div",
      { class: "pg-pane" },
      this.menu,
      this.plane.node,
      world.planes ? this.loss.node : null,
    );
  }

  begin() {
    const { world } = this,
      regression = world.kind === "gap",
      { radius, rho, kappa, rate } = world.settings;
    this.plane.reshape(regression ? 0.6 : 0.8);
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
    Object.assign(this, {
      fields: [],
      turn: 0,
      x: [],
      test: [],
      ece: [],
      lambda: [],
      axes: null,
      near: topEigenpairs(this.learned, this.learner.q.mean, 2),
      drawn: null,
      row: 0,
      lost: false,
    });
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

  // ---------------------------------------------------------------- drawing

  drawInputs(pen, width, height) {
    if (!this.mean) return;
    if (this.world.kind === "gap") this.drawRegression(pen, width, height);
    else this.drawClasses(pen, width, height);
    if (this.lost)
      words(pen, "diverged: lower rate or radius", width / 2, height / 2, {
        align: "center",
        weight: 700,
      });
  }

  drawClasses(pen, width, height) {
    const dark = isDark(),
      paper = dark ? [21, 25, 30] : [255, 255, 255],
      small = node("canvas", { width: GRID, height: GRID }),
      out = small.getContext("2d");
    const image = out.createImageData(GRID, GRID),
      ink = inks(),
      color = colorOf(this.method);
    this.mean.forEach((p, k) => {
      const sure = Math.abs(2 * p - 1),
        tint = CLASS_INKS[p > 0.5 ? 1 : 0];
      for (let c = 0; c < 3; c++)
        image.data[4 * k + c] = paper[c] + (tint[c] - paper[c]) * 0.75 * sure;
      image.data[4 * k + 3] = 255;
    });
    out.putImageData(image, 0, 0);
    pen.imageSmoothingQuality = "high";
    pen.drawImage(small, 0.5, 0.5, GRID - 1, GRID - 1, 0, 0, width, height);
    const lines = (field, level) =>
      strokeLines(pen, levelLines(field, GRID, GRID, level), GRID, GRID, width, height);
    pen.strokeStyle = ink.ink;
    pen.lineWidth = 1.2;
    pen.globalAlpha = 0.28;
    for (const shadow of this.shadows) lines(shadow.field, 0);
    pen.strokeStyle = color;
    pen.globalAlpha = 0.55;
    pen.lineWidth = 1.1;
    if (this.fields.length > 1) for (const field of this.fields) lines(field, 0.5);
    pen.globalAlpha = 1;
    pen.lineWidth = 2.6;
    lines(this.mean, 0.5);
    const { x, y } = this.world.train,
      [spanX, spanY] = [2.4, 2];
    y.forEach((label, i) => {
      const a = ((x[2 * i] / spanX + 1) / 2) * width,
        b = ((1 - x[2 * i + 1] / spanY) / 2) * height;
      pen.fillStyle = `rgb(${CLASS_INKS[label].map((v) => (dark ? Math.min(255, 1.35 * v) : 0.8 * v)).join()})`;
      pen.strokeStyle = ink.paper;
      pen.lineWidth = 1.5;
      pen.beginPath();
      if (label) pen.rect(a - 4.5, b - 4.5, 9, 9);
      else pen.arc(a, b, 5, 0, 7);
      pen.fill();
      pen.stroke();
    });
    words(pen, "pale: unsure", 8, height - 12, { size: 12.5, color: ink.soft });
    words(
      pen,
      this.fields.length > 1 ? "thin lines: the draws" : "one point: one line",
      width - 8,
      height - 12,
      { size: 12.5, color: ink.soft, align: "right" },
    );
  }

  drawRegression(pen, width, height) {
    const ink = inks(),
      color = colorOf(this.method),
      n = this.mean.length,
      X = (i) => (i / (n - 1)) * width,
      Y = (v) => height / 2 - ((v / 2.6) * height) / 2;
    const spread = this.mean.map((_, i) => 2 * Math.hypot(this.differ(i), GAP_NOISE));
    pen.fillStyle = pen.strokeStyle = color;
    pen.beginPath();
    this.mean.forEach((m, i) => pen.lineTo(X(i), Y(m + spread[i])));
    for (let i = n - 1; i >= 0; i--) pen.lineTo(X(i), Y(this.mean[i] - spread[i]));
    pen.globalAlpha = 0.16;
    pen.fill();
    pen.globalAlpha = 1;
    const line = (field, alpha, thick) => {
      pen.beginPath();
      field.forEach((m, i) => pen.lineTo(X(i), Y(m)));
      pen.globalAlpha = alpha;
      pen.lineWidth = thick;
      pen.stroke();
      pen.globalAlpha = 1;
    };
    pen.strokeStyle = ink.ink;
    for (const shadow of this.shadows) line(shadow.field, 0.25, 1.2);
    pen.strokeStyle = color;
    if (this.fields.length > 1) for (const field of this.fields) line(field, 0.45, 1.1);
    line(this.mean, 1, 2.6);
    const { x, y } = this.world.train;
    pen.fillStyle = ink.ink;
    y.forEach((v, i) => {
      pen.beginPath();
      pen.arc(((x[i] / 3 + 1) / 2) * width, Y(v), 3.6, 0, 7);
      pen.fill();
    });
    words(pen, "band: two standard deviations", 8, height - 12, { size: 12.5, color: ink.soft });
  }

  drawLoss(pen, width, height) {
    const ink = inks();
    if (!this.drawn) {
      words(pen, "loss on the plane of the two sharpest directions", 2, 10, {
        color: ink.soft,
        size: 12.5,
        halo: false,
      });
      return;
    }
    const { values, axes, center } = this.drawn,
      low = Math.min(...values),
      share = values.map((v) => Math.min(1, (v - low) / this.world.high));
    const small = node("canvas", { width: PLANE, height: PLANE }),
      out = small.getContext("2d"),
      image = out.createImageData(PLANE, PLANE);
    share.forEach((v, k) => {
      for (let c = 0; c < 3; c++)
        image.data[4 * k + c] = ink.low[c] + (ink.high[c] - ink.low[c]) * v;
      image.data[4 * k + 3] = 255;
    });
    out.putImageData(image, 0, 0);
    pen.drawImage(small, 0.5, 0.5, PLANE - 1, PLANE - 1, 0, 0, width, height);
    pen.strokeStyle = isDark() ? "rgba(255,255,255,.2)" : "rgba(60,70,80,.3)";
    pen.lineWidth = 1;
    for (let level = 1; level < 10; level++)
      strokeLines(pen, levelLines(share, PLANE, PLANE, level / 10), PLANE, PLANE, width, height);
    pen.fillStyle = colorOf(this.method);
    for (const w of this.members()) {
      const off = plus(w, center, -1);
      pen.beginPath();
      pen.arc(
        ((dot(off, axes[0].vector) / REACH + 1) / 2) * width,
        ((1 - (2 * dot(off, axes[1].vector)) / REACH) / 2) * height,
        3,
        0,
        7,
      );
      pen.fill();
    }
    words(pen, `loss, two sharpest directions · λ₁ = ${two(axes[0].value)}`, 6, 12, {
      color: ink.ink,
      size: 12.5,
    });
  }
}

export class NetworkWorld {
  settings;
  label;
  seed;
  frames;
  planes;
  yours;

  constructor(options = {}) {
    const {
      kind = "spiral",
      methods = ["vi", "sabma"],
      planes = true,
      label = "a network",
      settings = {},
    } = options;
    Object.assign(this, {
      kind,
      planes,
      label,
      net: "one",
      seed: 1,
      draws: 10,
      steps: 0,
      frames: 0,
      settings: { radius: 2, rho: 0.2, kappa: 0.1, rate: 0.1, shots: 20, noise: 0.15, ...settings },
      yours: [],
      side: 0,
    });
    this.panes = methods.map((method) => new Pane(this, method));
    this.traces = new Board((pen, w, h) => this.drawTraces(pen, w, h), {
      ratio: 0.16,
      label: "",
      least: 190,
      most: 330,
    });
    this.build();
    this.again();
    this.clock = new Clock(this.panes[0].node, (passed) => this.frame(passed));
    if (!STILL.matches && options.autoplay !== false) this.play(true);
  }

  build() {
    const set = (name) => (value, final) => {
      this.settings[name] = value;
      if (final) {
        this.forget();
        this.again();
        this.play(true);
      }
    };
    this.sliders = {};
    const slider = (name, label, stops, say, help) =>
      (this.sliders[name] = new Slider(label, stops, this.settings[name], set(name), {
        say,
        help,
      }).node);
    this.playButton = button("Play", "play or pause", () => this.play(!this.clock.playing), {
      class: "pg-play",
    });
    this.verdict = node("p", { class: "pg-verdict", role: "status" });
    const restart = (change) => (value) => {
      change(value);
      this.forget();
      this.again();
      this.play(true);
    };
    this.node = node(
      "section",
      { class: "pg-network", "aria-label": this.label },
      node("div", { class: "pg-panes" }, ...this.panes.map((pane) => pane.node)),
      node(
        "div",
        { class: "pg-row" },
        this.playButton,
        button("Restart", "the same run from its start", () => {
          this.again();
          this.play(true);
        }),
        button(
          "New seed",
          "other points, other start, other noise; earlier seeds stay as shadows",
          () => {
            for (const pane of this.panes) pane.keep();
            this.seed += 1;
            this.again();
            this.play(true);
          },
        ),
        this.planes
          ? menuOf(
              "data",
              Object.entries(DATA),
              this.kind,
              restart((value) => {
                this.kind = value;
              }),
            )
          : null,
        this.planes
          ? menuOf(
              "a click adds",
              [
                ["0", "a circle"],
                ["1", "a square"],
              ],
              "0",
              (value) => {
                this.side = Number(value);
              },
            )
          : null,
        menuOf(
          "network",
          Object.entries(NETS).map(([key, [text]]) => [key, text]),
          this.net,
          restart((value) => {
            this.net = value;
          }),
        ),
      ),
      this.verdict,
      this.traces.node,
      node(
        "div",
        { class: "pg-sliders" },
        slider("radius", "radius of SA-BMA", [0, 0.25, 0.5, 0.7, 1, 1.4, 2, 2.8, 4], (x) =>
          x ? `${x} × the width of q` : "0: the same as VI",
        ),
        slider("rho", "radius of SAM", [0, 0.05, 0.1, 0.2, 0.5, 1], (x) => `${x}, a distance`),
        slider(
          "kappa",
          "temperature",
          [0.01, 0.03, 0.1, 0.3, 1],
          (x) => (x === 1 ? "1: Bayes" : `${x}: colder than Bayes`),
          "the weight of KL(q ‖ prior)",
        ),
        slider("rate", "learning rate", [0.005, 0.01, 0.02, 0.05, 0.1]),
        slider("shots", "points a class or side", [4, 8, 12, 20, 40, 80]),
        slider("noise", "noise of the points", [0, 0.1, 0.15, 0.2, 0.3, 0.5]),
        new Slider(
          "ensemble",
          [1, 2, 5, 10, 20, 30],
          10,
          (value) => {
            this.draws = value;
            for (const pane of this.panes) pane.refresh(Infinity);
            this.draw();
          },
          { say: (x) => `${x} draw${x > 1 ? "s" : ""}` },
        ).node,
      ),
    );
  }

  // A point of the reader's, in the class that the menu says; with "your points alone" the others
  // go.
  add(e, canvas) {
    if (this.kind === "gap") return;
    const box = canvas.getBoundingClientRect();
    this.yours.push([
      2.4 * ((2 * (e.clientX - box.left)) / box.width - 1),
      2 * (1 - (2 * (e.clientY - box.top)) / box.height),
      this.side,
    ]);
    this.forget();
    this.again();
    this.play(true);
  }

  // The points of this seed and the reader's; alone where there are two of each class.
  points(n, random) {
    const { kind, settings, yours } = this,
      alone = kind === "none" && [0, 1].every((c) => yours.filter((p) => p[2] === c).length > 1);
    const { x, y, noise } = alone
      ? { x: [], y: [], noise: null }
      : pointsOf(kind === "none" ? "xor" : kind, n, settings.noise, random);
    return kind === "gap"
      ? { x, y, noise }
      : {
          x: Float64Array.from([...x, ...yours.flatMap(([a, b]) => [a, b])]),
          y: [...y, ...yours.map((p) => p[2])],
          noise,
        };
  }

  forget() {
    for (const pane of this.panes) pane.shadows = [];
  }

  again() {
    const { kind, settings, seed } = this,
      n = 2 * settings.shots,
      random = new Random(seed);
    this.steps = 0;
    this.train = this.points(n, random);
    this.test = kind === "none" ? this.train : pointsOf(kind, TESTS, settings.noise, random);
    this.sliders.rho.hidden = this.panes.every((pane) => pane.method !== "sam");
    this.sliders.noise.hidden = kind === "gap";
    this.high = kind === "gap" ? 40 : HIGH;
    this.grid =
      kind === "gap"
        ? Float64Array.from({ length: 121 }, (_, i) => -3 + i / 20)
        : Float64Array.from({ length: 2 * GRID * GRID }, (_, k) => {
            const i = k >> 1;
            return k % 2
              ? 2 * (1 - (2 * Math.floor(i / GRID)) / (GRID - 1))
              : 2.4 * ((2 * (i % GRID)) / (GRID - 1) - 1);
          });
    for (const pane of this.panes) {
      pane.begin();
      pane.curve();
      pane.fill(PLANE);
    }
    this.draw();
  }

  play(on) {
    if (on && this.steps >= LONG) this.again();
    this.clock.play(on);
    this.playButton.textContent = on ? "Pause" : "Play";
    if (!on) {
      for (const pane of this.panes) {
        pane.refresh(Infinity);
        pane.curve();
        pane.fill(PLANE);
        pane.score();
      }
      this.draw();
    }
  }

  advance() {
    this.steps += 1;
    for (const pane of this.panes) if (pane.method !== "hmc" || this.steps % 2) pane.step();
  }

  // Two steps a frame, then of what is seen and measured two jobs, or one where that took long: no
  // frame is late on a slow phone.
  frame(passed) {
    const from = performance.now();
    this.due = Math.min(2, (this.due ?? 0) + passed * 80);
    for (; this.due >= 1; this.due--) this.advance();
    this.frames += 1;
    if (!this.jobs?.length) this.jobs = this.round();
    this.jobs.shift()();
    if (performance.now() - from < JOB_MS) this.jobs.shift()?.();
    this.tell();
    if (this.steps >= LONG) this.play(false);
  }

  // What is done in turn: predictions most often, scores and curves in every fourth round, new
  // directions in every twelfth.
  round() {
    this.rounds = (this.rounds ?? 0) + 1;
    const whole = this.rounds % 4 === 0,
      panes = this.panes.filter((pane) => !pane.lost);
    const of = (pane) => [
      () => pane.refresh(2),
      () => pane.plane.draw(),
      ...(this.planes ? [() => pane.fill(2)] : []),
      ...(whole ? [() => pane.score(), () => pane.loss.draw()] : []),
      ...(this.rounds % 12 === 2 ? [() => pane.curve()] : []),
    ];
    return [...panes.flatMap(of), ...(whole || !panes.length ? [() => this.traces.draw()] : [])];
  }

  recolor() {
    this.draw();
  }

  draw() {
    for (const pane of this.panes) pane.draw();
    this.traces.draw();
    this.tell(true);
  }

  tell(now = this.frames % 30 === 0) {
    if (!now) return;
    const said = this.panes.map(
      (p) =>
        `${styleOf(p.method)[0]}: ` +
        (p.lost
          ? "diverged"
          : `test loss ${two(p.test.at(-1))}, ${
              this.kind === "gap"
                ? `its draws differ by ${two(p.unsure.gap)} in the gap and ${two(p.unsure.points)} at the points`
                : `ECE ${two(p.ece.at(-1))}, ${Math.round(100 * p.right)} % right, λ₁ ${two(p.axes[0].value)}`
            }`),
    );
    this.verdict.textContent = `Step ${this.steps}. ${said.join(" · ")}${this.verdictOf()}`;
    this.panes.forEach((p, i) => {
      p.plane.say(
        `What the ensemble of ${styleOf(p.method)[0]} predicts for ${DATA[this.kind] ?? GAP_NAME}. ${said[i]}.`,
      );
      p.loss.say(
        `Training loss of ${styleOf(p.method)[0]} on the plane of its two sharpest directions, the draws projected onto it.`,
      );
    });
    this.traces.say(`Against steps: ${said.join("; ")}.`);
  }

  // Whether the flatter of the networks has the lower test loss here.
  verdictOf() {
    const panes = this.panes.filter((p) => !p.lost && Number.isFinite(p.test.at(-1))),
      name = (p) => styleOf(p.method)[0];
    if (this.steps < 200 || this.kind === "gap" || panes.length < 2)
      return this.kind === "none" ? " · tested on the points themselves" : "";
    const least = (value) => panes.reduce((best, p) => (value(p) < value(best) ? p : best)),
      best = least((p) => p.test.at(-1)),
      flat = least((p) => p.lambda.at(-1));
    const sharp = panes.reduce((most, p) => (p.lambda.at(-1) > most.lambda.at(-1) ? p : most));
    return `. ${best === flat ? `${name(best)} is flatter and has the lower test loss.` : `${name(best)} has the lower test loss, though ${best === sharp ? "its mean is the sharpest" : `${name(flat)} is flatter`}: flat is not all that counts.`}`;
  }

  drawTraces(pen, width, height) {
    const charts = [
      ["test loss", "test"],
      ["calibration error, ECE", "ece"],
      ["λ₁ of the training loss at the mean", "lambda"],
    ].filter(([, key]) => key !== "ece" || this.kind !== "gap");
    const narrow = width < 620,
      wide = narrow ? width : width / charts.length - 14,
      tall = narrow ? height / charts.length : height;
    charts.forEach(([title, key], i) => {
      const series = this.panes.flatMap((pane) => [
        ...pane.shadows.map((s) => ({
          color: colorOf(pane.method),
          x: s.x,
          y: s[key],
          faint: true,
        })),
        { color: colorOf(pane.method), x: pane.x, y: pane[key] },
      ]);
      traceChart(
        pen,
        narrow ? 0 : i * (wide + 14),
        narrow ? i * tall : 0,
        wide,
        tall - 4,
        title,
        series.filter((s) => s.y.some(Number.isFinite)),
        { log: key === "lambda", most: LONG },
      );
    });
  }
}
