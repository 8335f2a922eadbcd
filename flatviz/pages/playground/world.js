// The world of two weights: a ground, a posterior for each method that is on, and what is measured
// while they learn.
// Beside the training ground lies a test ground, the same moved and bent by what the reader drags.
import { download } from "../front/controls.js";
import {
  Learner,
  GAUSSIAN,
  CHAIN,
  elsewhere,
  Random,
  groundLoss,
  integral,
  worstWithin,
  worst,
  expected,
  kl,
  METHODS,
  topEigenpairs,
  pointStep,
} from "./engine.js";
import { Ground, placeOn, TALL, WIDE } from "./ground.js";
import { histogram, inTurns, lossOf, RADII, standing, Sweep, TEMPERATURES } from "./sweep.js";
import {
  Board,
  button,
  Clock,
  colorOf,
  inks,
  menuOf,
  node,
  Slider,
  STILL,
  styleOf,
  symbol,
  traceChart,
  two,
  words,
} from "./ui.js";

const LENGTH = 600,
  PER_SECOND = 60,
  HMC_EVERY = 6,
  PRIOR_STD = 3,
  NUDGE = 0.4,
  SEEDS = 20,
  SHIFT = 0.3;
const SHIFTS = [0, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 1],
  BENDS = [0, 0.1, 0.2, 0.4],
  EVEN_BY = 0.02; // test losses nearer than this are called even
const EXPANSIONS = {
  gd: "",
  sam: "SAM: sharpness-aware minimisation, lowers the worst loss near one weight vector",
  vi: "VI: variational inference, lowers the average loss under a Gaussian q",
  sabma:
    "SA-BMA: sharpness-aware Bayesian model averaging, lowers the loss of the worst q′ within the radius of q",
  sgld: "SGLD: stochastic gradient Langevin dynamics, takes gradient steps with noise; its trail samples the posterior",
  hmc: "HMC: Hamiltonian Monte Carlo, rolls a ball over the loss; the places where its runs end sample the posterior",
};
const QUANTILES = [-1.2816, -0.5244, 0, 0.5244, 1.2816]; // of a standard normal at 1/10, 3/10, ...
const EVEN = QUANTILES.flatMap((a) => QUANTILES.map((b) => Float64Array.of(a, b)));

export const GROUNDS = {
  hollow: {
    label: "a narrow hollow before a wide meadow",
    start: [-1.5, 0.3],
    std: 0.3,
    T: 0.1,
    radius: 1,
    rho: 0.5,
    rate: 0.05,
    top: 1.1,
    terms: [
      { kind: "dent", at: [-0.7, 0], depth: 1.1, width: 0.28 },
      { kind: "dent", at: [1.4, 0.1], depth: 1, width: 1.1 },
      { kind: "bowl", at: [1, 0], h: 0.06 },
    ],
    places: [
      ["narrow hollow", [-0.7, 0], 0.5],
      ["wide meadow", [1.4, 0.1], 1.4],
    ],
    about:
      "Both start at the same place with the same noise. VI lowers the loss that it expects under q, its cloud of weights; SA-BMA looks for the worst cloud q′ " +
      "within the radius first, and lowers the loss there. The hollow lies on the way to the meadow and is a little deeper: this ground was chosen because the difference is plainest here.",
  },
  ravine: {
    label: "a bent ravine",
    start: [-1.9, 1.3],
    std: 0.25,
    T: 0.05,
    radius: 1,
    rho: 0.3,
    rate: 0.05,
    top: 3,
    terms: [
      { kind: "valley", k: 5, a: 0.45, b: -1 },
      { kind: "bowl", at: [1.6, 0.2], h: 0.3 },
    ],
    places: [["end of the ravine", [1.6, 0.1], 0.7]],
    about:
      "The ravine leads every method the same way. The radius matters on the way: across the ravine steep walls cut the ball short, and q stays narrow there.",
  },
  ridge: {
    label: "a ridge between two valleys",
    start: [-0.05, 1.1],
    std: 0.25,
    T: 0.05,
    radius: 1,
    rho: 0.3,
    rate: 0.05,
    top: 1.6,
    terms: [
      { kind: "dent", at: [0, 0], depth: -1, width: [0.35, 2.5] },
      { kind: "bowl", at: [0, 0], h: 0.16 },
    ],
    places: [
      ["west valley", [-0.8, 0], 0.8],
      ["east valley", [0.8, 0], 0.8],
    ],
    about:
      "The two valleys mirror each other, and q starts on the ridge: noise decides. Press 20 seeds and count.",
  },
  plateau: {
    label: "a plateau with one hollow",
    start: [-1.3, 0.5],
    std: 0.35,
    T: 0.05,
    radius: 1,
    rho: 0.5,
    rate: 0.2,
    top: 0.5,
    terms: [
      { kind: "dent", at: [1.1, 0], depth: 1, width: 0.55 },
      { kind: "bowl", at: [0, 0], h: 0.03 },
    ],
    places: [
      ["hollow", [1.1, 0], 0.6],
      ["plateau", [-1, 0], 0.9],
    ],
    about:
      "Where the loss is nearly flat its gradient is nearly zero, and the prior has the say: q widens until a draw meets the hollow.",
  },
  modes: {
    label: "two modes: a counter-example",
    start: [-0.5, 0],
    std: 0.5,
    T: 0.1,
    radius: 2,
    rho: 0.5,
    rate: 0.05,
    top: 6,
    terms: [{ kind: "modes", a: [-1.6, 0], b: [1.6, 0], narrow: 0.3, ratio: 3 }],
    places: [
      ["narrow mode", [-1.6, 0], 0.55],
      ["ridge", [-0.6, 0], 0.45],
      ["wide mode", [1.6, 0], 1.3],
    ],
    about:
      "Flatter is not what a large radius always finds. Two modes of equal depth: VI and SA-BMA at radius 0.5 reach the wide one from here, at radius 2 most runs do not. " +
      "The ascent carries q′ over the ridge into the other basin, and the gradient there, the steeper one, holds q on the ridge. " +
      "The arrows below the section show where each method moves the mean. Press 20 seeds.",
  },
  yours: {
    label: "yours: push it into shape",
    start: [-1.5, 0.6],
    std: 0.3,
    T: 0.1,
    radius: 1,
    rho: 0.5,
    rate: 0.05,
    top: 1.2,
    terms: [{ kind: "bowl", at: [0.6, 0], h: 0.1 }],
    places: [],
    about: "Press on the ground to push it down or up, then play.",
  },
};

export class World {
  seed;
  on;
  still;
  start;
  steps;
  records;
  radiusSlider;
  rhoSlider;
  TSlider;
  rateSlider;
  drawsSlider;
  shiftSlider;
  bendSlider;

  constructor(options = {}) {
    Object.assign(this, {
      seed: 1,
      draws: 10,
      on: new Set(["vi", "sabma"]),
      chosen: "sabma",
      truth: false,
      tool: "start",
      shadows: [],
      ends: [],
      still: [],
      shift: [SHIFT, 0],
      bend: 0,
      records: new Map(),
    });
    this.training = new Ground((pen, X, Y, unit, height) =>
      this.drawTraining(pen, X, Y, unit, height),
    );
    this.testing = new Ground((pen, X, Y, unit, height) =>
      this.drawTesting(pen, X, Y, unit, height),
    );
    this.map = this.training.board;
    this.section = new Board((pen, w, h) => this.drawSection(pen, w, h), {
      ratio: 0.56,
      label: "",
      least: 230,
      most: 300,
    });
    this.traces = new Board((pen, w, h) => this.drawTraces(pen, w, h), {
      ratio: 0.8,
      label: "",
      least: 230,
      most: 300,
    });
    this.chart = new Board((pen, w, h) => this.drawChart(pen, w, h), {
      ratio: 0.8,
      label: "",
      least: 230,
      most: 300,
    });
    this.build(options.link !== false);
    this.choose("hollow");
    if (options.link !== false) this.read(new URLSearchParams(location.search));
    this.clock = new Clock(this.map.node, (passed) => this.frame(passed));
    if (!STILL.matches && options.autoplay !== false) this.play(true);
  }

  // ---------------------------------------------------------------- controls

  build(linked) {
    const slider = (name, ...rest) => {
      this[`${name}Slider`] = new Slider(...rest);
      return this[`${name}Slider`].node;
    };
    const set = (name) => (value, final) => {
      this.settings[name] = value;
      if (final) {
        this.again();
        if (!STILL.matches) this.play(true);
      } else {
        this.rest();
        this.draw();
      }
    };
    this.playButton = button("Play", "play or pause", () => this.play(!this.clock.playing), {
      class: "pg-play",
    });
    this.chips = node("div", { class: "pg-chips", role: "group", "aria-label": "methods" });
    for (const method of METHODS) {
      const chip = button("", `show or hide ${styleOf(method)[0]}`, () => this.toggle(method), {
        "data-method": method,
      });
      chip.append(node("i", { "aria-hidden": "true" }), styleOf(method)[0]);
      this.chips.append(chip);
    }
    this.ground = menuOf(
      "ground",
      Object.entries(GROUNDS).map(([key, g]) => [key, g.label]),
      "hollow",
      (name) => {
        this.choose(name);
        this.play(!STILL.matches);
      },
    );
    this.tools = node(
      "div",
      { class: "pg-tools", role: "group", "aria-label": "what the pointer does" },
      ...[
        ["down", "push down"],
        ["up", "push up"],
        ["start", "move q"],
      ].map(([tool, text]) =>
        button(
          text,
          `the pointer: ${text}`,
          () => {
            this.tool = tool;
            this.tell();
          },
          { "data-tool": tool },
        ),
      ),
    );
    this.score = node("div", { class: "pg-score" });
    this.verdict = node("p", { class: "pg-verdict", role: "status" });
    this.about = node("p", { class: "pg-about" });
    this.names = node("p", { class: "pg-about" });
    this.truthButton = button(
      "True posterior",
      "lay the posterior itself over the ground, computed on a grid",
      () => {
        this.truth = !this.truth;
        this.tell();
        this.map.draw();
      },
    );
    const grip = (board, label, keys) =>
      node(
        "div",
        {
          class: "pg-grip",
          tabindex: 0,
          role: "group",
          "aria-label": label,
          onkeydown: (e) => this.pressed(e, keys),
        },
        board.node,
      );
    this.pointer(this.map.canvas);
    this.pointerOfTest(this.testing.board.canvas);
    const shared = linked
      ? [
          button("Link", "copy a link to what is shown", (e) => this.share(e.target)),
          button("PNG", "save both grounds as a picture", () => this.picture()),
        ]
      : [];
    this.node = node(
      "section",
      { class: "pg-world", "aria-label": "two weights" },
      node(
        "div",
        { class: "pg-maps" },
        grip(
          this.map,
          "the training ground; arrow keys move the place where training starts",
          (by) => this.moveStart(by),
        ),
        grip(this.testing.board, "the test ground; arrow keys shift it", (by) =>
          this.moveTest(this.shift.map((v, i) => v + by[i])),
        ),
      ),
      node(
        "div",
        { class: "pg-first" },
        slider(
          "shift",
          "shift of the test ground",
          SHIFTS,
          SHIFT,
          (value) => this.moveTest(this.along(value)),
          { say: (x) => (Number(x) ? `${x}: or drag it` : "0: the training ground") },
        ),
        slider("radius", "radius of SA-BMA", RADII, 1, set("radius"), {
          say: (x) => (x ? `${x} × the width of its cloud q` : "0: the same as VI"),
          help: "how far from q SA-BMA looks for the worst posterior, √(2 KL)",
        }),
        this.score,
      ),
      node(
        "div",
        { class: "pg-row" },
        this.playButton,
        button("Step", "one step of every method", () => {
          this.play(false);
          this.advance(1);
          this.shown();
        }),
        button("Restart", "the same run from its start", () => {
          this.again();
          this.play(true);
        }),
        button("New seed", "other noise; the last runs stay as shadows", () => {
          this.seed += 1;
          this.again();
          this.play(true);
        }),
        button("20 seeds", "20 runs of each method: where they end, and their test loss", () =>
          this.many(),
        ),
        this.truthButton,
        ...shared,
      ),
      this.verdict,
      this.chips,
      this.names,
      node(
        "div",
        { class: "pg-sliders" },
        slider("rho", "radius of SAM", [0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.8, 1.2], 0.5, set("rho"), {
          say: (x) => `${x}, a distance`,
        }),
        slider("T", "temperature", TEMPERATURES, 0.1, set("T"), {
          say: (x) => `T = ${x}`,
          help: "the weight of KL(q ‖ prior), kl_weight / N",
        }),
        slider("rate", "learning rate", [0.01, 0.02, 0.05, 0.1, 0.2], 0.05, set("rate")),
        slider(
          "draws",
          "ensemble",
          [1, 2, 5, 10, 20, 30],
          10,
          (value) => {
            this.draws = value;
            this.shown();
          },
          { say: (x) => `${x} draw${x > 1 ? "s" : ""}` },
        ),
        slider("bend", "bend of the test ground", BENDS, 0, (value) => {
          this.bend = value;
          this.moveTest(this.shift);
        }),
      ),
      node("div", { class: "pg-boards" }, this.section.node, this.traces.node, this.chart.node),
      node("div", { class: "pg-under" }, this.ground, this.tools, this.about),
    );
  }

  choose(name) {
    this.name = name;
    const g = (this.world = GROUNDS[name]);
    this.terms = g.terms.map((term) => ({ ...term }));
    this.settings = { radius: g.radius, rho: g.rho, T: g.T, rate: g.rate };
    for (const key of ["radius", "rho", "T", "rate"]) this[`${key}Slider`].value = g[key];
    this.start = [...g.start];
    this.tool = name === "yours" ? "down" : "start";
    this.shadows = [];
    this.reground();
    this.again(false);
  }

  reground() {
    this.loss = groundLoss(this.terms);
    this.training.lay(this.loss, this.world.top);
    this.retest();
  }

  retest() {
    this.test = elsewhere(this.loss, this.shift, this.bend);
    this.testing.lay(this.test, this.world.top);
  }

  // As far as `value` in the direction of now.
  along(value) {
    const far = Math.hypot(...this.shift);
    return far ? this.shift.map((v) => (v / far) * value) : [value, 0];
  }

  // The test ground elsewhere: nothing is trained again, but every test loss is another.
  moveTest(shift) {
    this.shift = shift.map((v) => Math.max(-1, Math.min(1, v)));
    this.shiftSlider.value = Math.hypot(...this.shift);
    // a hand stops between the stops
    this.shiftSlider.text.textContent = this.shiftSlider.say(two(Math.hypot(...this.shift)));
    this.retest();
    for (const [method, run] of this.runs ?? [])
      run.test = run.stands.map((q) => lossOf(this.test, { method, ...q }));
    this.shown(true);
  }

  // ---------------------------------------------------------------- the state in a link, and a picture

  get query() {
    const {
      name,
      seed,
      shift,
      bend,
      settings: { radius, rho, T, rate },
    } = this;
    return new URLSearchParams({
      ground: name,
      on: [...this.on].join(),
      radius,
      rho,
      T,
      rate,
      seed,
      shift: shift.map((v) => Number(v.toFixed(2))).join(),
      bend,
    });
  }

  // Take what a link says, as far as it can be read.
  read(said) {
    if (Object.hasOwn(GROUNDS, said.get("ground") ?? "")) {
      this.choose(said.get("ground"));
      this.ground.querySelector("select").value = this.name;
    }
    const on = (said.get("on") ?? "").split(",").filter((method) => METHODS.includes(method)),
      number = (key) => (said.has(key) ? Number(said.get(key)) : NaN);
    if (on.length) this.on = new Set(on);
    for (const key of ["radius", "rho", "T", "rate"])
      if (this[`${key}Slider`].stops.includes(number(key)))
        this.settings[key] = this[`${key}Slider`].value = number(key);
    if (Number.isInteger(number("seed"))) this.seed = number("seed");
    if (BENDS.includes(number("bend"))) this.bend = this.bendSlider.value = number("bend");
    const shift = (said.get("shift") ?? "").split(",").map(Number);
    this.again(false);
    if (said.has("shift") && shift.length === 2 && shift.every(Number.isFinite))
      this.moveTest(shift);
    else this.moveTest(this.shift);
  }

  share(pressed) {
    const link = new URL(`?${this.query}`, location.href).href;
    history.replaceState(null, "", `?${this.query}${location.hash}`);
    Promise.resolve(navigator.clipboard?.writeText(link)).then(
      () => {
        pressed.textContent = "Copied";
      },
      () => {
        pressed.textContent = "In the address";
      },
    );
    setTimeout(() => {
      pressed.textContent = "Link";
    }, 2000);
  }

  // Both grounds side by side, with what is said of them.
  async picture() {
    const { canvas } = this.map,
      { canvas: other } = this.testing.board,
      foot = 26 * this.map.dense;
    const whole = node("canvas", {
        width: canvas.width + other.width + 12,
        height: canvas.height + foot,
      }),
      pen = whole.getContext("2d");
    pen.fillStyle = inks().paper;
    pen.fillRect(0, 0, whole.width, whole.height);
    pen.drawImage(canvas, 0, 0);
    pen.drawImage(other, canvas.width + 12, 0);
    words(pen, `${this.comparison()} ${this.ghostly()}`, 6, canvas.height + foot / 2, {
      size: 13 * this.map.dense,
      halo: false,
    });
    download(whole.toDataURL("image/png"), `flatviz-${this.name}.png`);
  }

  toggle(method) {
    if (this.on.has(method) && this.on.size > 1) this.on.delete(method);
    else {
      this.on.add(method);
      this.chosen = method;
    }
    this.again(false);
    if (!STILL.matches) this.play(true);
  }

  tell() {
    for (const chip of this.chips.children) {
      const { method } = chip.dataset;
      chip.setAttribute("aria-pressed", this.on.has(method));
      chip.style.setProperty("--method", colorOf(method));
    }
    for (const tool of this.tools.children)
      tool.setAttribute("aria-pressed", tool.dataset.tool === this.tool);
    this.tools.hidden = this.name !== "yours";
    this.rhoSlider.node.hidden = !this.on.has("sam");
    this.truthButton.setAttribute("aria-pressed", this.truth);
    this.radiusSlider.node.hidden = !this.on.has("sabma");
    this.about.textContent = this.world.about;
    const cloud = [...this.on].some((m) => GAUSSIAN[m])
      ? "q: a method's cloud of weights, the dots are draws from it"
      : "";
    this.names.textContent =
      [...[...this.on].map((m) => EXPANSIONS[m]), cloud].filter(Boolean).join(". ") + ".";
  }

  play(on) {
    if (on && this.steps >= LENGTH) this.again();
    this.clock.play(on);
    this.tell();
    this.playButton.textContent = on ? "Pause" : "Play";
    if (!on) this.halted();
    if (!on && this.steps >= LENGTH) this.compareT();
  }

  halted() {
    for (const listener of this.still) listener(this);
  }

  // ---------------------------------------------------------------- learning

  prior() {
    const s = Math.log(PRIOR_STD);
    return { mean: Float64Array.of(0, 0), logStd: Float64Array.of(s, s) };
  }

  from() {
    const s = Math.log(this.world.std);
    return { mean: Float64Array.from(this.start), logStd: Float64Array.of(s, s) };
  }

  learner(method, seed, other = {}) {
    const { radius, rho, T, rate } = { ...this.settings, ...other };
    const settings = { T, rate, momentum: 0, draws: 4, radius: method === "sam" ? rho : radius };
    return new Learner(method, this.loss, this.prior(), this.from(), settings, seed);
  }

  // Back to the start with the settings of now; keep: the last run stays as a shadow.
  rest(keep = true) {
    if (keep && this.steps > 60)
      for (const [method, run] of this.runs) this.shadow(method, run.trail);
    this.steps = 0;
    this.training.density = null;
    this.giveUp?.();
    this.sweep?.stop();
    Object.assign(this, { sweep: null, ends: [] });
    this.runs = new Map(
      [...this.on].map((method) => [
        method,
        {
          learner: this.learner(method, this.seed),
          trail: [[...this.start]],
          x: [],
          stands: [],
          train: [],
          test: [],
          lambda: [],
          kl: [],
          lost: false,
        },
      ]),
    );
    const random = new Random(99);
    this.noise = Array.from({ length: 30 }, () => random.normals(2));
    this.drifts = null;
    this.tally = "";
    this.measure();
  }

  again(keep = true) {
    this.rest(keep);
    this.shown();
    this.halted();
  }

  shadow(method, trail) {
    this.shadows.push([method, trail]);
    if (this.shadows.length > 80) this.shadows.shift();
  }

  advance(n) {
    for (let i = 0; i < n && this.steps < LENGTH; i++) {
      this.steps += 1;
      for (const [method, run] of this.runs) {
        if (run.lost || (method === "hmc" && this.steps % HMC_EVERY)) continue;
        run.learner.step();
        run.lost = !run.learner.finite;
        if (!run.lost) run.trail.push([...run.learner.q.mean]);
      }
      if (this.steps % 4 === 0) this.measure();
    }
    if (this.steps % 24 < n) this.drifts = null;
  }

  measure() {
    for (const [method, run] of this.runs)
      if (!run.lost) {
        const seen = this.measured(method, run.learner);
        run.x.push(this.steps);
        for (const key of ["stands", "train", "test", "lambda", "kl"]) run[key].push(seen[key]);
      }
  }

  measured(method, { q, prior, kept }) {
    const { loss } = this,
      [{ value: lambda }] = topEigenpairs(loss, q.mean, 1);
    const stands = {
      q: { mean: q.mean.slice(), logStd: q.logStd.slice() },
      members: CHAIN[method] && kept.length ? kept.slice(-this.draws) : [q.mean.slice()],
    };
    const of = (ground) => lossOf(ground, { method, ...stands });
    return {
      stands,
      train: of(loss),
      test: of(this.test),
      lambda,
      kl: GAUSSIAN[method] ? kl(q, prior).value : NaN,
    };
  }

  frame(passed) {
    this.due = (this.due ?? 0) + passed * PER_SECOND;
    const n = Math.min(6, Math.floor(this.due));
    this.due = Math.min(1, this.due - n);
    if (n) {
      this.advance(n);
      this.shown();
    }
    if (this.steps >= LENGTH) this.play(false);
  }

  // Where a mean is: "on the ridge", "in the meadow", "in the basin of the meadow" if only descent
  // from here reaches it, or "".
  whereIs(mean) {
    const here = this.placeOf(mean),
      w = Float64Array.from(mean),
      g = new Float64Array(2);
    if (here?.endsWith("ridge")) return `on the ${here}`;
    for (let i = 0; i < 80; i++) {
      this.loss.both(w, g.fill(0));
      w[0] -= 0.05 * g[0];
      w[1] -= 0.05 * g[1];
    }
    const there = this.placeOf(w);
    return there ? `in the ${there === here ? "" : "basin of the "}${there}` : "";
  }

  /** @param {ArrayLike<number> & Iterable<number>} at */
  placeOf([x, y]) {
    return this.world.places.find(([, [a, b], r]) => Math.hypot(x - a, y - b) < r)?.[0];
  }

  // A whole run at once, as `lossOf` and the pictures read it.
  whole(method, seed, other = {}) {
    const learner = this.learner(method, seed, other),
      steps = method === "hmc" ? LENGTH / HMC_EVERY : LENGTH;
    for (let i = 0; i < steps && learner.finite; i++) learner.step();
    return standing(method, learner);
  }

  // 20 seeds from here: where their runs end, and their test losses as a histogram.
  many() {
    this.play(false);
    this.giveUp?.();
    this.shadows = [];
    const ends = [],
      jobs = [...this.on].flatMap((method) =>
        Array.from({ length: SEEDS }, (_, seed) => () => ends.push(this.whole(method, seed + 1))),
      );
    this.tally = `${SEEDS} seeds run …`;
    this.giveUp = inTurns(jobs, () => {
      this.ends = ends;
      this.tally = `${SEEDS} seeds end here. ${[...this.on].map((method) => `${styleOf(method)[0]}: ${this.whereEnd(method)}`).join("; ")}. ${this.comparison()}`;
      this.shown(true);
    });
    this.shown(true);
  }

  whereEnd(method) {
    const counts = new Map();
    for (const end of this.ends.filter((one) => one.method === method)) {
      const place = end.lost ? "diverged" : (this.placeOf(end.q.mean) ?? "elsewhere");
      counts.set(place, (counts.get(place) ?? 0) + 1);
    }
    return [...counts]
      .sort((a, b) => b[1] - a[1])
      .map(([place, n]) => `${n} ${place}`)
      .join(", ");
  }

  // After a whole run: VI at other temperatures, SA-BMA at other radii, and the T* at which VI has
  // the same training loss.
  compareT() {
    if (this.sweep || !this.on.has("vi") || !this.on.has("sabma")) return;
    const { T, radius } = this.settings;
    this.sweep = new Sweep(
      this.loss,
      (method, other) => this.whole(method, this.seed, other),
      { T, radius },
      () => this.shown(true),
    );
  }

  // ---------------------------------------------------------------- the hand

  near(e) {
    const [x, y] = placeOn(this.map.canvas, e),
      unit = this.map.width / (WIDE[1] - WIDE[0]);
    return [this.start, ...[...this.runs.values()].map((run) => run.learner.q.mean)].some(
      ([a, b]) => Math.hypot(x - a, y - b) * unit < 44,
    );
  }

  pointer(canvas) {
    let held = false;
    const move = (e) => {
      const at = placeOn(canvas, e);
      if (this.tool === "start") {
        this.start = at.map((v, i) =>
          Math.max([WIDE, TALL][i][0] + 0.1, Math.min([WIDE, TALL][i][1] - 0.1, v)),
        );
        this.rest(false);
      } else this.push(at);
      this.shown();
    };
    canvas.addEventListener(
      "touchstart",
      (e) => {
        if (this.tool !== "start" || this.near(e.touches[0])) e.preventDefault();
      },
      { passive: false },
    );
    canvas.addEventListener("pointerdown", (e) => {
      // the page scrolls
      if (e.pointerType === "touch" && this.tool === "start" && !this.near(e)) return;
      held = true;
      canvas.setPointerCapture(e.pointerId);
      this.play(false);
      move(e);
    });
    canvas.addEventListener("pointermove", (e) => {
      if (held) move(e);
    });
    const release = () => {
      if (held) {
        held = false;
        this.again(false);
      }
    };
    canvas.addEventListener("pointerup", release);
    canvas.addEventListener("pointercancel", release);
  }

  pointerOfTest(canvas) {
    let from = null;
    canvas.addEventListener("pointerdown", (e) => {
      from = placeOn(canvas, e).map((v, i) => v - this.shift[i]);
      canvas.setPointerCapture(e.pointerId);
    });
    canvas.addEventListener("pointermove", (e) => {
      if (from) this.moveTest(placeOn(canvas, e).map((v, i) => v - from[i]));
    });
    for (const end of ["pointerup", "pointercancel"])
      canvas.addEventListener(end, () => {
        from = null;
      });
  }

  // A little more of a dent where the pointer is: the nearest one grows, or a new one begins.
  /** @param {number[]} at */
  push([x, y]) {
    const sign = this.tool === "down" ? 1 : -1;
    const near = this.terms.find(
      (t) => t.kind === "dent" && t.width === 0.32 && Math.hypot(t.at[0] - x, t.at[1] - y) < 0.16,
    );
    if (near) near.depth = Math.max(-1.5, Math.min(1.5, near.depth + 0.06 * sign));
    else this.terms.push({ kind: "dent", at: [x, y], depth: 0.1 * sign, width: 0.32 });
    this.reground();
    this.rest(false);
  }

  pressed(e, move) {
    const by = {
      ArrowLeft: [-0.1, 0],
      ArrowRight: [0.1, 0],
      ArrowUp: [0, 0.1],
      ArrowDown: [0, -0.1],
    }[e.key];
    if (!by) return;
    e.preventDefault();
    move(by);
  }

  moveStart([dx, dy]) {
    this.play(false);
    if (this.tool === "start") this.start = [this.start[0] + dx, this.start[1] + dy];
    this.again(false);
  }

  // ---------------------------------------------------------------- drawing

  recolor() {
    this.tell();
    this.draw(true);
  }

  // While it plays, what changes slowly is drawn in every third or sixth frame.
  draw(all = !this.clock?.playing) {
    this.drawn = (this.drawn ?? 0) + 1;
    this.map.draw();
    this.testing.board.draw();
    if (all || this.drawn % 3 === 1) this.section.draw();
    if (all || this.drawn % 6 === 0) {
      this.traces.draw();
      this.chart.draw();
    }
  }

  // now: say it in this frame too, for it does not follow from the steps.
  shown(now = false) {
    if (!this.clock?.playing) this.tell();
    this.draw();
    if (now || this.steps % 4 === 0) this.tellScore();
    const text = this.tally || this.sentence();
    if (now || !this.clock?.playing || this.steps >= LENGTH || this.steps % 12 === 0) {
      this.verdict.textContent = text;
      this.map.say(`${this.world.label}, seen from above. ${text}`);
      this.section.say(
        `Section of the ground through the mean of ${styleOf(this.chosen)[0]}, with the posteriors above it.`,
      );
      this.traces.say(
        `Against steps: ${[...this.runs].map(([m, r]) => `${styleOf(m)[0]}: training loss ${two(r.train.at(-1))}, test loss ${two(r.test.at(-1))}, λ₁ ${two(r.lambda.at(-1))}, KL ${two(r.kl.at(-1))}`).join("; ")}.`,
      );
      this.testing.board.say(
        `The test ground: the training ground shifted by ${two(Math.hypot(...this.shift))}${this.bend ? ` and bent by ${this.bend}` : ""}. ${this.comparison()}`,
      );
      this.chart.say(
        this.ends.length
          ? this.tally
          : `Training loss against test loss, VI over temperatures and SA-BMA over radii. ${this.ghostly()}`,
      );
    }
  }

  // The methods' losses on a ground, lowest first: of the last run, or the mean over seeds.
  ranking(ground) {
    const of = (method) => {
      const ends = this.ends.filter((end) => end.method === method && !end.lost),
        { stands, lost } = this.runs.get(method);
      if (ends.length) return ends.reduce((sum, end) => sum + lossOf(ground, end), 0) / ends.length;
      return lost ? NaN : lossOf(ground, { method, ...stands.at(-1) });
    };
    return [...this.on]
      .map((method) => ({ method, name: styleOf(method)[0], loss: of(method) }))
      .filter(({ loss }) => Number.isFinite(loss))
      .sort((a, b) => a.loss - b.loss);
  }

  // Who has the lower test loss, and whether the shift decides it.
  comparison() {
    const [first, second] = this.ranking(this.test),
      [there, then] = this.ranking(this.loss),
      moved = Math.hypot(...this.shift) + this.bend > 0;
    if (!second) return first ? `Test loss of ${first.name}: ${first.loss.toFixed(2)}.` : "";
    const wins = (a, b) =>
      b.loss - a.loss < EVEN_BY
        ? `${a.name} and ${b.name} are even`
        : `${a.name} wins by ${(b.loss - a.loss).toFixed(2)}`;
    const on = this.steps < LENGTH && !this.ends.length ? "So far, on" : "On";
    return moved
      ? `${on} the test ground ${wins(first, second)}; not shifted, ${wins(there, then)}.`
      : `Not shifted, ${wins(first, second)}: drag the test ground.`;
  }

  ghostly() {
    const {
        sweep,
        settings: { T },
      } = this,
      { ghost } = sweep ?? {};
    if (!ghost) return "";
    const mine = sweep.sabma.find((one) => one.radius === this.settings.radius),
      gap = lossOf(this.test, ghost) - lossOf(this.test, mine);
    return `At temperature T* = ${two(ghost.T)} instead of T = ${T}, VI has SA-BMA's training loss (blue dashed ring), and its test loss is ${Math.abs(gap) < EVEN_BY ? "the same" : `${Math.abs(gap).toFixed(2)} ${gap > 0 ? "higher" : "lower"}`}.`;
  }

  // The test losses as numbers to win, and the lowest that the reader has reached on this test
  // ground.
  tellScore() {
    const ranked = this.ranking(this.test),
      key = `${this.name} ${this.query.get("shift")} ${this.bend} ${this.name === "yours" ? JSON.stringify(this.terms) : ""}`;
    if (this.steps >= LENGTH && ranked.length && !(this.records.get(key)?.loss <= ranked[0].loss)) {
      const { radius, rho, T } = this.settings,
        [{ method, name, loss }] = ranked;
      this.records.set(key, {
        loss,
        by: `${name}${method === "sabma" ? `, radius ${radius}` : method === "sam" ? `, radius ${rho}` : ""}, T = ${T}`,
      });
    }
    const best = this.records.get(key),
      trained = new Map(this.ranking(this.loss).map(({ method, loss }) => [method, loss]));
    this.score.replaceChildren(
      node("span", {}, "test loss, lower is better"),
      ...ranked.map(({ method, name, loss }, i) =>
        node(
          "span",
          { style: `--method:${colorOf(method)}`, class: i ? "" : "pg-wins" },
          node("b", {}, loss.toFixed(2)),
          `${name}, training ${trained.get(method).toFixed(2)}`,
        ),
      ),
      node(
        "small",
        {},
        best ? `Lowest here so far: ${best.loss.toFixed(2)} (${best.by}). Can you get lower?` : " ",
      ),
    );
  }

  // Where each method is, and what moving its mean by a fixed distance the worst way costs there.
  sentence() {
    if (!this.steps) return this.clock?.playing ? "They start …" : "Press Play.";
    const kept = [...this.runs]
      .filter(([, { lost }]) => !lost)
      .map(
        ([
          method,
          {
            learner: { q },
          },
        ]) => ({
          name: styleOf(method)[0],
          where: this.whereIs(q.mean),
          cost: worstWithin(this.loss, q.mean, NUDGE) - this.loss.both(q.mean, null),
        }),
      );
    const brief = ({ name, where, cost }) => `${name} ${cost.toFixed(2)}${where && `, ${where}`}`;
    const whole = ({ name, where, cost }) =>
      `${name}${where && ` is ${where}`}: moving its center by ${NUDGE} raises the loss by up to ${cost.toFixed(2)}.`;
    const said =
      kept.length > 2
        ? [
            `Moving the center by ${NUDGE} raises the loss by at most: ${kept.map(brief).join("; ")}.`,
          ]
        : kept.map(whole);
    const [first, second] = [...kept].sort((a, b) => a.cost - b.cost);
    if (second && this.steps >= LENGTH)
      said.push(
        first.cost < 0.9 * second.cost
          ? `${first.name} ended flattest.`
          : `${first.name} and ${second.name} ended about equally flat.`,
      );
    said.push(this.comparison());
    if (this.steps >= LENGTH) said.push(this.ghostly());
    for (const [method, { lost }] of this.runs)
      if (lost) said.push(`${styleOf(method)[0]} diverged: lower the learning rate or the radius.`);
    return said.filter(Boolean).join(" ");
  }

  drawTraining(pen, X, Y, unit, height) {
    if (!this.runs) return;
    const ink = inks(),
      width = 6 * unit;
    if (this.truth) this.training.drawMass(pen, width, height, this.settings.T, PRIOR_STD);
    this.title(pen, "training ground");
    if (this.truth)
      words(pen, "true posterior: 50 % and 95 % of its mass", 10, 32, {
        color: ink.truth,
        weight: 600,
      });
    for (const [name, at, size] of this.world.places)
      words(pen, name, X(at[0]), Math.min(height - 12, Y(at[1] - size) + 4), {
        color: ink.soft,
        size: 13,
        align: "center",
      });
    this.shadows.forEach(([method, trail]) =>
      this.drawTrail(pen, trail, colorOf(method), X, Y, 0.22),
    );
    if (this.drawEnds(pen, X, Y)) return;
    const { ghost } = this.sweep ?? {};
    if (ghost) {
      // VI at T*, whose training loss is SA-BMA's
      pen.strokeStyle = colorOf("vi");
      pen.lineWidth = 1.6;
      this.outline(pen, ghost.q, X, Y, unit, [2, 4]);
      words(
        pen,
        `VI at T* = ${two(ghost.T)}`,
        X(ghost.q.mean[0]),
        Y(ghost.q.mean[1] + 2 * Math.exp(ghost.q.logStd[1])) - 9,
        { color: colorOf("vi"), size: 12.5, align: "center" },
      );
    }
    for (const method of this.runs.keys())
      this.drawRun(pen, method, this.runs.get(method), X, Y, unit);
    this.label(pen, (method) => styleOf(method)[0], X, Y, width);
    pen.strokeStyle = ink.soft;
    pen.lineWidth = 2;
    pen.beginPath();
    pen.moveTo(12, height - 12);
    pen.lineTo(12 + NUDGE * unit, height - 12);
    pen.stroke();
    words(pen, `${NUDGE}`, 18 + NUDGE * unit, height - 12, { color: ink.soft, size: 12.5 });
    if (!this.steps) {
      pen.strokeStyle = ink.ink;
      pen.lineWidth = 1.5;
      pen.setLineDash([3, 4]);
      pen.beginPath();
      pen.arc(X(this.start[0]), Y(this.start[1]), 24, 0, 7);
      pen.stroke();
      pen.setLineDash([]);
      words(pen, "drag", X(this.start[0]) - 29, Y(this.start[1]), {
        align: "right",
        color: ink.soft,
        size: 12.5,
      });
    }
  }

  title(pen, text) {
    words(pen, text, 10, 14, { weight: 700, size: 14 });
  }

  // The same weights over the test ground: where each method ended, whatever the ground has done
  // since.
  drawTesting(pen, X, Y, unit, height) {
    if (!this.runs) return;
    const [dx, dy] = this.shift,
      ink = inks();
    this.title(pen, "test ground: drag it");
    if (Math.hypot(dx, dy) > 0.05) {
      const [name, [x, y]] = this.world.places[0] ?? ["", [0, 0]];
      pen.strokeStyle = ink.soft;
      pen.lineWidth = 2;
      pen.beginPath();
      pen.moveTo(X(x), Y(y) + 26);
      pen.lineTo(X(x + dx), Y(y + dy) + 26);
      pen.stroke();
      pen.beginPath();
      pen.arc(X(x + dx), Y(y + dy) + 26, 3.5, 0, 7);
      pen.fillStyle = ink.soft;
      pen.fill();
      words(
        pen,
        `${name ? `the ${name}` : "the ground"} has moved by ${two(Math.hypot(dx, dy))}`,
        10,
        height - 12,
        { color: ink.soft, size: 12.5 },
      );
    }
    if (this.drawEnds(pen, X, Y)) return;
    for (const [method, run] of this.runs)
      if (!run.lost) {
        const { q, members } = run.stands.at(-1),
          color = colorOf(method),
          [x, y] = [X(q.mean[0]), Y(q.mean[1])];
        pen.fillStyle = pen.strokeStyle = color;
        if (GAUSSIAN[method]) this.cloud(pen, q, X, Y, unit);
        else
          for (const w of members) {
            pen.beginPath();
            pen.arc(X(w[0]), Y(w[1]), 2.4, 0, 7);
            pen.fill();
          }
        symbol(pen, styleOf(method)[3], x, y, 5.5, color);
      }
    this.label(pen, (_, run) => run.test.at(-1).toFixed(2), X, Y, 6 * unit);
  }

  // A text beside each mean, one below the other where they are close.
  label(pen, said, X, Y, width) {
    const labels = [...this.runs]
      .filter(([, run]) => !run.lost)
      .map(([method, run]) => ({
        method,
        text: said(method, run),
        x: X(run.learner.q.mean[0]),
        y: Y(run.learner.q.mean[1]) - 16,
      }))
      .sort((a, b) => a.y - b.y);
    if (labels.length <= 3)
      labels.forEach((label, i) => {
        for (const before of labels.slice(0, i))
          if (Math.abs(before.x - label.x) < 60 && label.y - before.y < 17) label.y = before.y + 17;
        words(
          pen,
          label.text,
          Math.max(8, Math.min(width - 70, label.x + 10)),
          Math.max(30, label.y),
          { color: colorOf(label.method), weight: 700, size: 14 },
        );
      });
  }

  // Where many seeds ended; whether there are any.
  drawEnds(pen, X, Y) {
    pen.globalAlpha = 0.55;
    for (const end of this.ends)
      if (!end.lost)
        symbol(
          pen,
          styleOf(end.method)[3],
          X(end.q.mean[0]),
          Y(end.q.mean[1]),
          4,
          colorOf(end.method),
        );
    pen.globalAlpha = 1;
    return this.ends.length > 0;
  }

  outline(pen, q, X, Y, unit, dash = []) {
    pen.setLineDash(dash);
    pen.beginPath();
    pen.ellipse(
      X(q.mean[0]),
      Y(q.mean[1]),
      2 * Math.exp(q.logStd[0]) * unit,
      2 * Math.exp(q.logStd[1]) * unit,
      0,
      0,
      7,
    );
    pen.stroke();
    pen.setLineDash([]);
  }

  cloud(pen, q, X, Y, unit) {
    pen.lineWidth = 2;
    this.outline(pen, q, X, Y, unit);
    pen.globalAlpha = 0.16;
    pen.fill();
    pen.globalAlpha = 1;
  }

  drawTrail(pen, trail, color, X, Y, alpha) {
    pen.globalAlpha = alpha;
    pen.strokeStyle = pen.fillStyle = color;
    pen.lineWidth = 1.6;
    pen.beginPath();
    for (const [x, y] of trail) pen.lineTo(X(x), Y(y));
    pen.stroke();
    const end = trail.at(-1);
    pen.globalAlpha = Math.min(1, 2 * alpha);
    pen.beginPath();
    pen.arc(X(end[0]), Y(end[1]), 3, 0, 7);
    pen.fill();
    pen.globalAlpha = 1;
  }

  drawRun(pen, method, { learner, trail }, X, Y, unit) {
    const color = colorOf(method),
      { q, last } = learner,
      [x, y] = [X(q.mean[0]), Y(q.mean[1])];
    if (method === "sgld" || method === "hmc") {
      this.drawTrail(pen, trail.slice(-160), color, X, Y, method === "hmc" ? 0.08 : 0.3);
      if (last?.path) this.drawTrail(pen, last.path, color, X, Y, 0.4);
    } else this.drawTrail(pen, trail, color, X, Y, 0.75);
    pen.fillStyle = pen.strokeStyle = color;
    if (GAUSSIAN[method]) {
      this.cloud(pen, q, X, Y, unit);
      if (method === "sabma" && last?.there) {
        pen.lineWidth = 1.4;
        this.outline(pen, last.there, X, Y, unit, [4, 4]);
        pen.beginPath();
        pen.moveTo(x, y);
        pen.lineTo(X(last.there.mean[0]), Y(last.there.mean[1]));
        pen.stroke();
        // the places' names stand below them
        const top = Y(last.there.mean[1]) - 2 * Math.exp(last.there.logStd[1]) * unit - 9;
        words(
          pen,
          unit < 80 ? "worst q′" : "q′, worst in the radius",
          Math.max(76, Math.min(6 * unit - 76, X(last.there.mean[0]))),
          Math.max(34, top),
          { color, size: 12.5, align: "center" },
        );
      }
    }
    if (method === "sam" && last?.e && this.steps < LENGTH) {
      pen.lineWidth = 1.5;
      pen.beginPath();
      pen.arc(X(last.from[0]), Y(last.from[1]), this.settings.rho * unit, 0, 7);
      pen.setLineDash([4, 4]);
      pen.stroke();
      pen.setLineDash([]);
      pen.beginPath();
      pen.moveTo(x, y);
      pen.lineTo(X(last.from[0] + last.e[0]), Y(last.from[1] + last.e[1]));
      pen.stroke();
    }
    if (method !== "gd" && method !== "sam") {
      pen.fillStyle = color;
      pen.globalAlpha = 0.8;
      for (const w of learner.members(this.draws, this.noise)) {
        pen.beginPath();
        pen.arc(X(w[0]), Y(w[1]), 2.4, 0, 7);
        pen.fill();
      }
      pen.globalAlpha = 1;
    }
    symbol(pen, styleOf(method)[3], x, y, 5.5, color);
  }

  // Which way each method's expected step moves the mean along the section, at its widths of now.
  driftOf(method, learner, y) {
    const places = Array.from({ length: 25 }, (_, i) => WIDE[0] + 0.25 * i),
      { q, prior, settings } = learner;
    return places.map((x) => {
      const at = { mean: Float64Array.of(x, y), logStd: q.logStd };
      if (!GAUSSIAN[method])
        return [
          x,
          -pointStep(this.loss, at.mean.slice(), new Float64Array(2), prior, {
            ...settings,
            rate: 1,
            radius: method === "sam" ? settings.radius : 0,
          }).there[0],
        ];
      const g = expected(this.loss, at, EVEN);
      const there =
        method === "sabma" && settings.radius
          ? expected(this.loss, worst(at, g, settings.radius).there, EVEN)
          : g;
      return [x, -there.mean[0] - settings.T * kl(at, prior).mean[0]];
    });
  }

  drawSection(pen, width, height) {
    if (!this.runs) return;
    const ink = inks(),
      main = this.runs.get(this.chosen) ?? this.runs.values().next().value,
      y = main.learner.q.mean[1];
    const methods = [...this.runs.keys()].filter((m) => !CHAIN[m]),
      strip = 17 * methods.length,
      bottom = height - strip - 8;
    const span = 1.3 * this.world.top,
      low = this.training.low - 0.1 * span,
      X = (x) => ((x - WIDE[0]) / 6) * width;
    const Y = (v) => bottom - (bottom - 40) * Math.min(1, (v - low) / span); // below the words
    pen.beginPath();
    pen.moveTo(0, bottom);
    for (let i = 0; i <= 240; i++)
      pen.lineTo((width * i) / 240, Y(this.loss.both([WIDE[0] + i / 40, y], null)));
    pen.lineTo(width, bottom);
    pen.fillStyle = `rgb(${ink.high.join()})`;
    pen.globalAlpha = 0.75;
    pen.fill();
    pen.globalAlpha = 1;
    pen.lineWidth = 1.5;
    pen.strokeStyle = ink.soft;
    pen.stroke();
    words(pen, "loss along w₁, cut through the mean", 2, 10, {
      color: ink.soft,
      size: 12.5,
      halo: false,
    });
    words(pen, "arrows: where a step moves the mean", 2, 25, { color: ink.soft, size: 12.5 });
    for (const [method, { learner }] of this.runs) {
      const { q } = learner,
        color = colorOf(method),
        x = X(q.mean[0]),
        at = this.loss.both([q.mean[0], y], null);
      if (GAUSSIAN[method]) {
        const s = Math.exp(q.logStd[0]),
          mean = integral(this.loss, q);
        pen.strokeStyle = color;
        pen.lineWidth = 3;
        pen.beginPath();
        pen.moveTo(X(q.mean[0] - 2 * s), Y(mean));
        pen.lineTo(X(q.mean[0] + 2 * s), Y(mean));
        pen.stroke();
        pen.lineWidth = 1.3;
        pen.beginPath();
        pen.moveTo(x, Y(mean));
        pen.lineTo(x, Y(at));
        pen.stroke();
      }
      symbol(pen, styleOf(method)[3], x, Y(at), 4.5, color);
    }
    this.drifts ??= methods.map((method) => [
      method,
      this.driftOf(method, this.runs.get(method).learner, y),
    ]);
    this.drifts.forEach(([method, drift], row) => {
      const at = bottom + 14 + 17 * row;
      pen.fillStyle = colorOf(method);
      for (const [x, move] of drift) {
        const size = 4 * Math.tanh(Math.abs(move) * 4) + 1,
          way = Math.sign(move);
        pen.beginPath();
        pen.moveTo(X(x) + way * size, at);
        pen.lineTo(X(x) - way * size, at - size);
        pen.lineTo(X(x) - way * size, at + size);
        pen.fill();
      }
    });
  }

  drawTraces(pen, width, height) {
    if (!this.runs) return;
    const charts = [
        ["loss: training thin, test thick", "test"],
        ["λ₁, sharpest curvature at the mean", "lambda"],
        ["KL(q ‖ prior), in nats", "kl"],
      ],
      heights = [0.46, 0.27, 0.27].map((share) => share * height);
    charts.forEach(([title, key], i) => {
      const lines = [...this.runs].flatMap(([method, run]) => {
        const line = (y, more) => ({ color: colorOf(method), x: run.x, y, ...more });
        return key === "test"
          ? [line(run.train, { thin: true }), line(run.test)]
          : [line(run[key])];
      });
      traceChart(
        pen,
        0,
        heights.slice(0, i).reduce((sum, h) => sum + h, 0),
        width,
        heights[i] - 6,
        title,
        lines.filter((s) => s.y.some(Number.isFinite)),
        { most: LENGTH },
      );
    });
  }

  // After many seeds their histogram, after a whole run temperatures and radii; before, what will
  // be here.
  drawChart(pen, width, height) {
    if (!this.runs) return;
    if (this.ends.length) {
      histogram(
        pen,
        width,
        height,
        [...this.on].map((method) => ({
          method,
          where: this.whereEnd(method),
          values: this.ends
            .filter((end) => end.method === method)
            .map((end) => (end.lost ? NaN : lossOf(this.test, end))),
        })),
      );
    } else if (this.sweep) this.sweep.draw(pen, width, height, this.test, this.settings);
    else
      words(pen, "at the end: temperature beside radius", 2, 10, {
        color: inks().soft,
        size: 12.5,
        halo: false,
      });
  }
}
