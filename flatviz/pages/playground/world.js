// The world of two weights: a ground, a posterior for each method that is on, and what is measured while they learn.
import { isDark } from "../front/colors.js";
import { Learner, GAUSSIAN, CHAIN, Random, groundLoss, integral, worstWithin, worst, expected, kl, topEigenpairs, pointStep } from "./engine.js";
import { Board, button, Clock, colorOf, inks, levelLines, menuOf, node, Slider, STILL, styleOf, symbol, traceChart, two, words } from "./ui.js";

const WIDE = [-3, 3], TALL = [-2, 2], LENGTH = 600, PER_SECOND = 60, HMC_EVERY = 6, PRIOR_STD = 3, NUDGE = 0.4;
const EXPANSIONS = { gd: "", sam: "SAM: sharpness-aware minimisation", vi: "VI: variational inference", sabma: "SA-BMA: sharpness-aware Bayesian model averaging",
  sgld: "SGLD: stochastic gradient Langevin dynamics", hmc: "HMC: Hamiltonian Monte Carlo" };
const QUANTILES = [-1.2816, -0.5244, 0, 0.5244, 1.2816];   // of a standard normal at 1/10, 3/10, ...
const EVEN = QUANTILES.flatMap((a) => QUANTILES.map((b) => Float64Array.of(a, b)));

export const GROUNDS = {
  hollow: {
    label: "a narrow hollow before a wide meadow", start: [-1.5, 0.3], std: 0.3, T: 0.1, radius: 1, rho: 0.5, rate: 0.05, top: 1.1,
    terms: [{ kind: "dent", at: [-0.7, 0], depth: 1, width: 0.28 }, { kind: "dent", at: [1.4, 0.1], depth: 1, width: 1.1 }, { kind: "bowl", at: [1, 0], h: 0.06 }],
    places: [["narrow hollow", [-0.7, 0], 0.5], ["wide meadow", [1.4, 0.1], 1.4]],
    about: "Both start at the same place with the same noise. VI lowers the loss that it expects under q, its Gaussian over the weights; SA-BMA looks for the worst q′ "
      + "within the radius first, and lowers the loss there. This ground was chosen because the difference is plainest here: the hollow lies on the way to the meadow. Hollow and meadow are equally deep.",
  },
  ravine: {
    label: "a bent ravine", start: [-1.9, 1.3], std: 0.25, T: 0.05, radius: 1, rho: 0.3, rate: 0.05, top: 3,
    terms: [{ kind: "valley", k: 5, a: 0.45, b: -1 }, { kind: "bowl", at: [1.6, 0.2], h: 0.3 }], places: [["end of the ravine", [1.6, 0.1], 0.7]],
    about: "Every method ends at the same place. The radius matters on the way: across the ravine the ball is cut short by steep walls, and q stays narrow there.",
  },
  ridge: {
    label: "a ridge between two valleys", start: [-0.05, 1.1], std: 0.25, T: 0.05, radius: 1, rho: 0.3, rate: 0.05, top: 1.6,
    terms: [{ kind: "dent", at: [0, 0], depth: -1, width: [0.35, 2.5] }, { kind: "bowl", at: [0, 0], h: 0.16 }],
    places: [["left valley", [-0.8, 0], 0.8], ["right valley", [0.8, 0], 0.8]],
    about: "Both valleys are alike, and q starts on the ridge: noise decides. Run 20 seeds and count.",
  },
  plateau: {
    label: "a plateau with one hollow", start: [-1.3, 0.5], std: 0.35, T: 0.05, radius: 1, rho: 0.5, rate: 0.2, top: 0.5,
    terms: [{ kind: "dent", at: [1.1, 0], depth: 1, width: 0.55 }, { kind: "bowl", at: [0, 0], h: 0.03 }], places: [["hollow", [1.1, 0], 0.6], ["plateau", [-1, 0], 1.3]],
    about: "Where the loss is nearly flat its gradient is nearly zero, and the prior has the say: q widens until a draw meets the hollow.",
  },
  modes: {
    label: "two modes: a counter-example", start: [-0.5, 0], std: 0.5, T: 0.1, radius: 2, rho: 0.5, rate: 0.05, top: 6,
    terms: [{ kind: "modes", a: [-1.6, 0], b: [1.6, 0], narrow: 0.3, ratio: 3 }],
    places: [["narrow mode", [-1.6, 0], 0.55], ["ridge", [-0.6, 0], 0.45], ["wide mode", [1.6, 0], 1.3]],
    about: "Flatter is not what a large radius always finds. Two modes of equal depth: VI and SA-BMA at radius 0.5 reach the wide one from here, at radius 2 most runs do not. "
      + "The ascent carries q′ over the ridge into the other basin, and the gradient there, the steeper one, holds q on the ridge. "
      + "The arrows below the section show where each method moves the mean. Press 20 seeds.",
  },
  yours: {
    label: "yours: push it into shape", start: [-1.5, 0.6], std: 0.3, T: 0.1, radius: 1, rho: 0.5, rate: 0.05, top: 1.2,
    terms: [{ kind: "bowl", at: [0.6, 0], h: 0.1 }], places: [],
    about: "Press on the ground to push it down or up, then play.",
  },
};

export class World {
  seed; on; rhoSlider; still;

  constructor(options = {}) {
    Object.assign(this, { seed: 1, draws: 10, on: new Set(["vi", "sabma"]), chosen: "sabma", truth: false, tool: "start", shadows: [], still: [] });
    this.built = options;
    this.map = new Board((pen, w, h) => this.drawMap(pen, w, h), { ratio: 2 / 3, label: "" });
    this.section = new Board((pen, w, h) => this.drawSection(pen, w, h), { ratio: 0.56, label: "", least: 190, most: 280 });
    this.traces = new Board((pen, w, h) => this.drawTraces(pen, w, h), { ratio: 0.8, label: "", least: 290, most: 350 });
    this.build();
    this.choose("hollow");
    this.clock = new Clock(this.map.node, (passed) => this.frame(passed));
    if (!STILL.matches && options.autoplay !== false) this.play(true);
  }

  // ---------------------------------------------------------------- controls

  build() {
    const slider = (name, ...rest) => { this[`${name}Slider`] = new Slider(...rest); return this[`${name}Slider`].node; };
    const set = (name) => (value, final) => { this.settings[name] = value; if (final) { this.again(); if (!STILL.matches) this.play(true); } else { this.rest(); this.draw(); } };
    this.playButton = button("Play", "play or pause", () => this.play(!this.clock.playing), { class: "pg-play" });
    this.chips = node("div", { class: "pg-chips", role: "group", "aria-label": "methods" });
    for (const method of ["gd", "sam", "vi", "sabma", "sgld", "hmc"]) {
      const chip = button("", `show or hide ${styleOf(method)[0]}`, () => this.toggle(method), { "data-method": method });
      chip.append(node("i", { "aria-hidden": "true" }), styleOf(method)[0]);
      this.chips.append(chip);
    }
    this.ground = menuOf("ground", Object.entries(GROUNDS).map(([key, g]) => [key, g.label]), "hollow", (name) => { this.choose(name); this.play(!STILL.matches); });
    this.tools = node("div", { class: "pg-tools", role: "group", "aria-label": "what the pointer does" }, ...[["down", "push down"], ["up", "push up"], ["start", "move q"]]
      .map(([tool, text]) => button(text, `the pointer: ${text}`, () => { this.tool = tool; this.tell(); }, { "data-tool": tool })));
    this.verdict = node("p", { class: "pg-verdict", role: "status" });
    this.about = node("p", { class: "pg-about" });
    this.names = node("p", { class: "pg-about" });
    this.truthButton = button("Truth", "lay the posterior itself over the ground, computed on a grid", () => { this.truth = !this.truth; this.tell(); this.map.draw(); });
    const grip = node("div", { class: "pg-grip", tabindex: 0, role: "group", "aria-label": "the ground; arrow keys move the place where training starts" }, this.map.node);
    grip.addEventListener("keydown", (e) => this.pressed(e));
    this.pointer(this.map.canvas);
    this.node = node("section", { class: "pg-world", "aria-label": "two weights" },
      node("div", { class: "pg-stage" }, grip,
        node("div", { class: "pg-row" }, this.playButton, button("Step", "one step of every method", () => { this.play(false); this.advance(1); this.shown(); }),
          button("Again", "the same run from its start", () => { this.again(); this.play(true); }),
          button("New seed", "other noise; the last runs stay as shadows", () => { this.seed += 1; this.again(); this.play(true); }),
          button("20 seeds", "20 runs at once, and where they end", () => this.many()), this.truthButton),
        this.verdict, this.chips, this.names),
      node("div", { class: "pg-side" },
        node("div", { class: "pg-sliders" },
          slider("radius", "radius of SA-BMA", [0, 0.25, 0.35, 0.5, 0.7, 1, 1.4, 2, 2.8, 4], 1, set("radius"),
            { say: (x) => (x ? `${x} × the width of its cloud q` : "0: the same as VI"), help: "how far from q SA-BMA looks for the worst posterior, √(2 KL)" }),
          slider("rho", "radius of SAM", [0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.8, 1.2], 0.5, set("rho"), { say: (x) => `${x}, a distance` }),
          slider("T", "temperature", [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1], 0.1, set("T"), { say: (x) => `T = ${x}`, help: "the weight of KL(q ‖ prior), kl_weight / N" }),
          slider("rate", "learning rate", [0.01, 0.02, 0.05, 0.1, 0.2], 0.05, set("rate")),
          slider("draws", "ensemble", [1, 2, 5, 10, 20, 30], 10, (value) => { this.draws = value; this.shown(); }, { say: (x) => `${x} draw${x > 1 ? "s" : ""}` })),
        this.section.node, this.traces.node),
      node("div", { class: "pg-under" }, this.ground, this.tools, this.about));
  }

  choose(name) {
    this.name = name;
    const g = this.world = GROUNDS[name];
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
    this.relief = this.density = null;
  }

  toggle(method) {
    if (this.on.has(method) && this.on.size > 1) this.on.delete(method);
    else { this.on.add(method); this.chosen = method; }
    this.again(false);
    if (!STILL.matches) this.play(true);
  }

  tell() {
    for (const chip of this.chips.children) {
      const { method } = chip.dataset;
      chip.setAttribute("aria-pressed", this.on.has(method));
      chip.style.setProperty("--method", colorOf(method));
    }
    for (const tool of this.tools.children) tool.setAttribute("aria-pressed", tool.dataset.tool === this.tool);
    this.tools.hidden = this.name !== "yours";
    this.rhoSlider.node.hidden = !this.on.has("sam");
    this.truthButton.setAttribute("aria-pressed", this.truth);
    this.about.textContent = this.world.about;
    const cloud = [...this.on].some((m) => GAUSSIAN[m]) ? "q: a method's cloud of weights, the dots are draws from it" : "";
    this.names.textContent = [...[...this.on].map((m) => EXPANSIONS[m]), cloud].filter(Boolean).join(". ") + ".";
  }

  play(on) {
    if (on && this.steps >= LENGTH) this.again();
    this.clock.play(on);
    this.tell();
    this.playButton.textContent = on ? "Pause" : "Play";
    if (!on) this.halted();
  }

  halted() { for (const listener of this.still) listener(this); }

  // ---------------------------------------------------------------- learning

  prior() { const s = Math.log(PRIOR_STD); return { mean: Float64Array.of(0, 0), logStd: Float64Array.of(s, s) }; }

  from() { const s = Math.log(this.world.std); return { mean: Float64Array.from(this.start), logStd: Float64Array.of(s, s) }; }

  learner(method, seed) {
    const { radius, rho, T, rate } = this.settings;
    const settings = { T, rate, momentum: 0, draws: 4, radius: method === "sam" ? rho : radius };
    return new Learner(method, this.loss, this.prior(), this.from(), settings, seed);
  }

  // Back to the start with the settings of now; keep: the last run stays as a shadow.
  rest(keep = true) {
    if (keep && this.steps > 60) for (const [method, run] of this.runs) this.shadow(method, run.trail);
    this.steps = 0;
    this.density = null;
    this.runs = new Map([...this.on].map((method) => [method, { learner: this.learner(method, this.seed), trail: [[...this.start]],
      x: [], expected: [], worst: [], lambda: [], kl: [], lost: false }]));
    const random = new Random(99);
    this.noise = Array.from({ length: 30 }, () => random.normals(2));
    this.drifts = null;
    this.tally = "";
    this.measure();
  }

  again(keep = true) { this.rest(keep); this.shown(); this.halted(); }

  shadow(method, trail) { this.shadows.push([method, trail]); if (this.shadows.length > 80) this.shadows.shift(); }

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
    for (const [method, run] of this.runs) if (!run.lost) {
      const seen = this.measured(method, run.learner);
      run.x.push(this.steps);
      for (const key of ["expected", "worst", "lambda", "kl"]) run[key].push(seen[key]);
    }
  }

  measured(method, { q, prior, settings, kept }) {
    const { loss } = this, [{ value: lambda }] = topEigenpairs(loss, q.mean, 1);
    if (GAUSSIAN[method]) {
      const there = worst(q, expected(loss, q, EVEN), this.settings.radius).there;
      return { expected: integral(loss, q), worst: integral(loss, there), lambda, kl: kl(q, prior).value };
    }
    if (CHAIN[method]) {
      const members = kept.length ? kept.slice(-this.draws) : [q.mean];
      return { expected: members.reduce((s, w) => s + loss.both(w, null), 0) / members.length, worst: NaN, lambda, kl: NaN };
    }
    return { expected: loss.both(q.mean, null), worst: worstWithin(loss, q.mean, this.settings.rho), lambda, kl: NaN };
  }

  frame(passed) {
    this.due = (this.due ?? 0) + passed * PER_SECOND;
    const n = Math.min(6, Math.floor(this.due));
    this.due = Math.min(1, this.due - n);
    if (n) { this.advance(n); this.shown(); }
    if (this.steps >= LENGTH) this.play(false);
  }

  // Where a mean is: "on the ridge", "in the meadow", "in the basin of the meadow" if only descent from here reaches it, or "".
  whereIs(mean) {
    const here = this.placeOf(mean), w = Float64Array.from(mean), g = new Float64Array(2);
    if (here?.endsWith("ridge")) return `on the ${here}`;
    for (let i = 0; i < 80; i++) { this.loss.both(w, g.fill(0)); w[0] -= 0.05 * g[0]; w[1] -= 0.05 * g[1]; }
    const there = this.placeOf(w);
    return there ? `in the ${there === here ? "" : "basin of the "}${there}` : "";
  }

  /** @param {ArrayLike<number> & Iterable<number>} at */
  placeOf([x, y]) { return this.world.places.find(([, [a, b], r]) => Math.hypot(x - a, y - b) < r)?.[0]; }

  // 20 seeds from here; where their runs end.
  many() {
    this.play(false);
    this.shadows = [];
    const counts = new Map();
    for (const method of this.on) for (let seed = 1; seed <= 20; seed++) {
      const learner = this.learner(method, seed), trail = [];
      for (let i = 0; i < (method === "hmc" ? LENGTH / HMC_EVERY : LENGTH) && learner.finite; i++) { learner.step(); if (i % 6 === 0) trail.push([...learner.q.mean]); }
      trail.push([...learner.q.mean]);
      const place = learner.finite ? this.placeOf(learner.q.mean) ?? "elsewhere" : "diverged";
      const row = counts.get(method) ?? counts.set(method, new Map()).get(method);
      row.set(place, (row.get(place) ?? 0) + 1);
      this.shadow(method, trail);
    }
    this.tally = "20 seeds end here. " + [...counts].map(([method, row]) => `${styleOf(method)[0]}: ${[...row].sort((a, b) => b[1] - a[1])
      .map(([place, n]) => `${n} ${place}`).join(", ")}`).join("; ") + ".";
    this.shown();
  }

  // ---------------------------------------------------------------- the hand

  place(e) {
    const box = this.map.canvas.getBoundingClientRect();
    return [WIDE[0] + (e.clientX - box.left) / box.width * (WIDE[1] - WIDE[0]), TALL[1] - (e.clientY - box.top) / box.height * (TALL[1] - TALL[0])];
  }

  near(e) {
    const [x, y] = this.place(e), unit = this.map.width / (WIDE[1] - WIDE[0]);
    return [this.start, ...[...this.runs.values()].map((run) => run.learner.q.mean)].some(([a, b]) => Math.hypot(x - a, y - b) * unit < 44);
  }

  pointer(canvas) {
    let held = false;
    const move = (e) => {
      const at = this.place(e);
      if (this.tool === "start") { this.start = at.map((v, i) => Math.max([WIDE, TALL][i][0] + 0.1, Math.min([WIDE, TALL][i][1] - 0.1, v))); this.rest(false); }
      else this.push(at);
      this.shown();
    };
    canvas.addEventListener("touchstart", (e) => { if (this.tool !== "start" || this.near(e.touches[0])) e.preventDefault(); }, { passive: false });
    canvas.addEventListener("pointerdown", (e) => {
      if (e.pointerType === "touch" && this.tool === "start" && !this.near(e)) return;   // the page scrolls
      held = true;
      canvas.setPointerCapture(e.pointerId);
      this.play(false);
      move(e);
    });
    canvas.addEventListener("pointermove", (e) => { if (held) move(e); });
    const release = () => { if (held) { held = false; this.again(false); } };
    canvas.addEventListener("pointerup", release);
    canvas.addEventListener("pointercancel", release);
  }

  // A little more of a dent where the pointer is: the nearest one grows, or a new one begins.
  /** @param {number[]} at */
  push([x, y]) {
    const sign = this.tool === "down" ? 1 : -1;
    const near = this.terms.find((t) => t.kind === "dent" && t.width === 0.32 && Math.hypot(t.at[0] - x, t.at[1] - y) < 0.16);
    if (near) near.depth = Math.max(-1.5, Math.min(1.5, near.depth + 0.06 * sign));
    else this.terms.push({ kind: "dent", at: [x, y], depth: 0.1 * sign, width: 0.32 });
    this.reground();
    this.rest(false);
  }

  pressed(e) {
    const by = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, 0.1], ArrowDown: [0, -0.1] }[e.key];
    if (!by) return;
    e.preventDefault();
    this.play(false);
    if (this.tool === "start") this.start = [this.start[0] + by[0], this.start[1] + by[1]];
    this.again(false);
  }

  // ---------------------------------------------------------------- drawing

  recolor() { this.tell(); this.draw(true); }

  // While it plays, what changes slowly is drawn in every third or sixth frame.
  draw(all = !this.clock?.playing) {
    this.drawn = (this.drawn ?? 0) + 1;
    this.map.draw();
    if (all || this.drawn % 3 === 1) this.section.draw();
    if (all || this.drawn % 6 === 0) this.traces.draw();
  }

  shown() {
    if (!this.clock?.playing) this.tell();
    this.draw();
    const text = this.tally || this.sentence();
    if (!this.clock?.playing || this.steps >= LENGTH || this.steps % 12 === 0) {
      this.verdict.textContent = text;
      this.map.say(`${this.world.label}, seen from above. ${text}`);
      this.section.say(`Section of the ground through the mean of ${styleOf(this.chosen)[0]}, with the posteriors above it.`);
      this.traces.say(`Against steps: ${[...this.runs].map(([m, r]) => `${styleOf(m)[0]}: expected loss ${two(r.expected.at(-1))}, worst loss in the ball ${two(r.worst.at(-1))}, λ₁ ${two(r.lambda.at(-1))}, KL ${two(r.kl.at(-1))}`).join("; ")}.`);
    }
  }

  // Where each method is, and what moving its mean by a fixed distance the worst way costs there.
  sentence() {
    if (!this.steps) return this.clock?.playing ? "They start …" : "Press Play.";
    const kept = [...this.runs].filter(([, { lost }]) => !lost).map(([method, { learner: { q } }]) => ({ name: styleOf(method)[0], where: this.whereIs(q.mean),
      cost: worstWithin(this.loss, q.mean, NUDGE) - this.loss.both(q.mean, null) }));
    const brief = ({ name, where, cost }) => `${name} ${cost.toFixed(2)}${where && `, ${where}`}`;
    const whole = ({ name, where, cost }) => `${name}${where && ` is ${where}`}: moving its mean by ${NUDGE} costs up to ${cost.toFixed(2)}.`;
    const said = kept.length > 2 ? [`Moving the mean by ${NUDGE} costs at most: ${kept.map(brief).join("; ")}.`] : kept.map(whole);
    const [first, second] = [...kept].sort((a, b) => a.cost - b.cost);
    if (second && this.steps >= LENGTH) said.push(first.cost < 0.9 * second.cost ? `${first.name} ended flattest.` : `${first.name} and ${second.name} ended about equally flat.`);
    for (const [method, { lost }] of this.runs) if (lost) said.push(`${styleOf(method)[0]} diverged: lower the learning rate or the radius.`);
    return said.join(" ");
  }

  heights(columns, rows) {
    const values = new Float64Array(rows * columns);
    for (let i = 0; i < rows; i++) for (let j = 0; j < columns; j++) {
      values[i * columns + j] = this.loss.both([WIDE[0] + j / (columns - 1) * 6, TALL[1] - i / (rows - 1) * 4], null);
    }
    return values;
  }

  // The ground as a picture: colour by height, light from the upper left, level lines.
  paintRelief(width, height) {
    const columns = 181, rows = 121, values = this.heights(columns, rows), ink = inks(), low = Math.min(...values);
    const share = values.map((v) => { const t = (v - low) / this.world.top; return t < 1 ? 0.75 * t : 1 - 0.25 / t; });
    const small = node("canvas", { width: columns, height: rows }), pen = small.getContext("2d"), image = pen.createImageData(columns, rows);
    for (let i = 0; i < rows; i++) for (let j = 0; j < columns; j++) {
      const k = i * columns + j, dx = share[i * columns + Math.min(columns - 1, j + 1)] - share[i * columns + Math.max(0, j - 1)];
      const dy = share[Math.min(rows - 1, i + 1) * columns + j] - share[Math.max(0, i - 1) * columns + j];
      const light = Math.max(-0.22, Math.min(0.14, 1.7 * (-dx - dy)));
      for (let c = 0; c < 3; c++) image.data[4 * k + c] = (ink.low[c] + (ink.high[c] - ink.low[c]) * share[k]) * (1 + light);
      image.data[4 * k + 3] = 255;
    }
    pen.putImageData(image, 0, 0);
    const dense = this.map.dense, whole = node("canvas", { width: width * dense, height: height * dense }), out = whole.getContext("2d");
    out.imageSmoothingQuality = "high";
    out.drawImage(small, 0, 0, width * dense, height * dense);
    out.scale(width * dense / (columns - 1), height * dense / (rows - 1));
    out.strokeStyle = isDark() ? "rgba(255,255,255,.13)" : "rgba(60,70,80,.2)";
    for (let level = 1; level <= 14; level++) {
      out.lineWidth = (columns - 1) / width * (level % 4 ? 0.8 : 1.4);
      out.beginPath();
      for (const [a, b, c, d] of levelLines(share, rows, columns, level / 15)) { out.moveTo(a, b); out.lineTo(c, d); }
      out.stroke();
    }
    this.relief = { whole, width, height, dark: isDark(), low };
  }

  // Levels of the posterior density on a grid that hold 50 % and 95 % of its mass.
  paintTruth() {
    const columns = 181, rows = 121, values = this.heights(columns, rows), low = Math.min(...values), precision = PRIOR_STD ** -2;
    const density = values.map((v, k) => {
      const x = WIDE[0] + k % columns / (columns - 1) * 6, y = TALL[1] - Math.floor(k / columns) / (rows - 1) * 4;
      return Math.exp(-(v - low) / this.settings.T - 0.5 * precision * (x * x + y * y));
    });
    const order = Array.from(density).sort((a, b) => b - a), total = order.reduce((s, v) => s + v, 0);
    const levels = [0.5, 0.95].map((share) => { let sum = 0; return order.find((v) => (sum += v) >= share * total); });
    this.density = { columns, rows, lines: levels.map((level) => levelLines(density, rows, columns, level)) };
  }

  drawMap(pen, width, height) {
    if (!this.runs) return;
    const ink = inks(), r = this.relief;
    if (!r || r.width !== width || r.height !== height || r.dark !== isDark()) this.paintRelief(width, height);
    pen.drawImage(this.relief.whole, 0, 0, width, height);
    const unit = width / 6, X = (x) => (x - WIDE[0]) * unit, Y = (y) => (TALL[1] - y) * unit;
    if (this.truth) this.drawTruth(pen, width, height, ink);
    for (const [name, at, size] of this.world.places) words(pen, name, X(at[0]), Math.min(height - 12, Y(at[1] - size) + 4), { color: ink.soft, size: 13, align: "center" });
    this.shadows.forEach(([method, trail]) => this.drawTrail(pen, trail, colorOf(method), X, Y, 0.22));
    for (const method of this.runs.keys()) this.drawRun(pen, method, this.runs.get(method), X, Y, unit);
    const labels = [...this.runs].map(([method, { learner }]) => ({ method, x: X(learner.q.mean[0]), y: Y(learner.q.mean[1]) - 16 })).sort((a, b) => a.y - b.y);
    if (labels.length <= 3) labels.forEach((label, i) => {
      for (const before of labels.slice(0, i)) if (Math.abs(before.x - label.x) < 60 && label.y - before.y < 17) label.y = before.y + 17;
      words(pen, styleOf(label.method)[0], Math.max(8, Math.min(width - 70, label.x + 10)), Math.max(12, label.y), { color: colorOf(label.method), weight: 700, size: 14 });
    });
    pen.strokeStyle = ink.soft;
    pen.lineWidth = 2;
    pen.beginPath(); pen.moveTo(12, height - 12); pen.lineTo(12 + NUDGE * unit, height - 12); pen.stroke();
    words(pen, `${NUDGE}`, 18 + NUDGE * unit, height - 12, { color: ink.soft, size: 12.5 });
    if (!this.steps) {
      pen.strokeStyle = ink.ink;
      pen.lineWidth = 1.5;
      pen.setLineDash([3, 4]);
      pen.beginPath(); pen.arc(X(this.start[0]), Y(this.start[1]), 24, 0, 7); pen.stroke();
      pen.setLineDash([]);
      words(pen, "drag", X(this.start[0]) - 29, Y(this.start[1]), { align: "right", color: ink.soft, size: 12.5 });
    }
  }

  drawTruth(pen, width, height, ink) {
    if (!this.density) this.paintTruth();
    const { columns, rows, lines } = this.density;
    pen.strokeStyle = ink.truth;
    lines.forEach((level, i) => {
      pen.lineWidth = i ? 1.4 : 2.4;
      pen.beginPath();
      for (const [a, b, c, d] of level) { pen.moveTo(a / (columns - 1) * width, b / (rows - 1) * height); pen.lineTo(c / (columns - 1) * width, d / (rows - 1) * height); }
      pen.stroke();
    });
    words(pen, "true posterior: 50 % and 95 % of its mass", 10, 14, { color: ink.truth, weight: 600 });
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
    pen.beginPath(); pen.arc(X(end[0]), Y(end[1]), 3, 0, 7); pen.fill();
    pen.globalAlpha = 1;
  }

  drawRun(pen, method, { learner, trail }, X, Y, unit) {
    const color = colorOf(method), { q, last } = learner, [x, y] = [X(q.mean[0]), Y(q.mean[1])];
    if (method === "sgld" || method === "hmc") {
      this.drawTrail(pen, trail.slice(-160), color, X, Y, method === "hmc" ? 0.08 : 0.3);
      if (last?.path) this.drawTrail(pen, last.path, color, X, Y, 0.4);
    } else this.drawTrail(pen, trail, color, X, Y, 0.75);
    const ellipse = (at, scale) => { pen.beginPath(); pen.ellipse(X(at.mean[0]), Y(at.mean[1]), scale * Math.exp(at.logStd[0]) * unit, scale * Math.exp(at.logStd[1]) * unit, 0, 0, 7); };
    pen.fillStyle = pen.strokeStyle = color;
    if (GAUSSIAN[method]) {
      pen.globalAlpha = 0.16; ellipse(q, 2); pen.fill();
      pen.globalAlpha = 1; pen.lineWidth = 2; ellipse(q, 2); pen.stroke();
      if (method === "sabma" && last?.there) {
        pen.lineWidth = 1.4; pen.setLineDash([4, 4]); ellipse(last.there, 2); pen.stroke(); pen.setLineDash([]);
        pen.beginPath(); pen.moveTo(x, y); pen.lineTo(X(last.there.mean[0]), Y(last.there.mean[1])); pen.stroke();
        const low = Y(last.there.mean[1]) + 2 * Math.exp(last.there.logStd[1]) * unit + 9;
        words(pen, unit < 80 ? "worst q′" : "q′, worst in the radius", Math.max(76, Math.min(6 * unit - 76, X(last.there.mean[0]))), Math.min(4 * unit - 10, low), { color, size: 12.5, align: "center" });
      }
    }
    if (method === "sam" && last?.e && this.steps < LENGTH) {
      pen.lineWidth = 1.5;
      pen.beginPath(); pen.arc(X(last.from[0]), Y(last.from[1]), this.settings.rho * unit, 0, 7); pen.setLineDash([4, 4]); pen.stroke(); pen.setLineDash([]);
      pen.beginPath(); pen.moveTo(x, y); pen.lineTo(X(last.from[0] + last.e[0]), Y(last.from[1] + last.e[1])); pen.stroke();
    }
    if (method !== "gd" && method !== "sam") {
      pen.fillStyle = color;
      pen.globalAlpha = 0.8;
      for (const w of learner.members(this.draws, this.noise)) { pen.beginPath(); pen.arc(X(w[0]), Y(w[1]), 2.4, 0, 7); pen.fill(); }
      pen.globalAlpha = 1;
    }
    symbol(pen, styleOf(method)[3], x, y, 5.5, color);
  }

  // Which way each method's expected step moves the mean along the section, at its widths of now.
  driftOf(method, learner, y) {
    const places = Array.from({ length: 25 }, (_, i) => WIDE[0] + 0.25 * i), { q, prior, settings } = learner;
    return places.map((x) => {
      const at = { mean: Float64Array.of(x, y), logStd: q.logStd };
      if (!GAUSSIAN[method]) return [x, -pointStep(this.loss, at.mean.slice(), new Float64Array(2), prior, { ...settings, rate: 1, radius: method === "sam" ? settings.radius : 0 }).there[0]];
      const g = expected(this.loss, at, EVEN);
      const there = method === "sabma" && settings.radius ? expected(this.loss, worst(at, g, settings.radius).there, EVEN) : g;
      return [x, -there.mean[0] - settings.T * kl(at, prior).mean[0]];
    });
  }

  drawSection(pen, width, height) {
    if (!this.runs) return;
    const ink = inks(), main = this.runs.get(this.chosen) ?? this.runs.values().next().value, y = main.learner.q.mean[1];
    const methods = [...this.runs.keys()].filter((m) => !CHAIN[m]), strip = 17 * methods.length, bottom = height - strip - 8;
    const span = 1.3 * this.world.top, low = (this.relief?.low ?? 0) - 0.1 * span, X = (x) => (x - WIDE[0]) / 6 * width;
    const Y = (v) => bottom - (bottom - 24) * Math.min(1.05, (v - low) / span);
    pen.beginPath();
    pen.moveTo(0, bottom);
    for (let i = 0; i <= 240; i++) pen.lineTo(width * i / 240, Y(this.loss.both([WIDE[0] + i / 40, y], null)));
    pen.lineTo(width, bottom);
    pen.fillStyle = `rgb(${ink.high.join()})`;
    pen.globalAlpha = 0.75;
    pen.fill();
    pen.globalAlpha = 1;
    pen.lineWidth = 1.5;
    pen.strokeStyle = ink.soft;
    pen.stroke();
    words(pen, "loss along w₁, cut through the mean", 2, 10, { color: ink.soft, size: 12.5, halo: false });
    words(pen, "arrows: where a step moves the mean", 2, 25, { color: ink.soft, size: 12.5 });
    for (const [method, { learner }] of this.runs) {
      const { q } = learner, color = colorOf(method), x = X(q.mean[0]), at = this.loss.both([q.mean[0], y], null);
      if (GAUSSIAN[method]) {
        const s = Math.exp(q.logStd[0]), mean = integral(this.loss, q);
        pen.strokeStyle = color;
        pen.lineWidth = 3;
        pen.beginPath(); pen.moveTo(X(q.mean[0] - 2 * s), Y(mean)); pen.lineTo(X(q.mean[0] + 2 * s), Y(mean)); pen.stroke();
        pen.lineWidth = 1.3;
        pen.beginPath(); pen.moveTo(x, Y(mean)); pen.lineTo(x, Y(at)); pen.stroke();
      }
      symbol(pen, styleOf(method)[3], x, Y(at), 4.5, color);
    }
    this.drifts ??= methods.map((method) => [method, this.driftOf(method, this.runs.get(method).learner, y)]);
    this.drifts.forEach(([method, drift], row) => {
      const at = bottom + 14 + 17 * row;
      pen.fillStyle = colorOf(method);
      for (const [x, move] of drift) {
        const size = 4 * Math.tanh(Math.abs(move) * 4) + 1, way = Math.sign(move);
        pen.beginPath(); pen.moveTo(X(x) + way * size, at); pen.lineTo(X(x) - way * size, at - size); pen.lineTo(X(x) - way * size, at + size); pen.fill();
      }
    });
  }

  drawTraces(pen, width, height) {
    if (!this.runs) return;
    const charts = [["expected loss", "expected"], ["worst loss in the ball", "worst"], ["λ₁, sharpest curvature at the mean", "lambda"], ["KL(q ‖ prior)", "kl"]];
    const tall = height / charts.length;
    charts.forEach(([title, key], i) => traceChart(pen, 0, i * tall, width, tall - 6, title, [...this.runs]
      .map(([method, run]) => ({ color: colorOf(method), x: run.x, y: run[key] })).filter((s) => s.y.some(Number.isFinite)), { most: LENGTH }));
  }
}
